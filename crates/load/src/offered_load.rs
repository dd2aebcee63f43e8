//! The requested load of a run and of each of its stages, with what became of it.

use std::collections::BTreeMap;

use samples::{Durations, LoadStage, OfferedLoad};
use settings::Arrivals;

use crate::{
    pace::{LoopTotals, Unanswered},
    shortfall::{Evidence, Sample},
    stages::{PlacedStage, Stages},
};

/// Minimum delay of an operation that counts as late, nanoseconds.
const LATE_NS: u64 = 1_000_000;

/// What is known of a load at its end.
#[derive(Debug)]
pub(crate) struct LoadEnd<'a> {
    pub(crate) arrivals: Arrivals,
    pub(crate) stages: &'a Stages,
    pub(crate) spin: bool,
    /// Work that is done once and is then over.
    pub(crate) ends_by_itself: bool,
    /// Operations that were due in the measurement.
    pub(crate) due: u64,
    /// Connections that were opened.
    pub(crate) connections: u64,
    /// All intervals but the drain's, in order.
    pub(crate) samples: &'a [Sample],
    /// Send lags of the operations due in the measurement.
    pub(crate) send_lag: &'a Durations,
    /// The same of each stage.
    pub(crate) send_lag_by_stage: &'a BTreeMap<u32, Durations>,
    pub(crate) left: &'a LoopTotals,
}

/// The part of a load whose figures are wanted: its measurement, or one stage.
struct Part<'a> {
    /// Mean of the requested operations per second, and the value at the end.
    rate_per_s: Option<f64>,
    rate_at_end_per_s: Option<f64>,
    connections: u64,
    samples: &'a [Sample],
    send_lag: &'a Durations,
    left: &'a Unanswered,
}

impl LoadEnd<'_> {
    /// The requested load of the whole measurement. With stages, it fell short where the first of them did.
    pub(crate) fn whole(&self) -> OfferedLoad {
        let rate_per_s = self.arrivals.rate_per_s();
        let mut offered = self.offered(&Part {
            rate_per_s,
            rate_at_end_per_s: rate_per_s,
            connections: self.connections,
            samples: self.samples,
            send_lag: self.send_lag,
            left: &self.left.unanswered,
        });
        (offered.due, offered.in_flight) = (self.due, self.left.in_flight);
        if !self.stages.is_empty() {
            offered.shortfall = self.stages().into_iter().find_map(|stage| {
                let mut shortfall = stage.offered?.shortfall?;
                shortfall.why = format!("stage {}: {}", stage.number, shortfall.why);
                Some(shortfall)
            });
        }
        offered
    }

    /// The stages that began, each with its requested load.
    pub(crate) fn stages(&self) -> Vec<LoadStage> {
        let placed = self.stages.placed().iter().zip(1..);
        let began = placed.filter_map(|(stage, number)| {
            let is_its = |sample: &&Sample| sample.stage == Some(number);
            let count = self.samples.iter().filter(is_its).count();
            let first = self.samples.iter().position(|sample| is_its(&sample))?;
            let rate = stage.plan.rate_per_s;
            let offered = self.offered(&Part {
                rate_per_s: rate.map(settings::Level::mean),
                rate_at_end_per_s: rate.map(|rate| rate.to),
                connections: stage.plan.connections.max().into(),
                samples: &self.samples[first..first + count],
                send_lag: self
                    .send_lag_by_stage
                    .get(&number)
                    .unwrap_or(&Durations::default()),
                left: self
                    .left
                    .by_stage
                    .get(&number)
                    .unwrap_or(&Unanswered::default()),
            });
            Some(line(stage, number, Some(offered)))
        });
        began.collect()
    }

    fn offered(&self, part: &Part<'_>) -> OfferedLoad {
        let evidence = Evidence {
            rate_per_s: part.rate_at_end_per_s.unwrap_or(f64::INFINITY),
            connections: part.connections,
            samples: part.samples,
            calm: self.left.calm,
            spin: self.spin,
        };
        let begun_late = part.send_lag.histogram.count_above(LATE_NS);
        OfferedLoad {
            process: self.arrivals.process().to_owned(),
            rate_per_s: part.rate_per_s,
            spin: self.spin,
            ends_by_itself: self.ends_by_itself,
            due: evidence.due(),
            behind: evidence.behind(),
            late: begun_late + part.left.not_started,
            waiting_max: evidence.waiting_max(),
            not_started: part.left.not_started,
            unfinished: part.left.unfinished,
            in_flight: part.left.unfinished,
            waits: part.left.waits.clone(),
            shortfall: part.rate_per_s.and_then(|_| evidence.shortfall()),
        }
    }
}

/// A stage as a line of the record.
pub(crate) fn line(stage: &PlacedStage, number: u32, offered: Option<OfferedLoad>) -> LoadStage {
    LoadStage {
        number,
        t_s: stage.from.as_secs_f64(),
        length_s: stage.plan.length.as_secs_f64(),
        connections_from: stage.plan.connections.from,
        connections_to: stage.plan.connections.to,
        rate_from_per_s: stage.plan.rate_per_s.map(|rate| rate.from),
        rate_to_per_s: stage.plan.rate_per_s.map(|rate| rate.to),
        offered,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use settings::{Level, PlannedStage, WarmUp};

    use super::*;

    #[test]
    fn a_line_has_the_connections_that_the_load_had() {
        let stage = |from, to, length_s| PlannedStage {
            connections: Level { from, to },
            rate_per_s: None,
            length: Duration::from_secs(length_s),
        };
        let plan = [stage(1, 7, 10), stage(64, 3, 7), stage(5, 5, 3)];
        let stages = Stages::of(WarmUp::For(Duration::from_secs(2)), &plan);
        for (placed, number) in stages.placed().iter().zip(1..) {
            let line = line(placed, number, None);
            // A moment beside each step, where both are rounded alike.
            for at_ms in (1..placed.plan.length.as_millis() as u64).step_by(10) {
                let at = placed.from + Duration::from_millis(at_ms);
                let active = stages.connections_at(at);
                let of_line = line.connections_at(at.as_secs_f64());
                assert_eq!(Some(of_line), active, "stage {number} at {at:?}");
            }
        }
    }
}
