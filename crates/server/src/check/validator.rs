//! Checks an option file with a server binary, without starting the server.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use mycnf::{Entry, OptionFile};

use crate::check::help::Help;
use crate::directory::layout::Layout;
use crate::directory::marker::write_private;
use crate::error::Error;
use crate::initialise::without_mysql_variables;
use crate::installation::Installation;
use crate::process::ProcessId;
use crate::process::interruption::Wait;
use crate::process::log;
use crate::process::spawner::{Lifetime, spawn};

/// Time limit of a validation; 20 to 200 ms are usual.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The check that a version offers for an option file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// `--validate-config`; the version's `--verbose --help` ignores unknown names.
    ValidateConfig,
    /// `--verbose --help`, which reports errors.
    Help,
    /// `--verbose --help`, which reports wrong values only.
    SilentHelp,
}

impl Means {
    /// `--validate-config` came with MySQL 8.0.16, and `--verbose --help` ignores unknown names since 8.0.
    pub(crate) fn of(installation: &Installation) -> Self {
        let numbers = installation.numbers();
        match installation.is_mariadb() {
            false if numbers.at_least([8, 0, 16]) => Self::ValidateConfig,
            false if numbers.at_least([8]) => Self::SilentHelp,
            _ => Self::Help,
        }
    }
}

pub(crate) struct Answer {
    /// Whether it would start with the options.
    pub(crate) is_accepted: bool,
    pub(crate) log: String,
    /// The standard output.
    pub(crate) output: String,
}

/// A server binary with a scratch directory for its option files.
pub(crate) struct Validator<'a> {
    pub(crate) installation: &'a Installation,
    pub(crate) layout: &'a Layout,
}

impl Validator<'_> {
    /// Checks the options. With `loose`, an unknown option is only a warning.
    pub(crate) fn judge(&self, entries: &[Entry], loose: bool) -> Result<Answer, Error> {
        match Means::of(self.installation) {
            Means::ValidateConfig => self.run(
                entries,
                loose,
                &["--validate-config", "--log-error-verbosity=2"],
            ),
            Means::Help | Means::SilentHelp => self.run(entries, loose, &["--verbose", "--help"]),
        }
    }

    /// Queries the known options and their effective values.
    pub(crate) fn help(&self, entries: &[Entry]) -> Result<Help, Error> {
        let answer = self.run(entries, false, &["--verbose", "--help"])?;
        Ok(Help::parse(&answer.output))
    }

    fn run(&self, entries: &[Entry], loose: bool, arguments: &[&str]) -> Result<Answer, Error> {
        let mut file = OptionFile::default();
        for entry in entries {
            let name = entry.name.as_written();
            let name = if loose && !entry.name.is_loose() {
                format!("loose_{name}")
            } else {
                name.to_owned()
            };
            file.push("mysqld", &name, entry.value.clone())?;
        }
        let layout = self.layout;
        write_private(&layout.option_file, file.to_string().as_bytes())?;
        let output = layout.run.join("output");
        let create = |path: &Path| File::create(path).map_err(Error::io("write", path));
        let mut command = self.installation.command();
        command
            .arg(format!("--defaults-file={}", layout.option_file.display()))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(create(&output)?)
            .stderr(create(&layout.log)?)
            .current_dir(&layout.dir);
        without_mysql_variables(&mut command);
        let mysqld = &self.installation.mysqld;
        let mut child = spawn(command, Lifetime::Owned).map_err(Error::io("start", mysqld))?;
        let handle = ProcessId::of(child.id()).and_then(|id| id.handle());
        let waited = match handle {
            Ok(Some(handle)) => handle.wait(TIMEOUT, Wait::of_work()),
            Ok(None) => Ok(true),
            Err(error) => Err(error),
        };
        if waited.is_err() {
            // Its directory is about to be removed.
            let _ = child.kill();
            let _ = child.wait();
        }
        let in_time = waited.map_err(Error::io("wait for", mysqld))?;
        if !in_time {
            child.kill().map_err(Error::io("kill", mysqld))?;
        }
        let status = child.wait().map_err(Error::io("wait for", mysqld))?;
        if !in_time {
            return Err(Error::TimedOut {
                dir: layout.dir.clone(),
                what: "check its options",
                timeout_s: TIMEOUT.as_secs(),
                log: log::tail(&layout.log, 0, 20),
            });
        }
        let read = |path: &Path| std::fs::read(path).map_err(Error::io("read", path));
        Ok(Answer {
            is_accepted: status.success(),
            log: String::from_utf8_lossy(&read(&layout.log)?).into_owned(),
            output: String::from_utf8_lossy(&read(&output)?).into_owned(),
        })
    }
}
