//! Merges the figures of several event loops for the same interval.

use std::collections::BTreeMap;

use reactor::{Instant, channel};

use crate::{
    pace::LoopPace,
    recorder::{CellCounts, Cells, LateCells},
};

/// The figures of one event loop between two times.
#[derive(Debug)]
pub(crate) struct LoopInterval {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) cells: Cells,
    pub(crate) carried: LateCells,
    pub(crate) pace: LoopPace,
}

/// The intervals that not all event loops have delivered yet.
#[derive(Debug)]
pub(crate) struct Intervals {
    shape: CellCounts,
    /// The time up to which each loop has delivered.
    reached: Vec<Option<Instant>>,
    /// By start time.
    open: BTreeMap<Instant, LoopInterval>,
    /// The channels by which the loops get their cells back.
    give_back: Vec<channel::Sender<Cells>>,
}

impl Intervals {
    /// Without any interval, for this number of loops.
    pub(crate) fn new(loops: usize, shape: CellCounts) -> Self {
        Self {
            shape,
            reached: vec![None; loops],
            open: BTreeMap::new(),
            give_back: Vec::new(),
        }
    }

    pub(crate) fn loops(&self) -> usize {
        self.reached.len()
    }

    /// Adds the channel by which the next loop gets its cells back.
    pub(crate) fn give_back_to(&mut self, give_back: channel::Sender<Cells>) {
        self.give_back.push(give_back);
    }

    /// Adds the figures of one loop, and returns the cells to it, so that it need not allocate.
    pub(crate) fn add(&mut self, event_loop: usize, measured: LoopInterval) {
        self.reached[event_loop] = Some(measured.to);
        let shape = self.shape;
        let open = self
            .open
            .entry(measured.from)
            .or_insert_with(|| LoopInterval {
                from: measured.from,
                to: measured.to,
                cells: Cells::new(shape),
                carried: LateCells::new(),
                pace: LoopPace::default(),
            });
        open.to = open.to.max(measured.to);
        open.pace.add(&measured.pace);
        for (phase, cells) in measured.carried {
            open.carried
                .entry(phase)
                .and_modify(|sum| sum.add(&cells))
                .or_insert(cells);
        }
        let mut cells = measured.cells;
        open.cells.add(&cells);
        cells.clear();
        // A loop that has ended does not receive them; the cells are dropped with the message.
        let _ = self.give_back[event_loop].send(cells);
    }

    /// Records that one loop will deliver nothing more.
    pub(crate) fn finish(&mut self, event_loop: usize) {
        self.reached[event_loop] = Some(Instant::from_ns(u64::MAX));
    }

    /// The earliest interval, if all loops have delivered it.
    pub(crate) fn next_whole(&mut self) -> Option<LoopInterval> {
        let reached = self.reached.iter().copied().min().flatten()?;
        let first = self.open.first_entry()?;
        (first.get().to <= reached).then(|| first.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_waits_for_the_slowest_loop() {
        let at = Instant::from_ns;
        let shape = CellCounts {
            operations: 1,
            statements: 0,
            open: false,
        };
        let failed = |from, to, errors| {
            let mut cells = Cells::new(shape);
            cells.operations[0].errors = errors;
            LoopInterval {
                from: at(from),
                to: at(to),
                cells,
                carried: LateCells::new(),
                pace: LoopPace::default(),
            }
        };
        let mut intervals = Intervals::new(2, shape);
        for _ in 0..2 {
            intervals.give_back_to(channel::unbounded().0);
        }
        intervals.add(0, failed(0, 10, 1));
        intervals.add(0, failed(10, 20, 2));
        assert!(intervals.next_whole().is_none());
        intervals.add(1, failed(0, 10, 4));
        let whole = intervals.next_whole().unwrap();
        assert_eq!((whole.from, whole.to), (at(0), at(10)));
        assert_eq!(whole.cells.operations[0].errors, 5);
        assert!(intervals.next_whole().is_none());
        intervals.finish(1);
        let whole = intervals.next_whole().unwrap();
        assert_eq!(whole.cells.operations[0].errors, 2);
    }
}
