//! Patterns of requests to a disk, and what was measured of them.

use serde::{Deserialize, Serialize};

use crate::{
    latency::{Latency, LatencyBins},
    measurement_cpu::MeasurementCpu,
};

/// How a pattern goes over the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Sequential,
    Random,
}

/// Requests of one kind, for example
/// `{"name":"012_rand_4k_r90_q1","access":"random","block_bytes":4096,"reads_percent":90,"depth":1}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// Its name, which is the section of the job file.
    pub name: String,
    pub access: Access,
    /// Size of a request, bytes.
    pub block_bytes: u64,
    /// Share of the reads, percent; the others are writes.
    pub reads_percent: u32,
    /// Requests in flight.
    pub depth: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PatternResult {
    pub pattern: Pattern,
    /// From 1: which of the repeats.
    #[serde(default = "first")]
    pub repeat: u32,
    /// The reads; `None` where it has none.
    pub read: Option<Requests>,
    /// The writes; `None` where it has none.
    pub write: Option<Requests>,
    /// CPU time of the measuring program per time.
    pub cpu: Option<f64>,
    /// CPU time of the machine meanwhile; `None` in older records, and if it was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu: Option<MeasurementCpu>,
    /// What went wrong; the figures are then those of the time before.
    pub error: Option<String>,
    /// How an imported pattern was measured; `None` for dbdyno's own, for which the header tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedJob>,
}

/// How another tool measured a pattern. `None` where its file does not say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedJob {
    pub file: String,
    /// I/O engine.
    pub engine: Option<String>,
    /// Whether requests went past the page cache.
    pub direct: bool,
    /// Size of the range that was accessed, bytes.
    pub size_bytes: Option<u64>,
    /// Time of the measurement, seconds.
    pub elapsed_s: f64,
    /// Flushes (fsync, fdatasync) between the writes.
    pub flushes: Option<Flushes>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flushes {
    pub count: u64,
    /// From the call to its return.
    pub latency: Latency,
}

fn first() -> u32 {
    1
}

/// A pattern whose rate varied by more than this share of its mean is noisy: half is what neighbours do, not a disk.
pub const NOISY_FROM: f64 = 0.3;

impl PatternResult {
    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        self.sides().map(|side| side.iops).sum()
    }

    pub fn bytes_per_s(&self) -> f64 {
        self.sides().map(|side| side.bytes_per_s).sum()
    }

    /// Requests per second of each repeat; empty for a single run.
    pub fn repeat_iops(&self) -> Vec<f64> {
        let count = self.sides().map(|side| side.repeats.len()).min();
        let of_both = |index: usize| self.sides().map(|side| side.repeats[index].iops).sum();
        (0..count.unwrap_or(0)).map(of_both).collect()
    }

    /// Standard deviation between the repeats as a share of their mean; `None` for fewer than two.
    pub fn between(&self) -> Option<f64> {
        variation_of(&self.repeat_iops(), self.iops())
    }

    /// The larger one of the variations inside a run and between the repeats; `None` where neither is known.
    pub fn variation(&self) -> Option<f64> {
        let both = [self.inside(), self.between()];
        both.into_iter().flatten().max_by(f64::total_cmp)
    }

    /// Standard deviation of the rate inside the run as a share of its mean, the larger one of both sides; `None` where it
    /// was not sampled often enough.
    pub fn inside(&self) -> Option<f64> {
        let shares = self.sides().filter_map(Requests::inside);
        shares.max_by(f64::total_cmp)
    }

    /// Whether the rate varied too much for the figure to be that of the disk.
    pub fn is_noisy(&self) -> bool {
        self.variation().is_some_and(|share| share > NOISY_FROM)
    }

    fn sides(&self) -> impl Iterator<Item = &Requests> {
        self.read.iter().chain(&self.write)
    }
}

/// Requests of one direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// Requests that were completed.
    pub count: u64,
    pub iops: f64,
    /// Standard deviation of the rate's samples inside the run.
    pub iops_deviation: f64,
    pub rate_samples: u64,
    pub bytes_per_s: f64,
    /// Time from the submission of a request to its completion; `None` where another tool did not record it.
    pub latency: Option<Latency>,
    /// The same by bin, so that repeats can be merged; empty where the tool wrote none.
    #[serde(default, skip_serializing_if = "LatencyBins::is_empty")]
    pub latency_bins: LatencyBins,
    /// The figures of each repeat where the others are those of all together; never in a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeat>,
}

/// Standard deviation of some rates as a share of their mean; `None` for fewer than two.
fn variation_of(rates: &[f64], mean: f64) -> Option<f64> {
    if rates.len() < 2 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    Some((squares / (rates.len() - 1) as f64).sqrt() / mean)
}

impl Requests {
    /// Standard deviation of the rate inside the run as a share of its mean; `None` where it was not sampled often enough.
    pub fn inside(&self) -> Option<f64> {
        let enough = self.rate_samples >= 3 && self.iops > 0.0;
        enough.then(|| self.iops_deviation / self.iops)
    }

    /// Standard deviation between the repeats as a share of their mean; `None` for fewer than two.
    pub fn between(&self) -> Option<f64> {
        let rates: Vec<f64> = self.repeats.iter().map(|it| it.iops).collect();
        variation_of(&rates, self.iops)
    }

    /// The smallest and the largest 99th percentile of the repeats; `None` for a single run.
    pub fn p99_range_ns(&self) -> Option<(u64, u64)> {
        let each = self.repeats.iter();
        let each: Option<Vec<u64>> = each.map(|it| Some(it.latency?.p99_ns)).collect();
        let each = each?;
        Some((*each.iter().min()?, *each.iter().max()?))
    }
}

/// The figures of one repeat of a pattern in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repeat {
    pub iops: f64,
    /// As in [`Requests::latency`].
    pub latency: Option<Latency>,
}
