//! The rules of a load as values: what judges a warm-up, and when it ends.

use std::time::Duration;

use reactor::Instant;

/// Judges the course of a load.
pub type Judge = fn(&LoadSeries<'_>) -> Judgement;

/// The time series of a load since its start, or since the start of a measurement that became warm-up.
#[derive(Debug, Clone, Copy)]
pub struct LoadSeries<'a> {
    /// Operations per second, one value per interval.
    pub per_s: &'a [f64],
    /// Index of the first interval of the measurement; `None` in a warm-up.
    pub measured_from: Option<usize>,
    /// The server's counters over the same time.
    pub counters: &'a Counters,
}

/// The server's counters: each series covers the same time as the throughput, in equal intervals of its own; empty if
/// not observed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters {
    /// True if the server is observed and the first values are not available yet.
    pub are_awaited: bool,
    /// Page reads that missed the buffer pool, per second.
    pub misses_per_s: Vec<f64>,
    /// Redo log since the last checkpoint, bytes.
    pub checkpoint_age_bytes: Vec<f64>,
    /// Modified pages that are not yet written.
    pub dirty_pages: Vec<f64>,
}

/// The steadiness of a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Index of the first steady observation if the warm-up is over; otherwise `None`.
    pub steady_from: Option<usize>,
    /// True for a measurement that more time would make steady.
    pub wants_time: bool,
    /// Why it is not steady, in words ("still warming: ..."); `None` if it is.
    pub why_not: Option<String>,
}

/// The end of a warm-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarmUpEnd {
    /// The reason, in words ("throughput steady since 12 s").
    pub why: String,
    /// True if the load was to be steady by then, and was not: the time limit ended the warm-up.
    pub is_too_early: bool,
}

/// The end of a load.
#[derive(Debug, Clone, Copy)]
pub enum Stop {
    /// After this time of measurement.
    After(Duration),
    /// After exactly this number of operations that were due in the measurement, successful or not.
    Operations(u64),
    /// After this time of measurement or this number of operations, whichever comes first.
    AfterOrOperations(Duration, u64),
    /// When a quantile of the response times is known precisely enough.
    UntilPrecise(Precision),
    /// When every user has reached its own end (a number of rounds).
    WhenUsersEnd,
    /// When the load's observer says so ([`crate::LoadListener::planned_end`]).
    WhenTold,
}

/// The end of a load that ends when told to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEnd {
    /// Moved to [`crate::AHEAD`] from now if it is earlier: every event loop must have heard of it.
    pub at: Instant,
    /// The reason, in words ("decided after 15 slices").
    pub why: String,
}

/// Default time limit for the last operations.
const USUAL: Duration = Duration::from_secs(5);
/// Time limit for operations in flight after an interruption or a failure, because the user is waiting.
const CUT_OFF: Duration = Duration::from_secs(1);

/// The time limit for operations that are in flight at the stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drain {
    /// No limit; 1 s after an interruption or a failure.
    Unlimited,
    /// This time at most, 1 s after an interruption or a failure; operations that are not completed by then are
    /// reported as unfinished.
    AtMost(Duration),
}

impl Drain {
    /// The default.
    pub const USUAL: Self = Self::AtMost(USUAL);

    /// As long as was measured, at least the default: an operation that takes as long as that is a result of the load, and
    /// not a server that does not answer any more.
    pub fn as_long_as(measured: Duration) -> Self {
        Self::AtMost(measured.max(USUAL))
    }

    /// The time limit of a load that was cut off or not; `None` if it waits for all operations.
    pub(crate) fn limit(self, is_cut_off: bool) -> Option<Duration> {
        match (self, is_cut_off) {
            (Self::AtMost(limit), true) => Some(limit.min(CUT_OFF)),
            (Self::AtMost(limit), false) => Some(limit),
            (Self::Unlimited, true) => Some(CUT_OFF),
            (Self::Unlimited, false) => None,
        }
    }

    /// Time after the stop for which a failing operation is retried: it is limited even for a load that waits for all
    /// operations.
    pub(crate) fn retries_for(self) -> Duration {
        match self {
            Self::AtMost(limit) => limit,
            Self::Unlimited => USUAL,
        }
    }
}

/// The required precision of a quantile.
#[derive(Debug, Clone, Copy)]
pub struct Precision {
    /// The quantile, 0 to 1.
    pub quantile: f64,
    /// Half the width of its interval, as a share of the quantile.
    pub within: f64,
    /// Half the width of the interval of a quantile over the whole measurement (first argument), in the same unit, from
    /// the same quantile over consecutive parts of it; `None` while it is unknown.
    pub half_width: fn(f64, &[f64]) -> Option<f64>,
    /// Time limit of the measurement; the record then says that it was not precise.
    pub at_most: Duration,
}
