//! Puts together what several event loops measured in the same interval.

use std::{collections::BTreeMap, sync::mpsc};

use reactor::Instant;

use crate::recorder::Cells;

/// What all event loops measured between two moments.
#[derive(Debug)]
pub(crate) struct MergedInterval {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    pub(crate) cells: Cells,
}

/// The intervals that not all event loops have handed over yet.
#[derive(Debug)]
pub(crate) struct Intervals {
    /// Up to where each loop has handed over.
    reached: Vec<Option<Instant>>,
    /// By begin.
    open: BTreeMap<Instant, MergedInterval>,
    /// Where each loop takes its cells back.
    give_back: Vec<mpsc::Sender<Cells>>,
}

impl Intervals {
    /// Nothing from so many loops.
    pub(crate) fn new(loops: usize) -> Self {
        Self {
            reached: vec![None; loops],
            open: BTreeMap::new(),
            give_back: Vec::new(),
        }
    }

    /// Number of loops.
    pub(crate) fn loops(&self) -> usize {
        self.reached.len()
    }

    /// The next loop takes its cells back here.
    pub(crate) fn give_back_to(&mut self, give_back: mpsc::Sender<Cells>) {
        self.give_back.push(give_back);
    }

    /// Adds what one loop measured, and gives it the cells back.
    pub(crate) fn add(&mut self, event_loop: usize, from: Instant, to: Instant, mut cells: Cells) {
        let empty = || MergedInterval {
            from,
            to,
            cells: Cells::new(cells.operations.len(), cells.statements.len()),
        };
        let open = self.open.entry(from).or_insert_with(empty);
        open.to = open.to.max(to);
        open.cells.add(&cells);
        cells.clear();
        // A loop that has ended takes nothing back; the cells are dropped with the message.
        let _ = self.give_back[event_loop].send(cells);
        self.reached[event_loop] = Some(to);
    }

    /// One loop will hand over nothing more.
    pub(crate) fn finish(&mut self, event_loop: usize) {
        self.reached[event_loop] = Some(Instant::from_ns(u64::MAX));
    }

    /// The earliest interval, if all loops have handed it over.
    pub(crate) fn next_whole(&mut self) -> Option<MergedInterval> {
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
        let failed = |errors| {
            let mut cells = Cells::new(1, 0);
            cells.operations[0].errors = errors;
            cells
        };
        let mut intervals = Intervals::new(2);
        for _ in 0..2 {
            intervals.give_back_to(mpsc::channel().0);
        }
        intervals.add(0, at(0), at(10), failed(1));
        intervals.add(0, at(10), at(20), failed(2));
        assert!(intervals.next_whole().is_none());
        intervals.add(1, at(0), at(10), failed(4));
        let whole = intervals.next_whole().unwrap();
        assert_eq!(
            (whole.from, whole.to, whole.cells.operations[0].errors),
            (at(0), at(10), 5)
        );
        assert!(intervals.next_whole().is_none());
        intervals.finish(1);
        assert_eq!(
            intervals.next_whole().unwrap().cells.operations[0].errors,
            2
        );
    }
}
