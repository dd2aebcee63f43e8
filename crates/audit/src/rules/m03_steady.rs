//! Rule M03: the measured phase is not steady.

use samples::{Interval, StorageRecord};
use stats::{
    MeanShift, SHIFT_OBSERVATIONS_AT_LEAST, STEADY_RANGE_BELOW, STEADY_ROUNDS, STEADY_SLOPE_BELOW,
    ShiftShape, SteadyWindow, chance_of_each, mean_shift,
};
use units::{counted, fine_percent, moment, per_s, percent, signed_percent};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::{RAMP, Run},
    set::{Set, in_words},
    steadiness::{moves_between_levels, unsteady_by_themselves, with_state_of_servers},
    steps::{step, swings},
};

/// Shift of the mean, as a share, below which it counts as unchanged.
const MOVED: f64 = 0.02;
/// Shift of the mean, as a share, above which the mean describes no steady state.
const INVALID: f64 = 0.05;
/// Shift that the noise may hide without a finding, as a share of the mean.
const POSSIBLE: f64 = 0.1;
/// Probability of a warning from noise alone, over all combinations together and on each side.
const WARN_CHANCE: f64 = 0.01;
/// Probability of level invalid from noise alone.
const INVALID_CHANCE: f64 = 0.001;
/// Operations of an execution below which nothing is said: each interval would have a few by chance.
const OPERATIONS_AT_LEAST: u64 = 5 * SHIFT_OBSERVATIONS_AT_LEAST as u64;
/// Length as a share of the longest interval, below which an interval was cut off by the end of its phase.
const WHOLE: f64 = 0.9;

pub(super) const RULE: Rule = Rule {
    id: "M03",
    name: "the measured phase is steady",
    found: "the measured phase is not steady",
    measures: "How far a remaining warm-up or a trend shifts the mean throughput from the level at the end. The rule uses the throughput of each interval of the measured phase, averaged over the executions of a combination. With planned events, only the time before the first event counts. With stages, each stage is judged separately, except ramps. For storage: the last five rounds of `dbdyno storage steady`.",
    threshold: "invalid if a trend or a shift of the mean exceeds 5 %, with an error probability of 1 in 1,000. With several executions, also invalid if the shift is estimated at more than 5 % and exceeds 2 % with this error probability. Warn if the shift of the mean is estimated at more than 2 % and differs from 0 with an error probability of 1 in 100. Warn if throughput has a step of more than 5 % and of more than three standard deviations. Warn if one part of the measured phase varies at least three times as much as the rest. Warn if there are fewer than 12 intervals. Note if there are fewer than 60 operations. Note if throughput moves between levels, in one execution or in the mean of all executions. Note if noise may hide a shift of more than 10 %. For storage: fail if the range of the rates is at least 20 % of their mean. Fail if a least-squares line through the rates rises or falls by at least 10 %",
    source: "least squares with the variance of a first-order autoregressive error (Box, Jenkins and Reinsel, 2008), calibrated by simulation (docs/methodology.md); a published test of two my.cnf files on an ioDrive (November 2012), whose 60 s warm-up could fill its 20 GB buffer pool only with 340 MiB/s of misses; for storage, SNIA SSS PTS 2.0.2",
    consequence: "The mean mixes two different states. A longer run would give a different mean.",
    remedy: "In an experiment file, set warmup = \"auto\", or a larger warmup, warmup_at_most or duration. With `dbdyno ab`, set --warmup auto, or a larger --warmup or --duration.",
    judge: Judge::SetOrStorage(judge, of_storage),
};

fn judge(set: &Set<'_>) -> Outcome {
    let mut groups = set.combinations();
    if groups.is_empty() {
        // The part of an interrupted run that was measured can be judged as well.
        groups = set
            .runs
            .iter()
            .map(|run| (set.levels(run), vec![run]))
            .collect();
    }
    let is_load = |runs: &[&Run<'_>]| runs.iter().any(|run| run.record.loaded.is_some());
    groups.retain(|(_, runs)| !is_load(runs));
    if groups.is_empty() {
        return Err(if set.runs.is_empty() {
            missing("runs")
        } else {
            no_subject("loading a table is measured from start to end")
        });
    }
    groups.retain(|(_, runs)| !runs.iter().any(|run| run.is_ramp()));
    if groups.is_empty() {
        return Err(no_subject(RAMP));
    }
    let chances = Chances::of(groups.len());
    let mut found = Vec::new();
    for (levels, runs) in &groups {
        let finding = with_state_of_servers(of_combination(runs, &chances)?, runs);
        found.push((in_words(levels), runs, finding));
    }
    let level = found.iter().map(|(.., it)| it.level).max();
    let level = level.unwrap_or(Level::Pass);
    let mut same = found.iter().filter(|(.., it)| it.level == level);
    let count = same.clone().count();
    let (levels, _, first) = same.next().ok_or_else(|| missing("runs"))?;
    let mut finding = (*first).clone();
    if found.len() > 1 {
        let of = counted(found.len(), "combination");
        finding.evidence = match count {
            all if all == found.len() => {
                format!("in all {of}, for example {levels}: {}", first.evidence)
            }
            some => format!(
                "in {some} of {of}, for example {levels}: {}",
                first.evidence
            ),
        };
        let named = found.iter().filter(|(.., it)| it.level == level);
        let runs = named.flat_map(|(_, runs, _)| runs.iter());
        finding.runs = runs.map(|run| run.record.header.run).collect();
    }
    Ok(finding)
}

fn of_storage(record: &StorageRecord) -> Outcome {
    if record.rounds.is_empty() {
        return Err(missing("rounds of `dbdyno storage steady`"));
    }
    let rates: Vec<f64> = record.rounds.iter().map(|it| it.result.iops()).collect();
    let Some(window) = SteadyWindow::of(&rates) else {
        let rounds = counted(rates.len(), "round");
        return Err(missing(format!(
            "{STEADY_ROUNDS} rounds ({rounds} measured)"
        )));
    };
    let level = if window.is_steady() {
        Level::Pass
    } else {
        Level::Fail
    };
    let evidence = format!(
        "{} in the last {STEADY_ROUNDS} rounds, range {} (limit {}), slope {} (limit {})",
        per_s(window.mean),
        percent(window.range),
        percent(STEADY_RANGE_BELOW),
        percent(window.slope),
        percent(STEADY_SLOPE_BELOW),
    );
    Ok(Finding::new(level, evidence)
        .with("range_share", window.range)
        .with("slope_share", window.slope))
}

/// The probabilities of a finding from noise alone, in one combination.
struct Chances {
    warn: f64,
    invalid: f64,
}

impl Chances {
    fn of(combinations: usize) -> Self {
        Self {
            warn: WARN_CHANCE * chance_of_each(combinations),
            invalid: INVALID_CHANCE * chance_of_each(combinations),
        }
    }
}

fn of_combination(runs: &[&Run<'_>], chances: &Chances) -> Outcome {
    runs[0].measured_s()?;
    let judged_s: f64 = runs[0].undisturbed().map(|it| it.length_s).sum();
    let courses: Vec<Vec<f64>> = runs.iter().map(|run| course(run)).collect();
    let shortest = courses.iter().map(Vec::len).min().unwrap_or_default();
    if shortest < SHIFT_OBSERVATIONS_AT_LEAST {
        let evidence = format!(
            "only {} of the measured phase; at least {SHIFT_OBSERVATIONS_AT_LEAST} are needed to judge whether it was steady",
            counted(shortest, "interval")
        );
        return Ok(Finding::new(Level::Warn, evidence).with("intervals", shortest as f64));
    }
    let counts = runs.iter().map(|run| operations(run));
    let fewest = counts.min().unwrap_or_default();
    if fewest < OPERATIONS_AT_LEAST {
        let evidence = format!(
            "only {} in the measured phase; at least {OPERATIONS_AT_LEAST} are needed to judge whether it was steady",
            counted(usize::try_from(fewest).unwrap_or(usize::MAX), "operation")
        );
        return Ok(Finding::new(Level::Note, evidence).with("operations", fewest as f64));
    }
    let borrowed: Vec<&[f64]> = courses.iter().map(Vec::as_slice).collect();
    let Some(shift) = mean_shift(&borrowed) else {
        return Err(missing("operations in the measured phase"));
    };
    let over = moment(judged_s);
    let level = level_of(&shift, runs.len(), chances);
    let mean = mean_course(&courses, shortest);
    let begin_s = runs[0].undisturbed().next().map_or(0.0, |it| it.t_s);
    // The slices of a run side by side have pauses between them.
    let window_s = runs[0].record.measured_window_s();
    let window_s = window_s.filter(|_| runs[0].record.side_by_side.is_some());
    let lasted_s = window_s.map_or(judged_s, |(from_s, to_s)| to_s - from_s);
    let every_s = lasted_s / courses[0].len().max(1) as f64;
    let uneven = step(&mean, begin_s, every_s);
    if let Some(uneven) = uneven.or_else(|| swings(&mean, chances.warn, begin_s, every_s)) {
        let evidence = match level {
            Level::Invalid => format!("{uneven}; {}", words(&shift, &over)),
            _ => uneven,
        };
        return Ok(Finding::new(level.max(Level::Warn), evidence)
            .with("mean_moved", shift.moved)
            .with("changed", shift.change));
    }
    let (level, evidence) = match (level, moves_between_levels(&mean)) {
        (Level::Pass, Some(reasons)) => (Level::Note, format!("over {over}: {reasons}")),
        (Level::Pass, None) => {
            let own = unsteady_by_themselves(&courses);
            let interval = shift.interval(0.95);
            let possible = interval.low.abs().max(interval.high.abs());
            if let Some(own) = own {
                let words = format!("the mean has no trend over {over}, but {own}");
                (Level::Note, words)
            } else if possible > POSSIBLE {
                let hides = fine_percent(possible);
                let words = format!(
                    "no trend over {over}, but with this noise the mean may differ by {hides} from the level at the end"
                );
                (Level::Note, words)
            } else {
                (Level::Pass, format!("steady over all {over}"))
            }
        }
        (level, _) => (level, words(&shift, &over)),
    };
    let finding = Finding::new(level, evidence);
    Ok(finding
        .with("mean_moved", shift.moved)
        .with("changed", shift.change))
}

fn level_of(shift: &MeanShift, executions: usize, chances: &Chances) -> Level {
    let proven = shift.proven(chances.invalid);
    let is_trend =
        shift.shape == ShiftShape::Line && shift.proven_change(chances.invalid) > INVALID;
    let is_moved = executions > 1 && shift.moved.abs() > INVALID && proven > MOVED;
    if proven > INVALID || is_trend || is_moved {
        Level::Invalid
    } else if shift.moved.abs() > MOVED && shift.proven(chances.warn) > 0.0 {
        Level::Warn
    } else {
        Level::Pass
    }
}

fn words(shift: &MeanShift, over: &str) -> String {
    let interval = shift.interval(0.95);
    let low = interval.low.abs().min(interval.high.abs());
    let high = interval.low.abs().max(interval.high.abs());
    match shift.shape {
        ShiftShape::EarlyPart => {
            let side = if shift.moved < 0.0 { "below" } else { "above" };
            format!(
                "the mean over {over} is {} {side} the level at the end (95 % interval {} to {}), as if the measured phase still contained a warm-up",
                fine_percent(shift.moved.abs()),
                fine_percent(low),
                fine_percent(high)
            )
        }
        ShiftShape::Line => format!(
            "throughput changed by {} of its mean over {over}, which moves the mean by {} (95 % interval {} to {})",
            signed_percent(shift.change),
            fine_percent(shift.moved.abs()),
            fine_percent(low),
            fine_percent(high)
        ),
    }
}

/// The mean of the courses, each cut to `length`.
fn mean_course(courses: &[Vec<f64>], length: usize) -> Vec<f64> {
    let at = |index: usize| courses.iter().map(|course| course[index]).sum::<f64>();
    (0..length)
        .map(|index| at(index) / courses.len() as f64)
        .collect()
}

/// Operations per second of each complete interval of the measured phase, before its first planned event.
fn course(run: &Run<'_>) -> Vec<f64> {
    let lengths = run.undisturbed().map(|interval| interval.length_s);
    let whole_s = lengths.fold(0.0, f64::max) * WHOLE;
    let whole = |interval: &&Interval| interval.length_s > 0.0 && interval.length_s >= whole_s;
    let per_s = |interval: &Interval| interval.succeeded() as f64 / interval.length_s;
    run.undisturbed().filter(whole).map(per_s).collect()
}

/// Operations that succeeded in the measured phase, before its first planned event.
fn operations(run: &Run<'_>) -> u64 {
    run.undisturbed().map(Interval::succeeded).sum()
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::fixture::*;

    /// Lowers the throughput at the start by a share of `depth`; it rises with a time constant of `tau` seconds.
    fn warm(record: &mut Record, depth: f64, tau: f64) {
        let begin_s = record.measured_intervals().next().map_or(0.0, |it| it.t_s);
        for interval in &mut record.intervals {
            let share = 1.0 - depth * (-(interval.t_s - begin_s).max(0.0) / tau).exp();
            let operation = &mut interval.operations[0];
            operation.count = (operation.count as f64 * share) as u64;
        }
    }

    fn rising(depth: f64, tau: f64) -> Outcome {
        judged(&RULE, |record| warm(record, depth, tau))
    }

    #[test]
    fn found() {
        let outcome = rising(0.8, 60.0);
        assert_found(&outcome, Level::Invalid, "over 120 s");
        // A time constant of a tenth of the run gives a mean that is 6 % low.
        let outcome = rising(0.6, 12.0);
        assert!(level(&outcome) >= Level::Warn, "{outcome:?}");
        let evidence = outcome.unwrap().evidence;
        assert!(
            evidence.contains("below the level at the end"),
            "{evidence}"
        );
    }

    #[test]
    fn a_combination_is_judged_by_the_mean_of_its_executions() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for record in &mut runs {
            if record.header.combination["flush"] == "2" {
                warm(record, 0.6, 12.0);
            }
        }
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(
            &outcome,
            Level::Invalid,
            "in 1 of 2 combinations, for example flush=2",
        );
        assert_eq!(outcome.unwrap().runs.len(), 5);
    }

    #[test]
    fn storage_is_judged_by_its_rounds() {
        let rates = [42_189.0, 32_539.0, 37_877.0, 35_213.0, 42_643.0];
        let judged = |rates: &[f64]| judged_storage(&RULE, |record| record.rounds = rounds(rates));
        assert_found(&judged(&rates), Level::Fail, "range 27 % (limit 20 %)");
        assert_found(
            &judged(&[40_000.0; 5]),
            Level::Pass,
            "40.0k/s in the last 5",
        );
        assert_missing(&judged(&rates[..3]), "5 rounds (3 rounds measured)");
        assert_missing(&judged(&[]), "dbdyno storage steady");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "steady over all 120 s");
        let runs = blocks_over("flush", &["1", "2"]);
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(&outcome, Level::Pass, "in all 2 combinations");
    }

    #[test]
    fn a_server_that_was_not_steady_when_its_slices_began_is_a_warning() {
        let judged = |not_reached: Option<&str>| {
            judged(&RULE, |record| {
                in_turns(record);
                record.measured_state = Some(samples::MeasuredState {
                    state: samples::ServerState::Steady,
                    not_reached: not_reached.map(str::to_owned),
                });
            })
        };
        assert_eq!(level(&judged(None)), Level::Pass);
        let outcome = judged(Some("not steady after 60 s"));
        assert_found(&outcome, Level::Warn, "was not steady after 60 s");
    }

    #[test]
    fn what_a_planned_event_does_is_no_unsteadiness() {
        let slow_from_60_s = |record: &mut Record| {
            for interval in record.intervals.iter_mut().filter(|it| it.t_s >= 80.0) {
                interval.operations[0].count /= 3;
            }
        };
        let outcome = judged(&RULE, slow_from_60_s);
        assert!(level(&outcome) > Level::Pass, "{outcome:?}");
        let outcome = judged(&RULE, |record| {
            slow_from_60_s(record);
            record.events = vec![event(80.0)];
        });
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }

    #[test]
    fn planned_steps_are_no_unsteadiness_and_ramps_are_not_judged() {
        let mut run = healthy();
        in_stages(&mut run, [(8, 8), (8, 8)]);
        for interval in run.intervals.iter_mut().filter(|it| it.stage == Some(2)) {
            interval.operations[0].count /= 3;
        }
        let runs = [run.clone()];
        let whole = judged_together(&RULE, &runs, over(&[]));
        assert!(level(&whole) > Level::Pass, "{whole:?}");
        let outcome = judged_stages(&RULE, &runs, over(&[]));
        assert_found(&outcome, Level::Pass, "in all 2 combinations");
        assert_eq!(outcome.unwrap().runs, [1]);
        in_stages(&mut run, [(8, 8), (8, 1)]);
        let outcome = judged_stages(&RULE, std::slice::from_ref(&run), over(&[]));
        assert_found(&outcome, Level::Pass, "steady over all 60 s");
        in_stages(&mut run, [(1, 8), (8, 1)]);
        assert_no_subject(&judged_stages(&RULE, &[run], over(&[])));
    }

    #[test]
    fn executions_that_swing_against_each_other_are_not_called_steady() {
        let mut runs = blocks_over("flush", &["1"]);
        runs.truncate(2);
        for (at, record) in runs.iter_mut().enumerate() {
            for (second, interval) in record.intervals.iter_mut().enumerate() {
                // Each moves between two levels every 20 s, and their mean stays where it is.
                let operation = &mut interval.operations[0];
                let is_low = (second / 20 + at) % 2 == 0;
                operation.count = operation.count * if is_low { 7 } else { 13 } / 10;
            }
        }
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(
            &outcome,
            Level::Note,
            "not steady by themselves: 2 of 2 runs",
        );
    }

    #[test]
    fn few_intervals_are_a_warning() {
        let outcome = judged(&RULE, |record| record.intervals.truncate(25));
        assert_found(&outcome, Level::Warn, "at least 12 are needed");
    }

    #[test]
    fn a_step_is_named_with_its_second() {
        let slower = |from_s: f64| {
            judged(&RULE, |record| {
                for (at, interval) in record.intervals.iter_mut().enumerate() {
                    // So noisy that no trend is certain.
                    let noise = [0, 60, 25, 80, 10, 45][at % 6];
                    let operation = &mut interval.operations[0];
                    operation.count -= noise;
                    if interval.t_s >= from_s {
                        operation.count = operation.count * 7 / 10;
                    }
                }
            })
        };
        for from_s in [50.0, 80.0, 110.0] {
            let outcome = slower(from_s);
            assert!(level(&outcome) >= Level::Warn, "{outcome:?}");
        }
        let outcome = slower(80.0);
        let evidence = &outcome.as_ref().unwrap().evidence;
        assert!(evidence.contains("a step at 80 s"), "{outcome:?}");
    }

    #[test]
    fn swings_of_the_first_part_are_named() {
        let outcome = judged(&RULE, |record| {
            for (at, interval) in record.intervals.iter_mut().enumerate() {
                if interval.t_s < 60.0 {
                    let share = [6, 13, 8, 12, 9, 14, 7, 11][at % 8];
                    interval.operations[0].count = interval.operations[0].count * share / 10;
                }
            }
        });
        assert_found(&outcome, Level::Warn, "until 60 s the throughput varies by");
    }

    /// One operation every 20 s: the first 19 s without any are no warm-up.
    #[test]
    fn slow_operations_are_no_warm_up() {
        let slow = |every: usize, count: u64| {
            judged(&RULE, |record| {
                for (at, interval) in record.intervals.iter_mut().enumerate() {
                    interval.operations[0].count = if at % every == every - 1 { count } else { 0 };
                }
            })
        };
        let outcome = slow(20, 1);
        assert_found(
            &outcome,
            Level::Note,
            "6 operations in the measured phase; at least 60 are",
        );
        assert!(level(&slow(2, 1)) <= Level::Note);
    }

    #[test]
    fn an_interval_that_was_cut_is_left_out() {
        let outcome = judged(&RULE, |record| {
            let last = record.measured_intervals().count() - 1;
            let mut measured = record
                .intervals
                .iter_mut()
                .filter(|it| it.phase == samples::Phase::Measurement);
            let last = measured.nth(last).unwrap();
            last.length_s = 0.1;
            last.operations[0].count = 0;
        });
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }
}
