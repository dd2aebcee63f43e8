//! Searches on made-up runs.

use samples::{Histogram, OfferedLoad};
use stats::Interval;

use super::*;
use crate::testing::{RecordBuilder, rate_question, record};

const FAST_NS: u64 = 1_000_000;
const SLOW_NS: u64 = 50_000_000;

fn question() -> RateQuestion {
    rate_question("flush", "1")
}

/// A run of 10 s in which this share of the operations is slower than the limit.
fn run(rate_per_s: f64, share: f64) -> Record {
    let mut run = record(&RecordBuilder {
        levels: vec![("flush", "1")],
        per_s: 0,
        ..RecordBuilder::default()
    });
    let due = (rate_per_s * 10.0).round();
    let slow = (due * share).round() as u64;
    let due = due as u64;
    let operation = &mut run.intervals[0].operations[0];
    operation.histogram = Histogram::new();
    operation.histogram.record_many(FAST_NS, due - slow);
    operation.histogram.record_many(SLOW_NS, slow);
    operation.count = due;
    let level = rate_per_s.to_string();
    run.header.combination.insert(RATE.to_owned(), level);
    run.offered = Some(OfferedLoad {
        process: "poisson".to_owned(),
        rate_per_s: Some(rate_per_s),
        ..OfferedLoad::of_closed_loop(due)
    });
    run
}

/// The same of a run that falls short of its rate.
fn short_of(rate_per_s: f64, share: f64, cause: Cause, why: &str) -> Record {
    let mut run = run(rate_per_s, share);
    run.offered.as_mut().unwrap().shortfall = Some(Shortfall {
        from_s: 1.0,
        cause,
        why: why.to_owned(),
        achieved_per_s: 0.9 * rate_per_s,
        busy: 1.0,
        loop_cpu: 1.0,
        loop_delay_ns: 0.0,
        service_ns: None,
        calm_service_ns: None,
    });
    run
}

/// A run of a client that was too slow.
fn not_offered(rate_per_s: f64) -> Record {
    let why = "the event loops could not keep up";
    short_of(rate_per_s, 0.0, Cause::Client, why)
}

/// All runs of a search on a server that makes a run at a rate.
fn searched(question: &RateQuestion, make: impl Fn(f64) -> Record) -> Vec<Record> {
    let mut runs = Vec::new();
    while let Some(rate_per_s) = question.next_rate(&runs) {
        runs.push(make(rate_per_s));
    }
    runs
}

/// M/M/1 with a service time of 1 ms, without its noise.
fn queue(rate_per_s: f64) -> f64 {
    if rate_per_s < 1_000.0 {
        (-(1_000.0 - rate_per_s) * 0.02).exp()
    } else {
        0.9
    }
}

#[test]
fn late_failed_and_unanswered_operations_are_over_the_limit() {
    let mut run = run(100.0, 0.01);
    run.intervals[0].operations[0].errors = 5;
    let offered = run.offered.as_mut().unwrap();
    (offered.not_started, offered.unfinished) = (3, 2);
    let stage = question().stage(&run).unwrap();
    assert_eq!((stage.rate_per_s, stage.operations), (100.0, 1_000));
    assert_eq!((stage.over, stage.is_offered), (20, true));
    assert!(!question().stage(&not_offered(100.0)).unwrap().is_offered);
    run.offered = None;
    assert_eq!(question().stage(&run), None);
}

#[test]
fn the_rate_of_a_known_queue_is_found() {
    let question = question();
    let mut runs = searched(&question, |rate| run(rate, queue(rate)));
    let rates = runs.iter().map(|it| &it.header.combination[RATE]);
    let rates: Vec<&String> = rates.collect();
    assert_eq!(rates[..4], ["100", "200", "400", "800"]);
    let digits = |rate: &str| rate.trim_start_matches('0').replace('.', "").len();
    assert!(rates.iter().all(|rate| digits(rate) <= 4), "{rates:?}");
    // The runs of other combinations, and those that broke off, do not count.
    let mut other = run(300.0, 1.0);
    let level = other.header.combination.get_mut("flush").unwrap();
    *level = "2".to_owned();
    let mut broken = run(300.0, 1.0);
    broken.end = None;
    runs.splice(..0, [other, broken]);
    let answer = question.answer(&runs);
    let Some(RateAnswer::Found(found)) = answer.answer else {
        panic!("{answer:?}");
    };
    // 1,000/s - ln(100) / 20 ms.
    assert!((found.estimate / 769.741 - 1.0).abs() < 0.05, "{found:?}");
    assert!(found.high - found.low <= 0.1 * found.estimate, "{found:?}");
    assert_eq!(
        (answer.runs, answer.outcome()),
        (runs.len() - 2, Outcome::Held)
    );
}

#[test]
fn a_limit_that_no_rate_keeps() {
    let question = question();
    let runs = searched(&question, |rate| run(rate, 0.5));
    let answer = question.answer(&runs);
    assert_eq!(answer.outcome(), Outcome::Broken);
    assert_eq!(answer.in_words(), "p99 < 20 ms is not kept even at 10.0/s");
}

#[test]
fn the_highest_rate_that_the_file_or_the_client_allows() {
    let bounded = RateQuestion {
        from_per_s: Some(400.0),
        to_per_s: Some(1_234.56),
        ..question()
    };
    let runs = searched(&bounded, |rate| run(rate, 0.0));
    let rates = runs.iter().map(|it| &it.header.combination[RATE]);
    assert_eq!(rates.collect::<Vec<_>>()[..3], ["400", "800", "1234.56"]);
    let answer = bounded.answer(&runs);
    assert_eq!(answer.outcome(), Outcome::Held);
    let expected = "p99 < 20 ms up to 1.23k/s, the highest rate tried";
    assert_eq!(answer.in_words(), expected);
    assert_eq!(answer.limited_by, None);

    let question = question();
    let runs = searched(&question, |rate| {
        if rate <= 500.0 {
            run(rate, 0.0)
        } else {
            not_offered(rate)
        }
    });
    let answer = question.answer(&runs);
    assert_eq!(
        (answer.outcome(), answer.word()),
        (Outcome::Undecided, "client limit")
    );
    assert!(answer.in_words().contains("at least up to 4"), "{answer:?}");
    assert!(answer.is_client_limit());
    let limit = answer.limited_by.unwrap();
    assert_eq!(limit.name, "client");
    assert_eq!(limit.evidence, "the event loops could not keep up");
    let late = [10.0, 10.0].map(not_offered);
    let none = question.answer(&late).in_words();
    let expected = "p99 < 20 ms: no answer, because the client cannot send even 10.0/s";
    assert_eq!(none, expected);
}

#[test]
fn too_few_connections_are_the_limit_and_not_the_client() {
    let question = question();
    let runs = searched(&question, |rate| {
        if rate < 500.0 {
            run(rate, 0.0)
        } else {
            short_of(rate, 0.9, Cause::Connections, "all 4 connections were busy")
        }
    });
    let answer = question.answer(&runs);
    let Some(RateAnswer::Found(found)) = answer.answer else {
        panic!("{answer:?}");
    };
    assert!(found.low <= 500.0 && 500.0 <= found.high, "{found:?}");
    assert_eq!(answer.limited_by.unwrap().name, "connections");
}

#[test]
fn a_search_whose_runs_or_time_are_spent_has_no_precise_answer() {
    let few = RateQuestion {
        runs_at_most: 4,
        ..question()
    };
    let runs = searched(&few, |rate| run(rate, queue(rate)));
    let answer = few.answer(&runs);
    assert_eq!((answer.runs, answer.outcome()), (4, Outcome::Undecided));
    assert_eq!(answer.in_words(), "p99 < 20 ms: no answer after 4 runs");
    let open = question().answer(&runs).in_words();
    assert_eq!(open, "p99 < 20 ms: not answered yet, after 4 runs");
    let late = RateQuestion {
        time_is_spent: true,
        ..question()
    };
    assert_eq!(late.answer(&runs).word(), "spent");
    assert_eq!(late.answer(&runs[..1]).word(), "open");
}

#[test]
fn the_answer_in_words() {
    let interval = Interval {
        estimate: 4_120.0,
        low: 3_980.0,
        high: 4_200.0,
    };
    let question = question();
    let of = |answer: RateAnswer| MaxRate {
        question: question.clone(),
        answer: Some(answer),
        runs: 40,
        limited_by: None,
    };
    let found = of(RateAnswer::Found(interval));
    let expected = "p99 < 20 ms up to 4.12k/s (3.98k/s to 4.20k/s)";
    assert_eq!(found.in_words(), expected);
    assert_eq!(found.rate(), Some((4_120.0, Some((3_980.0, 4_200.0)))));
    let spent = of(RateAnswer::Spent(Some(interval)));
    let expected = format!("{expected}, less precise than ±5 % after 40 runs");
    assert_eq!((spent.in_words(), spent.word()), (expected, "imprecise"));
}
