//! The writer of a run record: the activity of the load, the machine and the server.

pub mod calibration;
pub(crate) mod load_record;
pub(crate) mod recording;
pub(crate) mod run_progress;
pub(crate) mod sampling;
pub(crate) mod server_directories;
pub mod server_host;
pub(crate) mod steady_judge;
