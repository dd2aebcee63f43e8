//! The registry of the tools whose command lines dbdyno accepts, one entry each.

use std::{ffi::OsString, process::ExitCode, vec};

use clap::{Arg, ArgAction, Command, value_parser};

use crate::commands;

pub(crate) mod gen_data;
pub(crate) mod linked_tools;
mod my_getopt;
pub(crate) mod mysql_proxy;
pub(crate) mod mysqlslap;
pub(crate) mod super_smack;
mod tpcc_arguments;
pub(crate) mod tpcc_load;
pub(crate) mod tpcc_start;

use linked_tools::LINKED_TOOLS;
use mysqlslap::Dialect;

/// A command that parses its own command line.
pub(crate) struct FrontDoor {
    /// Name in `dbdyno NAME`.
    pub(crate) name: &'static str,
    about: &'static str,
    /// Its options, for completions and man pages.
    definition: fn() -> Command,
    enter: fn(vec::IntoIter<OsString>) -> anyhow::Result<ExitCode>,
    /// The tool's replacement for `--help`, which every command of dbdyno has.
    own_help: Option<&'static str>,
}

pub(crate) const FRONT_DOORS: [FrontDoor; 9] = [
    FrontDoor {
        name: "oltp",
        about: "Run sysbench's OLTP workloads without sysbench: prepare, prewarm, run, check and clean up",
        definition: commands::oltp::definition,
        enter: |args| commands::oltp::run(args),
        own_help: None,
    },
    FrontDoor {
        name: "super-smack",
        about: "Run a .smack file; command line and report are those of Super Smack",
        definition: super_smack::definition,
        enter: |args| super_smack::run(args),
        own_help: None,
    },
    FrontDoor {
        name: "mysqlslap",
        about: "Run statements from many clients; command line and report are those of mysqlslap",
        definition: || mysqlslap::definition(Dialect::MySql),
        enter: |args| mysqlslap::run(Dialect::MySql, args),
        own_help: None,
    },
    FrontDoor {
        name: "mariadb-slap",
        about: "Run statements from many clients; command line and report are those of mariadb-slap",
        definition: || mysqlslap::definition(Dialect::MariaDb),
        enter: |args| mysqlslap::run(Dialect::MariaDb, args),
        own_help: None,
    },
    FrontDoor {
        name: "tpcc_load",
        about: "Load TPC-C tables; command line and messages are those of tpcc-mysql",
        definition: tpcc_load::definition,
        enter: |args| tpcc_load::run(args),
        own_help: None,
    },
    FrontDoor {
        name: "tpcc_start",
        about: "Run TPC-C; command line and output are those of tpcc-mysql",
        definition: tpcc_start::definition,
        enter: |args| tpcc_start::run(args),
        own_help: None,
    },
    FrontDoor {
        name: "gen-data",
        about: "Generate rows; command line and output are those of Super Smack's gen-data, byte for byte",
        definition: gen_data::definition,
        enter: |args| gen_data::run(args),
        own_help: Some("-?"),
    },
    FrontDoor {
        name: "proxy",
        about: "Relay MySQL connections to servers; a script can observe and change the sessions",
        definition: mysql_proxy::definition,
        enter: |args| mysql_proxy::run(args),
        own_help: None,
    },
    FrontDoor {
        name: "mysql-proxy",
        about: "Relay MySQL connections to servers; the command line is that of MySQL Proxy",
        definition: mysql_proxy::definition,
        enter: |args| mysql_proxy::run(args),
        own_help: None,
    },
];

impl FrontDoor {
    /// The front door with this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FRONT_DOORS.iter().find(|door| door.name == name)
    }

    /// The tool for a link with this name.
    pub(crate) fn linked(name: &str) -> Option<&'static Self> {
        Self::named(name).filter(|door| door.is_linked())
    }

    /// Whether a link with its name acts as the tool.
    pub(crate) fn is_linked(&self) -> bool {
        LINKED_TOOLS.contains(&self.name)
    }

    /// The definition that dbdyno needs to pass the arguments on unchanged.
    pub(crate) fn command(&self) -> Command {
        let args = Arg::new("args")
            .help("Arguments for the tool; its --help lists them")
            .value_name("ARGS")
            .value_parser(value_parser!(OsString))
            .action(ArgAction::Append)
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true);
        let command = Command::new(self.name).about(self.about);
        command.disable_help_flag(true).arg(args)
    }

    /// The definition with all options, as `dbdyno NAME`.
    pub(crate) fn whole_command(&self) -> Command {
        let definition = (self.definition)().name(self.name);
        let definition = definition.bin_name(format!("dbdyno {}", self.name));
        match definition.get_about() {
            Some(_) => definition,
            None => definition.about(self.about),
        }
    }

    /// Runs the tool, called by its own name.
    pub(crate) fn enter(&self, args: Vec<OsString>) -> anyhow::Result<ExitCode> {
        (self.enter)(args.into_iter())
    }

    /// Runs the tool, called as a command of dbdyno.
    pub(crate) fn enter_as_command(&self, args: Vec<OsString>) -> anyhow::Result<ExitCode> {
        match self.own_help {
            Some(help) if args == ["--help"] || args == ["-h"] => self.enter(vec![help.into()]),
            _ => self.enter(args),
        }
    }
}
