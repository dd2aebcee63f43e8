//! What a throughput needs, for programs: JSON and CSV.

use serde_json::{Value, json};
use stats::Interval;

use crate::{
    limit::Limit,
    prediction::CONFIDENCE,
    prediction_formats::{csv_interval, csv_number, csv_text, interval_json},
    requirement::{Need, Requirement, RequirementRow, RowMemory},
    response_limit::AllowedShare,
};

/// One JSON object with all figures, and a line end. A number without an upper end has `null` there.
pub fn requirement_json(requirement: &Requirement) -> String {
    let rows = requirement.rows.iter().map(row_json);
    let left_out = requirement.left_out.iter().map(memory_json);
    let drifts = requirement.drifts.iter();
    let drifts: Vec<Value> = drifts
        .map(|it| json!({ "demand": it.demand.name(), "last_by_first_blocks": it.ratio }))
        .collect();
    let object = json!({
        "known": requirement.is_known(),
        "impossible": requirement.is_impossible(),
        "per_s": requirement.per_s,
        "response_limit": requirement.allowed.as_ref().map(allowed_json),
        "rows": rows.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "not_measured": requirement.not_measured,
        "measured_cpus": requirement.measured_cpus,
        "drift": drifts,
        "subject": requirement.subject,
        "executions": requirement.executions,
        "blocks": requirement.blocks,
        "conditions": requirement.conditions.json(),
        "problems": requirement.conditions.problems(),
        "confidence": CONFIDENCE,
        "suffices_confidence": Requirement::SUFFICES,
        "tested": false,
        "notes": requirement.remarks,
    });
    format!("{object:#}\n")
}

/// The share of the throughput that keeps a limit on the response time.
pub(crate) fn allowed_json(allowed: &AllowedShare) -> Value {
    json!({
        "limit": allowed.limit.in_words(),
        "share_of_throughput": interval_json(&allowed.share),
        "is_at_least": allowed.is_at_least,
        "measured_rate_per_s": allowed.rate_per_s,
        "measured_closed_loop_per_s": allowed.closed_loop_per_s,
        "assumed": "the same limit binds, with the same service time",
    })
}

fn row_json(row: &RequirementRow) -> Value {
    let needs = row
        .needs
        .iter()
        .map(|(limit, need)| need_json(*limit, need));
    json!({
        "memory": row.memory.as_ref().map(memory_json),
        "connections": row.connections,
        "needs": needs.collect::<Vec<_>>(),
    })
}

fn memory_json(memory: &RowMemory) -> Value {
    json!({
        "buffer_pool_bytes": memory.buffer_pool.bytes,
        "buffer_pool_is_assumed": memory.buffer_pool.is_assumed,
        "data_bytes": memory.data_bytes,
        "share": memory.share,
        "interpolated": memory.is_interpolated,
    })
}

/// A need in the terms of both formats.
#[derive(Default)]
struct Described<'n> {
    amount: Option<Interval>,
    at_least_why: Option<&'n str>,
    not_measured: Option<&'n str>,
    impossible: Option<&'n str>,
}

impl<'n> Described<'n> {
    fn of(need: &'n Need) -> Self {
        match need {
            Need::Amount {
                amount,
                at_least_why,
            } => Self {
                amount: Some(*amount),
                at_least_why: at_least_why.as_deref(),
                ..Self::default()
            },
            Need::Nothing => Self::default(),
            Need::NotMeasured(why) => Self {
                not_measured: Some(why),
                ..Self::default()
            },
            Need::Impossible(why) => Self {
                impossible: Some(why),
                ..Self::default()
            },
        }
    }

    /// The end of the interval that suffices; `None` for a lower bound.
    fn suffices(&self, limit: Limit) -> Option<f64> {
        let amount = self.amount.filter(|_| self.at_least_why.is_none())?;
        let end = match limit {
            // The longest time that is short enough.
            Limit::Fsyncs => amount.low,
            _ => amount.high,
        };
        end.is_finite().then_some(end)
    }
}

fn need_json(limit: Limit, need: &Need) -> Value {
    let described = Described::of(need);
    json!({
        "limit": limit.name(),
        "unit": limit.unit(),
        "amount": described.amount.as_ref().map(interval_json),
        "suffices": described.suffices(limit),
        "at_least": described.at_least_why.is_some(),
        "at_least_why": described.at_least_why,
        "not_measured": described.not_measured,
        "impossible": described.impossible,
    })
}

/// A table with a header line: a line for each limit of each row, without rows only the header line, and the problems of
/// the records.
pub fn requirement_csv(requirement: &Requirement) -> String {
    let mut lines = vec![
        [
            "row",
            "buffer_pool_bytes",
            "share",
            "limit",
            "unit",
            "estimate",
            "low",
            "high",
            "suffices",
            "note",
        ]
        .map(str::to_owned),
    ];
    for (at, row) in requirement.rows.iter().enumerate() {
        for (limit, need) in &row.needs {
            let described = Described::of(need);
            let note = described.not_measured.or(described.impossible);
            let note = note.or(described.at_least_why.map(|_| "at least"));
            let memory = row.memory.as_ref();
            let pool = memory.map(|it| it.buffer_pool.bytes.to_string());
            let [estimate, low, high] = csv_interval(described.amount);
            lines.push([
                (at + 1).to_string(),
                pool.unwrap_or_default(),
                csv_number(memory.map(|it| it.share)),
                limit.name().to_owned(),
                limit.unit().to_owned(),
                estimate,
                low,
                high,
                csv_number(described.suffices(*limit)),
                note.unwrap_or_default().to_owned(),
            ]);
        }
    }
    if let Some(problems) = requirement.conditions.problems() {
        let mut line: [String; 10] = Default::default();
        (line[0], line[9]) = ("problems".to_owned(), problems);
        lines.push(line);
    }
    csv_text(lines)
}
