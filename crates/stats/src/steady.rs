//! From when on a series is steady.

use crate::{
    mser::{batch_of, mser_cut},
    trend::{median, theil_sen},
};

/// Observations after the cut that it takes to speak of a steady state: with fewer, a slow rise hides in the noise.
const STEADY_AT_LEAST: usize = 12;

/// A change over the steady part that is too small to matter, as a share of its median.
const DRIFT_IGNORED: f64 = 0.02;

/// The largest change over the steady part that its noise may leave possible, as a share of its median: the
/// noisier the series, the longer it takes.
const DRIFT_POSSIBLE_AT_MOST: f64 = 0.2;

/// Index of the first steady observation of a series (throughput, one value per equal interval), `None` while the
/// series is not steady yet.
///
/// The cut that leaves the smallest standard error of the mean (MSER) ends the warm-up. What follows must be at
/// least twelve observations without a trend: the interval of its slope holds zero, or the slope makes less than
/// 2 % of the median over the whole part; and no more than 20 % can hide in the noise (2 % if the best cut may lie
/// later than the middle, where MSER does not look). To be asked again with each new observation: it looks only
/// backward. Also `None` when a value is not finite or the median of the steady part is not positive, for a load
/// that does nothing is not steady.
///
/// A rise that is slow against the noise is taken for steady: with 5 % noise, 30 % that come with a time constant
/// of 60 observations are not seen.
///
/// Source: MSER-5 (White 1997, Spratt 1998), with smaller batches for short series. MSER alone leaves some percent of
/// bias when the warm-up takes a fifth of the series or more; therefore the trend of the rest (Theil and Sen).
pub fn steady_from(series: &[f64]) -> Option<usize> {
    if series.len() < STEADY_AT_LEAST || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let cut = mser_cut(series, batch_of(series.len()));
    let rest = &series[cut.at..];
    let possible_at_most = if cut.is_latest {
        DRIFT_IGNORED
    } else {
        DRIFT_POSSIBLE_AT_MOST
    };
    (rest.len() >= STEADY_AT_LEAST && is_level(rest, possible_at_most)).then_some(cut.at)
}

/// True when the values neither rise nor fall, and a change of more than a share of their median is ruled out.
fn is_level(values: &[f64], possible_at_most: f64) -> bool {
    let median = median(values);
    let Some(slope) = theil_sen(values, 0.95) else {
        return false;
    };
    let drift = |slope: f64| slope.abs() * values.len() as f64 / median;
    let within_noise = slope.low <= 0.0 && 0.0 <= slope.high;
    median > 0.0
        && (within_noise || drift(slope.estimate) <= DRIFT_IGNORED)
        && drift(slope.low).max(drift(slope.high)) <= possible_at_most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    /// 1 - depth · exp(-t / tau), with autocorrelated noise of the given variation.
    fn warm_up(noise: &mut Noise, length: usize, tau_s: f64, depth: f64, cv: f64) -> Vec<f64> {
        let errors = noise.autocorrelated(length, 0.6);
        (0..length)
            .map(|t| {
                let level = 1.0 - depth * (-(t as f64 + 0.5) / tau_s).exp();
                20_000.0 * level * (1.0 + cv * errors[t])
            })
            .collect()
    }

    /// The second in which somebody who asks once per second is first told "steady".
    fn told_at(series: &[f64]) -> Option<usize> {
        (1..=series.len()).find(|&length| steady_from(&series[..length]).is_some())
    }

    /// What the median of `series` seeded warm-ups was told, and how many were told nothing in 300 seconds.
    fn told(seed: u64, series: usize, tau_s: f64, depth: f64, cv: f64) -> (Vec<usize>, usize) {
        let mut noise = Noise::new(seed);
        let mut told: Vec<usize> = (0..series)
            .filter_map(|_| told_at(&warm_up(&mut noise, 300, tau_s, depth, cv)))
            .collect();
        told.sort_unstable();
        let silent = series - told.len();
        (told, silent)
    }

    #[test]
    fn flat_noise_is_steady_soon() {
        for (cv, latest_s) in [(0.0, 12), (0.02, 20), (0.05, 25)] {
            let (told, silent) = told(21, 100, 1.0, 0.0, cv);
            assert_eq!(silent, 0, "cv {cv}");
            assert!(told[90] <= latest_s, "cv {cv}: {told:?}");
        }
    }

    /// The rest of an exponential warm-up after the moment it is called steady, as a share of the final level.
    #[test]
    fn an_exponential_warm_up_is_waited_for() {
        for (tau_s, cv, rest_at_most) in [
            (2.0, 0.05, 0.001),
            (5.0, 0.0, 0.01),
            (5.0, 0.05, 0.02),
            (20.0, 0.02, 0.01),
            (20.0, 0.05, 0.05),
        ] {
            let (told, silent) = told(22, 60, tau_s, 0.7, cv);
            assert!(silent <= 1, "tau {tau_s} s, cv {cv}: {silent} never");
            let rest: f64 = told
                .iter()
                .map(|&at| 0.7 * (-(at as f64) / tau_s).exp())
                .sum::<f64>()
                / told.len() as f64;
            assert!(rest <= rest_at_most, "tau {tau_s} s, cv {cv}: {rest}");
        }
    }

    #[test]
    fn a_rising_series_is_not_steady() {
        let mut noise = Noise::new(23);
        for _ in 0..50 {
            let errors = noise.autocorrelated(120, 0.6);
            let rising: Vec<f64> = (0..120)
                .map(|t| (1000.0 + 20.0 * t as f64) * (1.0 + 0.02 * errors[t]))
                .collect();
            assert_eq!(told_at(&rising), None, "{rising:?}");
        }
        let falling: Vec<f64> = (0..120).map(|t| 1000.0 - 5.0 * t as f64).collect();
        assert_eq!(told_at(&falling), None);
    }

    #[test]
    fn the_cut_is_where_the_level_is_reached() {
        let mut noise = Noise::new(24);
        let series: Vec<f64> = (0..90)
            .map(|t| if t < 30 { 500.0 } else { 1000.0 } * (1.0 + 0.03 * noise.normal()))
            .collect();
        let cut = steady_from(&series).unwrap();
        assert!((30..=36).contains(&cut), "{cut}");
    }

    #[test]
    fn one_stall_does_not_hide_the_steady_state() {
        let mut noise = Noise::new(25);
        let mut series: Vec<f64> = (0..60).map(|_| 1000.0 + 20.0 * noise.normal()).collect();
        series[45] = 100.0;
        assert!(steady_from(&series).is_some());
    }

    #[test]
    fn nothing_to_say_is_none() {
        let mut broken = vec![5.0; 40];
        broken[7] = f64::NAN;
        let cases: &[(&str, Vec<f64>)] = &[
            ("empty", vec![]),
            ("short", vec![5.0; STEADY_AT_LEAST - 1]),
            ("not a number", broken),
            ("no work at all", vec![0.0; 40]),
        ];
        for (name, series) in cases {
            assert_eq!(steady_from(series), None, "{name}");
        }
    }
}
