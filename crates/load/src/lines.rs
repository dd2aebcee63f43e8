//! Converts the figures to lines of the run record.

use samples::{
    CONNECT, Connects, ErrorCount, Interval, LateOperations, OperationInterval, Pace,
    StatementInterval,
};

use crate::{
    intervals::LoopInterval,
    load::{Group, Load},
    outcome::OperationTotal,
    pace::LoopPace,
    recorder::{CellCounts, Cells, FailureCounts, Failures, LateCells},
    timeline::DueIn,
};

/// The names in the record, in the order of the cells.
#[derive(Debug)]
pub(crate) struct Names {
    groups: Vec<String>,
    /// Group and name of every operation type.
    operations: Vec<(usize, String)>,
    /// Group and name of every statement.
    statements: Vec<(usize, String)>,
    users: u64,
    open: bool,
}

impl Names {
    pub(crate) fn of<U>(load: &Load<U>) -> Self {
        let named = |names: fn(&Group<U>) -> &[String]| {
            let groups = load.groups.iter().enumerate();
            groups
                .flat_map(|(index, group)| {
                    let names = names(group).iter();
                    names.map(move |name| (index, name.clone()))
                })
                .collect::<Vec<_>>()
        };
        Self {
            groups: load.groups.iter().map(|group| group.name.clone()).collect(),
            operations: named(|group| &group.operations),
            statements: named(|group| &group.statements),
            users: load.users().into(),
            open: load.arrivals.rate_per_s().is_some(),
        }
    }

    /// The cells that the load needs.
    pub(crate) fn shape(&self) -> CellCounts {
        CellCounts {
            operations: self.operations.len(),
            statements: self.statements.len(),
            open: self.open,
        }
    }

    /// Number of users of all groups.
    pub(crate) fn users(&self) -> u64 {
        self.users
    }

    /// Connection times of every group, before the first connection.
    pub(crate) fn connects(&self) -> Vec<Connects> {
        let none = |load: &String| Connects {
            load: load.clone(),
            count: 0,
            errors: 0,
            min_ns: 0,
            max_ns: 0,
            sum_ns: 0,
        };
        self.groups.iter().map(none).collect()
    }

    /// An interval as a line; `users` are those that were active in it.
    pub(crate) fn interval(
        &self,
        t_s: f64,
        part: DueIn,
        users: u64,
        measured: LoopInterval,
    ) -> Interval {
        let length_s = (measured.to - measured.from).as_secs_f64();
        let cells = measured.cells;
        Interval {
            t_s,
            length_s,
            phase: part.phase,
            stage: part.stage,
            slice: part.slice,
            operations: self.operations(&cells),
            statements: self.statements(&cells),
            send_lag: Some(cells.send_lag),
            client_lag: cells.client_lag,
            pace: Some(pace(measured.pace, length_s, users)),
            carried: self.carried(measured.carried),
        }
    }

    fn carried(&self, carried: LateCells) -> Vec<LateOperations> {
        let carried = carried.into_iter().map(|(due_in, cells)| LateOperations {
            due_in: due_in.phase,
            stage: due_in.stage,
            slice: due_in.slice,
            operations: self.operations(&cells),
            statements: self.statements(&cells),
            send_lag: cells.send_lag,
            client_lag: cells.client_lag,
        });
        carried.collect()
    }

    fn operations(&self, cells: &Cells) -> Vec<OperationInterval> {
        let mut operations: Vec<_> = self
            .operations
            .iter()
            .zip(&cells.operations)
            .enumerate()
            .filter(|(_, (_, cell))| cell.response.count + cell.errors > 0)
            .map(|(index, ((group, operation), cell))| OperationInterval {
                load: self.groups[*group].clone(),
                operation: operation.clone(),
                count: cell.response.count,
                errors: cell.errors,
                sum_ns: cell.response.sum_ns,
                min_ns: cell.response.min_ns,
                max_ns: cell.response.max_ns,
                histogram: cell.response.histogram.clone(),
                service: cells.service.get(index).cloned(),
                returned: cell.returned,
            })
            .collect();
        operations.sort_by(|a, b| (&a.load, &a.operation).cmp(&(&b.load, &b.operation)));
        operations
    }

    fn statements(&self, cells: &Cells) -> Vec<StatementInterval> {
        let mut statements: Vec<_> = self
            .statements
            .iter()
            .zip(&cells.statements)
            .filter(|(_, cell)| cell.times.count > 0)
            .map(|((group, statement), cell)| StatementInterval {
                load: self.groups[*group].clone(),
                statement: statement.clone(),
                reads: cell.reads,
                writes: cell.writes,
                others: cell.others,
                sum_ns: cell.times.sum_ns,
                min_ns: cell.times.min_ns,
                max_ns: cell.times.max_ns,
                histogram: cell.times.histogram.clone(),
                returned: cell.returned,
            })
            .collect();
        statements.sort_by(|a, b| (&a.load, &a.statement).cmp(&(&b.load, &b.statement)));
        statements
    }

    pub(crate) fn totals(&self, cells: &Cells) -> Vec<OperationTotal> {
        let totals = self.operations.iter().zip(&cells.operations);
        let totals = totals.map(|((group, operation), cell)| OperationTotal {
            load: self.groups[*group].clone(),
            operation: operation.clone(),
            count: cell.response.count,
            errors: cell.errors,
            min_ns: cell.response.min_ns,
            max_ns: cell.response.max_ns,
            sum_ns: cell.response.sum_ns,
            histogram: cell.response.histogram.clone(),
        });
        totals.collect()
    }

    /// Failed attempts by group, operation and error number, followed by those of connections.
    pub(crate) fn errors(
        &self,
        failures: &FailureCounts,
        refusals: &FailureCounts,
    ) -> Vec<ErrorCount> {
        let of_operations = failures.iter().map(|((operation, _), failures)| {
            let (group, operation) = &self.operations[*operation];
            error_count(&self.groups[*group], operation, failures)
        });
        let of_connections = refusals
            .iter()
            .map(|((group, _), refused)| error_count(&self.groups[*group], CONNECT, refused));
        of_operations.chain(of_connections).collect()
    }
}

/// The pace of the event loops with this number of active users.
pub(crate) fn pace(pace: LoopPace, length_s: f64, users: u64) -> Pace {
    Pace {
        due: pace.due,
        waiting: pace.waiting,
        waiting_max: pace.waiting_max,
        // Just after a stage with more users, some of them still end an operation.
        busy: (pace.in_flight / users.max(1) as f64).min(1.0),
        loop_cpu: (pace.cpu.as_secs_f64() / length_s.max(1e-9)).min(1.0),
        loop_delay_max_ns: pace.delay.as_nanos() as u64,
    }
}

fn error_count(load: &str, operation: &str, failures: &Failures) -> ErrorCount {
    ErrorCount {
        load: load.to_owned(),
        operation: operation.to_owned(),
        number: failures.first.number,
        sqlstate: failures.first.sqlstate.clone(),
        message: failures.first.message.clone(),
        count: failures.count,
        retried: failures.retried,
        in_measurement: failures.in_measurement,
        outcome_unknown: failures.outcome_unknown,
    }
}
