//! What one event loop measured, by operation type and interval.

use std::collections::BTreeMap;

use samples::Histogram;
use workload::{Class, Failure};

/// How many durations, and how long.
#[derive(Debug, Clone, Default)]
pub(crate) struct Durations {
    pub(crate) count: u64,
    pub(crate) sum_ns: u64,
    /// 0 while there is none; so is the maximum.
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) histogram: Histogram,
}

impl Durations {
    fn record(&mut self, duration_ns: u64) {
        self.min_ns = if self.count == 0 {
            duration_ns
        } else {
            self.min_ns.min(duration_ns)
        };
        self.max_ns = self.max_ns.max(duration_ns);
        self.count += 1;
        self.sum_ns += duration_ns;
        self.histogram.record(duration_ns);
    }

    /// Adds what another event loop, or another interval, measured of the same.
    pub(crate) fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min_ns = if self.count == 0 {
            other.min_ns
        } else {
            self.min_ns.min(other.min_ns)
        };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.histogram.add(&other.histogram);
    }

    /// Forgets everything and keeps the histogram's memory.
    fn clear(&mut self) {
        if self.count > 0 {
            self.histogram.clear();
        }
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, 0, 0);
    }
}

/// What one operation type did in one interval of one event loop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    /// Response times of the successful ones.
    pub(crate) response: Durations,
    pub(crate) errors: u64,
}

impl Cell {
    pub(crate) fn add(&mut self, other: &Self) {
        self.response.add(&other.response);
        self.errors += other.errors;
    }
}

/// What one statement did in one interval of one event loop.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementCell {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) others: u64,
    pub(crate) times: Durations,
}

/// What one event loop measured in one interval.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    /// One per operation type of all groups.
    pub(crate) operations: Vec<Cell>,
    /// One per statement of all groups.
    pub(crate) statements: Vec<StatementCell>,
}

impl Cells {
    /// Cells for so many operation types and statements, all empty.
    pub(crate) fn new(operations: usize, statements: usize) -> Self {
        Self {
            operations: vec![Cell::default(); operations],
            statements: vec![StatementCell::default(); statements],
        }
    }

    /// Adds what another event loop measured.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, cell) in self.operations.iter_mut().zip(&other.operations) {
            sum.add(cell);
        }
        for (sum, cell) in self.statements.iter_mut().zip(&other.statements) {
            sum.reads += cell.reads;
            sum.writes += cell.writes;
            sum.others += cell.others;
            sum.times.add(&cell.times);
        }
    }

    /// Forgets everything and keeps the histograms' memory.
    pub(crate) fn clear(&mut self) {
        for cell in &mut self.operations {
            cell.response.clear();
            cell.errors = 0;
        }
        for cell in &mut self.statements {
            cell.times.clear();
            (cell.reads, cell.writes, cell.others) = (0, 0, 0);
        }
    }

    /// True when nothing came back.
    pub(crate) fn is_empty(&self) -> bool {
        let no_operation = |cell: &Cell| cell.response.count + cell.errors == 0;
        self.operations.iter().all(no_operation)
            && self.statements.iter().all(|cell| cell.times.count == 0)
    }
}

/// Failures of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Failures {
    /// The first of them.
    pub(crate) first: Failure,
    /// How many attempts failed this way.
    pub(crate) count: u64,
    /// How many of them a retry put right.
    pub(crate) retried: u64,
}

/// Failures by operation (index over all groups) and error number.
pub(crate) type FailureCounts = BTreeMap<(usize, u16), Failures>;

/// What one event loop measured in the interval that is open now, and its failures so far.
#[derive(Debug)]
pub(crate) struct Recorder {
    cells: Cells,
    failures: FailureCounts,
}

impl Recorder {
    /// A recorder into these cells.
    pub(crate) fn new(cells: Cells) -> Self {
        Self {
            cells,
            failures: FailureCounts::new(),
        }
    }

    /// Records a successful operation.
    pub(crate) fn succeed(&mut self, operation: usize, response_ns: u64) {
        self.cells.operations[operation]
            .response
            .record(response_ns);
    }

    /// Records a statement that came back.
    pub(crate) fn statement(&mut self, statement: usize, class: Class, time_ns: u64) {
        let cell = &mut self.cells.statements[statement];
        match class {
            Class::Read => cell.reads += 1,
            Class::Write => cell.writes += 1,
            Class::Other => cell.others += 1,
        }
        cell.times.record(time_ns);
    }

    /// Records an operation that failed for good.
    pub(crate) fn fail(&mut self, operation: usize) {
        self.cells.operations[operation].errors += 1;
    }

    /// Counts one failed attempt; `retried` when a later attempt of the same operation succeeded.
    pub(crate) fn count_failure(&mut self, operation: usize, failure: &Failure, retried: bool) {
        let entry = self
            .failures
            .entry((operation, failure.number))
            .or_insert_with(|| Failures {
                first: failure.clone(),
                count: 0,
                retried: 0,
            });
        entry.count += 1;
        entry.retried += u64::from(retried);
    }

    /// Hands out the open interval's cells and goes on with `fresh` ones.
    pub(crate) fn take(&mut self, fresh: Cells) -> Cells {
        std::mem::replace(&mut self.cells, fresh)
    }

    /// Hands out the failures.
    pub(crate) fn take_failures(&mut self) -> FailureCounts {
        std::mem::take(&mut self.failures)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn durations(values: &[u64]) -> Durations {
        let mut durations = Durations::default();
        for value in values {
            durations.record(*value);
        }
        durations
    }

    proptest! {
        #[test]
        fn merging_durations_loses_nothing(
            left in prop::collection::vec(1u64..1_000_000_000, 0..50),
            right in prop::collection::vec(1u64..1_000_000_000, 0..50),
        ) {
            let mut merged = durations(&left);
            merged.add(&durations(&right));
            let all: Vec<u64> = left.iter().chain(&right).copied().collect();
            prop_assert_eq!(merged.count, all.len() as u64);
            prop_assert_eq!(merged.sum_ns, all.iter().sum::<u64>());
            prop_assert_eq!(merged.min_ns, all.iter().copied().min().unwrap_or(0));
            prop_assert_eq!(merged.max_ns, all.iter().copied().max().unwrap_or(0));
            prop_assert_eq!(merged.histogram.count(), all.len() as u64);
        }
    }

    #[test]
    fn cleared_cells_are_as_new() {
        let mut recorder = Recorder::new(Cells::new(1, 2));
        recorder.succeed(0, 5);
        recorder.fail(0);
        recorder.statement(1, Class::Other, 7);
        let mut cells = recorder.take(Cells::new(1, 2));
        assert!(!cells.is_empty());
        cells.clear();
        assert!(cells.is_empty());
        let (operation, statement) = (&cells.operations[0], &cells.statements[1]);
        assert_eq!((operation.response.max_ns, operation.errors), (0, 0));
        assert_eq!((statement.times.sum_ns, statement.others), (0, 0));
        assert_eq!(operation.response.histogram.count(), 0);
        assert_eq!(statement.times.histogram.count(), 0);
    }
}
