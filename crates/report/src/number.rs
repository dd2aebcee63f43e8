//! Numbers as people read them: few digits, SI prefixes, units.

/// A prefix that scales a number, for example 1e3 and `k`.
struct Prefix {
    factor: f64,
    text: &'static str,
}

const PREFIXES: [Prefix; 4] = [
    Prefix {
        factor: 1e9,
        text: "G",
    },
    Prefix {
        factor: 1e6,
        text: "M",
    },
    Prefix {
        factor: 1e3,
        text: "k",
    },
    Prefix {
        factor: 1.0,
        text: "",
    },
];

/// The largest prefix that leaves `value` at 1 or more; 999.6 already counts as 1k, for so it would be printed.
fn prefix_of(value: f64) -> &'static Prefix {
    PREFIXES
        .iter()
        .find(|prefix| value.abs() >= prefix.factor * 0.9995)
        .unwrap_or(&PREFIXES[PREFIXES.len() - 1])
}

/// Decimals that leave three significant digits of a number of this size.
fn decimals(value: f64) -> usize {
    let value = value.abs();
    match value {
        _ if value < 0.0005 => 0,
        _ if value < 0.9995 => 3,
        _ if value < 9.995 => 2,
        _ if value < 99.95 => 1,
        _ => 0,
    }
}

/// Three significant digits with an SI prefix: `12.3k`, `987`, `0.123`.
pub(crate) fn si(value: f64) -> String {
    let prefix = prefix_of(value);
    let scaled = value / prefix.factor;
    format!("{scaled:.*}{}", decimals(scaled), prefix.text)
}

/// A count: whole below a thousand, from there on like [`si`].
pub(crate) fn count(value: f64) -> String {
    if value < 999.5 && value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        si(value)
    }
}

/// A label of an axis: like [`si`], without trailing zeros (`2k`, not `2.00k`).
pub(crate) fn si_tick(value: f64) -> String {
    let prefix = prefix_of(value);
    let scaled = value / prefix.factor;
    format!("{}{}", (scaled * 1e6).round() / 1e6, prefix.text)
}

/// Ends of an interval that lie about as far from the mean as each other are written as a margin.
const NEARLY_EVEN: f64 = 1.25;

/// Half the width of an interval that a margin tells; `None` where one end lies much farther from the mean than the other.
fn margin_of(mean: f64, (low, high): (f64, f64)) -> Option<f64> {
    let (below, above) = (mean - low, high - mean);
    let is_even = above.max(below) <= NEARLY_EVEN * above.min(below);
    is_even.then_some((high - low) / 2.0)
}

/// A mean with its interval in the same unit: `12.3k ± 0.4k`; where the interval is lopsided `669 (120 to 3.73k)`.
pub(crate) fn with_interval(mean: f64, bounds: (f64, f64)) -> String {
    match margin_of(mean, bounds) {
        Some(margin) => with_margin(mean, margin),
        None => format!("{} ({} to {})", si(mean), si(bounds.0), si(bounds.1)),
    }
}

/// A mean duration with its interval, in nanoseconds: `1.23 ± 0.04 ms` or `1.23 ms (310 µs to 4.88 ms)`.
pub(crate) fn duration_with_interval(mean_ns: f64, bounds: (f64, f64)) -> String {
    match margin_of(mean_ns, bounds) {
        Some(margin) => duration_with_margin(mean_ns, margin),
        None => format!(
            "{} ({} to {})",
            duration(mean_ns),
            duration(bounds.0),
            duration(bounds.1)
        ),
    }
}

/// A mean and the half width of its interval in the same unit: `12.3k ± 0.4k`.
fn with_margin(mean: f64, margin: f64) -> String {
    let prefix = prefix_of(mean);
    let (mean, margin) = (mean / prefix.factor, margin / prefix.factor);
    let decimals = decimals_with_margin(mean, margin);
    let text = prefix.text;
    format!("{mean:.decimals$}{text} ± {margin:.decimals$}{text}")
}

/// More decimals where the margin would read as 0, for 0 claims to be exact.
fn decimals_with_margin(mean: f64, margin: f64) -> usize {
    (decimals(mean)..=3)
        .find(|decimals| margin >= 0.5 * 10f64.powi(-(*decimals as i32)))
        .unwrap_or(decimals(mean))
}

/// The unit in which a duration reads best, and its length in nanoseconds.
fn time_unit(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        ns if ns >= 999.5e6 => (1e9, "s"),
        ns if ns >= 999.5e3 => (1e6, "ms"),
        _ => (1e3, "µs"),
    }
}

/// A duration given in nanoseconds: `85.2 µs`, `1.23 ms`, `2.50 s`.
pub(crate) fn duration(ns: f64) -> String {
    let (factor, unit) = time_unit(ns);
    let scaled = ns / factor;
    format!("{scaled:.*} {unit}", decimals(scaled))
}

/// A mean duration and the half width of its interval, given in nanoseconds: `1.23 ± 0.04 ms`.
fn duration_with_margin(mean_ns: f64, margin_ns: f64) -> String {
    let (factor, unit) = time_unit(mean_ns);
    let (mean, margin) = (mean_ns / factor, margin_ns / factor);
    let decimals = decimals_with_margin(mean, margin);
    format!("{mean:.decimals$} ± {margin:.decimals$} {unit}")
}

/// A label of a time axis, given in nanoseconds: `0`, `500 µs`, `2.5 ms`.
pub(crate) fn duration_tick(ns: f64) -> String {
    let tidy = |value: f64| (value * 1e6).round() / 1e6;
    match ns {
        _ if ns <= 0.0 => "0".to_owned(),
        _ if ns >= 1e9 => format!("{} s", tidy(ns / 1e9)),
        _ if ns >= 1e6 => format!("{} ms", tidy(ns / 1e6)),
        _ => format!("{} µs", tidy(ns / 1e3)),
    }
}

/// A share of 1 in per cent without the sign: `45`, `0.4`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from(percent > 0.0 && percent < 0.95);
    format!("{percent:.decimals$}")
}

/// Bytes with a binary prefix: `1.50 GiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    let (scaled, unit) = match bytes {
        _ if bytes >= 1023.5 * 1048576.0 => (bytes / 1073741824.0, "GiB"),
        _ if bytes >= 1023.5 * 1024.0 => (bytes / 1048576.0, "MiB"),
        _ if bytes >= 1023.5 => (bytes / 1024.0, "KiB"),
        _ => return format!("{bytes} B"),
    };
    format!("{scaled:.*} {unit}", decimals(scaled))
}

/// `1 run`, `3 runs`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn si_keeps_three_digits() {
        let cases = [
            (0.0, "0"),
            (0.1234, "0.123"),
            (1.0, "1.00"),
            (9.996, "10.0"),
            (99.96, "100"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (12_345.0, "12.3k"),
            (1_234_567.0, "1.23M"),
            (5e9, "5.00G"),
        ];
        for (value, text) in cases {
            assert_eq!(si(value), text, "{value}");
        }
    }

    #[test]
    fn ticks_have_no_trailing_zeros() {
        for (value, text) in [(0.0, "0"), (2000.0, "2k"), (2500.0, "2.5k"), (0.2, "0.2")] {
            assert_eq!(si_tick(value), text);
        }
        for (ns, text) in [(0.0, "0"), (5e5, "500 µs"), (2.5e6, "2.5 ms"), (1e9, "1 s")] {
            assert_eq!(duration_tick(ns), text);
        }
    }

    #[test]
    fn a_margin_shares_the_unit_and_is_never_zero_by_rounding() {
        let cases = [
            (12_345.0, 432.0, "12.3k ± 0.4k"),
            (12_345.0, 23.0, "12.35k ± 0.02k"),
            (500.0, 12.0, "500 ± 12"),
            (12_345.0, 0.0, "12.3k ± 0.0k"),
            (1_000.0, 2_500.0, "1.00k ± 2.50k"),
        ];
        for (mean, margin, text) in cases {
            assert_eq!(with_margin(mean, margin), text, "{mean} {margin}");
        }
    }

    #[test]
    fn durations_and_sizes_choose_their_unit() {
        for (ns, text) in [
            (85_200.0, "85.2 µs"),
            (999_600.0, "1.00 ms"),
            (1_234_000.0, "1.23 ms"),
            (2.5e9, "2.50 s"),
            // The lower end of a wide interval.
            (-1_234_000.0, "-1.23 ms"),
        ] {
            assert_eq!(duration(ns), text);
        }
        for (mean_ns, margin_ns, text) in [
            (198_000.0, 6_870.0, "198 ± 7 µs"),
            (1_020_000.0, 31_100.0, "1.02 ± 0.03 ms"),
        ] {
            assert_eq!(duration_with_margin(mean_ns, margin_ns), text);
        }
        for (size, text) in [
            (512, "512 B"),
            (1_536, "1.50 KiB"),
            (134_217_728, "128 MiB"),
            (1_610_612_736, "1.50 GiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
        for (share, text) in [(0.0, "0"), (0.004, "0.4"), (0.046, "5"), (1.0, "100")] {
            assert_eq!(percent(share), text);
        }
        assert_eq!(counted(1, "run"), "1 run");
        assert_eq!(counted(0, "run"), "0 runs");
    }
}
