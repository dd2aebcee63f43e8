//! `dbdyno completions`: the script by which a shell completes dbdyno's command line.

use std::process::ExitCode;

use clap_complete::Shell;

use crate::{candidates, output::write_out};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
With the script, the shell completes commands and options. It also completes the names of servers, versions, results
directories and audit rules, and the levels of an experiment.

dbdyno's packages install the completions. To install them for the current user:
  dbdyno completions bash > ~/.local/share/bash-completion/completions/dbdyno
  dbdyno completions zsh > ~/.zfunc/_dbdyno           (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  dbdyno completions fish > ~/.config/fish/completions/dbdyno.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell for which the script is printed
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script, which calls dbdyno at each Tab.
pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    write_out(&candidates::script(&args.shell.to_string())?)?;
    Ok(ExitCode::SUCCESS)
}
