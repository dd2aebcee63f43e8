//! How the server's host was observed by a dbdyno on it.

use serde::{Deserialize, Serialize};

/// How the server's host was observed by a dbdyno on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observer {
    /// `start` or `end` of the run.
    pub at: String,
    /// How it was reached, as `ssh://dba@db1` or `tcp://db1:7306`.
    pub address: String,
    /// Version of the dbdyno there; empty when it was not reached.
    pub version: String,
    /// Whether client and server turned out to share one machine; `None` where a kernel does not tell.
    pub same_machine: Option<bool>,
    /// By what the server's process was found, as `port 3306`; `None` where it was not found.
    pub server_process: Option<String>,
    /// The clock there, compared with ours; `None` where that was not possible.
    pub clock: Option<ClockOffset>,
    /// How fast the two clocks drifted apart over the run; only at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<ClockDrift>,
    /// CPU time that receiving took here; only at the end, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiving_cpu_s: Option<f64>,
    /// Since when nothing came any more, and why; `None` while all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
}

/// The clock of another host, compared with ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The monotonic clock there less the one here, seconds; most of it is which machine was started first. The times of
    /// the samples were corrected by it.
    pub offset_s: f64,
    /// What the offset may be wrong by, in either direction: half of the shortest round trip, seconds.
    pub uncertainty_s: f64,
    /// The time of day there less the one here, just as sure, seconds.
    pub wall_offset_s: f64,
    /// Round trips of which this is the shortest.
    pub exchanges: u64,
}

/// How fast two clocks drift apart, parts per million; positive when the other one is faster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockDrift {
    /// Change of the offset by the time between.
    pub ppm: f64,
    /// What that may be wrong by, in either direction.
    pub uncertainty_ppm: f64,
}

/// An observer that told nothing any more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// Seconds since the start of the load; 0 where it was never there.
    pub t_s: f64,
    /// Why, in words.
    pub why: String,
}
