//! `dbdyno config`: review, explain, compare, move, make and prove option files.

use std::process::ExitCode;

mod diff;
mod explain;
mod generate;
mod lint;
mod lint_formats;
mod lint_text;
mod migrate;
mod prove;
mod review;
mod running;
mod subject;
mod trial;

/// Option files are read as the server reads them. No file and no running server is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dbdyno config lint /etc/my.cnf --for mysql-8.0.33
  dbdyno config lint --host db1 --user dba
  dbdyno config explain innodb_redo_log_capacity
  dbdyno config diff mysql-5.7 mysql-8.0.33
  dbdyno config migrate my.cnf --from mysql-5.6 --to mysql-8.0.33 --output my8.cnf
  dbdyno config generate --for mariadb-10.11 --memory 32G
  dbdyno config prove my.cnf --for mariadb-10.11 --budget 30m")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Find refused, contradictory, unsafe and ineffective settings in option files or on a running server
    Lint(Box<lint::LintArgs>),
    /// Explain an option, or each option in a file: its purpose, its cost, its default in each version, and the counter
    /// that shows its effect
    Explain(explain::ExplainArgs),
    /// Compare the effective settings of two files, versions, running servers or run records
    Diff(Box<diff::DiffArgs>),
    /// Rewrite an option file for another server version, or move it between MySQL and MariaDB
    Migrate(migrate::MigrateArgs),
    /// Generate a short option file for a server version, a machine and a purpose
    Generate(generate::GenerateArgs),
    /// Measure which lines of a file have an effect, and find the shortest file that is not slower than the whole file
    Prove(Box<prove::ProveArgs>),
}

pub(crate) fn run(args: ConfigArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Lint(args) => lint::run(*args),
        Action::Explain(args) => explain::run(&args),
        Action::Diff(args) => diff::run(&args),
        Action::Migrate(args) => migrate::run(&args),
        Action::Generate(args) => generate::run(&args),
        Action::Prove(args) => prove::run(*args),
    }
}
