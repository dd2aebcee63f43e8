//! The time series of each run, as the data for the page's script.

mod data;
mod load;
mod machine;
mod run_series;
mod server;
mod tables;

use maud::{Markup, PreEscaped, html};
use samples::{Host, Record, Telemetry};
use serde::Serialize;
use verdict::run_stalls;

use data::{ChartData, points_at_most, values_per_point};
pub(super) use load::stages_in_words;
pub(super) use run_series::RunSeries;

use crate::{
    grid::Grid,
    results::Results,
    sentences::{answer::highest_of_all, events, limit::limit_in_words, observers},
};

/// The data of one run for the script.
#[derive(Serialize)]
struct Run {
    title: String,
    note: String,
    /// Start of the measurement, seconds; the time before it is shaded.
    measured_from: Option<f64>,
    /// Start and end of each marked stall, seconds.
    stalls: Vec<(f64, f64)>,
    /// Start and end of each planned event, seconds.
    events: Vec<(f64, f64)>,
    /// Start of each stage of the load, seconds.
    stages: Vec<f64>,
    /// The explanation of the marks.
    marks: String,
    charts: Vec<ChartData>,
    /// The server's totals over the run.
    tables: Vec<tables::TableData>,
}

/// The data of all runs in a script element that a browser does not execute.
pub(super) fn data(results: &Results, grid: &Grid) -> Markup {
    let runs: Vec<Run> = results
        .runs
        .iter()
        .map(|record| run(record, points_at_most(results.runs.len())))
        .collect();
    let chosen = results.run_of(first_choice(grid));
    let json = serde_json::json!({ "chosen": chosen, "runs": runs }).to_string();
    html! { script type="application/json" id="run-data" { (PreEscaped(script_safe(&json))) } }
}

/// The run or stage that is shown first: a typical one of the fastest combination, with the median throughput of its runs.
fn first_choice(grid: &Grid) -> usize {
    let Some((_, peak)) = highest_of_all(grid) else {
        return 0;
    };
    let runs = peak
        .cell
        .runs
        .iter()
        .map(|&run| (run, &grid.executions[run]));
    let complete = runs.filter(|(_, it)| it.record.is_complete());
    let measured = complete.filter_map(|(run, it)| Some((run, it.figures().throughput_per_s?)));
    let mut measured: Vec<(usize, f64)> = measured.collect();
    measured.sort_by(|a, b| a.1.total_cmp(&b.1));
    let middle = measured.len().saturating_sub(1) / 2;
    measured.get(middle).map_or(0, |(run, _)| *run)
}

/// JSON that cannot end its script element, whatever its strings contain: `<` occurs only inside strings.
fn script_safe(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn run(record: &Record, points: usize) -> Run {
    let course = RunSeries::of(record);
    let host = [Host::Server, Host::Both, Host::Client]
        .into_iter()
        .find(|host| record.telemetry.iter().any(|sample| sample.host == *host));
    let telemetry_of = |host: Option<Host>| -> Vec<&Telemetry> {
        let samples = record.telemetry.iter();
        let is_shown = |sample: &&Telemetry| {
            Some(sample.host) == host && course.holds(sample.t_s, sample.length_s)
        };
        samples.filter(is_shown).collect()
    };
    let telemetry = telemetry_of(host);
    // If the server's machine is another one, the client's is shown as well.
    let client = Some(Host::Client).filter(|client| host != Some(*client));
    let of_client = telemetry_of(client);
    let mut note = String::new();
    if let Some(why) = record.incomplete_why() {
        note = format!("This run is incomplete: {why}. ");
    }
    if matches!(host, None | Some(Host::Client)) {
        note.push_str("Server host not observed. ");
    } else if let Some(lost) = observers::observer_loss(record) {
        note.push_str(&format!("Server host {}. ", observers::lost_in_words(lost)));
    }
    if let Some(limit) = limit_in_words(record) {
        note.push_str(&format!("Limit: {limit}. "));
    }
    if record.side_by_side.is_some() {
        note.push_str(
            "After the warm-up, the charts show only the slices of this run; between them, the other loads had their turns. ",
        );
    }
    let per_point = values_per_point(course.intervals.len(), points);
    if per_point > 1 {
        note.push_str(&format!(
            "Each point represents {per_point} values: means, percentiles of all operations in them, and the lowest and the \
             highest throughput as a band. "
        ));
    }
    let stalls = match run_stalls(record) {
        Some(stalls) => load::stalls(&course, stalls.median_per_s),
        None => Vec::new(),
    };
    let server = server::ServerSeries::of(record, &course);
    let charts = [
        Some(load::throughput(&course, points)),
        Some(load::latency(&course, points)),
        machine::cpu(&telemetry, host),
        machine::pressure(&telemetry, host),
        machine::disk(&telemetry),
        machine::disk_waits(&telemetry),
        machine::cpu(&of_client, client),
        machine::pressure(&of_client, client),
        server.threads(),
        server.pages(),
        server.redo_log(),
        server.history(),
    ];
    let stages = stages_in_words(record).map_or_else(String::new, |stages| {
        format!("A line marks the start of each stage: {stages}. ")
    });
    Run {
        title: course.title,
        note,
        measured_from: course.measured.map(|(from_s, _)| from_s),
        marks: load::marks_in_words(&stalls) + &events::marks_in_words(record) + &stages,
        stalls,
        events: load::events(record),
        stages: record.stages.iter().map(|stage| stage.t_s).collect(),
        charts: charts
            .into_iter()
            .flatten()
            .map(|chart| chart.thinned(points))
            .collect(),
        tables: tables::of(record),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A record with these lines after its header line.
    pub(super) fn record(lines: &[&str]) -> Record {
        let run = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"e","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;
        let text = [&[run], lines].concat().join("\n");
        Record::read(text.as_bytes()).unwrap()
    }

    proptest! {
        #[test]
        fn no_string_ends_the_script(text in ".{0,40}", tag in "(</script>|<!--|<script>|]]>|&lt;)?") {
            let value = serde_json::json!({ "title": format!("{text}{tag}{text}") });
            let safe = script_safe(&value.to_string());
            prop_assert!(!safe.contains('<') && !safe.contains('>'));
            let back: serde_json::Value = serde_json::from_str(&safe).unwrap();
            prop_assert_eq!(back, value);
        }
    }
}
