//! The control groups of a process: their limits and their resource use.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use procfs_core::{
    FromRead,
    process::MountInfo,
    {ProcessCGroup, ProcessCGroups},
};
use samples::{Cgroup, CgroupUse, LimitedRequests, Peer};

use crate::{
    block_device::Number,
    kernel::{Kernel, difference, difference_of},
    pressure::PressureCounters,
};

/// A limit of version 1 from this value on means no limit: the kernel has the largest number of pages there.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// The control groups of one process, by controller.
#[derive(Debug)]
pub(crate) struct Cgroups {
    cpu: Option<Group>,
    cpu_account: Option<Group>,
    cpuset: Option<Group>,
    memory: Option<Group>,
    io: Option<Group>,
}

/// A control group, as one controller sees it.
#[derive(Debug, Clone)]
struct Group {
    version: u32,
    /// Path as the process sees it.
    path: String,
    /// Its directory, then those of its parent groups up to the mount.
    directories: Vec<PathBuf>,
}

/// The resource use of a group since it was made.
#[derive(Debug, Clone)]
pub(crate) struct CgroupCounters {
    cpu_us: Option<u64>,
    periods: Option<u64>,
    throttled_periods: Option<u64>,
    throttled_us: Option<u64>,
    memory_bytes: Option<u64>,
    memory_limit_hits: Option<u64>,
    oom_kills: Option<u64>,
    io: Option<IoCounters>,
    /// Those of the disks with a limit.
    limited: Option<IoCounters>,
    pressure: Option<PressureCounters>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct IoCounters {
    reads: u64,
    writes: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl IoCounters {
    fn since(self, earlier: Self) -> LimitedRequests {
        LimitedRequests {
            reads: difference(self.reads, earlier.reads),
            writes: difference(self.writes, earlier.writes),
            read_bytes: difference(self.read_bytes, earlier.read_bytes),
            written_bytes: difference(self.written_bytes, earlier.written_bytes),
        }
    }
}

impl Cgroups {
    /// The groups of a process (`self` or its id); `None` if it has none, or only that of the whole machine.
    pub(crate) fn of(kernel: &Kernel, process: &str) -> Option<Self> {
        let file = kernel.path(&format!("proc/{process}/cgroup"));
        let ProcessCGroups(memberships) = ProcessCGroups::from_file(file).ok()?;
        let mounts = kernel.mounts();
        let find = |controller| Group::find(kernel, &memberships, &mounts, controller);
        let groups = Self {
            cpu: find("cpu"),
            cpu_account: find("cpuacct"),
            cpuset: find("cpuset"),
            memory: find("memory"),
            io: find("blkio"),
        };
        let all = [&groups.cpu, &groups.cpuset, &groups.memory, &groups.io];
        let is_limited = || {
            groups
                .limits(kernel, Peer::default())
                .is_some_and(|limits| limits.is_limiting())
        };
        (all.into_iter().flatten().any(Group::is_own) || is_limited()).then_some(groups)
    }

    /// The path of a process's group for the CPU, as it sees it, and the group's weight, which that of the whole machine
    /// does not have; `None` without control groups.
    pub(crate) fn cpu_group(kernel: &Kernel, process: &str) -> Option<(String, Option<u64>)> {
        let file = kernel.path(&format!("proc/{process}/cgroup"));
        let ProcessCGroups(memberships) = ProcessCGroups::from_file(file).ok()?;
        let group = Group::find(kernel, &memberships, &kernel.mounts(), "cpu")?;
        let file = match group.version {
            1 => "cpu.shares",
            _ => "cpu.weight",
        };
        let directory = group.directories.first();
        let weight = directory.and_then(|it| kernel.text_of(&it.join(file)).ok());
        let weight = weight.and_then(|it| it.trim().parse().ok());
        Some((group.path, weight))
    }

    /// The limits; `None` when there is no group.
    pub(crate) fn limits(&self, kernel: &Kernel, of: Peer) -> Option<Cgroup> {
        let group = self.cpu.as_ref().or(self.memory.as_ref())?;
        let tightest_memory = |file: &str| {
            let group = self.memory.as_ref()?;
            let limits = group.values(kernel, file);
            limits.filter_map(|(_, text)| limit_in(&text)).min()
        };
        let memory_file = |group: &Group| match group.version {
            1 => "memory.limit_in_bytes",
            _ => "memory.max",
        };
        Some(Cgroup {
            of,
            path: group.path.clone(),
            version: group.version,
            cpu_limit: self.cpu_limit(kernel).map(|(_, limit)| limit),
            cpus: self.cpus(kernel),
            memory_limit_bytes: self
                .memory
                .as_ref()
                .and_then(|group| tightest_memory(memory_file(group))),
            memory_high_bytes: tightest_memory("memory.high"),
            io_limited: self.io.as_ref().is_some_and(|io| io.is_io_limited(kernel)),
        })
    }

    /// The CPU limit in CPUs (CPU time per elapsed time), and the directory of the group that sets it: the lowest limit
    /// of the process's group and its parents.
    fn cpu_limit(&self, kernel: &Kernel) -> Option<(PathBuf, f64)> {
        let group = self.cpu.as_ref()?;
        let limits = group.directories.iter().filter_map(|directory| {
            let text = |file| kernel.text_of(&directory.join(file)).ok();
            let limit = match group.version {
                1 => quota(
                    text("cpu.cfs_quota_us")?.trim(),
                    text("cpu.cfs_period_us")?.trim(),
                ),
                _ => {
                    let text = text("cpu.max")?;
                    let (quota_us, period_us) = text.trim().split_once(' ')?;
                    quota(quota_us, period_us)
                }
            };
            Some((directory.clone(), limit?))
        });
        limits.min_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    /// Number of CPUs that the processes may use; `None` for all that are online.
    fn cpus(&self, kernel: &Kernel) -> Option<u32> {
        let group = self.cpuset.as_ref()?;
        let directory = group.directories.first()?;
        let files = [
            "cpuset.cpus.effective",
            "cpuset.effective_cpus",
            "cpuset.cpus",
        ];
        let list = files
            .iter()
            .find_map(|file| kernel.text_of(&directory.join(file)).ok())?;
        let cpus = count_in_list(&list)?;
        let online = count_in_list(&kernel.line("sys/devices/system/cpu/online")?)?;
        (cpus > 0 && cpus < online).then_some(cpus)
    }

    /// The resource use so far. `is_stacked` returns whether a device's requests are counted again by the devices below
    /// it.
    pub(crate) fn read(
        &self,
        kernel: &Kernel,
        mut is_stacked: impl FnMut(Number) -> bool,
    ) -> CgroupCounters {
        let limiting = self.cpu_limit(kernel).map(|(directory, _)| directory);
        let is_cpu_own = limiting.is_some() || self.cpu.as_ref().is_some_and(Group::is_own);
        let own = || self.cpu.as_ref()?.directories.first().cloned();
        let throttling = limiting.or_else(own).filter(|_| is_cpu_own);
        let cpu_stat = throttling
            .and_then(|directory| kernel.text_of(&directory.join("cpu.stat")).ok())
            .unwrap_or_default();
        let us = |name| keyed(&cpu_stat, name);
        let ns = |name| keyed(&cpu_stat, name).map(|ns| ns / 1000);
        let limits = self.limits(kernel, Peer::default());
        let is_limited = limits
            .as_ref()
            .is_some_and(|it| it.memory_limit_bytes.is_some());
        let is_memory_own = |group: &&Group| is_limited || group.is_own();
        let memory = self.memory.as_ref().filter(is_memory_own);
        let memory = |v1, v2| memory?.text(kernel, v1, v2);
        let is_limited = limits.as_ref().is_some_and(|it| it.io_limited);
        let io = self.io.as_ref().filter(|io| is_limited || io.is_own());
        let events = memory("memory.oom_control", "memory.events").unwrap_or_default();
        let unified = [&self.cpu, &self.memory].into_iter().flatten();
        let pressure = unified
            .filter(|group| group.version == 2)
            .find_map(|group| PressureCounters::of_cgroup(kernel, group.directories.first()?).ok());
        CgroupCounters {
            cpu_us: us("usage_usec").or_else(|| {
                let usage = self
                    .cpu_account
                    .as_ref()
                    // That of the whole machine counts everybody.
                    .filter(|group| group.is_own())?
                    .text(kernel, "cpuacct.usage", "")?;
                Some(usage.trim().parse::<u64>().ok()? / 1000)
            }),
            periods: us("nr_periods"),
            throttled_periods: us("nr_throttled"),
            throttled_us: us("throttled_usec").or_else(|| ns("throttled_time")),
            memory_bytes: memory("memory.usage_in_bytes", "memory.current")
                .and_then(|text| text.trim().parse().ok()),
            memory_limit_hits: keyed(&events, "max")
                .or_else(|| memory("memory.failcnt", "")?.trim().parse().ok()),
            oom_kills: keyed(&events, "oom_kill"),
            io: io.and_then(|io| io.read_io(kernel, &mut is_stacked)),
            limited: io.and_then(|io| io.read_limited(kernel)),
            pressure,
        }
    }
}

impl Group {
    /// The group of `controller`: of version 1 if a hierarchy with that controller is mounted, else of version 2.
    fn find(
        kernel: &Kernel,
        memberships: &[ProcessCGroup],
        mounts: &[MountInfo],
        controller: &str,
    ) -> Option<Self> {
        let has = |member: &&ProcessCGroup| member.controllers.iter().any(|it| it == controller);
        let (version, member, mount) = match memberships.iter().find(has) {
            Some(member) => {
                let mount = mounts.iter().find(|mount| {
                    mount.fs_type == "cgroup" && mount.super_options.contains_key(controller)
                });
                (1, member, mount?)
            }
            None => {
                let member = memberships
                    .iter()
                    .find(|member| member.hierarchy == 0 && member.controllers.is_empty())?;
                let mount = mounts.iter().find(|mount| mount.fs_type == "cgroup2")?;
                (2, member, mount)
            }
        };
        // In a container the mount shows only a part of the hierarchy.
        let path = &member.pathname;
        let below = path
            .strip_prefix(mount.root.trim_end_matches('/'))
            .unwrap_or(path);
        // A group outside of the namespace of this process.
        if below.split('/').any(|part| part == "..") {
            return None;
        }
        let top = kernel.path(mount.mount_point.to_str()?);
        let own = top.join(below.trim_start_matches('/'));
        let directories = own
            .ancestors()
            .take_while(|directory| directory.starts_with(&top));
        Some(Self {
            version,
            path: path.clone(),
            directories: directories.map(Path::to_owned).collect(),
        })
    }

    /// False for the group of the whole machine, or of the whole container in which dbdyno runs: its counters are not
    /// the process's.
    fn is_own(&self) -> bool {
        self.path != "/"
    }

    /// The content of a file in each group that has it, the innermost first.
    fn values<'a>(
        &'a self,
        kernel: &'a Kernel,
        file: &'a str,
    ) -> impl Iterator<Item = (&'a Path, String)> {
        self.directories.iter().filter_map(move |directory| {
            let text = kernel.text_of(&directory.join(file)).ok()?;
            Some((directory.as_path(), text))
        })
    }

    /// The content of the file for this group's version in the innermost group that has it.
    fn text(&self, kernel: &Kernel, v1: &str, v2: &str) -> Option<String> {
        let file = match self.version {
            1 => v1,
            _ => v2,
        };
        if file.is_empty() {
            return None;
        }
        self.values(kernel, file).next().map(|(_, text)| text)
    }

    fn is_io_limited(&self, kernel: &Kernel) -> bool {
        !self.limited_disks(kernel).is_empty()
    }

    /// The disks with a limit of this group or of one around it.
    fn limited_disks(&self, kernel: &Kernel) -> BTreeSet<Number> {
        let files: &[_] = match self.version {
            1 => &[
                "blkio.throttle.read_bps_device",
                "blkio.throttle.write_bps_device",
                "blkio.throttle.read_iops_device",
                "blkio.throttle.write_iops_device",
            ],
            _ => &["io.max"],
        };
        let texts = files.iter().flat_map(|file| self.values(kernel, file));
        let disks = texts.flat_map(|(_, text)| {
            let numbers = text.lines().filter_map(|line| line.split(' ').next());
            numbers.filter_map(device_number).collect::<Vec<_>>()
        });
        disks.collect()
    }

    /// The requests to the disks with a limit; `None` where there is none.
    fn read_limited(&self, kernel: &Kernel) -> Option<IoCounters> {
        let limited = self.limited_disks(kernel);
        let counters = || self.read_io(kernel, &mut |disk| !limited.contains(&disk));
        (!limited.is_empty()).then(counters)?
    }

    fn read_io(
        &self,
        kernel: &Kernel,
        is_left_out: &mut dyn FnMut(Number) -> bool,
    ) -> Option<IoCounters> {
        if self.version == 2 {
            let text = self.text(kernel, "", "io.stat")?;
            return Some(io_stat(&text, is_left_out));
        }
        let directory = self.directories.first()?;
        let text = |file| kernel.text_of(&directory.join(file)).ok();
        let requests = text("blkio.throttle.io_serviced")?;
        let bytes = text("blkio.throttle.io_service_bytes")?;
        Some(IoCounters {
            reads: blkio_sum(&requests, "Read", is_left_out),
            writes: blkio_sum(&requests, "Write", is_left_out),
            read_bytes: blkio_sum(&bytes, "Read", is_left_out),
            written_bytes: blkio_sum(&bytes, "Write", is_left_out),
        })
    }
}

impl CgroupCounters {
    pub(crate) fn since(&self, earlier: &Self) -> CgroupUse {
        let seconds = |now, before| difference_of(now, before).map(|us| us as f64 / 1e6);
        let io = |counter: fn(&IoCounters) -> u64| {
            let counter = |counters: &Self| counters.io.as_ref().map(counter);
            difference_of(counter(self), counter(earlier))
        };
        CgroupUse {
            cpu_s: seconds(self.cpu_us, earlier.cpu_us),
            periods: difference_of(self.periods, earlier.periods),
            throttled_periods: difference_of(self.throttled_periods, earlier.throttled_periods),
            throttled_s: seconds(self.throttled_us, earlier.throttled_us),
            memory_bytes: self.memory_bytes,
            memory_limit_hits: difference_of(self.memory_limit_hits, earlier.memory_limit_hits),
            oom_kills: difference_of(self.oom_kills, earlier.oom_kills),
            reads: io(|io| io.reads),
            writes: io(|io| io.writes),
            read_bytes: io(|io| io.read_bytes),
            written_bytes: io(|io| io.written_bytes),
            limited: self
                .limited
                .zip(earlier.limited)
                .map(|(now, before)| now.since(before)),
            pressure: self
                .pressure
                .zip(earlier.pressure)
                .map(|(now, before)| now.since(&before)),
        }
    }
}

/// The limit in CPUs (CPU time per elapsed time); `None` without a limit (`max`, `-1`).
fn quota(quota_us: &str, period_us: &str) -> Option<f64> {
    let quota_us: u64 = quota_us.parse().ok()?;
    let period_us: u64 = period_us.parse().ok().filter(|period| *period > 0)?;
    Some(quota_us as f64 / period_us as f64)
}

/// A limit in bytes; `None` for `max`.
fn limit_in(text: &str) -> Option<u64> {
    text.trim()
        .parse()
        .ok()
        .filter(|bytes| *bytes < UNLIMITED_BYTES)
}

/// The number after a key at the beginning of a line, as in `nr_throttled 12`.
fn keyed(text: &str, key: &str) -> Option<u64> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
    value.trim().parse().ok()
}

/// How many numbers a list contains, as in `0-3,8`.
fn count_in_list(list: &str) -> Option<u32> {
    let parts = list.trim().split(',').filter(|part| !part.is_empty());
    let counts = parts.map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    counts.sum()
}

fn device_number(text: &str) -> Option<Number> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The sums over the devices in a file with lines such as `254:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`.
fn io_stat(text: &str, is_stacked: &mut dyn FnMut(Number) -> bool) -> IoCounters {
    let mut sum = IoCounters::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        let device = words.next().and_then(device_number);
        if device.is_none_or(&mut *is_stacked) {
            continue;
        }
        for (name, value) in words.filter_map(|word| word.split_once('=')) {
            let value: u64 = value.parse().unwrap_or(0);
            let counter = match name {
                "rios" => &mut sum.reads,
                "wios" => &mut sum.writes,
                "rbytes" => &mut sum.read_bytes,
                "wbytes" => &mut sum.written_bytes,
                _ => continue,
            };
            *counter = counter.saturating_add(value);
        }
    }
    sum
}

/// The sum of the lines such as `254:0 Read 4096`.
fn blkio_sum(text: &str, operation: &str, is_stacked: &mut dyn FnMut(Number) -> bool) -> u64 {
    let mut sum = 0_u64;
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        if let [device, name, value] = words[..]
            && name == operation
            && device_number(device).is_some_and(|device| !is_stacked(device))
        {
            sum = sum.saturating_add(value.parse().unwrap_or(0));
        }
    }
    sum
}

#[cfg(test)]
mod tests;
