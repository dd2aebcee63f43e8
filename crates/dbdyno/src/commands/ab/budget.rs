//! The time of a comparison: the number of blocks for which the budget has time, and whether they can decide anything.

use std::{ops::RangeInclusive, time::Duration};

use blame::{Blame, Blamed};
use experiment::{Design, Repeats};
use load::WarmUp;
use units::span;

use super::{
    factor::{Factor, combinations},
    measurement::Measurement,
};

/// Fewest and most runs of each combination. With fewer nothing is decided.
const RUNS: RangeInclusive<u64> = 3..=30;
/// The same of sessions, each of which may decide alone.
const SESSIONS: RangeInclusive<u64> = 1..=30;
/// What a run takes besides warm-up and measurement: the restart, and the data put back.
const AROUND_A_RUN: Duration = Duration::from_secs(3);

/// An error where the budget has no time for the runs without which nothing is decided, even if they took no longer than
/// what they measure; that of the runs which confirm the answer is as long.
pub(super) fn check(factors: &[Factor], measurement: &Measurement) -> Result<(), Blamed> {
    check_time(combinations(factors.iter()), measurement)?;
    let Some(classical) = measurement.confirming() else {
        return Ok(());
    };
    check_time(2, &classical).map_err(|error| Blamed {
        message: format!("--confirm: {}", error.message),
        ..error
    })
}

fn check_time(combinations: u64, measurement: &Measurement) -> Result<(), Blamed> {
    let warm_up = match measurement.warm_up() {
        WarmUp::None | WarmUp::UntilSteady { .. } => Duration::ZERO,
        WarmUp::For(time) => time,
    };
    let fewest = *blocks_allowed(measurement).start();
    let run = warm_up + measured(measurement);
    let least = run.mul_f64((fewest * combinations) as f64);
    if measurement.budget >= least {
        return Ok(());
    }
    let (budget, alone) = (span(measurement.budget), span(least));
    let message = match measurement.design() {
        Design::Classical => format!(
            "--budget of {budget} cannot decide anything: at least {fewest} runs of each of {combinations} combinations \
             are needed, and their warm-up and measurement alone take {alone}"
        ),
        Design::SideBySide(_) => format!(
            "--budget of {budget} is too short for one session: the warm-up and the turns of {combinations} combinations \
             alone take {alone}"
        ),
    };
    let around = AROUND_A_RUN.mul_f64((fewest * combinations) as f64);
    let minutes = ((least + around).as_secs_f64() / 60.0).ceil();
    let hint = format!("use --budget {minutes:.0}m or more, or a shorter --duration or --warmup");
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

/// About as many blocks as the budget has time for: the fewer analyses there may be, the sooner each decides.
pub(super) fn blocks(varied: &[&Factor], measurement: &Measurement) -> u64 {
    let combinations = combinations(varied.iter().copied());
    let warm_up = match measurement.warm_up() {
        WarmUp::None => Duration::ZERO,
        WarmUp::For(time) | WarmUp::UntilSteady { at_most: time } => time,
    };
    let run = warm_up + measured(measurement) + AROUND_A_RUN;
    let block_s = run.as_secs_f64() * combinations as f64;
    let blocks = measurement.budget.as_secs_f64() / block_s;
    let allowed = blocks_allowed(measurement);
    (blocks as u64).clamp(*allowed.start(), *allowed.end())
}

/// How long the load of a combination has operations in a block, besides its warm-up.
fn measured(measurement: &Measurement) -> Duration {
    let measured = measurement.measured_time();
    match measurement.design() {
        Design::Classical => measured,
        Design::SideBySide(slicing) => slicing.time_of_turns(measured),
    }
}

/// Fewest and most blocks; of sessions, no more than have batches that can be compared.
fn blocks_allowed(measurement: &Measurement) -> RangeInclusive<u64> {
    match measurement.design() {
        Design::Classical => RUNS,
        Design::SideBySide(slicing) => {
            let batches = slicing.batches_at_most(measurement.measured_time());
            let sessions = Repeats::UNTIL_DECIDED_AT_MOST / batches.max(1);
            let (fewest, most) = (*SESSIONS.start(), *SESSIONS.end());
            fewest..=u64::from(sessions).clamp(fewest, most)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::factor::setting, *};

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn a_budget_has_time_for_what_can_decide() {
        let two = [setting("sync_binlog=0,1").unwrap()];
        let error = |words: &[&str]| {
            check(&two, &Measurement::parsed(words))
                .err()
                .map(|it| it.message)
        };
        assert_eq!(error(&["--budget", "90s"]), None);
        let message = "--budget of 1 min 29 s cannot decide anything: at least 3 runs of each of 2 combinations are needed, \
             and their warm-up and measurement alone take 1 min 30 s";
        assert_eq!(error(&["--budget", "89s"]).as_deref(), Some(message));
        let side_by_side = |budget| error(&["--design", "side-by-side", "--budget", budget]);
        assert_eq!(side_by_side("72s"), None);
        let message = "--budget of 1 min 11 s is too short for one session: the warm-up and the turns of 2 combinations \
             alone take 1 min 12 s";
        assert_eq!(side_by_side("71s").as_deref(), Some(message));
        let confirmed = |budget| {
            let words = [
                "--design",
                "side-by-side",
                "--state",
                "fresh",
                "--confirm",
                "--budget",
                budget,
            ];
            error(&words)
        };
        // Three classical runs of two combinations, each with its warm-up of 5 s.
        assert_eq!(confirmed("90s"), None);
        let message = confirmed("89s").unwrap();
        assert!(
            message.starts_with("--confirm: --budget of 1 min 29 s cannot"),
            "{message}"
        );
    }

    #[test]
    fn blocks_fill_the_budget() {
        let two = setting("sync_binlog=0,1").unwrap();
        let side_by_side = &["--design", "side-by-side"][..];
        for (design, others, expected) in [
            // 36 s each.
            (&[][..], &[][..], 16),
            (&[], &["--budget", "1m"], 3),
            (&[], &["--budget", "10h"], 30),
            // 118 s each: the warm-up of a server may take 20 s.
            (side_by_side, &[], 5),
            // 88 s each.
            (side_by_side, &["--state", "fresh"], 6),
            (side_by_side, &["--budget", "85s"], 1),
            (side_by_side, &["--budget", "10h"], 30),
            // Sessions of 120 batches, of which 1000 can be compared.
            (side_by_side, &["--budget", "10h", "--duration", "5m"], 8),
            (side_by_side, &["--budget", "10h", "--duration", "1h"], 1),
        ] {
            let words = [design, others].concat();
            let found = blocks(&[&two], &Measurement::parsed(&words));
            assert_eq!(found, expected, "{words:?}");
        }
        assert_eq!(measured(&Measurement::parsed(&[])), 10 * S);
        assert_eq!(measured(&Measurement::parsed(side_by_side)), 36 * S);
    }
}
