//! Settings of an experiment's runs from the command line, not from the experiment.

use std::{path::PathBuf, time::Duration};

use blame::Blamed;
use experiment::ServerSpec;
use protocol::Endpoint;

/// Settings from the command line, not from the experiment.
#[derive(Debug)]
pub struct Choices {
    /// The server binary, instead of the one found by default.
    pub mysqld: Option<PathBuf>,
    /// Keep the private servers, and the tables created on other servers, for inspection.
    pub keep: bool,
    /// The server for an experiment that uses an existing server.
    pub endpoint: Option<Endpoint>,
    /// Returns the endpoint, with account, of a server that an experiment names.
    pub reach: fn(&ServerSpec) -> Result<Endpoint, Blamed>,
    /// Sampling interval of the machine; by default that of the record.
    pub sample_every: Option<Duration>,
}
