//! Plans of statements as one self-contained HTML page: each tree as a table, with the server's own words folded below.

use maud::{Markup, html};
use plans::{Node, Plan, Trace, dearest, worst_misestimate};

use crate::page::{document_with_style, scrolling};

/// The indentation of the trees.
pub(crate) const STYLE: &str = "\
.plan td:first-child { padding-left: calc(0.5rem + var(--depth) * 1.25rem); text-align: left; min-width: 16rem; white-space: normal; overflow-wrap: anywhere; }
.plan td:first-child small { display: block; overflow-wrap: anywhere; opacity: 0.8; }
.plan td { vertical-align: top; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
";

/// A statement with all that its server says about it.
#[derive(Debug)]
pub struct ExplainedStatement<'a> {
    /// Where it stands: file, line and column.
    pub place: &'a str,
    /// Its text.
    pub statement: &'a str,
    /// Version of the server.
    pub server: &'a str,
    /// Notes about the execution.
    pub notes: Vec<&'a str>,
    /// The forms, the one that says most first.
    pub forms: Vec<ExplainedForm<'a>>,
    /// The trace with the server's own text, or why there is none.
    pub trace: Result<(&'a Trace, &'a str), &'a str>,
}

/// A form of explanation.
#[derive(Debug)]
pub struct ExplainedForm<'a> {
    /// What was sent before the statement: `EXPLAIN ANALYZE`.
    pub command: &'a str,
    pub plan: &'a Plan,
    /// The server's own words.
    pub original: String,
}

/// Renders statements as one HTML page.
pub fn plan_page(title: &str, statements: &[ExplainedStatement<'_>]) -> String {
    let content = html! {
        @for statement in statements { (section(statement)) }
    };
    document_with_style("dbdyno sql explain", title, Some(STYLE), &content)
}

fn section(explained: &ExplainedStatement<'_>) -> Markup {
    html! {
        section {
            h2 { (explained.place) }
            pre { (explained.statement) }
            p.note { "Server " (explained.server) }
            @for note in &explained.notes { p.note { (note) } }
            @for (at, form) in explained.forms.iter().enumerate() {
                @if at == 0 {
                    h3 { (form.command) }
                    (form_content(form))
                } @else {
                    details {
                        summary { (form.command) }
                        (form_content(form))
                    }
                }
            }
            @match explained.trace {
                Ok((trace, original)) => {
                    h3 { "Optimizer trace" }
                    (trace_content(trace))
                    details { summary { "The server's trace" } pre { (original) } }
                }
                Err(why) => { p.note { "Optimizer trace: " (why) } }
            }
        }
    }
}

fn form_content(form: &ExplainedForm<'_>) -> Markup {
    let root = &form.plan.root;
    html! {
        @if let Some(worst) = worst_misestimate(root) { p { (worst.sentence()) } }
        @if let Some(dearest) = dearest(root) { p { (dearest.sentence()) } }
        (scrolling(form.command, plan_table(root)))
        @if let Some(rewritten) = &form.plan.rewritten {
            details { summary { "The statement as rewritten" } pre { (rewritten) } }
        }
        details { summary { "The server's answer" } pre { (form.original) } }
    }
}

/// A plan as a table whose first column is the tree.
pub(crate) fn plan_table(root: &Node) -> Markup {
    let is_measured = root.is_measured();
    let heads: &[&str] = if is_measured {
        &["expected rows", "rows", "times", "time", "own time"]
    } else {
        &["rows", "kept, %", "cost"]
    };
    let mut rows = Vec::new();
    add_rows(root, 0, is_measured, &mut rows);
    html! {
        table.plan {
            thead { tr {
                th scope="col" { "node" }
                @for head in heads { th scope="col" { (head) } }
            } }
            tbody { @for row in rows { (row) } }
        }
    }
}

fn add_rows(node: &Node, depth: usize, is_measured: bool, rows: &mut Vec<Markup>) {
    rows.push(html! {
        tr {
            td style={ "--depth: " (depth) } {
                (node.label())
                @for detail in node.details() { small { (detail) } }
            }
            @for figure in figures(node, is_measured) { td { (figure) } }
        }
    });
    for child in &node.children {
        add_rows(child, depth + 1, is_measured, rows);
    }
}

fn figures(node: &Node, is_measured: bool) -> Vec<String> {
    let figures = if is_measured {
        let it = node.measured_figures();
        vec![it.expected, it.rows, it.times, it.time, it.own_time]
    } else {
        let it = node.estimated_figures();
        vec![it.rows, it.kept_percent, it.cost]
    };
    let figures = figures.into_iter();
    figures
        .map(|figure| figure.unwrap_or_else(|| "–".to_owned()))
        .collect()
}

fn trace_content(trace: &Trace) -> Markup {
    html! {
        @for block in &trace.blocks {
            @let chosen = block.orders.first().and_then(|order| order.cost);
            p {
                @if let Some(number) = block.number { "Query " (number) ": " }
                (block.considered_in_words())
            }
            ul { @for order in &block.orders { li { (order.sentence(chosen)) } } }
            @if !block.rejected.is_empty() {
                p { "Not used:" }
                ul { @for rejected in &block.rejected { li { (rejected.sentence()) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_the_plan_and_escapes_what_the_server_says() {
        let plan = Plan::of_tree(
            "-> Filter: (a < '<b>')  (cost=1 rows=5) (actual time=0..1 rows=50 loops=1)\n    \
                                  -> Table scan on t  (cost=1 rows=5) (actual time=0..1 rows=50 loops=1)\n",
        );
        let plan = plan.unwrap();
        let page = plan_page(
            "q.sql",
            &[ExplainedStatement {
                place: "q.sql:1:1",
                statement: "select '<script>'",
                server: "8.0.33",
                notes: vec!["rolled back"],
                forms: vec![ExplainedForm {
                    command: "EXPLAIN ANALYZE",
                    plan: &plan,
                    original: "-> <x>".to_owned(),
                }],
                trace: Err("not in this version"),
            }],
        );
        assert!(page.contains("where (a &lt; '&lt;b&gt;')") && page.contains("t: whole table"));
        assert!(page.contains("Worst estimate") && page.contains("10.0x too low"));
        assert!(!page.contains("<script>"));
    }
}
