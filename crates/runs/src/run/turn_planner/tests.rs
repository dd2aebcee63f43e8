//! Sessions as they are planned, for every number of loads.

use std::collections::BTreeSet;

use super::*;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * 1_000_000)
}

const fn slicing(settle: Duration) -> Slicing {
    Slicing {
        slice: Duration::from_millis(500),
        settle,
        quiet: false,
    }
}

/// A session, played to its end.
struct Played {
    /// The turns in the order in which they were planned, those of the warm-up with their end.
    turns: Vec<(usize, Turn)>,
    end: SessionEnd,
}

/// Plays a session whose batches decide after this number of them, if they do. What is ordered must be ahead of its time.
fn play(planner: &mut TurnPlanner, decides: Option<u32>) -> Played {
    let mut now = at(7_000);
    let mut turns: Vec<(usize, Turn)> = Vec::new();
    let mut orders = planner.begin(now);
    let mut batches = 0;
    loop {
        let begins = orders.turns.iter().map(|(_, turn)| turn.from);
        let mut told = begins.chain(orders.close.map(|(_, at)| at));
        assert!(told.all(|at| at >= now + AHEAD));
        if let Some((load, at)) = orders.close {
            let (of, open) = turns.last_mut().unwrap();
            assert_eq!((*of, open.to), (load, None));
            open.to = Some(at);
        }
        turns.extend(&orders.turns);
        if let Some(end) = orders.end {
            assert!(end.at >= now + AHEAD);
            return Played { turns, end };
        }
        if let Some(load) = orders.change_for {
            now = orders.close.map_or(now, |(_, at)| at) + 7 * MS;
            orders = planner.changed(now);
            let loads: Vec<usize> = orders.turns.iter().map(|(load, _)| *load).collect();
            assert_eq!(loads, [load]);
            continue;
        }
        if let [(load, Turn { slice: None, .. })] = orders.turns.as_slice() {
            assert_eq!(planner.warms_up(), Some(*load));
            now = now + 2_000 * MS;
            orders = planner.warmed_up(*load, now);
            continue;
        }
        let mut is_batch = false;
        for (load, turn) in &orders.turns {
            assert!(!is_batch, "judged before all of it has arrived");
            now = turn.to.unwrap() + 3 * MS;
            is_batch = arrive(planner, *load, turn);
        }
        assert!(is_batch);
        if let Some(next) = planner.next_of_batch() {
            orders = next;
            continue;
        }
        batches += 1;
        now = now + 40 * MS;
        orders = planner.judged(decides == Some(batches), now);
    }
}

/// The intervals of a turn arrive, and one before it.
fn arrive(planner: &mut TurnPlanner, load: usize, turn: &Turn) -> bool {
    let slice = turn.slice.unwrap();
    let measured_s = (turn.to.unwrap() - slice.from).as_secs_f64();
    assert!(!planner.interval(load, None, 0.1));
    planner.interval(load, Some(slice.number), measured_s)
}

/// Every number of loads with and without a settling time, for some seeds.
fn every_session(check: impl Fn(usize, Duration, TurnPlanner)) {
    for loads in 1..=Slicing::COMBINATIONS_AT_MOST {
        for settle in [Duration::ZERO, 100 * MS] {
            for seed in 0..20 {
                let warm_up = vec![true; loads];
                let planner = TurnPlanner::new(&warm_up, slicing(settle), 15, seed);
                check(loads, settle, planner);
            }
        }
    }
}

#[test]
fn no_two_loads_have_turns_at_one_time() {
    every_session(|_, _, mut planner| {
        let played = play(&mut planner, None);
        for pair in played.turns.windows(2) {
            let [(_, turn), (_, next)] = pair else {
                panic!("a window of two");
            };
            assert!(turn.from < turn.to.unwrap());
            assert!(turn.to.unwrap() <= next.from);
        }
    });
}

#[test]
fn every_load_warms_up_once_before_the_first_slice() {
    every_session(|loads, _, mut planner| {
        let played = play(&mut planner, None);
        let (warm_up, slices) = played.turns.split_at(loads);
        let warmed: BTreeSet<usize> = warm_up.iter().map(|(load, _)| *load).collect();
        assert_eq!(warmed.len(), loads);
        assert!(warm_up.iter().all(|(_, turn)| turn.slice.is_none()));
        assert!(slices.iter().all(|(_, turn)| turn.slice.is_some()));
        assert_eq!(planner.warms_up(), None);
    });
}

#[test]
fn every_block_has_a_slice_of_each_load() {
    every_session(|loads, settle, mut planner| {
        let played = play(&mut planner, None);
        for (block, number) in played.turns[loads..].chunks(loads).zip(1..) {
            let of_block: BTreeSet<usize> = block.iter().map(|(load, _)| *load).collect();
            assert_eq!(of_block.len(), loads);
            for (_, turn) in block {
                let slice = turn.slice.unwrap();
                assert_eq!(slice.number, number);
                assert_eq!(slice.from - turn.from, settle);
                assert_eq!(turn.to.unwrap() - slice.from, 500 * MS);
            }
        }
    });
}

#[test]
fn a_session_ends_with_a_whole_batch() {
    for decides in [None, Some(1), Some(2), Some(3)] {
        every_session(|loads, _, mut planner| {
            let played = play(&mut planner, decides);
            let batches = decides.unwrap_or(3);
            assert_eq!(played.end.slices, batches * Slicing::BATCH);
            // The last batch ends the session, whatever it decides.
            assert_eq!(played.end.is_decided, batches < 3);
            assert_eq!(
                played.turns.len(),
                loads + loads * played.end.slices as usize
            );
            let (_, last) = played.turns.last().unwrap();
            assert!(played.end.at >= last.to.unwrap());
        });
    }
}

#[test]
fn the_turns_of_a_batch_follow_each_other_without_a_gap() {
    every_session(|loads, _, mut planner| {
        let played = play(&mut planner, None);
        for batch in played.turns[loads..].chunks(loads * Slicing::BATCH as usize) {
            for pair in batch.windows(2) {
                assert_eq!(pair[0].1.to, Some(pair[1].1.from));
            }
        }
    });
}

#[test]
fn a_turn_is_planned_after_the_change_of_the_server() {
    for (loads, seed) in [(1, 1), (2, 2), (2, 3), (3, 4), (8, 5)] {
        let planner = || TurnPlanner::new(&vec![true; loads], slicing(100 * MS), 15, seed);
        let usual = play(&mut planner(), None);
        let mut changing = planner().changing_the_server(true);
        let played = play(&mut changing, None);
        // Only the times differ.
        let order = |played: &Played| {
            let turns = played.turns.iter();
            let turns = turns.map(|(load, turn)| (*load, turn.slice.map(|it| it.number)));
            turns.collect::<Vec<_>>()
        };
        assert_eq!(order(&played), order(&usual));
        for pair in played.turns.windows(2) {
            assert!(pair[1].1.from >= pair[0].1.to.unwrap() + AHEAD);
        }
        assert_eq!(played.end.slices, 15);
        let decided = play(&mut planner().changing_the_server(true), Some(1)).end;
        assert!(decided.is_decided && decided.slices == Slicing::BATCH);
        // Nothing was ordered.
        assert_eq!(changing.changed(at(0)), Orders::default());
    }
}

#[test]
fn the_order_is_drawn_anew_for_each_block_from_the_seed() {
    let orders = |seed| {
        let mut planner = TurnPlanner::new(&[false; 2], slicing(100 * MS), 100, seed);
        let played = play(&mut planner, None);
        let firsts = played.turns.chunks(2).map(|block| block[0].0);
        firsts.collect::<Vec<usize>>()
    };
    assert_eq!(orders(1), orders(1));
    assert_ne!(orders(1), orders(2));
    // 2,000 blocks of two loads: 1,000 of each order, standard deviation 22.
    let first: usize = (0..20).flat_map(orders).sum();
    assert!((890..1110).contains(&first), "{first}");
}

#[test]
fn a_load_without_a_warm_up_has_no_turn_for_it() {
    let mut planner = TurnPlanner::new(&[false, true, false], slicing(100 * MS), 15, 1);
    let orders = planner.begin(at(0));
    assert_eq!(planner.warms_up(), Some(1));
    assert_eq!(orders.turns.len(), 1);
    // The others may report that they are warm.
    assert_eq!(planner.warmed_up(0, at(100)), Orders::default());
    let orders = planner.warmed_up(1, at(200));
    assert_eq!(orders.close.map(|(load, _)| load), Some(1));
    assert_eq!(orders.turns.len(), 15);
    assert_eq!(planner.warmed_up(1, at(300)), Orders::default());
    let mut without = TurnPlanner::new(&[false; 2], slicing(100 * MS), 15, 1);
    let orders = without.begin(at(0));
    assert!(orders.turns.iter().all(|(_, turn)| turn.slice.is_some()));
}

#[test]
fn a_batch_has_arrived_when_each_last_slice_has_in_whatever_parts() {
    let mut planner = TurnPlanner::new(&[false; 2], slicing(100 * MS), 15, 1);
    planner.begin(at(0));
    for number in 1..5 {
        for load in [0, 1] {
            assert!(!planner.interval(load, Some(number), 0.5));
        }
    }
    assert!(!planner.interval(0, Some(5), 0.5));
    // A slice in three intervals, of lengths that a binary fraction does not hold.
    assert!(!planner.interval(1, Some(5), 0.1));
    assert!(!planner.interval(1, Some(5), 0.3));
    assert!(planner.interval(1, Some(5), 0.1));
    assert!(!planner.interval(1, None, 1.0), "it is reported once");
    planner.judged(false, at(9_000));
    for number in 6..=10 {
        assert!(!planner.interval(1, Some(number), 0.5));
    }
    // Of one whose begin was missed there is less, and what follows is behind it.
    for number in 6..=9 {
        assert!(!planner.interval(0, Some(number), 0.5));
    }
    assert!(!planner.interval(0, Some(10), 0.45));
    assert!(planner.interval(0, None, 0.2));
}

/// The experiment asks for as many batches as the statistics need, whose crate it does not know.
#[test]
fn the_shortest_session_can_be_decided() {
    assert_eq!(Slicing::BATCHES_AT_LEAST as usize, stats::BATCHES_AT_LEAST);
    let longest_s = verdict::ShortSlices::SLICE_S_AT_MOST;
    let lengths = [longest_s, longest_s + 1.0].map(|it| Slicing::parse_slice(&format!("{it}s")));
    assert!(matches!(lengths, [Some(_), None]), "{lengths:?}");
}

#[test]
fn no_batch_begins_that_would_end_too_late() {
    // A batch of two loads takes 6 s and the gap after it; the first begins after 7 s.
    for (deadline, batches) in [(7_000, 6), (44_000, 6), (60_000, 8), (500_000, 10)] {
        let planner = TurnPlanner::new(&[false; 2], slicing(100 * MS), 50, 1);
        let mut planner = planner.ending_by(Some(at(deadline)));
        let end = play(&mut planner, None).end;
        assert_eq!(end.slices, batches * Slicing::BATCH, "{deadline}");
        assert_eq!(end.is_late, batches < 10);
        assert!(end.at <= at(deadline) || batches == 6);
        assert!(!end.is_decided);
    }
    // What is decided is not late.
    let planner = TurnPlanner::new(&[false; 2], slicing(100 * MS), 50, 1);
    let mut planner = planner.ending_by(Some(at(0)));
    let end = play(&mut planner, Some(3)).end;
    assert!(end.is_decided && !end.is_late);
}

/// Plays a session with pauses until the servers are quiet, of which each takes this time after its turn; the batches decide
/// after this number of them, if they do.
fn play_quiet(pauses: impl Fn(usize) -> Duration, decides: Option<u32>) -> Played {
    let slicing = Slicing {
        quiet: true,
        ..slicing(100 * MS)
    };
    let mut planner = TurnPlanner::new(&[false; 2], slicing, 15, 1);
    let mut now = at(7_000);
    let mut turns: Vec<(usize, Turn)> = Vec::new();
    let mut orders = planner.begin(now);
    let mut batches = 0;
    loop {
        let [(load, turn)] = orders.turns[..] else {
            panic!("one turn at a time: {orders:?}");
        };
        assert!(turn.from >= now + AHEAD);
        turns.push((load, turn));
        let to = turn.to.unwrap();
        if let Some(end) = orders.end {
            assert_eq!(end.at, to);
            return Played { turns, end };
        }
        let quiet_at = to + pauses(turns.len());
        let arrived_at = to + 150 * MS;
        let judge = |planner: &mut TurnPlanner| {
            let is_batch = arrive(planner, load, &turn);
            is_batch.then(|| planner.judged(decides == Some(batches + 1), arrived_at))
        };
        let (judged, next) = if arrived_at < quiet_at {
            (judge(&mut planner), planner.quiet(quiet_at))
        } else {
            let next = planner.quiet(quiet_at);
            (judge(&mut planner), next)
        };
        batches += u32::from(judged.is_some());
        (orders, now) = match judged {
            Some(judged) if judged != Orders::default() => {
                assert_eq!(next, Orders::default());
                (judged, arrived_at)
            }
            _ => (next, quiet_at),
        };
        if let Some(end) = orders.end.filter(|_| orders.turns.is_empty()) {
            return Played { turns, end };
        }
    }
}

#[test]
fn each_turn_waits_until_the_server_of_the_one_before_is_quiet() {
    // Quiet before the slice has arrived, and after it.
    for ms in [100, 1_500] {
        let played = play_quiet(|_| ms * MS, None);
        assert_eq!(played.turns.len(), 30);
        for pair in played.turns.windows(2) {
            let pause = pair[1].1.from - pair[0].1.to.unwrap();
            assert!(pause >= ms * MS, "{pause:?}");
        }
        for (block, number) in played.turns.chunks(2).zip(1..) {
            let numbers = block.iter().map(|(_, turn)| turn.slice.unwrap().number);
            assert!(numbers.eq([number; 2]));
            assert_ne!(block[0].0, block[1].0);
        }
    }
    let decided = play_quiet(|turn| 100 * MS * (turn as u32 % 3 + 1), Some(2));
    assert!(decided.end.is_decided);
    assert_eq!((decided.end.slices, decided.turns.len()), (10, 20));
}
