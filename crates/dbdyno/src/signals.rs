//! Ctrl-C and SIGTERM: the first asks the running load to end, the second ends dbdyno at once.

use std::sync::{Arc, atomic::AtomicBool};

use load::Interrupt;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::blame::Blame;

/// Installs the handlers and returns what the first signal raises.
pub(crate) fn interrupt() -> anyhow::Result<Interrupt> {
    let raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Order matters: the shutdown looks at the flag before this signal sets it.
        flag::register_conditional_shutdown(
            signal,
            Blame::Interrupted as i32,
            Arc::clone(&raised),
        )?;
        flag::register(signal, Arc::clone(&raised))?;
    }
    Ok(Interrupt::from_flag(raised))
}
