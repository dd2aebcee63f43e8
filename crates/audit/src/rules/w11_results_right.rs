//! Rule W11: a consistency check of the benchmark failed before or after the run.

use samples::{CheckTime, KnownLoad};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    words::listed,
};

/// A sentence names at most this many violated conditions.
const NAMED: usize = 3;

pub(super) const RULE: Rule = Rule {
    id: "W11",
    name: "the data is correct before and after the run",
    found: "the data is not correct",
    measures: "The results of the benchmark's own data checks, such as consistency conditions. One check runs before the run or directly after loading, and another one after the run.",
    threshold: "invalid if any condition is violated",
    source: "TPC-C 5.11, clause 3.3.2; Raasveldt et al., Fair benchmarking considered difficult (DBTest 2018): verify results before reporting speed",
    consequence: "The speed of a server that loses or corrupts data means nothing.",
    remedy: "Find out which statement or setting damages the data, and reload the data before the next run.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let checked = &run.record.checked;
    if checked.is_empty() {
        return Err(match KnownLoad::among(&run.record.totals().loads) {
            Some(known) => missing(format!("the result of the {}", known.own_checks)),
            None => no_subject("this workload has no data check"),
        });
    }
    let violated: Vec<String> = checked
        .iter()
        .flat_map(|it| {
            let violated = it.violated.iter();
            violated.map(move |what| format!("{}: {what}", when(it.at)))
        })
        .collect();
    if !violated.is_empty() {
        let evidence = format!("violated {}", listed(&violated, NAMED));
        let finding = Finding::new(Level::Invalid, evidence);
        return Ok(finding.with("violated", violated.len() as f64));
    }
    let (ends, begins): (Vec<_>, Vec<_>) = checked.iter().partition(|it| it.at == CheckTime::End);
    match (begins.first(), ends.first()) {
        (Some(begin), Some(_)) => {
            let evidence = format!("{} hold {} and after the run", begin.what, when(begin.at));
            Ok(Finding::new(Level::Pass, evidence).with("violated", 0.0))
        }
        (None, _) => Err(missing("a check before the run")),
        (_, None) => Err(missing("a check after the run")),
    }
}

/// The time of a check in words.
fn when(at: CheckTime) -> &'static str {
    match at {
        CheckTime::Load => "directly after loading",
        CheckTime::End => "after the run",
        CheckTime::Start => "before the run",
    }
}

#[cfg(test)]
mod tests {
    use samples::{CheckResult, KNOWN_LOADS};

    use super::*;
    use crate::fixture::*;

    fn checks(told: &[(CheckTime, &[&str])]) -> Outcome {
        judged(&RULE, |record| {
            let told = told.iter().map(|(at, violated)| CheckResult {
                at: *at,
                what: "consistency conditions".to_owned(),
                violated: violated.iter().map(|&what| what.to_owned()).collect(),
            });
            record.checked = told.collect();
        })
    }

    #[test]
    fn found() {
        let outcome = checks(&[
            (CheckTime::Load, &[]),
            (CheckTime::End, &["condition 1: W_YTD = sum(D_YTD)"]),
        ]);
        assert_found(
            &outcome,
            Level::Invalid,
            "violated after the run: condition 1",
        );
    }

    #[test]
    fn passes() {
        let outcome = checks(&[(CheckTime::Load, &[]), (CheckTime::End, &[])]);
        assert_found(
            &outcome,
            Level::Pass,
            "hold directly after loading and after the run",
        );
    }

    #[test]
    fn half_a_check_is_not_evaluated() {
        assert_missing(&checks(&[(CheckTime::Start, &[])]), "a check after the run");
        assert_missing(&checks(&[(CheckTime::End, &[])]), "a check before the run");
        let outcome = judged(&RULE, |record| {
            record.intervals[0].operations[0].load = KNOWN_LOADS[0].name.to_owned();
        });
        assert_missing(&outcome, "consistency conditions");
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
