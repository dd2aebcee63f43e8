//! The steady state of a disk by the rule of the Storage Networking Industry Association.

/// Rounds that are judged together.
pub const STEADY_ROUNDS: usize = 5;
/// Rounds after which a disk that is not steady is given up.
pub const STEADY_ROUNDS_AT_MOST: usize = 25;
/// The range of the rounds must be below this share of their mean.
pub const STEADY_RANGE_BELOW: f64 = 0.2;
/// What the fitted line rises or falls by over the rounds must be below this share of their mean.
pub const STEADY_SLOPE_BELOW: f64 = 0.1;

/// The last five rounds, by both criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyWindow {
    /// Mean of the rounds, in their unit.
    pub mean: f64,
    /// Highest less lowest, as a share of the mean.
    pub range: f64,
    /// Change of the least-squares line from the first to the last round, as a share of the mean, without its sign.
    pub slope: f64,
}

impl SteadyWindow {
    /// The last five of some rounds (one value each); `None` for fewer, for one that is not finite, and where their mean is
    /// not positive.
    ///
    /// Source: SNIA, Solid State Storage Performance Test Specification 2.0.2, 2.1.24.
    pub fn of(rounds: &[f64]) -> Option<Self> {
        let window = &rounds[rounds.len().checked_sub(STEADY_ROUNDS)?..];
        let count = window.len() as f64;
        let mean = window.iter().sum::<f64>() / count;
        if !(mean.is_finite() && mean > 0.0) {
            return None;
        }
        let high = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let low = window.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = (count - 1.0) / 2.0;
        let places = (0..window.len()).map(|place| place as f64 - middle);
        let products: f64 = places.clone().zip(window).map(|(x, y)| x * y).sum();
        let squares: f64 = places.map(|x| x * x).sum();
        Some(Self {
            mean,
            range: (high - low) / mean,
            slope: (products / squares * (count - 1.0) / mean).abs(),
        })
    }

    /// Whether both criteria hold.
    pub fn is_steady(&self) -> bool {
        self.range < STEADY_RANGE_BELOW && self.slope < STEADY_SLOPE_BELOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests per second of fio on one disk: 16 KiB random reads, then 4 KiB, depth 8.
    const PAGES: [f64; 8] = [
        42_189.0, 32_539.0, 37_877.0, 35_213.0, 42_643.0, 39_169.0, 31_942.0, 37_811.0,
    ];
    const BLOCKS: [f64; 7] = [
        53_372.0, 49_082.0, 51_879.0, 50_494.0, 44_427.0, 42_043.0, 33_948.0,
    ];

    fn percent(share: f64) -> f64 {
        (share * 1000.0).round() / 10.0
    }

    #[test]
    fn measured_series_are_not_steady() {
        let cases = [
            (&PAGES[0..5], 26.5, 3.8),
            (&PAGES[1..6], 27.0, 19.2),
            (&PAGES[2..7], 28.6, 8.5),
            (&PAGES[3..8], 28.6, 5.9),
            (&BLOCKS[0..5], 17.9, 13.2),
            (&BLOCKS[1..6], 20.7, 18.1),
            (&BLOCKS[2..7], 40.2, 39.8),
        ];
        for (series, range, slope) in cases {
            let window = SteadyWindow::of(series).unwrap();
            assert_eq!(
                (percent(window.range), percent(window.slope)),
                (range, slope)
            );
            assert!(!window.is_steady());
        }
    }

    #[test]
    fn each_criterion_alone_is_not_enough() {
        let cases: [(&[f64], bool); 4] = [
            (&[100.0, 103.0, 99.0, 101.0, 100.0], true),
            // A range of 22 %, and no slope.
            (&[100.0, 111.0, 100.0, 89.0, 100.0], false),
            // A slope of 12 %, and a range of 12 %.
            (&[94.0, 97.0, 100.0, 103.0, 106.0], false),
            // Only the last five count.
            (&[10.0, 900.0, 100.0, 100.0, 100.0, 100.0, 100.0], true),
        ];
        for (series, is_steady) in cases {
            assert_eq!(SteadyWindow::of(series).unwrap().is_steady(), is_steady);
        }
        let only_range = SteadyWindow::of(cases[1].0).unwrap();
        assert!(only_range.range > STEADY_RANGE_BELOW && only_range.slope < STEADY_SLOPE_BELOW);
        let only_slope = SteadyWindow::of(cases[2].0).unwrap();
        assert!(only_slope.range < STEADY_RANGE_BELOW && only_slope.slope > STEADY_SLOPE_BELOW);
    }

    #[test]
    fn what_cannot_be_judged() {
        for series in [&[1.0; 4][..], &[0.0; 5], &[f64::NAN; 5], &[]] {
            assert_eq!(SteadyWindow::of(series), None);
        }
    }
}
