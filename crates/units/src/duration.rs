//! Durations: short ones in the most readable unit, long ones in their two largest units.

use std::time::Duration;

use crate::number::{TOO_WIDE, decimals, decimals_with_margin, is_too_wide};

/// The most readable unit of a duration, and its length in nanoseconds.
fn unit_of(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        0.0 => (1e9, "s"),
        ns if ns >= 999.5e6 => (1e9, "s"),
        ns if ns >= 999.5e3 => (1e6, "ms"),
        ns if ns >= 999.5 => (1e3, "µs"),
        _ => (1.0, "ns"),
    }
}

/// A duration given in nanoseconds: `850 ns`, `85.2 µs`, `1.23 ms`, `2.50 s`, `0 s`.
pub fn duration(ns: f64) -> String {
    let (factor, unit) = unit_of(ns);
    let scaled = ns / factor;
    format!("{scaled:.*} {unit}", decimals(scaled))
}

/// A duration given in seconds, formatted as by [`duration`].
pub fn seconds(s: f64) -> String {
    duration(s * 1e9)
}

/// The duration of a step: `250 ms`, `12.3 s`.
pub fn elapsed(time: Duration) -> String {
    seconds(time.as_secs_f64())
}

/// A mean duration with its interval, in nanoseconds: `1.23 ms (1.19 ms to 1.27 ms)`.
pub fn duration_with_interval(mean_ns: f64, bounds: (f64, f64)) -> String {
    if is_too_wide(mean_ns, bounds) {
        return format!("{} ({TOO_WIDE})", duration(mean_ns));
    }
    let (low, high) = bounds;
    let (factor, unit) = unit_of(mean_ns);
    let all = [mean_ns, low, high];
    let [mean, low, high] = if all.iter().all(|ns| unit_of(*ns).1 == unit) {
        let decimals = decimals_with_margin(mean_ns / factor, (high - low) / 2.0 / factor);
        all.map(|ns| format!("{:.decimals$} {unit}", ns / factor))
    } else {
        all.map(duration)
    };
    format!("{mean} ({low} to {high})")
}

/// A label of a time axis, given in nanoseconds: `0`, `500 µs`, `2.5 ms`.
pub fn duration_tick(ns: f64) -> String {
    let tidy = |value: f64| (value * 1e6).round() / 1e6;
    match ns {
        _ if ns <= 0.0 => "0".to_owned(),
        _ if ns >= 1e9 => format!("{} s", tidy(ns / 1e9)),
        _ if ns >= 1e6 => format!("{} ms", tidy(ns / 1e6)),
        _ => format!("{} µs", tidy(ns / 1e3)),
    }
}

/// A time or duration within a run, to a tenth of a second: `12.3 s`, `60 s`.
pub fn moment(s: f64) -> String {
    format!("{} s", to_tenths(s))
}

/// A range of such times: `0 to 42 s`, or `9.4 s` if both ends are the same to a tenth of a second.
pub fn moment_range(low_s: f64, high_s: f64) -> String {
    let (low, high) = (to_tenths(low_s), to_tenths(high_s));
    if low < high {
        format!("{low} to {high} s")
    } else {
        moment(high_s)
    }
}

/// Rounded to a tenth, and never a negative zero.
fn to_tenths(s: f64) -> f64 {
    (s * 10.0).round() / 10.0 + 0.0
}

/// A remaining or elapsed time in its two largest units: `45 s`, `8 min 5 s`, `3 h 20 min`, `2 d 3 h`.
pub fn span(duration: Duration) -> String {
    let s = duration.as_secs_f64().round() as u64;
    match (s / 86_400, s / 3_600, s / 60) {
        (0, 0, 0) => format!("{s} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", s % 60),
        (0, hours, minutes) => format!("{hours} h {} min", minutes % 60),
        (days, hours, _) => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_choose_their_unit() {
        for (ns, text) in [
            (0.0, "0 s"),
            (850.0, "850 ns"),
            (999.6, "1.00 µs"),
            (85_200.0, "85.2 µs"),
            (999_600.0, "1.00 ms"),
            (1_234_000.0, "1.23 ms"),
            (2.5e9, "2.50 s"),
            (1e12, "1000 s"),
            // The lower end of a wide interval.
            (-1_234_000.0, "-1.23 ms"),
        ] {
            assert_eq!(duration(ns), text);
        }
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(elapsed(Duration::from_millis(12_340)), "12.3 s");
        for (ns, text) in [(0.0, "0"), (5e5, "500 µs"), (2.5e6, "2.5 ms"), (1e9, "1 s")] {
            assert_eq!(duration_tick(ns), text);
        }
    }

    #[test]
    fn an_interval_has_the_unit_of_its_mean() {
        for (mean, bounds, text) in [
            (
                198_000.0,
                (191_130.0, 204_870.0),
                "198 µs (191 µs to 205 µs)",
            ),
            (
                1_020_000.0,
                (988_900.0, 1_051_100.0),
                "1.02 ms (989 µs to 1.05 ms)",
            ),
            (1.23e6, (310e3, 4.88e6), "1.23 ms (310 µs to 4.88 ms)"),
        ] {
            assert_eq!(duration_with_interval(mean, bounds), text);
        }
    }

    #[test]
    fn moments_have_tenths() {
        for (s, text) in [
            (0.0, "0 s"),
            (-0.01, "0 s"),
            (12.34, "12.3 s"),
            (60.0, "60 s"),
        ] {
            assert_eq!(moment(s), text);
        }
        assert_eq!(moment_range(0.0, 42.0), "0 to 42 s");
        assert_eq!(moment_range(9.36, 9.44), "9.4 s");
    }

    #[test]
    fn spans_have_two_units() {
        for (s, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min 0 s"),
            (485, "8 min 5 s"),
            (12_000, "3 h 20 min"),
            (51 * 3_600, "2 d 3 h"),
        ] {
            assert_eq!(span(Duration::from_secs(s)), text);
        }
        assert_eq!(span(Duration::from_millis(59_700)), "1 min 0 s");
    }
}
