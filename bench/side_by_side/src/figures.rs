//! Figures of several comparisons, as the cells of a table.

use harness::median;

use crate::{answer::Decision, store::Outcome};

/// How many comparisons have this decision.
pub(crate) fn count(outcomes: &[&Outcome], decision: Decision) -> usize {
    let outcomes = outcomes.iter();
    outcomes.filter(|it| it.answer.decision == decision).count()
}

/// How many intervals hold this ratio.
pub(crate) fn count_holding(outcomes: &[&Outcome], ratio: f64) -> usize {
    outcomes.iter().filter(|it| it.answer.holds(ratio)).count()
}

/// The estimates as differences in per cent, in the order of the comparisons.
pub(crate) fn estimates(outcomes: &[&Outcome]) -> Vec<f64> {
    let ratios = outcomes.iter().filter_map(|it| it.answer.ratio);
    ratios.map(|ratio| percent(ratio.estimate)).collect()
}

/// The mean of half the widths of the intervals, in percentage points.
pub(crate) fn mean_half_width(outcomes: &[&Outcome]) -> String {
    let ratios = outcomes.iter().filter_map(|it| it.answer.ratio);
    let widths: Vec<f64> = ratios.map(|it| (it.high - it.low) * 50.0).collect();
    match widths.len() {
        0 => "-".to_owned(),
        count => format!("{:.1}", widths.iter().sum::<f64>() / count as f64),
    }
}

/// The times from the start of the command to its end, seconds.
pub(crate) fn times_s(outcomes: &[&Outcome]) -> Vec<f64> {
    outcomes.iter().map(|it| it.wall_s).collect()
}

/// The difference that a ratio means, in per cent.
pub(crate) fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// `61 (58 to 112)`: the median with the least and the greatest value; `-` without values.
pub(crate) fn summary(values: &[f64], shown: fn(f64) -> String) -> String {
    let least = values.iter().copied().reduce(f64::min);
    let greatest = values.iter().copied().reduce(f64::max);
    match (median(values.to_vec()), least, greatest) {
        (Some(median), Some(least), Some(greatest)) => format!(
            "{} ({} to {})",
            shown(median),
            shown(least),
            shown(greatest)
        ),
        _ => "-".to_owned(),
    }
}

/// Whole seconds.
pub(crate) fn seconds(value: f64) -> String {
    format!("{value:.0}")
}

/// A difference in per cent, with its sign.
pub(crate) fn signed(value: f64) -> String {
    format!("{value:+.1}")
}

/// `-4.9 (-5.6 to -4.1)`: a ratio with its interval, as differences in per cent.
pub(crate) fn difference(ratio: Option<stats::Interval>) -> String {
    ratio.map_or("-".to_owned(), |it| {
        format!(
            "{} ({} to {})",
            signed(percent(it.estimate)),
            signed(percent(it.low)),
            signed(percent(it.high))
        )
    })
}

/// A sentence about the comparisons that failed; empty without any.
pub(crate) fn failures(made: usize, planned: usize) -> String {
    match planned - made {
        0 => String::new(),
        failed => {
            format!(
                "\nFailed: {failed} of {planned} comparisons. The same command tries them again.\n"
            )
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::answer::tests::answer;

    /// A comparison that took this time.
    pub(crate) fn outcome(decision: Decision, low: f64, high: f64, wall_s: f64) -> Outcome {
        Outcome {
            wall_s,
            answer: answer(decision, low, high),
        }
    }

    #[test]
    fn comparisons_are_counted_by_their_decision() {
        let outcomes = [
            &outcome(Decision::Slower, 0.94, 0.96, 60.0),
            &outcome(Decision::Inconclusive, 0.92, 1.02, 90.0),
        ];
        assert_eq!(count(&outcomes, Decision::Slower), 1);
        assert_eq!(count(&outcomes, Decision::Faster), 0);
        assert_eq!(count_holding(&outcomes, 0.95), 2);
        assert_eq!(count_holding(&outcomes, 1.0), 1);
        assert_eq!(
            summary(&estimates(&outcomes), signed),
            "-4.0 (-5.0 to -3.0)"
        );
        assert_eq!(mean_half_width(&outcomes), "3.0");
        assert_eq!(mean_half_width(&[]), "-");
        assert_eq!(summary(&times_s(&outcomes), seconds), "75 (60 to 90)");
        assert_eq!(summary(&[], seconds), "-");
    }

    #[test]
    fn a_ratio_is_shown_as_a_difference() {
        let ratio = outcome(Decision::Slower, 0.94, 0.96, 1.0).answer.ratio;
        assert_eq!(difference(ratio), "-5.0 (-6.0 to -4.0)");
        assert_eq!(difference(None), "-");
    }

    #[test]
    fn failures_are_reported() {
        assert_eq!(failures(40, 40), "");
        assert!(failures(38, 40).contains("2 of 40"));
    }
}
