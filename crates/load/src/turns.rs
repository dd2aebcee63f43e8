//! The turns of a load that shares its time with other loads, and the slices that are measured in them.

use std::{
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use reactor::Instant;

/// Time before an event on the timeline of a load from which on it is not moved any more: every event loop has seen it by
/// then.
pub const AHEAD: Duration = Duration::from_millis(20);

/// Turns in the first chunk; each chunk has twice the turns of the one before.
const FIRST_CHUNK: usize = 64;
/// Chunks for 2^32 turns.
const CHUNKS: usize = 26;
/// The end of a turn that has none yet.
const OPEN: u64 = u64::MAX;

/// The turns of a load that shares its time with others: its users begin operations only in them. Whoever divides the time
/// adds them while the load runs.
///
/// The event loops read them with every operation. They are therefore never moved or removed, and are read without a lock.
#[derive(Debug, Default)]
pub struct Turns {
    chunks: [OnceLock<Chunk>; CHUNKS],
    /// Number of turns that were added.
    count: AtomicUsize,
    /// Held by a thread that changes them.
    change: Mutex<()>,
}

type Chunk = Box<[OnceLock<AddedTurn>]>;

/// A turn that was added; only its end can still change, and only once.
#[derive(Debug)]
struct AddedTurn {
    from: Instant,
    slice: Option<Slice>,
    to_ns: AtomicU64,
}

/// The time in which a load has operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub from: Instant,
    /// The part that is measured; `None` for a turn of the warm-up.
    pub slice: Option<Slice>,
    /// `None` until [`Turns::close`].
    pub to: Option<Instant>,
}

/// The measured part of a turn: from its begin to the end of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Number of the slice in the load, from 1.
    pub number: u32,
    pub from: Instant,
}

impl Turns {
    /// Adds a turn behind the others, of which those without a slice come first. It begins at least [`AHEAD`] from now, so
    /// that every event loop has heard of it. A turn without an end ends where this one begins.
    pub fn add(&self, turn: Turn) {
        let _change = self.begin_change();
        self.end_open_turn(turn.from);
        let count = self.count.load(Ordering::Relaxed);
        let (chunk, place) = position(count);
        let turns = self.chunks[chunk].get_or_init(|| {
            let places = FIRST_CHUNK << chunk;
            (0..places).map(|_| OnceLock::new()).collect()
        });
        // The place is free: places are filled one after the other.
        let _ = turns[place].set(AddedTurn {
            from: turn.from,
            slice: turn.slice,
            to_ns: AtomicU64::new(turn.to.map_or(OPEN, Instant::as_ns)),
        });
        self.count.store(count + 1, Ordering::Release);
    }

    /// Ends the turn without an end at this time, at least [`AHEAD`] from now.
    pub fn close(&self, at: Instant) {
        let _change = self.begin_change();
        self.end_open_turn(at);
    }

    /// The last turn that has begun by this time.
    pub(crate) fn begun_last(&self, at: Instant) -> Option<Turn> {
        let last = self.begun_by(at).checked_sub(1)?;
        Some(self.turn(last))
    }

    /// The turn at this time.
    pub(crate) fn turn_at(&self, at: Instant) -> Option<Turn> {
        self.begun_last(at).filter(|turn| turn.is_open(at))
    }

    /// The next begin or end of a turn or a slice after this time, as far as it is known.
    pub(crate) fn border_after(&self, at: Instant) -> Option<Instant> {
        let begun = self.begun_by(at);
        let last = begun.checked_sub(1).map(|last| self.turn(last));
        let next = (begun < self.count()).then(|| self.turn(begun).from);
        let slice = last.and_then(|turn| turn.slice).map(|slice| slice.from);
        let borders = [slice, last.and_then(|turn| turn.to), next];
        borders.into_iter().flatten().filter(|it| *it > at).min()
    }

    /// The time at which this much time of turns has passed since `from`; `None` if the known turns are too short.
    pub(crate) fn after(&self, from: Instant, time: Duration) -> Option<Instant> {
        let mut left = time;
        let first = self.begun_by(from).saturating_sub(1);
        for index in first..self.count() {
            let turn = self.turn(index);
            let begin = turn.from.max(from);
            let Some(to) = turn.to else {
                return Some(begin + left);
            };
            let rest = to - begin;
            if left < rest {
                return Some(begin + left);
            }
            left -= rest;
        }
        None
    }

    /// Number of turns that have begun by this time.
    fn begun_by(&self, at: Instant) -> usize {
        let mut begun = self.count();
        // Only a few turns are known ahead, and nearly every time asked for is close to now.
        while begun > 0 && self.added(begun - 1).from > at {
            begun -= 1;
        }
        begun
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    fn turn(&self, index: usize) -> Turn {
        let added = self.added(index);
        let to_ns = added.to_ns.load(Ordering::Relaxed);
        Turn {
            from: added.from,
            slice: added.slice,
            to: (to_ns != OPEN).then(|| Instant::from_ns(to_ns)),
        }
    }

    fn added(&self, index: usize) -> &AddedTurn {
        let (chunk, place) = position(index);
        let added = self.chunks[chunk].get();
        let added = added.and_then(|turns| turns[place].get());
        added.expect("a turn is counted after it was added")
    }

    fn begin_change(&self) -> MutexGuard<'_, ()> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_open_turn(&self, at: Instant) {
        if let Some(last) = self.count().checked_sub(1) {
            let to_ns = &self.added(last).to_ns;
            // One that has an end keeps it.
            let _ = to_ns.compare_exchange(OPEN, at.as_ns(), Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Turn {
    /// Whether a turn that has begun by this time is not over.
    fn is_open(&self, at: Instant) -> bool {
        self.to.is_none_or(|to| at < to)
    }

    /// The number of its slice, of a turn that has begun by this time; `None` outside of the slice.
    pub(crate) fn slice_at(&self, at: Instant) -> Option<u32> {
        let slice = self.slice.filter(|slice| slice.from <= at)?;
        self.is_open(at).then_some(slice.number)
    }
}

/// The chunk of a turn, and its place there.
fn position(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST_CHUNK + 1).ilog2();
    let before = FIRST_CHUNK * ((1_usize << chunk) - 1);
    (chunk as usize, index - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    fn turn(from_ms: u64, slice: Option<(u32, u64)>, to_ms: Option<u64>) -> Turn {
        Turn {
            from: at(from_ms),
            slice: slice.map(|(number, from_ms)| Slice {
                number,
                from: at(from_ms),
            }),
            to: to_ms.map(at),
        }
    }

    /// A warm-up, and two turns with a slice.
    fn three_turns() -> Turns {
        let turns = Turns::default();
        turns.add(turn(100, None, Some(300)));
        turns.add(turn(500, Some((1, 600)), Some(1_000)));
        turns.add(turn(1_500, Some((2, 1_500)), Some(2_000)));
        turns
    }

    #[test]
    fn every_turn_is_found_however_many_there_are() {
        let turns = Turns::default();
        assert_eq!(
            (turns.turn_at(at(5)), turns.border_after(at(5))),
            (None, None)
        );
        let added: Vec<Turn> = (0..1_000)
            .map(|number| {
                let from_ms = 100 * u64::from(number);
                turn(from_ms, Some((number, from_ms + 10)), Some(from_ms + 60))
            })
            .collect();
        added.iter().for_each(|it| turns.add(*it));
        for it in &added {
            assert_eq!(turns.turn_at(it.from), Some(*it));
            assert_eq!(turns.turn_at(it.from + Duration::from_millis(70)), None);
        }
        assert_eq!(turns.begun_last(at(1_000_000)), added.last().copied());
    }

    #[test]
    fn places_follow_each_other_without_a_gap() {
        let mut expected = (0, 0);
        for index in 0..10_000 {
            assert_eq!(position(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST_CHUNK << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn borders_are_the_begins_and_ends_of_turns_and_slices() {
        let turns = three_turns();
        let mut borders_ms = Vec::new();
        let mut next = turns.border_after(at(0));
        while let Some(border) = next {
            borders_ms.push(border.as_ns() / 1_000_000);
            next = turns.border_after(border);
        }
        assert_eq!(borders_ms, [100, 300, 500, 600, 1_000, 1_500, 2_000]);
    }

    #[test]
    fn a_slice_lasts_until_the_end_of_its_turn() {
        let turns = three_turns();
        let cases = [
            (100, None),
            (500, None),
            (599, None),
            (600, Some(1)),
            (999, Some(1)),
            (1_000, None),
            (1_500, Some(2)),
            (2_000, None),
        ];
        for (ms, number) in cases {
            let last = turns.begun_last(at(ms)).unwrap();
            assert_eq!(last.slice_at(at(ms)), number, "at {ms} ms");
        }
    }

    #[test]
    fn a_turn_without_an_end_lasts_until_it_is_closed() {
        let turns = Turns::default();
        turns.close(at(50));
        turns.add(turn(100, None, None));
        assert_eq!(turns.turn_at(at(9_000)), Some(turn(100, None, None)));
        assert_eq!(turns.border_after(at(100)), None);
        turns.close(at(700));
        turns.close(at(800));
        assert_eq!(turns.turn_at(at(699)), Some(turn(100, None, Some(700))));
        assert_eq!(turns.turn_at(at(700)), None);
        assert_eq!(turns.border_after(at(100)), Some(at(700)));
    }

    #[test]
    fn a_turn_without_an_end_ends_where_the_next_one_begins() {
        let turns = Turns::default();
        turns.add(turn(100, None, None));
        turns.add(turn(400, Some((1, 450)), Some(500)));
        assert_eq!(turns.turn_at(at(399)), Some(turn(100, None, Some(400))));
    }

    #[test]
    fn time_passes_only_in_turns() {
        let turns = three_turns();
        let cases = [
            // Since when, how long, until when.
            (0, 0, Some(100)),
            (0, 50, Some(150)),
            (250, 49, Some(299)),
            (250, 50, Some(500)),
            (250, 80, Some(530)),
            (310, 80, Some(580)),
            (250, 560, Some(1_510)),
            (250, 1_049, Some(1_999)),
            (250, 1_050, None),
            (5_000, 0, None),
        ];
        for (from_ms, time_ms, expected) in cases {
            let found = turns.after(at(from_ms), Duration::from_millis(time_ms));
            assert_eq!(found, expected.map(at), "{time_ms} ms since {from_ms} ms");
        }
        turns.add(turn(2_500, Some((3, 2_500)), None));
        let found = turns.after(at(250), Duration::from_millis(9_050));
        assert_eq!(found, Some(at(10_500)));
    }

    #[test]
    fn turns_are_read_while_others_are_added() {
        let turns = Turns::default();
        let all = 5_000;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=all {
                    let from_ms = 10 * u64::from(number);
                    turns.add(turn(from_ms, Some((number, from_ms)), None));
                }
            });
            let last = |turns: &Turns| turns.begun_last(at(1_000_000_000));
            let number = |turn: Turn| turn.slice.map_or(0, |slice| slice.number);
            let mut seen = 0;
            while seen < all {
                let now = last(&turns).map_or(0, number);
                assert!(now >= seen, "{now} after {seen}");
                seen = now;
            }
        });
    }
}
