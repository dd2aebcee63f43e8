//! Tests of whole loads on the system's clock, with users that only wait.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{sync::Arc, time::Duration};

use load::{
    Arrivals, Drain, Failure, Group, Judgement, Load, LoadListener, Next, OnError, OnRefusal,
    OperationObserver, Outcome, PlannedEnd, Precision, Process, Slice, Stop, Termination,
    ToleratedFailures, Turn, Turns, User, WarmUp, WarmUpEnd,
};
use reactor::{Instant, Interrupt, system_now};
use samples::{Durations, Interval, Phase, PhaseMark};

/// Attempts of what a busy machine may have no time for.
const ATTEMPTS: usize = 10;
/// Longer than any load here takes on a busy machine.
const AN_HOUR: Duration = Duration::from_secs(3600);

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
    let mut seen = Seen::default();
    let load = load_of(time, users, loops, arrivals, stop);
    let outcome = load::drive(load, &Interrupt::default(), &mut seen).unwrap();
    assert_eq!(outcome.ended, Termination::Planned);
    (outcome, seen.0)
}

/// A load of users whose operations take this time.
fn load_of(
    time: Duration,
    users: u32,
    loops: u32,
    arrivals: Arrivals,
    stop: Stop,
) -> Load<Waiting> {
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
    Load {
        groups: vec![group],
        loops,
        spin: false,
        arrivals,
        stages: Vec::new(),
        turns: None,
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
    }
}

fn assert_without_gaps(intervals: &[Interval]) {
    let mut ends_s = 0.0;
    for interval in intervals {
        assert!(
            (interval.t_s - ends_s).abs() < 1e-6,
            "{interval:?} does not begin at {ends_s} s"
        );
        ends_s = interval.t_s + interval.length_s;
    }
}

#[test]
fn a_number_of_operations_is_exact_over_several_loops() {
    let (outcome, intervals) = drive(16, 3, Arrivals::Closed, Stop::Operations(3_001));
    let measured = intervals
        .iter()
        .filter(|interval| interval.phase == Phase::Measurement);
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
    // On a busy machine the user may not begin before the stop: then once more.
    let is_carried = (0..ATTEMPTS).any(|_| {
        let (_, intervals) = drive_taking(Duration::from_millis(700), 1, 1, Arrivals::Closed, stop);
        assert_without_gaps(&intervals);
        let last = intervals.last();
        last.is_some_and(|it| it.phase == Phase::Drain && it.carried.len() == 1)
    });
    assert!(is_carried, "in {ATTEMPTS} attempts");
}

#[test]
fn the_time_or_the_number_of_operations_ends_a_load_whichever_comes_first() {
    let short = Duration::from_millis(200);
    for (time, operations) in [(AN_HOUR, 300), (short, 1_000_000_000)] {
        let stop = Stop::AfterOrOperations(time, operations);
        let (outcome, _) = drive(4, 2, Arrivals::Closed, stop);
        let is_by_number = operations == 300;
        assert_eq!(outcome.offered.due == operations, is_by_number, "{stop:?}");
        assert!(outcome.elapsed < AN_HOUR);
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
    let carried = carried.filter(|carried| carried.due_in == Phase::Measurement);
    let drained: u64 = carried.map(|carried| carried.operations[0].count).sum();
    let in_time: u64 = intervals
        .iter()
        .filter(|interval| interval.phase == Phase::Measurement)
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
    let offered = || {
        let poisson = Arrivals::Open {
            rate_per_s: 200.0,
            process: Process::Poisson,
        };
        drive(64, 2, poisson, Stop::After(Duration::from_secs(1)))
            .0
            .offered
    };
    // A client that lacks a processor at the end of the second is behind its rate: then once more.
    let is_reached = (0..ATTEMPTS).any(|_| {
        let offered = offered();
        offered.shortfall.is_none() && offered.waits.count == 0
    });
    assert!(is_reached, "in {ATTEMPTS} attempts");
}

#[test]
fn a_load_ends_when_its_quantile_is_known_precisely() {
    let precision = Precision {
        quantile: 0.5,
        within: 0.1,
        half_width: |median, parts| (parts.len() >= 4).then_some(median * 0.05),
        at_most: AN_HOUR,
    };
    let (outcome, _) = drive(4, 1, Arrivals::Closed, Stop::UntilPrecise(precision));
    assert!(outcome.elapsed < AN_HOUR, "{:?}", outcome.elapsed);
    assert_eq!(outcome.stop_why.unwrap(), "p50 known within 5 %");
}

/// Length of a slice, of the settling before it and of the pause after it.
const PART: Duration = Duration::from_millis(100);
const SLICES: u32 = 3;

/// Divides the time of a load: it adds slices once the load is warm, and ends the load after the last of them.
#[derive(Default)]
struct Divider {
    turns: Arc<Turns>,
    warmed_up: Vec<String>,
    phases: Vec<Phase>,
    intervals: Vec<Interval>,
}

impl LoadListener for Divider {
    fn connected(&mut self, _open: u64, _total: u64) {}

    fn begin_at(&mut self) -> Option<Instant> {
        let start = system_now() + PART;
        self.turns.add(Turn {
            from: start + PART,
            slice: None,
            to: None,
        });
        Some(start)
    }

    fn started(&mut self) {}

    fn phase(&mut self, mark: PhaseMark) {
        self.phases.push(mark.phase);
    }

    fn interval(&mut self, interval: Interval) {
        self.intervals.push(interval);
    }

    fn warmed_up(&mut self, end: &WarmUpEnd) {
        self.warmed_up.push(end.why.clone());
        let end = system_now() + PART;
        self.turns.close(end);
        for number in 1..=SLICES {
            let from = end + 3 * number * PART;
            let slice = Slice {
                number,
                from: from + PART,
            };
            self.turns.add(Turn {
                from,
                slice: Some(slice),
                to: Some(from + 2 * PART),
            });
        }
    }

    fn planned_end(&mut self) -> Option<PlannedEnd> {
        let mut slices = self.intervals.iter().filter_map(|it| it.slice);
        slices.any(|it| it == SLICES).then(|| PlannedEnd {
            at: system_now(),
            why: "decided after 3 slices".to_owned(),
        })
    }
}

#[test]
fn a_load_with_turns_is_measured_in_their_slices() {
    let mut divider = Divider::default();
    let load = Load {
        turns: Some(Arc::clone(&divider.turns)),
        ..load_of(
            Duration::from_millis(1),
            4,
            2,
            Arrivals::Closed,
            Stop::WhenTold,
        )
    };
    let outcome = load::drive(load, &Interrupt::default(), &mut divider).unwrap();
    assert_eq!(outcome.ended, Termination::Planned);
    assert_eq!(outcome.stop_why.as_deref(), Some("decided after 3 slices"));
    assert_eq!(divider.warmed_up, ["warm-up of 0.1 s over"]);
    assert_eq!(divider.phases[..2], [Phase::WarmUp, Phase::Measurement]);
    assert_without_gaps(&divider.intervals);
    for interval in &divider.intervals {
        let is_measured = interval.phase == Phase::Measurement;
        assert_eq!(interval.slice.is_some(), is_measured, "{interval:?}");
    }
    let mut measured = 0;
    for number in 1..=SLICES {
        let own = divider.intervals.iter();
        let own = own.filter(|it| it.slice == Some(number));
        let own = own.flat_map(|it| &it.operations);
        let carried = divider.intervals.iter().flat_map(|it| &it.carried);
        let carried = carried.filter(|it| it.slice == Some(number));
        let carried = carried.flat_map(|it| &it.operations);
        let count: u64 = own.chain(carried).map(|it| it.count).sum();
        // On a busy machine a slice may have none.
        measured += count;
    }
    assert!(measured > 0);
    assert_eq!(outcome.succeeded, measured);
    assert_eq!(outcome.offered.due, measured);
}

/// Interrupts a load after its second interval.
#[derive(Default)]
struct Interrupter {
    interrupt: Interrupt,
    intervals: Vec<Interval>,
}

impl LoadListener for Interrupter {
    fn connected(&mut self, _open: u64, _total: u64) {}
    fn started(&mut self) {}
    fn phase(&mut self, _mark: PhaseMark) {}
    fn interval(&mut self, interval: Interval) {
        self.intervals.push(interval);
        if self.intervals.len() == 2 {
            self.interrupt.raise();
        }
    }
}

#[test]
fn a_load_that_waits_for_its_turn_can_be_interrupted() {
    let mut interrupter = Interrupter::default();
    let load = Load {
        turns: Some(Arc::default()),
        ..load_of(
            Duration::from_millis(1),
            4,
            2,
            Arrivals::Closed,
            Stop::WhenTold,
        )
    };
    let interrupt = interrupter.interrupt.clone();
    let outcome = load::drive(load, &interrupt, &mut interrupter).unwrap();
    assert_eq!(outcome.ended, Termination::Interrupted);
    assert_eq!((outcome.succeeded, outcome.unfinished), (0, 0));
    assert!(outcome.stop_why.is_none());
    let mut phases = interrupter.intervals.iter().map(|it| it.phase);
    assert!(phases.all(|it| it == Phase::WarmUp));
}
