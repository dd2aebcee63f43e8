//! Rule T03: connections in flight differ from throughput times response time (Little's law).

use samples::{Interval, OperationInterval, Phase, Record};
use units::{percent, si};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    unevenness::unevenness,
};

/// Largest difference between the two, as a share.
const APART: f64 = 0.05;
/// Sampling interval of the connections, seconds.
const LOOK_S: f64 = 0.02;
/// Number of standard errors of the samples up to which a difference is chance.
const CHANCE: f64 = 3.0;

pub(super) const RULE: Rule = Rule {
    id: "T03",
    name: "counts, times and connections agree (Little's law)",
    found: "counts, times and connections do not agree (Little's law)",
    measures: "The mean number of operations in flight, compared with the product of the throughput and the mean time from sending an operation to its answer. The number is sampled every 20 ms. If the load has stages, only the connections that the current stage needs are sampled.",
    threshold: "fail if the two values differ by more than 5 %, unless chance or operations that cross the start or the end of the measurement explain the difference. Not evaluated if other programs or late event loops may be the cause of the difference",
    source: "J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961)",
    consequence: "One of the counters is wrong: operations are lost or counted twice, or the times do not cover the whole operation.",
    remedy: "Report this as a bug in dbdyno, and attach the record. Do not trust any figure of this run.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let measured_s = run.measured_s()?;
    if run.record.deliveries.is_some() {
        return Err(no_subject(
            "deliveries in the background are timed from the moment they are queued, not from sending",
        ));
    }
    let seen: Option<Vec<(f64, f64)>> = run
        .measured()
        .map(|it| Some((it.length_s * active(run.record, it), it.pace?.busy)))
        .collect();
    let seen =
        seen.ok_or_else(|| missing("the number of connections with an operation in flight"))?;
    let in_flight = seen.iter().map(|(length, busy)| length * busy).sum::<f64>() / measured_s;
    let connections = seen.iter().map(|(length, _)| length).sum::<f64>() / measured_s;
    let busy = in_flight / connections.max(f64::MIN_POSITIVE);
    // Time from send to answer, without the wait for a free connection. Failed operations have no recorded time.
    let (mut sum_ns, mut count, mut failed) = (0.0, 0u64, 0u64);
    for interval in run.measured() {
        for operation in operations(interval) {
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
            "times of the failed operations, which are more than 1 % of all operations",
        ));
    }
    let by_times = sum_ns / 1e9 / measured_s;
    let apart = (in_flight - by_times).abs() / in_flight.max(by_times).max(f64::MIN_POSITIVE);
    let edges = at_edges_s(run) / measured_s;
    let looks = measured_s / LOOK_S;
    let chance = CHANCE * (connections * busy * (1.0 - busy).max(0.01) / looks).sqrt();
    let allowed = APART * in_flight.max(by_times) + edges + chance;
    let level = if (in_flight - by_times).abs() > allowed {
        if let Some(why) = unevenness(run) {
            return Err(missing(why));
        }
        // A few that failed can have waited as long as the slowest one, such as behind a lock.
        let waited = failed as f64 * slowest_s(run) / measured_s;
        if failed > 0 && (0.0..=allowed + waited).contains(&(in_flight - by_times)) {
            return Err(missing(
                "times of the failed operations, which may have been long",
            ));
        }
        Level::Fail
    } else {
        Level::Pass
    };
    let evidence = format!(
        "{} operations were in flight on average, and throughput times response time is {}: a difference of {}",
        si(in_flight),
        si(by_times),
        percent(apart)
    );
    Ok(Finding::new(level, evidence)
        .with("in_flight", in_flight)
        .with("throughput_times_response", by_times))
}

/// Longest total time in seconds of operations that cross an edge of the measurement: each counts with all of its time or
/// none of it.
fn at_edges_s(run: &Run<'_>) -> f64 {
    let most = run.record.connections() as usize;
    if run.record.side_by_side.is_some() {
        // Each slice has two edges, of which the later one is the begin of a pause.
        let intervals = &run.record.intervals;
        let parts = intervals.chunk_by(|a, b| (a.phase, a.slice) == (b.phase, b.slice));
        let parts = parts.filter(|part| part[0].phase != Phase::WarmUp);
        return parts.map(|part| carried_s(part.iter(), most)).sum();
    }
    let drained = run.record.intervals.iter();
    let drained = drained.filter(|it| it.phase == Phase::Drain);
    // So does one that crosses the step to a stage with fewer connections.
    let later = run.record.stages.iter().skip(1).map(|stage| {
        let of_stage = |it: &&Interval| it.stage == Some(stage.number);
        carried_s(run.measured().filter(of_stage), most)
    });
    let at_steps_s: f64 = later.sum();
    carried_s(run.measured(), most) + carried_s(drained, most) + at_steps_s
}

/// What ended in an interval, whatever the phase in which it was due.
fn operations(interval: &Interval) -> impl Iterator<Item = &OperationInterval> {
    let carried = interval.carried.iter().flat_map(|it| &it.operations);
    interval.operations.iter().chain(carried)
}

/// Time of the slowest operation of the measurement, seconds.
fn slowest_s(run: &Run<'_>) -> f64 {
    let all = run.measured().flat_map(operations);
    let slowest = all.flat_map(|it| it.histogram.counts().map(|(ns, _)| ns));
    slowest.max().unwrap_or_default() as f64 / 1e9
}

/// Connections that have operations in an interval: all, or those that its stage needs.
fn active(record: &Record, interval: &Interval) -> f64 {
    let all = f64::from(record.connections());
    let mut stages = record.stages.iter();
    let Some(stage) = stages.find(|it| interval.stage == Some(it.number)) else {
        return all;
    };
    let most = record.stages.iter();
    let most = most.map(|it| it.connections_from.max(it.connections_to));
    let staged = most.max().unwrap_or_default();
    let middle_s = interval.t_s + interval.length_s / 2.0;
    all - f64::from(staged) + f64::from(stage.connections_at(middle_s))
}

/// Longest total time in seconds that operations may already have been in flight at the start of the first interval:
/// one operation per connection, the longest ones, each for as long as it reaches back before that start.
fn carried_s<'r>(intervals: impl Iterator<Item = &'r Interval>, connections: usize) -> f64 {
    let mut begin_s = None;
    let mut reach: Vec<(u64, u64)> = Vec::new();
    for interval in intervals {
        let since_ns = (interval.t_s - *begin_s.get_or_insert(interval.t_s)) * 1e9;
        for operation in operations(interval) {
            let service = operation.service.as_ref().map(|it| &it.histogram);
            let times = service.unwrap_or(&operation.histogram).counts();
            let behind = times.filter(|(ns, _)| *ns as f64 > since_ns);
            reach.extend(behind.map(|(ns, count)| (ns - since_ns as u64, count)));
        }
    }
    reach.sort_by(|a, b| b.cmp(a));
    let mut left = connections as u64;
    let mut sum_ns = 0.0;
    for (ns, count) in reach {
        let taken = count.min(left);
        sum_ns += ns as f64 * taken as f64;
        left -= taken;
    }
    sum_ns / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    /// Operations of 100 ms, of which one per connection ends in the pause after its slice.
    #[test]
    fn operations_that_cross_the_end_of_a_slice_are_allowed_for() {
        let judged_with = |busy: f64| {
            judged(&RULE, |record| {
                set_throughput(record, 72.0);
                reads_of(record, 100_000_000);
                in_turns(record);
                let mut slice = None;
                for interval in &mut record.intervals {
                    match interval.phase {
                        Phase::Measurement => {
                            interval.pace.as_mut().unwrap().busy = busy;
                            slice = interval.slice;
                        }
                        Phase::Pause => interval.carried = vec![late_reads(slice, 8, 100_000_000)],
                        Phase::WarmUp | Phase::Drain => {}
                    }
                }
            })
        };
        assert_eq!(level(&judged_with(0.999)), Level::Pass);
        assert_eq!(level(&judged_with(0.4)), Level::Fail);
    }

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
            "5.60 operations were in flight on average, and throughput times response time is 7.99",
        );
    }

    #[test]
    fn passes() {
        assert_eq!(level(&judged(&RULE, |_| {})), Level::Pass);
    }

    #[test]
    fn a_stage_has_operations_on_the_connections_that_it_needs() {
        let half_in_the_second = |record: &mut Record, levels| {
            in_stages(record, levels);
            for interval in record.intervals.iter_mut().filter(|it| it.stage == Some(2)) {
                let operation = &mut interval.operations[0];
                (operation.count, operation.sum_ns) = (operation.count / 2, operation.sum_ns / 2);
            }
        };
        let outcome = judged(&RULE, |it| half_in_the_second(it, [(8, 8), (4, 4)]));
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
        let outcome = judged(&RULE, |it| half_in_the_second(it, [(8, 8), (8, 8)]));
        assert_eq!(level(&outcome), Level::Fail, "{outcome:?}");
    }

    /// Every connection was stalled for ten seconds when the measurement began, as the first interval's times show.
    #[test]
    fn a_stall_at_the_edge_is_honest() {
        let outcome = judged(&RULE, |record| {
            let mut intervals = record.intervals.iter_mut();
            let measured = intervals.find(|it| it.phase == Phase::Measurement);
            let operation = &mut measured.unwrap().operations[0];
            for _ in 0..8 {
                operation.histogram.record(10_000_000_000);
                operation.sum_ns += 10_000_000_000;
                operation.count += 1;
            }
        });
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }

    #[test]
    fn a_few_that_failed_may_have_waited_long() {
        let waiting = |errors: u64| {
            judged(&RULE, |record| {
                for interval in &mut record.intervals {
                    let operation = &mut interval.operations[0];
                    operation.sum_ns = operation.sum_ns / 10 * 9;
                }
                let mut intervals = record.intervals.iter_mut().rev();
                let last = intervals.find(|it| it.phase == Phase::Measurement);
                let operation = &mut last.unwrap().operations[0];
                operation.histogram.record(2_000_000_000);
                operation.errors = errors;
            })
        };
        assert_eq!(level(&waiting(0)), Level::Fail);
        assert_eq!(level(&waiting(1)), Level::Fail);
        assert_missing(&waiting(40), "failed operations, which may have been long");
    }

    #[test]
    fn other_work_on_the_machine_is_not_a_counter_that_is_wrong() {
        let outcome = judged(&RULE, |record| {
            for interval in &mut record.intervals {
                let pace = interval.pace.as_mut().unwrap();
                pace.busy = 0.7;
                pace.loop_delay_max_ns = 300_000_000;
            }
        });
        assert_missing(&outcome, "300 ms late");
    }

    #[test]
    fn loops_that_nobody_watched_are_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            record.intervals.iter_mut().for_each(|it| it.pace = None);
        });
        assert_missing(&outcome, "in flight");
    }
}
