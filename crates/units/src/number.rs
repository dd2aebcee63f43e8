//! Numbers with SI prefixes, means with their intervals, and counts with nouns.

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

/// The largest prefix that leaves `value` at 1 or more; 999.6 already counts as 1k, as it would be printed.
fn prefix_of(value: f64) -> &'static Prefix {
    PREFIXES
        .iter()
        .find(|prefix| value.abs() >= prefix.factor * 0.9995)
        .unwrap_or(&PREFIXES[PREFIXES.len() - 1])
}

/// Decimals that leave three significant digits of a number of this size.
pub(crate) fn decimals(value: f64) -> usize {
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
pub fn si(value: f64) -> String {
    // Turns negative zero, which is the sum of an empty iterator, into zero.
    let value = value + 0.0;
    let prefix = prefix_of(value);
    let scaled = value / prefix.factor;
    format!("{scaled:.*}{}", decimals(scaled), prefix.text)
}

/// A count: a whole number below a thousand, as [`si`] from there.
pub fn count(value: f64) -> String {
    let value = value + 0.0;
    if value < 999.5 && value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        si(value)
    }
}

/// A label of an axis: like [`si`], without trailing zeros (`2k`, not `2.00k`).
pub fn si_tick(value: f64) -> String {
    let prefix = prefix_of(value);
    let scaled = value / prefix.factor;
    format!("{}{}", (scaled * 1e6).round() / 1e6, prefix.text)
}

/// Factor between an estimate and an end of its interval from which the end says nothing.
pub(crate) const WIDEST: f64 = 1000.0;
/// Written instead of such an interval.
pub(crate) const TOO_WIDE: &str = "interval too wide to say anything";

/// Whether an interval says nothing, as that of two executions that differ.
pub(crate) fn is_too_wide(mean: f64, (_, high): (f64, f64)) -> bool {
    mean > 0.0 && high > WIDEST * mean
}

/// A mean with its interval: `12.3k (11.9k to 12.7k)`; where it is wider than any use, in words.
pub fn si_with_interval(mean: f64, bounds: (f64, f64)) -> String {
    match si_interval(mean, bounds) {
        None => format!("{} ({TOO_WIDE})", si(mean)),
        Some(interval) => {
            let [mean, ..] = with_bounds(mean, bounds);
            format!("{mean} ({interval})")
        }
    }
}

/// The interval of a mean by itself, `11.9k to 12.7k`, for a place below the mean; `None` where it is too wide to say
/// anything.
pub fn si_interval(mean: f64, bounds: (f64, f64)) -> Option<String> {
    let [_, low, high] = with_bounds(mean, bounds);
    (!is_too_wide(mean, bounds)).then(|| format!("{low} to {high}"))
}

/// A mean and the bounds of its interval, with the decimals of its half width where they have the same prefix.
fn with_bounds(mean: f64, (low, high): (f64, f64)) -> [String; 3] {
    let Prefix { factor, text } = prefix_of(mean);
    let all = [mean, low, high];
    if !all.iter().all(|value| prefix_of(*value).factor == *factor) {
        return all.map(si);
    }
    let decimals = decimals_with_margin(mean / factor, (high - low) / 2.0 / factor);
    all.map(|value| format!("{:.decimals$}{text}", value / factor))
}

/// Adds decimals if the margin would be printed as 0, which would claim an exact value.
pub(crate) fn decimals_with_margin(mean: f64, margin: f64) -> usize {
    (decimals(mean)..=3)
        .find(|decimals| margin >= 0.5 * 10f64.powi(-(*decimals as i32)))
        .unwrap_or(decimals(mean))
}

/// A rate: `12.3k/s`.
pub fn per_s(value: f64) -> String {
    format!("{}/s", si(value))
}

/// `1 run`, `3 runs`, `2 queries`, `2 batches`.
pub fn counted(count: usize, noun: &str) -> String {
    with_noun(&count.to_string(), noun)
}

/// The same of a [`count`] that may have a fraction: `1 CPU`, `0.500 CPUs`.
pub fn counted_amount(amount: f64, noun: &str) -> String {
    with_noun(&count(amount), noun)
}

fn with_noun(number: &str, noun: &str) -> String {
    let stem = noun.strip_suffix('y');
    // The ending changes only after a consonant: days, but queries.
    let stem = stem.filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        ("1", _) => format!("{number} {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) if noun.ends_with("ch") => format!("{number} {noun}es"),
        (_, None) => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn si_keeps_three_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
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
    fn counts_are_whole_below_a_thousand() {
        for (value, text) in [
            (-0.0, "0"),
            (7.0, "7"),
            (999.0, "999"),
            (0.25, "0.250"),
            (1000.0, "1.00k"),
        ] {
            assert_eq!(count(value), text);
        }
        assert_eq!(per_s(12_345.0), "12.3k/s");
    }

    #[test]
    fn nouns_have_their_plural() {
        for (number, noun, text) in [
            (1, "run", "1 run"),
            (0, "run", "0 runs"),
            (2, "query", "2 queries"),
            (2, "key", "2 keys"),
            (2, "batch", "2 batches"),
        ] {
            assert_eq!(counted(number, noun), text);
        }
        for (amount, text) in [
            (1.0, "1 CPU"),
            (0.5, "0.500 CPUs"),
            (0.9999, "1.00 CPUs"),
            (16.0, "16 CPUs"),
            (1000.0, "1.00k CPUs"),
        ] {
            assert_eq!(counted_amount(amount, "CPU"), text);
        }
    }

    #[test]
    fn ticks_have_no_trailing_zeros() {
        for (value, text) in [(0.0, "0"), (2000.0, "2k"), (2500.0, "2.5k"), (0.2, "0.2")] {
            assert_eq!(si_tick(value), text);
        }
    }

    #[test]
    fn the_bounds_of_an_interval_differ_as_they_are_written() {
        for (mean, bounds, text) in [
            (12_345.0, (11_920.0, 12_790.0), "12.3k (11.9k to 12.8k)"),
            (12_345.0, (12_322.0, 12_368.0), "12.35k (12.32k to 12.37k)"),
            (500.0, (488.0, 512.0), "500 (488 to 512)"),
            (12_345.0, (12_345.0, 12_345.0), "12.3k (12.3k to 12.3k)"),
            (1_000.0, (400.0, 2_500.0), "1.00k (400 to 2.50k)"),
        ] {
            assert_eq!(si_with_interval(mean, bounds), text);
        }
    }

    #[test]
    fn an_interval_that_says_nothing_is_not_written_in_figures() {
        let cases = [
            ((120.0, 3_730.0), "669 (120 to 3.73k)"),
            ((0.0, 4.3e14), "669 (interval too wide to say anything)"),
        ];
        for (bounds, text) in cases {
            assert_eq!(si_with_interval(669.0, bounds), text);
        }
    }

    #[test]
    fn an_interval_stands_by_itself_if_it_says_something() {
        for (bounds, text) in [
            ((120.0, 3_730.0), Some("120 to 3.73k")),
            ((657.0, 681.0), Some("657 to 681")),
            ((0.0, 4.3e14), None),
        ] {
            assert_eq!(si_interval(669.0, bounds).as_deref(), text);
        }
    }
}
