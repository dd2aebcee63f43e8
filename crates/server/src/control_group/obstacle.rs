//! What stops a limit.

use std::{io, path::Path};

/// What stops a limit, and what to do, before the directory is known.
pub(super) struct Obstacle {
    pub(super) why: String,
    pub(super) hint: &'static str,
}

/// What to do where the tree cannot be written.
pub(super) const HINT: &str = "run dbdyno as root where /sys/fs/cgroup is writable (in a container: --privileged), or measure without \
                    a limit";

pub(super) fn refused(what: &str, path: &Path, error: &io::Error) -> Obstacle {
    Obstacle {
        why: format!("cannot {what} {}: {error}", path.display()),
        hint: HINT,
    }
}
