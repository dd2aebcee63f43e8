//! Tests of the sentences about planned events.

use samples::{
    Histogram, Interval, OperationInterval, Phase, PlannedAction, PlannedEvent, ReturnedRows,
};

use super::*;
use crate::{grid::Grid, results::Results};

fn record(run: u32, algorithm: &str, slow_per_s: u64, outcome: EventOutcome) -> Record {
    let text = format!(
        r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":{run},"block":1,"combination":{{"algorithm":"{algorithm}"}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}}
{{"line":"end","t_s":60.0,"complete":true,"why":"as planned"}}"#
    );
    let mut record = Record::read(text.as_bytes()).unwrap();
    record.intervals = (0..60)
        .map(|second| {
            let count = if (20..30).contains(&second) {
                slow_per_s
            } else {
                100
            };
            let mut histogram = Histogram::new();
            (0..count).for_each(|_| histogram.record(1_000_000));
            let operation = OperationInterval {
                load: "l".to_owned(),
                operation: "o".to_owned(),
                count,
                errors: 0,
                sum_ns: count * 1_000_000,
                min_ns: 1_000_000,
                max_ns: 1_000_000,
                histogram,
                service: None,
                returned: ReturnedRows::default(),
            };
            Interval {
                t_s: f64::from(second),
                length_s: 1.0,
                phase: Phase::Measurement,
                stage: None,
                slice: None,
                operations: vec![operation],
                statements: Vec::new(),
                send_lag: None,
                client_lag: None,
                pace: None,
                carried: Vec::new(),
            }
        })
        .collect();
    record.events = vec![PlannedEvent {
        number: 1,
        name: "add index".to_owned(),
        action: PlannedAction::Sql,
        what: "ALTER TABLE t ADD INDEX (c)".to_owned(),
        at_s: 20.0,
        t_s: 20.0,
        begin_s: Some(20.0),
        end_s: Some(30.0),
        outcome,
        message: match outcome {
            EventOutcome::Done => String::new(),
            _ => "error 1061: Duplicate key name".to_owned(),
        },
        ..PlannedEvent::default()
    }];
    record
}

fn said(runs: Vec<Record>) -> Vec<String> {
    let mut results = Results::of_runs(runs);
    results.factors = vec![settings::Factor {
        name: "algorithm".to_owned(),
        levels: vec!["COPY".to_owned(), "INPLACE".to_owned()],
    }];
    sentences(&overview::overviews(&results, &Grid::of(&results)))
}

#[test]
fn an_event_is_one_sentence_for_each_combination() {
    let said = said(vec![
        record(1, "COPY", 40, EventOutcome::Done),
        record(2, "INPLACE", 80, EventOutcome::Done),
        record(3, "COPY", 60, EventOutcome::Failed),
    ]);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].starts_with("algorithm COPY: event add index at 20 s took 10 s: 100"),
        "{said:?}"
    );
    // What the failed one did is not what it costs.
    assert!(said[0].contains("40.0 during (-60 %)"), "{said:?}");
    assert!(
            said[0].ends_with(
                "throughput recovered at once. It did not succeed in 1 of 2 runs: run 3 (failed: error 1061: Duplicate key name); the figures cover the other runs."
            ),
            "{said:?}"
        );
    assert!(said[1].contains("80.0 during (-20 %)"), "{said:?}");
    assert!(said[1].contains("200 operations lost"), "{said:?}");
}

#[test]
fn an_event_that_always_failed_has_the_figures_of_its_failures() {
    let said = said(vec![record(1, "COPY", 40, EventOutcome::TimedOut)]);
    assert!(said[0].contains("40.0 during (-60 %)"), "{said:?}");
    assert!(
        said[0].ends_with(
            "It did not succeed in 1 of 1 run: run 1 (timed out: error 1061: Duplicate key name)."
        ),
        "{said:?}"
    );
}

#[test]
fn chance_is_no_loss() {
    let said = said(vec![
        record(1, "COPY", 80, EventOutcome::Done),
        record(2, "COPY", 120, EventOutcome::Done),
    ]);
    assert!(said[0].contains("; no operations lost; "), "{said:?}");
}

#[test]
fn what_is_not_known_is_said() {
    let begin = |begin_s: f64| {
        let mut record = record(1, "COPY", 40, EventOutcome::Done);
        let event = &mut record.events[0];
        (event.begin_s, event.t_s) = (Some(begin_s), begin_s);
        event.end_s = Some(begin_s + 1.0);
        said(vec![record]).remove(0)
    };
    let early = begin(3.0);
    assert!(early.contains("took 1 s: its cost is unknown"), "{early}");
    let late = begin(56.0);
    assert!(
        late.ends_with("too little time was measured after it to detect a recovery."),
        "{late}"
    );
}

#[test]
fn marks_name_the_event() {
    let run = record(4, "COPY", 40, EventOutcome::TimedOut);
    assert_eq!(
        marks_in_words(&run),
        "Marked: 1 event (add index from 20 s to 30 s (timed out)). "
    );
}
