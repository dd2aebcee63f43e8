//! Whether other programs used the machine too much for what a run says of it.

use samples::{Disturbance, Record};

/// Shares of the CPUs that others may have: user time, and the hypervisor's.
const BEARABLE: (f64, f64) = (0.1, 0.05);

/// How much others had of the machine while a run was measured, where that was too much.
pub(crate) fn disturbance(record: &Record) -> Option<String> {
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
