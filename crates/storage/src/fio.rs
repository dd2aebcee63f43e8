//! fio as a process: found, checked, run for one pattern, and ended with dbdyno.

use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, JoinHandle},
    time::Duration,
};

use reactor::system_now;
use rustix::process::{Pid, Signal, kill_process};
use server::{Cgroup, Lifetime, spawn_in};

use crate::{error::Error, running_fio::RunningFio};

/// The engines that a user can choose.
pub const ENGINES: [&str; 3] = ["libaio", "io_uring", "psync"];
/// The oldest fio whose JSON is read, by its first number.
const OLDEST: u32 = 3;
/// Polling interval of a running fio.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(10);
/// What an interrupted fio gets to end by itself.
const TO_END: Duration = Duration::from_secs(2);
/// What a pattern may take longer than its time: a disk may owe many requests.
pub(crate) const GRACE: Duration = Duration::from_secs(120);
/// Time in which the files of a job file have to be laid out.
const LAYING_OUT: Duration = Duration::from_secs(2 * 3600);
/// Output of one pattern with all bins is a tenth of this.
const OUTPUT_AT_MOST: u64 = 64 << 20;

/// An fio that can be used.
#[derive(Debug, Clone)]
pub struct Fio {
    program: PathBuf,
    version: String,
}

impl Fio {
    /// The fio of the PATH; an error where there is none, or one older than 3.0.
    pub fn find() -> Result<Self, Error> {
        Self::at(Path::new("fio"))
    }

    fn at(program: &Path) -> Result<Self, Error> {
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::NoFio("fio is not installed".to_owned()),
            _ => Error::NoFio(format!("{}: {error}", program.display())),
        })?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match major(&version) {
            Some(number) if number >= OLDEST => Ok(Self {
                program: program.to_owned(),
                version,
            }),
            Some(_) => Err(Error::NoFio(format!(
                "{version} is too old; fio {OLDEST}.0 or later is needed"
            ))),
            None => Err(Error::NoFio(format!(
                "`{} --version` says {version:?}, which is no version of fio",
                program.display()
            ))),
        }
    }

    /// As fio says it: `fio-3.33`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs one section of a job file to its end and returns fio's JSON+; fio is in `group`, if any. The first signal ends it.
    pub fn run(
        &self,
        job_file: &Path,
        section: &str,
        each: Duration,
        group: Option<&Cgroup>,
        interrupt: &AtomicBool,
    ) -> Result<String, Error> {
        let mut command = self.command(job_file);
        command.arg(format!("--section={section}"));
        output(command, section, each, group, interrupt)
    }

    /// Lays out the files that the jobs of a job file read, without a limit; measures nothing.
    pub fn lay_out(&self, job_file: &Path, interrupt: &AtomicBool) -> Result<(), Error> {
        let mut command = self.command(job_file);
        command.arg("--create_only=1");
        output(command, "of its own file", LAYING_OUT, None, interrupt).map(drop)
    }

    /// Starts all jobs of a job file at the same time; a report of their course comes every `every`.
    pub fn start(
        &self,
        job_file: &Path,
        every: Duration,
        group: Option<&Cgroup>,
    ) -> Result<RunningFio, Error> {
        let mut command = self.command(job_file);
        command.arg(format!("--status-interval={}ms", every.as_millis()));
        RunningFio::start(command, group)
    }

    fn command(&self, job_file: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--output-format=json+")
            .arg(job_file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = job_file.parent() {
            command.current_dir(directory);
        }
        command
    }
}

/// Runs fio to its end and returns its output.
fn output(
    command: Command,
    section: &str,
    each: Duration,
    group: Option<&Cgroup>,
    interrupt: &AtomicBool,
) -> Result<String, Error> {
    let failed = |message: String| Error::Fio {
        pattern: section.to_owned(),
        message,
    };
    let spawned = spawn_in(command, Lifetime::Owned, group);
    let mut child = spawned.map_err(|error| failed(error.to_string()))?;
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let ended = wait(&mut child, each + GRACE, interrupt);
    let (stdout, stderr) = (joined(stdout), joined(stderr));
    match ended {
        Ended::Interrupted => Err(Error::Interrupted),
        Ended::TooLate => Err(failed(format!(
            "no end {} after its time",
            units::span(GRACE)
        ))),
        Ended::Failed(error) => Err(failed(error.to_string())),
        Ended::Itself(true) => Ok(stdout),
        Ended::Itself(false) => Err(failed(complaint(&stderr, &stdout))),
    }
}

/// The first number of `fio-3.33`.
fn major(version: &str) -> Option<u32> {
    let numbers = version.strip_prefix("fio-")?;
    numbers.split(['.', '-']).next()?.parse().ok()
}

/// How a process ended.
enum Ended {
    /// By itself, with success or not.
    Itself(bool),
    Interrupted,
    TooLate,
    Failed(std::io::Error),
}

fn wait(child: &mut Child, limit: Duration, interrupt: &AtomicBool) -> Ended {
    let begun = system_now();
    loop {
        match child.try_wait() {
            // A signal that dbdyno got ends what was asked for, also where fio was quicker.
            Ok(Some(status)) => return Ended::Itself(status.success()),
            Ok(None) => {}
            Err(error) => return Ended::Failed(error),
        }
        if interrupt.load(Ordering::Relaxed) {
            end(child);
            return Ended::Interrupted;
        }
        if system_now() - begun > limit {
            end(child);
            return Ended::TooLate;
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Asks it to end, and ends it where it does not.
pub(crate) fn end(child: &mut Child) {
    // It may end in this moment, which is as well.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let begun = system_now();
    while system_now() - begun < TO_END {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(LOOK_EVERY);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads a pipe to its end on a thread of its own, so that fio never waits for it.
pub(crate) fn drain(pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || files::read_within(pipe, OUTPUT_AT_MOST).unwrap_or_default())
}

pub(crate) fn joined(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|it| it.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What fio says of a failure: its first line that is no blank.
pub(crate) fn complaint(stderr: &str, stdout: &str) -> String {
    let mut lines = stderr.lines().chain(stdout.lines());
    let line = lines.find(|line| !line.trim().is_empty() && !line.starts_with('{'));
    line.map_or("it failed and does not say why".to_owned(), |line| {
        line.trim().trim_start_matches("fio: ").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn versions_are_judged() {
        let cases = [
            ("fio-3.33", Some(3)),
            ("fio-3.36-12-gabc", Some(3)),
            ("fio-2.16", Some(2)),
            ("fio 3", None),
            ("", None),
        ];
        for (version, expected) in cases {
            assert_eq!(major(version), expected, "{version}");
        }
    }

    #[test]
    fn an_fio_that_is_missing_or_too_old_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let missing = Fio::at(&directory.path().join("fio")).unwrap_err();
        assert_eq!(missing.to_string(), "fio is not installed");
        let old = directory.path().join("old");
        std::fs::write(&old, "#!/bin/sh\necho fio-2.16\n").unwrap();
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = Fio::at(&old).unwrap_err();
        assert!(
            error.to_string().starts_with("fio-2.16 is too old"),
            "{error}"
        );
    }

    #[test]
    fn the_first_line_of_a_failure_is_shown() {
        assert_eq!(complaint("\nfio: x=y bad\nmore", "{}"), "x=y bad");
        assert_eq!(complaint("", "{\n"), "it failed and does not say why");
    }
}
