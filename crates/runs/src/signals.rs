//! Ctrl-C, SIGTERM and SIGHUP: the first signal ends the current work and all waits, the second ends dbdyno at once.

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

use blame::{Blame, Blamed};
use reactor::{Instant, Interrupt, channel::bounded, system_now};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    iterator::Signals,
};

/// Time for the report of the first signal before the waits end. Its reader may be stalled, which must not delay the
/// cleanup.
const REPORT_WITHIN: Duration = Duration::from_millis(100);

/// Whether the handlers are installed.
static ARE_INSTALLED: Mutex<bool> = Mutex::new(false);
/// Time of the first signal, nanoseconds of the system's clock; 0 before.
static AT_NS: AtomicU64 = AtomicU64::new(0);
/// Number of the first signal; 0 before.
static FIRST: AtomicI32 = AtomicI32::new(0);
/// Callback for the first signal.
static TOLD: OnceLock<fn()> = OnceLock::new();
/// Whether the first signal is reported.
static IS_TOLD: AtomicBool = AtomicBool::new(true);

/// Sets a callback for the first signal, which runs in a separate thread; only the first call has an effect.
pub fn when_first_comes(told: fn()) {
    // A second callback would report the same.
    let _ = TOLD.set(told);
}

/// Installs the handlers, unless that has been done, and returns the interrupt that the first signal raises.
pub fn interrupt() -> Result<Interrupt, Blamed> {
    install().map_err(Blamed::machine)?;
    Ok(Interrupt::of_user().clone())
}

fn install() -> io::Result<()> {
    let mut are_installed = ARE_INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if *are_installed {
        return Ok(());
    }
    let raised = Interrupt::of_user().flag();
    let signals = wanted();
    for signal in &signals {
        // The order matters: the shutdown must read the flag before this signal sets it.
        flag::register_conditional_shutdown(
            *signal,
            Blame::Interrupted as i32,
            Arc::clone(raised),
        )?;
        flag::register(*signal, Arc::clone(raised))?;
    }
    let mut heard = Signals::new(&signals)?;
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || heard.forever().for_each(tell))?;
    *are_installed = true;
    Ok(())
}

/// Like [`interrupt`], for a command that reports its end itself.
pub fn silent_interrupt() -> Result<Interrupt, Blamed> {
    IS_TOLD.store(false, Ordering::Relaxed);
    interrupt()
}

/// The first signal, shortly after its arrival; `None` if there was none.
pub fn first() -> Option<i32> {
    Some(FIRST.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Time since the first signal; `None` if there was none.
pub fn raised_for() -> Option<Duration> {
    let is_raised = Interrupt::of_user().is_raised();
    is_raised.then(|| system_now() - noted())
}

/// Time of the first signal, which the first caller records.
fn noted() -> Instant {
    let now = system_now().as_ns();
    let before = AT_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    Instant::from_ns(match before {
        Ok(_) => now,
        Err(before) => before,
    })
}

/// Signals to handle; SIGHUP stays ignored if it was ignored at the start, as under nohup.
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

/// Reports the signal from a separate thread, because the main thread may be blocked, and then ends all waits: their errors
/// follow the report.
fn tell(signal: i32) {
    noted();
    // Later signals end dbdyno at once.
    let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    if signal == SIGHUP {
        leave_terminal();
    }
    if IS_TOLD.swap(false, Ordering::Relaxed)
        && let Some(told) = TOLD.get()
    {
        report(*told);
    }
    Interrupt::of_user().raise();
}

fn report(told: fn()) {
    let (done, is_done) = bounded::<()>(0);
    let reporting = thread::Builder::new().spawn(move || {
        told();
        drop(done);
    });
    // Without a thread, `done` is dropped, too: the signal is only not reported.
    drop(reporting);
    let _ = is_done.recv_timeout(REPORT_WITHIN);
}

/// After a lost terminal: discards further output, whose errors would otherwise end the cleanup.
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
