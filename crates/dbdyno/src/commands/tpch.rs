//! `dbdyno tpch`: the data of TPC-H, prepared, checked and cleaned up.

use std::process::ExitCode;

use benchmarks::tpch::{DATABASE, Tpch};

mod check;
mod prepare;
mod scale_factor;

use crate::commands::cleanup::{self, CleanupArgs};

/// The eight TPC-H tables with dbgen's rows. Results that are measured on them are TPC-H-like, never TPC-H results.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dbdyno tpch prepare --server one --scale-factor 0.1
  dbdyno tpch prepare --server one --scale-factor 1 --keys foreign --key-time before --checks on
  dbdyno tpch check --server one
  dbdyno tpch cleanup --server one")]
pub(crate) struct TpchArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Create and load the tables
    #[command(name = "prepare", visible_alias = "load")]
    Prepare(prepare::PrepareArgs),
    /// Compare the tables with the data that dbgen generates, and check all references between the tables
    Check(check::CheckArgs),
    /// Drop the tables
    #[command(name = "cleanup", visible_alias = "drop")]
    Cleanup(CleanupArgs),
}

pub(crate) fn run(args: TpchArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Prepare(args) => prepare::run(&args),
        Action::Check(args) => check::run(&args),
        Action::Cleanup(args) => cleanup::run(&args, &Tpch, DATABASE),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command};
    use dataset::tpch::TpchData;
    use settings::OptionTable;

    use super::*;
    use crate::commands::table_options::assert_alike;

    #[test]
    fn options_are_those_of_an_experiment() {
        let prepare = prepare::PrepareArgs::augment_args(Command::new("prepare"));
        for option in TpchData.options() {
            assert_alike(&prepare, option);
        }
    }
}
