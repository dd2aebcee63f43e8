//! `dbdyno tpcc`: a TPC-C-like benchmark, prepared, run, checked and cleaned up.

use std::process::ExitCode;

use benchmarks::tpcc::{DATABASE, Tpcc};
use clap::Subcommand;

mod check;
mod prepare;
mod reported_terminals;
mod run;

use crate::commands::cleanup::{self, CleanupArgs};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The tables have the same names and columns as those of tpcc-mysql, with the column types of TPC-C 5.11. The default
database is tpcc; --database names another one. The results are TPC-C-like. They are not TPC results, and must not be
compared with TPC results.

Examples:
  dbdyno tpcc prepare --server one --warehouses 4
  dbdyno tpcc run --server one --connections 8 --duration 60s
  dbdyno tpcc check --server one
  dbdyno tpcc cleanup --server one")]
pub(crate) struct TpccArgs {
    #[command(subcommand)]
    command: TpccCommand,
}

#[derive(Debug, Subcommand)]
enum TpccCommand {
    /// Create and load the tables; to continue an interrupted load, repeat the command
    #[command(name = "prepare", visible_alias = "load")]
    Prepare(prepare::PrepareArgs),
    /// Run the five TPC-C transactions
    Run(run::RunArgs),
    /// Check the consistency conditions in clause 3.3.2 of the TPC-C specification
    Check(check::CheckArgs),
    /// Drop the TPC-C tables and the tables that dbdyno added
    #[command(name = "cleanup", visible_alias = "drop")]
    Cleanup(CleanupArgs),
}

pub(crate) fn run(args: TpccArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        TpccCommand::Prepare(args) => prepare::run(args),
        TpccCommand::Run(args) => run::run(args),
        TpccCommand::Check(args) => check::run(args),
        TpccCommand::Cleanup(args) => cleanup::run(&args, &Tpcc, DATABASE),
    }
}

#[cfg(test)]
mod tests {
    use benchmarks::tpcc::{TpccData, TpccLoad};
    use clap::{Args, Command};
    use settings::OptionTable;

    use super::*;
    use crate::commands::table_options::assert_alike;

    #[test]
    fn options_are_those_of_an_experiment() {
        let prepare = prepare::PrepareArgs::augment_args(Command::new("prepare"));
        for option in TpccData.options() {
            // Foreign keys are the default where there are indexes.
            if option.name == "warehouses" {
                assert_alike(&prepare, option);
            }
        }
        let run = run::RunArgs::augment_args(Command::new("run"));
        for option in TpccLoad.options() {
            // Here it is --no-check.
            if option.name != "check" {
                assert_alike(&run, option);
            }
        }
    }
}
