//! The headroom of a server for programs: JSON and CSV.

use serde_json::{Value, json};

use crate::{
    day_bootstrap::CONFIDENCE,
    headroom::Headroom,
    prediction_formats::csv_text,
    resource::SHARE_WITH_RESERVE,
    resource_headroom::{ResourceHeadroom, Times},
};

/// One JSON object with all figures, and a line end. A number without an upper end has `null` there.
pub fn headroom_json(headroom: &Headroom) -> String {
    let resources = headroom.resources.iter().map(resource_json);
    let unknown = headroom.unknown().map(|it| it.name());
    let unknown: Vec<&str> = unknown.collect();
    let object = json!({
        "known": headroom.times.is_some(),
        "times": headroom.times.map(times_json),
        "at_most": !unknown.is_empty(),
        "limiting": headroom.limiting.map(|it| it.name()),
        "resources": resources.collect::<Vec<_>>(),
        "unknown": unknown,
        "share_with_reserve": SHARE_WITH_RESERVE,
        "proportional": "assumed",
        "tested": false,
        "server": headroom.name,
        "formats": headroom.kinds,
        "observed_s": headroom.observed_s,
        "step_s": headroom.step_s,
        "days": headroom.days,
        "intervals": headroom.intervals,
        "notes": headroom.remarks,
    });
    format!("{object:#}\n")
}

fn times_json(times: Times) -> Value {
    json!({
        "estimate": times.estimate,
        "low": times.interval.map(|it| it.0),
        "high": times.interval.map(|it| it.1),
        "confidence": times.interval.map(|_| CONFIDENCE),
    })
}

fn resource_json(resource: &ResourceHeadroom) -> Value {
    let used = resource.used.as_ref().map(|used| {
        json!({
            "peak": used.peak,
            "at": used.at,
            "p95": used.p95,
            "low": used.interval.map(|it| it.low),
            "high": used.interval.map(|it| it.high),
            "origin": "observed",
        })
    });
    let limit = resource.limit.map(|limit| {
        json!({
            "value": limit.value,
            "origin": limit.origin.name(),
            "by": limit.origin.by(),
        })
    });
    json!({
        "resource": resource.resource.name(),
        "unit": resource.resource.unit(),
        "use": used,
        "limit": limit,
        "utilisation": resource.utilisation(),
        "times": resource.times().map(times_json),
        "counted": resource.is_counted(),
    })
}

/// A table with a header line: how many times the load fits on the server, and on each resource by itself.
pub fn headroom_csv(headroom: &Headroom) -> String {
    let mut rows = vec![
        [
            "of",
            "name",
            "unit",
            "peak",
            "at",
            "p95",
            "limit",
            "origin",
            "utilisation",
            "times",
            "low",
            "high",
            "note",
        ]
        .map(str::to_owned),
    ];
    // A day without any use has no upper end.
    let number = |value: Option<f64>| {
        let number = value.filter(|it| it.is_finite());
        number.map(|it| it.to_string()).unwrap_or_default()
    };
    let none = String::new;
    let note = headroom.limiting.map(|limiting| {
        let is_known = headroom.unknown().next().is_none();
        let at_most = if is_known { "" } else { "at most; " };
        format!("{at_most}{} limits", limiting.name())
    });
    let [times, low, high] = columns(headroom.times);
    rows.push([
        "server".to_owned(),
        headroom.name.clone(),
        none(),
        none(),
        none(),
        none(),
        none(),
        none(),
        none(),
        number(times),
        number(low),
        number(high),
        note.unwrap_or_else(|| "not known".to_owned()),
    ]);
    for resource in &headroom.resources {
        let used = resource.used.as_ref();
        let [times, low, high] = columns(resource.times());
        let origin = resource.limit.map(|it| it.origin.name());
        let is_unknown = headroom.unknown().any(|it| it == resource.resource);
        let note = match (is_unknown, resource.is_counted()) {
            (true, _) => "not known",
            (false, true) => "",
            (false, false) => "not counted",
        };
        rows.push([
            "resource".to_owned(),
            resource.resource.name().to_owned(),
            resource.resource.unit().to_owned(),
            number(used.map(|it| it.peak)),
            used.map(|it| it.at.clone()).unwrap_or_default(),
            number(used.map(|it| it.p95)),
            number(resource.limit.map(|it| it.value)),
            origin.unwrap_or_default().to_owned(),
            number(resource.utilisation()),
            number(times),
            number(low),
            number(high),
            note.to_owned(),
        ]);
    }
    csv_text(rows)
}

/// The estimate and the ends of its interval.
fn columns(times: Option<Times>) -> [Option<f64>; 3] {
    let ends = times.and_then(|it| it.interval);
    [
        times.map(|it| it.estimate),
        ends.map(|it| it.0),
        ends.map(|it| it.1),
    ]
}
