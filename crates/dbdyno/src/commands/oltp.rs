//! `dbdyno oltp`: sysbench's OLTP workloads.

use std::{ffi::OsString, process::ExitCode};

use clap::{CommandFactory, Parser};

mod names;
mod options;
mod run;
mod tables;
mod title;
mod values;
mod watch;

use options::{Command, Options};

use crate::{connection_options::hidden_argument::hide_argument, output::print_of_clap};

/// Its options, for completions and man pages.
pub(crate) fn definition() -> clap::Command {
    Options::command()
}

/// Runs the command line behind `dbdyno oltp`.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let args = names::translated(args)?;
    let args = std::iter::once(OsString::from("dbdyno oltp")).chain(args);
    let options = match Options::try_parse_from(args) {
        Ok(options) => options,
        Err(error) => return Ok(print_of_clap(&error)?),
    };
    if let Some(password) = &options.password {
        hide_argument(password)?;
    }
    let script = options.script()?;
    match options.command {
        Command::Prepare => tables::prepare(&options, script),
        Command::Prewarm => tables::prewarm(&options, script),
        Command::Cleanup => tables::cleanup(&options, script),
        Command::Run => run::run(&options, script),
        Command::Check => tables::check(&options, script),
    }
}
