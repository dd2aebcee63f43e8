//! Tests of whole loads on the system's clock, with users that only wait.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::time::Duration;

use load::{
    Arrivals, Drain, Failure, Group, Judgement, Load, LoadListener, Next, OnError, OnRefusal,
    OperationObserver, Outcome, Precision, Process, Stop, Termination, ToleratedFailures, User,
    WarmUp,
};
use reactor::Interrupt;
use samples::{Durations, Interval, PhaseMark};

/// Each operation takes this time.
struct Waiting {
    names: Vec<String>,
    time: Duration,
}

impl User for Waiting {
    fn operations(&self) -> &[String] {
        &self.names
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn next(&mut self) -> Next {
        Next::Operation(0)
    }

    async fn execute(&mut self, _watch: &mut impl OperationObserver) -> Result<(), Failure> {
        reactor::sleep(self.time).await;
        Ok(())
    }

    async fn disconnect(&mut self) {}
}

#[derive(Default)]
struct Seen(Vec<Interval>);

impl LoadListener for Seen {
    fn connected(&mut self, _open: u64, _total: u64) {}
    fn started(&mut self) {}
    fn phase(&mut self, _mark: PhaseMark) {}
    fn interval(&mut self, interval: Interval) {
        self.0.push(interval);
    }
}

fn drive(users: u32, loops: u32, arrivals: Arrivals, stop: Stop) -> (Outcome, Vec<Interval>) {
    drive_taking(Duration::from_millis(1), users, loops, arrivals, stop)
}

/// Drives users whose operations take this time.
fn drive_taking(
    time: Duration,
    users: u32,
    loops: u32,
    arrivals: Arrivals,
    stop: Stop,
) -> (Outcome, Vec<Interval>) {
    let names = vec!["wait".to_owned()];
    let group = Group {
        name: "users".to_owned(),
        operations: names.clone(),
        statements: Vec::new(),
        users,
        make: Box::new(move |_| Waiting {
            names: names.clone(),
            time,
        }),
    };
    let load = Load {
        groups: vec![group],
        loops,
        spin: false,
        arrivals,
        stages: Vec::new(),
        seed: 5,
        judge: |_| Judgement {
            steady_from: None,
            wants_time: false,
            why_not: None,
        },
        warm_up: WarmUp::For(Duration::from_millis(100)),
        stop,
        drain: Drain::USUAL,
        on_refusal: OnRefusal::Stop,
        on_error: OnError::Stop,
        tolerated: ToleratedFailures::default(),
        interval: Duration::from_millis(100),
    };
    let mut seen = Seen::default();
    let outcome = load::drive(load, &Interrupt::default(), &mut seen).unwrap();
    assert_eq!(outcome.ended, Termination::Planned);
    (outcome, seen.0)
}

#[test]
fn a_number_of_operations_is_exact_over_several_loops() {
    let (outcome, intervals) = drive(16, 3, Arrivals::Closed, Stop::Operations(3_001));
    let measured = intervals
        .iter()
        .filter(|interval| interval.phase == samples::Phase::Measurement);
    let count: u64 = measured
        .flat_map(|interval| &interval.operations)
        .map(|operation| operation.count)
        .sum();
    assert_eq!((count, outcome.offered.due), (3_001, 3_001));
    assert_eq!(outcome.offered.shortfall, None);
}

/// Whoever reads the intervals would else miss those between the stop and the end of a long operation.
#[test]
fn intervals_follow_each_other_until_the_last_operation_is_back() {
    let stop = Stop::After(Duration::from_millis(150));
    let (_, intervals) = drive_taking(Duration::from_millis(700), 1, 1, Arrivals::Closed, stop);
    let mut ends_s = 0.0;
    for interval in &intervals {
        assert!(
            (interval.t_s - ends_s).abs() < 1e-6,
            "{interval:?} does not begin at {ends_s} s"
        );
        ends_s = interval.t_s + interval.length_s;
    }
    let carried = intervals
        .last()
        .map(|last| (last.phase, last.carried.len()));
    assert_eq!(carried, Some((samples::Phase::Drain, 1)), "{intervals:?}");
}

#[test]
fn the_time_or_the_number_of_operations_ends_a_load_whichever_comes_first() {
    for (time, operations) in [(60_000, 300), (200, 1_000_000_000)] {
        let stop = Stop::AfterOrOperations(Duration::from_millis(time), operations);
        let (outcome, _) = drive(4, 2, Arrivals::Closed, stop);
        let is_by_number = operations == 300;
        assert_eq!(outcome.offered.due == operations, is_by_number, "{stop:?}");
        assert!(outcome.offered.due > 0 && outcome.elapsed < Duration::from_secs(50));
        assert_eq!(outcome.offered.shortfall, None);
    }
}

#[test]
fn a_rate_beyond_the_connections_is_told_and_ends_by_itself() {
    let rate_per_s = 20_000.0;
    let stop = Stop::After(Duration::from_millis(500));
    let (outcome, intervals) = drive(
        2,
        1,
        Arrivals::Open {
            rate_per_s,
            process: Process::Constant,
        },
        stop,
    );
    let offered = outcome.offered;
    let due = 10_000;
    assert_eq!(offered.due, due);
    assert!(offered.behind > due * 8 / 10, "{offered:?}");
    assert_eq!(
        offered.not_started + offered.unfinished,
        offered.waits.count
    );
    let carried = intervals.iter().flat_map(|interval| &interval.carried);
    let carried = carried.filter(|carried| carried.due_in == samples::Phase::Measurement);
    let drained: u64 = carried.map(|carried| carried.operations[0].count).sum();
    let in_time: u64 = intervals
        .iter()
        .filter(|interval| interval.phase == samples::Phase::Measurement)
        .flat_map(|interval| &interval.operations)
        .map(|operation| operation.count)
        .sum();
    assert_eq!(in_time + drained + offered.waits.count, due);
    // What waits for a connection is no lag of the client's.
    let of_client = |it: &Option<Durations>| it.as_ref().map_or(0, |it| it.sum_ns);
    let lags = intervals.iter().map(|interval| {
        let own = interval.carried.iter().map(|it| of_client(&it.client_lag));
        let sent = interval.carried.iter().map(|it| it.send_lag.sum_ns);
        (
            of_client(&interval.client_lag) + own.sum::<u64>(),
            of_client(&interval.send_lag) + sent.sum::<u64>(),
        )
    });
    let (own, sent) = lags.fold((0, 0), |sum, lag| (sum.0 + lag.0, sum.1 + lag.1));
    assert!(0 < own && own < sent / 2, "{own} of {sent}");
    let shortfall = offered.shortfall.unwrap();
    // The cause depends on how busy the machine is otherwise.
    assert!(!shortfall.why.is_empty());
    assert!(shortfall.achieved_per_s < rate_per_s / 2.0);
}

#[test]
fn a_rate_within_reach_has_no_shortfall() {
    let poisson = Arrivals::Open {
        rate_per_s: 200.0,
        process: Process::Poisson,
    };
    let stop = Stop::After(Duration::from_secs(1));
    let (outcome, _) = drive(64, 2, poisson, stop);
    assert_eq!(outcome.offered.shortfall, None, "{:?}", outcome.offered);
    assert_eq!(outcome.offered.waits.count, 0);
}

#[test]
fn a_load_ends_when_its_quantile_is_known_precisely() {
    let precision = Precision {
        quantile: 0.5,
        within: 0.1,
        half_width: |median, parts| (parts.len() >= 4).then_some(median * 0.05),
        at_most: Duration::from_secs(60),
    };
    let (outcome, _) = drive(4, 1, Arrivals::Closed, Stop::UntilPrecise(precision));
    assert!(
        outcome.elapsed < Duration::from_secs(30),
        "{:?}",
        outcome.elapsed
    );
    assert_eq!(outcome.stop_why.unwrap(), "p50 known within 5 %");
}
