//! `dbdyno sql time`: how long statements take, how sure that is, and what they cost the server.

mod cold;
mod figures;
mod outputs;
mod rounds;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use runs::{Blame, Blamed, signals};
use workload::sql_script::SqlStatement;

use self::{figures::Timed, rounds::Rounds};
use super::{
    effect::{Effect, effect_of, kind_of},
    input::{InputArgs, is_setting},
    session::Session,
    timeout::timeout,
};
use crate::{connection_options::ConnectionOptions, output::write_out};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
All statements are executed in their order, again and again: until each one's median is known to --precision, --runs rounds
are done or --budget is used up. The first round is reported apart, because it may read from disk what the others find in
memory. With --cold rounds come first that each begin after a restart of the private server, with an empty buffer pool and
its files dropped from the memory of the operating system; where they stay in memory, that is noted.

A time is that from sending the statement to the last byte of its result, which is read and counted. Statements that read
are executed in a transaction that allows nothing but reading, and statements that change data in one that is rolled back;
--commit keeps what they change. USE and SET of the session's variables are executed and not timed.

Examples:
  dbdyno sql time queries.sql --server demo --database wiki
  dbdyno sql time queries.sql --server demo --database wiki --cold 3 --format json
  dbdyno sql time -e 'select /* Q1 */ count(*) from page' --host db1 --database wiki --format document")]
pub(super) struct TimeArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Rounds after the first one at most
    #[arg(long, value_name = "N", default_value = "30", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// End when half the interval of every median is at most this share of it
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=100))]
    precision: u32,
    /// Time for all rounds after the first one
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = timeout)]
    budget: Duration,
    /// Rounds after a restart of the private server
    #[arg(long, value_name = "N", default_value = "0", requires = "server", value_parser = clap::value_parser!(u32).range(0..=1000))]
    cold: u32,
    /// Keep what the statements change, and allow statements other than SELECT, INSERT, UPDATE and the like
    #[arg(long)]
    commit: bool,
    /// Time limit of each statement; after it the statement is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Page for a browser to write, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table, and each statement's costs
    Table,
    /// One object with every time
    Json,
    /// Comma-separated values with a header
    Csv,
    /// `Q1:5.97537` for each statement and `Total:`, seconds of the first round and of the median
    Document,
}

pub(super) fn run(args: &TimeArgs) -> anyhow::Result<ExitCode> {
    let statements = args.input.statements(&args.connection)?;
    for statement in &statements {
        args.check_kind(statement)?;
    }
    if statements.iter().all(is_setting) {
        return Err(Blamed::new(
            Blame::Input,
            "no statement to time: there are only settings of the session",
        )
        .into());
    }
    signals::interrupt()?;
    let mut rounds = Rounds::new(&statements, args.commit);
    let mut notes = Vec::new();
    for _ in 0..args.cold {
        let name = args.connection.server.as_deref().unwrap_or_default();
        if let Some(why) = cold::restart(name)? {
            let note = format!("cold rounds read the server's files from memory: {why}");
            if !notes.contains(&note) {
                eprintln!("note: {note}");
                notes.push(note);
            }
        }
        with_session(args, async |session| rounds.cold(session).await)?;
    }
    let precision = f64::from(args.precision) / 100.0;
    let (version, missing) = with_session(args, async |session| {
        rounds
            .warm(session, args.runs, args.budget, precision)
            .await?;
        let missing = rounds.costs(session).await?;
        Ok((session.version().to_owned(), missing))
    })?;
    if let Some(why) = missing {
        let note = format!("performance_schema says nothing about the executions: {why}");
        eprintln!("note: {note}");
        notes.push(note);
    }
    let timed: Vec<Timed> = rounds.timed();
    if let Some(path) = &args.html {
        let page = outputs::page(&timed, &version, &notes);
        let written = files::replace(path, page.as_bytes()).map_err(std::io::Error::from);
        written.map_err(Blamed::io(Blame::Input, path))?;
    }
    let text = match args.format {
        Format::Table => outputs::table(&timed, &version, args.cold > 0),
        Format::Json => outputs::json(&timed, &version, &notes),
        Format::Csv => outputs::csv(&timed),
        Format::Document => outputs::document(&timed),
    };
    if args.format == Format::Table {
        print!("{text}");
    } else {
        write_out(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs `what` in a session of its own.
fn with_session<T>(
    args: &TimeArgs,
    what: impl AsyncFnOnce(&mut Session) -> Result<T, Blamed>,
) -> Result<T, Blamed> {
    let endpoint = args.connection.endpoint()?;
    let done = reactor::block_on(async {
        let mut session = Session::open(&endpoint, args.timeout).await?;
        let result = what(&mut session).await;
        session.close().await;
        result
    });
    done.map_err(Blamed::machine)?
}

impl TimeArgs {
    /// An error for a statement that would leave something behind, unless that is asked for.
    fn check_kind(&self, statement: &SqlStatement) -> Result<(), Blamed> {
        if self.commit || is_setting(statement) || effect_of(statement) != Effect::Other {
            return Ok(());
        }
        let message = format!(
            "{}: {} cannot be rolled back",
            statement.place(),
            kind_of(statement)
        );
        Err(Blamed::new(Blame::Input, message)
            .hint("--commit executes it as it is, in every round".to_owned()))
    }
}
