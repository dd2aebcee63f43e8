//! Timed statements as a table, as JSON, as CSV, and in the layout of the document.

use std::fmt::Write;

use report::{TimedStatement, statement_times_page};
use serde_json::{Value, json};
use units::{count, seconds};

use super::figures::{Median, Timed};
use crate::commands::sql::{csv_field::quoted, statement_event::StatementEvent};

/// Characters of a name in the table.
const NAME_AT_MOST: usize = 16;

/// A row per statement, and its costs below.
pub(super) fn table(all: &[Timed], version: &str, has_cold: bool) -> String {
    let mut text = format!("server {version}\n");
    let cold = if has_cold {
        format!("{:>11}", "cold")
    } else {
        String::new()
    };
    let head = format!(
        "{:<NAME_AT_MOST$}{cold}{:>11}{:>11}  {:<23}{:>6}{:>9}",
        "statement", "first", "median", "95 % interval", "runs", "rows"
    );
    line(&mut text, head.trim_end());
    for timed in all {
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
        line(
            &mut text,
            &format!(
                "{name:<NAME_AT_MOST$}{cold}{:>11}{:>11}  {interval:<23}{:>6}{:>9}",
                time(timed.first_s),
                time(median.map(|it| it.median)),
                timed.warm_s.len(),
                count(timed.rows as f64),
            ),
        );
    }
    for timed in all {
        line(&mut text, &format!("\n{} at {}", timed.name, timed.place()));
        if timed.is_rolled_back {
            line(&mut text, "  each execution was rolled back");
        }
        if let Some(parts) = timed.median_parts() {
            line(
                &mut text,
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
                &mut text,
                &format!("  {}", units::counted(timed.warnings as usize, "warning")),
            );
        }
        for (name, added) in &timed.costs {
            line(
                &mut text,
                &format!("  {name:<34}{:>12}", count(*added as f64)),
            );
        }
        if let Some(event) = &timed.event {
            line(
                &mut text,
                &format!("  performance_schema: {}", event.sentence()),
            );
        }
    }
    text
}

fn line(text: &mut String, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content}");
}

/// One object with every time in seconds.
pub(super) fn json(all: &[Timed], version: &str, notes: &[String]) -> String {
    let statements: Vec<Value> = all.iter().map(timed_json).collect();
    format!(
        "{:#}\n",
        json!({ "version": 1, "server_version": version, "notes": notes, "statements": statements })
    )
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
pub(super) fn page(all: &[Timed], version: &str, notes: &[String]) -> String {
    let statements = all.iter().map(|timed| {
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
    statement_times_page(version, notes, &statements)
}

/// A row per statement; an empty field where there is no value.
pub(super) fn csv(all: &[Timed]) -> String {
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
/// median of the others, as there for the first and the second run.
pub(super) fn document(all: &[Timed]) -> String {
    let mut text = String::new();
    document_part(&mut text, all, |timed| timed.first_s);
    text.push('\n');
    document_part(&mut text, all, |timed| {
        Median::of(&timed.warm_s).map(|it| it.median)
    });
    text
}

fn document_part(text: &mut String, all: &[Timed], time_s: impl Fn(&Timed) -> Option<f64>) {
    let mut total = 0.0;
    for timed in all {
        let time_s = time_s(timed).unwrap_or(0.0);
        total += time_s;
        line(text, &format!("{}:{time_s:.5}", timed.name));
    }
    line(text, &format!("Total:{total:.5}"));
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
