//! The answer so far, in a few words.

use units::change_and_interval;

use crate::{answer::Answer, decision::Decision};

/// The answer so far, for a line that is rewritten while an experiment runs: the difference of a single comparison, or the
/// number of decided ones among several. `None` as long as nothing can be compared.
///
/// ```text
/// +23 % (+17 % to +29 %)
/// 2 of 3 decided
/// ```
pub fn interim_answer(answers: &[Answer]) -> Option<String> {
    match answers {
        [] => None,
        [only] => {
            let ratio = only.comparison.as_ref()?.ratio;
            let [estimate, interval] = change_and_interval(ratio.estimate, (ratio.low, ratio.high));
            Some(format!("{estimate} ({interval})"))
        }
        several => {
            let decided = several.iter();
            let decided = decided.filter(|it| it.decision != Decision::Inconclusive);
            Some(format!("{} of {} decided", decided.count(), several.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::compare_pairs;

    use super::*;

    fn answer(decision: Decision, pairs: &[(f64, f64)]) -> Answer {
        Answer {
            within: Vec::new(),
            levels: vec![("flush".to_owned(), "2".to_owned())],
            of_batches: true,
            means: Some([100.0, 110.0]),
            decision,
            comparison: compare_pairs(pairs, 0.95),
            paired: true,
            p_value: None,
            executions_needed: None,
            effect: 0.05,
            smallest_effect: None,
            looks: None,
            short_slices: None,
        }
    }

    #[test]
    fn one_comparison_is_its_difference_and_several_are_counted() {
        let pairs = [(100.0, 110.0), (100.0, 112.0), (100.0, 108.0)];
        let open = answer(Decision::Inconclusive, &pairs);
        let decided = answer(Decision::Faster, &pairs);
        let said = |answers: &[Answer]| interim_answer(answers).unwrap_or_default();
        let one = "+10 % (+5.1 % to +15.1 %)";
        assert_eq!(said(&[]), "");
        // A single pair has no interval.
        assert_eq!(said(&[answer(Decision::Inconclusive, &pairs[..1])]), "");
        assert_eq!(said(std::slice::from_ref(&open)), one);
        assert_eq!(said(std::slice::from_ref(&decided)), one);
        assert_eq!(said(&[open, decided.clone(), decided]), "2 of 3 decided");
    }
}
