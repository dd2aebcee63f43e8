//! `dbdyno script`: scripts of the user's own as a load.

use std::{ffi::OsString, process::ExitCode};

use clap::Subcommand;

mod run;

/// The only command of `dbdyno script`, which need not be written.
const RUN: &str = "run";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
dbdyno script FILE is short for dbdyno script run FILE. dbdyno script run --help lists the options.

Example: dbdyno script orders.sql --server demo --connections 16")]
pub(crate) struct ScriptArgs {
    #[command(subcommand)]
    command: ScriptCommand,
}

#[derive(Debug, Subcommand)]
enum ScriptCommand {
    /// Run scripts, and measure each script and each statement
    Run(run::RunArgs),
}

pub(crate) fn run(args: ScriptArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        ScriptCommand::Run(args) => run::run(&args),
    }
}

/// The arguments behind the program's name with the `run` that `script FILE` leaves out.
pub(crate) fn with_run(mut args: Vec<OsString>) -> Vec<OsString> {
    let is_script = args.first().is_some_and(|it| it == "script");
    let is_command = |it: &OsString| [RUN, "help", "-h", "--help"].iter().any(|name| it == name);
    if is_script && args.get(1).is_some_and(|it| !is_command(it)) {
        args.insert(1, RUN.into());
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_need_not_be_written() {
        for (line, whole) in [
            ("script a.sql -c 4", "script run a.sql -c 4"),
            (
                "script --server demo a.sql",
                "script run --server demo a.sql",
            ),
            ("script run a.sql", "script run a.sql"),
            ("script --help", "script --help"),
            ("script", "script"),
            ("quick script", "quick script"),
        ] {
            let words = line.split(' ').map(OsString::from).collect();
            let found: Vec<String> = with_run(words)
                .into_iter()
                .map(|it| it.into_string().unwrap())
                .collect();
            assert_eq!(found.join(" "), whole);
        }
    }
}
