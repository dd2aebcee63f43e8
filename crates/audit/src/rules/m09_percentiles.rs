//! Rule M09: a percentile rests on too few operations.

use figures::QUANTILES;
use units::count;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    set::Set,
};

/// The names of the reported percentiles.
const NAMES: [&str; QUANTILES.len()] = ["p50", "p95", "p99", "p99.9"];

pub(super) const RULE: Rule = Rule {
    id: "M09",
    name: "no percentile depends on a handful of operations",
    found: "a percentile depends on a handful of operations",
    measures: "The number of operations beyond each percentile. If slow operations come in bursts, this number is reduced to the number of independent operations. If the runs were side by side, each batch of slices is judged separately.",
    threshold: "fail if fewer than 10 operations are beyond a percentile that is compared. Note if fewer than 10 operations are beyond a percentile that is reported but not compared; all output marks such percentiles",
    source: "H. A. David and H. N. Nagaraja, Order Statistics (2003); L. Kish, Survey Sampling (1965) for bursts",
    consequence: "The percentile is the time of a single burst or outlier. The next run will give a different value.",
    remedy: "Measure for longer, or report a lower percentile.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let metric = set
        .declared
        .comparison
        .as_ref()
        .map_or("", |it| it.metric.as_str());
    let mut worst: Option<(Level, String, f64)> = None;
    let mut seen = 0;
    for run in &set.runs {
        let Some(response) = &run.figures.response else {
            continue;
        };
        seen += 1;
        for (percentile, name) in response.percentiles.iter().zip(NAMES) {
            if !percentile.is_thin() {
                continue;
            }
            let (simple, beyond) = (percentile.beyond, percentile.independent);
            let level = if metric == name {
                Level::Fail
            } else {
                Level::Note
            };
            if worst.as_ref().is_none_or(|(known, ..)| level > *known) {
                let words = format!(
                    "{}: {} operations are beyond {name}, equivalent to {} independent ones",
                    run.name(),
                    count(simple),
                    count(beyond)
                );
                worst = Some((level, words, beyond));
            }
        }
    }
    if seen == 0 {
        return Err(missing("response times"));
    }
    Ok(match worst {
        Some((level, words, beyond)) => Finding::new(level, words).with("beyond", beyond),
        None => Finding::new(
            Level::Pass,
            "at least ten independent operations are beyond every percentile",
        ),
    })
}

#[cfg(test)]
mod tests {
    use samples::{Histogram, Record};

    use super::*;
    use crate::fixture::*;

    /// Sets the operations per second, every tenth operation slower than the others.
    fn thin(record: &mut Record, per_s: u64) {
        for (second, interval) in record.intervals.iter_mut().enumerate() {
            let operation = &mut interval.operations[0];
            operation.histogram = Histogram::new();
            operation.count = per_s;
            (0..per_s).for_each(|index| {
                let mixed = (second as u64 * 1000 + index).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let spread = (mixed >> 40) % 997;
                operation.histogram.record(1_000_000 + spread * 1000);
            });
        }
    }

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| thin(record, 1));
        assert_found(&outcome, Level::Note, "independent ones");
        let outcome = judged(&RULE, |record| thin(record, 5));
        assert_found(&outcome, Level::Note, "operations are beyond p99");
        let mut runs = blocks_over("flush", &["1", "2"]);
        thin(&mut runs[3], 5);
        let mut declared = over(&["flush"]);
        declared.comparison.as_mut().unwrap().metric = "p99".to_owned();
        let outcome = judged_together(&RULE, &runs, declared);
        assert_eq!(level(&outcome), Level::Fail, "{outcome:?}");
    }

    #[test]
    fn passes() {
        let outcome = judged(&RULE, |record| thin(record, 900));
        assert_found(&outcome, Level::Pass, "every percentile");
    }

    #[test]
    fn a_run_without_operations_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.intervals.clear()),
            "response times",
        );
    }
}
