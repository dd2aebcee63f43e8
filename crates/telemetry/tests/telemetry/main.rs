//! Tests of telemetry on the machine as it is, as one binary.

mod live;
mod sysstat;
