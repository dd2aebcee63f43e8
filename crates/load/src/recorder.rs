//! What one event loop measured, by operation type and interval.

use std::collections::BTreeMap;

use samples::Histogram;
use workload::Failure;

/// What one operation type did in one interval of one event loop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(crate) count: u64,
    pub(crate) errors: u64,
    pub(crate) sum_ns: u64,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) histogram: Histogram,
}

impl Cell {
    fn succeed(&mut self, response_ns: u64) {
        self.min_ns = if self.count == 0 {
            response_ns
        } else {
            self.min_ns.min(response_ns)
        };
        self.max_ns = self.max_ns.max(response_ns);
        self.count += 1;
        self.sum_ns += response_ns;
        self.histogram.record(response_ns);
    }

    /// Adds what another event loop, or another interval, measured of the same operation type.
    pub(crate) fn add(&mut self, other: &Cell) {
        if other.count > 0 {
            self.min_ns = if self.count == 0 {
                other.min_ns
            } else {
                self.min_ns.min(other.min_ns)
            };
            self.max_ns = self.max_ns.max(other.max_ns);
            self.histogram.add(&other.histogram);
        }
        self.count += other.count;
        self.errors += other.errors;
        self.sum_ns += other.sum_ns;
    }

    /// Forgets everything and keeps the histogram's memory.
    pub(crate) fn clear(&mut self) {
        let mut histogram = std::mem::take(&mut self.histogram);
        histogram.clear();
        *self = Self {
            histogram,
            ..Self::default()
        };
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
    cells: Vec<Cell>,
    failures: FailureCounts,
}

impl Recorder {
    /// A recorder for so many operation types.
    pub(crate) fn new(operations: usize) -> Self {
        Self {
            cells: vec![Cell::default(); operations],
            failures: FailureCounts::new(),
        }
    }

    /// Records a successful operation.
    pub(crate) fn succeed(&mut self, operation: usize, response_ns: u64) {
        self.cells[operation].succeed(response_ns);
    }

    /// Records an operation that failed for good.
    pub(crate) fn fail(&mut self, operation: usize) {
        self.cells[operation].errors += 1;
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
    pub(crate) fn take(&mut self, fresh: Vec<Cell>) -> Vec<Cell> {
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

    fn cell_of(values: &[u64]) -> Cell {
        let mut cell = Cell::default();
        for value in values {
            cell.succeed(*value);
        }
        cell
    }

    proptest! {
        #[test]
        fn merging_cells_loses_nothing(
            left in prop::collection::vec(1u64..1_000_000_000, 0..50),
            right in prop::collection::vec(1u64..1_000_000_000, 0..50),
        ) {
            let mut merged = cell_of(&left);
            merged.add(&cell_of(&right));
            let all: Vec<u64> = left.iter().chain(&right).copied().collect();
            prop_assert_eq!(merged.count, all.len() as u64);
            prop_assert_eq!(merged.sum_ns, all.iter().sum::<u64>());
            prop_assert_eq!(merged.min_ns, all.iter().copied().min().unwrap_or(0));
            prop_assert_eq!(merged.max_ns, all.iter().copied().max().unwrap_or(0));
            prop_assert_eq!(merged.histogram.count(), all.len() as u64);
        }
    }

    #[test]
    fn a_cleared_cell_is_as_new() {
        let mut cell = cell_of(&[5, 7]);
        cell.errors = 3;
        cell.clear();
        assert_eq!(
            (
                cell.count,
                cell.errors,
                cell.sum_ns,
                cell.min_ns,
                cell.max_ns
            ),
            (0, 0, 0, 0, 0)
        );
        assert_eq!(cell.histogram.count(), 0);
    }
}
