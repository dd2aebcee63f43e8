//! Tests of the cost of events in series that are made up.

use samples::{EventOutcome, OperationInterval, Phase, ReturnedRows};

use super::*;

/// Measurement from second 10 on, after a warm-up.
const FROM_S: f64 = 10.0;

fn interval(t_s: f64, phase: Phase, count: u64, response_ns: u64) -> Interval {
    let mut histogram = Histogram::new();
    (0..count).for_each(|_| histogram.record(response_ns));
    let operation = OperationInterval {
        load: "l".to_owned(),
        operation: "o".to_owned(),
        count,
        errors: u64::from(count == 0),
        sum_ns: count * response_ns,
        min_ns: response_ns,
        max_ns: response_ns,
        histogram,
        service: None,
        returned: ReturnedRows::default(),
    };
    Interval {
        t_s,
        length_s: 1.0,
        phase,
        stage: None,
        slice: None,
        operations: vec![operation],
        statements: Vec::new(),
        send_lag: None,
        client_lag: None,
        pace: None,
        carried: Vec::new(),
    }
}

fn event(number: u32, begin_s: f64, end_s: Option<f64>) -> PlannedEvent {
    PlannedEvent {
        number,
        at_s: begin_s,
        t_s: FROM_S + begin_s,
        begin_s: Some(begin_s),
        end_s,
        outcome: EventOutcome::Done,
        ..PlannedEvent::default()
    }
}

/// A record whose measurement has these operations in each second, with response times of 1 ms, or 10 ms in a slow one.
fn record(per_s: &[u64], events: Vec<PlannedEvent>) -> Record {
    let header = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"e","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;
    let mut record = Record::read(header.as_bytes()).unwrap();
    record.intervals = (0..10)
        .map(|second| interval(f64::from(second), Phase::WarmUp, 7, 1_000_000))
        .collect();
    for (second, count) in per_s.iter().enumerate() {
        let response_ns = if *count < 90 { 10_000_000 } else { 1_000_000 };
        let t_s = FROM_S + second as f64;
        record
            .intervals
            .push(interval(t_s, Phase::Measurement, *count, response_ns));
    }
    record.events = events;
    record
}

fn only(record: &Record) -> EventCost {
    let costs = EventCost::of_record(record);
    assert_eq!(costs.len(), 1);
    costs[0].clone().unwrap()
}

fn series(parts: &[(usize, u64)]) -> Vec<u64> {
    let seconds = parts.iter();
    seconds
        .flat_map(|(count, per_s)| vec![*per_s; *count])
        .collect()
}

fn p99_ms(stretch: &Stretch) -> f64 {
    (stretch.p99.unwrap().ns as f64 / 1e6).round()
}

#[test]
fn before_during_and_after() {
    // From 20.5 s to 29.5 s: the seconds 20 to 29 belong to the event; two more until the level is reached again.
    let per_s = series(&[(20, 100), (10, 40), (2, 50), (28, 100)]);
    let cost = only(&record(&per_s, vec![event(1, 20.5, Some(29.5))]));
    assert_eq!(
        (cost.before.length_s, cost.before.throughput_per_s),
        (20.0, 100.0)
    );
    assert_eq!(
        (cost.during.length_s, cost.during.throughput_per_s),
        (10.0, 40.0)
    );
    assert_eq!(cost.during_share(), 0.4);
    let after = cost.after.as_ref().unwrap();
    assert_eq!(after.length_s, 30.0);
    assert!((cost.after_share().unwrap() - 29.0 / 30.0).abs() < 1e-9);
    assert_eq!(
        (p99_ms(&cost.before), p99_ms(&cost.during), p99_ms(after)),
        (1.0, 10.0, 10.0)
    );
    assert_eq!(cost.lost_operations, 700.0);
    assert_eq!((cost.recovered_after_s, cost.hold_s), (Some(2.5), 5.0));
}

#[test]
fn an_event_without_effect_costs_nothing() {
    let cost = only(&record(
        &series(&[(60, 100)]),
        vec![event(1, 20.3, Some(20.3))],
    ));
    assert_eq!((cost.during.length_s, cost.lost_operations), (1.0, 0.0));
    assert_eq!(cost.recovered_after_s, Some(0.0));
}

#[test]
fn a_good_second_between_stalls_is_no_recovery() {
    let per_s = series(&[(20, 100), (1, 10), (1, 100), (3, 10), (35, 100)]);
    let cost = only(&record(&per_s, vec![event(1, 20.0, Some(20.9))]));
    assert!(
        (cost.recovered_after_s.unwrap() - 4.1).abs() < 1e-9,
        "{cost:?}"
    );
    let never = series(&[(20, 100), (40, 89)]);
    let cost = only(&record(&never, vec![event(1, 20.0, Some(21.0))]));
    assert_eq!(cost.recovered_after_s, None);
    assert_eq!(cost.lost_operations, 440.0);
    // Two seconds at the end are too few.
    let late = series(&[(20, 100), (38, 10), (2, 100)]);
    let cost = only(&record(&late, vec![event(1, 20.0, Some(21.0))]));
    assert_eq!(cost.recovered_after_s, None);
    assert!(cost.shows_recovery());
}

#[test]
fn a_short_time_after_an_event_shows_no_recovery_and_no_lack_of_it() {
    let per_s = series(&[(20, 100), (36, 10), (4, 100)]);
    let cost = only(&record(&per_s, vec![event(1, 20.0, Some(56.0))]));
    assert_eq!(cost.after.as_ref().unwrap().length_s, 4.0);
    assert_eq!(cost.recovered_after_s, None);
    assert!(!cost.shows_recovery());
    let per_s = series(&[(20, 100), (35, 10), (5, 100)]);
    let cost = only(&record(&per_s, vec![event(1, 20.0, Some(55.0))]));
    assert_eq!(cost.recovered_after_s, Some(0.0));
    assert!(cost.shows_recovery());
}

#[test]
fn an_outage_counts_its_errors() {
    let per_s = series(&[(20, 100), (5, 0), (35, 100)]);
    let cost = only(&record(&per_s, vec![event(1, 20.0, Some(25.0))]));
    assert_eq!((cost.during.errors, cost.during.p99), (5, None));
    assert_eq!(
        (cost.lost_operations, cost.recovered_after_s),
        (500.0, Some(0.0))
    );
}

#[test]
fn events_do_not_take_each_others_time() {
    let per_s = series(&[(20, 100), (5, 20), (15, 100), (5, 50), (15, 90)]);
    let events = vec![event(1, 20.0, Some(25.0)), event(2, 40.0, Some(45.0))];
    let costs = EventCost::of_record(&record(&per_s, events));
    let [first, second] = [0, 1].map(|at| costs[at].as_ref().unwrap());
    assert_eq!(first.after.as_ref().unwrap().length_s, 15.0);
    assert_eq!(
        (second.before.length_s, second.before.throughput_per_s),
        (15.0, 100.0)
    );
    // Exactly nine tenths of the level are enough.
    assert_eq!(second.recovered_after_s, Some(0.0));
}

#[test]
fn an_event_that_did_not_end_reaches_the_end_of_the_measurement() {
    let per_s = series(&[(20, 100), (20, 50)]);
    let cost = only(&record(&per_s, vec![event(1, 20.0, None)]));
    assert_eq!((cost.during.length_s, cost.after), (20.0, None));
    assert_eq!(
        (cost.lost_operations, cost.recovered_after_s),
        (1000.0, None)
    );
    assert_eq!(cost.hold_s, 4.0);
}

#[test]
fn without_a_level_before_there_is_no_cost() {
    let short = record(&series(&[(60, 100)]), vec![event(1, 2.0, Some(3.0))]);
    assert_eq!(EventCost::of_record(&short), [None]);
    let stood_still = record(
        &series(&[(20, 0), (40, 100)]),
        vec![event(1, 20.0, Some(21.0))],
    );
    assert_eq!(EventCost::of_record(&stood_still), [None]);
    let mut not_begun = event(1, 20.0, None);
    not_begun.begin_s = None;
    let record = record(&series(&[(60, 100)]), vec![not_begun]);
    assert_eq!(EventCost::of_record(&record), [None]);
    assert_eq!(record.first_event_s(), f64::INFINITY);
    assert_eq!(record.undisturbed_intervals().count(), 60);
}

#[test]
fn what_precedes_the_first_event_is_undisturbed() {
    let record = record(&series(&[(60, 100)]), vec![event(1, 20.5, Some(21.0))]);
    assert_eq!(record.undisturbed_intervals().count(), 20);
}
