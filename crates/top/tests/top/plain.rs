//! Tests of the plain lines of a record: complete, or while it is written.

use samples::{
    Edge, EventOutcome, Interval, Line, LoadStage, ObserverLoss, Phase, PlannedEvent,
    ServerIdentity, ServerStatus,
};
use top::{Model, Plain, Subject};

use crate::shown::record;

#[test]
fn each_interval_of_a_record_is_one_line() {
    let model = record("mariadb-tpcc.jsonl");
    let mut plain = Plain::new(None);
    insta::assert_snapshot!("plain_lines", plain.lines(&model, f64::INFINITY, true));
    assert_eq!(plain.lines(&model, f64::INFINITY, true), "");
}

#[test]
fn lines_end_when_as_many_are_told_as_were_wanted() {
    let model = record("mariadb-open-loop.jsonl");
    let mut plain = Plain::new(Some(2));
    let lines = plain.lines(&model, f64::INFINITY, true);
    let figures = lines
        .lines()
        .filter(|line| line.trim_start().starts_with(char::is_numeric));
    assert_eq!(figures.count(), 2);
    assert!(plain.is_done());
}

#[test]
fn a_header_comes_again() {
    let mut model = Model::new(Subject::default());
    for second in 0..41 {
        model.take(status(f64::from(second)));
    }
    let lines = Plain::new(None).lines(&model, f64::INFINITY, false);
    let headers = lines.lines().filter(|line| line.contains("queries/s"));
    assert_eq!(headers.count(), 3);
}

#[test]
fn an_absence_is_told_once_and_so_is_its_end() {
    let mut model = Model::new(Subject {
        name: "db1:3306".to_owned(),
        ..Subject::default()
    });
    let server = |version: &str| ServerIdentity {
        at: Edge::Start,
        version: version.to_owned(),
        version_comment: String::new(),
        address: String::new(),
        private: false,
        variables: Default::default(),
        settings_changed: Vec::new(),
    };
    let mut plain = Plain::new(None);
    let mut told = |model: &Model| plain.lines(model, f64::INFINITY, false);
    model.meet(&server("10.11.1"));
    model.take(status(0.0));
    assert!(told(&model).starts_with("# db1:3306, 10.11.1, time from"));
    model.lose(1.5, "connection refused".to_owned());
    model.lose(1.5, "connection refused".to_owned());
    assert_eq!(
        told(&model),
        "# server away from 1.5 s on, trying again: connection refused\n"
    );
    assert_eq!(told(&model), "");
    model.meet(&server("10.11.2"));
    assert_eq!(told(&model), "# the server is back\n");
    model.take(status(9.0));
    let lines = told(&model);
    assert!(lines.starts_with("# db1:3306, 10.11.2"), "{lines}");
}

#[test]
fn an_observer_that_is_lost_is_told_once_also_where_the_server_goes_away() {
    let mut model = Model::new(Subject::default());
    let mut plain = Plain::new(None);
    let mut told = |model: &Model| plain.lines(model, f64::INFINITY, false);
    model.lose_observer(ObserverLoss {
        t_s: 2.25,
        why: "the connection was closed".to_owned(),
    });
    assert_eq!(
        told(&model),
        "# server host not observed from 2.3 s on: the connection was closed\n"
    );
    model.lose(3.0, "connection refused".to_owned());
    assert!(told(&model).starts_with("# server away from 3 s on"));
    assert_eq!(told(&model), "");
}

#[test]
fn a_planned_event_is_told_when_it_begins_and_when_it_has_ended() {
    let mut model = Model::new(Subject::default());
    let mut plain = Plain::new(None);
    let mut told = |model: &Model| {
        let lines = plain.lines(model, f64::INFINITY, true);
        let events = lines.lines().filter(|line| line.starts_with("# event"));
        events.map(str::to_owned).collect::<Vec<_>>()
    };
    let event = PlannedEvent {
        number: 1,
        name: "add index".to_owned(),
        t_s: 1.5,
        begin_s: Some(1.5),
        ..PlannedEvent::default()
    };
    model.take(status(0.0));
    model.take(Line::Event(Box::new(event.clone())));
    assert!(told(&model).is_empty());
    model.take(status(1.0));
    assert_eq!(told(&model), ["# event add index from 1.5 s on"]);
    model.take(status(2.0));
    model.take(Line::Event(Box::new(PlannedEvent {
        end_s: Some(3.5),
        outcome: EventOutcome::TimedOut,
        ..event
    })));
    assert!(told(&model).is_empty());
    model.take(status(3.0));
    assert_eq!(told(&model), ["# event add index timed out after 2 s"]);
    model.take(status(4.0));
    assert!(told(&model).is_empty());
}

#[test]
fn a_pause_between_slices_has_no_line() {
    let mut model = Model::new(Subject::default());
    let interval = |t_s: f64, phase: Phase, slice: Option<u32>| {
        Line::Interval(Interval {
            t_s,
            length_s: 0.5,
            phase,
            stage: None,
            slice,
            operations: Vec::new(),
            statements: Vec::new(),
            send_lag: None,
            client_lag: None,
            pace: None,
            carried: Vec::new(),
        })
    };
    model.take(interval(0.0, Phase::Measurement, Some(1)));
    model.take(interval(0.5, Phase::Pause, None));
    model.take(interval(1.0, Phase::Measurement, Some(2)));
    let lines = Plain::new(None).lines(&model, f64::INFINITY, true);
    let figures = lines
        .lines()
        .filter(|line| line.trim_start().starts_with(char::is_numeric));
    assert_eq!(figures.count(), 2, "{lines}");
}

#[test]
fn a_stage_of_the_load_is_told_once() {
    let mut model = Model::new(Subject::default());
    let mut plain = Plain::new(None);
    let mut told = |model: &Model| {
        let lines = plain.lines(model, f64::INFINITY, true);
        let stages = lines.lines().filter(|line| line.starts_with("# stage"));
        stages.map(str::to_owned).collect::<Vec<_>>()
    };
    let stage = |number: u32, connections: u32| {
        Line::LoadStage(Box::new(LoadStage {
            number,
            t_s: f64::from(number),
            length_s: 1.0,
            connections_from: connections,
            connections_to: connections,
            rate_from_per_s: None,
            rate_to_per_s: None,
            offered: None,
        }))
    };
    model.take(status(0.0));
    model.take(stage(1, 8));
    assert!(told(&model).is_empty());
    model.take(status(1.0));
    assert_eq!(told(&model), ["# stage 1 (8 connections) from 1 s on"]);
    model.take(stage(2, 64));
    model.take(status(2.0));
    assert_eq!(told(&model), ["# stage 2 (64 connections) from 2 s on"]);
    // What became of them stands at the end of the record.
    model.take(stage(1, 8));
    model.take(status(3.0));
    assert!(told(&model).is_empty());
}

fn status(t_s: f64) -> Line {
    Line::ServerStatus(ServerStatus {
        t_s,
        length_s: 1.0,
        ..ServerStatus::default()
    })
}
