//! `dbdyno config`: review, explain, compare, move and make option files.

use std::process::ExitCode;

mod lint;
mod lint_formats;
mod subject;

/// Option files are read as the server reads them; nothing is ever changed in place, and no server is touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dbdyno config lint /etc/my.cnf --for mysql-8.0.33
  dbdyno config lint my.cnf --for mariadb-10.11 --fix fixed.cnf")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Review option files for a version: what is refused, contradictory, unsafe, or does nothing
    Lint(lint::LintArgs),
}

pub(crate) fn run(args: ConfigArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Lint(args) => lint::run(args),
    }
}
