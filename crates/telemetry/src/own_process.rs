//! The resource use of dbdyno's own process.

use procfs_core::{FromRead, process::Io};
use samples::{Peer, ProcessUse};

use crate::{
    cgroup::Cgroups,
    kernel::Kernel,
    memory::{memory, physical_bytes},
    process::ProcessCounters,
};

/// dbdyno's own process, for callers that get all other telemetry from another machine.
#[derive(Debug)]
pub struct OwnProcess {
    kernel: Kernel,
    last: Option<ProcessCounters>,
}

impl Default for OwnProcess {
    fn default() -> Self {
        let kernel = Kernel::running();
        let last = read(&kernel);
        Self { kernel, last }
    }
}

impl OwnProcess {
    /// The use since the previous call, or since the first reading at the first call; `None` if /proc has no figures.
    pub fn used(&mut self) -> Option<ProcessUse> {
        let now = read(&self.kernel);
        let before = std::mem::replace(&mut self.last, now);
        self.last
            .as_ref()?
            .since(before.as_ref()?, self.kernel.ticks_per_s)
    }
}

fn read(kernel: &Kernel) -> Option<ProcessCounters> {
    // The description of the machine already lists what cannot be read.
    ProcessCounters::read(kernel, "self", "dbdyno's process", &mut Vec::new()).ok()?
}

/// An identifier of the current boot of this machine; `None` if the kernel provides none.
///
/// Source: random(4), /proc/sys/kernel/random/boot_id. A container has the id of its host.
pub fn boot_id() -> Option<String> {
    Kernel::running().line("proc/sys/kernel/random/boot_id")
}

/// Memory that this process and its children may use, bytes: the machine's, or the limit of its control group; `None`
/// if the kernel does not report it.
pub fn usable_memory_bytes() -> Option<u64> {
    let kernel = Kernel::running();
    let limits =
        Cgroups::of(&kernel, "self").and_then(|groups| groups.limits(&kernel, Peer::Client));
    let limit = limits.and_then(|it| it.memory_limit_bytes);
    let physical = physical_bytes(&kernel);
    Some(limit.map_or(physical, |limit| limit.min(physical))).filter(|bytes| *bytes > 0)
}

/// Memory that processes to be started may use without swapping, bytes: what the machine has available, or the limit of
/// the control group if that is less; `None` if the kernel does not report it.
pub fn available_memory_bytes() -> Option<u64> {
    let available = memory(&Kernel::running()).ok()?.available_bytes;
    usable_memory_bytes().map(|usable| usable.min(available))
}

/// Memory that a process uses, bytes; `None` if it has ended.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let counters = ProcessCounters::read(
        &Kernel::running(),
        &pid.to_string(),
        "a process",
        &mut Vec::new(),
    );
    counters.ok().flatten().map(|it| it.resident_bytes())
}

/// Bytes that a process has caused to be written to disks so far; `None` if it has ended or belongs to another user.
///
/// Source: proc_pid_io(5), `write_bytes`.
pub fn written_bytes(pid: u32) -> Option<u64> {
    let path = Kernel::running().path(&format!("proc/{pid}/io"));
    let io = Io::from_file(path).ok()?;
    Some(io.write_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_process_uses_time() {
        let mut own = OwnProcess::default();
        let start = reactor::thread_cpu_time();
        while (reactor::thread_cpu_time() - start).as_millis() < 100 {}
        let used = own.used().expect("this is Linux");
        // Other tests run in this process at the same time; the kernel counts in ticks of 10 ms.
        assert!(used.user_s + used.system_s >= 0.05, "{used:?}");
        assert!(used.resident_bytes > 0);
    }

    #[test]
    fn memory_in_use_is_not_available() {
        let available = available_memory_bytes().expect("this is Linux");
        assert!(available > 0 && Some(available) <= usable_memory_bytes());
        assert!(resident_bytes(std::process::id()) > Some(0));
        assert_eq!(resident_bytes(u32::MAX), None);
        assert_eq!(written_bytes(u32::MAX), None);
    }

    #[test]
    fn the_kernel_has_a_boot_id() {
        let id = boot_id().expect("this is Linux");
        assert_eq!(Some(&id), boot_id().as_ref());
        assert_eq!(id.len(), 36, "{id}");
    }
}
