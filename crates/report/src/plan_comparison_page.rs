//! Statements under variants as one self-contained HTML page: the verdicts, then the plans of both sides beside each other.

use maud::{Markup, html};
use plans::Plan;

use crate::{
    page::{document_with_style, scrolling},
    plan_page::{STYLE, plan_table},
};

/// Two columns where there is room.
const SIDES: &str = "\
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); gap: 1rem; align-items: start; }
.sides > div { min-width: 0; }
.sides .plan td:first-child { min-width: 10rem; }
.sides .plan :is(th, td) { padding-right: 0.4rem; }
";

/// One statement under one variant.
#[derive(Debug)]
pub struct ComparedStatement<'a> {
    /// Its name.
    pub statement: &'a str,
    pub variant: &'a str,
    /// The verdict in a word or two.
    pub verdict: &'a str,
    /// The difference: `-83 %`.
    pub change: Option<String>,
    pub interval: Option<String>,
    /// Blocks measured.
    pub blocks: usize,
    /// The result check and the reason.
    pub notes: Vec<String>,
    /// The differences of the plans, a sentence each; `None` if a plan is missing.
    pub plan_changes: Option<Vec<String>>,
    /// The baseline and the variant.
    pub sides: [PlanSide<'a>; 2],
}

#[derive(Debug)]
pub struct PlanSide<'a> {
    /// The mean time with its unit.
    pub time: Option<String>,
    /// The text of the statement.
    pub statement: &'a str,
    /// The plan, and what was sent before the statement.
    pub plan: Option<(&'a str, &'a Plan)>,
}

/// Renders comparisons as one HTML page.
pub fn plan_comparison_page(title: &str, subject: &str, all: &[ComparedStatement<'_>]) -> String {
    let content = html! {
        p.note { (subject) }
        (scrolling("Verdicts", summary(all)))
        @for one in all { (section(one)) }
    };
    let style = format!("{STYLE}{SIDES}");
    document_with_style("dbdyno sql compare", title, Some(&style), &content)
}

fn summary(all: &[ComparedStatement<'_>]) -> Markup {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    html! {
        table {
            thead { tr {
                @for head in ["statement", "variant", "before", "after", "change", "95 % interval", "blocks", "verdict"] {
                    th scope="col" { (head) }
                }
            } }
            tbody {
                @for one in all {
                    tr {
                        td { (one.statement) }
                        td { (one.variant) }
                        @for side in &one.sides { td { (or_dash(&side.time)) } }
                        td { (or_dash(&one.change)) }
                        td { (or_dash(&one.interval)) }
                        td { (one.blocks) }
                        td { (one.verdict) }
                    }
                }
            }
        }
    }
}

fn section(one: &ComparedStatement<'_>) -> Markup {
    html! {
        section {
            h2 { (one.statement) " under " (one.variant) ": " (one.verdict) }
            @for note in &one.notes { p { (note) } }
            @match &one.plan_changes {
                Some(changes) if changes.is_empty() => { p { "The plan is the same." } }
                Some(changes) => { ul { @for change in changes { li { (change) } } } }
                None => { p.note { "The plans cannot be compared: the server did not explain the statement on both sides." } }
            }
            div.sides {
                @for (head, side) in ["Before", "After"].iter().zip(&one.sides) {
                    div {
                        h3 { (head) @if let Some(time) = &side.time { ": " (time) } }
                        pre { (side.statement) }
                        @if let Some((command, plan)) = side.plan {
                            p.note { (command) }
                            (scrolling(command, plan_table(&plan.root)))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_plans_and_the_verdict_are_on_the_page() {
        let plan = |text: &str| Plan::of_tree(text).unwrap();
        let before = plan("-> Table scan on t  (cost=1 rows=5)\n");
        let after = plan("-> Index lookup on t using k (a='<b>')  (cost=1 rows=5)\n");
        let side = |time: &str, plan| PlanSide {
            time: Some(time.to_owned()),
            statement: "select '<script>'",
            plan: Some(("EXPLAIN FORMAT=TREE", plan)),
        };
        let page = plan_comparison_page(
            "1 comparison",
            "server 8.0.33",
            &[ComparedStatement {
                statement: "Q1",
                variant: "index",
                verdict: "faster",
                change: Some("-83 %".to_owned()),
                interval: None,
                blocks: 7,
                notes: vec!["because rows read 5 to 1".to_owned()],
                plan_changes: Some(vec!["t: whole table -> rows by index k".to_owned()]),
                sides: [side("6.00 ms", &before), side("1.00 ms", &after)],
            }],
        );
        assert!(page.contains("Q1 under index: faster") && page.contains("6.00 ms"));
        assert!(page.contains("t: whole table") && page.contains("&lt;b&gt;"));
        assert!(!page.contains("<script>"));
    }
}
