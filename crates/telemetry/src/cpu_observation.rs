//! The CPUs of the machine during one measurement of a disk, which dbdyno itself or a fio that it runs takes.

use procfs_core::{FromRead, process::Stat};
use reactor::{Instant, system_now};
use samples::{Host, MeasurementCpu, ProcessUse, Telemetry};

use crate::{
    cpu::CpuCounters,
    kernel::{Kernel, seconds_between},
    programs::OtherPrograms,
    reading::Watched,
};

/// Observes the CPUs of the machine, dbdyno, the programs that dbdyno runs, and all others.
#[derive(Debug)]
pub struct CpuObservation {
    begun: Instant,
    before: Option<ObservedCpuTimes>,
    programs: OtherPrograms,
    kernel: Kernel,
}

/// The counters at one time.
#[derive(Debug)]
struct ObservedCpuTimes {
    machine: CpuCounters,
    own_user_ticks: u64,
}

impl CpuObservation {
    /// Takes the first reading; call it right before the measurement.
    pub fn begin() -> Self {
        Self::of(Kernel::running())
    }

    fn of(kernel: Kernel) -> Self {
        // The scan of all processes takes milliseconds, which are no part of the measurement.
        let programs = OtherPrograms::new(&kernel);
        Self {
            begun: system_now(),
            before: ObservedCpuTimes::take(&kernel),
            programs,
            kernel,
        }
    }

    /// The use since the first reading; `None` if /proc has no figures. A program that dbdyno ran must have ended, because
    /// its time is counted then.
    pub fn end(self) -> Option<MeasurementCpu> {
        let length_s = (system_now() - self.begun).as_secs_f64();
        self.over(length_s)
    }

    fn over(mut self, length_s: f64) -> Option<MeasurementCpu> {
        let now = ObservedCpuTimes::take(&self.kernel)?;
        let before = self.before.as_ref()?;
        let ticks_per_s = self.kernel.ticks_per_s;
        let machine = now.machine.machine_since(&before.machine, ticks_per_s);
        let own_user_s = seconds_between(now.own_user_ticks, before.own_user_ticks, ticks_per_s);
        let sample = Telemetry {
            length_s,
            host: Host::Client,
            machine: Some(machine),
            client: Some(ProcessUse {
                user_s: own_user_s,
                ..ProcessUse::default()
            }),
            ..Telemetry::default()
        };
        let watched = Watched::default();
        Some(MeasurementCpu {
            machine,
            own_user_s,
            programs: self.programs.since(&self.kernel, &sample, &watched),
        })
    }
}

impl ObservedCpuTimes {
    fn take(kernel: &Kernel) -> Option<Self> {
        let own = Stat::from_file(kernel.path("proc/self/stat")).ok()?;
        Some(Self {
            machine: CpuCounters::read(kernel, &mut Vec::new())?,
            // With the children that have ended: fio and its jobs.
            own_user_ticks: own.utime + u64::try_from(own.cutime).unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use samples::{MachineUse, ProgramUse};

    use super::*;
    use crate::fixture::Fixture;

    /// A process with this name, its user time and that of its ended children in ticks.
    fn stat(name: &str, user: u64, of_children: u64) -> String {
        format!(
            "1 ({name}) S 1 1 1 0 -1 4194560 0 0 0 0 {user} 7 {of_children} 0 20 0 1 0 5 1000 100 18446744073709551615 \
             0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
        )
    }

    #[test]
    fn fio_that_has_ended_is_no_other_program() {
        let machine = |user: u64, idle: u64| {
            format!(
                "cpu  {user} 0 50 {idle} 0 0 0 0 0 0\ncpu0 {user} 0 50 {idle} 0 0 0 0 0 0\nintr 7\nctxt 5\n\
                 btime 1700000000\nprocesses 3\nprocs_running 1\nprocs_blocked 0"
            )
        };
        let fixture = Fixture::unpack(&format!(
            "dbdyno runs fio beside a compiler\n--- proc/stat\n{}\n--- proc/stat (second)\n{}\n--- proc/self/stat\n{}\n\
             --- proc/self/stat (second)\n{}\n--- proc/11/stat\n{}\n--- proc/11/stat (second)\n{}",
            machine(100, 1_000),
            machine(460, 1_040),
            stat("dbdyno", 10, 20),
            stat("dbdyno", 20, 40),
            stat("rustc", 500, 0),
            stat("rustc", 820, 0),
        ));
        let observation = CpuObservation::of(fixture.kernel(100, 4096));
        fixture.advance();
        let expected = MeasurementCpu {
            machine: MachineUse {
                user_s: 3.6,
                idle_s: 0.4,
                ..MachineUse::default()
            },
            own_user_s: 0.3,
            programs: vec![ProgramUse {
                name: "rustc".to_owned(),
                user_s: 3.2,
            }],
        };
        assert_eq!(observation.over(4.0), Some(expected));
    }

    #[test]
    fn without_counters_nothing_is_known() {
        let fixture = Fixture::unpack("no files\n--- proc/loadavg\n0.00 0.00 0.00 1/1 1");
        let observation = CpuObservation::of(fixture.kernel(100, 4096));
        assert_eq!(observation.over(4.0), None);
    }
}
