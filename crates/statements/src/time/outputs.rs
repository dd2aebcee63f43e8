//! Timed statements as a table, as JSON, as CSV, and in the layout of the document.

use std::fmt::Write;

use report::{TimedStatement, statement_times_page};
use serde_json::{Value, json};
use units::{count, seconds};

use super::figures::{Median, Report, Timed};
use crate::{csv_field::quoted, statement_event::StatementEvent};

/// Lines of the table at most; the others come with --verbose.
const LINES_AT_MOST: usize = 12;
/// Characters of a name in the table.
const NAME_AT_MOST: usize = 16;

/// How the table is shown.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Whether there were rounds after a restart.
    pub has_cold: bool,
    /// Whether each statement is shown, with its costs.
    pub is_verbose: bool,
}

/// A row per statement; if there are many, of those only that take most time. `is_verbose` shows all, and their costs below.
pub fn table(report: &Report, layout: Layout) -> String {
    let mut text = String::new();
    if let Some(why) = &report.incomplete {
        // A server's message can have several lines.
        let why = why.replace('\n', " ");
        line(&mut text, &format!("incomplete: {why}"));
    }
    line(&mut text, &format!("server {}", report.version));
    line(&mut text, &head(layout.has_cold));
    let all = &report.timed;
    if layout.is_verbose {
        for timed in all {
            line(&mut text, &row(timed, layout.has_cold));
        }
        for timed in all {
            details(&mut text, timed);
        }
        return text;
    }
    let room = LINES_AT_MOST - text.lines().count();
    let shown = if all.len() > room {
        room - 1
    } else {
        all.len()
    };
    let mut slowest: Vec<&Timed> = all.iter().collect();
    slowest.sort_by(|a, b| time_s(b).total_cmp(&time_s(a)));
    let (slowest, others) = slowest.split_at(shown);
    for timed in all {
        if slowest.iter().any(|it| std::ptr::eq(*it, timed)) {
            line(&mut text, &row(timed, layout.has_cold));
        }
    }
    if let Some(first) = others.first() {
        line(
            &mut text,
            &format!(
                "{} more, each at most {} (--verbose)",
                others.len(),
                seconds(time_s(first))
            ),
        );
    }
    text
}

/// The time by which the slowest statements are found: the median, else that of the first round; 0 if it was not executed.
fn time_s(timed: &Timed) -> f64 {
    let median = Median::of(&timed.warm_s).map(|it| it.median);
    median.or(timed.first_s).unwrap_or(0.0)
}

fn head(has_cold: bool) -> String {
    let cold = if has_cold {
        format!("{:>11}", "cold")
    } else {
        String::new()
    };
    let head = format!(
        "{:<NAME_AT_MOST$}{cold}{:>11}{:>11}  {:<23}{:>6}{:>9}",
        "statement", "first", "median", "95 % interval", "runs", "rows"
    );
    head.trim_end().to_owned()
}

fn row(timed: &Timed, has_cold: bool) -> String {
    let median = Median::of(&timed.warm_s);
    let time = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), seconds);
    let bounds = median.and_then(|it| it.bounds);
    let interval = bounds.map_or_else(
        || "too few runs".to_owned(),
        |(low, high)| format!("{} to {}", seconds(low), seconds(high)),
    );
    let cold = if has_cold {
        format!(
            "{:>11}",
            time(Median::of(&timed.cold_s).map(|it| it.median))
        )
    } else {
        String::new()
    };
    let name: String = timed.name.chars().take(NAME_AT_MOST - 1).collect();
    format!(
        "{name:<NAME_AT_MOST$}{cold}{:>11}{:>11}  {interval:<23}{:>6}{:>9}",
        time(timed.first_s),
        time(median.map(|it| it.median)),
        timed.warm_s.len(),
        count(timed.rows as f64),
    )
}

/// The parts of a statement's time, and what it costs the server.
fn details(text: &mut String, timed: &Timed) {
    line(text, &format!("\n{} at {}", timed.name, timed.place()));
    if timed.is_rolled_back {
        line(text, "  each execution was rolled back");
    }
    if let Some(parts) = timed.median_parts() {
        line(
            text,
            &format!(
                "  send {}, server {}, first row {}, fetch {} (medians)",
                seconds(parts.send_s),
                seconds(parts.server_s),
                seconds(parts.first_row_s),
                seconds(parts.fetch_s)
            ),
        );
    }
    if timed.warnings > 0 {
        line(
            text,
            &format!("  {}", units::counted(timed.warnings as usize, "warning")),
        );
    }
    for (name, added) in &timed.costs {
        line(text, &format!("  {name:<34}{:>12}", count(*added as f64)));
    }
    if let Some(event) = &timed.event {
        line(text, &format!("  performance_schema: {}", event.sentence()));
    }
}

fn line(text: &mut String, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content}");
}

/// One object with every time in seconds.
pub fn json(report: &Report) -> String {
    let statements: Vec<Value> = report.timed.iter().map(timed_json).collect();
    let object = json!({
        "version": 1,
        "server_version": report.version,
        "incomplete": report.incomplete,
        "notes": report.notes,
        "statements": statements,
    });
    format!("{object:#}\n")
}

fn timed_json(timed: &Timed) -> Value {
    let median = Median::of(&timed.warm_s);
    let bounds = median.and_then(|it| it.bounds);
    let costs: serde_json::Map<String, Value> = timed
        .costs
        .iter()
        .map(|(name, added)| (name.clone(), json!(added)))
        .collect();
    let text = timed
        .statement
        .as_ref()
        .map(|it| String::from_utf8_lossy(it.text()));
    json!({
        "name": timed.name,
        "place": timed.place(),
        "statement": text,
        "rows": timed.rows,
        "warnings": timed.warnings,
        "rolled_back": timed.is_rolled_back,
        "cold_s": timed.cold_s,
        "first_s": timed.first_s,
        "warm_s": timed.warm_s,
        "median_s": median.map(|it| it.median),
        "low_s": bounds.map(|it| it.0),
        "high_s": bounds.map(|it| it.1),
        "parts_s": timed.median_parts().map(|parts| json!({
            "send": parts.send_s,
            "server": parts.server_s,
            "first_row": parts.first_row_s,
            "fetch": parts.fetch_s,
        })),
        "costs": costs,
        "event": timed.event.as_ref().map(StatementEvent::json),
    })
}

/// A page for a browser.
pub fn page(report: &Report) -> String {
    let incomplete = report
        .incomplete
        .iter()
        .map(|why| format!("incomplete: {why}"));
    let notes: Vec<String> = incomplete.chain(report.notes.iter().cloned()).collect();
    let statements = report.timed.iter().map(|timed| {
        let median = Median::of(&timed.warm_s);
        let parts = timed.median_parts();
        TimedStatement {
            name: &timed.name,
            place: timed.place(),
            text: timed.statement.as_ref().map_or_else(String::new, |it| {
                String::from_utf8_lossy(it.text()).into_owned()
            }),
            rows: timed.rows,
            warnings: timed.warnings,
            is_rolled_back: timed.is_rolled_back,
            cold_s: &timed.cold_s,
            first_s: timed.first_s,
            warm_s: &timed.warm_s,
            median_s: median.map(|it| it.median),
            interval_s: median.and_then(|it| it.bounds),
            parts_s: parts.map(|it| [it.send_s, it.server_s, it.first_row_s, it.fetch_s]),
            costs: &timed.costs,
            event: timed.event.as_ref().map(StatementEvent::sentence),
        }
    });
    let statements: Vec<TimedStatement<'_>> = statements.collect();
    statement_times_page(&report.version, &notes, &statements)
}

/// A row per statement; an empty field where there is no value.
pub fn csv(all: &[Timed]) -> String {
    let mut text =
        "name,place,rows,warnings,runs,cold_median_s,first_s,median_s,low_s,high_s\n".to_owned();
    let number = |value: Option<f64>| value.map(|value| format!("{value}")).unwrap_or_default();
    for timed in all {
        let median = Median::of(&timed.warm_s);
        let bounds = median.and_then(|it| it.bounds);
        let fields = [
            quoted(&timed.name),
            quoted(&timed.place()),
            timed.rows.to_string(),
            timed.warnings.to_string(),
            timed.warm_s.len().to_string(),
            number(Median::of(&timed.cold_s).map(|it| it.median)),
            number(timed.first_s),
            number(median.map(|it| it.median)),
            number(bounds.map(|it| it.0)),
            number(bounds.map(|it| it.1)),
        ];
        line(&mut text, &fields.join(","));
    }
    text
}

/// The layout of document 000: a line per statement in seconds, and their total; a part for the first round and one for the
/// median of the others, as there for the first and the second run. What has no time is left out, and then the total, too.
pub fn document(all: &[Timed]) -> String {
    let mut text = String::new();
    document_part(&mut text, all, |timed| timed.first_s);
    text.push('\n');
    document_part(&mut text, all, |timed| {
        Median::of(&timed.warm_s).map(|it| it.median)
    });
    text
}

fn document_part(text: &mut String, all: &[Timed], time_s: impl Fn(&Timed) -> Option<f64>) {
    let times = all.iter().map(|timed| (&timed.name, time_s(timed)));
    let times: Vec<(&String, Option<f64>)> = times.collect();
    for (name, time_s) in &times {
        if let Some(time_s) = time_s {
            line(text, &format!("{name}:{time_s:.5}"));
        }
    }
    let total = times.iter().map(|(_, time_s)| *time_s).sum::<Option<f64>>();
    if let Some(total) = total {
        line(text, &format!("Total:{total:.5}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement with six runs of the same time.
    fn timed(name: &str, time_s: f64) -> Timed {
        Timed {
            name: name.to_owned(),
            first_s: Some(time_s),
            warm_s: vec![time_s; 6],
            rows: 1,
            is_rolled_back: true,
            ..Timed::default()
        }
    }

    fn shown(report: &Report, is_verbose: bool) -> String {
        let layout = Layout {
            has_cold: false,
            is_verbose,
        };
        table(report, layout)
    }

    #[test]
    fn a_table_has_twelve_lines_at_most_and_the_slowest_statements() {
        let report = |number: u32, incomplete: Option<&str>| Report {
            timed: (1..=number)
                .map(|at| timed(&format!("Q{at}"), f64::from(at) / 1e3))
                .collect(),
            version: "10.11.19-MariaDB".to_owned(),
            incomplete: incomplete.map(str::to_owned),
            ..Report::default()
        };
        // Two lines are above the rows.
        let ten = shown(&report(10, None), false);
        assert_eq!(ten.lines().count(), 12, "{ten}");
        assert!(!ten.contains("more"), "{ten}");
        let twelve = shown(&report(12, None), false);
        let rows: Vec<&str> = twelve.lines().skip(2).collect();
        let names = rows[..9].iter().filter_map(|it| it.split(' ').next());
        let expected: Vec<String> = (4..=12).map(|at| format!("Q{at}")).collect();
        assert_eq!(names.collect::<Vec<_>>(), expected, "{twelve}");
        assert_eq!(rows[9..], ["3 more, each at most 3.00 ms (--verbose)"]);
        let ended = shown(&report(12, Some("interrupted")), false);
        assert_eq!(ended.lines().count(), 12, "{ended}");
        assert!(ended.ends_with("\n4 more, each at most 4.00 ms (--verbose)\n"));
        // An error quotes the lines of its statement.
        let long = shown(&report(12, Some(&"line\n".repeat(13))), false);
        assert_eq!(long.lines().count(), 12, "{long}");
    }

    #[test]
    fn the_costs_of_each_statement_are_details() {
        let report = Report {
            timed: vec![timed("U1", 0.002)],
            ..Report::default()
        };
        let short = shown(&report, false);
        assert_eq!(short.lines().count(), 3, "{short}");
        let verbose = shown(&report, true);
        assert!(verbose.starts_with(&short), "{verbose}");
        assert!(
            verbose.ends_with("\nU1 at \n  each execution was rolled back\n"),
            "{verbose}"
        );
    }

    #[test]
    fn the_document_has_its_layout() {
        let timed = |name: &str, first_s: f64| Timed {
            name: name.to_owned(),
            first_s: Some(first_s),
            warm_s: vec![first_s / 2.0],
            ..Timed::default()
        };
        let text = document(&[timed("Q0", 0.00018), timed("Q1", 5.97537)]);
        let expected =
            "Q0:0.00018\nQ1:5.97537\nTotal:5.97555\n\nQ0:0.00009\nQ1:2.98768\nTotal:2.98778\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_document_that_ended_early_has_no_total_of_some() {
        let timed = |name: &str, first_s: Option<f64>| Timed {
            name: name.to_owned(),
            first_s,
            ..Timed::default()
        };
        let text = document(&[timed("Q0", Some(1.0)), timed("Q1", None)]);
        assert_eq!(text, "Q0:1.00000\n\n");
    }
}
