//! The observation of the server's host by a dbdyno on it.

use serde::{Deserialize, Serialize};

/// The observation of the server's host by a dbdyno on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observer {
    /// `start` or `end` of the run.
    pub at: String,
    /// Address, for example `ssh://dba@db1` or `tcp://db1:7306`.
    pub address: String,
    /// Version of the dbdyno on that host; empty if it was not reached.
    pub version: String,
    /// Whether client and server share one machine; `None` if a kernel does not report it.
    pub same_machine: Option<bool>,
    /// How the server's process was found, for example `port 3306`; `None` if it was not found.
    pub server_process: Option<String>,
    /// The clock of that host compared with ours; `None` if that was not possible.
    pub clock: Option<ClockOffset>,
    /// Drift between the two clocks over the run; only at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<ClockDrift>,
    /// CPU time used for receiving, seconds; only at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiving_cpu_s: Option<f64>,
    /// Time and cause of the loss of the observer; `None` without a loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<ObserverLoss>,
}

/// The clock of another host, compared with ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The monotonic clock of the other host minus ours, seconds; it mainly reflects which machine was started first.
    /// The times of the samples are corrected by it.
    pub offset_s: f64,
    /// Uncertainty of the offset in either direction: half of the shortest round trip, seconds.
    pub uncertainty_s: f64,
    /// The time of day on the other host minus ours, with the same uncertainty, seconds.
    pub wall_offset_s: f64,
    /// Number of round trips, of which the shortest was used.
    pub exchanges: u64,
}

/// Drift between two clocks, parts per million; positive if the other one is faster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockDrift {
    /// Change of the offset divided by the time between.
    pub ppm: f64,
    /// Uncertainty of the drift in either direction.
    pub uncertainty_ppm: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObserverLoss {
    /// Seconds since the start of the load; 0 if it was never reached.
    pub t_s: f64,
    pub why: String,
}
