//! How a load runs, as plain values: when operations start, what precedes the measurement, what a failure does.

use std::time::Duration;

/// When operations start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// A closed loop: each user starts its next operation when the one before is done.
    Closed,
    /// A closed loop in which each user thinks between two operations.
    Thinking(ThinkTime),
    /// An open loop: when they are due, whatever the server does.
    Open {
        /// Operations per second, over all connections.
        rate_per_s: f64,
        /// How the times come about.
        process: Process,
    },
}

/// How long a user thinks between the end of an operation and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkTime {
    Fixed(Duration),
    /// Exponentially distributed with this mean.
    Exponential(Duration),
}

/// How operations come to be due in an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// At equal distances.
    Constant,
    /// Independently of each other, as the users of a service come.
    Poisson,
}

impl Arrivals {
    /// The process by its name in the record: `closed`, `constant` or `poisson`.
    pub fn process(&self) -> &'static str {
        match self {
            Self::Closed | Self::Thinking(_) => "closed",
            Self::Open { process, .. } => match process {
                Process::Constant => "constant",
                Process::Poisson => "poisson",
            },
        }
    }

    /// Operations per second that are asked for; `None` in a closed loop.
    pub fn rate_per_s(&self) -> Option<f64> {
        match *self {
            Self::Closed | Self::Thinking(_) => None,
            Self::Open { rate_per_s, .. } => Some(rate_per_s),
        }
    }
}

/// When the measurement begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// With the first operation.
    None,
    /// After a fixed time.
    For(Duration),
    /// When the load is found steady. A measurement that turns out not to be steady becomes a part of the warm-up, and
    /// begins anew, as long as the limit allows.
    UntilSteady {
        /// The measurement begins at the latest after this time, and the record says that it was not steady.
        at_most: Duration,
    },
}

impl WarmUp {
    /// One of this time, which may be none.
    pub fn fixed(time: Duration) -> Self {
        if time.is_zero() {
            Self::None
        } else {
            Self::For(time)
        }
    }

    /// How long it takes at most.
    pub fn at_most(self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::For(time) | Self::UntilSteady { at_most: time } => time,
        }
    }
}

/// What a connection that cannot be opened does to a load before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRefusal {
    /// The load does not begin: it would not be the one that was asked for.
    Stop,
    /// It begins with those that are open, and tells how many they are.
    GoOn,
}

/// What a failed operation does to the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The first failure ends the load.
    Stop,
    /// Failures are counted and the user continues.
    Count,
    /// A failure that the server asks to retry (deadlock, lock wait timeout) is retried up to this number of times; the
    /// response time includes the retries. Other failures are counted.
    Retry {
        /// Retries of one operation.
        at_most: u32,
    },
    /// Failures that the user calls retryable are retried, over a new connection where the old one is lost, until they
    /// succeed or the load gives up waiting. Those with an unknown outcome are counted, and the user continues with its
    /// next operation. Any other ends the load.
    RetryElseStop {
        /// How long a user tries to get a lost connection back.
        reconnect_for: Duration,
    },
}

impl OnError {
    /// [`Self::Retry`] as often as is usual.
    pub const RETRY: Self = Self::Retry { at_most: 10 };

    /// What the same patience does about a connection that cannot be opened.
    pub fn on_refusal(self) -> OnRefusal {
        match self {
            Self::Stop | Self::RetryElseStop { .. } => OnRefusal::Stop,
            Self::Count | Self::Retry { .. } => OnRefusal::GoOn,
        }
    }
}
