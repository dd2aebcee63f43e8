//! The machines of a run, their configuration and their storage.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The half of the run that a machine carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Host {
    /// Client and server share the machine.
    #[default]
    Both,
    /// The client's machine only: it has no information about the server's host.
    Client,
    /// The server's machine only.
    Server,
}

/// One of the two programs that talk in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Peer {
    /// The server.
    #[default]
    Server,
    /// dbdyno, whose users are the server's clients.
    Client,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Client => "client",
        })
    }
}

/// A machine of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub host: Host,
    /// Host name.
    pub name: String,
    /// CPU model as the kernel names it.
    pub cpu_model: String,
    /// Number of logical CPUs.
    pub cpus: u32,
    /// Physical memory, bytes.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// True if the CPU reports virtualisation (`hypervisor` flag).
    pub virtualised: bool,
    /// Inputs that were not observed, as text ("server host not observed").
    pub not_observed: Vec<String>,
    /// Configuration of the CPUs; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuSetup>,
    /// Kernel settings that affect a server; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<KernelSettings>,
    /// The control groups of the observed processes; those without a limit are omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cgroups: Vec<Cgroup>,
    /// Where the kernel's scheduler puts the observed processes; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placements: Vec<Placement>,
    /// The network interfaces with a known speed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

/// Where the kernel's scheduler puts a process, and so what it shares the processors with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The process.
    pub of: Peer,
    /// Its group of the scheduler (`/proc/PID/autogroup`), for example `/autogroup-73`: processors are shared between
    /// these groups first, each for one session of processes. `None` where the kernel makes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler_group: Option<String>,
    /// Path of its control group for the CPU, as the process sees it; `None` without control groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_group: Option<String>,
    /// Weight of that group (`cpu.weight`, or `cpu.shares` of version 1); `None` for the group of the whole machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_weight: Option<u64>,
    /// Its nice value, -20 to 19.
    pub nice: i32,
    /// The CPUs on which it may run, as the kernel lists them: `0-3,6`.
    pub cpus: String,
}

/// A network interface with a known speed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Name, for example `eth0`.
    pub interface: String,
    /// Speed in each direction, bits per second.
    pub speed_bits_per_s: u64,
}

/// Configuration of the CPUs of a machine. `None` if the kernel does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuSetup {
    pub sockets: Option<u32>,
    /// Number of cores over all sockets; fewer than the logical CPUs with hyper-threading.
    pub cores: Option<u32>,
    pub numa_nodes: Option<u32>,
    /// Frequency governors in use, for example `performance`.
    pub governors: Vec<String>,
    /// Frequency driver, for example `intel_pstate`.
    pub frequency_driver: Option<String>,
    pub frequency_max_hz: Option<u64>,
    /// Whether the CPUs may exceed their nominal frequency.
    pub turbo: Option<bool>,
    /// Hypervisor of this machine, for example `kvm`, or the vendor and product of its board.
    pub hypervisor: Option<String>,
}

/// Kernel settings that affect a server. `None` if the kernel does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSettings {
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Tendency to swap (`vm.swappiness`), 0 to 200.
    pub swappiness: Option<u32>,
    /// Percent of the memory that may be dirty before writers have to write back themselves.
    pub dirty_ratio: Option<u32>,
    /// Percent of the memory that may be dirty before the kernel starts to write back.
    pub dirty_background_ratio: Option<u32>,
    /// Clock source of the kernel, for example `tsc`.
    pub clocksource: Option<String>,
    /// CPUs excluded from the scheduler (`isolcpus`).
    pub isolated_cpus: Option<String>,
}

/// The control group of one process, with its limits. Limits of enclosing groups are included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cgroup {
    /// The process.
    pub of: Peer,
    /// Path as the process sees it; with version 1 the path of the CPU controller.
    pub path: String,
    /// Version of control groups, 1 or 2.
    pub version: u32,
    /// CPU limit for all processes of the group, in CPUs; `None` without a limit.
    pub cpu_limit: Option<f64>,
    /// Number of CPUs that it may run on; `None` without a limit.
    pub cpus: Option<u32>,
    /// Memory limit, bytes; `None` without a limit.
    pub memory_limit_bytes: Option<u64>,
    /// Memory usage above which its processes are throttled, bytes; `None` without a limit, and with version 1.
    pub memory_high_bytes: Option<u64>,
    pub io_limited: bool,
}

impl Cgroup {
    pub fn is_limiting(&self) -> bool {
        self.cpu_limit.is_some()
            || self.cpus.is_some()
            || self.memory_limit_bytes.is_some()
            || self.memory_high_bytes.is_some()
            || self.io_limited
    }
}

/// The storage of the directories that a server writes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    pub host: Host,
    /// The directories; one that serves several purposes is listed once.
    pub places: Vec<StorageDirectory>,
    /// The block devices below them, each once, from the top of a stack downwards.
    pub devices: Vec<BlockDevice>,
    pub not_observed: Vec<String>,
}

impl Storage {
    /// The disks at the bottom: devices that are made of no other.
    pub fn disks(&self) -> impl Iterator<Item = &BlockDevice> {
        self.devices.iter().filter(|it| it.made_of.is_empty())
    }
}

/// A directory that a server writes to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageDirectory {
    /// Contents: `data`, `redo log`, `binary log`, `temporary files` and others.
    pub holds: Vec<String>,
    pub path: String,
    /// Type of the file system, for example `ext4`.
    pub filesystem: String,
    pub mount_point: String,
    /// Options of the mount and of the file system, sorted and comma-separated.
    pub mount_options: String,
    /// Size of the file system, bytes.
    pub size_bytes: u64,
    /// Space that an unprivileged user can still write, bytes.
    pub free_bytes: u64,
    /// The device below the file system; `None` if there is none (network, memory).
    pub device: Option<String>,
}

const IN_MEMORY: [&str; 3] = ["tmpfs", "ramfs", "hugetlbfs"];

/// File systems on other machines, or on the host of a virtual machine.
const REMOTE: [&str; 11] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "9p",
    "virtiofs",
    "ceph",
    "glusterfs",
    "afs",
    "lustre",
    "gpfs",
];

/// Stands for the file system of a raw device, which has none.
const RAW_DEVICE: &str = "raw device";

impl StorageDirectory {
    /// A raw device that is measured without a file system.
    pub fn raw_device(path: &str, device: Option<String>, size_bytes: u64) -> Self {
        Self {
            holds: vec![RAW_DEVICE.to_owned()],
            path: path.to_owned(),
            filesystem: RAW_DEVICE.to_owned(),
            size_bytes,
            device,
            ..Self::default()
        }
    }

    pub fn is_raw_device(&self) -> bool {
        self.filesystem == RAW_DEVICE
    }

    /// Whether its file system is memory: a power cut takes everything, and no disk is written.
    pub fn is_in_memory(&self) -> bool {
        IN_MEMORY.contains(&self.filesystem.as_str())
    }

    /// Whether its files are on another machine, or are made by a program (FUSE), which may have them there.
    pub fn is_remote(&self) -> bool {
        REMOTE.contains(&self.filesystem.as_str()) || self.filesystem.starts_with("fuse")
    }
}

/// A block device. `None` if the kernel does not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockDevice {
    /// Kernel name: `vda`, `nvme0n1p2`, `dm-0`.
    pub name: String,
    /// `disk`, `partition`, `volume` (device mapper), `array` (md) or `loop`.
    pub kind: String,
    pub size_bytes: u64,
    /// Model of a disk, name of a volume, level of an array, or the file of a loop device.
    pub model: Option<String>,
    /// The devices below it; empty for a disk.
    pub made_of: Vec<String>,
    /// True for a rotating disk, as reported by the kernel.
    pub rotational: Option<bool>,
    /// I/O scheduler in use, for example `none` or `mq-deadline`.
    pub scheduler: Option<String>,
    /// `write back`: acknowledged writes may be lost in a power cut until they are flushed; or `write through`.
    pub write_cache: Option<String>,
    /// Capacity of its request queue.
    pub queue_requests: Option<u32>,
    pub read_ahead_bytes: Option<u64>,
    /// Smallest unit that it writes without reading first, bytes.
    pub physical_block_bytes: Option<u64>,
}
