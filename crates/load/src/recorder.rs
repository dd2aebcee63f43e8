//! The figures of one event loop, by operation type and interval.

use std::collections::BTreeMap;

use samples::{Durations, Phase, ReturnedRows};

use crate::{
    timeline::DueIn,
    user::{Class, Failure},
};

/// The figures of one operation type in one interval of one event loop.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    /// Response times of the successful ones.
    pub(crate) response: Durations,
    pub(crate) errors: u64,
    /// Returned rows of operations that are single statements.
    pub(crate) returned: ReturnedRows,
}

/// The figures of one statement in one interval of one event loop.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatementCell {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) others: u64,
    pub(crate) times: Durations,
    pub(crate) returned: ReturnedRows,
}

/// The numbers of cells that a load needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellCounts {
    /// Number of operation types of all groups.
    pub(crate) operations: usize,
    /// Number of statements of all groups.
    pub(crate) statements: usize,
    /// True in an open loop, where service times differ from response times.
    pub(crate) open: bool,
}

/// The figures of one event loop in one interval.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    /// One per operation type of all groups.
    pub(crate) operations: Vec<Cell>,
    /// Service times by operation type; empty in a closed loop.
    pub(crate) service: Vec<Durations>,
    /// One per statement of all groups.
    pub(crate) statements: Vec<StatementCell>,
    pub(crate) send_lag: Durations,
    /// The client's own part of the send lag; `None` in a closed loop, where it is all of it.
    pub(crate) client_lag: Option<Durations>,
}

impl Cells {
    pub(crate) fn new(shape: CellCounts) -> Self {
        let service = if shape.open { shape.operations } else { 0 };
        Self {
            operations: vec![Cell::default(); shape.operations],
            service: vec![Durations::default(); service],
            statements: vec![StatementCell::default(); shape.statements],
            send_lag: Durations::default(),
            client_lag: shape.open.then(Durations::default),
        }
    }

    /// Adds the figures of another event loop, or of another interval.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, cell) in self.operations.iter_mut().zip(&other.operations) {
            sum.response.add(&cell.response);
            sum.errors += cell.errors;
            sum.returned += cell.returned;
        }
        for (sum, more) in self.service.iter_mut().zip(&other.service) {
            sum.add(more);
        }
        for (sum, cell) in self.statements.iter_mut().zip(&other.statements) {
            sum.reads += cell.reads;
            sum.writes += cell.writes;
            sum.others += cell.others;
            sum.times.add(&cell.times);
            sum.returned += cell.returned;
        }
        self.send_lag.add(&other.send_lag);
        if let (Some(sum), Some(more)) = (&mut self.client_lag, &other.client_lag) {
            sum.add(more);
        }
    }

    /// Clears all figures and keeps the histograms' memory.
    pub(crate) fn clear(&mut self) {
        for cell in &mut self.operations {
            cell.response.clear();
            cell.errors = 0;
            cell.returned = ReturnedRows::default();
        }
        self.service.iter_mut().for_each(Durations::clear);
        for cell in &mut self.statements {
            cell.times.clear();
            (cell.reads, cell.writes, cell.others) = (0, 0, 0);
            cell.returned = ReturnedRows::default();
        }
        self.send_lag.clear();
        self.client_lag.iter_mut().for_each(Durations::clear);
    }

    fn record_lag(&mut self, lag: Lag) {
        self.send_lag.record(lag.send_ns);
        if let Some(client_lag) = &mut self.client_lag {
            client_lag.record(lag.client_ns);
        }
    }

    /// True when no operation was completed.
    pub(crate) fn is_empty(&self) -> bool {
        let no_operation = |cell: &Cell| cell.response.count + cell.errors == 0;
        self.operations.iter().all(no_operation)
            && self.statements.iter().all(|cell| cell.times.count == 0)
    }

    pub(crate) fn succeeded(&self) -> u64 {
        self.operations.iter().map(|cell| cell.response.count).sum()
    }
}

/// Operations completed in an interval but due in an earlier phase, stage or slice, by that.
pub(crate) type LateCells = BTreeMap<DueIn, Cells>;

#[derive(Debug, Clone)]
pub(crate) struct Failures {
    pub(crate) first: Failure,
    /// Number of attempts that failed this way.
    pub(crate) count: u64,
    /// Number of these that were followed by a successful retry.
    pub(crate) retried: u64,
    /// Number of these whose operations were due in the measurement.
    pub(crate) in_measurement: u64,
    /// Number of these with an unknown outcome of the operation.
    pub(crate) outcome_unknown: u64,
}

impl Failures {
    /// A count of 0; `first` is the first failure.
    pub(crate) fn of(first: Failure) -> Self {
        Self {
            first,
            count: 0,
            retried: 0,
            in_measurement: 0,
            outcome_unknown: 0,
        }
    }

    /// Adds the counts of another event loop.
    pub(crate) fn add(&mut self, more: &Self) {
        self.count += more.count;
        self.retried += more.retried;
        self.in_measurement += more.in_measurement;
        self.outcome_unknown += more.outcome_unknown;
    }
}

/// Failures by operation (index over all groups) and error number; of connections by group and error number.
pub(crate) type FailureCounts = BTreeMap<(usize, u16), Failures>;

pub(crate) fn count(counts: &mut FailureCounts, index: usize, phase: Phase, failure: &Failure) {
    let entry = counts
        .entry((index, failure.number))
        .or_insert_with(|| Failures::of(failure.clone()));
    entry.count += 1;
    entry.in_measurement += u64::from(phase == Phase::Measurement);
    entry.outcome_unknown += u64::from(failure.outcome_unknown);
}

/// Adds the counts of another event loop.
pub(crate) fn add(counts: &mut FailureCounts, more: FailureCounts) {
    for (key, more) in more {
        counts
            .entry(key)
            .and_modify(|known| known.add(&more))
            .or_insert(more);
    }
}

/// Failed attempts at one operation so far, by error number; without any, nothing is allocated.
#[derive(Debug, Clone, Default)]
pub(crate) struct FailedAttempts(Vec<(u16, u64)>);

impl FailedAttempts {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    #[cold]
    pub(crate) fn add(&mut self, number: u16) {
        match self.0.iter_mut().find(|(known, _)| *known == number) {
            Some((_, count)) => *count += 1,
            None => self.0.push((number, 1)),
        }
    }

    /// Records that these attempts were followed by a successful one.
    fn put_right(&self, counts: &mut FailureCounts, index: usize) {
        for (number, count) in &self.0 {
            if let Some(failures) = counts.get_mut(&(index, *number)) {
                failures.retried += count;
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// From the scheduled start, nanoseconds.
    pub(crate) response_ns: u64,
    /// From the send, nanoseconds.
    pub(crate) service_ns: u64,
    pub(crate) lag: Lag,
}

/// How late a request went out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lag {
    /// From the due time of the user to the send, nanoseconds.
    pub(crate) send_ns: u64,
    /// The same from the time at which the user was also free, nanoseconds.
    pub(crate) client_ns: u64,
}

/// The figures of one event loop in the current interval, and its failures so far.
#[derive(Debug)]
pub(crate) struct Recorder {
    shape: CellCounts,
    cells: Cells,
    carried: LateCells,
    failures: FailureCounts,
    /// Lost connections that could not be reopened at once, by group.
    refusals: FailureCounts,
}

impl Recorder {
    pub(crate) fn new(shape: CellCounts) -> Self {
        Self {
            shape,
            cells: Cells::new(shape),
            carried: LateCells::new(),
            failures: FailureCounts::new(),
            refusals: FailureCounts::new(),
        }
    }

    /// The cells for an operation: those of the interval, or those of operations from an earlier phase, stage or slice.
    fn cells(&mut self, carried: Option<DueIn>) -> &mut Cells {
        match carried {
            None => &mut self.cells,
            Some(due_in) => {
                let shape = self.shape;
                self.carried
                    .entry(due_in)
                    .or_insert_with(|| Cells::new(shape))
            }
        }
    }

    pub(crate) fn succeed(&mut self, operation: usize, took: Timing, carried: Option<DueIn>) {
        let cells = self.cells(carried);
        cells.operations[operation]
            .response
            .record(took.response_ns);
        cells.record_lag(took.lag);
        // Empty in a closed loop.
        if let Some(service) = cells.service.get_mut(operation) {
            service.record(took.service_ns);
        }
    }

    /// Records a completed statement.
    pub(crate) fn statement(
        &mut self,
        statement: usize,
        class: Class,
        time_ns: u64,
        carried: Option<DueIn>,
    ) {
        let cell = &mut self.cells(carried).statements[statement];
        match class {
            Class::Read { rows } => {
                cell.reads += 1;
                cell.returned.record(rows);
            }
            Class::Write => cell.writes += 1,
            Class::Other => cell.others += 1,
        }
        cell.times.record(time_ns);
    }

    /// Records the rows that an operation of a single statement returned.
    pub(crate) fn returned(&mut self, operation: usize, rows: u64, carried: Option<DueIn>) {
        self.cells(carried).operations[operation]
            .returned
            .record(rows);
    }

    /// Makes the figures so far a part of the warm-up.
    pub(crate) fn begin_anew(&mut self) {
        for failures in self.failures.values_mut().chain(self.refusals.values_mut()) {
            failures.in_measurement = 0;
        }
    }

    /// Records an operation that failed after all attempts.
    pub(crate) fn fail(&mut self, operation: usize, lag: Lag, carried: Option<DueIn>) {
        let cells = self.cells(carried);
        cells.operations[operation].errors += 1;
        cells.record_lag(lag);
    }

    /// Counts one failed attempt at an operation that was due in `phase`, as it fails.
    #[cold]
    pub(crate) fn count_failure(&mut self, operation: usize, phase: Phase, failure: &Failure) {
        count(&mut self.failures, operation, phase, failure);
    }

    /// Records that an operation succeeded after these attempts.
    #[cold]
    pub(crate) fn put_right(&mut self, operation: usize, failed: &FailedAttempts) {
        failed.put_right(&mut self.failures, operation);
    }

    /// Counts one failed attempt to reopen a lost connection.
    pub(crate) fn count_refusal(&mut self, group: usize, phase: Phase, failure: &Failure) {
        count(&mut self.refusals, group, phase, failure);
    }

    /// Records that a connection was reopened after these attempts.
    pub(crate) fn connected_again(&mut self, group: usize, failed: &FailedAttempts) {
        failed.put_right(&mut self.refusals, group);
    }

    /// Returns the figures of the current interval and continues with `fresh` cells, or new ones.
    pub(crate) fn take(&mut self, fresh: Option<Cells>) -> (Cells, LateCells) {
        let fresh = fresh.unwrap_or_else(|| Cells::new(self.shape));
        let cells = std::mem::replace(&mut self.cells, fresh);
        (cells, std::mem::take(&mut self.carried))
    }

    /// Returns the failures of operations, and those of lost connections.
    pub(crate) fn take_failures(&mut self) -> (FailureCounts, FailureCounts) {
        (
            std::mem::take(&mut self.failures),
            std::mem::take(&mut self.refusals),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Timing = Timing {
        response_ns: 5,
        service_ns: 4,
        lag: Lag {
            send_ns: 1,
            client_ns: 1,
        },
    };

    fn shape(open: bool) -> CellCounts {
        CellCounts {
            operations: 1,
            statements: 2,
            open,
        }
    }

    #[test]
    fn cleared_cells_are_as_new() {
        let mut recorder = Recorder::new(shape(true));
        recorder.succeed(0, TOOK, None);
        let waited = Lag {
            send_ns: 3,
            client_ns: 2,
        };
        recorder.fail(0, waited, None);
        recorder.statement(1, Class::Other, 7, None);
        let (mut cells, carried) = recorder.take(None);
        assert!(!cells.is_empty() && carried.is_empty());
        assert_eq!((cells.service[0].sum_ns, cells.send_lag.sum_ns), (4, 4));
        assert_eq!(cells.client_lag.as_ref().map(|it| it.sum_ns), Some(3));
        cells.clear();
        assert!(cells.is_empty());
        assert_eq!((cells.service[0].count, cells.send_lag.count), (0, 0));
        assert_eq!(cells.client_lag.as_ref().map(|it| it.count), Some(0));
        assert_eq!(
            (cells.operations[0].errors, cells.statements[1].others),
            (0, 0)
        );
    }

    #[test]
    fn what_an_earlier_phase_left_over_is_kept_apart() {
        let mut recorder = Recorder::new(shape(false));
        let warm_up = DueIn::from(Phase::WarmUp);
        recorder.succeed(0, TOOK, Some(warm_up));
        recorder.statement(0, Class::Read { rows: 3 }, 7, Some(warm_up));
        let (cells, carried) = recorder.take(None);
        assert!(cells.is_empty());
        let left_over = &carried[&warm_up];
        assert_eq!(
            (left_over.succeeded(), left_over.statements[0].reads),
            (1, 1)
        );
        assert!(recorder.take(None).1.is_empty());
    }
}
