//! Tests of the reports of a small record.

use std::{collections::BTreeMap, path::Path};

use audit::{Assessment, Audit, Finding, Judgement, Level, MachineState, Scope};
use samples::{
    Durations, ErrorCount, Interval, OperationInterval, Phase, Record, RunHeader, ServerIdentity,
    StatementInterval,
};

use super::*;

fn durations(times_ms: &[u64]) -> Durations {
    let mut durations = Durations::default();
    for time_ms in times_ms {
        durations.record(time_ms * 1_000_000);
    }
    durations
}

fn operation(times_ms: &[u64]) -> OperationInterval {
    let times = durations(times_ms);
    OperationInterval {
        load: "oltp".to_owned(),
        operation: "read_write".to_owned(),
        count: times.count,
        errors: 0,
        sum_ns: times.sum_ns,
        min_ns: times.min_ns,
        max_ns: times.max_ns,
        histogram: times.histogram,
        service: None,
        returned: samples::ReturnedRows::default(),
    }
}

fn statement(name: &str, classes: [u64; 3], times_ms: &[u64]) -> StatementInterval {
    let times = durations(times_ms);
    StatementInterval {
        load: "oltp".to_owned(),
        statement: name.to_owned(),
        reads: classes[0],
        writes: classes[1],
        others: classes[2],
        sum_ns: times.sum_ns,
        min_ns: times.min_ns,
        max_ns: times.max_ns,
        histogram: times.histogram,
        returned: samples::ReturnedRows::default(),
    }
}

fn interval(phase: Phase, times_ms: &[u64]) -> Interval {
    let count = times_ms.len() as u64;
    Interval {
        t_s: 0.0,
        length_s: 1.0,
        phase,
        stage: None,
        slice: None,
        operations: vec![operation(times_ms)],
        statements: vec![
            statement("commit", [0, 0, count], times_ms),
            statement("point_selects", [count, 0, 0], times_ms),
        ],
        send_lag: None,
        client_lag: None,
        pace: None,
        carried: Vec::new(),
    }
}

fn record() -> Record {
    let mut measured = interval(Phase::Measurement, &[1, 2, 3, 4]);
    measured.operations[0].errors = 1;
    Record {
        header: RunHeader {
            format: samples::FORMAT,
            dbdyno_version: "0".to_owned(),
            experiment: "oltp read_write".to_owned(),
            experiment_sha256: String::new(),
            seed: 7,
            run: 1,
            block: 1,
            combination: BTreeMap::from([("rand-type".to_owned(), "uniform".to_owned())]),
            beside: Vec::new(),
            started_at: String::new(),
            connections: 2,
            loops: 1,
            io: "epoll".to_owned(),
            transport: "unix socket".to_owned(),
        },
        servers: vec![ServerIdentity {
            at: samples::Edge::Start,
            version: "10.11.19-MariaDB".to_owned(),
            version_comment: String::new(),
            address: "/run/s.sock".to_owned(),
            private: false,
            variables: BTreeMap::new(),
            settings_changed: Vec::new(),
        }],
        machines: Vec::new(),
        storage: Vec::new(),
        observers: Vec::new(),
        collected: Vec::new(),
        changed: Vec::new(),
        keys: Vec::new(),
        checked: Vec::new(),
        limit: None,
        dataset: None,
        disk_load: None,
        phases: Vec::new(),
        intervals: vec![interval(Phase::WarmUp, &[900]), measured],
        added_up: None,
        stages: Vec::new(),
        stage_totals: BTreeMap::new(),
        batch_totals: BTreeMap::new(),
        side_by_side: None,
        measured_state: None,
        batch: None,
        events: Vec::new(),
        connects: Vec::new(),
        offered: None,
        proxy: None,
        deliveries: None,
        command: None,
        steadiness: None,
        ceiling: None,
        loaded: None,
        telemetry: Vec::new(),
        server_status: Vec::new(),
        server_totals: Vec::new(),
        table_sizes: Vec::new(),
        slow_log: None,
        server_observation: None,
        errors: vec![ErrorCount {
            load: "oltp".to_owned(),
            operation: "read_write".to_owned(),
            number: 1213,
            sqlstate: "40001".to_owned(),
            message: "Deadlock found".to_owned(),
            count: 3,
            retried: 2,
            ..ErrorCount::default()
        }],
        end: None,
        torn: false,
    }
}

#[test]
fn the_measurement_alone_counts() {
    let report = RunReport::of(&record(), &[50.0, 100.0]);
    assert_eq!((report.response.count, report.failed), (4, 1));
    assert_eq!(report.response.mean_ms, 2.5);
    assert_eq!(report.response.percentiles[1].ms, Some(4.0));
    assert_eq!(
        report.statements_per_s,
        Classes {
            read: 4.0,
            write: 0.0,
            other: 4.0
        }
    );
    assert_eq!(report.statements.len(), 2);
}

#[test]
fn rows_that_wait_for_their_statement_are_no_reads() {
    let mut record = record();
    for interval in &mut record.intervals {
        interval.statements.clear();
        interval.operations[0].operation = "bulk_insert".to_owned();
    }
    let report = RunReport::of(&record, &[95.0]);
    assert_eq!(report.response.count, 4);
    assert_eq!(report.statements_per_s, Classes::default());
}

#[test]
fn refused_connections_are_told() {
    let mut record = record();
    record.header.connections = 16;
    record.connects = vec![samples::Connects {
        load: "oltp".to_owned(),
        count: 8,
        errors: 8,
        min_ns: 1,
        max_ns: 1,
        sum_ns: 8,
    }];
    let report = RunReport::of(&record, &[95.0]);
    assert_eq!((report.connections, report.connections_refused), (8, 8));
    let text = report.text();
    assert!(text.contains("8 of 16 connections, "), "{text}");
}

#[test]
fn text_for_the_terminal() {
    insta::assert_snapshot!(RunReport::of(&record(), &[95.0, 99.9]).text());
}

#[test]
fn the_answer_explains_the_mark_of_a_percentile() {
    let audit = Audit {
        assessment: Assessment {
            machine: MachineState::Quiet,
            scope: Scope::Rough { executions: 1 },
            method: None,
        },
        judgements: Vec::new(),
    };
    let answer = |percentiles: &[f64]| {
        RunReport::of(&record(), percentiles).summary(&audit, Path::new("record.jsonl"), 80)
    };
    let marked = answer(&[50.0]);
    assert!(
        marked.contains("; p50 2.00 ms ~\n~: fewer than ten independent operations beyond it\n\n"),
        "{marked}"
    );
    assert!(marked.lines().count() < 12, "{marked}");
    assert!(!answer(&[]).contains('~'));
}

#[test]
fn the_answer_of_an_incomplete_run_begins_with_that() {
    let audit = Audit {
        assessment: Assessment {
            machine: MachineState::Quiet,
            scope: Scope::Rough { executions: 0 },
            method: None,
        },
        judgements: Vec::new(),
    };
    let answer = |complete| {
        let mut record = record();
        record.end = Some(samples::End {
            t_s: 6.1,
            complete,
            why: "the server went away".to_owned(),
        });
        let report = RunReport::of(&record, &[]);
        let measured = units::moment(report.measured_s);
        let begins = format!("incomplete after {measured}: ");
        let text = report.summary(&audit, Path::new("a"), 160);
        let first = text.lines().next().unwrap_or_default().to_owned();
        (first.starts_with(&begins), first.contains("incomplete"))
    };
    assert_eq!(answer(false), (true, true));
    assert_eq!(answer(true), (false, false));
}

#[test]
fn the_answer_names_each_rule_once() {
    let judged = |id: &str, level: Level, evidence: &str| Judgement {
        rule: audit::rule(id).unwrap(),
        outcome: Ok(Finding {
            level,
            evidence: evidence.to_owned(),
            figures: BTreeMap::new(),
            runs: Vec::new(),
        }),
    };
    let assessment = Assessment {
        machine: MachineState::Busy,
        scope: Scope::Rough { executions: 1 },
        method: None,
    };
    let trust = |judgements: Vec<Judgement>| {
        let audit = Audit {
            assessment,
            judgements,
        };
        let text = RunReport::of(&record(), &[]).summary(&audit, Path::new("a"), 160);
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("trust     "));
        line.unwrap().to_owned()
    };
    let short = judged("M04", Level::Fail, "6 s of 10 s");
    let title = short.title();
    let busy = "other programs used 41 % of the CPU (rustc)";
    assert_eq!(
        trust(vec![short.clone(), judged("H14", Level::Invalid, busy)]),
        format!("rough, no grade: 1 execution; fail M04; invalid H14: {busy}")
    );
    assert_eq!(
        trust(vec![short]),
        format!("rough, no grade: 1 execution; machine busy; fail M04: {title}: 6 s of 10 s")
    );
}

#[test]
fn what_the_run_did_is_told() {
    let mut record = record();
    record.steadiness = Some(JudgedSteadiness {
        class: Some("warming".to_owned()),
        reasons: vec!["throughput changed by +12 %".to_owned()],
        drift: Some(0.12),
        stalls: Some(samples::Stalls {
            stalled_s: 3.0,
            longest_s: 2.0,
            longest_gap_s: 0.0,
        }),
    });
    let report = RunReport::of(&record, &[95.0]);
    let line = "\nsteadiness  warming: throughput changed by +12 %; 3 s below half of the median throughput, 2 s of it in a row\n";
    assert!(report.text().contains(line), "{}", report.text());
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["steadiness"]["class"], "warming");
}

#[test]
fn csv_for_programs() {
    let csv = RunReport::of(&record(), &[95.0, 99.9]).csv();
    assert_eq!(
        csv,
        "kind,name,count,per_s,reads,writes,others,min_ms,mean_ms,max_ms,p95_ms,p99.9_ms\n\
         operation,oltp read_write,4,4.000,4,0,4,1.000,2.500,4.000,,\n\
         statement,commit,4,4.000,0,0,4,1.000,2.500,4.000,,\n\
         statement,point_selects,4,4.000,4,0,0,1.000,2.500,4.000,,\n"
    );
}

#[test]
fn json_for_programs() {
    let json: serde_json::Value =
        serde_json::from_str(&RunReport::of(&record(), &[95.0]).json()).unwrap();
    assert_eq!(json["settings"]["rand-type"], "uniform");
    assert_eq!(json["response"]["percentiles"][0]["percentile"], 95.0);
    // With four operations, none lies beyond the percentile.
    assert!(json["response"]["percentiles"][0]["ms"].is_null());
    assert_eq!(json["errors"][0]["number"], 1213);
    assert_eq!(json["statements"][0]["classes"]["other"], 4);
}
