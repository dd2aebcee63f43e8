//! Times of statements as one self-contained HTML page: medians with their intervals, parts, single times and costs.

use maud::{Markup, html};
use units::{count, seconds};

use crate::page::{document_with_style, scrolling};

const STYLE: &str = "pre { white-space: pre-wrap; overflow-wrap: anywhere; }";

/// A timed statement; times in seconds.
#[derive(Debug)]
pub struct TimedStatement<'a> {
    pub name: &'a str,
    /// Where it begins.
    pub place: String,
    pub text: String,
    /// Rows received or changed.
    pub rows: u64,
    /// Warnings of the last execution.
    pub warnings: u32,
    pub is_rolled_back: bool,
    /// After a restart.
    pub cold_s: &'a [f64],
    /// In the first round without a restart.
    pub first_s: Option<f64>,
    /// In the rounds after it.
    pub warm_s: &'a [f64],
    /// Their median.
    pub median_s: Option<f64>,
    /// Its 95 % interval.
    pub interval_s: Option<(f64, f64)>,
    /// Medians of the parts: send, server, first row, fetch.
    pub parts_s: Option<[f64; 4]>,
    /// What one execution adds to counters of the server.
    pub costs: &'a [(String, i64)],
    /// What performance_schema says about it, in a line.
    pub event: Option<String>,
}

/// Renders timed statements as one HTML page.
pub fn statement_times_page(
    version: &str,
    notes: &[String],
    statements: &[TimedStatement<'_>],
) -> String {
    let content = html! {
        p.note { "Server " (version) }
        @for note in notes { p.note { (note) } }
        (scrolling("Times", summary(statements)))
        @for statement in statements { (section(statement)) }
    };
    let title = format!("Times of {}", units::counted(statements.len(), "statement"));
    document_with_style("dbdyno sql time", &title, Some(STYLE), &content)
}

fn or_dash(time_s: Option<f64>) -> String {
    time_s.map_or_else(|| "–".to_owned(), seconds)
}

fn middle(times_s: &[f64]) -> Option<f64> {
    let mut sorted = times_s.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn summary(statements: &[TimedStatement<'_>]) -> Markup {
    let has_cold = statements.iter().any(|it| !it.cold_s.is_empty());
    html! {
        table {
            thead { tr {
                th scope="col" { "statement" }
                @if has_cold { th scope="col" { "cold" } }
                @for head in ["first", "median", "95 % interval", "runs", "rows", "send", "server", "first row", "fetch"] {
                    th scope="col" { (head) }
                }
            } }
            tbody {
                @for it in statements {
                    tr {
                        td { (it.name) }
                        @if has_cold { td { (or_dash(middle(it.cold_s))) } }
                        td { (or_dash(it.first_s)) }
                        td { (or_dash(it.median_s)) }
                        td {
                            @match it.interval_s {
                                Some((low, high)) => { (seconds(low)) " to " (seconds(high)) }
                                None => "too few runs",
                            }
                        }
                        td { (it.warm_s.len()) }
                        td { (count(it.rows as f64)) }
                        @for part in 0..4 { td { (or_dash(it.parts_s.map(|parts| parts[part]))) } }
                    }
                }
            }
        }
    }
}

fn section(it: &TimedStatement<'_>) -> Markup {
    let times = |times_s: &[f64]| {
        let times: Vec<String> = times_s.iter().map(|time_s| seconds(*time_s)).collect();
        times.join(", ")
    };
    html! {
        section {
            h2 { (it.name) " at " (it.place) }
            pre { (it.text) }
            @if it.is_rolled_back { p.note { "Each execution was rolled back." } }
            @if it.warnings > 0 { p.note { (units::counted(it.warnings as usize, "warning")) } }
            @if !it.cold_s.is_empty() { p { "Cold: " (times(it.cold_s)) } }
            details { summary { "Single times" } p { (times(it.warm_s)) } }
            @if let Some(event) = &it.event { p { "performance_schema: " (event) } }
            @if !it.costs.is_empty() {
                (scrolling("Costs of one execution", html! {
                    table {
                        thead { tr { th scope="col" { "counter" } th scope="col" { "added by one execution" } } }
                        tbody {
                            @for (name, added) in it.costs { tr { td { (name) } td { (count(*added as f64)) } } }
                        }
                    }
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_times_parts_and_costs_and_escapes_the_statement() {
        let page = statement_times_page(
            "8.0.33",
            &["cold rounds read from memory".to_owned()],
            &[TimedStatement {
                name: "Q1",
                place: "q.sql:1:1".to_owned(),
                text: "select '<script>'".to_owned(),
                rows: 3,
                warnings: 1,
                is_rolled_back: false,
                cold_s: &[0.5, 0.25],
                first_s: Some(0.125),
                warm_s: &[0.002, 0.003],
                median_s: Some(0.0025),
                interval_s: None,
                parts_s: Some([1e-6, 0.002, 0.0, 0.0005]),
                costs: &[("Handler_read_next".to_owned(), 1234)],
                event: Some("rows examined 77".to_owned()),
            }],
        );
        for part in [
            "2.50 ms",
            "500 ms",
            "1.23k",
            "too few runs",
            "1 warning",
            "performance_schema: rows examined 77",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<script>"));
    }
}
