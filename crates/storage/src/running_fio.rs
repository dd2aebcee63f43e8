//! fio while its jobs run: its reports as they come, and its end.

use std::{
    io::BufReader,
    ops::ControlFlow,
    process::{Child, Command},
    thread::{self, JoinHandle},
};

use reactor::{
    Instant, Interrupt,
    channel::{Receiver, RecvTimeoutError, unbounded},
    system_now,
};
use server::{Cgroup, Lifetime, spawn_in};

use crate::{
    error::Error,
    fio_course::{FioCourse, FioInterval, reports},
    fio_process::{GRACE, complaint, drain, end, joined},
};

/// A running fio; it ends with this value.
#[derive(Debug)]
pub struct RunningFio {
    child: Child,
    begun: Instant,
    reports: Receiver<String>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl RunningFio {
    pub(crate) fn start(command: Command, group: Option<&Cgroup>) -> Result<Self, Error> {
        let begun = system_now();
        let spawned = spawn_in(command, Lifetime::Owned, group);
        let mut child = spawned.map_err(|error| failed(error.to_string()))?;
        let stdout = child.stdout.take().expect("its output is piped");
        let stderr = child.stderr.take().map(drain);
        let (sender, received) = unbounded();
        thread::spawn(move || {
            let mut all = reports(BufReader::new(stdout));
            // Once the load is over the reports are read on, so that fio does not wait for a reader.
            let _ = all.try_for_each(|report| sender.send(report));
            all.for_each(drop);
        });
        Ok(Self {
            child,
            begun,
            reports: received,
            stderr,
        })
    }

    /// Its process, which does all the requests.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Gives `each` what every report adds, until it breaks, and ends fio. An error where fio ends before that, or is
    /// silent for long.
    pub fn watch(
        mut self,
        interrupt: &Interrupt,
        mut each: impl FnMut(FioInterval) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut course = FioCourse::default();
        let mut last = system_now();
        loop {
            if interrupt.is_raised() {
                return Err(Error::Interrupted);
            }
            let left = GRACE.saturating_sub(system_now() - last);
            match interrupt.receive(&self.reports, left) {
                Ok(report) => {
                    last = system_now();
                    let elapsed_ms = (last - self.begun).as_millis();
                    let elapsed_ms = u64::try_from(elapsed_ms).unwrap_or(u64::MAX);
                    if let Some(part) = course.add(&report, elapsed_ms)?
                        && each(part).is_break()
                    {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Timeout) if interrupt.is_raised() => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(failed(format!("no report for {}", units::span(GRACE))));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    end(&mut self.child);
                    return Err(failed(complaint(&joined(self.stderr.take()), "")));
                }
            }
        }
    }
}

impl Drop for RunningFio {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn failed(message: String) -> Error {
    Error::Fio {
        pattern: "of the load".to_owned(),
        message,
    }
}
