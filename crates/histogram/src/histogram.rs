//! A latency histogram in nanoseconds and its text form.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::{
    Histogram as Hdr,
    serialization::{Deserializer, Serializer, V2DeflateSerializer},
};
use serde::{Deserialize, Serialize};

use crate::compact::Compact;

/// Significant decimal digits: values are exact to 0.1 %.
const DIGITS: u8 = 3;

/// A histogram of durations in nanoseconds, exact to 0.1 %, without a largest value.
///
/// Stored in a record as base64 of HdrHistogram's V2-deflate format, so that other tools can read it.
#[derive(Debug, Clone)]
pub struct Histogram(Representation);

/// The representation of the counts.
#[derive(Debug, Clone)]
enum Representation {
    /// For recording: a count for every bucket.
    Open(Box<Hdr<u64>>),
    /// For keeping: the non-empty buckets.
    Kept(Compact),
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Representation::Open(one), Representation::Open(other)) => one == other,
            _ => self.counts().eq(other.counts()),
        }
    }
}

/// A histogram that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    #[error("histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    #[error("histogram is not HDR V2-deflate: {0}")]
    Format(String),
}

impl Default for Histogram {
    fn default() -> Self {
        let hdr = Hdr::new(DIGITS).expect("3 digits are within the library's 0..=5");
        Self(Representation::Open(Box::new(hdr)))
    }
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty histogram that uses no memory until a value is recorded.
    pub fn none() -> Self {
        Self(Representation::Kept(Compact::default()))
    }

    /// The same counts in the smallest representation.
    pub fn compacted(&self) -> Self {
        match &self.0 {
            Representation::Open(hdr) => Self(Representation::Kept(Compact::of(recorded(hdr)))),
            Representation::Kept(_) => self.clone(),
        }
    }

    fn open(&mut self) -> &mut Hdr<u64> {
        if let Representation::Kept(compact) = &self.0 {
            let mut opened = Self::default();
            for (value, count) in compact.counts() {
                opened
                    .open()
                    .record_n(value, count)
                    .expect("an auto-resizing histogram takes every 64-bit value");
            }
            *self = opened;
        }
        match &mut self.0 {
            Representation::Open(hdr) => hdr,
            Representation::Kept(_) => unreachable!("it was opened above"),
        }
    }

    /// Records the same duration `count` times.
    pub fn record_many(&mut self, duration_ns: u64, count: u64) {
        self.open()
            .record_n(duration_ns.max(1), count)
            .expect("an auto-resizing histogram takes every 64-bit value");
    }

    /// Records one duration in nanoseconds (0 counts as 1, the smallest value of HDR).
    #[inline]
    pub fn record(&mut self, duration_ns: u64) {
        self.open()
            .record(duration_ns.max(1))
            .expect("an auto-resizing histogram takes every 64-bit value");
    }

    /// Adds all values of `other` without loss, as both have the same precision.
    pub fn add(&mut self, other: &Histogram) {
        let own = self.open();
        match &other.0 {
            Representation::Open(hdr) => own
                .add(hdr.as_ref())
                .expect("an auto-resizing histogram of the same precision takes every value"),
            Representation::Kept(compact) => {
                for (value, count) in compact.counts() {
                    own.record_n(value, count)
                        .expect("an auto-resizing histogram takes every 64-bit value");
                }
            }
        }
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        self.open().reset();
    }

    pub fn count(&self) -> u64 {
        match &self.0 {
            Representation::Open(hdr) => hdr.len(),
            Representation::Kept(compact) => compact.count(),
        }
    }

    /// The value in nanoseconds below which the share `quantile` (0 to 1) of all values lies; `None` if empty.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        match &self.0 {
            Representation::Open(hdr) => (!hdr.is_empty()).then(|| hdr.value_at_quantile(quantile)),
            Representation::Kept(compact) => compact.quantile(quantile),
        }
    }

    /// Mean in nanoseconds; `None` if empty.
    pub fn mean_ns(&self) -> Option<f64> {
        match &self.0 {
            Representation::Open(hdr) => (!hdr.is_empty()).then(|| hdr.mean()),
            Representation::Kept(compact) => compact.mean(),
        }
    }

    /// The number of values above `limit_ns`, within the histogram's precision of 0.1 %.
    pub fn count_above(&self, limit_ns: u64) -> u64 {
        match &self.0 {
            // Between a limit and the largest value there are few buckets, and below it thousands.
            Representation::Open(hdr) => match hdr.next_non_equivalent(limit_ns) {
                above_ns if above_ns <= limit_ns || above_ns > hdr.max() => 0,
                above_ns => hdr.count_between(above_ns, hdr.max()),
            },
            Representation::Kept(compact) => compact.count_above(limit_ns),
        }
    }

    /// The values in nanoseconds, each exact to 0.1 %, with their counts, in ascending order.
    ///
    /// Boxed, so that it is compiled here, where it is optimised also in tests.
    pub fn counts(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        match &self.0 {
            Representation::Open(hdr) => Box::new(recorded(hdr)),
            Representation::Kept(compact) => Box::new(compact.counts()),
        }
    }

    fn opened(&self) -> Self {
        let mut opened = self.clone();
        opened.open();
        opened
    }

    /// Base64 of HdrHistogram's V2-deflate format.
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        let mut opened = None;
        let hdr = match &self.0 {
            Representation::Open(hdr) => hdr,
            Representation::Kept(_) => match &opened.insert(self.opened()).0 {
                Representation::Open(hdr) => hdr,
                Representation::Kept(_) => unreachable!("it was opened"),
            },
        };
        V2DeflateSerializer::new()
            .serialize(hdr, &mut bytes)
            .expect("writing into memory does not fail");
        STANDARD.encode(bytes)
    }

    /// Parses the text written by [`Histogram::to_text`].
    pub fn from_text(text: &str) -> Result<Self, HistogramError> {
        let bytes = STANDARD.decode(text)?;
        let mut hdr: Hdr<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| HistogramError::Format(error.to_string()))?;
        hdr.auto(true);
        Ok(Self(Representation::Open(Box::new(hdr))))
    }
}

/// The highest value of each non-empty bucket, with its count.
fn recorded(hdr: &Hdr<u64>) -> impl Iterator<Item = (u64, u64)> + '_ {
    let steps = hdr.iter_recorded();
    steps.map(|step| (step.value_iterated_to(), step.count_at_value()))
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_text(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn text_form_loses_nothing(values in prop::collection::vec(1u64..3_600_000_000_000, 0..200)) {
            let mut histogram = Histogram::new();
            for value in &values {
                histogram.record(*value);
            }
            let back = Histogram::from_text(&histogram.to_text()).unwrap();
            prop_assert_eq!(back.count(), values.len() as u64);
            for q in [0.5, 0.95, 0.99] {
                prop_assert_eq!(back.quantile_ns(q), histogram.quantile_ns(q));
            }
        }

        #[test]
        fn the_compact_form_answers_like_the_open_one(
            values in prop::collection::vec(prop_oneof![0u64..5_000, 1u64..3_600_000_000_000], 0..200),
            limit_ns in prop_oneof![0u64..6_000, 1u64..3_600_000_000_000],
        ) {
            let mut open = Histogram::new();
            values.iter().for_each(|value| open.record(*value));
            let kept = open.compacted();
            prop_assert_eq!(&kept, &open);
            prop_assert_eq!(kept.count(), open.count());
            prop_assert_eq!(kept.count_above(limit_ns), open.count_above(limit_ns));
            prop_assert_eq!(kept.mean_ns(), open.mean_ns());
            for quantile in [0.0, 0.5, 0.95, 0.999, 1.0] {
                prop_assert_eq!(kept.quantile_ns(quantile), open.quantile_ns(quantile));
            }
            let mut sum = Histogram::none();
            sum.add(&kept);
            sum.add(&open);
            prop_assert_eq!(sum.count(), 2 * open.count());
            prop_assert_eq!(Histogram::from_text(&kept.to_text()).unwrap(), open);
        }

        #[test]
        fn no_value_is_off_by_more_than_a_thousandth(value in 1u64..3_600_000_000_000) {
            let mut histogram = Histogram::new();
            histogram.record(value);
            let read = histogram.quantile_ns(1.0).unwrap() as f64;
            prop_assert!((read - value as f64).abs() <= value as f64 * 0.001 + 1.0);
        }
    }

    #[test]
    fn what_lies_above_a_limit() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.count_above(10), 0);
        for value in [1, 900_000, 1_100_000, 5_000_000_000] {
            histogram.record(value);
        }
        for (limit_ns, count) in [(0, 4), (1_000_000, 2), (4_000_000_000, 1), (u64::MAX, 0)] {
            assert_eq!(histogram.count_above(limit_ns), count, "{limit_ns}");
        }
    }

    #[test]
    fn broken_text_is_an_error() {
        for text in ["", "%%%", "AAAA", "SElTVEZBQUE="] {
            assert!(Histogram::from_text(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_read_histogram_can_grow() {
        let mut small = Histogram::new();
        small.record(10);
        let mut back = Histogram::from_text(&small.to_text()).unwrap();
        let mut large = Histogram::new();
        large.record(10_000_000_000);
        back.add(&large);
        assert_eq!(back.count(), 2);
    }
}
