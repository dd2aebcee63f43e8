//! Where the kernel's scheduler puts a process, and so what it shares the processors with.

use procfs_core::{FromRead, process::Stat};
use samples::{Peer, Placement};

use crate::{cgroup::Cgroups, kernel::Kernel};

/// The placement of a process (`self` or its id), `None` when it has ended.
pub(crate) fn placement(kernel: &Kernel, process: &str, of: Peer) -> Option<Placement> {
    let stat = Stat::from_file(kernel.path(&format!("proc/{process}/stat"))).ok()?;
    let has_groups = kernel.number("proc/sys/kernel/sched_autogroup_enabled") == Some(1);
    // `/autogroup-73 nice 0`
    let line = has_groups
        .then(|| kernel.line(&format!("proc/{process}/autogroup")))
        .flatten();
    let scheduler_group = line.and_then(|line| Some(line.split(' ').next()?.to_owned()));
    let status = kernel.text(&format!("proc/{process}/status"));
    let status = status.unwrap_or_default();
    let allowed = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let (control_group, cpu_weight) = Cgroups::cpu_group(kernel, process).unzip();
    Some(Placement {
        of,
        scheduler_group,
        control_group,
        cpu_weight: cpu_weight.flatten(),
        nice: i32::try_from(stat.nice).unwrap_or_default(),
        cpus: allowed.unwrap_or_default().trim().to_owned(),
    })
}
