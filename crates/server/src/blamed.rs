//! Errors of private servers with their blame.

use blame::{Blame, Blamed};

use crate::error::{Error, Fault};

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        let blame = match error.fault() {
            _ if is_interrupted(&error) => Blame::Interrupted,
            Fault::Input => Blame::Input,
            Fault::Server => Blame::Server,
            Fault::Machine => Blame::Machine,
        };
        let hint = error.hint();
        Self::new(blame, error).hint(hint)
    }
}

/// Whether the user interrupted the wait for a server's process.
fn is_interrupted(error: &Error) -> bool {
    let Error::Io { source, .. } = error else {
        return false;
    };
    source.kind() == std::io::ErrorKind::Interrupted
}
