//! Figures as words.

/// A share as percent: `0.3 %`, `12 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent != 0.0 && percent.abs() < 9.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Bytes with a binary unit: `1.5 GiB`.
pub(crate) fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 10.0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A time of so many nanoseconds: `85 us`, `1.2 ms`, `3.4 s`.
pub(crate) fn nanoseconds(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = usize::from(value < 10.0);
    format!("{value:.digits$} {unit}")
}

/// A number with as many digits as say something: `12345`, `3.2`, `0.034`.
pub(crate) fn number(value: f64) -> String {
    // A negative zero, the sum of nothing, is a zero.
    let value = value + 0.0;
    let digits = match value.abs() {
        value if value >= 100.0 || value == 0.0 => 0,
        value if value >= 1.0 => 1,
        value if value >= 0.01 => 3,
        _ => 5,
    };
    format!("{value:.digits$}")
}

/// A count and its noun: `1 run`, `3 runs`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// At most `most` of some words, the rest as a number.
pub(crate) fn listed(words: &[String], most: usize) -> String {
    if words.len() <= most {
        return words.join(", ");
    }
    let rest = words.len() - most;
    format!("{} and {rest} more", words[..most].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_digits_that_say_something() {
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(0.0312), "3.1 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(1.5 * 1024.0 * 1024.0 * 1024.0), "1.5 GiB");
        assert_eq!(bytes(134_217_728.0), "128 MiB");
        assert_eq!(nanoseconds(850.0), "850 ns");
        assert_eq!(nanoseconds(85_400.0), "85 us");
        assert_eq!(nanoseconds(1_200_000.0), "1.2 ms");
        assert_eq!(number(12345.6), "12346");
        assert_eq!(number(0.0345), "0.035");
        assert_eq!(number(-0.0), "0");
        assert_eq!(counted(1, "run"), "1 run");
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(listed(&names, 3), "a, b, c");
        assert_eq!(listed(&names, 1), "a and 2 more");
    }
}
