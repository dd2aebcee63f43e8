//! The limits of private servers: set for a run, lifted after it, and told to its record.

pub mod guard;

use std::{collections::BTreeSet, path::Path, sync::Arc};

use blame::Blamed;
use experiment::{Plan, ServerSpec};
use samples::{DiskLimit, ServerLimit};
use server::{Cgroup, CgroupVersion};
use settings::{DiskLimits, GroupLimits};

use crate::named_server;

/// The limits of one run, and the group in which its server runs.
pub struct ServerLimits {
    group: Arc<Cgroup>,
    limits: GroupLimits,
}

/// While this value lives, the disk of a server is limited.
#[must_use]
pub(crate) struct HeldDisk(Arc<Cgroup>);

impl ServerLimits {
    pub(crate) fn new(group: Arc<Cgroup>, limits: GroupLimits) -> Self {
        Self { group, limits }
    }

    /// Limits the disk until the returned value is dropped.
    pub(crate) fn hold(&self) -> Result<HeldDisk, Blamed> {
        let held = HeldDisk(self.group.clone());
        self.group.limit_disk(self.limits.disk)?;
        Ok(held)
    }

    /// What the kernel does not limit, a sentence each.
    pub(crate) fn not_limited(&self) -> Vec<String> {
        not_limited(&self.limits.disk, &self.group)
    }

    /// The limits as the record keeps them.
    pub(crate) fn recorded(&self) -> ServerLimit {
        let limits = &self.limits;
        let disk = (!limits.disk.is_empty()).then(|| recorded_limit(limits.disk, &self.group));
        let of_processes = limits.cpus.is_some() || limits.memory_bytes.is_some();
        ServerLimit {
            disk,
            cpus: limits.cpus,
            memory_bytes: limits.memory_bytes,
            cgroup_version: of_processes.then(|| number(self.group.version_of_processes())),
        }
    }
}

impl Drop for HeldDisk {
    fn drop(&mut self) {
        // If that fails, the server stops slowly, and the limit ends with its group.
        let _ = self.0.limit_disk(DiskLimits::default());
    }
}

/// The limit of a disk as the record keeps it, with what the kernel leaves out.
pub fn recorded_limit(limits: DiskLimits, group: &Cgroup) -> DiskLimit {
    DiskLimit {
        read_iops: limits.read_iops,
        write_iops: limits.write_iops,
        read_bytes_per_s: limits.read_bytes_per_s,
        write_bytes_per_s: limits.write_bytes_per_s,
        cgroup_version: number(group.version()),
        device: group.device().to_owned(),
        not_limited: not_limited(&limits, group),
    }
}

fn not_limited(limits: &DiskLimits, group: &Cgroup) -> Vec<String> {
    let why = "Writes by the kernel itself are not limited by cgroup v1: write-back from the page cache and the \
         file system's journal";
    let is_left_out = limits.limits_writes() && group.version() == CgroupVersion::V1;
    is_left_out.then(|| why.to_owned()).into_iter().collect()
}

fn number(version: CgroupVersion) -> u32 {
    match version {
        CgroupVersion::V1 => 1,
        CgroupVersion::V2 => 2,
    }
}

/// An error if a limit of the plan's private servers cannot be set on this machine.
pub(crate) fn check_limits_of_servers(plan: &Plan) -> Result<(), Blamed> {
    let servers = plan.runs.iter().filter_map(|run| match &run.server {
        ServerSpec::Private { run, datadir, .. } => Some((run.as_deref(), datadir.as_deref())),
        ServerSpec::Given { .. } | ServerSpec::Absent => None,
    });
    let servers: BTreeSet<_> = servers.collect();
    for (version, datadir) in servers {
        // It is made only to see whether that is possible, and removed at once.
        group(plan, version, datadir)?;
    }
    Ok(())
}

/// The control group of the private server of these runs; `None` if none of them limits it.
pub(crate) fn group(
    plan: &Plan,
    version: Option<&str>,
    datadir: Option<&Path>,
) -> Result<Option<Cgroup>, Blamed> {
    let is_it = |server: &ServerSpec| {
        matches!(server, ServerSpec::Private { run, datadir: directory, .. }
            if run.as_deref() == version && directory.as_deref() == datadir)
    };
    let runs = plan.runs.iter().filter(|run| is_it(&run.server));
    let kinds = runs.fold(GroupLimits::default(), |kinds, run| {
        kinds.kinds_of(run.server.limit())
    });
    if kinds.is_empty() {
        return Ok(None);
    }
    let root = named_server::root()?;
    let directory = datadir.unwrap_or(&root);
    // The directory of named servers is made with the first of them.
    let mut directories = directory.ancestors();
    let directory = directories.find(|it| it.is_dir()).unwrap_or(directory);
    Ok(Some(Cgroup::of_server(directory, &kinds)?))
}
