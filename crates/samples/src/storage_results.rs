//! Patterns of requests to a disk, and what was measured of them.

use serde::{Deserialize, Serialize};

/// How a pattern goes over the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// From the begin to the end.
    Sequential,
    /// Anywhere.
    Random,
}

/// Requests of one kind, for example
/// `{"name":"012_rand_4k_r90_q1","access":"random","block_bytes":4096,"reads_percent":90,"depth":1}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// Its name, which is the section of the job file.
    pub name: String,
    /// Sequential or random.
    pub access: Access,
    /// Size of a request, bytes.
    pub block_bytes: u64,
    /// Share of the reads, percent; the others are writes.
    pub reads_percent: u32,
    /// Requests in flight.
    pub depth: u32,
}

/// What was measured of a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PatternResult {
    /// The pattern.
    pub pattern: Pattern,
    /// The reads; `None` where it has none.
    pub read: Option<Requests>,
    /// The writes; `None` where it has none.
    pub write: Option<Requests>,
    /// CPU time of the measuring program per time.
    pub cpu: Option<f64>,
    /// What went wrong; the figures are then those of the time before.
    pub error: Option<String>,
    /// How an imported pattern was measured; `None` for dbdyno's own, for which the header tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedJob>,
}

/// How another tool measured a pattern. `None` where its file does not say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedJob {
    /// The file.
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

/// Flushes of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flushes {
    /// How many.
    pub count: u64,
    /// From the call to its return.
    pub latency: Latency,
}

/// A pattern whose rate varied by more than this share of its mean is noisy: half is what neighbours do, not a disk.
pub const NOISY_FROM: f64 = 0.3;

impl PatternResult {
    /// Reads and writes per second.
    pub fn iops(&self) -> f64 {
        self.sides().map(|side| side.iops).sum()
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.sides().map(|side| side.bytes_per_s).sum()
    }

    /// Standard deviation of the rate inside the run as a share of its mean, the larger one of both sides; `None` where it
    /// was not sampled often enough.
    pub fn variation(&self) -> Option<f64> {
        let shares = self.sides().filter_map(|side| {
            let enough = side.rate_samples >= 3 && side.iops > 0.0;
            enough.then(|| side.iops_deviation / side.iops)
        });
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
    /// Requests per second.
    pub iops: f64,
    /// Standard deviation of the rate's samples inside the run.
    pub iops_deviation: f64,
    /// How many samples these were.
    pub rate_samples: u64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Time from the submission of a request to its completion; `None` where another tool did not record it.
    pub latency: Option<Latency>,
}

/// Latencies, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 95th percentile.
    pub p95_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}
