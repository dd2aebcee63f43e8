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
/// Combinations that are confirmed: the baseline, and the best one.
const CONFIRMED: u64 = 2;

/// An error where the budget has no time for the runs without which nothing is decided, even if they took no longer than
/// what they measure. The runs that confirm the answer have a budget of the same length: it must have time for them with
/// all that they can take, since the answer that they confirm has then cost a budget already.
pub(super) fn check(factors: &[Factor], measurement: &Measurement) -> Result<(), Blamed> {
    let combinations = combinations(factors.iter());
    let fewest = *blocks_allowed(measurement).start();
    let warm_up = match measurement.warm_up() {
        WarmUp::None | WarmUp::UntilSteady { .. } => Duration::ZERO,
        WarmUp::For(time) => time,
    };
    let runs = (fewest * combinations) as f64;
    let least = (warm_up + measured(measurement)).mul_f64(runs);
    let confirming = measurement.confirming();
    let confirming = confirming.map_or(Duration::ZERO, |classical| {
        block(CONFIRMED, &classical).mul_f64(*RUNS.start() as f64)
    });
    let budget = span(measurement.budget);
    let message = if measurement.budget < least {
        let alone = span(least);
        match measurement.design() {
            Design::Classical => format!(
                "--budget of {budget} cannot decide anything: at least {fewest} runs of each of {combinations} \
                 combinations are needed, and their warm-up and measurement alone take {alone}"
            ),
            Design::SideBySide(_) => format!(
                "--budget of {budget} is too short for one session: the warm-up and the turns of {combinations} \
                 combinations alone take {alone}"
            ),
        }
    } else if measurement.budget < confirming {
        format!(
            "--confirm: --budget of {budget} may be too short for classical runs to decide anything: at least {} runs of \
             each of {CONFIRMED} combinations are needed, and they take up to {}",
            RUNS.start(),
            span(confirming)
        )
    } else {
        return Ok(());
    };
    // The same budget is to be enough for both.
    let enough = confirming.max(least + AROUND_A_RUN.mul_f64(runs));
    let minutes = (enough.as_secs_f64() / 60.0).ceil();
    let hint = format!("use --budget {minutes:.0}m or more, or a shorter --duration or --warmup");
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

/// About as many blocks as the budget has time for: the fewer analyses there may be, the sooner each decides.
pub(super) fn blocks(varied: &[&Factor], measurement: &Measurement) -> u64 {
    let block = block(combinations(varied.iter().copied()), measurement);
    let blocks = measurement.budget.as_secs_f64() / block.as_secs_f64();
    let allowed = blocks_allowed(measurement);
    (blocks as u64).clamp(*allowed.start(), *allowed.end())
}

/// How long a block of this number of combinations can take.
fn block(combinations: u64, measurement: &Measurement) -> Duration {
    let warm_up = match measurement.warm_up() {
        WarmUp::None => Duration::ZERO,
        WarmUp::For(time) | WarmUp::UntilSteady { at_most: time } => time,
    };
    let run = warm_up + measured(measurement) + AROUND_A_RUN;
    run.mul_f64(combinations as f64)
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
    }

    #[test]
    fn the_budget_has_time_for_the_classical_runs_that_confirm_an_answer() {
        let two = [setting("sync_binlog=0,1").unwrap()];
        let error = |words: &str| {
            let words = format!("--design side-by-side --confirm {words}");
            let words: Vec<&str> = words.split(' ').collect();
            let error = check(&two, &Measurement::parsed(&words)).err()?;
            Some((error.message, error.hints.join(" ")))
        };
        // Three blocks of two runs, each with a warm-up of up to 20 s, and 3 s around it.
        assert_eq!(error("--duration 20s --budget 258s"), None);
        let (message, hint) = error("--duration 20s --budget 150s").unwrap();
        assert_eq!(
            message,
            "--confirm: --budget of 2 min 30 s may be too short for classical runs to decide anything: at least 3 runs of \
             each of 2 combinations are needed, and they take up to 4 min 18 s"
        );
        assert!(hint.starts_with("use --budget 5m or more"), "{hint}");
        // The hint for the sessions names a budget that is enough for both.
        let (message, hint) = error("--duration 20s --budget 40s").unwrap();
        assert!(message.starts_with("--budget of 40 s is too short for one session"));
        assert!(hint.starts_with("use --budget 5m or more"), "{hint}");
        // A warm-up of 5 s; and one of up to a minute.
        assert_eq!(error("--state fresh --budget 108s"), None);
        assert!(error("--state fresh --budget 107s").is_some());
        assert_eq!(error("--warmup auto --budget 438s"), None);
        assert!(error("--warmup auto --budget 437s").is_some());
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
