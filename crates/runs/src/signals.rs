//! Ctrl-C, SIGTERM and SIGHUP: the first ends what runs and is waited for, the second ends dbdyno at once.

use std::{
    fs::File,
    io::{self, IsTerminal, stderr, stdout},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use load::Interrupt;
use reactor::{Instant, system_now};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};

use crate::blame::{Blame, Blamed};

/// What the handlers raise, once they are installed.
static RAISED: Mutex<Option<Arc<AtomicBool>>> = Mutex::new(None);
/// When the first signal came, nanoseconds of the system's clock; 0 before.
static AT_NS: AtomicU64 = AtomicU64::new(0);
/// Which one it was; 0 before.
static FIRST: AtomicI32 = AtomicI32::new(0);
/// Who is told of the first signal.
static TOLD: OnceLock<fn()> = OnceLock::new();
/// Whether the first signal is told.
static IS_TOLD: AtomicBool = AtomicBool::new(true);

/// Has `told` called, on a thread of its own, when the first signal comes; the first caller decides.
pub fn when_first_comes(told: fn()) {
    // A second one would say the same.
    let _ = TOLD.set(told);
}

/// Installs the handlers, unless that has been done, and returns what the first signal raises.
pub fn interrupt() -> Result<Interrupt, Blamed> {
    installed().map_err(Blamed::machine)
}

fn installed() -> io::Result<Interrupt> {
    let mut known = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(raised) = &*known {
        return Ok(Interrupt::from_flag(Arc::clone(raised)));
    }
    let raised = Arc::new(AtomicBool::new(false));
    let signals = wanted();
    for signal in &signals {
        // Order matters: the shutdown looks at the flag before this signal sets it.
        flag::register_conditional_shutdown(
            *signal,
            Blame::Interrupted as i32,
            Arc::clone(&raised),
        )?;
        flag::register(*signal, Arc::clone(&raised))?;
    }
    let mut heard = Signals::new(&signals)?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || heard.forever().for_each(tell))?;
    server::end_waits_when(Arc::clone(&raised));
    *known = Some(Arc::clone(&raised));
    Ok(Interrupt::from_flag(raised))
}

/// The same for a command that shows by itself that it ends.
pub fn silent_interrupt() -> Result<Interrupt, Blamed> {
    IS_TOLD.store(false, Ordering::Relaxed);
    interrupt()
}

/// The first signal, a moment after it came; `None` where none came.
pub fn first() -> Option<i32> {
    Some(FIRST.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// How long ago the first signal came; `None` where none came.
pub fn raised_for() -> Option<Duration> {
    let known = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_raised = known.as_ref()?.load(Ordering::Relaxed);
    is_raised.then(|| system_now() - noted())
}

/// When the first signal came, to whom it matters first.
fn noted() -> Instant {
    let now = system_now().as_ns();
    let before = AT_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    Instant::from_ns(match before {
        Ok(_) => now,
        Err(before) => before,
    })
}

/// SIGHUP stays ignored where somebody wanted that, as nohup does.
fn wanted() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if ignores(&status, SIGHUP) {
        vec![SIGINT, SIGTERM]
    } else {
        vec![SIGINT, SIGTERM, SIGHUP]
    }
}

/// Whether a process ignores a signal, by its /proc/PID/status. Source: proc(5), `SigIgn`: a mask in hexadecimal.
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Says what happens now, on a thread of its own: whoever waits could not.
fn tell(signal: i32) {
    noted();
    // Of later ones dbdyno ends at once.
    let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    if signal == SIGHUP {
        leave_terminal();
    }
    if IS_TOLD.swap(false, Ordering::Relaxed)
        && let Some(told) = TOLD.get()
    {
        told();
    }
}

/// The terminal is gone: what is still printed goes nowhere, rather than ending the clearing up by an error.
fn leave_terminal() {
    let Ok(nowhere) = File::options().write(true).open("/dev/null") else {
        return;
    };
    if stderr().is_terminal() {
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
    if stdout().is_terminal() {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_hangup_is_found_in_the_status() {
        let status =
            |mask: &str| format!("Name:\tdbdyno\nSigBlk:\t0\nSigIgn:\t{mask}\nSigCgt:\t1\n");
        assert!(ignores(&status("0000000000000001"), SIGHUP));
        assert!(ignores(&status("0000000000001003"), SIGHUP));
        assert!(!ignores(&status("0000000000001002"), SIGHUP));
        assert!(!ignores(&status("0000000000000000"), SIGHUP));
        assert!(!ignores("", SIGHUP));
    }
}
