//! The evidence of the server's counters about a run: misses that still change, and work that accumulates.

use units::change;

use crate::{
    mser::batch_of,
    trend::{drift, median},
};

/// Readings of the counters below which they are not judged.
pub(super) const LOOKS_AT_LEAST: usize = 12;

/// Change of misses per second that is too small to matter, as a share of their median.
const MISSES_IGNORED: f64 = 0.1;

/// Growth of the checkpoint age or the dirty pages that is too small to matter, as a share of their median.
const GROWTH_IGNORED: f64 = 0.1;

/// The server's counters during a run: each series covers the same time as the throughput, in equal intervals of its
/// own; empty if the counter was not read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// Page reads that the buffer pool could not answer, per second.
    pub misses_per_s: &'a [f64],
    /// Redo log since the last checkpoint, bytes.
    pub checkpoint_age_bytes: &'a [f64],
    /// Pages changed in memory and not yet written.
    pub dirty_pages: &'a [f64],
}

/// A change that is larger than noise, in the unit of its series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The change of the fitted line, as a share of the median; the criteria use this.
    pub share: f64,
    /// The median of the first third.
    pub from: f64,
    /// The median of the last third.
    pub to: f64,
}

/// The changes of the counters in a part of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ObservedChanges {
    pub(super) misses: Option<Change>,
    pub(super) checkpoint_age_bytes: Option<Change>,
    pub(super) dirty_pages: Option<Change>,
    /// Number of readings, if too few.
    pub(super) looks_too_few: Option<usize>,
}

impl<'a> Evidence<'a> {
    /// The part of the evidence after this share of the time.
    pub(super) fn since(&self, share: f64) -> Self {
        let rest = |series: &'a [f64]| &series[(share * series.len() as f64) as usize..];
        Self {
            misses_per_s: rest(self.misses_per_s),
            checkpoint_age_bytes: rest(self.checkpoint_age_bytes),
            dirty_pages: rest(self.dirty_pages),
        }
    }

    /// The changes that matter.
    pub(super) fn judge(&self) -> ObservedChanges {
        let misses = Change::of(self.misses_per_s);
        let grown =
            |series| Change::of(series).filter(|change: &Change| change.share > GROWTH_IGNORED);
        let series = [
            self.misses_per_s,
            self.checkpoint_age_bytes,
            self.dirty_pages,
        ];
        let looks = series.iter().map(|series| series.len());
        ObservedChanges {
            misses: misses.filter(|change| change.share.abs() > MISSES_IGNORED),
            checkpoint_age_bytes: grown(self.checkpoint_age_bytes),
            dirty_pages: grown(self.dirty_pages),
            looks_too_few: looks
                .filter(|looks| (1..LOOKS_AT_LEAST).contains(looks))
                .min(),
        }
    }
}

impl ObservedChanges {
    /// True if all counters have enough readings and none changes.
    pub(super) fn is_flat(&self) -> bool {
        self.misses.is_none() && !self.work_piles_up() && self.looks_too_few.is_none()
    }

    /// True if work is deferred that will make the run slower.
    pub(super) fn work_piles_up(&self) -> bool {
        self.checkpoint_age_bytes.or(self.dirty_pages).is_some()
    }
}

impl Change {
    /// `None` if the change may be noise, and if there are too few values to judge.
    fn of(series: &[f64]) -> Option<Self> {
        if series.len() < LOOKS_AT_LEAST || series.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let drift = drift(series, batch_of(series.len()))?;
        let third = series.len() / 3;
        (drift.low > 0.0 || drift.high < 0.0).then(|| Self {
            share: drift.estimate,
            from: median(&series[..third]),
            to: median(&series[series.len() - third..]),
        })
    }

    /// `by -82 % (310 to 54.0)`, with values formatted by `text`; `from 0 to 51.0` if the first value allows no share.
    pub(super) fn in_words(self, text: fn(f64) -> String) -> String {
        let (from, to) = (text(self.from), text(self.to));
        if self.from > 0.0 {
            let changed = change(self.to / self.from);
            format!("by {changed} ({from} to {to})")
        } else {
            format!("from {from} to {to}")
        }
    }
}
