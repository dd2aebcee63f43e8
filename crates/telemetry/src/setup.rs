//! The configuration of a machine: its CPUs and its kernel settings.

use std::collections::BTreeSet;

use procfs_core::CpuInfo;
use samples::{CpuSetup, KernelSettings};

use crate::kernel::Kernel;

const CPUS: &str = "sys/devices/system/cpu";

pub(crate) fn cpu_setup(kernel: &Kernel, info: Option<&CpuInfo>) -> CpuSetup {
    let frequency = |file: &str| {
        let cpus = kernel.names(CPUS).into_iter().filter(|name| is_cpu(name));
        let values = cpus.filter_map(|cpu| kernel.line(&format!("{CPUS}/{cpu}/cpufreq/{file}")));
        values.collect::<BTreeSet<_>>()
    };
    let max_khz = frequency("cpuinfo_max_freq");
    let max_khz = max_khz
        .iter()
        .filter_map(|khz| khz.parse::<u64>().ok())
        .max();
    CpuSetup {
        sockets: info.and_then(|info| distinct(info, &["physical id"])),
        cores: info.and_then(|info| distinct(info, &["physical id", "core id"])),
        numa_nodes: numa_nodes(kernel),
        governors: frequency("scaling_governor").into_iter().collect(),
        frequency_driver: frequency("scaling_driver").into_iter().next(),
        frequency_max_hz: max_khz.map(|khz| khz * 1000),
        turbo: turbo(kernel),
        hypervisor: hypervisor(kernel, info),
    }
}

fn is_cpu(name: &str) -> bool {
    name.strip_prefix("cpu")
        .is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Number of distinct combinations of these fields among the CPUs; `None` when the CPUs lack one.
fn distinct(info: &CpuInfo, fields: &[&str]) -> Option<u32> {
    let of = |cpu| -> Option<Vec<&str>> {
        fields
            .iter()
            .map(|field| info.get_field(cpu, field))
            .collect()
    };
    let all: Option<BTreeSet<_>> = (0..info.num_cores()).map(of).collect();
    Some(all?.len() as u32)
}

fn numa_nodes(kernel: &Kernel) -> Option<u32> {
    let names = kernel.names("sys/devices/system/node");
    let is_node = |name: &&String| {
        name.strip_prefix("node")
            .is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let nodes = names.iter().filter(is_node).count() as u32;
    (nodes > 0).then_some(nodes)
}

fn turbo(kernel: &Kernel) -> Option<bool> {
    let switch = |file: &str| kernel.number(&format!("{CPUS}/{file}"));
    match switch("intel_pstate/no_turbo") {
        Some(off) => Some(off == 0),
        None => switch("cpufreq/boost").map(|on| on != 0),
    }
}

/// The hypervisor of this machine; `None` if it is not a guest.
fn hypervisor(kernel: &Kernel, info: Option<&CpuInfo>) -> Option<String> {
    if let Some(kind) = kernel.line("sys/hypervisor/type") {
        return Some(kind);
    }
    if !is_virtualised(info) {
        return None;
    }
    let board = ["sys_vendor", "product_name"];
    let words: Vec<_> = board
        .iter()
        .filter_map(|file| kernel.line(&format!("sys/class/dmi/id/{file}")))
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// True when the CPU flags show a hypervisor.
pub(crate) fn is_virtualised(info: Option<&CpuInfo>) -> bool {
    let flags = info.and_then(|info| info.flags(0)).unwrap_or_default();
    flags.contains(&"hypervisor")
}

/// Kernel settings that influence a server.
pub(crate) fn kernel_settings(kernel: &Kernel) -> KernelSettings {
    let percent = |file: &str| {
        let value = kernel.number(&format!("proc/sys/vm/{file}"))?;
        u32::try_from(value).ok()
    };
    KernelSettings {
        transparent_huge_pages: kernel
            .line("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| chosen(&text)),
        swappiness: percent("swappiness"),
        dirty_ratio: percent("dirty_ratio"),
        dirty_background_ratio: percent("dirty_background_ratio"),
        clocksource: kernel.line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        isolated_cpus: kernel.line(&format!("{CPUS}/isolated")),
    }
}

/// The word in brackets, as in `always [madvise] never`; the only word if there are no brackets.
pub(crate) fn chosen(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let bracketed = words
        .clone()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let alone = words.next().filter(|_| words.next().is_none());
    bracketed.or(alone).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_in_brackets_is_chosen() {
        for (text, word) in [
            ("always [madvise] never\n", Some("madvise")),
            ("[none] mq-deadline kyber", Some("none")),
            ("none\n", Some("none")),
            ("noop deadline", None),
            ("", None),
        ] {
            assert_eq!(chosen(text).as_deref(), word, "{text:?}");
        }
    }

    #[test]
    fn cpus_are_told_from_their_neighbours() {
        for (name, is) in [
            ("cpu0", true),
            ("cpu12", true),
            ("cpufreq", false),
            ("cpu", false),
        ] {
            assert_eq!(is_cpu(name), is, "{name}");
        }
    }
}
