//! The time of a comparison: the number of blocks for which the budget has time, and whether they can decide anything.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use blame::{Blame, Blamed};
use experiment::{Costs, DecisionTime, Design, Plan, Repeats, run_times};
use load::WarmUp;
use units::span;

use super::{
    factor::{Factor, combinations},
    measurement::Measurement,
};

/// Most runs of each combination, and most sessions.
const BLOCKS_AT_MOST: u64 = 30;
/// What a run takes besides warm-up and measurement: the restart, and the data put back.
const AROUND_A_RUN: Duration = Duration::from_secs(3);
/// Combinations that are confirmed: the baseline, and the best one.
const CONFIRMED: u64 = 2;
/// The proposed budget as a multiple of the fewest blocks: they decide only large differences, and take longer than
/// planned on a busy machine.
const RESERVE: f64 = 2.0;

/// What precedes the loads of each block of the plan: restarts, loading and restoring the data, seconds as estimated.
pub(super) fn preparations_s(plan: &Plan) -> Vec<f64> {
    let times = run_times(&plan.runs, &Costs::default());
    let mut blocks: BTreeMap<u32, f64> = BTreeMap::new();
    for (run, time) in plan.runs.iter().zip(times) {
        *blocks.entry(run.block).or_default() += time.preparation_s;
    }
    blocks.into_values().collect()
}

/// A budget without time for the runs without which nothing is decided, with the preparations of their blocks; a warm-up
/// that ends when the server is steady counts as none. The runs that confirm the answer have a budget of the same length: it
/// must have time for them with all that they can take, since the answer that they confirm has then cost a budget already.
pub(super) struct TooShort {
    message: String,
    /// A budget with time for what is needed.
    pub(super) enough: Duration,
}

impl From<TooShort> for Blamed {
    fn from(it: TooShort) -> Self {
        let minutes = (it.enough.as_secs_f64() / 60.0).ceil();
        let hint =
            format!("use --budget {minutes:.0}m or more, or a shorter --duration or --warmup");
        Self::new(Blame::Input, it.message).hint(hint)
    }
}

/// An error where the budget has no time for what decides.
pub(super) fn check(
    factors: &[Factor],
    measurement: &Measurement,
    preparations_s: &[f64],
) -> Result<(), TooShort> {
    let combinations = combinations(factors.iter());
    let fewest = *blocks_allowed(measurement).start();
    let time_with = |warm_up: Duration| {
        let load_s = (warm_up + measured(measurement)).as_secs_f64() * combinations as f64;
        let blocks = preparations_s.iter().take(fewest as usize);
        let blocks: Vec<f64> = blocks.map(|it| it + load_s).collect();
        DecisionTime::of_blocks_s(&blocks)
    };
    let (shortest, longest) = match measurement.warm_up() {
        WarmUp::None => (Duration::ZERO, Duration::ZERO),
        WarmUp::For(time) => (time, time),
        WarmUp::UntilSteady { at_most } => (Duration::ZERO, at_most),
    };
    let needed = DecisionTime {
        design: measurement.design(),
        combinations,
        least_s: time_with(shortest),
    };
    let runs = Repeats::blocks_at_least(Design::Classical);
    let confirming = measurement.confirming();
    let confirming = confirming.map_or(Duration::ZERO, |classical| {
        block(CONFIRMED, &classical) * runs
    });
    let message = if let Some(message) = needed.exceeds("--budget", measurement.budget) {
        message
    } else if measurement.budget < confirming {
        format!(
            "--confirm: --budget of {} may be too short for classical runs to decide anything: at least {runs} runs of \
             each of {CONFIRMED} combinations are needed, and they take up to {}",
            span(measurement.budget),
            span(confirming)
        )
    } else {
        return Ok(());
    };
    // The same budget is to be enough for both.
    let enough_s = confirming.as_secs_f64().max(time_with(longest) * RESERVE);
    let enough = Duration::try_from_secs_f64(enough_s).unwrap_or(Duration::MAX);
    Err(TooShort { message, enough })
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
    let design = measurement.design();
    let fewest = u64::from(Repeats::blocks_at_least(design));
    match design {
        Design::Classical => fewest..=BLOCKS_AT_MOST,
        Design::SideBySide(slicing) => {
            let batches = slicing.batches_at_most(measurement.measured_time());
            let sessions = Repeats::UNTIL_DECIDED_AT_MOST / batches.max(1);
            fewest..=u64::from(sessions).clamp(fewest, BLOCKS_AT_MOST)
        }
    }
}

#[cfg(test)]
mod tests {
    use experiment::{Experiment, Overrides};

    use super::{super::factor::setting, *};

    const S: Duration = Duration::from_secs(1);
    /// Blocks of two private servers, the first of which loads data for 6 s.
    const PREPARED_S: [f64; 3] = [10.0, 4.0, 4.0];

    #[test]
    fn a_budget_has_time_for_what_can_decide() {
        let two = [setting("sync_binlog=0,1").unwrap()];
        let error = |words: &[&str]| {
            let error = check(&two, &Measurement::parsed(words), &PREPARED_S);
            let error = Blamed::from(error.err()?);
            Some((error.message, error.hints.join(" ")))
        };
        // 40 s and 34 s, and then as long as the longest, whose data was loaded.
        assert_eq!(error(&["--budget", "114s"]), None);
        let (message, hint) = error(&["--budget", "113s"]).unwrap();
        assert_eq!(
            message,
            "--budget of 1 min 53 s cannot decide anything: at least 3 runs of each of 2 combinations are needed, and \
             with the preparation of server and data they take about 1 min 54 s"
        );
        assert!(hint.starts_with("use --budget 4m or more"), "{hint}");
        let side_by_side = |budget| error(&["--design", "side-by-side", "--budget", budget]);
        assert_eq!(side_by_side("82s"), None);
        let (message, hint) = side_by_side("81s").unwrap();
        assert_eq!(
            message,
            "--budget of 1 min 21 s is too short for one session: with the preparation of servers and data, the warm-up \
             and the turns of 2 combinations take about 1 min 22 s"
        );
        // Each server may need 20 s to be steady.
        assert!(hint.starts_with("use --budget 5m or more"), "{hint}");
        // Data of exabytes.
        let error = check(&two, &Measurement::parsed(&[]), &[1e15; 3]).unwrap_err();
        let message = error.message;
        assert!(
            message.starts_with("--budget of 10 min 0 s cannot"),
            "{message}"
        );
    }

    #[test]
    fn a_block_is_prepared_as_the_plan_estimates() {
        let text = "format = 1\nrepeats = \"until decided\"\nat_most = 3\n[matrix]\nsync = [\"0\", \"1\"]\n\
             [server]\nrun = \"mariadb-10.11\"\nset = { sync_binlog = \"{sync}\" }\n\
             [data]\noltp = { tables = 1, table_size = 10000000 }\n\
             [load]\noltp = { script = \"point_select\" }\nconnections = 1\nduration = \"5s\"\nwarmup = \"5s\"\n\
             [verdict]\nbaseline = { sync = \"0\" }\n";
        let path = std::path::Path::new("a.toml");
        let vocabulary = &benchmarks::VOCABULARY;
        let experiment = Experiment::parse(path, text, &Overrides::default(), vocabulary).unwrap();
        let plan = experiment.plan();
        let found = preparations_s(plan);
        assert_eq!(found.len(), 3);
        // Two restarts and what else goes around two runs, and the data put back; the first block loads it, too.
        let costs = Costs::default();
        let around_s = 2.0 * (costs.restart_s + costs.around_s);
        assert!(found[1] > around_s && found[0] > found[1], "{found:?}");
        let loads_s = 3.0 * 2.0 * 10.0;
        let whole_s = plan.estimate(&costs).as_secs_f64();
        let sum_s = found.iter().sum::<f64>() + loads_s;
        assert!((sum_s - whole_s).abs() < 1e-3, "{found:?} {whole_s}");
    }

    #[test]
    fn the_budget_has_time_for_the_classical_runs_that_confirm_an_answer() {
        let two = [setting("sync_binlog=0,1").unwrap()];
        let error = |words: &str| {
            let words = format!("--design side-by-side --confirm {words}");
            let words: Vec<&str> = words.split(' ').collect();
            let error = check(&two, &Measurement::parsed(&words), &PREPARED_S);
            let error = Blamed::from(error.err()?);
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
