//! State shared by all clients of a run.

use std::{path::PathBuf, sync::Arc, time::Duration};

use benchmarks::smack::{Dictionary, Script, layout::TimeUnit};
use load::OnError;
use runs::Context;

use super::endpoints::Endpoints;

/// State shared by all clients of a run.
pub(super) struct SharedState {
    pub(super) script: Script,
    pub(super) dictionaries: Arc<[Dictionary]>,
    pub(super) endpoints: Endpoints,
    pub(super) arguments: Vec<String>,
    pub(super) unit: TimeUnit,
    pub(super) on_error: OnError,
    pub(super) seed: u64,
    pub(super) loops: Option<u32>,
    pub(super) context: Context,
    /// File of the record, if requested.
    pub(super) record: Option<PathBuf>,
    pub(super) sample_every: Option<Duration>,
}
