//! Check that docs/run-record.md documents the current format of the run record.

use std::collections::BTreeSet;

use samples::Line;
use serde_json::Value;

/// Errors and omissions of the page.
///
/// A line of a record is in a fenced `json` block, and every field in it must be explained in `backticks` in the
/// same section.
pub(crate) fn untrue(page: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut shown = BTreeSet::new();
    for section in page.split("\n## ") {
        for example in section.split("```json\n").skip(1) {
            let example = example.split("\n```").next().unwrap_or(example);
            match serde_json::from_str::<Line>(example) {
                Ok(line) => {
                    shown.insert(kind(&line));
                    problems.extend(unlike(example, &line));
                    problems.extend(unexplained(section, example));
                }
                Err(error) => problems.push(format!("is no line of a record: {error}: {example}")),
            }
        }
    }
    let missing = KINDS.iter().filter(|kind| !shown.contains(*kind));
    problems.extend(missing.map(|kind| format!("no example of a {kind:?} line")));
    problems
}

const KINDS: &[&str] = &[
    "run",
    "command",
    "server",
    "machine",
    "limit",
    "dataset",
    "disk_load",
    "keys",
    "checked",
    "side_by_side",
    "measured_state",
    "phase",
    "event",
    "load_stage",
    "interval",
    "connects",
    "offered",
    "loaded",
    "telemetry",
    "storage",
    "observer",
    "collected",
    "changed",
    "server_status",
    "server_totals",
    "table_sizes",
    "slow_log",
    "server_observation",
    "error",
    "proxy",
    "deliveries",
    "steadiness",
    "ceiling",
    "end",
];

/// The kind of a line; a new kind does not compile until it is added here, and must then be added to [`KINDS`].
fn kind(line: &Line) -> &'static str {
    match line {
        Line::Run(_) => "run",
        Line::Command(_) => "command",
        Line::Server(_) => "server",
        Line::Machine(_) => "machine",
        Line::Limit(_) => "limit",
        Line::Proxy(_) => "proxy",
        Line::Dataset(_) => "dataset",
        Line::DiskLoad(_) => "disk_load",
        Line::Keys(_) => "keys",
        Line::Checked(_) => "checked",
        Line::SideBySide(_) => "side_by_side",
        Line::MeasuredState(_) => "measured_state",
        Line::Phase(_) => "phase",
        Line::Event(_) => "event",
        Line::LoadStage(_) => "load_stage",
        Line::Interval(_) => "interval",
        Line::Connects(_) => "connects",
        Line::Offered(_) => "offered",
        Line::Telemetry(_) => "telemetry",
        Line::Storage(_) => "storage",
        Line::Observer(_) => "observer",
        Line::Collected(_) => "collected",
        Line::Changed(_) => "changed",
        Line::ServerStatus(_) => "server_status",
        Line::ServerTotals(_) => "server_totals",
        Line::TableSizes(_) => "table_sizes",
        Line::SlowLog(_) => "slow_log",
        Line::ServerObservation(_) => "server_observation",
        Line::Error(_) => "error",
        Line::Loaded(_) => "loaded",
        Line::Deliveries(_) => "deliveries",
        Line::Steadiness(_) => "steadiness",
        Line::Ceiling(_) => "ceiling",
        Line::End(_) => "end",
    }
}

/// A difference of an example from the line that dbdyno writes: a field too many or too few.
fn unlike(example: &str, line: &Line) -> Option<String> {
    let shown: Value = serde_json::from_str(example).expect("it was read as a line");
    let written = serde_json::to_value(line).expect("a line can be written");
    (shown != written).then(|| format!("dbdyno would write {written} and not {example}"))
}

/// Fields of an example that its section does not explain.
fn unexplained(section: &str, example: &str) -> Vec<String> {
    let line: Value = serde_json::from_str(example).expect("it was read as a line");
    let mut fields = BTreeSet::new();
    collect_fields(&line, &mut fields);
    fields
        .into_iter()
        .filter(|field| field != "line" && !section.contains(&format!("`{field}`")))
        .map(|field| format!("field {field:?} is not explained"))
        .collect()
}

/// Maps whose keys users and servers choose: factors, variables, counters.
const CHOSEN: &[&str] = &[
    "combination",
    "combinations",
    "variables",
    "counters",
    "values",
    "processes",
];

/// Adds the names of all fields, except chosen ones.
fn collect_fields(value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                fields.insert(name.clone());
                if !CHOSEN.contains(&name.as_str()) {
                    collect_fields(value, fields);
                }
            }
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_fields(value, fields)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untrue_page_is_found() {
        let explained = "`t_s` `complete` `why`";
        let with = |example: &str, explained: &str| {
            let page = format!("# Page\n\n## `end`\n\n```json\n{example}\n```\n\n{explained}\n");
            let all = untrue(&page);
            let missing = all
                .iter()
                .filter(|problem| problem.starts_with("no example"));
            (all.len() - missing.clone().count(), missing.count())
        };
        let end = r#"{"line":"end","t_s":1.5,"complete":true,"why":"over"}"#;
        assert_eq!(with(end, explained), (0, KINDS.len() - 1));
        assert_eq!(
            with(end, "`t_s` `why`"),
            (1, KINDS.len() - 1),
            "`complete` is not explained"
        );
        let more = r#"{"line":"end","t_s":1.5,"complete":true,"why":"over","load_s":2}"#;
        assert_eq!(
            with(more, "`t_s` `complete` `why` `load_s`"),
            (1, KINDS.len() - 1)
        );
        let broken = r#"{"line":"end","t_s":1.5}"#;
        assert_eq!(with(broken, explained), (1, KINDS.len()));
    }
}
