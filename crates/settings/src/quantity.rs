//! Numbers with units, as people write them.

use std::time::Duration;

use crate::{planned_stage::Level, value::WeightedFile};

/// The longest duration that is taken anywhere, in an experiment or on a command line: several of them add up and still
/// fit every clock.
pub const DURATION_AT_MOST: Duration = Duration::from_secs(30 * 24 * 3600);

/// The same in words, for messages.
pub const DURATION_LIMIT: &str = "at most 30days";

/// Most rows, and most counts of a mix: far beyond use, far below overflow.
const COUNT_AT_MOST: u64 = 1_000_000_000_000;

/// A duration with its unit, longer than nothing: `30s`, `500ms`, `1m 30s`.
pub fn duration(text: &str) -> Option<Duration> {
    pause(text).filter(|duration| !duration.is_zero())
}

/// A duration with its unit that may be none at all: `0s`, `30s`.
pub fn pause(text: &str) -> Option<Duration> {
    let duration = humantime::parse_duration(text).ok();
    duration.filter(|duration| *duration <= DURATION_AT_MOST)
}

/// A duration with its variation in both directions, which is no longer: `2ms`, `2ms:500us`.
pub fn varied(text: &str) -> Option<(Duration, Duration)> {
    let (mean, jitter) = match text.split_once(':') {
        Some((mean, jitter)) => (pause(mean)?, pause(jitter)?),
        None => (pause(text)?, Duration::ZERO),
    };
    (jitter <= mean).then_some((mean, jitter))
}

/// Whole seconds, none included, or a duration with its unit: `0`, `60`, `500ms`.
pub fn seconds(text: &str) -> Option<Duration> {
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)).filter(|it| *it <= DURATION_AT_MOST),
        Err(_) => duration(text),
    }
}

/// A count of at least one with an optional decimal unit: `250000`, `250k` or `250K`, `1M`, `1.5M`, `2G`.
pub fn count(text: &str) -> Option<u64> {
    let (digits, factor) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'M') => (&text[..at], 1e6),
        (at, 'G') => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    let count = plain_number(digits)? * factor;
    (count.fract() == 0.0 && count >= 1.0 && count <= COUNT_AT_MOST as f64).then_some(count as u64)
}

/// A positive ratio: `0.5x`, `4x`.
pub fn ratio(text: &str) -> Option<f64> {
    plain_number(text.strip_suffix('x')?).filter(|ratio| *ratio > 0.0 && *ratio <= 1e6)
}

/// A share of less than everything, in percent: `2 %`, `0.5%`.
pub fn percent(text: &str) -> Option<f64> {
    let percent = plain_number(text.strip_suffix('%')?.trim_end())?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

/// The highest rate: a shorter distance than a microsecond is no schedule any more.
const RATE_PER_S_AT_MOST: f64 = 1e6;

/// Operations per second: `5000`, `0.5`.
pub fn rate(text: &str) -> Option<f64> {
    plain_number(text).filter(|rate| *rate > 0.0 && *rate <= RATE_PER_S_AT_MOST)
}

/// One value, or two with dots between for one that changes evenly from the first to the second: `64`, `8..64`.
pub fn level<T: Copy>(text: &str, value: impl Fn(&str) -> Option<T>) -> Option<Level<T>> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    Some(Level {
        from: value(from.trim())?,
        to: value(to.trim())?,
    })
}

/// A share of the whole, in percent: `5 %`, `0.5%`.
pub fn share(text: &str) -> Option<f64> {
    let percent = plain_number(text.strip_suffix('%')?.trim_end())?;
    (percent > 0.0 && percent <= 100.0).then_some(percent / 100.0)
}

/// Bytes as MySQL writes them, with a binary unit: `67108864`, `64M`, `1G`.
pub fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        (at, 't' | 'T') => (&text[..at], 40),
        _ => (text, 0),
    };
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Counts for the queries of a barrel: `10:1`. At least one of them is not zero.
pub fn mix(text: &str) -> Option<Vec<u64>> {
    let counts: Vec<u64> = text
        .split(':')
        .map(|count| {
            let digits = count.bytes().all(|digit| digit.is_ascii_digit());
            let count = count.parse().ok().filter(|count| *count <= COUNT_AT_MOST);
            count.filter(|_| digits)
        })
        .collect::<Option<_>>()?;
    counts.iter().any(|count| *count > 0).then_some(counts)
}

/// A file, with a weight above 0 behind its last `@` or without: `a.sql@70`.
pub fn weighted_file(text: &str) -> Option<WeightedFile> {
    let is_number =
        |weight: &str| !weight.is_empty() && weight.bytes().all(|digit| digit.is_ascii_digit());
    let (path, weight) = match text.rsplit_once('@') {
        Some((path, weight)) if is_number(weight) => (path, weight.parse().ok()?),
        _ => (text, 1),
    };
    let is_one = !path.is_empty() && (1..=COUNT_AT_MOST).contains(&weight);
    is_one.then(|| WeightedFile {
        path: path.into(),
        weight,
    })
}

/// A name and its value: `id=5`.
pub fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// A number shrunk by a factor and rounded to whole units, to no less than `at_least`, and never made larger.
pub fn smaller(number: u64, scale: f64, unit: u64, at_least: u64) -> u64 {
    let units = (number as f64 * scale / unit as f64).round();
    (units as u64 * unit).max(at_least).min(number)
}

/// Digits with at most one point: no sign, no exponent, no "inf".
pub(crate) fn plain_number(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let cases = [
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("1m 30s", Some(90_000)),
            ("2h", Some(7_200_000)),
            ("0s", None),
            ("30", None),
            ("-1s", None),
            ("", None),
            ("31days", None),
            ("99999999999999999999s", None),
        ];
        for (text, millis) in cases {
            assert_eq!(duration(text), millis.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn levels() {
        let cases = [
            ("100", Some((100.0, 100.0))),
            ("100..2000", Some((100.0, 2000.0))),
            ("2000 .. 0.5", Some((2000.0, 0.5))),
            ("0..100", None),
            ("..100", None),
            ("100..", None),
            ("1..2..3", None),
            ("1...5.5.", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let found = level(text, rate).map(|it| (it.from, it.to));
            assert_eq!(found, expected, "{text}");
        }
    }

    /// Near 2^64 seconds and nanoseconds, beyond them, and what is no number.
    const EXTREMES: [&str; 12] = [
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551615s",
        "9223372036854775807s",
        "18446744073709551615ns",
        "30days 1ns",
        "600000000000y",
        "1e308",
        "1e308s",
        "NaN",
        "inf",
        "-1s",
    ];

    #[test]
    fn no_duration_is_longer_than_its_limit() {
        for text in EXTREMES {
            assert_eq!(duration(text), None, "{text}");
            assert_eq!(pause(text), None, "{text}");
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(duration("30days"), Some(DURATION_AT_MOST));
        assert_eq!(pause("0s"), Some(Duration::ZERO));
        assert_eq!(seconds("0"), Some(Duration::ZERO));
        assert_eq!(seconds("2592000"), Some(DURATION_AT_MOST));
        assert_eq!(seconds("2592001"), None);
        assert_eq!(seconds("500ms"), Some(Duration::from_millis(500)));
        assert!(humantime::parse_duration(DURATION_LIMIT.rsplit(' ').next().unwrap()).is_ok());
        for text in ["1e308", "NaN", "inf", "18446744073709551616", "-5"] {
            assert_eq!(rate(text), None, "{text}");
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn rates_and_shares() {
        let rates = [
            ("5000", Some(5000.0)),
            ("0.5", Some(0.5)),
            ("0", None),
            ("1000001", None),
            ("1e3", None),
            ("-1", None),
        ];
        for (text, expected) in rates {
            assert_eq!(rate(text), expected, "{text}");
        }
        let shares = [
            ("5 %", Some(0.05)),
            ("0.5%", Some(0.005)),
            ("5", None),
            ("0 %", None),
        ];
        for (text, expected) in shares {
            assert_eq!(share(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_shrink_to_their_floor_and_never_grow() {
        let cases = [
            (1_000_000, 0.05, 1, 1000, 50_000),
            (1_000_000, 0.0001, 1, 1000, 1000),
            (300, 0.5, 1, 1000, 300),
            (1 << 30, 0.05, 1 << 20, 8 << 20, 51 << 20),
            (1 << 30, 0.001, 1 << 20, 8 << 20, 8 << 20),
            (0, 0.05, 1 << 10, 256 << 10, 0),
            (7, 1.0, 1, 1, 7),
        ];
        for (number, scale, unit, at_least, expected) in cases {
            let found = smaller(number, scale, unit, at_least);
            assert_eq!(found, expected, "{number} at {scale}");
        }
    }

    #[test]
    fn counts() {
        let cases = [
            ("1", Some(1)),
            ("250k", Some(250_000)),
            ("1.5M", Some(1_500_000)),
            ("2G", Some(2_000_000_000)),
            ("0", None),
            ("1.5", None),
            ("1e3", None),
            ("-5", None),
            ("inf", None),
            ("k", None),
            ("", None),
            ("1m", None),
            ("99999G", None),
            ("５", None),
        ];
        for (text, expected) in cases {
            assert_eq!(count(text), expected, "{text}");
        }
    }

    #[test]
    fn ratios() {
        let cases = [
            ("0.5x", Some(0.5)),
            ("4x", Some(4.0)),
            ("0x", None),
            ("x", None),
            ("4", None),
            ("infx", None),
        ];
        for (text, expected) in cases {
            assert_eq!(ratio(text), expected, "{text}");
        }
    }

    #[test]
    fn sizes() {
        let cases = [
            ("0", Some(0)),
            ("16384", Some(16_384)),
            ("64M", Some(64 << 20)),
            ("1g", Some(1 << 30)),
            ("1.5G", None),
            ("+1", None),
            ("M", None),
            ("99999999999T", None),
        ];
        for (text, expected) in cases {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn mixes() {
        let cases = [
            ("1:0", Some(vec![1, 0])),
            ("10:1", Some(vec![10, 1])),
            ("7", Some(vec![7])),
            ("0:0", None),
            ("1:", None),
            ("1:-1", None),
            ("+1:1", None),
            ("a", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(mix(text), expected, "{text}");
        }
    }
}
