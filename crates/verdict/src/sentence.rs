//! A comparison in words.

use crate::{answer::Answer, decision::Decision, question::Question};

/// One sentence: what is compared, what is decided, and how sure that is.
///
/// ```text
/// fs xfs against ext4 at connections 8: faster, throughput +15.7 % (95 % interval +9.1 % to +22.7 %; 5 executions a
/// side, in pairs).
/// ```
pub fn sentence(question: &Question, answer: &Answer) -> String {
    let subject = subject(question, answer);
    let metric = question.metric.in_words();
    let Some(comparison) = &answer.comparison else {
        return format!(
            "{subject}: inconclusive, {metric} of fewer than two executions on a side; three is the least that decides."
        );
    };
    let decision = answer.decision.word();
    let ratio = comparison.ratio;
    let pairs = if answer.paired { ", in pairs" } else { "" };
    let mut text = format!(
        "{subject}: {decision}, {metric} {} (95 % interval {} to {}; {} executions a side{pairs})",
        change(ratio.estimate),
        change(ratio.low),
        change(ratio.high),
        comparison.executions,
    );
    let margin = number(question.min_effect * 100.0);
    match (answer.decision, answer.executions_needed) {
        (Decision::Equivalent, _) => {
            text.push_str(&format!("; less than the {margin} % that matter"));
        }
        (Decision::Inconclusive, Some(needed)) => {
            text.push_str(&format!(
                "; about {needed} executions a side would tell a difference of {margin} %"
            ));
        }
        _ => {}
    }
    text.push('.');
    text
}

/// `fs xfs against ext4 at connections 8`.
fn subject(question: &Question, answer: &Answer) -> String {
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
    let place = match within.is_empty() {
        true => String::new(),
        false => format!(" at {}", within.join(", ")),
    };
    format!("{}{place}", levels.join(", "))
}

/// A ratio as a change: `+15.7 %`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if percent.abs() >= 1000.0 {
        return format!("to {} times", number(ratio));
    }
    let sign = if percent >= 0.0 { "+" } else { "-" };
    format!("{sign}{} %", number(percent.abs()))
}

/// Two or three digits that count: `0.4`, `15.7`, `132`.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value.fract() == 0.0 => format!("{value}"),
        value => format!("{value:.1}"),
    }
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
            decision,
            comparison: compare_pairs(pairs, 0.95),
            paired: true,
            p_value: None,
            executions_needed: needed,
        }
    }

    #[test]
    fn sentences() {
        let question = Question {
            metric: Metric::P99,
            baseline: vec![("fs".to_owned(), "ext4".to_owned())],
            min_effect: 0.05,
        };
        let pairs = [(100.0, 110.0), (100.0, 112.0), (100.0, 108.0)];
        let cases = [
            (
                answer(Decision::Slower, &pairs, None),
                "fs xfs against ext4 at connections 8: slower, p99 +10.0 % (95 % interval +5.1 % to +15.1 %; \
                 3 executions a side, in pairs).",
            ),
            (
                answer(Decision::Inconclusive, &pairs, Some(12)),
                "fs xfs against ext4 at connections 8: inconclusive, p99 +10.0 % (95 % interval +5.1 % to +15.1 %; \
                 3 executions a side, in pairs); about 12 executions a side would tell a difference of 5 %.",
            ),
            (
                answer(Decision::Equivalent, &pairs, None),
                "fs xfs against ext4 at connections 8: equivalent, p99 +10.0 % (95 % interval +5.1 % to +15.1 %; \
                 3 executions a side, in pairs); less than the 5 % that matter.",
            ),
            (
                answer(Decision::Inconclusive, &pairs[..1], None),
                "fs xfs against ext4 at connections 8: inconclusive, p99 of fewer than two executions on a side; \
                 three is the least that decides.",
            ),
        ];
        for (answer, expected) in cases {
            assert_eq!(sentence(&question, &answer), expected);
        }
    }
}
