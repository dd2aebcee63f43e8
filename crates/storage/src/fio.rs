//! fio as a process: found, checked, run for one pattern, and ended with dbdyno.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};

use reactor::{Interrupt, wait_for_child};
use server::{Cgroup, Lifetime, spawn_in};

use crate::{
    error::Error,
    fio_process::{GRACE, complaint, drain, end, joined},
    running_fio::RunningFio,
};

/// The engines that a user can choose.
pub const ENGINES: [&str; 3] = ["libaio", "io_uring", "psync"];
/// The oldest fio whose JSON is read, by its first number.
const OLDEST: u32 = 3;
/// Time in which the files of a job file have to be laid out.
const LAYING_OUT: Duration = Duration::from_secs(2 * 3600);

/// An fio that can be used.
#[derive(Debug, Clone)]
pub struct Fio {
    program: PathBuf,
    version: String,
}

impl Fio {
    /// The fio of the PATH; an error where there is none, or one older than 3.0. It is asked for its version once: every run
    /// of an experiment looks for it.
    pub fn find() -> Result<Self, Error> {
        static FOUND: OnceLock<Fio> = OnceLock::new();
        if let Some(fio) = FOUND.get() {
            return Ok(fio.clone());
        }
        let fio = Self::at(Path::new("fio"))?;
        Ok(FOUND.get_or_init(|| fio).clone())
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
                "`{} --version` says {version:?}, which is not a fio version",
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
        interrupt: &Interrupt,
    ) -> Result<String, Error> {
        let mut command = self.command(job_file);
        command.arg(format!("--section={section}"));
        output(command, section, each, group, interrupt)
    }

    /// Lays out the files that the jobs of a job file read, without a limit; measures nothing.
    pub fn lay_out(&self, job_file: &Path, interrupt: &Interrupt) -> Result<(), Error> {
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
    interrupt: &Interrupt,
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
        FioExit::Interrupted => Err(Error::Interrupted),
        FioExit::TooLate => Err(failed(format!(
            "it did not end within {} after its planned time",
            units::span(GRACE)
        ))),
        FioExit::Failed(error) => Err(failed(error.to_string())),
        FioExit::Itself(true) => Ok(stdout),
        FioExit::Itself(false) => Err(failed(complaint(&stderr, &stdout))),
    }
}

/// The first number of `fio-3.33`.
fn major(version: &str) -> Option<u32> {
    let numbers = version.strip_prefix("fio-")?;
    numbers.split(['.', '-']).next()?.parse().ok()
}

enum FioExit {
    /// By itself, with success or not.
    Itself(bool),
    Interrupted,
    TooLate,
    Failed(std::io::Error),
}

fn wait(child: &mut Child, limit: Duration, interrupt: &Interrupt) -> FioExit {
    let ended = match wait_for_child(child, Some(interrupt), limit) {
        // A signal that dbdyno got ends what was asked for, also where fio was quicker.
        Ok(Some(status)) => return FioExit::Itself(status.success()),
        Ok(None) if interrupt.is_raised() => FioExit::Interrupted,
        Ok(None) => FioExit::TooLate,
        Err(error) => FioExit::Failed(error),
    };
    end(child);
    ended
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
        assert_eq!(complaint("", "{\n"), "it failed without a message");
    }
}
