//! `dbdyno sql advise`: what could make statements faster, with reasons; and what of it is proved to.

use std::{process::ExitCode, time::Duration};

use runs::{Blame, Blamed};
use statements::advise::{self, Layout, Rounds};

use super::{input::InputArgs, timeout::timeout};
use crate::{
    commands::run::terminal_width, connection_options::ConnectionOptions, output::write_out,
    terminal::context,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each statement is explained and executed. Candidates come from its plan, the columns it uses and its costs: indexes for
its conditions, joins and order; covering indexes; fresh statistics; larger buffers; and rewritten statements. A
rewritten statement drops the hints, replaces a function call on a column with a range condition (plus an index for that
condition), turns OR into UNION, turns an IN subquery into a join, or changes the join order. Changes that only the
statement's author can make are listed, as are duplicate and unused indexes on the tables.

With --try, the candidates with the largest estimated saving are measured on two copies of the private server, one after
the other, as in sql compare. Statistics are refreshed before an index is judged. A candidate is proved only if it
returns the same result on this data and makes a statement faster by more than --min-effect; the whole confidence
interval must be beyond this limit. The size of an index and its cost for inserts and updates are also measured. The
server itself is not changed.

Exit code 1 if --try proved nothing.

Examples:
  dbdyno sql advise q.sql --host db1 --database wiki
  dbdyno sql advise q.sql --server demo --database wiki --try")]
pub(super) struct AdviseArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Measure the candidates (suggested changes) on copies of the private server
    #[arg(long = "try")]
    is_tried: bool,
    /// Maximum number of candidates to measure, starting with the largest estimated saving
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u32).range(1..=16))]
    at_most: u32,
    /// Maximum total time of the measurements
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = timeout)]
    budget: Duration,
    /// Smallest difference that matters, per cent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=100))]
    min_effect: u32,
    /// Random seed for the execution order
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Time limit of each statement, after which it is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Show every candidate with its reason and all figures
    #[arg(long, short)]
    verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The answer, then the candidates of each statement
    Text,
    /// One object
    Json,
}

pub(super) fn run(args: &AdviseArgs) -> anyhow::Result<ExitCode> {
    // Not by clap, which asks for no option that conflicts with a given one, such as --host.
    if args.is_tried && args.connection.server.is_none() {
        let message = "--try needs a private server to make copies of";
        let hint = "name one with --server; without --try the candidates are only listed";
        return Err(Blamed::new(Blame::Input, message)
            .hint(hint.to_owned())
            .into());
    }
    let statements = args.input.statements(&args.connection)?;
    let context = context()?;
    let endpoint = args.connection.endpoint()?;
    let mut diagnosis = advise::diagnose(&endpoint, &statements, args.timeout)?;
    for note in &diagnosis.notes {
        eprintln!("note: {note}");
    }
    let [failure, not_removed] = if args.is_tried && diagnosis.is_measurable() {
        let rounds = Rounds {
            statements: &statements,
            connection: &args.connection,
            context: &context,
            at_most: args.at_most as usize,
            budget: args.budget,
            margin: f64::from(args.min_effect) / 100.0,
            seed: args.seed,
            timeout: args.timeout,
        };
        rounds.run(&mut diagnosis)?
    } else {
        [None, None]
    };
    let incomplete = failure.as_ref().map(|it| it.message.as_str());
    match args.format {
        Format::Text => {
            let layout = Layout {
                is_tried: args.is_tried,
                is_verbose: args.verbose,
                width: usize::from(terminal_width()),
            };
            print!("{}", advise::text(&diagnosis, layout, incomplete));
        }
        Format::Json => {
            let json = advise::json(&diagnosis, args.is_tried, incomplete);
            write_out(json.as_bytes())?;
        }
    }
    if let Some(failure) = failure.or(not_removed) {
        return Err(failure.into());
    }
    Ok(if args.is_tried && !diagnosis.is_proved() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
