//! The figures of a load in one interval, measured by its client.

use samples::{Durations, Interval, LateOperations, OperationInterval, StatementInterval};

use crate::timeline::Moment;

/// The figures of the load in one interval.
#[derive(Debug, Clone)]
pub(crate) struct LoadMoment {
    start_s: f64,
    length_s: f64,
    pub(crate) operations_per_s: f64,
    /// Completed statements per second; `None` for operations of one statement.
    pub(crate) statements_per_s: Option<f64>,
    /// Operations that failed after all retries, per second.
    pub(crate) errors_per_s: f64,
    /// Response times of all operations.
    pub(crate) times: Times,
    /// Operations that were due and had not started; `None` in older records without this figure.
    pub(crate) waiting: Option<u64>,
    /// By operation, then by statement.
    pub(crate) operations: Vec<Kind>,
    pub(crate) statements: Vec<Kind>,
}

/// Response times, nanoseconds; `None` without operations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) mean_ns: Option<f64>,
    pub(crate) p50_ns: Option<f64>,
    pub(crate) p95_ns: Option<f64>,
    pub(crate) p99_ns: Option<f64>,
    pub(crate) max_ns: Option<f64>,
}

/// The figures of operations or statements of one kind in one interval.
#[derive(Debug, Clone)]
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) per_s: f64,
    pub(crate) errors_per_s: f64,
    /// Share in the total time of all kinds, 0 to 1.
    pub(crate) share: f64,
    pub(crate) times: Times,
}

impl Moment for LoadMoment {
    fn start_s(&self) -> f64 {
        self.start_s
    }

    fn length_s(&self) -> f64 {
        self.length_s
    }
}

impl LoadMoment {
    /// The figures in a line of a record; `None` for an interval without length. `all` lends its memory: a histogram
    /// for each of many thousand intervals would fragment the heap.
    pub(crate) fn of(interval: &Interval, all: &mut Durations) -> Option<Self> {
        if interval.length_s <= 0.0 {
            return None;
        }
        let per_s = |count: u64| count as f64 / interval.length_s;
        let carried = |carried: &LateOperations| carried.operations.clone();
        let mut operations = interval.operations.clone();
        operations.extend(interval.carried.iter().flat_map(carried));
        let mut statements = interval.statements.clone();
        let carried = |carried: &LateOperations| carried.statements.clone();
        statements.extend(interval.carried.iter().flat_map(carried));
        all.clear();
        operations.iter().for_each(|it| all.add(&it.response()));
        let done: u64 = statements
            .iter()
            .map(|it| it.reads + it.writes + it.others)
            .sum();
        Some(Self {
            start_s: interval.t_s,
            length_s: interval.length_s,
            operations_per_s: per_s(interval.succeeded()),
            statements_per_s: (!statements.is_empty()).then(|| per_s(done)),
            errors_per_s: per_s(operations.iter().map(|it| it.errors).sum()),
            times: Times::of(all),
            waiting: interval.pace.map(|pace| pace.waiting),
            operations: kinds(
                interval.length_s,
                operations.iter().map(operation).collect(),
            ),
            statements: kinds(
                interval.length_s,
                statements.iter().map(statement).collect(),
            ),
        })
    }
}

impl Times {
    fn of(durations: &Durations) -> Self {
        let quantile = |share| Some(durations.histogram.quantile_ns(share)? as f64);
        Self {
            mean_ns: durations.mean_ns(),
            p50_ns: quantile(0.5),
            p95_ns: quantile(0.95),
            p99_ns: quantile(0.99),
            max_ns: (durations.count > 0).then_some(durations.max_ns as f64),
        }
    }
}

/// A name, its errors and its durations.
type NamedDurations = (String, u64, Durations);

fn operation(of: &OperationInterval) -> NamedDurations {
    (of.operation.clone(), of.errors, of.response())
}

fn statement(of: &StatementInterval) -> NamedDurations {
    (of.statement.clone(), 0, of.times())
}

/// The measurements combined by name, whatever their load and phase.
fn kinds(length_s: f64, measured: Vec<NamedDurations>) -> Vec<Kind> {
    let all_ns: u64 = measured.iter().map(|(_, _, times)| times.sum_ns).sum();
    let mut by_name: Vec<NamedDurations> = Vec::new();
    for (name, errors, durations) in measured {
        match by_name.iter_mut().find(|(known, _, _)| *known == name) {
            Some((_, all_errors, all)) => {
                *all_errors += errors;
                all.add(&durations);
            }
            None => by_name.push((name, errors, durations)),
        }
    }
    let kind = |(name, errors, durations): NamedDurations| Kind {
        name,
        per_s: durations.count as f64 / length_s,
        errors_per_s: errors as f64 / length_s,
        share: match all_ns {
            0 => 0.0,
            all => durations.sum_ns as f64 / all as f64,
        },
        times: Times::of(&durations),
    };
    by_name.into_iter().map(kind).collect()
}
