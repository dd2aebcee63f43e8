//! What differs in the costs of the two sides of a comparison, in the answer of an experiment.

use verdict::Question;

use crate::{
    contrast::{first_cause, first_causes},
    grid::Grid,
    results::Results,
};

/// What differs in the costs where the experiment compares, as `dbdyno compare` says it of the same two sides:
/// `fsyncs of InnoDB per operation 1.00 → 0: B does not sync its redo log at every commit; A is flush 1; B is 2`. Where
/// there is no room, the end of the text is cut off, so the cause comes first. Only the comparison comes before it where
/// the experiment has several: `pool 256M against 24M, flush 1: buffer-pool misses per operation 2.81 → 0.01: ...`.
pub(super) fn why(results: &Results, grid: &Grid<'_>) -> Option<String> {
    let question = results.verdict.as_ref()?;
    let answer = verdict::explained_answer(&grid.answers)?;
    let contrast = verdict::contrast_of_answer(question, answer, &grid.executions)?;
    let place = contrast.places.first()?;
    // Of several factors, no cause is named alone.
    let causes = match question.changed_factors(&answer.levels) {
        0 | 1 => first_cause(place)?,
        _ => first_causes(place)?,
    };
    let causes = causes.trim_end_matches('.');
    let compared = match grid.answers.as_slice() {
        [] | [_] => String::new(),
        _ => format!("{}: ", verdict::subject(question, answer)),
    };
    let sides = sides(question, &contrast.names);
    Some(format!("{compared}{causes}; {sides}"))
}

/// What A and B are. A single factor is named once.
fn sides(question: &Question, [a, b]: &[String; 2]) -> String {
    let level_of_b = match question.baseline.as_slice() {
        [(factor, _)] => b.strip_prefix(factor.as_str()).map(str::trim_start),
        _ => None,
    };
    format!("A is {a}; B is {}", level_of_b.unwrap_or(b))
}

#[cfg(test)]
mod tests {
    use verdict::Metric;

    use super::*;

    #[test]
    fn a_single_factor_of_the_sides_is_named_once() {
        let named = |factors: &[&str], names: [&str; 2]| {
            let baseline = factors.iter().map(|it| ((*it).to_owned(), "1".to_owned()));
            let question = Question {
                metric: Metric::Throughput,
                baseline: baseline.collect(),
                min_effect: 0.02,
                until_decided: None,
            };
            sides(&question, &names.map(str::to_owned))
        };
        assert_eq!(
            named(&["sync_binlog"], ["sync_binlog 1", "sync_binlog 0"]),
            "A is sync_binlog 1; B is 0"
        );
        assert_eq!(
            named(
                &["flush", "version"],
                ["flush 1, version 1", "flush 2, version 1"]
            ),
            "A is flush 1, version 1; B is flush 2, version 1"
        );
    }
}
