//! Whether two runs did the same work: the same operations in the same shares, for the same time.

use std::collections::{BTreeMap, BTreeSet};

use samples::Record;
use units::percent;

use crate::run::RunFigures;

/// A larger difference in the share of an operation type is another mix.
const MIX_MAY_DIFFER: f64 = 0.05;
/// A larger difference in the length of the measurement, as a share of the longer one, is another length: caches, logs and
/// what is flushed in the background are at another point then.
const LENGTH_MAY_DIFFER: f64 = 0.1;

/// The differences in the work of two runs, by their name; the values of both are words.
pub fn other_work(
    a: (&Record, &RunFigures),
    b: (&Record, &RunFigures),
) -> BTreeMap<String, [String; 2]> {
    let mut found = BTreeMap::new();
    let operations = [shares(a.1), shares(b.1)];
    let names = |shares: &BTreeMap<String, f64>| shares.keys().cloned().collect::<BTreeSet<_>>();
    if names(&operations[0]) != names(&operations[1]) {
        found.insert("operations".to_owned(), operations.each_ref().map(listed));
    } else {
        let shares = operations[0].iter().zip(operations[1].values());
        let other = shares.filter(|((_, a), b)| (*a - *b).abs() > MIX_MAY_DIFFER);
        found.extend(
            other.map(|((name, a), b)| (format!("share of {name}"), [percent(*a), percent(*b)])),
        );
    }
    let lengths = [a, b].map(|(record, figures)| planned_s(record, figures));
    if let [Some(a), Some(b)] = lengths
        && (a - b).abs() > LENGTH_MAY_DIFFER * a.max(b)
    {
        let what = "length of the measurement".to_owned();
        found.insert(what, [a, b].map(units::seconds));
    }
    found
}

/// The share of each operation type, by load and operation.
fn shares(figures: &RunFigures) -> BTreeMap<String, f64> {
    let all = figures.count + figures.errors;
    let operations = figures.operations.iter();
    operations
        .map(|it| {
            let count = it.count + it.errors;
            (it.operation.clone(), count as f64 / all.max(1) as f64)
        })
        .collect()
}

fn listed(shares: &BTreeMap<String, f64>) -> String {
    if shares.is_empty() {
        "nothing".to_owned()
    } else {
        shares.keys().cloned().collect::<Vec<_>>().join(", ")
    }
}

/// The length that was planned, in seconds; `None` where the work ends by itself and its length is a result.
fn planned_s(record: &Record, figures: &RunFigures) -> Option<f64> {
    // Older records do not tell.
    record.offered.as_ref()?;
    (!record.ends_by_itself() && figures.measured_s > 0.0).then_some(figures.measured_s)
}
