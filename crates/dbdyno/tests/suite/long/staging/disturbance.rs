//! Use of the machine by other programs while a limit was imposed.

use figures::RunFigures;
use samples::{Disturbance, Record};

/// Shares of the machine's CPUs that other programs and the hypervisor may use without affecting a limit.
const BEARABLE: (f64, f64) = (0.1, 0.05);
/// CPU share that may belong to neither the server, the client nor a program: on a virtual machine that enters idle
/// slowly, waits for locks look like a busy CPU.
const UNKNOWN_BEARABLE: f64 = 0.2;

/// The CPU share of other programs during the measurement; `None` if it was small enough.
pub(crate) fn disturbance(record: &Record) -> Option<String> {
    let cpu = RunFigures::of(record).server_cpu;
    let known = cpu.filter(|cpu| cpu.server.is_some() && cpu.client.is_some());
    if let Some(cpu) = known.filter(|cpu| cpu.rest > UNKNOWN_BEARABLE) {
        let percent = cpu.rest * 100.0;
        return Some(format!(
            "{percent:.0} % of the CPUs were busy for neither server nor client"
        ));
    }
    let disturbance = Disturbance::of(record)?;
    let (others, steal) = BEARABLE;
    disturbance.is_above(others, steal).then(|| {
        format!(
            "other programs used {:.0} % of the CPUs, the hypervisor took {:.0} %",
            disturbance.others * 100.0,
            disturbance.steal * 100.0
        )
    })
}
