//! Checks whether two sides did the same work: the same operations in the same shares, for the same time, on the same
//! number of rows, over the same number of connections, at the same rate.

use figures::other_work;
use samples::Record;

use crate::side::{Execution, Levels};

/// A larger relative difference in the number of rows is other data.
const ROWS_MAY_DIFFER: f64 = 0.02;

/// The differences in the work of the sides, one sentence each, without repetition.
pub(crate) fn unlike(places: &[(Levels, Vec<&Execution<'_>>, Vec<&Execution<'_>>)]) -> Vec<String> {
    let mut found = Vec::new();
    for (_, a, b) in places {
        let (Some(a), Some(b)) = (a.first(), b.first()) else {
            continue;
        };
        for sentence in unlike_executions(a, b) {
            if !found.contains(&sentence) {
                found.push(sentence);
            }
        }
    }
    found
}

fn unlike_executions(a: &Execution<'_>, b: &Execution<'_>) -> Vec<String> {
    let work = other_work((a.record, &a.figures), (b.record, &b.figures));
    let told = work
        .into_iter()
        .map(|(what, [a, b])| format!("{what}: {a} against {b}"));
    let mut found: Vec<_> = told.collect();
    let differs = |what: &str, a: Option<String>, b: Option<String>| {
        let told = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
        (a != b).then(|| format!("{what}: {} against {}", told(a), told(b)))
    };
    let connections = |record: &Record| Some(record.connections().to_string());
    found.extend(differs(
        "connections",
        connections(a.record),
        connections(b.record),
    ));
    found.extend(differs("rate", rate(a.record), rate(b.record)));
    found.extend(other_rows(a.record, b.record));
    found
}

/// The rate of an open loop, in words; a closed loop has none.
fn rate(record: &Record) -> Option<String> {
    let offered = record.offered.as_ref()?;
    Some(match offered.rate_per_s {
        Some(rate) => format!("{rate}/s ({})", offered.process),
        None => "none".to_owned(),
    })
}

/// Numbers of rows are known of data that dbdyno made or counted.
fn other_rows(a: &Record, b: &Record) -> Option<String> {
    let (a, b) = (a.dataset.as_ref()?, b.dataset.as_ref()?);
    let most = a.rows.max(b.rows).max(1) as f64;
    let differ = (a.rows.abs_diff(b.rows) as f64) / most > ROWS_MAY_DIFFER;
    differ.then(|| format!("rows: {} against {}", a.rows, b.rows))
}
