//! The rules of a load as values: what judges a warm-up, when it ends, how it is interrupted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Judges the course of a load.
pub type Judge = fn(&LoadSeries<'_>) -> Judgement;

/// What a load did since its start, or since a measurement that became warm-up began.
#[derive(Debug, Clone, Copy)]
pub struct LoadSeries<'a> {
    /// Operations per second, one value per interval.
    pub per_s: &'a [f64],
    /// Index of the first interval of the measurement; `None` in a warm-up.
    pub measured_from: Option<usize>,
    /// What the server counted meanwhile.
    pub counters: &'a Counters,
}

/// What the server counted meanwhile: each series covers the same time as the throughput, in equal intervals of its own;
/// empty where nobody looked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters {
    /// True where somebody looks and the first answer has not come yet.
    pub are_awaited: bool,
    /// Page reads that the buffer pool could not answer, per second.
    pub misses_per_s: Vec<f64>,
    /// Redo log since the last checkpoint, bytes.
    pub checkpoint_age_bytes: Vec<f64>,
    /// Pages changed in memory and not yet written.
    pub dirty_pages: Vec<f64>,
}

/// What a load did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Index of the first steady observation of a warm-up that is over; `None` of one that is not.
    pub steady_from: Option<usize>,
    /// True for a measurement that more time would make steady.
    pub wants_time: bool,
    /// Why it is not steady, in words ("still warming: ..."); `None` where it is.
    pub why_not: Option<String>,
}

/// When a load ends.
#[derive(Debug, Clone, Copy)]
pub enum Stop {
    /// After so much measuring.
    After(Duration),
    /// After exactly so many operations that were due in the measurement, successful or not.
    Operations(u64),
    /// After so much measuring or so many operations, whichever comes first.
    AfterOrOperations(Duration, u64),
    /// When a quantile of the response times is known precisely enough.
    UntilPrecise(Precision),
    /// When every user has come to its own end (a number of rounds).
    WhenUsersEnd,
}

/// How long a load waits for its last operations where nothing is said.
const USUAL: Duration = Duration::from_secs(5);
/// How long operations in flight may take after an interruption or a failure: the user waits.
const CUT_OFF: Duration = Duration::from_secs(1);

/// How long operations that are in flight at the stop may take before the load goes without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drain {
    /// As long as they need; 1 s after an interruption or a failure.
    Unlimited,
    /// At most so long, 1 s after an interruption or a failure; what has not come back by then is reported as
    /// unfinished.
    AtMost(Duration),
}

impl Drain {
    /// What a load does unless told otherwise.
    pub const USUAL: Self = Self::AtMost(USUAL);

    /// How long a load waits that was cut off or not; `None` where it waits for the last of them.
    pub(crate) fn limit(self, is_cut_off: bool) -> Option<Duration> {
        match (self, is_cut_off) {
            (Self::AtMost(limit), true) => Some(limit.min(CUT_OFF)),
            (Self::AtMost(limit), false) => Some(limit),
            (Self::Unlimited, true) => Some(CUT_OFF),
            (Self::Unlimited, false) => None,
        }
    }

    /// How long after the stop an operation is tried again that fails: also a load that waits for all comes to its end.
    pub(crate) fn retries_for(self) -> Duration {
        match self {
            Self::AtMost(limit) => limit,
            Self::Unlimited => USUAL,
        }
    }
}

/// How precisely a quantile has to be known.
#[derive(Debug, Clone, Copy)]
pub struct Precision {
    /// Which quantile, 0 to 1.
    pub quantile: f64,
    /// Half the width of its interval, as a share of the quantile.
    pub within: f64,
    /// Half the width of the interval of a quantile over the whole measurement (first argument), in the same unit, from
    /// the same quantile over consecutive parts of it; `None` while it cannot be told.
    pub half_width: fn(f64, &[f64]) -> Option<f64>,
    /// The load ends at the latest after so much measuring, and the record says that it was not precise.
    pub at_most: Duration,
}

/// Asks a running load to end; clones ask the same load.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// An interrupt that a signal handler sets through its flag.
    pub fn from_flag(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// The flag, for who waits for something else.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Asks the load to end now.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once somebody asked.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
