//! Tests of all formats for programs and for comments: golden files, and that the formats agree.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use figures::RunFigures;
use parquet::file::reader::{FileReader, SerializedFileReader};
use report::{Detail, Results, csv, json, markdown, openmetrics};
use samples::{Histogram, Host, Interval, Phase};
use serde_json::Value;

use crate::synthetic;

/// Two mixes at two numbers of connections, three executions each, with the question whether the mix matters.
fn small() -> Results {
    let mut results = synthetic::asked();
    let is_kept = |level: &str| level == "1" || level == "8";
    results
        .runs
        .retain(|record| is_kept(&record.header.combination["connections"]));
    results.factors[1].levels.retain(|level| is_kept(level));
    results.planned_runs = results.runs.len() as u32;
    results
}

/// The same with its last run interrupted.
fn interrupted() -> Results {
    let mut results = small();
    let last = results.runs.pop().unwrap();
    let why = "the server was killed (signal 9)";
    results.runs.push(synthetic::interrupted(last, 5, why));
    results
}

#[test]
fn as_json() {
    let mut results = interrupted();
    let is_told =
        |header: &samples::RunHeader| header.block == 3 && header.combination["connections"] == "8";
    results.runs.retain(|record| is_told(&record.header));
    insta::assert_snapshot!(json(&results, Detail::Runs));
}

#[test]
fn as_csv() {
    let mut results = small();
    results.runs.truncate(1);
    insta::assert_snapshot!(csv(&results, Detail::Runs));
}

#[test]
fn as_csv_by_second() {
    let mut results = small();
    results.runs.truncate(1);
    insta::assert_snapshot!(csv(&results, Detail::Seconds));
}

#[test]
fn as_markdown() {
    insta::assert_snapshot!(markdown(&interrupted()));
}

#[test]
fn as_openmetrics() {
    let mut results = small();
    results.runs.truncate(6);
    insta::assert_snapshot!(openmetrics(&results));
}

/// The rows of a Parquet file as text, and its schema.
fn read_parquet(bytes: &[u8]) -> (String, Vec<String>) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let mut schema = Vec::new();
    let described = reader.metadata().file_metadata().schema();
    parquet::schema::printer::print_schema(&mut schema, described);
    let rows = reader.into_iter().map(|row| row.unwrap().to_string());
    (String::from_utf8(schema).unwrap(), rows.collect())
}

#[test]
fn as_parquet() {
    let mut results = small();
    results.runs.truncate(1);
    for (name, detail) in [
        ("parquet_by_figure", Detail::Runs),
        ("parquet_by_second", Detail::Seconds),
    ] {
        let bytes = report::parquet(&results, detail).unwrap();
        let (schema, rows) = read_parquet(&bytes);
        insta::assert_snapshot!(name, format!("{schema}\n{}", rows.join("\n")));
    }
}

#[test]
fn parquet_holds_as_many_rows_as_csv() {
    let results = synthetic::quickstart(Host::Both);
    for detail in [Detail::Runs, Detail::Seconds] {
        let (_, rows) = read_parquet(&report::parquet(&results, detail).unwrap());
        assert_eq!(rows.len(), csv(&results, detail).lines().count() - 1);
    }
}

#[test]
fn seconds_stand_in_json_only_when_asked_for() {
    let results = small();
    let document = |detail| -> Value { serde_json::from_str(&json(&results, detail)).unwrap() };
    assert!(document(Detail::Runs)["runs"][0].get("seconds").is_none());
    let seconds = &document(Detail::Seconds)["runs"][0]["seconds"];
    let rows = seconds.as_array().unwrap().len();
    assert_eq!(rows, results.runs[0].intervals.len());
}

#[test]
fn the_audit_stands_in_json_as_dbdyno_audit_writes_it() {
    let mut results = small();
    let measured = results.runs.iter().map(|record| audit::AuditedRun {
        record,
        limit: report::limit_of(record),
        side: None,
    });
    let audit = audit::audit(&audit::Subject {
        runs: measured.collect(),
        declared: audit::Preregistration::default(),
        kept: audit::BesideRecords::default(),
        ..audit::Subject::default()
    });
    let alone = report::audit_json(&results.name, &audit, &report::AuditFilter::default());
    results.audit = Some(audit);
    let whole: Value = serde_json::from_str(&json(&results, Detail::Runs)).unwrap();
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(whole["audit"], alone);
    assert_eq!(alone["format"], 1);
    let text = openmetrics(&results);
    check_openmetrics(&text);
    let (machine, meaning) = (&alone["machine"], alone["meaning"].as_str().unwrap());
    let state = format!("dbdyno_audit_machine{{experiment=\"quickstart\",state={machine}}} 1\n");
    assert!(text.contains(&state), "{text}");
    match alone["grade"].as_str() {
        Some(letter) => assert!(
            text.contains(&format!("grade=\"{letter}\"}} 1\n")),
            "{text}"
        ),
        None => assert!(!text.contains("dbdyno_audit_grade{"), "{text}"),
    }
    assert!(markdown(&results).contains(&format!("**Audit: {meaning}**")));
}

#[test]
fn csv_has_the_figures_of_json() {
    let results = interrupted();
    let document: Value = serde_json::from_str(&json(&results, Detail::Runs)).unwrap();
    let mut of_json = BTreeMap::new();
    for run in document["runs"].as_array().unwrap() {
        for value in run["metrics"].as_array().unwrap() {
            let key = (run["run"].to_string(), value["measure"].as_str().unwrap());
            of_json.insert(key, value["value"].as_f64().unwrap());
        }
    }
    let text = csv(&results, Detail::Runs);
    let rows = text.lines().skip(1).map(|line| line.split(',').collect());
    let rows: Vec<Vec<&str>> = rows.collect();
    let whole = rows.iter().filter(|row| row[7].is_empty());
    let of_csv: BTreeMap<_, _> = whole
        .map(|row| ((row[1].to_owned(), row[10]), row[12].parse().unwrap()))
        .collect();
    assert!(of_csv.keys().eq(of_json.keys()));
    for (key, value) in &of_json {
        let of_csv: f64 = of_csv[key];
        // serde_json reads a number exactly except for its last digit.
        assert!((of_csv - value).abs() <= value.abs() * 1e-12, "{key:?}");
    }
}

#[test]
fn openmetrics_obeys_its_grammar() {
    let mut hostile = small();
    hostile.name = "a \"quoted\" \\ name\nand a line".to_owned();
    for record in &mut hostile.runs {
        record.header.experiment = hostile.name.clone();
        let level = record.header.combination.remove("mix").unwrap();
        record
            .header
            .combination
            .insert("my mix-é".to_owned(), level);
    }
    hostile.factors[0].name = "my mix-é".to_owned();
    hostile.verdict = None;
    for results in [
        small(),
        interrupted(),
        hostile,
        synthetic::two_hosts(),
        synthetic::sizing(4, 140),
    ] {
        check_openmetrics(&openmetrics(&results));
    }
    let nothing = Results {
        runs: Vec::new(),
        ..small()
    };
    assert_eq!(openmetrics(&nothing), "# EOF\n");
}

#[test]
fn figures_of_now_stand_behind_those_of_complete_runs() {
    let sample = |quantile: &str, value| {
        let labels = [("server", "a \"server\"\n\\"), ("of_quantile", quantile)];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        (labels.to_vec(), value)
    };
    let now = [exposition::Metric {
        kind: exposition::MetricKind::Gauge,
        name: "now_response".to_owned(),
        unit: "seconds",
        help: "Response time.".to_owned(),
        samples: vec![sample("0.5", 0.001), sample("0.95", f64::NAN)],
    }];
    let finished = openmetrics(&small());
    for before in [finished.as_str(), ""] {
        let text = exposition::extended(before, &now);
        check_openmetrics(&text);
        assert!(text.starts_with(before.trim_end_matches("# EOF\n")));
        assert_eq!(text.matches("dbdyno_now_response_seconds{").count(), 1);
    }
    assert_eq!(exposition::extended(&finished, &[]), finished);
}

/// Source: the OpenMetrics specification 1.0, section "Text format": ABNF and the rules beside it.
#[track_caller]
fn check_openmetrics(text: &str) {
    let body = text.strip_suffix("# EOF\n").expect("ends with # EOF");
    assert!(!body.contains("# EOF"));
    let mut family = (String::new(), String::new());
    let mut families = BTreeSet::new();
    let mut samples = BTreeSet::new();
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(is_name(name), "{line}");
            assert!(["gauge", "counter", "summary"].contains(&kind), "{line}");
            assert!(families.insert(name.to_owned()), "{name} stands twice");
            family = (name.to_owned(), kind.to_owned());
        } else if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').unwrap();
            assert_eq!(name, family.0, "{line}");
            assert!(name.ends_with(&format!("_{unit}")), "{line}");
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with(&format!("{} ", family.0)), "{line}");
        } else {
            let labels = check_sample(line, &family);
            assert!(samples.insert(labels), "a sample stands twice: {line}");
        }
    }
}

/// Checks a line with a sample; returns its name and labels.
#[track_caller]
fn check_sample(line: &str, (name, kind): &(String, String)) -> String {
    let (named, value) = line.rsplit_once(' ').unwrap();
    let value: f64 = value.parse().unwrap();
    assert!(value.is_finite(), "{line}");
    let (full, labels) = named.split_once('{').unwrap();
    let labels = parse_labels(labels.strip_suffix('}').unwrap());
    let names: BTreeSet<&String> = labels.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), labels.len(), "a label stands twice: {line}");
    let suffix = full.strip_prefix(name.as_str()).expect("of its family");
    let quantile = labels.iter().find(|(name, _)| name == "quantile");
    match (kind.as_str(), suffix) {
        ("gauge", "") => assert!(quantile.is_none()),
        ("counter", "_total") => assert!(value >= 0.0),
        ("summary", "_count" | "_sum") => assert!(value >= 0.0 && quantile.is_none()),
        ("summary", "") => {
            let quantile: f64 = quantile.unwrap().1.parse().unwrap();
            assert!((0.0..=1.0).contains(&quantile), "{line}");
        }
        other => panic!("{other:?} in {line}"),
    }
    named.to_owned()
}

/// The labels of `a="x",b="y\"z"`.
fn parse_labels(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("a label has a value");
        assert!(is_name(name) && !name.contains(':'), "{name:?}");
        let mut end = None;
        let mut is_escaped = false;
        for (at, c) in after.char_indices() {
            match c {
                _ if is_escaped => {
                    assert!(['\\', '"', 'n'].contains(&c), "\\{c} in {after}");
                    is_escaped = false;
                }
                '\\' => is_escaped = true,
                '"' => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let end = end.expect("a value ends");
        labels.push((name.to_owned(), after[..end].to_owned()));
        rest = &after[end + 1..];
        rest = match rest.strip_prefix(',') {
            Some(more) => more,
            None => {
                assert!(rest.is_empty(), "{rest}");
                rest
            }
        };
    }
    labels
}

fn is_name(text: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    let mut characters = text.chars();
    characters.next().is_some_and(is_first) && characters.all(|c| is_first(c) || c.is_ascii_digit())
}

/// The very slow operations are all in one second of forty: practically one event, whatever their number.
fn bursting() -> Results {
    const SECONDS: u32 = 40;
    let mut results = small();
    for record in &mut results.runs {
        let is_measured = |interval: &Interval| interval.phase == Phase::Measurement;
        let mut intervals = std::mem::take(&mut record.intervals);
        let second = intervals.iter().find(|it| is_measured(it)).unwrap().clone();
        intervals.retain(|interval| !is_measured(interval));
        for index in 0..SECONDS {
            let mut interval = second.clone();
            interval.t_s += f64::from(index);
            for operation in &mut interval.operations {
                let slow = if index == SECONDS / 2 { 780 } else { 0 };
                let times = (0..2_000).map(|it| 1_000_000 + 500 * it);
                let mut histogram = Histogram::new();
                (times.skip(slow)).for_each(|ns| histogram.record(ns));
                (0..slow).for_each(|_| histogram.record(90_000_000));
                operation.count = histogram.count();
                operation.max_ns = histogram.quantile_ns(1.0).unwrap();
                operation.histogram = histogram;
            }
            intervals.push(interval);
        }
        record.intervals = intervals;
    }
    results
}

#[test]
fn a_percentile_that_rests_on_one_burst_is_marked_in_every_format() {
    let results = bursting();
    let summary = RunFigures::of(&results.runs[0]);
    let beyond = summary.response.unwrap().percentile(0.99).unwrap().beyond;
    assert!(beyond > figures::BEYOND, "many are slow");
    let text = openmetrics(&results);
    let rests_on = |quantile: &str| -> f64 {
        let line = text.lines().find(|line| {
            line.starts_with("dbdyno_response_beyond{")
                && line.contains(&format!("of_quantile=\"{quantile}\""))
        });
        line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(text.contains("quantile=\"0.99\"") && rests_on("0.99") < figures::BEYOND);
    assert!(rests_on("0.95") >= figures::BEYOND, "{text}");
    let text = csv(&results, Detail::Runs);
    let marks = |measure: &str| -> BTreeSet<&str> {
        let rows = text.lines();
        let rows = rows.filter(|row| row.contains(&format!(",,,,{measure},ns,")));
        rows.map(|row| row.rsplit(',').next().unwrap()).collect()
    };
    assert_eq!(marks("p95"), ["false"].into());
    assert_eq!(marks("p99"), ["true"].into());
    let (_, rows) = read_parquet(&report::parquet(&results, Detail::Runs).unwrap());
    let of_run = |row: &&String| row.contains("operation: null, statement: null, measure: \"p99\"");
    let of_run: Vec<&String> = rows.iter().filter(of_run).collect();
    assert!(of_run.len() == results.runs.len());
    assert!(of_run.iter().all(|row| row.contains("thin: true")));
    let document: Value = serde_json::from_str(&json(&results, Detail::Runs)).unwrap();
    for part in ["runs", "combinations"] {
        let metrics = document[part][0]["metrics"].as_array().unwrap();
        let metric = |name: &str| metrics.iter().find(|it| it["measure"] == name).unwrap();
        assert_eq!(metric("p95")["thin"], Value::Null, "{part}");
        assert_eq!(metric("p99")["thin"], true, "{part}");
    }
}
