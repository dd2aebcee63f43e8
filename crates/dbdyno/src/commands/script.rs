//! `dbdyno script`: scripts of the user's own as a load.

use std::process::ExitCode;

use clap::Subcommand;

mod run;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = run::AFTER_HELP
)]
pub(crate) struct ScriptArgs {
    #[command(subcommand)]
    command: Option<ScriptCommand>,
    #[command(flatten)]
    args: Option<run::RunArgs>,
}

#[derive(Debug, Subcommand)]
enum ScriptCommand {
    /// The same as without `run`: run scripts and measure each of them and its statements
    Run(run::RunArgs),
}

pub(crate) fn run(args: ScriptArgs) -> anyhow::Result<ExitCode> {
    let command = args.command.map(|ScriptCommand::Run(args)| args);
    let args = command.or(args.args);
    run::run(&args.expect("clap asks for a script where no command is named"))
}
