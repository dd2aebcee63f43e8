//! `dbdyno script`: scripts of the user's own as a load.

use std::process::ExitCode;

use clap::Subcommand;

mod run;

#[derive(Debug, clap::Args)]
pub(crate) struct ScriptArgs {
    #[command(subcommand)]
    command: ScriptCommand,
}

#[derive(Debug, Subcommand)]
enum ScriptCommand {
    /// Run scripts and measure each of them and its statements
    Run(run::RunArgs),
}

pub(crate) fn run(args: ScriptArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        ScriptCommand::Run(args) => run::run(&args),
    }
}
