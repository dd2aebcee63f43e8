//! The planned events of a run with their costs, for programs.

use figures::{EventCost, Stretch};
use samples::{PlannedEvent, Record};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct EventRow<'r> {
    #[serde(flatten)]
    pub(crate) event: &'r PlannedEvent,
    /// `None` where the load before the event is not known.
    pub(crate) cost: Option<CostRow>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CostRow {
    pub(crate) before: StretchRow,
    pub(crate) during: StretchRow,
    pub(crate) after: Option<StretchRow>,
    pub(crate) lost_operations: f64,
    pub(crate) recovered_after_s: Option<f64>,
    pub(crate) hold_s: f64,
}

/// The load in a part of the measurement.
#[derive(Debug, Serialize)]
pub(crate) struct StretchRow {
    pub(crate) length_s: f64,
    pub(crate) throughput_per_s: f64,
    pub(crate) errors: u64,
    /// `None` where no operation lies beyond it.
    pub(crate) p99_ms: Option<f64>,
}

/// The events of a run, in the order of their times.
pub(crate) fn event_rows(record: &Record) -> Vec<EventRow<'_>> {
    let costs = EventCost::of_record(record).into_iter();
    let rows = record
        .events
        .iter()
        .zip(costs)
        .map(|(event, cost)| EventRow {
            event,
            cost: cost.as_ref().map(CostRow::of),
        });
    rows.collect()
}

impl CostRow {
    fn of(cost: &EventCost) -> Self {
        Self {
            before: StretchRow::of(&cost.before),
            during: StretchRow::of(&cost.during),
            after: cost.after.as_ref().map(StretchRow::of),
            lost_operations: cost.lost_operations,
            recovered_after_s: cost.recovered_after_s,
            hold_s: cost.hold_s,
        }
    }
}

impl StretchRow {
    fn of(stretch: &Stretch) -> Self {
        let p99_ns = stretch.p99.and_then(|it| it.measured_ns());
        Self {
            length_s: stretch.length_s,
            throughput_per_s: stretch.throughput_per_s,
            errors: stretch.errors,
            p99_ms: p99_ns.map(|ns| ns as f64 / 1e6),
        }
    }
}
