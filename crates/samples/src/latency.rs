//! Latencies of requests: their percentiles, and their bins, as fio writes them. Bins can be merged, percentiles cannot.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub mean_ns: f64,
    pub p50_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
}

/// Rising latencies, nanoseconds, each with its number of requests: `[[24448,1],[24704,17]]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LatencyBins(Vec<(u64, u64)>);

impl LatencyBins {
    /// Bins in any order; those of one latency are added up.
    pub fn of(bins: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut bins: Vec<(u64, u64)> = bins.into_iter().collect();
        bins.sort_unstable();
        bins.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            if is_same {
                first.1 = first.1.saturating_add(next.1);
            }
            is_same
        });
        Self(bins)
    }

    /// Whether there is no bin: the tool wrote none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bins of both together.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::of(all.into_iter().flat_map(|it| it.0.iter().copied()))
    }

    /// The latency of the bin that holds a quantile (0.99 for the 99th percentile), nanoseconds, as fio takes it; `None`
    /// without requests.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let sum = |below: u64, count: &u64| below.saturating_add(*count);
        let total = self.0.iter().map(|(_, count)| count).fold(0, sum);
        let wanted = (quantile * total as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let mut bins = self.0.iter();
        let holding = bins.find(|(_, count)| {
            below = sum(below, count);
            below >= wanted
        });
        holding.map(|(latency, _)| *latency)
    }

    /// The percentiles with this mean and maximum; `None` without requests.
    pub fn latency(&self, mean_ns: f64, max_ns: u64) -> Option<Latency> {
        Some(Latency {
            mean_ns,
            p50_ns: self.quantile(0.5)?,
            p95_ns: self.quantile(0.95)?,
            p99_ns: self.quantile(0.99)?,
            p999_ns: self.quantile(0.999)?,
            max_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_merged_bins_are_those_of_all_requests() {
        let fast = LatencyBins::of([(200, 1), (100, 99)]);
        let slow = LatencyBins::of([(5_000, 50), (100, 50)]);
        let both = LatencyBins::merged([&fast, &slow]);
        assert_eq!(both, LatencyBins::of([(100, 149), (200, 1), (5_000, 50)]));
        assert_eq!(both.quantile(0.5), Some(100));
        assert_eq!(both.quantile(0.75), Some(200));
        assert_eq!(both.quantile(0.99), Some(5_000));
        assert_eq!(LatencyBins::default().quantile(0.5), None);
        let text = serde_json::to_string(&fast).unwrap();
        assert_eq!(text, "[[100,99],[200,1]]");
    }
}
