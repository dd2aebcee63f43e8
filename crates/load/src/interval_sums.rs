//! What is added up over the intervals of a load, for its outcome.

use std::collections::BTreeMap;

use samples::{Durations, Phase};

use crate::{
    intervals::LoopInterval,
    lines,
    recorder::{CellCounts, Cells},
    shortfall::Sample,
    timeline::DueIn,
};

/// The sums over the intervals of a load so far, and a sample of each.
#[derive(Debug)]
pub(crate) struct IntervalSums {
    /// Over all phases.
    pub(crate) cells: Cells,
    /// Successful operations that were due in the measurement, or completed in it.
    pub(crate) succeeded: u64,
    /// All intervals but the drain's, in order.
    pub(crate) samples: Vec<Sample>,
    /// Send lags of the operations due in the measurement.
    pub(crate) send_lag: Durations,
    /// The same of each stage.
    pub(crate) send_lag_by_stage: BTreeMap<u32, Durations>,
}

impl IntervalSums {
    /// Before the first interval.
    pub(crate) fn new(shape: CellCounts) -> Self {
        Self {
            cells: Cells::new(shape),
            succeeded: 0,
            samples: Vec::new(),
            send_lag: Durations::default(),
            send_lag_by_stage: BTreeMap::new(),
        }
    }

    /// Adds an interval of this part of the load, with this number of active users. Returns the number of successful
    /// operations that were completed in it.
    pub(crate) fn add(
        &mut self,
        t_s: f64,
        part: DueIn,
        users: u64,
        interval: &LoopInterval,
    ) -> u64 {
        let sample = sample(t_s, part, users, interval);
        self.cells.add(&interval.cells);
        for cells in interval.carried.values() {
            self.cells.add(cells);
        }
        let own = [(&part, &interval.cells)];
        for (due_in, cells) in interval.carried.iter().chain(own) {
            let is_due = due_in.phase == Phase::Measurement;
            // Operations of a warm-up's backlog that are completed in the measurement are results as well. Those of a
            // pause before a slice are not: as many of the slice are completed after it.
            let is_backlog = due_in.phase == Phase::WarmUp && part.phase == Phase::Measurement;
            if is_due || is_backlog {
                self.succeeded += cells.succeeded();
            }
            if is_due {
                self.send_lag.add(&cells.send_lag);
            }
            if let Some(stage) = due_in.stage {
                let of_stage = self.send_lag_by_stage.entry(stage).or_default();
                of_stage.add(&cells.send_lag);
            }
        }
        if part.phase != Phase::Drain {
            self.samples.push(sample);
        }
        sample.back
    }

    /// Makes the measurement so far a part of the warm-up.
    pub(crate) fn begin_anew(&mut self) {
        self.send_lag = Durations::default();
        self.succeeded = 0;
        for sample in &mut self.samples {
            sample.phase = Phase::WarmUp;
        }
    }
}

/// The figures of an interval for the rule about a missed rate.
fn sample(t_s: f64, part: DueIn, users: u64, interval: &LoopInterval) -> Sample {
    let length_s = (interval.to - interval.from).as_secs_f64();
    let back = || interval.carried.values().chain([&interval.cells]);
    let service = back().flat_map(|cells| &cells.service);
    Sample {
        t_s,
        length_s,
        phase: part.phase,
        stage: part.stage,
        pace: lines::pace(interval.pace, length_s, users),
        back: back().map(Cells::succeeded).sum(),
        service_sum_ns: service.map(|durations| durations.sum_ns).sum(),
    }
}

#[cfg(test)]
mod tests {
    use reactor::Instant;

    use super::*;
    use crate::{pace::LoopPace, recorder::LateCells};

    const SHAPE: CellCounts = CellCounts {
        operations: 1,
        statements: 0,
        open: false,
    };

    fn cells(succeeded: u64) -> Cells {
        let mut cells = Cells::new(SHAPE);
        (0..succeeded).for_each(|_| cells.operations[0].response.record(1_000));
        cells
    }

    fn slice(number: u32) -> DueIn {
        DueIn {
            slice: Some(number),
            ..DueIn::from(Phase::Measurement)
        }
    }

    #[test]
    fn an_operation_belongs_to_the_slice_in_which_it_was_due() {
        let [warm_up, pause, drain] = [Phase::WarmUp, Phase::Pause, Phase::Drain].map(DueIn::from);
        // The operations due in each interval, and those that were completed in it and due before.
        let course = [
            (warm_up, 100, None),
            (slice(1), 10, Some((warm_up, 2))),
            (pause, 40, Some((slice(1), 3))),
            (slice(2), 20, Some((pause, 5))),
            (drain, 0, Some((slice(2), 1))),
        ];
        let mut sums = IntervalSums::new(SHAPE);
        let mut back = Vec::new();
        for (part, own, carried) in course {
            let carried = carried.into_iter();
            let carried = carried.map(|(due_in, count)| (due_in, cells(count)));
            let interval = LoopInterval {
                from: Instant::from_ns(0),
                to: Instant::from_ns(1_000_000_000),
                cells: cells(own),
                carried: carried.collect::<LateCells>(),
                pace: LoopPace::default(),
            };
            back.push(sums.add(0.0, part, 8, &interval));
        }
        assert_eq!(back, [100, 12, 43, 25, 1]);
        assert_eq!(sums.succeeded, 10 + 2 + 3 + 20 + 1);
        assert_eq!(sums.cells.succeeded(), 181);
        assert_eq!(sums.samples.len(), 4);
    }
}
