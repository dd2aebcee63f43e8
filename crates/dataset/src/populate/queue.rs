//! The queue of work for the connections: tables in order, ranges of big ones, indexes as soon as the rows are
//! complete.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Condvar, Mutex, PoisonError},
};

use reactor::Interrupt;

use crate::table_data::{Rows, TableData};

/// Approximate size of the rows of one statement: it limits the rollback of an interrupted one, and divides a big table
/// finely enough.
const PART_BYTES: u64 = 128 << 20;
/// Number of units generated to estimate the bytes per unit.
const SAMPLED_UNITS: u64 = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Job {
    Create {
        table: usize,
    },
    /// Send the rows of these units.
    Fill {
        table: usize,
        units: Range<u64>,
    },
    /// Execute the statements after the rows.
    Finish {
        table: usize,
    },
}

/// The work of all tables.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tables: Vec<TableState>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TableState {
    phase: Phase,
    /// Units that no stream has taken.
    left: VecDeque<Range<u64>>,
    /// Number of units of one part.
    part: u64,
    /// Number of streams that fill it.
    active: u64,
    is_divisible: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    New,
    Creating,
    Filling,
    Finishing,
    Ready,
}

impl Queue {
    /// The work for these tables and this number of streams, and the estimated bytes of all rows.
    pub(super) fn new(tables: &[TableData], streams: u32) -> (Self, u64) {
        let mut bytes_expected = 0;
        let states = tables.iter().map(|table| {
            let left = table.rows.as_deref().map(missing).unwrap_or_default();
            let units: u64 = left.iter().map(|units| units.end - units.start).sum();
            let unit_bytes = table.rows.as_deref().map_or(1, unit_bytes).max(1);
            bytes_expected += units * unit_bytes;
            let mut part = (PART_BYTES / unit_bytes).max(1);
            if table.is_divisible {
                // Each stream gets a share, even of a table that would fit into one part.
                part = part.min(units.div_ceil(u64::from(streams))).max(1);
            }
            TableState {
                phase: Phase::New,
                left,
                part,
                active: 0,
                is_divisible: table.is_divisible,
            }
        });
        let state = State {
            tables: states.collect(),
        };
        let queue = Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        };
        (queue, bytes_expected)
    }

    /// The next piece of work; waits while others have to finish theirs first. `None` when nothing is left,
    /// and at the end of all streams.
    pub(super) fn next(&self, end: &Interrupt) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if end.is_raised() {
                return None;
            }
            if let Some(job) = state.take() {
                return Some(job);
            }
            let is_over = |table: &TableState| table.phase == Phase::Ready;
            if state.tables.iter().all(is_over) {
                return None;
            }
            state = end.wait_on(&self.changed, state);
        }
    }

    pub(super) fn done(&self, job: &Job) {
        let mut state = self.lock();
        match job {
            Job::Create { table } => state.tables[*table].phase = Phase::Filling,
            Job::Fill { table, .. } => state.tables[*table].active -= 1,
            Job::Finish { table } => state.tables[*table].phase = Phase::Ready,
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The best piece of work that can start now.
    fn take(&mut self) -> Option<Job> {
        self.finish().or_else(|| self.fill())
    }

    /// A table with all its rows: its index keeps a CPU busy while other streams still send.
    fn finish(&mut self) -> Option<Job> {
        let is_full = |table: &TableState| {
            table.phase == Phase::Filling && table.left.is_empty() && table.active == 0
        };
        let table = self.tables.iter().position(is_full)?;
        self.tables[table].phase = Phase::Finishing;
        Some(Job::Finish { table })
    }

    /// Of the tables that can take another stream, the one with the fewest, so that each has one if there are enough.
    fn fill(&mut self) -> Option<Job> {
        let can_begin = |table: &TableState| match table.phase {
            Phase::New => true,
            Phase::Filling => !table.left.is_empty() && (table.is_divisible || table.active == 0),
            Phase::Creating | Phase::Finishing | Phase::Ready => false,
        };
        let candidates = self.tables.iter_mut().enumerate();
        let (table, state) = candidates
            .filter(|(_, table)| can_begin(table))
            // A started table has precedence over a new one with the same number of streams.
            .min_by_key(|(index, table)| (table.active, table.phase == Phase::New, *index))?;
        if state.phase == Phase::New {
            state.phase = Phase::Creating;
            return Some(Job::Create { table });
        }
        let mut rest = state.left.pop_front()?;
        let units = rest.start..rest.end.min(rest.start + state.part);
        rest.start = units.end;
        if !rest.is_empty() {
            state.left.push_front(rest);
        }
        state.active += 1;
        Some(Job::Fill { table, units })
    }
}

/// The units of a table that it does not contain yet.
fn missing(rows: &dyn Rows) -> VecDeque<Range<u64>> {
    let mut missing = VecDeque::new();
    let mut next = 0;
    for loaded in rows.loaded() {
        if loaded.start > next {
            missing.push_back(next..loaded.start);
        }
        next = next.max(loaded.end);
    }
    if next < rows.units() {
        missing.push_back(next..rows.units());
    }
    missing
}

/// Estimated bytes of one unit: the mean of a few that are spread over all.
fn unit_bytes(rows: &dyn Rows) -> u64 {
    let units = rows.units();
    let sampled = units.min(SAMPLED_UNITS);
    let mut lines = Vec::new();
    for sample in 0..sampled {
        rows.write(sample * units / sampled, &mut lines);
    }
    (lines.len() as u64).checked_div(sampled).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A number of units with a row of 10 bytes; units 0, 1 and 5 are in the table already.
    struct HalfLoaded(u64);

    impl Rows for HalfLoaded {
        fn units(&self) -> u64 {
            self.0
        }

        fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
            Plain(self.0).write(unit, out)
        }

        fn loaded(&self) -> Vec<Range<u64>> {
            vec![0..2, 5..6]
        }
    }

    #[test]
    fn what_is_loaded_is_left_out() {
        let mut one = table(9, false);
        one.rows = Some(Arc::new(HalfLoaded(9)));
        let (queue, bytes) = Queue::new(&[one], 1);
        assert_eq!(bytes, 60);
        let mut filled = Vec::new();
        while let Some(job) = next(&queue) {
            if let Job::Fill { units, .. } = &job {
                filled.push(units.clone());
            }
            queue.done(&job);
        }
        assert_eq!(filled, [2..5, 6..9]);
    }

    /// Rows of 10 bytes.
    struct Plain(u64);

    impl Rows for Plain {
        fn units(&self) -> u64 {
            self.0
        }

        fn write(&self, _unit: u64, out: &mut Vec<u8>) -> u64 {
            out.extend_from_slice(b"123456789\n");
            1
        }
    }

    fn table(units: u64, is_divisible: bool) -> TableData {
        TableData {
            name: "t".to_owned(),
            columns: "a".to_owned(),
            create: Vec::new(),
            rows: (units > 0).then(|| Arc::new(Plain(units)) as Arc<dyn Rows>),
            finish: Vec::new(),
            is_divisible,
        }
    }

    fn next(queue: &Queue) -> Option<Job> {
        queue.next(&Interrupt::default())
    }

    #[test]
    fn a_table_goes_through_its_phases() {
        let (queue, bytes) = Queue::new(&[table(5, false)], 4);
        assert_eq!(bytes, 50);
        for expected in [
            Job::Create { table: 0 },
            Job::Fill {
                table: 0,
                units: 0..5,
            },
            Job::Finish { table: 0 },
        ] {
            let job = next(&queue).unwrap();
            assert_eq!(job, expected);
            assert_eq!(queue.lock().take(), None, "nothing else can begin");
            queue.done(&job);
        }
        assert_eq!(next(&queue), None);
    }

    #[test]
    fn every_stream_gets_a_table_of_its_own_first() {
        let (queue, _) = Queue::new(&[table(8, true), table(8, true)], 4);
        let create = [next(&queue).unwrap(), next(&queue).unwrap()];
        assert_eq!(create, [Job::Create { table: 0 }, Job::Create { table: 1 }]);
        create.iter().for_each(|job| queue.done(job));
        let filled: Vec<_> = std::iter::from_fn(|| queue.lock().fill()).collect();
        let fill = |table, units| Job::Fill { table, units };
        assert_eq!(
            filled[..4],
            [fill(0, 0..2), fill(1, 0..2), fill(0, 2..4), fill(1, 2..4)]
        );
        assert_eq!(filled.len(), 8);
        assert_eq!(queue.lock().finish(), None, "its rows are not in yet");
        filled.iter().for_each(|job| queue.done(job));
        assert_eq!(next(&queue), Some(Job::Finish { table: 0 }));
    }

    #[test]
    fn empty_tables_are_made_and_finished() {
        let (queue, bytes) = Queue::new(&[table(0, true)], 1);
        assert_eq!(bytes, 0);
        let mut jobs = 0;
        while let Some(job) = next(&queue) {
            queue.done(&job);
            jobs += 1;
        }
        assert_eq!(jobs, 2);
    }

    #[test]
    fn nothing_is_handed_out_after_a_failure() {
        let (queue, _) = Queue::new(&[table(5, false)], 1);
        let end = Interrupt::default();
        end.raise();
        assert_eq!(queue.next(&end), None);
    }
}
