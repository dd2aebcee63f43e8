//! The shortest time in which a plan can decide anything, for experiments that have a time budget.

use std::time::Duration;

use settings::WarmUp;
use units::span;

use crate::{
    plan::{
        Plan, PlannedRun,
        estimate::{Costs, RunTime, run_times},
    },
    spec::{design::Design, repeats::Repeats},
};

/// The shortest time in which anything can be decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecisionTime {
    pub design: Design,
    /// Number of combinations.
    pub combinations: u64,
    /// What the fewest blocks take with all preparation ([`Self::of_blocks_s`]), seconds.
    pub least_s: f64,
}

impl DecisionTime {
    /// That of a plan. A warm-up or a measurement that can end by itself counts as none.
    pub fn of(plan: &Plan, costs: &Costs) -> Self {
        let fewest = Repeats::blocks_at_least(plan.design);
        let runs = plan.runs.iter().take_while(|run| run.block <= fewest);
        let runs: Vec<&PlannedRun> = runs.collect();
        let mut blocks_s = vec![0.0; fewest as usize];
        for (run, time) in runs.iter().zip(run_times(runs.iter().copied(), costs)) {
            blocks_s[run.block as usize - 1] += shortest_s(run, &time);
        }
        Self {
            design: plan.design,
            combinations: plan.runs.len() as u64 / u64::from(plan.repeats.blocks()),
            least_s: Self::of_blocks_s(&blocks_s),
        }
    }

    /// The shortest budget in which blocks of these lengths are measured, seconds: the last one begins only if there is
    /// time for the longest one so far, which can be the first, with the loading of the data.
    pub fn of_blocks_s(blocks_s: &[f64]) -> f64 {
        let Some((last, before)) = blocks_s.split_last() else {
            return 0.0;
        };
        before.iter().sum::<f64>() + before.iter().fold(*last, |longest, it| longest.max(*it))
    }

    /// The reason why a budget of this name is too short to decide anything; `None` if it is long enough.
    pub fn exceeds(&self, name: &str, budget: Duration) -> Option<String> {
        if budget.as_secs_f64() >= self.least_s {
            return None;
        }
        let least = span(Duration::try_from_secs_f64(self.least_s).unwrap_or(Duration::MAX));
        let (budget, combinations) = (span(budget), self.combinations);
        Some(match self.design {
            Design::Classical => {
                let fewest = Repeats::blocks_at_least(self.design);
                let of_each = match combinations {
                    1 => String::new(),
                    several => format!(" of each of {several} combinations"),
                };
                format!(
                    "{name} of {budget} cannot decide anything: at least {fewest} runs{of_each} are needed, and with the \
                     preparation of server and data they take about {least}"
                )
            }
            Design::SideBySide(_) => format!(
                "{name} of {budget} is too short for one session: with the preparation of servers and data, the warm-up \
                 and the turns of {combinations} combinations take about {least}"
            ),
        })
    }
}

/// How long a run takes at least, seconds.
fn shortest_s(run: &PlannedRun, time: &RunTime) -> f64 {
    // Several loads have the same times.
    let load = &run.data_load;
    let warm_up = match load.warmup {
        WarmUp::UntilSteady { at_most } => at_most,
        WarmUp::None | WarmUp::For(_) => Duration::ZERO,
    };
    let measurement = match load.precision {
        Some(_) => load.duration,
        None => Duration::ZERO,
    };
    time.preparation_s + (time.load_s - (warm_up + measurement).as_secs_f64()).max(0.0)
}
