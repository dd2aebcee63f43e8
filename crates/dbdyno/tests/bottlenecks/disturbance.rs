//! What else used the machine while a limit was staged.

use figures::RunFigures;
use samples::{Disturbance, Record};

/// Shares of the machine's CPUs that other programs and the hypervisor may take without moving a limit.
const BEARABLE: (f64, f64) = (0.1, 0.05);
/// Share of the CPUs that may belong to neither the server, the client nor a program: on a virtual machine that is slow to
/// fall asleep, waits for locks look like a busy CPU.
const UNKNOWN_BEARABLE: f64 = 0.2;

/// How much others had of the machine while a run was measured, where that was too much.
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
