//! `dbdyno sql advise`: what could make statements faster, with reasons; and what of it is proved to.

use std::{process::ExitCode, time::Duration};

use blame::{Blame, Blamed};
use statements::advise::{self, Layout, Rounds};

use super::{input::InputArgs, timeout::timeout};
use crate::{
    commands::run::terminal_width, connection_options::ConnectionOptions, output::write_out,
    terminal::context,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each statement is explained and executed. From its plan, its columns and its costs, dbdyno derives candidates, which are
changes that could make the statement faster:
  - indexes for the statement's conditions, joins and order, and covering indexes
  - fresh statistics
  - larger buffers
  - a rewritten statement: without hints, with a range condition (and an index for it) instead
    of a function call on a column, with UNION instead of OR, with a join instead of an IN
    subquery, or with another join order

The output also lists changes that only the statement's author can make, and duplicate and unused indexes on the tables.

With --try, the candidates with the largest estimated savings are measured one after the other on two copies of the
private server, as in sql compare. The server itself is not changed. Before an index is measured, the statistics are
refreshed on both copies. The size of each index and its cost for inserts and updates are also measured.

A candidate is proved only if every statement still returns the same result on this data, and at least one statement
becomes faster by more than --min-effect. A statement counts as faster only if the whole confidence interval of the
change is beyond --min-effect. If other statements become slower, the candidate is proved with a cost, but only if all
faster and slower statements together take less time. If another proved index removes this cost, both indexes are also
measured together.

If a statement fails, it is listed with its error, and the other statements are still examined. The exit code is then
that of the error. If --try proves no candidate, the exit code is 1.

Examples:
  dbdyno sql advise q.sql --host db1 --database wiki
  dbdyno sql advise q.sql --server demo --database wiki --try")]
pub(super) struct AdviseArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Measure the candidates (suggested changes) on copies of the private server; without --try, they are only listed
    #[arg(long = "try")]
    is_tried: bool,
    /// With --try: maximum number of candidates to measure, including pairs of indexes; those with the largest estimated
    /// savings are measured first
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u32).range(1..=16))]
    at_most: u32,
    /// With --try: time limit for the timed blocks of all candidates together; copies of the server, new indexes,
    /// statistics and executions that are not timed take additional time
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = timeout)]
    budget: Duration,
    /// With --try: smallest difference that matters, in per cent
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=100))]
    min_effect: u32,
    /// With --try: random seed for the execution order
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Time limit for each statement; a statement that exceeds it is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Show every candidate with its reason and all its figures
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
    /// Text for a terminal: the answer, then the candidates for each statement
    Text,
    /// One JSON object
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
    let (statements, counts) = args.input.counted_statements(&args.connection)?;
    let context = context()?;
    let endpoint = args.connection.endpoint()?;
    let mut diagnosis = advise::diagnose(&endpoint, &statements, &counts, args.timeout, &context)?;
    for note in &diagnosis.notes {
        eprintln!("note: {note}");
    }
    // Those that failed would fail on the copies, too.
    let statements = diagnosis.without_failed(&statements);
    let [failure, not_removed] = if args.is_tried && diagnosis.is_measurable() {
        let rounds = Rounds {
            statements: &statements,
            counts: &counts,
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
    let is_proved = diagnosis.is_proved();
    let failure = failure.or(not_removed);
    if let Some(failure) = failure.or_else(|| diagnosis.into_failure()) {
        return Err(failure.into());
    }
    Ok(if args.is_tried && !is_proved {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
