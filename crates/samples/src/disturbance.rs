//! CPU usage by other programs and by the hypervisor during a measurement.

use std::collections::BTreeMap;

use crate::{
    machine::Host,
    measurement_cpu::MeasurementCpu,
    reader::Record,
    telemetry::{MachineUse, PROGRAMS_AT_MOST, ProgramUse},
};

/// The programs that a run has of its own. Those of the run are not counted as other programs.
const OF_A_RUN: &[&str] = &["dbdyno", "mariadbd", "mysqld"];
/// Those of a measurement of a disk, which has no server.
const OF_A_DISK: &[&str] = &["dbdyno", "fio"];

/// Shares of a machine's CPU capacity, 0 to 1, used by neither the server nor dbdyno over the measured phase.
///
/// Other programs are measured by their user time. The kernel's own work (write-back, interrupts) is often done for the
/// server; counting it would blame the side of a comparison that uses the disk more.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disturbance {
    /// User time of other programs.
    pub others: f64,
    /// The programs with the most user time, busiest first, at most three; empty in older records.
    pub programs: Vec<String>,
    /// Steal: time that the hypervisor took.
    pub steal: f64,
    /// The programs that were measured: others of these names are "another" one.
    measured: &'static [&'static str],
}

impl Disturbance {
    /// Default limit for the user time of other programs, above which a run is disturbed: as in krun (Barrett et al.,
    /// OOPSLA 2017), which checks before each run.
    pub const OTHERS: f64 = 0.05;
    /// Default limit for steal, above which a run is disturbed.
    pub const STEAL: f64 = 0.01;

    /// The disturbance of the machine with the larger one, before the first planned event if there is one; `None` if no machine was observed on which the server's
    /// process, if it is there, could be distinguished from other programs.
    pub fn of(record: &Record) -> Option<Self> {
        let measured = record.measured()?;
        // A planned event may run a program, and a server that restarts cannot be told from one.
        let first_event_s = record.first_event_s();
        let mut by_host: BTreeMap<Host, Sums<'_>> = BTreeMap::new();
        for sample in measured.telemetry() {
            if sample.t_s + sample.length_s > first_event_s {
                continue;
            }
            let Some(machine) = sample.machine else {
                continue;
            };
            let user_s =
                |process: Option<crate::telemetry::ProcessUse>| process.map(|it| it.user_s);
            let ours_s = match sample.host {
                Host::Both if record.disk_load.is_some() => user_s(sample.client),
                Host::Both => user_s(sample.server)
                    .zip(user_s(sample.client))
                    .map(|(a, b)| a + b),
                Host::Server => user_s(sample.server),
                Host::Client => user_s(sample.client),
            };
            let Some(ours_s) = ours_s else { continue };
            // A proxy runs beside dbdyno, on a machine that is not only the server's.
            let ours_s = ours_s + user_s(sample.proxy).unwrap_or(0.0);
            let sums = by_host.entry(sample.host).or_default();
            sums.add(machine, ours_s, &sample.programs);
        }
        by_host
            .into_values()
            .filter_map(|sums| sums.disturbance(OF_A_RUN))
            .max_by(|a, b| (a.others + a.steal).total_cmp(&(b.others + b.steal)))
    }

    /// The programs in words, `rustc, another mariadbd`: a name alone would be taken for the server or the dbdyno of the run,
    /// or for the fio that measures a disk. `None` in older records.
    pub fn programs_in_words(&self) -> Option<String> {
        let named = self.programs.iter().map(|name| {
            if self.measured.contains(&name.as_str()) {
                format!("another {name}")
            } else {
                name.clone()
            }
        });
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| named.join(", "))
    }

    /// The largest shares in these measurements of a disk, with the programs of the one with the most use by others; `None`
    /// if the CPUs were observed in none of them.
    pub fn greatest<'c>(
        measurements: impl IntoIterator<Item = &'c MeasurementCpu>,
    ) -> Option<Self> {
        let each = measurements.into_iter().filter_map(|cpu| {
            let mut sums = Sums::default();
            sums.add(cpu.machine, cpu.own_user_s, &cpu.programs);
            sums.disturbance(OF_A_DISK)
        });
        // A program may have disturbed one of them, and the hypervisor another one.
        each.reduce(|a, b| {
            let steal = a.steal.max(b.steal);
            let busier = if b.others > a.others { b } else { a };
            Self { steal, ..busier }
        })
    }

    /// True if it exceeds one of these shares.
    pub fn is_above(&self, others: f64, steal: f64) -> bool {
        self.others > others || self.steal > steal
    }
}

/// The names of the programs with the most time.
fn busiest(programs: BTreeMap<&str, f64>) -> Vec<String> {
    let mut programs: Vec<(&str, f64)> = programs.into_iter().collect();
    programs.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let busiest = programs.into_iter().take(PROGRAMS_AT_MOST);
    busiest.map(|(name, _)| name.to_owned()).collect()
}

#[derive(Default)]
struct Sums<'r> {
    programs: BTreeMap<&'r str, f64>,
    others_s: f64,
    steal_s: f64,
    capacity_s: f64,
}

impl<'r> Sums<'r> {
    fn add(&mut self, machine: MachineUse, ours_s: f64, programs: &'r [ProgramUse]) {
        self.others_s += machine.user_s - ours_s;
        self.steal_s += machine.steal_s;
        self.capacity_s += machine.capacity_s();
        for program in programs {
            *self.programs.entry(program.name.as_str()).or_default() += program.user_s;
        }
    }

    /// That beside the programs of these names; `None` without any CPU time.
    fn disturbance(self, measured: &'static [&'static str]) -> Option<Disturbance> {
        (self.capacity_s > 0.0).then(|| Disturbance {
            others: (self.others_s / self.capacity_s).max(0.0),
            steal: self.steal_s / self.capacity_s,
            programs: busiest(self.programs),
            measured,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"e","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;

    fn record(lines: &[String]) -> Record {
        let mut text = HEAD.to_owned();
        for line in lines {
            text.push('\n');
            text.push_str(line);
        }
        Record::read(text.as_bytes()).unwrap()
    }

    fn measured(t_s: f64) -> String {
        format!(
            r#"{{"line":"interval","t_s":{t_s},"length_s":1.0,"phase":"measurement","operations":[]}}"#
        )
    }

    fn sample(host: &str, t_s: f64, user_s: f64, steal_s: f64, server: &str) -> String {
        format!(
            r#"{{"line":"telemetry","host":"{host}","t_s":{t_s},"length_s":1.0,"machine":{{"user_s":{user_s},"system_s":0.2,"iowait_s":0.0,"steal_s":{steal_s},"idle_s":{}}},"server":{server},"client":{{"user_s":0.1,"system_s":0.1,"resident_bytes":0}}}}"#,
            1.8 - user_s - steal_s
        )
    }

    const SERVER: &str = r#"{"user_s":0.3,"system_s":0.3,"resident_bytes":0}"#;

    #[test]
    fn others_are_known_by_their_user_time_in_the_measurement() {
        let lines = [
            measured(1.0),
            // Other programs during the warm-up do not count for the measurement.
            sample("both", 0.0, 1.8, 0.0, SERVER),
            sample("both", 1.0, 0.6, 0.1, SERVER),
        ];
        let found = Disturbance::of(&record(&lines)).unwrap();
        assert!((found.others - 0.1).abs() < 1e-9, "{found:?}");
        assert!((found.steal - 0.05).abs() < 1e-9, "{found:?}");
        assert!(found.is_above(0.05, 0.1) && found.is_above(0.2, 0.02));
        assert!(!found.is_above(0.1001, 0.0501));
    }

    #[test]
    fn a_server_that_was_not_told_apart_is_nobody_s_disturbance() {
        let lines = [measured(1.0), sample("both", 1.0, 1.5, 0.0, "null")];
        assert_eq!(Disturbance::of(&record(&lines)), None);
        assert_eq!(Disturbance::of(&record(&[measured(1.0)])), None);
    }

    #[test]
    fn programs_with_the_name_of_the_run_s_own_are_others() {
        let words = |programs: &[&str], measured| {
            let found = Disturbance {
                programs: programs.iter().map(|&name| name.to_owned()).collect(),
                measured,
                ..Disturbance::default()
            };
            found.programs_in_words()
        };
        assert_eq!(
            words(&["mariadbd", "rustc", "dbdyno"], OF_A_RUN).as_deref(),
            Some("another mariadbd, rustc, another dbdyno")
        );
        // No server belongs to the measurement of a disk, but fio does.
        assert_eq!(
            words(&["mariadbd", "fio"], OF_A_DISK).as_deref(),
            Some("mariadbd, another fio")
        );
        assert_eq!(words(&[], OF_A_RUN), None);
    }

    #[test]
    fn of_two_machines_the_more_disturbed_one_counts() {
        let lines = [
            measured(1.0),
            sample("client", 1.0, 0.1, 0.0, "null"),
            sample("server", 1.0, 1.3, 0.0, SERVER),
        ];
        let found = Disturbance::of(&record(&lines)).unwrap();
        assert!((found.others - 0.5).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_largest_shares_in_measurements_of_a_disk_count() {
        let cpu = |user_s: f64, steal_s: f64| MeasurementCpu {
            machine: MachineUse {
                user_s,
                steal_s,
                idle_s: 2.0 - user_s - steal_s,
                ..MachineUse::default()
            },
            own_user_s: 0.1,
            programs: vec![ProgramUse {
                name: "rustc".to_owned(),
                user_s,
            }],
        };
        assert_eq!(Disturbance::greatest([]), None);
        assert_eq!(Disturbance::greatest([&MeasurementCpu::default()]), None);
        let measured = [cpu(0.2, 0.0), cpu(1.5, 0.0), cpu(0.1, 0.0)];
        let found = Disturbance::greatest(&measured).unwrap();
        assert!((found.others - 0.7).abs() < 1e-9, "{found:?}");
        assert_eq!(found.programs, ["rustc"]);
        assert_eq!(found.measured, OF_A_DISK);
        let measured = [cpu(0.2, 0.0), cpu(0.1, 0.06)];
        let found = Disturbance::greatest(&measured).unwrap();
        assert!((found.others - 0.05).abs() < 1e-9, "{found:?}");
        assert!((found.steal - 0.03).abs() < 1e-9, "{found:?}");
    }
}
