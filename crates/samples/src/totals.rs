//! Totals of a run over its measured phase, by operation and by statement.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    durations::Durations,
    line::{Interval, LateOperations, OperationInterval, Phase, StatementInterval},
    returned_rows::ReturnedRows,
    side_by_side::SideBySide,
    statement_classes::Classes,
};

/// The operation type whose rows are sent in multi-row statements.
const GATHERED: &str = "bulk_insert";

/// Totals of a run over its measured phase.
///
/// An operation belongs to the phase in which it was due. Operations due in the measurement count regardless of when
/// they complete. Throughput counts the operations completed in the measurement, regardless of when they were due.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// By load and operation.
    pub operations: BTreeMap<(String, String), OperationTotals>,
    /// By load and statement; empty where operations are single statements.
    pub statements: BTreeMap<(String, String), StatementTotals>,
    /// Delays from the time at which a user was due to the sending of its request.
    pub send_lag: Durations,
    /// The part of these delays that the client itself took; empty in a closed loop and of older records.
    pub client_lag: Durations,
    /// Names of the loads, including those that only had a warm-up.
    pub loads: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct OperationTotals {
    /// Failed operations due in the measurement.
    pub errors: u64,
    /// Successful operations completed in the measurement.
    pub back: u64,
    /// Response times of the operations due in the measurement.
    pub response: Durations,
    /// Service times of those operations; empty in a closed loop.
    pub service: Durations,
    /// Rows returned by those operations, if they are single statements.
    pub returned: ReturnedRows,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatementTotals {
    /// Number of statements that returned rows, changed rows or did neither.
    pub classes: Classes,
    /// Statements completed in the measurement.
    pub back: u64,
    pub times: Durations,
    pub returned: ReturnedRows,
}

/// The part of a load in which operations were due.
#[derive(Clone, Copy)]
struct Part {
    phase: Phase,
    stage: Option<u32>,
    slice: Option<u32>,
}

impl From<&Interval> for Part {
    fn from(interval: &Interval) -> Self {
        Self {
            phase: interval.phase,
            stage: interval.stage,
            slice: interval.slice,
        }
    }
}

impl From<&LateOperations> for Part {
    fn from(late: &LateOperations) -> Self {
        Self {
            phase: late.due_in,
            stage: late.stage,
            slice: late.slice,
        }
    }
}

impl Totals {
    pub fn of<'i>(intervals: impl IntoIterator<Item = &'i Interval>) -> Self {
        let mut totals = Self::default();
        intervals.into_iter().for_each(|it| totals.add(it));
        totals
    }

    pub fn add(&mut self, interval: &Interval) {
        self.add_part(interval, |part| part.phase == Phase::Measurement);
    }

    /// Adds the operations of one interval that were due in some parts of the load, or completed in them; `is_in` selects
    /// the parts.
    fn add_part(&mut self, interval: &Interval, is_in: impl Fn(Part) -> bool) {
        let measured = is_in(interval.into());
        if measured {
            self.measured_s += interval.length_s;
        }
        self.take(
            &interval.operations,
            &interval.statements,
            measured,
            measured,
        );
        if let (true, Some(lag)) = (measured, &interval.send_lag) {
            self.send_lag.add(lag);
        }
        if let (true, Some(lag)) = (measured, &interval.client_lag) {
            self.client_lag.add(lag);
        }
        for carried in &interval.carried {
            let due = is_in(carried.into());
            self.take(&carried.operations, &carried.statements, due, measured);
            if due {
                self.send_lag.add(&carried.send_lag);
                carried
                    .client_lag
                    .iter()
                    .for_each(|lag| self.client_lag.add(lag));
            }
        }
    }

    /// Turns the measurement so far into warm-up: a new warm-up phase means that it was not steady.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self {
            loads: std::mem::take(&mut self.loads),
            ..Self::default()
        };
    }

    /// Reduces the memory of the distributions.
    fn compact(&mut self) {
        let operations = self.operations.values_mut();
        let operations = operations.flat_map(|it| [&mut it.response, &mut it.service]);
        let statements = self.statements.values_mut().map(|it| &mut it.times);
        let lags = [&mut self.send_lag, &mut self.client_lag];
        for durations in operations.chain(statements).chain(lags) {
            durations.histogram = durations.histogram.compacted();
        }
    }

    /// Response times of all operations.
    pub fn response(&self) -> Durations {
        self.sum(|it| &it.response)
    }

    /// Service times of all operations; empty in a closed loop.
    pub fn service(&self) -> Durations {
        self.sum(|it| &it.service)
    }

    fn sum(&self, of: fn(&OperationTotals) -> &Durations) -> Durations {
        let mut all = Durations::default();
        self.operations.values().for_each(|it| all.add(of(it)));
        all
    }

    /// Statements by class; operations of one statement count as reads, because only reads are recorded without a
    /// class. Rows that wait for their statement are not counted.
    pub fn classes(&self) -> Classes {
        let mut all = Classes::default();
        let are_gathered = self.operations.keys().any(|(_, name)| name == GATHERED);
        if self.statements.is_empty() && !are_gathered {
            all.reads = self.operations.values().map(|it| it.response.count).sum();
        }
        self.statements.values().for_each(|it| all += it.classes);
        all
    }

    /// Adds operations that were due in the measurement, or completed in it, or both.
    fn take(
        &mut self,
        operations: &[OperationInterval],
        statements: &[StatementInterval],
        due: bool,
        back: bool,
    ) {
        for part in operations {
            if !self.loads.contains(&part.load) {
                self.loads.insert(part.load.clone());
            }
        }
        if !due && !back {
            return;
        }
        for part in operations {
            let total = entry(&mut self.operations, &part.load, &part.operation);
            total.back += if back { part.count } else { 0 };
            if due {
                total.errors += part.errors;
                total.response.add(&part.response());
                total.returned += part.returned;
                if let Some(service) = &part.service {
                    total.service.add(service);
                }
            }
        }
        for part in statements {
            let total = entry(&mut self.statements, &part.load, &part.statement);
            let classes = part.classes();
            total.back += if back { classes.all() } else { 0 };
            if due {
                total.classes += classes;
                total.returned += part.returned;
                total.times.add(&part.times());
            }
        }
    }
}

/// Adds an interval to the totals of the stages of which it has operations.
pub(crate) fn add_by_stage(totals: &mut BTreeMap<u32, Totals>, interval: &Interval) {
    let carried = interval.carried.iter().map(|it| it.stage);
    let stages: BTreeSet<u32> = carried.chain([interval.stage]).flatten().collect();
    for number in stages {
        let of_stage = totals.entry(number).or_default();
        of_stage.add_part(interval, |part| part.stage == Some(number));
    }
}

/// Adds an interval to the totals of the batches of slices of which it has operations.
pub(crate) fn add_by_batch(
    totals: &mut BTreeMap<u32, Totals>,
    interval: &Interval,
    turns: &SideBySide,
) {
    let carried = interval.carried.iter().map(|it| it.slice);
    let slices = carried.chain([interval.slice]).flatten();
    let batches: BTreeSet<u32> = slices.map(|slice| turns.batch_of(slice)).collect();
    for number in batches {
        let is_new = !totals.contains_key(&number);
        // Of a batch that is over hardly anything is still to come, and there can be hundreds.
        if let Some(mut earlier) = totals.last_entry().filter(|_| is_new) {
            earlier.get_mut().compact();
        }
        let is_in = |part: Part| part.slice.is_some_and(|it| turns.batch_of(it) == number);
        totals.entry(number).or_default().add_part(interval, is_in);
    }
}

fn entry<'t, T: Default>(
    totals: &'t mut BTreeMap<(String, String), T>,
    load: &str,
    name: &str,
) -> &'t mut T {
    totals
        .entry((load.to_owned(), name.to_owned()))
        .or_default()
}
