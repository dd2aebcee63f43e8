//! Formats a comparison as a sentence.

use stats::Comparison;
use units::{change, counted, fine_percent};

use crate::{
    answer::{Answer, InterimAnalyses},
    decision::{Decision, why_undecided},
    question::Question,
    short_slices::ShortSlices,
};

/// Maximum number of executions that is stated.
const EXECUTIONS_MAX: usize = 1000;

/// The words for the executions of a comparison, and for the blocks after which they are analysed.
struct Nouns {
    execution: &'static str,
    executions: &'static str,
    block: &'static str,
    blocks: &'static str,
}

const OF_RUNS: Nouns = Nouns {
    execution: "execution",
    executions: "executions",
    block: "block",
    blocks: "blocks",
};
const OF_BATCHES: Nouns = Nouns {
    execution: "batch",
    executions: "batches",
    block: "batch",
    blocks: "batches",
};

impl Nouns {
    fn of(of_batches: bool) -> &'static Self {
        if of_batches { &OF_BATCHES } else { &OF_RUNS }
    }

    /// `about 294 executions a side`
    fn a_side(&self, needed: usize) -> String {
        if needed > EXECUTIONS_MAX {
            format!("more than {EXECUTIONS_MAX} {} a side", self.executions)
        } else {
            format!("about {} a side", counted(needed, self.execution))
        }
    }
}

/// The number of executions that would decide, in every output the same: `about 294 executions a side`. They may be batches
/// of slices.
pub fn executions_a_side(needed: usize, of_batches: bool) -> String {
    Nouns::of(of_batches).a_side(needed)
}

/// One sentence: the compared combinations, the decision, and its certainty.
///
/// ```text
/// fs xfs against ext4 at connections 8: faster, throughput +15.7 % (95 % interval +9.1 % to +22.7 %; 5 executions a
/// side, in pairs).
/// ```
pub fn sentence(question: &Question, answer: &Answer) -> String {
    let subject = subject(question, answer);
    let metric = question.metric.in_words();
    let nouns = Nouns::of(answer.of_batches);
    if let Some(short) = short_slices_alone(answer) {
        return format!("{subject}: inconclusive, because {}.", short.in_words());
    }
    if answer.means.is_none() {
        return format!(
            "{subject}: inconclusive, because {metric} was not measured in every {}.",
            nouns.execution
        );
    }
    let Some(comparison) = &answer.comparison else {
        let executions = answer.compared_executions();
        if executions.of_batches && executions.paired {
            return format!(
                "{subject}: inconclusive, because too few batches have {metric}; a decision needs {}.",
                executions.fewest()
            );
        }
        return format!(
            "{subject}: inconclusive, because one side has fewer than two {} with {metric}; a decision needs at least three a side.",
            nouns.executions
        );
    };
    let decision = answer.decision.word();
    let ratio = comparison.ratio;
    let pairs = if answer.paired { ", in pairs" } else { "" };
    let mut text = format!(
        "{subject}: {decision}, {metric} {} (95 % interval {} to {}; {} {} a side{pairs})",
        change(ratio.estimate),
        change(ratio.low),
        change(ratio.high),
        comparison.executions,
        nouns.executions,
    );
    text.push_str(&why(answer, comparison));
    let margin = fine_percent(question.min_effect);
    match (answer.decision, answer.executions_needed) {
        (Decision::Equivalent, _) => {
            text.push_str(&format!("; smaller than the margin of {margin}"));
        }
        (Decision::Inconclusive, Some(needed)) if answer.looks.is_some() => {
            text.push_str(&format!("; {} might decide", nouns.a_side(needed)));
        }
        (Decision::Inconclusive, Some(needed)) => {
            text.push_str(&format!(
                "; {} should be enough to decide a difference of {}",
                nouns.a_side(needed),
                fine_percent(answer.effect)
            ));
        }
        _ => {}
    }
    if let Some(looks) = &answer.looks {
        text.push_str(&how_it_was_decided(looks, answer.decision, nouns));
    }
    text.push('.');
    text
}

/// The decision only, for a summary.
///
/// ```text
/// fs xfs against ext4 at connections 8: faster, throughput +15.7 % (+9.1 % to +22.7 %)
/// ```
pub fn short_sentence(question: &Question, answer: &Answer) -> String {
    let subject = subject(question, answer);
    let decision = answer.decision.word();
    let metric = question.metric.in_words();
    if let Some(short) = short_slices_alone(answer) {
        return format!("{subject}: {decision}, because {}", short.in_words());
    }
    let Some(comparison) = &answer.comparison else {
        let executions = Nouns::of(answer.of_batches).executions;
        return format!("{subject}: {decision}, because too few {executions} have {metric}");
    };
    let [estimate, low, high] = {
        let ratio = comparison.ratio;
        [ratio.estimate, ratio.low, ratio.high].map(change)
    };
    let why = why(answer, comparison);
    format!("{subject}: {decision}, {metric} {estimate} ({low} to {high}{why})")
}

/// The slices that are too short, where there are no numbers beside them.
fn short_slices_alone(answer: &Answer) -> Option<&ShortSlices> {
    let short = answer.short_slices.as_ref();
    short.filter(|_| answer.means.is_none() || answer.comparison.is_none())
}

/// Why a comparison is inconclusive, if more than its interval says so.
fn why(answer: &Answer, comparison: &Comparison) -> String {
    let short = answer.short_slices.as_ref();
    why_undecided(
        answer.decision,
        comparison,
        answer.compared_executions(),
        short,
    )
}

/// `; decided after 5 of at most 20 blocks, analysed after each block, which the interval accounts for`.
fn how_it_was_decided(looks: &InterimAnalyses, decision: Decision, nouns: &Nouns) -> String {
    let InterimAnalyses {
        blocks,
        blocks_at_most,
        time_is_spent,
    } = looks;
    let Nouns {
        block,
        blocks: noun,
        ..
    } = nouns;
    let when = match decision {
        Decision::Inconclusive if blocks == blocks_at_most => {
            format!("not decided with all {blocks} {noun} of the budget")
        }
        Decision::Inconclusive if *time_is_spent => {
            format!(
                "not decided after {blocks} of at most {blocks_at_most} {noun}, when the time budget was used up"
            )
        }
        Decision::Inconclusive => {
            format!("not decided after {blocks} of at most {blocks_at_most} {noun}")
        }
        _ => format!("decided after {blocks} of at most {blocks_at_most} {noun}"),
    };
    format!("; {when}, analysed after each {block}, which the interval accounts for")
}

/// The two sides of a comparison: `fs xfs against ext4 at connections 8`.
pub fn subject(question: &Question, answer: &Answer) -> String {
    let levels: Vec<String> = answer
        .levels
        .iter()
        .zip(&question.baseline)
        .map(|((factor, level), (_, base))| {
            if level == base {
                format!("{factor} {level}")
            } else {
                format!("{factor} {level} against {base}")
            }
        })
        .collect();
    let within: Vec<String> = answer
        .within
        .iter()
        .map(|(factor, level)| format!("{factor} {level}"))
        .collect();
    let place = if within.is_empty() {
        String::new()
    } else {
        format!(" at {}", within.join(", "))
    };
    format!("{}{place}", levels.join(", "))
}

#[cfg(test)]
mod tests {
    use stats::compare_pairs;

    use super::*;
    use crate::metric::Metric;

    fn answer(decision: Decision, pairs: &[(f64, f64)], needed: Option<usize>) -> Answer {
        Answer {
            within: vec![("connections".to_owned(), "8".to_owned())],
            levels: vec![("fs".to_owned(), "xfs".to_owned())],
            of_batches: false,
            means: Some([100.0, 110.0]),
            decision,
            comparison: compare_pairs(pairs, 0.95),
            paired: true,
            p_value: None,
            executions_needed: needed,
            effect: 0.05,
            smallest_effect: None,
            looks: None,
            short_slices: None,
        }
    }

    #[test]
    fn sentences() {
        let question = Question {
            metric: Metric::P99,
            baseline: vec![("fs".to_owned(), "ext4".to_owned())],
            min_effect: 0.05,
            until_decided: None,
        };
        let pairs = [(100.0, 110.0), (100.0, 112.0), (100.0, 108.0)];
        let cases = [
            (
                answer(Decision::Slower, &pairs, None),
                "fs xfs against ext4 at connections 8: slower, p99 +10 % (95 % interval +5.1 % to +15.1 %; \
                 3 executions a side, in pairs).",
            ),
            (
                answer(Decision::Inconclusive, &pairs, Some(12)),
                "fs xfs against ext4 at connections 8: inconclusive, p99 +10 % (95 % interval +5.1 % to +15.1 %; \
                 3 executions a side, in pairs); not significant over all comparisons together; about 12 executions a \
                 side should be enough to decide a difference of 5 %.",
            ),
            (
                answer(Decision::Equivalent, &pairs, None),
                "fs xfs against ext4 at connections 8: equivalent, p99 +10 % (95 % interval +5.1 % to +15.1 %; \
                 3 executions a side, in pairs); smaller than the margin of 5 %.",
            ),
            (
                answer(Decision::Inconclusive, &pairs[..1], None),
                "fs xfs against ext4 at connections 8: inconclusive, because one side has fewer than two executions with p99; a decision needs at least three a side.",
            ),
        ];
        for (answer, expected) in cases {
            assert_eq!(sentence(&question, &answer), expected);
        }
        let looked_at = |decision, needed, blocks| Answer {
            looks: Some(InterimAnalyses {
                blocks,
                blocks_at_most: 20,
                time_is_spent: blocks == 7,
            }),
            ..answer(decision, &pairs, needed)
        };
        for (answer, end) in [
            (
                looked_at(Decision::Slower, None, 5),
                "in pairs); decided after 5 of at most 20 blocks, analysed after each block, which the interval accounts for.",
            ),
            (
                looked_at(Decision::Inconclusive, Some(12), 5),
                "; about 12 executions a side might decide; not decided after 5 of at most 20 blocks, \
                 analysed after each block, which the interval accounts for.",
            ),
            (
                looked_at(Decision::Inconclusive, None, 7),
                "; not decided after 7 of at most 20 blocks, when the time budget was used up, analysed after each block, which the interval accounts for.",
            ),
            (
                looked_at(Decision::Inconclusive, None, 20),
                "; not decided with all 20 blocks of the budget, analysed after each block, which the interval accounts for.",
            ),
        ] {
            let found = sentence(&question, &answer);
            assert!(found.ends_with(end), "{found}");
        }
        let of_batches = Answer {
            of_batches: true,
            ..looked_at(Decision::Slower, None, 5)
        };
        let found = sentence(&question, &of_batches);
        let end = "3 batches a side, in pairs); decided after 5 of at most 20 batches, analysed after each batch, which the interval accounts for.";
        assert!(found.ends_with(end), "{found}");
        let two = [(100.0, 110.0), (100.0, 110.1)];
        let two_lists = Answer {
            of_batches: true,
            paired: false,
            ..answer(Decision::Inconclusive, &two, Some(900))
        };
        let found = sentence(&question, &two_lists);
        let end = "; 2 batches a side); a decision needs at least three batches a side; about 900 batches a side should be enough to decide a difference of 5 %.";
        assert!(found.ends_with(end), "{found}");
        let few_pairs = Answer {
            comparison: None,
            paired: true,
            ..two_lists
        };
        let found = sentence(&question, &few_pairs);
        let end = ": inconclusive, because too few batches have p99; a decision needs at least six pairs of batches.";
        assert!(found.ends_with(end), "{found}");
    }

    #[test]
    fn slices_that_are_too_short_are_the_reason() {
        let question = Question {
            metric: Metric::Throughput,
            baseline: vec![("fs".to_owned(), "ext4".to_owned())],
            min_effect: 0.05,
            until_decided: None,
        };
        let pairs = [(100.0, 110.0), (100.0, 112.0), (100.0, 108.0)];
        let short = Answer {
            of_batches: true,
            short_slices: Some(ShortSlices {
                slice_s: 0.5,
                operations: 2,
                enough_s: Some(5.0),
            }),
            ..answer(Decision::Inconclusive, &pairs, None)
        };
        let why = "slices of 0.5 s are too short: the median slice holds 2 operations, and one of 5 s would hold about 20";
        let subject = "fs xfs against ext4 at connections 8";
        assert_eq!(
            sentence(&question, &short),
            format!(
                "{subject}: inconclusive, throughput +10 % (95 % interval +5.1 % to +15.1 %; 3 batches a side, in pairs); {why}."
            )
        );
        assert_eq!(
            short_sentence(&question, &short),
            format!("{subject}: inconclusive, throughput +10 % (+5.1 % to +15.1 %; {why})")
        );
        // No operation ended in some of the batches.
        let empty = Answer {
            means: None,
            comparison: None,
            ..short
        };
        let because = format!("{subject}: inconclusive, because {why}");
        assert_eq!(sentence(&question, &empty), format!("{because}."));
        assert_eq!(short_sentence(&question, &empty), because);
    }
}
