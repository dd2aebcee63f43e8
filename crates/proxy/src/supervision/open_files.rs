//! The limit of open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::StartError;

/// Sets the limit of open files, within the system's limit.
pub fn limit_open_files(files: u64) -> Result<(), StartError> {
    let most = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: Some(files),
        maximum: most.map(|most| most.max(files)),
    };
    setrlimit(Resource::Nofile, limit).map_err(|source| StartError::OpenFiles {
        files,
        source: source.into(),
        most: most.map_or("unlimited".to_owned(), |most| most.to_string()),
    })
}
