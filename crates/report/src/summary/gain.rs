//! What more clients gain.

use crate::{grid::Facet, sentences::answer::Peak};

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
    /// The gain of a line with its peak; `None` with fewer than two levels.
    pub(super) fn of(facet: &Facet, line: usize, peak: &Peak<'_>) -> Option<Self> {
        let cells = facet.lines[line].cells.iter().enumerate();
        let measured = cells.filter_map(|(x, cell)| Some((x, cell.as_ref()?.throughput?.mean)));
        let measured: Vec<(usize, f64)> = measured.collect();
        let [.., (_, before), (last, _)] = measured[..] else {
            return None;
        };
        Some(if last > peak.x {
            Self::None
        } else if before > (1.0 - NO_GAIN) * peak.throughput.mean {
            Self::Little
        } else {
            Self::Rising
        })
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::None => ", no gain beyond",
            Self::Little => ", hardly more than with fewer",
            Self::Rising => ", still rising",
        }
    }
}
