//! `dbdyno wiki prepare`: makes the two tables and streams their rows into the server.

use std::process::ExitCode;

use benchmarks::wiki::{DATABASE, prepare};
use blame::{Blame, Blamed};
use clap::{ArgMatches, Args, FromArgMatches};
use dataset::wiki::{WikiData, WikiPlan};
use runs::{database, population::default_streams};
use serde_json::json;
use settings::{OptionTable, Values};

use crate::{
    commands::table_options, connection_options::ConnectionOptions, output::Format, terminal,
};

#[derive(Debug, Args)]
pub(super) struct PrepareArgs {
    #[command(flatten)]
    tables: TableOptions,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    connection: ConnectionOptions,
}

/// The options of the tables, which an experiment has, too.
#[derive(Debug)]
struct TableOptions(Values);

impl Args for TableOptions {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(WikiData.options().iter().map(table_options::argument))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TableOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(table_options::values(
            WikiData.options().iter(),
            matches,
        )))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(super) fn run(args: &PrepareArgs) -> anyhow::Result<ExitCode> {
    let values = &args.tables.0;
    if let Some(fault) = WikiData.fault(values) {
        let problem = format!("--{}: {}", fault.option, fault.problem);
        return Err(Blamed::new(Blame::Input, problem)
            .hint(fault.hint.to_owned())
            .into());
    }
    let endpoint = args.connection.endpoint_of_tables(DATABASE)?;
    let plan = WikiPlan::of(values);
    let filled = prepare(&endpoint, &plan, default_streams(), &terminal::context()?)?;
    let (database, took_s) = (database::name(&endpoint), filled.took.as_secs_f64());
    match args.format {
        Format::Json => println!(
            "{}",
            json!({
                "database": database,
                "pages": plan.pages,
                "rows": filled.rows,
                "bytes": filled.bytes,
                "took_s": took_s,
            })
        ),
        Format::Text => println!(
            "{database}: {} rows, {} of text in {}: {} rows/s, {}",
            filled.rows,
            units::bytes(filled.bytes),
            units::seconds(took_s),
            units::si(filled.rows as f64 / took_s.max(1e-9)),
            units::bytes_per_s(filled.bytes as f64 / took_s.max(1e-9)),
        ),
    }
    Ok(ExitCode::SUCCESS)
}
