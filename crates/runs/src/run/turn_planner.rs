//! Divides the time of a session into turns: first each load has one to warm up in, then come blocks of slices, batch by
//! batch. A pure state machine: it knows no clock, no thread and no load.

use std::{collections::VecDeque, time::Duration};

use experiment::Slicing;
use load::{AHEAD, Slice, Turn};
use reactor::Instant;
use stats::Random;

/// Time until the next turn beyond [`AHEAD`]: the thread that tells the loads of their turns may be late.
const MARGIN: Duration = Duration::from_millis(20);

/// Rounding of times in a record, seconds.
const WITHIN_S: f64 = 1e-6;

/// Plans the turns of a session.
///
/// The turns of a batch of blocks of slices follow each other without a gap, and are all planned before the first of them.
/// Between two batches there is a short gap, in which no load has operations: what was measured so far is judged there, so
/// that the judgement takes nothing of a slice, and that a session ends with a whole batch.
///
/// Where the server is changed before each turn, a turn is planned only after the change: nothing else knows how long that
/// takes. Then there is such a gap before every turn. If each turn is followed by a pause until its server is quiet, each
/// turn is planned when that is known of the server of the turn before.
pub(super) struct TurnPlanner {
    slicing: Slicing,
    /// Blocks of slices after which the session ends.
    slices_at_most: u32,
    random: Random,
    /// True if the server is changed before each turn.
    changes_server: bool,
    /// Loads that are not warm yet, in the order of their turns; the first one warms up.
    warming_up: VecDeque<usize>,
    /// Blocks of slices whose order is drawn.
    planned: u32,
    /// The turns of the batch that are not planned yet, in the order of time: the load of each with the number of its slice.
    waiting: VecDeque<(usize, u32)>,
    /// True if the server of the last turn of a batch is quiet, and the batch is not judged yet.
    is_quiet: bool,
    /// True if a batch is judged, another one follows, and the server of its last turn is not quiet yet.
    is_judged: bool,
    /// What has arrived of the slices of each load.
    arrived: Vec<ArrivedSlice>,
    /// True until the last planned turn has arrived, if another one can follow.
    is_awaited: bool,
    /// No batch begins that would end later, once the session has enough of them; `None` if its time is not limited.
    deadline: Option<Instant>,
}

/// The slice to which the last measured interval of a load belongs.
#[derive(Debug, Clone, Copy, Default)]
struct ArrivedSlice {
    /// 0 before the first one.
    number: u32,
    /// Length of its intervals so far, seconds.
    length_s: f64,
    /// Number of the last slice that has arrived as a whole.
    whole: u32,
    /// Number of the last slice that is planned.
    planned: u32,
}

/// Orders to the loads: their turns, and their end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Orders {
    /// The load whose turn without an end ends at this time.
    pub close: Option<(usize, Instant)>,
    /// Further turns with their loads, in the order of time.
    pub turns: Vec<(usize, Turn)>,
    /// The load for which the server is changed now, whose turn follows.
    pub change_for: Option<usize>,
    /// The end of the session.
    pub end: Option<SessionEnd>,
}

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionEnd {
    pub at: Instant,
    /// Slices of each combination.
    pub slices: u32,
    /// True if they decide what the session was to decide.
    pub is_decided: bool,
    /// True if no time was left for another batch.
    pub is_late: bool,
}

impl TurnPlanner {
    /// For these loads, of which some warm up, with at most this number of blocks of slices.
    pub(super) fn new(warm_up: &[bool], slicing: Slicing, slices_at_most: u32, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut warming_up: Vec<usize> = (0..warm_up.len()).filter(|load| warm_up[*load]).collect();
        random.shuffle(&mut warming_up);
        Self {
            slicing,
            slices_at_most,
            random,
            changes_server: false,
            warming_up: warming_up.into(),
            planned: 0,
            waiting: VecDeque::new(),
            is_quiet: false,
            is_judged: false,
            arrived: vec![ArrivedSlice::default(); warm_up.len()],
            is_awaited: false,
            deadline: None,
        }
    }

    /// The session ends by this time, if it then has the batches without which nothing can be decided.
    pub(super) fn ending_by(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// Before each turn the server is changed, if that is true.
    pub(super) fn changing_the_server(self, changes_server: bool) -> Self {
        Self {
            changes_server,
            ..self
        }
    }

    /// The load that warms up; `None` if all have.
    pub(super) fn warms_up(&self) -> Option<usize> {
        self.warming_up.front().copied()
    }

    /// All loads have begun.
    pub(super) fn begin(&mut self, now: Instant) -> Orders {
        self.next_from(soon(now))
    }

    /// The warm-up of this load is over.
    pub(super) fn warmed_up(&mut self, load: usize, now: Instant) -> Orders {
        if self.warms_up() != Some(load) {
            // A load without a warm-up may say so, too.
            return Orders::default();
        }
        self.warming_up.pop_front();
        let at = soon(now);
        Orders {
            close: Some((load, at)),
            ..self.next_from(at)
        }
    }

    /// The server is changed for the load for which that was ordered: its turn can begin.
    pub(super) fn changed(&mut self, now: Instant) -> Orders {
        let from = soon(now);
        if self.warms_up().is_some() {
            return self.warm_up_from(from);
        }
        if self.waiting.is_empty() {
            // No change was ordered.
            return Orders::default();
        }
        self.waiting_from(from)
    }

    /// The change that follows a turn within its batch; `None` if the batch is to be judged.
    pub(super) fn next_of_batch(&self) -> Option<Orders> {
        let (load, _) = self.waiting.front()?;
        Some(Orders {
            change_for: Some(*load),
            ..Orders::default()
        })
    }

    /// An interval of a load has arrived; true if it is the last one of a batch that is to be judged, or of a turn that is
    /// followed by a change of the server.
    pub(super) fn interval(&mut self, load: usize, slice: Option<u32>, length_s: f64) -> bool {
        let slice_s = self.slicing.slice.as_secs_f64();
        self.arrived[load].add(slice, length_s, slice_s);
        let is_whole = |it: &ArrivedSlice| it.whole >= it.planned;
        let is_followed = self.slicing.quiet && !self.waiting.is_empty();
        if !self.is_awaited || is_followed || !self.arrived.iter().all(is_whole) {
            return false;
        }
        self.is_awaited = false;
        true
    }

    /// The batches so far were judged: they decide what the session is to decide, or another one follows if there is time.
    pub(super) fn judged(&mut self, is_decided: bool, now: Instant) -> Orders {
        let at = soon(now);
        let is_late = !is_decided && self.is_too_late(at);
        if !is_decided && !is_late {
            if self.slicing.quiet && !std::mem::take(&mut self.is_quiet) {
                self.is_judged = true;
                return Orders::default();
            }
            return self.next_from(at);
        }
        Orders {
            end: Some(SessionEnd {
                at,
                slices: self.planned,
                is_decided,
                is_late,
            }),
            ..Orders::default()
        }
    }

    /// The server of the last turn is quiet.
    pub(super) fn quiet(&mut self, now: Instant) -> Orders {
        if !self.waiting.is_empty() {
            return self.waiting_from(soon(now));
        }
        if std::mem::take(&mut self.is_judged) {
            return self.next_from(soon(now));
        }
        self.is_quiet = true;
        Orders::default()
    }

    /// True if a batch that begins at this time would end too late, and the session can do without it. This is a matter of
    /// the clock alone, never of what was measured.
    fn is_too_late(&self, from: Instant) -> bool {
        let mut batch = self.slicing.time_of_batch(self.arrived.len());
        if self.changes_server {
            batch += (AHEAD + MARGIN) * (Slicing::BATCH * self.arrived.len() as u32);
        }
        let has_enough = self.planned >= Slicing::BATCHES_AT_LEAST * Slicing::BATCH;
        has_enough && self.deadline.is_some_and(|it| from + batch > it)
    }

    /// What begins at this time: the turn of the next load that warms up, else a batch.
    fn next_from(&mut self, from: Instant) -> Orders {
        let warms_up = self.warms_up();
        if !self.changes_server {
            return match warms_up {
                Some(_) => self.warm_up_from(from),
                None => {
                    self.draw_batch();
                    self.waiting_from(from)
                }
            };
        }
        if let Some(load) = warms_up {
            return Orders {
                change_for: Some(load),
                ..Orders::default()
            };
        }
        self.draw_batch();
        self.next_of_batch().unwrap_or_default()
    }

    /// The turn of the load that warms up, if there is one.
    fn warm_up_from(&self, from: Instant) -> Orders {
        let turn = Turn {
            from,
            slice: None,
            to: None,
        };
        let load = self.warms_up();
        Orders {
            turns: load.map(|load| (load, turn)).into_iter().collect(),
            ..Orders::default()
        }
    }

    /// Draws the turns of the next batch, in each of whose blocks every load has one, in an order of its own.
    fn draw_batch(&mut self) {
        let mut order: Vec<usize> = (0..self.arrived.len()).collect();
        for _ in 0..Slicing::BATCH {
            self.planned += 1;
            self.random.shuffle(&mut order);
            let block = order.iter().map(|load| (*load, self.planned));
            self.waiting.extend(block);
        }
    }

    /// The turns that wait, of which each begins at the end of the one before; only the first of them if something has to
    /// happen before the next one.
    fn waiting_from(&mut self, from: Instant) -> Orders {
        let is_stepwise = self.changes_server || self.slicing.quiet;
        let count = if is_stepwise { 1 } else { self.waiting.len() };
        let mut at = from;
        let mut turns = Vec::new();
        for _ in 0..count {
            let Some((load, number)) = self.waiting.pop_front() else {
                break;
            };
            turns.push((load, self.turn(load, number, at)));
            at = at + self.slicing.settle + self.slicing.slice;
        }
        let is_last = self.waiting.is_empty() && self.planned >= self.slices_at_most;
        self.is_awaited = !is_last;
        Orders {
            turns,
            end: is_last.then_some(SessionEnd {
                at,
                slices: self.planned,
                is_decided: false,
                is_late: false,
            }),
            ..Orders::default()
        }
    }

    /// A turn of a load that begins at this time, with the slice of this number.
    fn turn(&mut self, load: usize, number: u32, from: Instant) -> Turn {
        self.arrived[load].planned = number;
        let slice = Slice {
            number,
            from: from + self.slicing.settle,
        };
        Turn {
            from,
            slice: Some(slice),
            to: Some(slice.from + self.slicing.slice),
        }
    }
}

impl ArrivedSlice {
    /// Adds an interval of its load, where a slice has this length.
    fn add(&mut self, slice: Option<u32>, length_s: f64, slice_s: f64) {
        let Some(number) = slice else {
            // What follows a slice is behind all of it.
            self.whole = self.number;
            return;
        };
        if number != self.number {
            self.whole = self.number;
            (self.number, self.length_s) = (number, 0.0);
        }
        self.length_s += length_s;
        if self.length_s >= slice_s - WITHIN_S {
            self.whole = number;
        }
    }
}

/// The next time at which a turn can begin or end.
fn soon(now: Instant) -> Instant {
    now + AHEAD + MARGIN
}

#[cfg(test)]
mod tests;
