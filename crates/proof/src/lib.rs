//! Two option files compared by an experiment on private servers: which lines of a file have an effect, and the shortest
//! file that is not slower than the whole one.
//!
//! A [`Case`] is what is to be proved. Its rounds are experiments in one [`ProofDirectory`]; [`Rounds`] measures them
//! until every line is decided, and [`findings`] is the answer.

mod case;
mod findings;
mod option_line;
mod plan;
mod proof_directory;
mod round_files;
mod rounds;
mod shortest_file;
mod startable_file;
mod undecided;
mod workload;

pub use case::{Case, ProofParameters, Request};
pub use findings::findings;
pub use plan::plan;
pub use proof_directory::ProofDirectory;
pub use rounds::{RoundStart, Rounds};
pub use shortest_file::ShortestFile;
pub use startable_file::StartableFile;
pub use undecided::undecided;
pub use workload::{LoadOptions, Workload};
