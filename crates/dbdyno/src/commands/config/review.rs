//! A review of option files, by the catalogue and by the server's own validator, or of a running server.

use std::{path::PathBuf, time::Duration};

use blame::Blamed;
use mycnf::{Lint, Machine, OptionFile, Target, lint_server};
use server::Installation;

use super::running::Running;

#[derive(Debug)]
pub(super) struct Review {
    pub(super) files: Vec<PathBuf>,
    pub(super) target: Target,
    /// Whether the version's own validator took part.
    pub(super) is_validated: bool,
    /// The running server; `None` for files.
    pub(super) running: Option<Running>,
    /// Lines that include a directory which this machine does not have: no server starts without it.
    pub(super) missing_directories: Vec<u32>,
    /// Whether the server's memory is known, so that the buffers are judged by it.
    pub(super) knows_memory: bool,
    pub(super) lint: Lint,
}

impl Review {
    /// Reviews files by the catalogue, and by the server's own validator where it is installed.
    pub(super) fn of_files(
        files: Vec<PathBuf>,
        file: &OptionFile,
        target: Target,
        machine: &Machine,
        installation: Option<&Installation>,
    ) -> Result<Self, Blamed> {
        let missing = file.faults().iter();
        let missing = missing.filter(|fault| fault.is_elsewhere && !fault.is_passed_over);
        Ok(Self {
            lint: server::review(&files, file, &target, machine, installation)?,
            knows_memory: machine.memory_bytes.is_some(),
            missing_directories: missing.filter_map(|fault| fault.at.number()).collect(),
            files,
            target,
            is_validated: installation.is_some(),
            running: None,
        })
    }

    /// Reviews a running server; its counters judge after this time.
    pub(super) fn of_running(running: Running, counters_after: Duration) -> Self {
        let target = running.target.clone();
        let uptime_min_s = counters_after.as_secs();
        Self {
            files: Vec::new(),
            lint: lint_server(&running.server, &target, &running.machine, uptime_min_s),
            target,
            is_validated: false,
            missing_directories: Vec::new(),
            knows_memory: running.machine.memory_bytes.is_some(),
            running: Some(running),
        }
    }

    /// The files or the server that it is about: `my.cnf + more.cnf`, `127.0.0.1:3306`.
    pub(super) fn name(&self) -> String {
        match &self.running {
            Some(running) => running.name.clone(),
            None => {
                let files = self.files.iter();
                let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
                files.join(" + ")
            }
        }
    }
}
