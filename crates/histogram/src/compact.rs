//! A compact form of histogram counts for the intervals of a long record in memory; the file has the whole histogram.

/// Buckets of equal width per power of two, as in HDR with three digits.
const HALF: u64 = 1 << BITS;
const BITS: u32 = 10;

/// Non-empty buckets in ascending order: the distance to the previous one and the count, both as LEB128.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compact(Box<[u8]>);

impl Compact {
    /// Compacts the counts of values in ascending order; values within one bucket, which is exact to 0.1 %, are merged.
    pub(crate) fn of(counts: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut bytes = Vec::new();
        let mut last = 0;
        for (value, count) in counts {
            let bucket = bucket_of(value);
            push(&mut bytes, bucket - last);
            push(&mut bytes, count);
            last = bucket;
        }
        Self(bytes.into_boxed_slice())
    }

    /// The highest value of each bucket, with its count.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut bytes = self.0.iter().copied();
        let mut bucket = 0;
        std::iter::from_fn(move || {
            bucket += take(&mut bytes)?;
            Some((highest_of(bucket), take(&mut bytes)?))
        })
    }

    /// The number of values in buckets above that of `limit`.
    pub(crate) fn count_above(&self, limit: u64) -> u64 {
        let limit = bucket_of(limit);
        sum(self.counts().filter(|(value, _)| bucket_of(*value) > limit))
    }

    pub(crate) fn count(&self) -> u64 {
        sum(self.counts())
    }

    /// As HdrHistogram's: the highest value of the bucket that the quantile reaches, at 0 the lowest of the first; `None`
    /// if empty.
    pub(crate) fn quantile(&self, quantile: f64) -> Option<u64> {
        let target = (quantile.min(1.0) * self.count() as f64).ceil().max(1.0) as u64;
        let mut reached = 0_u64;
        let (highest, _) = self.counts().find(|(_, count)| {
            reached = reached.saturating_add(*count);
            reached >= target
        })?;
        Some(match quantile {
            0.0 => lowest_of(highest),
            _ => highest,
        })
    }

    /// As HdrHistogram's: each value counts as the middle of its bucket; `None` if empty.
    pub(crate) fn mean(&self) -> Option<f64> {
        let total = self.count();
        let middle = |highest: u64| lowest_of(highest) + width_of(highest) / 2;
        let sum = self.counts().fold(0.0, |sum, (highest, count)| {
            sum + middle(highest) as f64 * count as f64 / total as f64
        });
        (total > 0).then_some(sum)
    }

    /// Size in bytes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The sum of these counts, at most the largest number, as HdrHistogram's: those of a damaged record can have any size.
fn sum(counts: impl Iterator<Item = (u64, u64)>) -> u64 {
    counts.fold(0_u64, |sum, (_, count)| sum.saturating_add(count))
}

/// Below 2,048 each bucket holds one value; above, each power of two has 1,024 buckets.
fn bucket_of(value: u64) -> u64 {
    let shift = value.max(1).ilog2().saturating_sub(BITS);
    u64::from(shift) * HALF + (value >> shift)
}

/// The number of values in the bucket of a value.
fn width_of(value: u64) -> u64 {
    1 << value.max(1).ilog2().saturating_sub(BITS)
}

/// The lowest value of the bucket with this highest one.
fn lowest_of(highest: u64) -> u64 {
    highest - (width_of(highest) - 1)
}

fn highest_of(bucket: u64) -> u64 {
    let shift = (bucket / HALF).saturating_sub(1);
    let first = (bucket - shift * HALF) << shift;
    first + ((1 << shift) - 1)
}

fn push(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes.next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_bucket_holds_its_values_to_a_thousandth(value in any::<u64>()) {
            let highest = highest_of(bucket_of(value));
            prop_assert!(highest >= value);
            prop_assert!(highest - value <= value / 1000);
            prop_assert_eq!(bucket_of(highest), bucket_of(value));
        }

        #[test]
        fn counts_come_back(counts in prop::collection::btree_map(0_u64..40_000, 1..u64::MAX, 0..50)) {
            let counts: Vec<(u64, u64)> =
                counts.into_iter().map(|(bucket, count)| (highest_of(bucket), count)).collect();
            let compact = Compact::of(counts.iter().copied());
            prop_assert_eq!(compact.counts().collect::<Vec<_>>(), counts);
        }
    }

    #[test]
    fn counts_that_are_too_large_to_add_are_the_largest_number() {
        let compact = Compact::of([(1, u64::MAX), (2, u64::MAX)].into_iter());
        assert_eq!(compact.count(), u64::MAX);
        assert_eq!(compact.count_above(0), u64::MAX);
        for quantile in [0.5, 1.0] {
            assert_eq!(compact.quantile(quantile), Some(1));
        }
    }

    #[test]
    fn a_bucket_takes_a_few_bytes() {
        let counts = (0..300).map(|at| (1_000_000 + at * 2_000, 20));
        assert!(Compact::of(counts).len() <= 2 * 300 + 4);
        assert_eq!(Compact::default().counts().count(), 0);
    }
}
