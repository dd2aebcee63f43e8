//! T03: connections in flight are throughput times response time.

use units::{percent, si};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// How far both may be apart, as a share.
const APART: f64 = 0.05;
/// The connections are looked at so often, seconds.
const LOOK_S: f64 = 0.02;
/// Standard errors of the looks that are chance.
const CHANCE: f64 = 3.0;

pub(super) const RULE: Rule = Rule {
    id: "T03",
    name: "counts, times and connections agree (Little's law)",
    measures: "Operations in flight, as they were seen every 20 ms, against throughput times mean time from send to answer.",
    threshold: "more than 5 % apart, and more than chance and the edges of the measurement explain: fail",
    source: "J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961)",
    consequence: "One of the counters is wrong: operations are lost or counted twice, or times do not cover what they seem to.",
    remedy: "Report it with the record: no figure of this run can be trusted.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let measured_s = run.measured_s()?;
    if run.record.deliveries.is_some() {
        return Err(no_subject(
            "deliveries in the background are timed from when they were queued, not from the send",
        ));
    }
    let connections = f64::from(run.record.connections());
    let seen: Option<Vec<(f64, f64)>> = run
        .measured()
        .map(|it| Some((it.length_s, it.pace?.busy)))
        .collect();
    let seen = seen.ok_or_else(|| missing("how many connections had an operation in flight"))?;
    let busy = seen
        .iter()
        .map(|(length_s, busy)| length_s * busy)
        .sum::<f64>()
        / measured_s;
    let in_flight = busy * connections;
    // From send to answer: a wait for a free connection is not in flight. Failed operations were, and have no time.
    let (mut sum_ns, mut count, mut failed) = (0.0, 0u64, 0u64);
    for interval in run.measured() {
        let carried = interval.carried.iter().flat_map(|it| &it.operations);
        for operation in interval.operations.iter().chain(carried) {
            let service = operation.service.as_ref().map(|it| it.sum_ns);
            sum_ns += service.unwrap_or(operation.sum_ns) as f64;
            count += operation.count;
            failed += operation.errors;
        }
    }
    if count == 0 {
        return Err(missing("operations in the measured phase"));
    }
    if failed * 100 > count {
        return Err(missing(
            "times of the operations that failed, which are more than 1 %",
        ));
    }
    let by_times = sum_ns / 1e9 / measured_s;
    let apart = (in_flight - by_times).abs() / in_flight.max(by_times).max(f64::MIN_POSITIVE);
    // An operation that crosses an edge of the measurement counts there with all of its time or none of it.
    let mean_s = sum_ns / 1e9 / count as f64;
    let edges = by_times * mean_s / measured_s;
    let looks = measured_s / LOOK_S;
    let chance = CHANCE * (connections * busy * (1.0 - busy).max(0.01) / looks).sqrt();
    let allowed = APART * in_flight.max(by_times) + edges + chance;
    let level = if (in_flight - by_times).abs() > allowed {
        Level::Fail
    } else {
        Level::Pass
    };
    let evidence = format!(
        "{} operations were seen in flight, throughput times response time is {}: {} apart",
        si(in_flight),
        si(by_times),
        percent(apart)
    );
    Ok(Finding::new(level, evidence)
        .with("in_flight", in_flight)
        .with("throughput_times_response", by_times))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            for interval in &mut record.intervals {
                interval.pace.as_mut().unwrap().busy = 0.7;
            }
        });
        assert_found(
            &outcome,
            Level::Fail,
            "5.60 operations were seen in flight, throughput times response time is 7.99",
        );
    }

    #[test]
    fn passes() {
        assert_eq!(level(&judged(&RULE, |_| {})), Level::Pass);
    }

    #[test]
    fn loops_that_nobody_watched_are_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            record.intervals.iter_mut().for_each(|it| it.pace = None);
        });
        assert_missing(&outcome, "in flight");
    }
}
