//! The other programs that used the CPUs, by name.

use std::{cmp::Reverse, collections::BTreeMap};

use procfs_core::{FromRead, process::Stat};
use samples::{Disturbance, Host, PROGRAMS_AT_MOST, ProgramUse, Telemetry, printable};

use crate::{
    kernel::{Kernel, difference, seconds_between},
    reading::Watched,
    server_process::pids,
};

/// Minimum interval between scans of all processes; samples may be more frequent.
const AGAIN_AFTER_S: f64 = 0.9;

/// The programs besides server and client.
///
/// A scan of all processes takes milliseconds, so it is done only at the start and while others use more of the CPUs
/// than usual.
#[derive(Debug, Default)]
pub(crate) struct OtherPrograms {
    last: BTreeMap<u32, Process>,
    /// Time of the last scan, seconds since the start of the load.
    looked_s: f64,
}

#[derive(Debug)]
struct Process {
    name: String,
    /// Start time: distinguishes it from another process with the same, recycled id.
    started: u64,
    user_ticks: u64,
}

impl OtherPrograms {
    /// Takes the first reading.
    pub(crate) fn new(kernel: &Kernel) -> Self {
        Self {
            last: processes(kernel),
            looked_s: 0.0,
        }
    }

    /// The programs with the most user time since the last scan, if others had a noteworthy part of the sample.
    pub(crate) fn since(
        &mut self,
        kernel: &Kernel,
        sample: &Telemetry,
        watched: &Watched,
    ) -> Vec<ProgramUse> {
        let now_s = sample.t_s + sample.length_s;
        if now_s - self.looked_s < AGAIN_AFTER_S || !is_noteworthy(sample) {
            return Vec::new();
        }
        self.looked_s = now_s;
        let now = processes(kernel);
        let own = [
            Some(std::process::id()),
            watched.server_pid,
            watched.worker_pid,
            watched.proxy_pid,
        ];
        let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
        for (pid, process) in now.iter().filter(|(pid, _)| !own.contains(&Some(**pid))) {
            let before = self.last.get(pid);
            let before = before.filter(|it| it.started == process.started);
            let used = difference(process.user_ticks, before.map_or(0, |it| it.user_ticks));
            *by_name.entry(&process.name).or_default() += used;
        }
        let mut used: Vec<(&str, u64)> = by_name.into_iter().filter(|it| it.1 > 0).collect();
        used.sort_by_key(|(_, ticks)| Reverse(*ticks));
        let named = used
            .into_iter()
            .take(PROGRAMS_AT_MOST)
            .map(|(name, ticks)| ProgramUse {
                name: printable(name).into_owned(),
                user_s: seconds_between(ticks, 0, kernel.ticks_per_s),
            });
        let named = named.collect();
        self.last = now;
        named
    }
}

/// True if other programs used more of the CPUs in a sample than on an idle machine.
fn is_noteworthy(sample: &Telemetry) -> bool {
    let Some(machine) = sample.machine else {
        return false;
    };
    let ours = match sample.host {
        Host::Both => [sample.server, sample.client, sample.proxy],
        Host::Server => [sample.server, None, None],
        Host::Client => [None, sample.client, sample.proxy],
    };
    let ours_s: f64 = ours.iter().flatten().map(|it| it.user_s).sum();
    machine.user_s - ours_s > Disturbance::OTHERS * machine.capacity_s()
}

/// Every process that can be read. Processes that have ended are left out: a program that starts many short ones
/// appears by its own use, or not at all.
fn processes(kernel: &Kernel) -> BTreeMap<u32, Process> {
    let read = |pid: u32| {
        let stat = Stat::from_file(kernel.path(&format!("proc/{pid}/stat"))).ok()?;
        let process = Process {
            name: stat.comm,
            started: stat.starttime,
            user_ticks: stat.utime,
        };
        Some((pid, process))
    };
    pids(kernel).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use samples::{MachineUse, ProcessUse};

    use super::*;
    use crate::fixture::Fixture;

    /// Writes files of `/proc` for processes with these names and user times in ticks.
    fn put(fixture: &Fixture, processes: &[(u32, &str, u64, u64)]) {
        for (pid, name, user, started) in processes {
            let stat = format!(
                "{pid} ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 {user} 7 0 0 20 0 1 0 {started} 1000 100 18446744073709551615 \
                 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
            );
            fixture.put(&format!("proc/{pid}/stat"), &stat);
        }
    }

    fn watched() -> Watched {
        Watched {
            server_pid: Some(10),
            ..Watched::default()
        }
    }

    fn fixture() -> Fixture {
        let mut text = String::from("processes");
        for pid in [10, 11, 12, 13, 14, 15] {
            write!(text, "\n--- proc/{pid}/stat\n-").unwrap();
        }
        Fixture::unpack(&text)
    }

    /// Two seconds of two CPUs, with this share used by others.
    fn sample(t_s: f64, others: f64) -> Telemetry {
        let user = |user_s| ProcessUse {
            user_s,
            ..ProcessUse::default()
        };
        Telemetry {
            t_s,
            length_s: 2.0,
            machine: Some(MachineUse {
                user_s: 1.0 + 4.0 * others,
                idle_s: 3.0 - 4.0 * others,
                ..MachineUse::default()
            }),
            server: Some(user(0.9)),
            client: Some(user(0.1)),
            ..Telemetry::default()
        }
    }

    #[test]
    fn the_busiest_are_named() {
        let fixture = fixture();
        let kernel = fixture.kernel(100, 4096);
        let before = [
            (10, "mariadbd", 500, 1),
            (11, "rustc", 900, 2),
            (12, "rustc", 0, 3),
            (13, "node", 100, 4),
            (14, "a) \u{1b}b", 0, 5),
            (15, "idle", 700, 6),
        ];
        put(&fixture, &before);
        let mut programs = OtherPrograms::new(&kernel);
        assert_eq!(programs.since(&kernel, &sample(0.0, 0.04), &watched()), []);
        let now = [
            (10, "mariadbd", 590, 1),
            // Another process with the id of the one before.
            (11, "rustc", 30, 20),
            (12, "rustc", 20, 3),
            (13, "node", 140, 4),
            (14, "a) \u{1b}b", 10, 5),
        ];
        put(&fixture, &now);
        let found = programs.since(&kernel, &sample(2.0, 0.25), &watched());
        let found: Vec<(&str, f64)> = found.iter().map(|it| (&*it.name, it.user_s)).collect();
        assert_eq!(found, [("rustc", 0.5), ("node", 0.4), ("a) \\u001bb", 0.1)]);
        assert_eq!(programs.since(&kernel, &sample(4.0, 0.25), &watched()), []);
    }
}
