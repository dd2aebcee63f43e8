//! What more clients gain.

use crate::{
    grid::{Facet, cell::Figure},
    sentences::answer::Peak,
};

/// If more connections gain less than this share of the highest throughput, they gain nothing.
const NO_GAIN: f64 = 0.05;

/// The gain by more clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gain {
    /// No gain beyond the peak.
    None,
    /// The peak is at the largest number of clients, with hardly more than at fewer.
    Little,
    /// The peak is at the largest number of clients.
    Rising,
}

impl Gain {
    /// The gain of a line with its peak; `None` with fewer than two levels, and where the last two cannot be told apart.
    pub(super) fn of(facet: &Facet, line: usize, peak: &Peak<'_>) -> Option<Self> {
        let cells = facet.lines[line].cells.iter().enumerate();
        let measured = cells.filter_map(|(x, cell)| Some((x, cell.as_ref()?.throughput?)));
        let measured: Vec<(usize, Figure)> = measured.collect();
        let [.., (_, before), (last, _)] = measured[..] else {
            return None;
        };
        // Of intervals that overlap, neither is said to be above the other.
        let is_apart = match (before.interval, peak.throughput.interval) {
            (Some((_, high)), Some((low, _))) => high < low,
            _ => true,
        };
        if last > peak.x {
            Some(Self::None)
        } else if before.mean > (1.0 - NO_GAIN) * peak.throughput.mean {
            Some(Self::Little)
        } else {
            is_apart.then_some(Self::Rising)
        }
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::None => ", no gain beyond",
            Self::Little => ", hardly more than with fewer connections",
            Self::Rising => ", still rising",
        }
    }
}
