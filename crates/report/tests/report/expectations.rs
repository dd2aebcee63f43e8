//! Tests of `[expect]`: a bound is not held by a run whose operations failed.

use report::{Expectation, checked_expectations};
use samples::ErrorCount;
use verdict::{Metric, Outcome};

use crate::synthetic::asked;

#[test]
fn failures_leave_a_held_bound_undecided() {
    let mut results = asked();
    results.expectations = vec![Expectation {
        metric: Metric::Throughput,
        is_below: false,
        limit: 1.0,
        written: "> 1".to_owned(),
    }];
    let sound = checked_expectations(&results);
    assert!(
        sound.iter().all(|it| it.outcome == Outcome::Held),
        "{sound:?}"
    );
    let counted = ErrorCount {
        number: 1213,
        count: 1_000_000,
        in_measurement: 1_000_000,
        ..ErrorCount::default()
    };
    results.runs[0].errors.push(counted);
    let failed = checked_expectations(&results);
    let undecided: Vec<_> = failed
        .iter()
        .filter(|it| it.outcome == Outcome::Undecided)
        .collect();
    assert_eq!((undecided.len(), failed.len()), (1, sound.len()));
    assert!(
        undecided[0]
            .in_words()
            .ends_with(", but operations failed (W10)"),
        "{}",
        undecided[0].in_words()
    );
    // What is broken by a server that also fails is broken.
    results.expectations[0].limit = 1e9;
    let broken = checked_expectations(&results);
    assert!(
        broken.iter().all(|it| it.outcome == Outcome::Broken),
        "{broken:?}"
    );
}
