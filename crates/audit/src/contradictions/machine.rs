//! Contradictions in what a record says of its machines.

use samples::{Machine, ProcessUse, Record, Telemetry};
use units::{bytes, counted, moment};

/// Largest deviation of the time of all CPUs from their number times the time, as a share. The kernel counts in
/// hundredths of a second, and steal may be counted late.
const CAPACITY: f64 = 0.25;
/// The same in seconds, for short samples.
const CAPACITY_S: f64 = 0.5;
/// Largest deviation of a memory's size, as a share.
const MEMORY: f64 = 0.05;

fn machine_of<'r>(record: &'r Record, sample: &Telemetry) -> Option<&'r Machine> {
    record.machines.iter().find(|it| it.host == sample.host)
}

/// Number of its machine's CPUs, the time that they have in a sample, and the most that may be counted; seconds.
fn cpu_time(record: &Record, sample: &Telemetry) -> Option<(u32, f64, f64)> {
    let cpus = machine_of(record, sample)?.cpus;
    let has_s = f64::from(cpus) * sample.length_s;
    let room_s = (CAPACITY * has_s).max(CAPACITY_S * f64::from(cpus));
    (cpus > 0).then_some((cpus, has_s, has_s + room_s))
}

fn at(sample: &Telemetry) -> String {
    moment(sample.t_s)
}

/// Checks that no time is negative.
pub(super) fn times(record: &Record) -> Option<String> {
    record.telemetry.iter().find_map(|sample| {
        let machine = sample.machine.as_ref();
        let of_machine =
            machine.map(|it| [it.user_s, it.system_s, it.iowait_s, it.steal_s, it.idle_s]);
        let of = |process: &Option<ProcessUse>| process.as_ref().map(|it| [it.user_s, it.system_s]);
        let processes = [of(&sample.server), of(&sample.client), of(&sample.proxy)];
        let mut all = of_machine
            .into_iter()
            .flatten()
            .chain(processes.into_iter().flatten().flatten());
        let is_wrong = all.any(|time| !time.is_finite() || time < 0.0);
        is_wrong.then(|| format!("at {}, a CPU time is negative", at(sample)))
    })
}

/// Checks that the time of all CPUs is that of as many as the machine has.
pub(super) fn capacity(record: &Record) -> Option<String> {
    record.telemetry.iter().find_map(|sample| {
        let (cpus, has_s, most_s) = cpu_time(record, sample)?;
        let found_s = sample.machine.as_ref()?.capacity_s();
        (found_s > most_s).then(|| {
            format!(
                "at {}, the CPUs were busy or idle for {}, but the time of {} is only {}",
                at(sample),
                moment(found_s),
                counted(cpus as usize, "CPU"),
                moment(has_s)
            )
        })
    })
}

/// Checks that no process took more CPU time than its machine has.
pub(super) fn processes(record: &Record) -> Option<String> {
    record.telemetry.iter().find_map(|sample| {
        let (cpus, has_s, most_s) = cpu_time(record, sample)?;
        let all = [
            ("server", &sample.server),
            ("client", &sample.client),
            ("proxy", &sample.proxy),
        ];
        let above = all.into_iter().find_map(|(name, process)| {
            let process = process.as_ref()?;
            let took_s = process.user_s + process.system_s;
            (took_s > most_s).then_some((name, took_s))
        });
        above.map(|(name, took_s)| {
            format!(
                "at {}, the {name} used {} of CPU time, but the time of {} is only {}",
                at(sample),
                moment(took_s),
                counted(cpus as usize, "CPU"),
                moment(has_s)
            )
        })
    })
}

/// Checks that the memory is that of the machine.
pub(super) fn memory(record: &Record) -> Option<String> {
    record.telemetry.iter().find_map(|sample| {
        let memory = sample.memory.as_ref()?;
        let told = machine_of(record, sample)?.memory_bytes;
        if memory.available_bytes > memory.total_bytes {
            return Some(format!(
                "at {}, more memory was available than the machine has",
                at(sample)
            ));
        }
        let apart = (memory.total_bytes as f64 - told as f64).abs();
        (told > 0 && memory.total_bytes > 0 && apart > MEMORY * told as f64).then(|| {
            format!(
                "the machine has {} of memory, but at {} it had {}",
                bytes(told),
                at(sample),
                bytes(memory.total_bytes)
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{each_sample, healthy};

    #[test]
    fn one_cpu_is_named_in_the_singular() {
        let mut record = healthy();
        for machine in &mut record.machines {
            machine.cpus = 1;
        }
        each_sample(&mut record, |sample| {
            if let Some(server) = &mut sample.server {
                server.user_s = 9.0;
            }
        });
        let found = processes(&record).expect("no CPU has so much time");
        assert!(found.contains("but the time of 1 CPU is only "), "{found}");
    }
}
