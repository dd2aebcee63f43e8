//! Pressure stall information: the time that tasks were stalled waiting for a resource.

use std::path::Path;

use procfs_core::{ProcError, parse_pressure_record};
use samples::Pressure;

use crate::kernel::{Kernel, seconds_between};

/// Stall times since the machine or the control group started, microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PressureCounters {
    cpu_some: u64,
    io: (u64, u64),
    memory: (u64, u64),
}

impl PressureCounters {
    /// The machine's, from /proc/pressure.
    pub(crate) fn of_machine(kernel: &Kernel) -> Result<Self, ProcError> {
        Self::read(|name| kernel.path(&format!("proc/pressure/{name}")), kernel)
    }

    /// A control group's (version 2), from its directory.
    pub(crate) fn of_cgroup(kernel: &Kernel, directory: &Path) -> Result<Self, ProcError> {
        Self::read(|name| directory.join(format!("{name}.pressure")), kernel)
    }

    fn read<P: AsRef<Path>>(file: impl Fn(&str) -> P, kernel: &Kernel) -> Result<Self, ProcError> {
        let totals = |name| totals_in(&kernel.text_of(file(name).as_ref())?);
        Ok(Self {
            cpu_some: totals("cpu")?.0,
            io: totals("io")?,
            memory: totals("memory")?,
        })
    }

    pub(crate) fn since(&self, earlier: &Self) -> Pressure {
        let seconds = |now, before| seconds_between(now, before, 1_000_000);
        Pressure {
            cpu_some_s: seconds(self.cpu_some, earlier.cpu_some),
            io_some_s: seconds(self.io.0, earlier.io.0),
            io_full_s: seconds(self.io.1, earlier.io.1),
            memory_some_s: seconds(self.memory.0, earlier.memory.0),
            memory_full_s: seconds(self.memory.1, earlier.memory.1),
        }
    }
}

/// The totals of the `some` and the `full` line, microseconds; the CPU's file has no `full` before Linux 5.13.
fn totals_in(text: &str) -> Result<(u64, u64), ProcError> {
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind));
        line.map(|line| parse_pressure_record(line).map(|record| record.total))
            .transpose()
    };
    let some = total("some ")?.ok_or(ProcError::Incomplete(None))?;
    Ok((some, total("full ")?.unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_with_and_without_a_full_line() {
        let some = "some avg10=4.50 avg60=0.91 avg300=0.00 total=681245\n";
        let full = "full avg10=2.10 avg60=0.12 avg300=0.00 total=391926\n";
        assert_eq!(totals_in(some).unwrap(), (681_245, 0));
        assert_eq!(
            totals_in(&format!("{some}{full}")).unwrap(),
            (681_245, 391_926)
        );
        for broken in ["", "some avg10=4.50\n", full] {
            assert!(totals_in(broken).is_err(), "{broken:?}");
        }
    }
}
