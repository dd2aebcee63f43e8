//! A process that removes a control group if the dbdyno that made it is killed.

use std::{io, path::PathBuf};

use server::Cgroup;

use crate::{
    blame::Blamed,
    exit_code::Blame,
    guard::{self, Guard},
};

/// The hidden command of the guard.
pub const COMMAND: &str = "group-guard";

/// The waiting guard process of a control group; dismissed with this value.
#[derive(Debug)]
pub struct GroupGuard(Guard);

impl GroupGuard {
    /// Starts the guard of this group.
    pub fn set_up(group: &Cgroup) -> Result<Self, Blamed> {
        let directories: Vec<_> = group.directories().collect();
        let started = Guard::set_up(COMMAND, &directories);
        let failed = |error: io::Error| {
            let message = format!("the guard of a control group cannot be started: {error}");
            Blamed::new(Blame::Machine, message)
        };
        Ok(Self(started.map_err(failed)?))
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// Main function of the guard.
pub fn stand() -> Result<(), Blamed> {
    let directories: Option<Vec<PathBuf>> = guard::wait(COMMAND)?;
    for directory in directories.into_iter().flatten() {
        server::remove_group(&directory);
    }
    Ok(())
}
