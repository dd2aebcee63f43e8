//! A process that removes a control group if the dbdyno that made it is killed.

use std::{io, ops::Deref, path::PathBuf, sync::Arc};

use blame::{Blame, Blamed};
use server::Cgroup;

use crate::guard::{self, Guard};

/// The hidden command of the guard.
pub const COMMAND: &str = "group-guard";

/// A control group that goes with dbdyno, whichever way that ends: with this value, or by a process that waits.
#[derive(Debug)]
pub struct GuardedGroup {
    group: Arc<Cgroup>,
    /// Dropped behind the group, which would else be left by a kill in between.
    _guard: GroupGuard,
}

/// The waiting process; dismissed with this value.
#[derive(Debug)]
struct GroupGuard(Guard);

impl GuardedGroup {
    /// Starts the guard of this group.
    pub fn new(group: Cgroup) -> Result<Self, Blamed> {
        let directories: Vec<_> = group.directories().collect();
        let started = Guard::set_up(COMMAND, &directories);
        let failed = |error: io::Error| {
            let message = format!("the guard of a control group cannot be started: {error}");
            Blamed::new(Blame::Machine, message)
        };
        let guard = GroupGuard(started.map_err(failed)?);
        Ok(Self {
            group: Arc::new(group),
            _guard: guard,
        })
    }

    /// The group, for a server that holds it, too.
    pub(crate) fn shared(&self) -> Arc<Cgroup> {
        self.group.clone()
    }
}

impl Deref for GuardedGroup {
    type Target = Cgroup;

    fn deref(&self) -> &Cgroup {
        &self.group
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// Main function of the guard.
pub fn run() -> Result<(), Blamed> {
    let directories: Option<Vec<PathBuf>> = guard::wait(COMMAND)?;
    for directory in directories.into_iter().flatten() {
        server::remove_group(&directory);
    }
    Ok(())
}
