//! The course of each run over time, as the data that the page's script draws.

mod machine;
mod server;
mod tables;

use maud::{Markup, PreEscaped, html};
use samples::{Histogram, Host, Interval, Phase, Record, Telemetry};
use serde::{Serialize, Serializer};

use crate::{
    grid::{Grid, in_words},
    limit::limit_in_words,
    observers,
    results::Results,
};

/// The course of one run.
pub(super) struct Course<'a> {
    /// `run 7: rows 1x, mix 1:0, 16 connections`, with `(incomplete)` where it is.
    pub(super) title: String,
    /// First and last second of the measurement.
    pub(super) measured: Option<(f64, f64)>,
    /// Start of each interval, seconds, and operations per second in it.
    pub(super) throughput: Vec<(f64, f64)>,
    /// Warm-up and measurement. The drain is left out: in it only the slowest operations end, and none starts.
    intervals: Vec<&'a Interval>,
}

impl<'a> Course<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let combination: Vec<(String, String)> = record
            .header
            .combination
            .iter()
            .map(|(factor, level)| (factor.clone(), level.clone()))
            .collect();
        let mut title = format!("run {}", record.header.run);
        if !combination.is_empty() {
            title.push_str(&format!(": {}", in_words(&combination)));
        }
        if !record.is_complete() {
            title.push_str(" (incomplete)");
        }
        let intervals: Vec<&Interval> = record
            .intervals
            .iter()
            .filter(|interval| interval.phase != Phase::Drain)
            .collect();
        Self {
            title,
            measured: measured(record),
            throughput: intervals
                .iter()
                .map(|interval| (interval.t_s, per_s(interval)))
                .collect(),
            intervals,
        }
    }

    /// True for a sample that belongs to warm-up or measurement.
    fn holds(&self, t_s: f64, length_s: f64) -> bool {
        let middle_s = t_s + length_s / 2.0;
        self.measured.is_none_or(|(_, end_s)| middle_s <= end_s)
    }
}

fn measured(record: &Record) -> Option<(f64, f64)> {
    let mut intervals = record
        .intervals
        .iter()
        .filter(|i| i.phase == Phase::Measurement);
    let first = intervals.next()?;
    let last = intervals.next_back().unwrap_or(first);
    Some((first.t_s, last.t_s + last.length_s))
}

fn per_s(interval: &Interval) -> f64 {
    if interval.length_s > 0.0 {
        interval.succeeded() as f64 / interval.length_s
    } else {
        0.0
    }
}

/// A column of numbers: four significant digits, no `.0`, `null` for a gap. That keeps 100 runs under 3 MB.
struct Column(Vec<Option<f64>>);

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|value| value.map(compact)))
    }
}

fn compact(value: f64) -> serde_json::Number {
    let rounded = if value == 0.0 || !value.is_finite() {
        0.0
    } else {
        let scale = 10f64.powf(3.0 - value.abs().log10().floor());
        (value * scale).round() / scale
    };
    // A whole number is shorter than a float; beyond 2^53 floats are whole anyway.
    let whole = rounded as i64;
    if whole as f64 == rounded {
        return whole.into();
    }
    serde_json::Number::from_f64(rounded).unwrap_or_else(|| 0.into())
}

/// One run as the script reads it.
#[derive(Serialize)]
struct Run {
    title: String,
    note: String,
    /// Start of the measurement, seconds; what lies before is shaded.
    measured_from: Option<f64>,
    charts: Vec<ChartData>,
    /// What the server added up over the run.
    tables: Vec<TableData>,
}

/// A table as the script writes it, the texts as they are shown.
#[derive(Serialize)]
struct TableData {
    title: &'static str,
    /// What is to be known of it; empty for nothing.
    note: String,
    head: Vec<&'static str>,
    /// The first cell of a row names it.
    rows: Vec<Vec<String>>,
}

/// Charts of one run share the time axis; each has its own instants, for load and telemetry tick apart.
#[derive(Serialize)]
struct ChartData {
    title: &'static str,
    unit: &'static str,
    /// True where the lines lie orders of magnitude apart.
    logarithmic: bool,
    t: Column,
    lines: Vec<LineData>,
}

#[derive(Serialize)]
struct LineData {
    name: &'static str,
    /// Number of the colour in the style sheet.
    style: usize,
    values: Column,
}

/// The data of all runs in a script element that a browser does not run.
pub(super) fn data(results: &Results, grid: &Grid) -> Markup {
    let runs: Vec<Run> = results.runs.iter().map(run).collect();
    let chosen = first_choice(results, grid);
    let json = serde_json::json!({ "chosen": chosen, "runs": runs }).to_string();
    html! { script type="application/json" id="run-data" { (PreEscaped(script_safe(&json))) } }
}

/// The run that is shown first: the complete one with the highest throughput.
fn first_choice(results: &Results, grid: &Grid) -> usize {
    let complete = results
        .runs
        .iter()
        .zip(&grid.summaries)
        .enumerate()
        .filter(|(_, (record, _))| record.is_complete());
    let measured =
        complete.filter_map(|(index, (_, summary))| Some((index, summary.throughput_per_s?)));
    measured
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(index, _)| index)
}

/// JSON that cannot end its script element, whatever strings are in it: `<` occurs inside strings only.
fn script_safe(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn run(record: &Record) -> Run {
    let course = Course::of(record);
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
    // Where the server's machine is another one, the client's is shown as well.
    let client = Some(Host::Client).filter(|client| host != Some(*client));
    let of_client = telemetry_of(client);
    let mut note = String::new();
    if let Some(why) = record.incomplete_why() {
        note = format!("This run is incomplete: {why}. ");
    }
    if matches!(host, None | Some(Host::Client)) {
        note.push_str("Server host not observed. ");
    } else if let Some(lost) = observers::lost(record) {
        note.push_str(&format!("Server host {}. ", observers::lost_in_words(lost)));
    }
    if let Some(limit) = limit_in_words(record) {
        note.push_str(&format!("What limited it: {limit}. "));
    }
    let server = server::Course::of(record, &course);
    let charts = [
        Some(throughput(&course)),
        Some(latency(&course)),
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
    Run {
        title: course.title,
        note,
        measured_from: course.measured.map(|(from_s, _)| from_s),
        charts: charts.into_iter().flatten().collect(),
        tables: tables::of(record),
    }
}

fn throughput(course: &Course) -> ChartData {
    ChartData {
        title: "Throughput",
        unit: "operations/s",
        logarithmic: false,
        t: Column(
            course
                .throughput
                .iter()
                .map(|(t_s, _)| Some(*t_s))
                .collect(),
        ),
        lines: vec![LineData {
            name: "throughput",
            style: 0,
            values: Column(
                course
                    .throughput
                    .iter()
                    .map(|(_, per_s)| Some(*per_s))
                    .collect(),
            ),
        }],
    }
}

fn latency(course: &Course) -> ChartData {
    const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];
    let mut columns: [Vec<Option<f64>>; 3] = Default::default();
    let mut all = Histogram::new();
    for interval in &course.intervals {
        all.clear();
        for operation in &interval.operations {
            all.add(&operation.histogram);
        }
        for (column, (_, quantile)) in columns.iter_mut().zip(QUANTILES) {
            let ns = all.quantile_ns(quantile).filter(|ns| *ns > 0);
            column.push(ns.map(|ns| ns as f64 / 1e6));
        }
    }
    let lines = QUANTILES.into_iter().zip(columns).enumerate();
    ChartData {
        title: "Response time",
        unit: "ms",
        logarithmic: true,
        t: Column(
            course
                .intervals
                .iter()
                .map(|interval| Some(interval.t_s))
                .collect(),
        ),
        lines: lines
            .map(|(style, ((name, _), values))| LineData {
                name,
                style,
                values: Column(values),
            })
            .collect(),
    }
}

/// Leaves out what was never observed.
fn lines_with_values<const N: usize>(
    lines: [(&'static str, usize, Vec<Option<f64>>); N],
) -> Vec<LineData> {
    lines
        .into_iter()
        .filter(|(_, _, values)| values.iter().any(Option::is_some))
        .map(|(name, style, values)| LineData {
            name,
            style,
            values: Column(values),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A record of these lines after its first.
    pub(super) fn record(lines: &[&str]) -> Record {
        let run = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"e","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;
        let text = [&[run], lines].concat().join("\n");
        Record::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn numbers_are_short() {
        let column = Column(vec![
            Some(12_345.678),
            Some(0.012_345),
            Some(3.0),
            Some(0.0),
            None,
            Some(f64::NAN),
        ]);
        let text = serde_json::to_string(&column).unwrap();
        assert_eq!(text, "[12350,0.01235,3,0,null,0]");
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
