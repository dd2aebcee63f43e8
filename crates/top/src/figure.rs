//! Figures as they stand on the screen: short, with their unit, `-` for what is not known.

/// What stands for a figure that is not known.
pub(crate) const UNKNOWN: &str = "-";

/// At most four digits and a prefix: `0`, `0.25`, `12.3`, `1.23k`, `45.6M`.
pub(crate) fn number(value: Option<f64>) -> String {
    let Some(value) = value else {
        return UNKNOWN.to_owned();
    };
    let size = value.abs();
    let steps = [("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    let fits = |factor: f64| size < factor * 999.5;
    let (prefix, factor) = steps
        .into_iter()
        .find(|(_, factor)| fits(*factor))
        .unwrap_or(("T", 1e12));
    let scaled = value / factor;
    let is_whole = prefix.is_empty() && scaled.fract() == 0.0;
    format!("{}{prefix}", digits(scaled, is_whole))
}

/// Three significant digits, at most two of them behind the point.
fn digits(value: f64, is_whole: bool) -> String {
    let decimals = match value.abs() {
        _ if is_whole => 0,
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A duration: `850 ns`, `85.2 µs`, `1.23 ms`, `2.50 s`.
pub(crate) fn duration(ns: Option<f64>) -> String {
    let Some(ns) = ns else {
        return UNKNOWN.to_owned();
    };
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
    let (unit, factor) = units
        .into_iter()
        .find(|(_, factor)| ns.abs() < factor * 999.5)
        .unwrap_or(("s", 1e9));
    format!("{} {unit}", digits(ns / factor, unit == "ns"))
}

/// Milliseconds without their unit, for a column that names it.
pub(crate) fn ms(ns: Option<f64>) -> String {
    match ns {
        None => UNKNOWN.to_owned(),
        Some(ns) => digits(ns / 1e6, false),
    }
}

/// A share of 1 in per cent: `0`, `0.4`, `45`, `99.9`.
pub(crate) fn percent(share: Option<f64>) -> String {
    let Some(share) = share else {
        return UNKNOWN.to_owned();
    };
    let percent = share * 100.0;
    // Near the ends a tenth decides: 99.9 % of hits are ten times the misses of 99.99 %.
    let decimals = match percent {
        _ if percent > 0.0 && percent < 9.95 => 1,
        _ if percent > 90.0 && percent < 99.95 => 1,
        _ if percent > 99.0 && percent < 99.995 => 2,
        _ => 0,
    };
    format!("{percent:.decimals$}")
}

/// The same with its sign.
pub(crate) fn percent_sign(share: Option<f64>) -> String {
    match share {
        None => UNKNOWN.to_owned(),
        share => format!("{} %", percent(share)),
    }
}

/// Bytes with a binary prefix: `512 B`, `1.50 MiB`.
pub(crate) fn bytes(bytes: Option<f64>) -> String {
    let Some(bytes) = bytes else {
        return UNKNOWN.to_owned();
    };
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = bytes;
    let mut unit = 0;
    while scaled.abs() >= 999.5 && unit < units.len() - 1 {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", digits(scaled, unit == 0), units[unit])
}

/// Bytes per second.
pub(crate) fn bytes_per_s(per_s: Option<f64>) -> String {
    match per_s {
        None => UNKNOWN.to_owned(),
        per_s => format!("{}/s", bytes(per_s)),
    }
}

/// Mebibytes without their unit, for a column that names it.
pub(crate) fn mib(bytes: Option<f64>) -> String {
    match bytes {
        None => UNKNOWN.to_owned(),
        Some(bytes) => digits(bytes / 1048576.0, false),
    }
}

/// A time of day or a length of time: `42 s`, `3:07`, `2:03:07`, `5 d 02:03`.
pub(crate) fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, hours) = (whole / 86_400, whole / 3600 % 24);
    let (minutes, rest) = (whole / 60 % 60, whole % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest} s"),
        (0, 0, _) => format!("{minutes}:{rest:02}"),
        (0, ..) => format!("{hours}:{minutes:02}:{rest:02}"),
        _ => format!("{days} d {hours:02}:{minutes:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (7.0, "7"),
            (0.25, "0.25"),
            (12.345, "12.3"),
            (123.4, "123"),
            (999.4, "999"),
            (999.6, "1.00k"),
            (12_345.0, "12.3k"),
            (4.56e7, "45.6M"),
            (2e15, "2000T"),
        ] {
            assert_eq!(number(Some(value)), expected, "{value}");
        }
        assert_eq!(number(None), "-");
    }

    #[test]
    fn durations_bytes_and_shares_have_their_unit() {
        for (ns, expected) in [
            (850.0, "850 ns"),
            (85_200.0, "85.2 µs"),
            (1.234e6, "1.23 ms"),
            (2.5e9, "2.50 s"),
            (1e12, "1000 s"),
        ] {
            assert_eq!(duration(Some(ns)), expected, "{ns}");
        }
        for (value, expected) in [
            (512.0, "512 B"),
            (1.5 * 1048576.0, "1.50 MiB"),
            (1023.0, "1.00 KiB"),
        ] {
            assert_eq!(bytes(Some(value)), expected, "{value}");
        }
        for (share, expected) in [
            (0.0, "0"),
            (0.004, "0.4"),
            (0.45, "45"),
            (0.923, "92.3"),
            (0.9991, "99.9"),
            (0.9999, "99.99"),
            (0.999_96, "100"),
            (1.0, "100"),
            (1.5, "150"),
        ] {
            assert_eq!(percent(Some(share)), expected, "{share}");
        }
    }

    #[test]
    fn lengths_of_time_read_as_clocks() {
        for (seconds, expected) in [
            (0.0, "0 s"),
            (59.9, "59 s"),
            (187.0, "3:07"),
            (7387.0, "2:03:07"),
            (439_387.0, "5 d 02:03"),
        ] {
            assert_eq!(clock(seconds), expected, "{seconds}");
        }
    }
}
