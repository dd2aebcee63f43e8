//! Tests of one event loop under a driven clock, with users whose operations take known times.

use std::{future::Future, sync::Arc, time::Duration};

use reactor::{Clock, channel};
use samples::{Durations, Phase};
use settings::{Arrivals, OnError};

use super::*;
use crate::{
    arrivals::Share,
    budget::Allowance,
    intervals::LoopInterval,
    outcome::Termination,
    pace::{LoopPace, LoopTotals},
    recorder::{Cell, CellCounts, Cells, FailureCounts, LateCells},
    rules::Drain,
    stages::Stages,
    tolerated::ToleratedFailures,
    user::{Class, Failure, Moment, Next, OperationObserver},
};

/// A user whose operations take known times, in order, and fail on demand.
struct Scripted {
    names: Vec<String>,
    /// For each operation its time and its failure.
    script: Vec<(Duration, Option<Failure>)>,
    /// Statements before that: index, time and class.
    statements: Vec<(usize, Duration, Class)>,
    /// Position in the script of the next operation; wraps around.
    position: usize,
    /// The period in which the server does not answer.
    frozen: Option<(Instant, Instant)>,
    rounds: Option<usize>,
    pause: Option<Duration>,
    connects: Rc<StdCell<u32>>,
    /// Is called when it connects for the first time.
    at_connect: Option<Box<dyn FnOnce()>>,
    connect_takes: Duration,
    connect_fails_from: u32,
    /// How many reconnects fail from there on.
    connect_fails: u32,
    /// The result of flushing at its end, and the time that it takes.
    last: (Duration, Option<Failure>),
    /// Times since which operations are due, the next one last.
    queued: Vec<u64>,
}

impl Scripted {
    fn taking(times_ms: &[u64]) -> Self {
        Self {
            names: vec!["select".to_owned()],
            script: times_ms
                .iter()
                .map(|ms| (Duration::from_millis(*ms), None))
                .collect(),
            statements: Vec::new(),
            position: 0,
            frozen: None,
            rounds: None,
            pause: None,
            connects: Rc::default(),
            at_connect: None,
            connect_takes: Duration::ZERO,
            connect_fails_from: u32::MAX,
            connect_fails: u32::MAX,
            last: (Duration::ZERO, None),
            queued: Vec::new(),
        }
    }

    fn failing(mut self, at: usize, failure: Failure) -> Self {
        self.script[at].1 = Some(failure);
        self
    }
}

fn failure(number: u16, retryable: bool, lost: bool) -> Failure {
    Failure {
        number,
        sqlstate: "40001".to_owned(),
        message: format!("error {number}"),
        lost,
        retryable,
        outcome_unknown: false,
        is_of_input: false,
    }
}

impl User for Scripted {
    fn operations(&self) -> &[String] {
        &self.names
    }

    fn connect(&mut self) -> impl Future<Output = Result<(), Failure>> {
        self.connects.set(self.connects.get() + 1);
        if let Some(call) = self.at_connect.take() {
            call();
        }
        let since = self.connects.get().checked_sub(self.connect_fails_from);
        let refused = since.is_some_and(|since| since < self.connect_fails);
        let time = self.connect_takes;
        async move {
            if time > Duration::ZERO {
                reactor::sleep(time).await;
            }
            if refused {
                Err(failure(0, false, true))
            } else {
                Ok(())
            }
        }
    }

    fn next(&mut self) -> Next {
        if self.rounds.is_some_and(|rounds| self.position >= rounds) {
            return Next::End;
        }
        if let Some(ns) = self.queued.pop() {
            return Next::OperationSince(0, Moment { ns });
        }
        match self.pause.take() {
            Some(pause) => Next::Pause(pause),
            None => Next::Operation(0),
        }
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        for (statement, time, class) in &self.statements {
            reactor::sleep(*time).await;
            watch.statement(*statement, *class);
        }
        let index = self.position % self.script.len();
        let (time, failure) = self.script[index].clone();
        self.position += 1;
        if let Some((from, to)) = self.frozen {
            let now = reactor::now();
            if from <= now && now < to {
                reactor::sleep_until(to).await;
            }
        }
        reactor::sleep(time).await;
        failure.map_or(Ok(()), Err)
    }

    async fn finish(&mut self, _watch: &mut impl OperationObserver) -> Result<(), Failure> {
        let (time, failure) = self.last.clone();
        reactor::sleep(time).await;
        failure.map_or(Ok(()), Err)
    }

    async fn disconnect(&mut self) {}
}

const START_NS: u64 = 1_000_000_000;

/// The time this many milliseconds after the start of the load.
fn after_ms(ms: u64) -> Instant {
    Instant::from_ns(START_NS + ms * 1_000_000)
}

/// The messages of one event loop that drove `users` for `measure_ms` after `warm_up_ms`, under a driven clock.
struct Told {
    intervals: Vec<(Phase, Instant, Instant, Cell)>,
    /// The sum of all intervals.
    all: Cells,
    /// Operations that were due in an earlier phase than that of the interval.
    carried: LateCells,
    paces: Vec<LoopPace>,
    halted: Vec<Termination>,
    failures: FailureCounts,
    refusals: FailureCounts,
    left: LoopTotals,
    users: Vec<UserTotal>,
}

const SHAPE: CellCounts = CellCounts {
    operations: 1,
    statements: 2,
    open: true,
};

fn drive(users: Vec<Scripted>, on_error: OnError, warm_up_ms: u64, measure_ms: u64) -> Told {
    drive_at(users, Arrivals::Closed, on_error, warm_up_ms, measure_ms)
}

fn drive_at(
    users: Vec<Scripted>,
    arrivals: Arrivals,
    on_error: OnError,
    warm_up_ms: u64,
    measure_ms: u64,
) -> Told {
    let phases = (warm_up_ms, Some(measure_ms));
    drive_with(users, arrivals, on_error, phases, |task| task)
}

/// With a modified task, and a measurement that ends by itself if its length is 0.
fn drive_with(
    users: Vec<Scripted>,
    arrivals: Arrivals,
    on_error: OnError,
    phases: (u64, Option<u64>),
    change: impl FnOnce(Task) -> Task,
) -> Told {
    drive_in_stages(users, arrivals, on_error, phases, Stages::default(), change)
}

/// The same with stages, which begin with the load.
fn drive_in_stages(
    users: Vec<Scripted>,
    arrivals: Arrivals,
    on_error: OnError,
    (warm_up_ms, measure_ms): (u64, Option<u64>),
    stages: Stages,
    change: impl FnOnce(Task) -> Task,
) -> Told {
    // Phases begin half a millisecond after a multiple, so that no operation ends on a boundary.
    let at = |ms: u64| Instant::from_ns(START_NS + ms * 1_000_000 + 500_000);
    let timeline = Timeline::new(Duration::from_secs(1), stages, None);
    timeline.set_measure_from(match warm_up_ms {
        0 => Instant::from_ns(START_NS),
        warm_up_ms => at(warm_up_ms),
    });
    if let Some(measure_ms) = measure_ms {
        timeline.stop_by(at(warm_up_ms + measure_ms));
    }
    drive_along(timeline, users, arrivals, on_error, change)
}

/// The same on this timeline, which has no start yet.
fn drive_along(
    timeline: Timeline,
    users: Vec<Scripted>,
    arrivals: Arrivals,
    on_error: OnError,
    change: impl FnOnce(Task) -> Task,
) -> Told {
    let timeline = Arc::new(timeline);
    timeline.set_start(Instant::from_ns(START_NS));
    let (messages, inbox) = channel::unbounded();
    let (_give_back, used_cells) = channel::unbounded();
    let task = Task {
        share: Share { index: 0, of: 1 },
        shape: SHAPE,
        arrivals,
        seed: 0,
        allowance: Allowance::new(None),
        on_error,
        tolerated: ToleratedFailures::default(),
        drain: Drain::USUAL,
        timeline: Arc::clone(&timeline),
        messages,
        used_cells,
    };
    let offsets = GroupOffsets {
        group: 0,
        first_operation: 0,
        first_statement: 0,
    };
    let users = users
        .into_iter()
        .zip(0..)
        .map(|(user, place)| UserAssignment {
            offsets,
            place: Some(place),
            user,
        });
    let options = Options {
        clock: Clock::Driven,
        spin: false,
    };
    run(change(task), options, users.collect()).unwrap();
    let mut told = Told {
        intervals: Vec::new(),
        all: Cells::new(SHAPE),
        carried: LateCells::new(),
        paces: Vec::new(),
        halted: Vec::new(),
        failures: FailureCounts::new(),
        refusals: FailureCounts::new(),
        left: LoopTotals::default(),
        users: Vec::new(),
    };
    for message in inbox {
        match message {
            Message::Interval { measured, .. } => {
                let LoopInterval {
                    from,
                    to,
                    mut cells,
                    carried,
                    pace,
                } = *measured;
                told.all.add(&cells);
                told.paces.push(pace);
                for (due_in, cells) in carried {
                    told.all.add(&cells);
                    let sum = told.carried.entry(due_in);
                    sum.or_insert_with(|| Cells::new(SHAPE)).add(&cells);
                }
                let cell = cells.operations.remove(0);
                told.intervals.push((timeline.phase(from), from, to, cell));
            }
            Message::Halt(ended) => told.halted.push(ended),
            Message::Finished {
                failures,
                refusals,
                left,
                users,
                ..
            } => {
                told.failures = failures;
                told.refusals = refusals;
                told.left = *left;
                told.users = users;
            }
            Message::Connect { .. } | Message::Ready => {}
        }
    }
    told
}

impl Told {
    /// The operations due in a phase.
    fn due_in(&self, phase: Phase) -> Cell {
        let mut sum = Cell::default();
        let carried = self.carried.iter().filter(|(it, _)| it.phase == phase);
        let carried = carried.map(|(_, cells)| &cells.operations[0]);
        let own = self.intervals.iter().filter(|interval| interval.0 == phase);
        for cell in own.map(|interval| &interval.3).chain(carried) {
            sum.response.add(&cell.response);
            sum.errors += cell.errors;
        }
        sum
    }
}

#[test]
fn percentiles_come_out_as_they_were_put_in() {
    // 98 operations of 1 ms and 2 of 100 ms: 298 ms a cycle, so the 99th percentile is 100 ms.
    let mut times_ms = vec![1; 98];
    times_ms.extend([100, 100]);
    let told = drive(
        vec![Scripted::taking(&times_ms)],
        OnError::Stop,
        2_980,
        29_800,
    );
    let measured = told.due_in(Phase::Measurement);
    assert_eq!(measured.response.count, 10_000);
    assert_eq!(measured.response.min_ns, 1_000_000);
    assert_eq!(measured.response.max_ns, 100_000_000);
    let quantile_ms = |q| measured.response.histogram.quantile_ns(q).unwrap() as f64 / 1e6;
    assert!(
        (quantile_ms(0.5) - 1.0).abs() < 0.001,
        "{}",
        quantile_ms(0.5)
    );
    assert!((quantile_ms(0.99) - 100.0).abs() < 0.1);
}

#[test]
fn the_warm_up_is_kept_apart() {
    let told = drive(vec![Scripted::taking(&[10])], OnError::Stop, 500, 2_000);
    assert_eq!(told.due_in(Phase::WarmUp).response.count, 51);
    assert_eq!(told.carried[&Phase::WarmUp.into()].succeeded(), 1);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 200);
    let lengths_us: Vec<u128> = told
        .intervals
        .iter()
        .map(|(_, from, to, _)| (*to - *from).as_micros())
        .collect();
    assert_eq!(lengths_us[..3], [500_500, 1_000_000, 1_000_000]);
}

#[test]
fn an_operation_in_flight_at_the_stop_belongs_to_the_measurement() {
    let told = drive(vec![Scripted::taking(&[300])], OnError::Stop, 0, 1_000);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 4);
    assert_eq!(told.carried[&Phase::Measurement.into()].succeeded(), 1);
    assert_eq!(told.due_in(Phase::Drain).response.count, 0);
    assert_eq!(told.left.unanswered.unfinished, 0);
}

#[test]
fn users_that_end_by_themselves_end_the_loop() {
    let mut user = Scripted::taking(&[10]);
    user.rounds = Some(7);
    user.pause = Some(Duration::from_millis(500));
    let told = drive(vec![user], OnError::Stop, 0, 60_000);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 7);
    let last = told.intervals.last().unwrap();
    assert!(
        last.2 < Instant::from_ns(2_700_000_000),
        "ended at {:?}",
        last.2
    );
}

#[test]
fn a_statement_takes_from_the_end_of_the_one_before_or_the_begin_of_its_attempt() {
    let ms = Duration::from_millis;
    let mut user = Scripted::taking(&[5, 5]).failing(0, failure(1213, true, false));
    user.statements = vec![
        (1, ms(20), Class::Read { rows: 1 }),
        (0, ms(30), Class::Other),
    ];
    user.rounds = Some(2);
    let told = drive(vec![user], OnError::Retry { at_most: 1 }, 0, 60_000);
    assert_eq!(told.all.operations[0].response.sum_ns, 110_000_000);
    let [other, read] = &told.all.statements[..] else {
        panic!("two statements")
    };
    assert_eq!((read.reads, read.writes, read.others), (2, 0, 0));
    assert_eq!((other.reads, other.writes, other.others), (0, 0, 2));
    assert_eq!(
        (read.times.min_ns, read.times.max_ns),
        (20_000_000, 20_000_000)
    );
    assert_eq!(
        (other.times.min_ns, other.times.max_ns),
        (30_000_000, 30_000_000)
    );
}

mod counting;
mod draining;
mod failing;
mod open_loop;
mod queued;
mod retrying;
mod slow_connections;
mod staged;
mod tolerating;
mod turns;
