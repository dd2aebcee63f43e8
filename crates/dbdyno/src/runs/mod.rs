//! From a plan to its run records: the server, the data, the load, one run after the other.

mod execution;
mod given_server;
mod private_server;
mod recording;
mod results_directory;
mod runner;
mod smack_data;
mod stage;

pub(crate) use results_directory::ResultsDirectory;
pub(crate) use runner::{Choices, Runner};
pub(crate) use smack_data::SmackFiles;
pub(crate) use stage::control;
