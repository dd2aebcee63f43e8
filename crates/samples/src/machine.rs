//! The machine that one half of a run stood on, and how it was set up.

use serde::{Deserialize, Serialize};

/// Which half of the run a machine carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Host {
    /// Client and server share the machine.
    #[default]
    Both,
    /// The machine of the client only: nothing here speaks of the server's host.
    Client,
    /// The machine of the server only.
    Server,
}

/// The machine that one half of the run stood on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Which half.
    pub host: Host,
    /// Host name.
    pub name: String,
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// Logical CPUs.
    pub cpus: u32,
    /// Physical memory, bytes.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Virtualisation if the CPU says so (`hypervisor` flag).
    pub virtualised: bool,
    /// What could not be observed, in words ("server host not observed").
    pub not_observed: Vec<String>,
    /// How the CPUs are set up; `None` in records of before it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuSetup>,
    /// Settings of the kernel that change what a server does; `None` in records of before they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<KernelSettings>,
    /// The control groups of the processes that were observed; one that limits nothing is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cgroups: Vec<Cgroup>,
    /// The network interfaces whose speed the kernel knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

/// A network interface that knows its speed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its name, as `eth0`.
    pub interface: String,
    /// What it carries in each direction, bits per second.
    pub speed_bits_per_s: u64,
}

/// How the CPUs of a machine are set up. What the kernel does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuSetup {
    /// Sockets.
    pub sockets: Option<u32>,
    /// Cores, over all sockets; fewer than the logical CPUs where they are threads of one core.
    pub cores: Option<u32>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Frequency governors in use, as `performance`.
    pub governors: Vec<String>,
    /// Frequency driver, as `intel_pstate`.
    pub frequency_driver: Option<String>,
    /// Highest frequency, hertz.
    pub frequency_max_hz: Option<u64>,
    /// Whether the CPUs may go above their nominal frequency.
    pub turbo: Option<bool>,
    /// What runs this machine as its guest, as `kvm` or the vendor and product of its board.
    pub hypervisor: Option<String>,
}

/// Settings of the kernel that change what a server does. What the kernel does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSettings {
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Inclination to swap, 0 to 200.
    pub swappiness: Option<u32>,
    /// Percent of the memory that may be dirty before a writer has to write it back itself.
    pub dirty_ratio: Option<u32>,
    /// Percent of the memory that may be dirty before the kernel begins to write it back.
    pub dirty_background_ratio: Option<u32>,
    /// What the kernel tells the time from, as `tsc`.
    pub clocksource: Option<String>,
    /// CPUs that the scheduler leaves alone.
    pub isolated_cpus: Option<String>,
}

/// The control group of one process, and what it may use. A limit of an enclosing group counts as its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cgroup {
    /// Whose: `server` or `client`.
    pub of: String,
    /// Its path as the process sees it; with version 1 that of the CPU controller.
    pub path: String,
    /// 1 or 2.
    pub version: u32,
    /// CPU time per time that all of its processes together may have; `None` without a limit.
    pub cpu_limit: Option<f64>,
    /// CPUs that it may run on; `None` without a limit.
    pub cpus: Option<u32>,
    /// Memory that it may use, bytes; `None` without a limit.
    pub memory_limit_bytes: Option<u64>,
    /// Memory from which on its processes are slowed down, bytes; `None` without one, and with version 1.
    pub memory_high_bytes: Option<u64>,
    /// True where requests to a disk are limited.
    pub io_limited: bool,
}

impl Cgroup {
    /// True when it takes anything away from the machine.
    pub fn is_limiting(&self) -> bool {
        self.cpu_limit.is_some()
            || self.cpus.is_some()
            || self.memory_limit_bytes.is_some()
            || self.memory_high_bytes.is_some()
            || self.io_limited
    }
}

/// What stands behind the directories that a server writes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// The machine.
    pub host: Host,
    /// The directories, those of one directory together.
    pub places: Vec<StorageDirectory>,
    /// The block devices behind them, each one once, from the top of a stack downwards.
    pub devices: Vec<BlockDevice>,
    /// What could not be observed, in words.
    pub not_observed: Vec<String>,
}

/// A directory that a server writes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageDirectory {
    /// What it holds: `data`, `redo log`, `binary log`, `temporary files` and others.
    pub holds: Vec<String>,
    /// The directory.
    pub path: String,
    /// Type of the file system, as `ext4`.
    pub filesystem: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Options of the mount and of the file system, sorted, with commas between them.
    pub mount_options: String,
    /// Size of the file system, bytes.
    pub size_bytes: u64,
    /// What an ordinary user can still write, bytes.
    pub free_bytes: u64,
    /// The device below the file system; `None` where there is none (a network, memory).
    pub device: Option<String>,
}

/// A block device. What the kernel does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Name as the kernel gives it: `vda`, `nvme0n1p2`, `dm-0`.
    pub name: String,
    /// `disk`, `partition`, `volume` (device mapper), `array` (md) or `loop`.
    pub kind: String,
    /// Size, bytes.
    pub size_bytes: u64,
    /// Model of a disk, name of a volume, level of an array, or the file behind a loop device.
    pub model: Option<String>,
    /// The devices that it is made of; empty for a disk.
    pub made_of: Vec<String>,
    /// True for a disk with a head that moves, as far as the kernel knows.
    pub rotational: Option<bool>,
    /// I/O scheduler in use, as `none` or `mq-deadline`.
    pub scheduler: Option<String>,
    /// `write back`: acknowledged writes may be lost with the power until they are flushed; or `write through`.
    pub write_cache: Option<String>,
    /// Requests that its queue holds.
    pub queue_requests: Option<u32>,
    /// Bytes that it reads ahead.
    pub read_ahead_bytes: Option<u64>,
    /// Smallest unit that it writes without reading first, bytes.
    pub physical_block_bytes: Option<u64>,
}

/// Something about a machine that was otherwise at the end of a run than at its start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// The machine.
    pub host: Host,
    /// What, as `write cache of sda`.
    pub what: String,
    /// At the start.
    pub from: String,
    /// At the end.
    pub to: String,
}
