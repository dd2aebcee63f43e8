//! Fabricated runs with planned events.

use samples::{EventOutcome, PlannedAction, PlannedEvent, Record};

use crate::synthetic::{Plan, WARM_UP_S, interval, record};

/// A planned event of a fabricated run, and what it does to the load.
pub(crate) struct Slump {
    pub(crate) name: &'static str,
    /// Begin, seconds since the start of the measurement.
    pub(crate) at_s: u32,
    pub(crate) took_s: u32,
    /// Throughput until the load recovers, as a share of that before.
    pub(crate) share: f64,
    /// Time from its end to the recovery, seconds.
    pub(crate) back_s: u32,
    pub(crate) outcome: EventOutcome,
}

/// Adds an event to a run without stalls.
pub(crate) fn with_event(mut record: Record, plan: &Plan, slump: &Slump) -> Record {
    let from = WARM_UP_S + slump.at_s;
    let to = from + slump.took_s;
    let clients = f64::from(plan.connections);
    let rate_per_s = plan.limit_per_s * clients / (clients + 3.0);
    for second in from..(to + slump.back_s).min(WARM_UP_S + plan.measured_s) {
        let now_per_s = (rate_per_s * slump.share).max(1.0);
        record.intervals[second as usize] = interval(second, false, now_per_s, clients);
    }
    record.events.push(PlannedEvent {
        number: record.events.len() as u32 + 1,
        name: slump.name.into(),
        action: PlannedAction::Sql,
        what: "ALTER TABLE t FORCE".into(),
        at_s: f64::from(slump.at_s),
        t_s: f64::from(from),
        begin_s: (slump.outcome != EventOutcome::NotBegun).then_some(f64::from(slump.at_s)),
        end_s: (slump.outcome != EventOutcome::NotBegun)
            .then_some(f64::from(slump.at_s + slump.took_s)),
        outcome: slump.outcome,
        message: match slump.outcome {
            EventOutcome::Failed => "error 1846 (0A000): ALGORITHM=INPLACE is not supported".into(),
            _ => String::new(),
        },
        ..PlannedEvent::default()
    });
    record
}

/// A run with the same throughput in each second of the measurement.
pub(crate) fn even(plan: &Plan) -> Record {
    let clients = f64::from(plan.connections);
    // Two executions of a combination are never the same.
    let bias = 1.0 + 0.01 * f64::from(plan.block);
    let rate_per_s = bias * plan.limit_per_s * clients / (clients + 3.0);
    let mut record = record(plan);
    for second in WARM_UP_S..WARM_UP_S + plan.measured_s {
        record.intervals[second as usize] = interval(second, false, rate_per_s, clients);
    }
    record
}
