//! Rule M08: the response times of a closed loop are not those that users see.

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    set::Set,
};

pub(super) const RULE: Rule = Rule {
    id: "M08",
    name: "closed-loop response times are not presented as those that users see",
    found: "the response times differ from those that users see",
    measures: "Whether the load is a closed loop or has a rate. Whether response times are measured from the time each request was scheduled. Whether the experiment compares percentiles.",
    threshold: "fail if a load has a rate, but its response times are measured from the time of sending. Warn if percentiles from a closed loop are compared. Note if the load is a closed loop and no percentiles are compared",
    source: "G. Tene, How NOT to Measure Latency (2013): coordinated omission; B. Schroeder et al., Open Versus Closed: A Cautionary \
        Tale, NSDI 2006",
    consequence: "In a closed loop, clients send nothing during a stall, so the stall delays only a few requests. Real users keep sending requests during the stall. All of these requests wait, so real users see longer response times.",
    remedy: "Set a rate below the throughput of the closed loop: --rate, or the key rate below [load].",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let metric = set
        .declared
        .comparison
        .as_ref()
        .map_or("", |it| it.metric.as_str());
    let compares_percentiles = metric.starts_with('p') && metric[1..].parse::<f64>().is_ok();
    let (mut closed, mut late) = (0, Vec::new());
    for run in &set.runs {
        if run.is_closed_loop()? {
            closed += 1;
        } else if run.measured().any(|it| {
            it.operations
                .iter()
                .any(|it| it.count > 0 && it.service.is_none())
        }) {
            late.push(run.name());
        }
    }
    let all = set.runs.len();
    Ok(if let Some(first) = late.first() {
        let evidence = format!(
            "{first} has a rate, but its response times are measured from the time of sending"
        );
        Finding::new(Level::Fail, evidence)
    } else if closed > 0 && compares_percentiles {
        Finding::new(
            Level::Warn,
            format!("{metric} is compared, but {closed} of {all} runs are closed loops"),
        )
    } else if closed > 0 {
        let evidence = "a closed loop: percentiles describe clients that wait for every answer";
        Finding::new(Level::Note, evidence)
    } else {
        Finding::new(
            Level::Pass,
            "an open loop: response times are measured from the time each operation was scheduled",
        )
    }
    .with("closed_loops", f64::from(closed)))
}

#[cfg(test)]
mod tests {
    use samples::{Durations, Record};

    use super::*;
    use crate::fixture::*;

    fn open(record: &mut Record) {
        record.offered.as_mut().unwrap().rate_per_s = Some(1000.0);
    }

    #[test]
    fn found() {
        let mut declared = over(&["flush"]);
        declared.comparison.as_mut().unwrap().metric = "p99".to_owned();
        let outcome = judged_together(&RULE, &blocks_over("flush", &["1", "2"]), declared);
        assert_found(
            &outcome,
            Level::Warn,
            "p99 is compared, but 10 of 10 runs are closed loops",
        );
        assert_found(
            &judged(&RULE, open),
            Level::Fail,
            "from the time of sending",
        );
        assert_found(&judged(&RULE, |_| {}), Level::Note, "a closed loop");
    }

    #[test]
    fn passes() {
        let outcome = judged(&RULE, |record| {
            open(record);
            for interval in &mut record.intervals {
                interval.operations[0].service = Some(Durations::default());
            }
        });
        assert_found(&outcome, Level::Pass, "an open loop");
    }

    #[test]
    fn a_load_that_did_not_end_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.offered = None),
            "whether the load is a closed loop",
        );
    }
}
