//! The load that was offered, and why a rate was not reached.

use serde::{Deserialize, Serialize};

use crate::{durations::Durations, error_count::is_zero};

/// The load that was offered, and the part of it that was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// Arrival process: `closed`, `constant` or `poisson`.
    pub process: String,
    /// Requested operations per second; `None` in a closed loop.
    pub rate_per_s: Option<f64>,
    /// True if the event loops busy-waited for the next timer instead of sleeping.
    #[serde(default)]
    pub spin: bool,
    /// True for work that is done once and is then over, so that its time is a result; false in older records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_by_itself: bool,
    /// Operations due in the measurement; in a closed loop those that began in it.
    pub due: u64,
    /// Of `due`, those that had not begun at the end of the measurement.
    pub behind: u64,
    /// Of `due`, those that began more than 1 ms late, or never.
    pub late: u64,
    /// Largest number of waiting operations at one time.
    pub waiting_max: u64,
    /// Of `due`, those that had not begun when the load gave up.
    pub not_started: u64,
    /// Of `due`, those that had begun but not completed when the load gave up.
    pub unfinished: u64,
    /// Operations that had begun but not completed when the load gave up, regardless of the phase in which they were
    /// due; 0 in older records.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight: u64,
    /// Waiting times of `not_started` and `unfinished` until then: their response times are longer still.
    pub waits: Durations,
    /// Why the rate was not reached; `None` if it was reached, and in a closed loop.
    pub shortfall: Option<Shortfall>,
}

impl OfferedLoad {
    /// That of a closed loop in which this number of operations began; each of them came to its end.
    pub fn of_closed_loop(due: u64) -> Self {
        Self {
            process: "closed".to_owned(),
            rate_per_s: None,
            spin: false,
            ends_by_itself: false,
            due,
            behind: 0,
            late: 0,
            waiting_max: 0,
            not_started: 0,
            unfinished: 0,
            in_flight: 0,
            waits: Durations::default(),
            shortfall: None,
        }
    }
}

/// Why a rate was not reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    /// Start of the backlog that was never cleared, seconds since the start of the load.
    pub from_s: f64,
    pub cause: Cause,
    pub why: String,
    /// Operations per second completed in the measurement.
    pub achieved_per_s: f64,
    /// From `from_s` on: share of the connections with an operation in flight, 0 to 1.
    pub busy: f64,
    /// From `from_s` on: largest share of time that an event loop was on the CPU, 0 to 1.
    pub loop_cpu: f64,
    /// From `from_s` on: mean of the largest timer delay of the event loops in each interval, nanoseconds.
    pub loop_delay_ns: f64,
    /// From `from_s` on: mean service time, nanoseconds; `None` if no operation completed.
    pub service_ns: Option<f64>,
    /// Mean service time of the operations that began while at most half of the connections were busy,
    /// nanoseconds; `None` if there were none.
    pub calm_service_ns: Option<f64>,
}

/// The part that could not keep up with a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// All connections waited for a server that answered more slowly than under light load.
    Server,
    /// The event loops were late although connections were free, or had no CPU time left.
    Client,
    /// All connections were busy although the server answered as fast as under light load: there are too few.
    Connections,
    /// All connections were busy from the first operation on, so there is no service time under light load to compare
    /// with.
    ServerOrConnections,
}
