//! The place of a target's memory between the measured ones.

use crate::{cells::is_same_share, che_approximation::miss_ratio};

/// Measured shares of the data in memory from which demands are interpolated.
pub(crate) const SHARES_AT_LEAST: usize = 3;
/// Size of a page of InnoDB: the item that is in memory or not.
pub(crate) const PAGE_BYTES: u64 = 16 << 10;
/// Page reads per operation below which the data fits into memory.
const FITS_BELOW: f64 = 0.001;
/// The same as a share of the page reads with the least memory.
const FITS_BELOW_SHARE: f64 = 0.01;

/// Where the memory of a target lies between the measured ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MemoryPosition {
    /// At a measured one.
    At(usize),
    /// Between this one and the next.
    Between {
        lower: usize,
        /// Weight of the upper one for page reads, by the model of the misses.
        of_reads: f64,
        /// Weight of the upper one for other demands.
        of_others: f64,
    },
}

/// The data of a target, and how it is requested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TargetData {
    /// The share of it that is in memory.
    pub(crate) share: f64,
    pub(crate) bytes: u64,
    /// Exponent of Zipf's law; 0 for uniform requests, or if it is not known.
    pub(crate) zipf: f64,
}

/// Why a memory has no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPosition {
    /// Fewer than three memories were measured, and it is none of them.
    FewMeasured,
    Less,
    More,
}

impl MemoryPosition {
    /// The position of a target among the rising measured `shares`, of which at least one is needed; `reads` are the page
    /// reads of each, where they were measured.
    ///
    /// More memory than the largest measured one reads no page either if that one hardly reads any.
    pub(crate) fn of(
        data: &TargetData,
        shares: &[f64],
        reads: &[Option<f64>],
    ) -> Result<Self, NoPosition> {
        let same = shares.iter().position(|it| is_same_share(data.share, *it));
        if let Some(at) = same {
            return Ok(Self::At(at));
        }
        let last = shares.len() - 1;
        if data.share > shares[last] {
            let most = reads.iter().flatten().copied().fold(0.0, f64::max);
            let fits = reads[last].is_some_and(|it| it < FITS_BELOW.max(FITS_BELOW_SHARE * most));
            return if fits {
                Ok(Self::At(last))
            } else if shares.len() < SHARES_AT_LEAST {
                Err(NoPosition::FewMeasured)
            } else {
                Err(NoPosition::More)
            };
        }
        if shares.len() < SHARES_AT_LEAST {
            return Err(NoPosition::FewMeasured);
        }
        if data.share < shares[0] {
            return Err(NoPosition::Less);
        }
        let lower = shares.partition_point(|it| *it < data.share) - 1;
        Ok(Self::between(data, shares, lower))
    }

    /// The position of data between the measured share with the index `lower` and the next one.
    pub(crate) fn between(data: &TargetData, shares: &[f64], lower: usize) -> Self {
        Self::Between {
            lower,
            of_reads: read_weight(data, shares[lower], shares[lower + 1]),
            of_others: (data.share - shares[lower]) / (shares[lower + 1] - shares[lower]),
        }
    }

    /// A demand of the target from those of the measured memories; `None` where one that it needs was not measured.
    pub(crate) fn interpolate(self, of: &[Option<f64>], is_reads: bool) -> Option<f64> {
        match self {
            Self::At(at) => of[at],
            Self::Between {
                lower,
                of_reads,
                of_others,
            } => {
                let weight = if is_reads { of_reads } else { of_others };
                Some((1.0 - weight) * of[lower]? + weight * of[lower + 1]?)
            }
        }
    }

    /// The measured memory that is nearest to a share.
    pub(crate) fn nearest(share: f64, shares: &[f64]) -> Self {
        let distance = |it: f64| (it / share).ln().abs();
        let all = shares.iter().enumerate();
        let nearest = all.min_by(|a, b| distance(*a.1).total_cmp(&distance(*b.1)));
        Self::At(nearest.map_or(0, |(at, _)| at))
    }
}

/// The weight of the upper measured point for page reads: the modelled misses pass through both points.
///
/// With misses m(x) by Che's approximation at the share x in memory, reads are r(x) = r₁ + (r₂ - r₁) w with
/// w = (m(x) - m(x₁)) / (m(x₂) - m(x₁)). For uniform requests m(x) = 1 - x, and w is that of a straight line.
fn read_weight(data: &TargetData, lower: f64, upper: f64) -> f64 {
    let pages = (data.bytes / PAGE_BYTES).max(1);
    let misses = |share: f64| miss_ratio(data.zipf, pages, share);
    let (at_lower, at_upper) = (misses(lower), misses(upper));
    if at_lower - at_upper < 1e-9 {
        return (data.share - lower) / (upper - lower);
    }
    (at_lower - misses(data.share)) / (at_lower - at_upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: [f64; 4] = [0.125, 0.25, 0.5, 0.8];
    const READS: [Option<f64>; 4] = [Some(0.9), Some(0.8), Some(0.5), Some(0.2)];

    fn data(share: f64, zipf: f64) -> TargetData {
        TargetData {
            share,
            bytes: 1 << 30,
            zipf,
        }
    }

    fn reads_at(share: f64, zipf: f64) -> Option<f64> {
        let position = MemoryPosition::of(&data(share, zipf), &SHARES, &READS).unwrap();
        position.interpolate(&READS, true)
    }

    #[test]
    fn measured_memories_are_taken_as_they_are() {
        assert_eq!(reads_at(0.25, 0.9), Some(0.8));
        assert_eq!(reads_at(0.51, 0.0), Some(0.5));
    }

    #[test]
    fn uniform_requests_are_interpolated_on_a_straight_line() {
        // Half of the way from 0.25 to 0.5.
        let found = reads_at(0.375, 0.0).unwrap();
        assert!((found - 0.65).abs() < 1e-6, "{found}");
    }

    #[test]
    fn skewed_requests_follow_their_misses() {
        let pages = (1 << 30) / PAGE_BYTES;
        let misses = |share| miss_ratio(0.9, pages, share);
        let weight = (misses(0.25) - misses(0.375)) / (misses(0.25) - misses(0.5));
        let found = reads_at(0.375, 0.9).unwrap();
        assert!((found - (0.8 - 0.3 * weight)).abs() < 1e-9, "{found}");
        assert!(found < 0.65, "{found}");
    }

    #[test]
    fn what_lies_outside_was_not_measured() {
        let of = |share, shares: &[f64], reads: &[Option<f64>]| {
            MemoryPosition::of(&data(share, 0.0), shares, reads)
        };
        assert_eq!(of(0.1, &SHARES, &READS), Err(NoPosition::Less));
        assert_eq!(of(1.5, &SHARES, &READS), Err(NoPosition::More));
        assert_eq!(
            of(0.3, &SHARES[..2], &READS[..2]),
            Err(NoPosition::FewMeasured)
        );
        // All pages are in memory already.
        let fits = [Some(0.9), Some(0.4), Some(0.0005)];
        assert_eq!(of(2.0, &SHARES[..3], &fits), Ok(MemoryPosition::At(2)));
        assert_eq!(
            of(2.0, &SHARES[2..3], &fits[2..]),
            Ok(MemoryPosition::At(0))
        );
        assert_eq!(of(2.0, &SHARES[..1], &[None]), Err(NoPosition::FewMeasured));
        assert_eq!(MemoryPosition::nearest(1.5, &SHARES), MemoryPosition::At(3));
    }
}
