//! CPU time during one measurement of a disk: that of the machine, and that of dbdyno and fio.

use serde::{Deserialize, Serialize};

use crate::telemetry::{MachineUse, PROGRAMS_AT_MOST, ProgramUse};

/// CPU time during one measurement of a disk, for example `{"machine":{"user_s":5.6,"system_s":0.3,"iowait_s":0.1,
/// "steal_s":0.0,"idle_s":0.0},"own_user_s":0.2,"programs":[{"name":"rustc","user_s":5.4}]}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasurementCpu {
    /// The whole machine.
    pub machine: MachineUse,
    /// User time of dbdyno and of the fio that it ran, seconds.
    pub own_user_s: f64,
    /// The other programs with the most user time, busiest first, at most three, if others used more than 5 % of the CPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramUse>,
}

impl MeasurementCpu {
    /// The sum over several measurements; `None` if there is none.
    pub(crate) fn together<'c>(parts: impl IntoIterator<Item = &'c Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let mut sum = parts.next()?.clone();
        for part in parts {
            sum.add(part);
        }
        let programs = &mut sum.programs;
        programs.sort_by(|a, b| b.user_s.total_cmp(&a.user_s));
        programs.truncate(PROGRAMS_AT_MOST);
        Some(sum)
    }

    fn add(&mut self, part: &Self) {
        let (machine, more) = (&mut self.machine, part.machine);
        machine.user_s += more.user_s;
        machine.system_s += more.system_s;
        machine.iowait_s += more.iowait_s;
        machine.steal_s += more.steal_s;
        machine.idle_s += more.idle_s;
        self.own_user_s += part.own_user_s;
        for program in &part.programs {
            match self.programs.iter_mut().find(|it| it.name == program.name) {
                Some(known) => known.user_s += program.user_s,
                None => self.programs.push(program.clone()),
            }
        }
    }
}
