//! Tests of loads that share their time with others.

use super::*;
use crate::{
    timeline::DueIn,
    turns::{AHEAD, Slice, Turn, Turns},
};
use settings::ThinkTime;

/// What whoever divides the time does at a time, milliseconds after the start of the load.
enum Step {
    /// Adds a turn: its begin, the number and the begin of its slice, and its end.
    Add(u64, Option<(u32, u64)>, Option<u64>),
    /// Closes the turn without an end at this time.
    Close(u64),
}

impl Step {
    fn take(&self, turns: &Turns) {
        match *self {
            Self::Add(from_ms, slice, to_ms) => turns.add(Turn {
                from: after_ms(from_ms),
                slice: slice.map(|(number, from_ms)| Slice {
                    number,
                    from: after_ms(from_ms),
                }),
                to: to_ms.map(after_ms),
            }),
            Self::Close(at_ms) => turns.close(after_ms(at_ms)),
        }
    }
}

/// Drives users whose time is divided by these steps, each at its time, until the load is stopped.
fn drive_in_turns(
    mut users: Vec<Scripted>,
    arrivals: Arrivals,
    on_error: OnError,
    steps: Vec<(u64, Step)>,
    stop_ms: u64,
) -> Told {
    let turns = Arc::new(Turns::default());
    let second = Duration::from_secs(1);
    let timeline = Timeline::new(second, Stages::default(), Some(Arc::clone(&turns)));
    timeline.stop_by(after_ms(stop_ms));
    let divide = async move {
        for (at_ms, step) in steps {
            reactor::sleep_until(after_ms(at_ms)).await;
            step.take(&turns);
        }
    };
    users[0].at_connect = Some(Box::new(|| reactor::spawn(divide)));
    drive_along(timeline, users, arrivals, on_error, |task| task)
}

fn closed(users: Vec<Scripted>, steps: Vec<(u64, Step)>, stop_ms: u64) -> Told {
    drive_in_turns(users, Arrivals::Closed, OnError::Stop, steps, stop_ms)
}

fn of_slice(number: u32) -> DueIn {
    DueIn {
        slice: Some(number),
        ..DueIn::from(Phase::Measurement)
    }
}

impl Told {
    /// Operations due in the slice that begins at this time.
    fn due_in_slice(&self, number: u32, from_ms: u64, to_ms: u64) -> u64 {
        let times = after_ms(from_ms)..after_ms(to_ms);
        let own = self.intervals.iter().filter(|it| times.contains(&it.1));
        let own: u64 = own.map(|it| it.3.response.count).sum();
        own + self.carried_of(of_slice(number))
    }

    /// Operations due in a part of the load, and completed in a later one.
    fn carried_of(&self, due_in: DueIn) -> u64 {
        self.carried.get(&due_in).map_or(0, Cells::succeeded)
    }

    /// Begin and end of every interval before the stop, in milliseconds after the start.
    fn borders_ms(&self) -> Vec<(Phase, u64, u64)> {
        let ms = |at: Instant| (at - after_ms(0)).as_millis() as u64;
        let intervals = self.intervals.iter().filter(|it| it.0 != Phase::Drain);
        intervals
            .map(|(phase, from, to, _)| (*phase, ms(*from), ms(*to)))
            .collect()
    }
}

/// Known from the start: a turn of the warm-up, and two turns with a slice.
fn known_turns() -> Vec<(u64, Step)> {
    vec![
        (0, Step::Add(100, None, Some(305))),
        (0, Step::Add(500, Some((1, 600)), Some(1_105))),
        (0, Step::Add(1_500, Some((2, 1_600)), Some(2_105))),
    ]
}

#[test]
fn operations_begin_only_in_turns() {
    let told = closed(vec![Scripted::taking(&[10])], known_turns(), 2_500);
    let expected = [
        (Phase::WarmUp, 0, 100),
        (Phase::WarmUp, 100, 305),
        (Phase::WarmUp, 305, 500),
        (Phase::Pause, 500, 600),
        (Phase::Measurement, 600, 1_105),
        (Phase::Pause, 1_105, 1_500),
        (Phase::Pause, 1_500, 1_600),
        (Phase::Measurement, 1_600, 2_105),
        (Phase::Pause, 2_105, 2_500),
    ];
    assert_eq!(told.borders_ms(), expected);
    let counts: Vec<u64> = told
        .intervals
        .iter()
        .map(|it| it.3.response.count)
        .collect();
    // The last operation of each turn ends after it, and belongs to it. That of the warm-up ends in the warm-up.
    assert_eq!(counts[..9], [0, 20, 1, 9, 50, 0, 9, 50, 0]);
    assert_eq!(told.carried_of(Phase::Pause.into()), 2);
    assert_eq!(
        (told.carried_of(of_slice(1)), told.carried_of(of_slice(2))),
        (1, 1)
    );
    assert_eq!(told.due_in_slice(1, 600, 1_105), 51);
    assert_eq!(told.due_in_slice(2, 1_600, 2_105), 51);
    let response = told.due_in(Phase::Measurement).response;
    assert_eq!((response.count, response.max_ns), (102, 10_000_000));
    // A user that waited for a turn was not late.
    assert_eq!(told.all.send_lag.max_ns, 0);
    assert_eq!(told.users[0].count, 102);
}

#[test]
fn all_users_begin_with_a_turn_that_is_known_shortly_before() {
    // More than can look at the clock themselves.
    let users = 500;
    let ahead_ms = AHEAD.as_millis() as u64;
    let steps = vec![
        (90, Step::Add(90 + ahead_ms, None, None)),
        (380, Step::Close(380 + ahead_ms)),
        (480, Step::Add(480 + ahead_ms, Some((1, 500)), Some(805))),
    ];
    let scripted = (0..users).map(|_| Scripted::taking(&[7])).collect();
    let told = closed(scripted, steps, 1_000);
    assert_eq!(told.all.send_lag.max_ns, 0);
    // From 110 ms to 400 ms, and from 500 ms to 805 ms: the last of each begins just before the end.
    assert_eq!(told.due_in(Phase::WarmUp).response.count, users * 42);
    assert_eq!(told.due_in_slice(1, 500, 805), users * 44);
    assert_eq!(told.due_in(Phase::Pause).response.count, 0);
}

#[test]
fn an_operation_that_lasts_into_other_turns_belongs_to_its_own() {
    let steps = vec![
        (0, Step::Add(100, Some((1, 200)), Some(405))),
        (0, Step::Add(600, Some((2, 600)), Some(905))),
        (0, Step::Add(1_200, Some((3, 1_200)), Some(1_300))),
    ];
    let told = closed(vec![Scripted::taking(&[300])], steps, 2_000);
    // They begin at 100, 400, 700 and 1,200 ms: the second ends in the second turn, and the next one begins there.
    let due = |number| told.carried_of(of_slice(number));
    assert_eq!((due(1), due(2), due(3)), (1, 1, 1));
    assert_eq!(told.carried_of(Phase::Pause.into()), 1);
    assert_eq!(told.all.succeeded(), 4);
    assert_eq!(told.all.send_lag.max_ns, 0);
    assert_eq!(told.left.unanswered.unfinished, 0);
}

#[test]
fn a_stop_in_a_pause_ends_the_load_at_once() {
    let users = || vec![Scripted::taking(&[10]), Scripted::taking(&[10])];
    for steps in [known_turns(), Vec::new()] {
        let told = closed(users(), steps, 1_300);
        let last = told.intervals.last().unwrap();
        assert!(last.2 <= after_ms(1_300) + AHEAD, "ended at {:?}", last.2);
        assert_eq!(told.left.in_flight, 0);
        assert!(told.halted.is_empty(), "{:?}", told.halted);
        assert_eq!(told.users.len(), 2);
    }
}

#[test]
fn a_load_that_never_has_a_turn_has_no_operations() {
    let told = closed(vec![Scripted::taking(&[10])], Vec::new(), 2_500);
    let expected = [
        (Phase::WarmUp, 0, 1_000),
        (Phase::WarmUp, 1_000, 2_000),
        (Phase::WarmUp, 2_000, 2_500),
    ];
    assert_eq!(told.borders_ms(), expected);
    assert_eq!(told.all.succeeded(), 0);
}

#[test]
fn users_think_only_in_turns() {
    let steps = || {
        vec![
            (0, Step::Add(100, None, Some(200))),
            (0, Step::Add(300, Some((1, 300)), Some(405))),
        ]
    };
    let thinking = Arrivals::Thinking(ThinkTime::Fixed(Duration::from_millis(30)));
    let users = vec![Scripted::taking(&[10])];
    let told = drive_in_turns(users, thinking, OnError::Stop, steps(), 600);
    // At 130 and 170 ms; then 20 of 30 ms are over when the turn ends: at 310, 350 and 390 ms.
    assert_eq!(told.due_in(Phase::WarmUp).response.count, 2);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 3);
    assert_eq!(told.all.send_lag.max_ns, 0);
    // So does a pause that a user makes itself: its first operation is due at 320 ms.
    let mut user = Scripted::taking(&[10]);
    user.pause = Some(Duration::from_millis(120));
    let told = closed(vec![user], steps(), 600);
    assert_eq!(told.due_in(Phase::WarmUp).response.count, 0);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 9);
    assert_eq!(told.all.send_lag.max_ns, 0);
}

#[test]
fn a_think_time_in_a_turn_that_is_closed_meanwhile_is_continued_in_the_next() {
    let steps = vec![
        (0, Step::Add(100, None, None)),
        (120, Step::Close(145)),
        (200, Step::Add(300, Some((1, 300)), Some(400))),
    ];
    let thinking = Arrivals::Thinking(ThinkTime::Fixed(Duration::from_millis(60)));
    let users = vec![Scripted::taking(&[10])];
    let told = drive_in_turns(users, thinking, OnError::Stop, steps, 600);
    // 45 of 60 ms are over when the turn ends: at 315 and 385 ms.
    assert_eq!(told.due_in(Phase::WarmUp).response.count, 0);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 2);
    assert_eq!(told.all.send_lag.max_ns, 0);
}

#[test]
fn a_queued_operation_waits_for_a_turn_without_being_late() {
    let mut user = Scripted::taking(&[10]);
    user.queued = vec![START_NS; 3];
    user.rounds = Some(3);
    let steps = vec![(0, Step::Add(500, Some((1, 500)), Some(1_005)))];
    let told = closed(vec![user], steps, 2_000);
    let response = told.due_in(Phase::Measurement).response;
    assert_eq!(
        (response.count, response.min_ns, response.max_ns),
        (3, 10_000_000, 30_000_000)
    );
    assert_eq!(told.all.send_lag.max_ns, 0);
}

#[test]
fn a_connection_that_is_lost_at_the_end_of_a_turn_is_opened_again_for_the_next() {
    let steps = || {
        vec![
            (0, Step::Add(100, Some((1, 100)), Some(205))),
            (0, Step::Add(1_500, Some((2, 1_500)), Some(1_605))),
        ]
    };
    // The last operation of the first slice fails in the pause after it, or the first one of the second slice.
    for at in [10, 11] {
        let mut user = Scripted::taking(&[10; 100]).failing(at, failure(0, false, true));
        (user.connect_fails_from, user.connect_fails) = (2, 3);
        let connects = Rc::clone(&user.connects);
        let told = drive_in_turns(vec![user], Arrivals::Closed, OnError::Count, steps(), 2_000);
        assert!(told.halted.is_empty(), "{:?}", told.halted);
        assert_eq!(connects.get(), 1 + 3 + 1, "operation {at}");
        let errors: u64 = told.all.operations.iter().map(|cell| cell.errors).sum();
        assert_eq!(errors, 1, "operation {at}");
        let refused = &told.refusals[&(0, 0)];
        assert_eq!((refused.count, refused.retried), (3, 3), "operation {at}");
        // Of a pause no failure counts in the measurement.
        assert_eq!(refused.in_measurement, if at == 10 { 0 } else { 3 });
        assert_eq!(told.failures[&(0, 0)].in_measurement, 1, "operation {at}");
    }
    // A server that stays away ends the load.
    let mut user = Scripted::taking(&[10; 100]).failing(11, failure(0, false, true));
    user.connect_fails_from = 2;
    let told = drive_in_turns(
        vec![user],
        Arrivals::Closed,
        OnError::Count,
        steps(),
        60_000,
    );
    assert!(matches!(&told.halted[..], [Termination::ServerLost(_)]));
}

#[test]
fn a_long_wait_for_a_turn_is_not_time_without_success() {
    let policy = OnError::RetryElseStop {
        reconnect_for: Duration::from_secs(2),
    };
    // Its first operation succeeds at the 150th attempt, minutes after the start of the load.
    let mut user = Scripted::taking(&[10; 150]);
    for at in 0..149 {
        user = user.failing(at, failure(1213, true, false));
    }
    user.rounds = Some(150);
    let turns = Arc::new(Turns::default());
    Step::Add(300_000, None, None).take(&turns);
    let second = Duration::from_secs(1);
    let timeline = Timeline::new(second, Stages::default(), Some(turns));
    let told = drive_along(timeline, vec![user], Arrivals::Closed, policy, |task| task);
    assert!(told.halted.is_empty(), "{:?}", told.halted);
    assert_eq!(told.all.succeeded(), 1);
}
