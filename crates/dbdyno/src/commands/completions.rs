//! `dbdyno completions`: what a shell needs to complete dbdyno's command line.

use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use crate::output::write_out;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The packages install them. By hand, for this user:
  dbdyno completions bash > ~/.local/share/bash-completion/completions/dbdyno
  dbdyno completions zsh > ~/.zfunc/_dbdyno           (with fpath+=~/.zfunc before compinit in ~/.zshrc)
  dbdyno completions fish > ~/.config/fish/completions/dbdyno.fish")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions of the whole command line.
pub(crate) fn run(args: &CompletionsArgs, tree: &mut Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, tree, "dbdyno", &mut script);
    write_out(&script)?;
    Ok(ExitCode::SUCCESS)
}
