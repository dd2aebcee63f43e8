//! `--limit`: the control group under whose limits the disk is measured.

use std::path::Path;

use runs::{Blame, Blamed};
use server::{Cgroup, Entered, LimitError};
use settings::DiskLimits;

/// The control group of these limits for the disk of a directory.
pub(super) fn group(
    directory: &Path,
    limits: Option<DiskLimits>,
) -> Result<Option<Cgroup>, Blamed> {
    let group = limits.map(|limits| Cgroup::create(directory, limits));
    group.transpose().map_err(blamed)
}

/// Moves dbdyno itself into the group until the returned value is dropped.
pub(super) fn enter(group: &Cgroup) -> Result<Entered, Blamed> {
    group.enter().map_err(blamed)
}

fn blamed(error: LimitError) -> Blamed {
    let hint = error.hint().to_owned();
    Blamed::new(Blame::Input, error).hint(hint)
}
