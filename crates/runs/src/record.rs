//! The record of a run as it is written: what the load, the machine and the server did.

pub mod calibration;
pub(crate) mod recording;
pub(crate) mod sampling;
pub(crate) mod server_directories;
pub mod server_host;
pub mod steady;
