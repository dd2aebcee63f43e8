//! Tests of telemetry on the machine as it is, as one binary.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

mod live;
mod sysstat;
