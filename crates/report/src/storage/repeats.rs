//! Patterns that were repeated: the mean with its interval, the spread between the repeats and inside them, and percentiles
//! with their range.

use maud::{Markup, html};
use samples::{PatternResult, Requests, StorageRecord};
use stats::mean_interval;
use units::{counted, duration, percent, si, si_with_interval};

use crate::page::{scrolling, unbroken};

/// Fewer repeats have no interval that is worth showing.
const REPEATS_AT_LEAST: usize = 3;
const CONFIDENCE: f64 = 0.95;
/// More patterns are a table for the page, not for a terminal.
const LINES_AT_MOST: usize = 30;
const NOT_KNOWN: &str = "–";
const NAMES: [&str; 6] = [
    "pattern",
    "requests/s",
    "95 % interval",
    "between",
    "inside",
    "p99 (of single repeats)",
];

/// The bounds of the 95 % interval of the mean of some repeats' rates, lower first; `None` for fewer than three.
pub(super) fn bounds(rates: &[f64]) -> Option<(f64, f64)> {
    let interval = mean_interval(rates, CONFIDENCE).filter(|_| rates.len() >= REPEATS_AT_LEAST)?;
    // The interval is even around the mean, and no rate is below 0.
    Some((interval.low.max(0.0), interval.high))
}

/// `59.6k`, or `59.6k ± 0.4k` of three repeats or more.
pub(super) fn rate(result: &PatternResult) -> String {
    match bounds(&result.repeat_iops()) {
        Some(bounds) => si_with_interval(result.iops(), bounds),
        None => si(result.iops()),
    }
}

/// The half of the interval as a share of the mean.
pub(super) fn margin(result: &PatternResult) -> Option<f64> {
    // The upper half: the lower one may be cut off at 0.
    let (_, high) = bounds(&result.repeat_iops())?;
    (result.iops() > 0.0).then(|| high / result.iops() - 1.0)
}

/// Standard deviations between and inside the repeats, in words; empty where neither is known.
pub(super) fn spread(result: &PatternResult) -> String {
    let told = [("between", result.between()), ("inside", result.inside())];
    let told = told.into_iter().filter_map(|(name, share)| {
        let share = percent(share?);
        Some(match result.repeat_iops().len() {
            0 => format!("varied by {share}"),
            _ => format!("varied by {share} {name} the repeats"),
        })
    });
    told.collect::<Vec<_>>().join(", ")
}

/// The 99th percentile of each side, for they are no common one; of repeats with the range of the single ones.
pub(super) fn p99(result: &PatternResult) -> String {
    let side = |name: &str, side: &Option<Requests>| {
        let side = side.as_ref()?;
        let p99 = duration(side.latency?.p99_ns as f64);
        Some(match side.p99_range_ns() {
            Some((low, high)) => {
                let (low, high) = (duration(low as f64), duration(high as f64));
                format!("{name} {p99} ({low} to {high})")
            }
            None => format!("{name} {p99}"),
        })
    };
    let sides = [side("reads", &result.read), side("writes", &result.write)];
    sides.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `3 repeats of each pattern, in a random order (seed 7)`; `None` for a single one.
pub(super) fn repeats_in_words(record: &StorageRecord) -> Option<String> {
    let header = &record.header;
    let seed = header.order_seed?;
    let repeats = counted(header.repeats as usize, "repeat");
    Some(format!(
        "{repeats} of each pattern, in a random order (seed {seed})"
    ))
}

fn repeated(record: &StorageRecord) -> Vec<(&PatternResult, [String; 5])> {
    let repeated = record.patterns.iter();
    let repeated = repeated.filter(|it| it.repeat_iops().len() > 1);
    repeated.map(|it| (it, cells(it))).collect()
}

fn cells(result: &PatternResult) -> [String; 5] {
    let share = |it: Option<f64>| it.map_or(NOT_KNOWN.to_owned(), percent);
    let bounds = bounds(&result.repeat_iops());
    [
        si(result.iops()),
        bounds.map_or(NOT_KNOWN.to_owned(), |(low, high)| {
            format!("{} to {}", si(low), si(high))
        }),
        share(result.between()),
        share(result.inside()),
        p99(result),
    ]
}

/// A line for each pattern; `None` where none was repeated.
pub(super) fn repeats_text(record: &StorageRecord) -> Option<String> {
    let rows = repeated(record);
    if rows.is_empty() {
        return None;
    }
    let mut lines: Vec<String> = repeats_in_words(record).into_iter().collect();
    if rows.len() > LINES_AT_MOST {
        lines.push("the page has the interval and the spread of each pattern".to_owned());
        return Some(lines.join("\n"));
    }
    let line = |name: &str, [rate, interval, between, inside, p99]: [&str; 5]| {
        format!("{name:<24}{rate:>11}{interval:>20}{between:>9}{inside:>8}  {p99}")
    };
    let [name, columns @ ..] = NAMES;
    lines.push(line(name, columns));
    lines.extend(
        rows.iter().map(|(result, cells)| {
            line(&result.pattern.name, cells.each_ref().map(String::as_str))
        }),
    );
    Some(lines.join("\n"))
}

/// The same as a table of the page; nothing where none was repeated.
pub(super) fn repeats_html(record: &StorageRecord) -> Markup {
    let rows = repeated(record);
    if rows.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="repeats" {
            h2 id="repeats" { "Repeats" }
            (scrolling("Repeats", html! { table {
                thead { tr { @for name in NAMES { th scope="col" { (name) } } } }
                tbody { @for (result, cells) in &rows { tr {
                    th.text scope="row" { (result.pattern.name) }
                    @for cell in cells { td { (unbroken(cell)) } }
                } } }
            } }))
            p.note {
                "Between: the standard deviation between the repeats, as a share of their mean. Inside: the standard deviation \
                 of the rate within a repeat. A percentile is computed from the requests of all repeats if the record has their \
                 bins; otherwise it is the percentile of the median repeat, never a mean of percentiles."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    /// The record with each pattern measured three times.
    fn repeated_record() -> StorageRecord {
        let mut record = record();
        (record.header.repeats, record.header.order_seed) = (3, Some(7));
        let once = std::mem::take(&mut record.patterns);
        record.header.patterns = once.iter().map(|it| it.pattern.clone()).collect();
        for (repeat, factor) in [(1, 0.98), (2, 1.0), (3, 1.02)] {
            record.patterns.extend(once.iter().cloned().map(|mut it| {
                it.repeat = repeat;
                for side in it.read.iter_mut().chain(&mut it.write) {
                    side.iops *= factor;
                }
                it
            }));
        }
        record.over_repeats()
    }

    #[test]
    fn repeats_are_told_with_interval_and_spread() {
        let record = repeated_record();
        insta::assert_snapshot!(repeats_text(&record).unwrap());
        assert_eq!(record.patterns.len(), 8);
        let page = repeats_html(&record).into_string();
        assert!(page.contains("median repeat"));
        assert_eq!(rate(&record.patterns[3]), "59.6k (56.6k to 62.5k)");
        assert!(margin(&record.patterns[3]).is_some_and(|it| (it - 0.0497).abs() < 1e-3));
        assert_eq!(bounds(&[1.0, 2.0]), None);
    }

    #[test]
    fn a_single_run_has_none() {
        let record = record();
        assert_eq!(repeats_text(&record), None);
        assert_eq!(rate(&record.patterns[3]), "59.6k");
        assert_eq!(spread(&record.patterns[3]), "varied by 5 %");
        assert_eq!(repeats_html(&record).into_string(), "");
    }
}
