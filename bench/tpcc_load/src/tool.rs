//! The programs that load and run, and how each is called.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// Who loads or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    Dbdyno,
    TpccMysql,
    GoTpc,
    Bound,
}

impl Tool {
    pub(crate) const ALL: [Self; 4] = [Self::Dbdyno, Self::TpccMysql, Self::GoTpc, Self::Bound];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dbdyno => "dbdyno",
            Self::TpccMysql => "tpcc-mysql's pattern",
            Self::GoTpc => "go-tpc's pattern",
            Self::Bound => "the bound",
        }
    }

    /// Processor time of the original's client for a load of 4 warehouses, in seconds, where it was once measured:
    /// 2.1 million rows into MariaDB 10.11, with indexes before the rows.
    pub(crate) fn original_load_cpu_s(self) -> Option<f64> {
        match self {
            Self::TpccMysql => Some(20.8),
            Self::GoTpc => Some(7.7),
            Self::Dbdyno | Self::Bound => None,
        }
    }
}

/// Processor time of tpcc-mysql's client per transaction of a run, in microseconds.
pub(crate) const ORIGINAL_RUN_CPU_US: f64 = 522.0;

/// The programs, found or built.
#[derive(Debug, clap::Args)]
pub(crate) struct Programs {
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) dbdyno: PathBuf,
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) tpcc_mysql: PathBuf,
    /// SQL that makes tpcc-mysql's tables
    #[arg(long, value_name = "FILE")]
    pub(crate) tables: PathBuf,
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) go_tpc: PathBuf,
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) bound: PathBuf,
}

/// Where something is loaded, and how much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) port: u16,
    pub(crate) database: &'a str,
    pub(crate) warehouses: u32,
    /// Directory of the bound's files.
    pub(crate) files: &'a Path,
}

impl Programs {
    /// The command that loads; user `peer` without a password, over TCP as tpcc-mysql's users do.
    pub(crate) fn load(&self, tool: Tool, place: Place) -> Command {
        let (port, warehouses) = (place.port.to_string(), place.warehouses.to_string());
        match tool {
            Tool::Dbdyno => {
                let mut command = self.tpcc("load", place);
                command.args(["--warehouses", &warehouses]);
                command
            }
            Tool::TpccMysql => words(
                &self.tpcc_mysql,
                &["load", &port, place.database, &warehouses],
            ),
            Tool::GoTpc => words(&self.go_tpc, &[&port, place.database, &warehouses, "2"]),
            Tool::Bound => self.bound("load", place),
        }
    }

    /// The command that writes the bound's files, or loads them.
    pub(crate) fn bound(&self, what: &str, place: Place) -> Command {
        let mut command = words(
            &self.bound,
            &[what, &place.port.to_string(), place.database],
        );
        command.arg(place.files).arg(place.warehouses.to_string());
        command
    }

    /// The command that runs transactions over 8 connections; `record` is where dbdyno's goes.
    pub(crate) fn run(&self, tool: Tool, place: Place, seconds: u32, record: &Path) -> Command {
        let (port, warehouses) = (place.port.to_string(), place.warehouses.to_string());
        let duration = seconds.to_string();
        match tool {
            Tool::Dbdyno => {
                let mut command = self.tpcc("run", place);
                command.args(["--connections", "8", "--warmup", "0", "--no-check"]);
                // As the others do it: in the terminal that asks for it.
                command.args(["--delivery", "inline"]);
                command.arg(format!("--duration={duration}s"));
                let mut option = OsString::from("--record=");
                option.push(record);
                command.arg(option);
                command
            }
            _ => words(
                &self.tpcc_mysql,
                &["run", &port, place.database, &warehouses, "8", &duration],
            ),
        }
    }

    fn tpcc(&self, what: &str, place: Place) -> Command {
        let port = place.port.to_string();
        let account = ["--user", "peer", "--database", place.database];
        let mut command = words(&self.dbdyno, &["tpcc", what, "--host", "127.0.0.1"]);
        command.args(["--port", &port]).args(account);
        command
    }
}

fn words(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}
