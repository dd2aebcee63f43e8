//! `dbdyno sql compare`: statements under two or more variants, interleaved until the difference is decided.

mod copies;
mod finding;
mod mechanism;
mod outputs;
mod page;
mod side;
mod trial;
mod variant;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use protocol::Endpoint;
use runs::{Blame, Blamed, Purpose, signals};
use workload::sql_script::SqlStatement;

use self::{
    copies::Copies,
    finding::{Finding, Report},
    side::Side,
    trial::{Terms, Trial},
    variant::Variant,
};
use super::{
    effect::{Effect, effect_of, kind_of},
    explain::explained_plan,
    input::{InputArgs, is_setting, statement_name},
    timeout::timeout,
};
use crate::{
    commands::run::terminal_width, connection_options::ConnectionOptions, output::write_out,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A variant is NAME: PART; PART, with one or more parts:
  SET or USE of the session       executed at the beginning of its session
  other SQL, such as CREATE INDEX, DROP INDEX, ALTER, ANALYZE TABLE, SET GLOBAL
                                  executed once on a copy of the private server
  option NAME=VALUE               option of the server, on a copy of the private server
  hint HINT                       put as /*+ HINT */ after the first word of every statement
  rewrite FILE                    other statements for the same results, one for each, in their order

Each side with SQL or options of its own runs on a copy of the private server (--server), and then so does the baseline; the
server itself is stopped while it is copied, and not changed. A given server only gets sessions.

First every statement is executed on every side, which is not timed, and the rows are compared in any order, as the server's
text. Then blocks follow: each statement on every side, in random order, a short one up to nine times, of which the median
counts. They end when every difference is decided, by the verdict of experiments, or at --runs or --budget. Statements that
change data are rolled back each time.

Exit code 1: a variant gives another result than the baseline.

Examples:
  dbdyno sql compare q.sql --server demo --variant 'index: create index len on page (page_len)'
  dbdyno sql compare q.sql --host db1 --variant \"no mrr: set optimizer_switch='mrr=off'\" --html plans.html
  dbdyno sql compare q.sql --server demo --variant 'big: option innodb_buffer_pool_size=2G' --variant 'join: rewrite q2.sql'")]
pub(super) struct CompareArgs {
    #[command(flatten)]
    input: InputArgs,
    /// What is different on another side, may be repeated: NAME: PART; PART
    #[arg(long, value_name = "VARIANT", required = true, value_parser = Variant::parse)]
    variant: Vec<Variant>,
    /// What is different on the side that the others are compared with [default: nothing]
    #[arg(long, value_name = "VARIANT", value_parser = Variant::parse)]
    baseline: Option<Variant>,
    /// Blocks at most
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(3..=200))]
    runs: u32,
    /// Time for all blocks
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = timeout)]
    budget: Duration,
    /// Smallest difference that matters
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=100))]
    min_effect: u32,
    /// Seed of the order of executions
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Time limit of each statement; after it the statement is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Show every comparison with its plans and counters
    #[arg(long, short)]
    verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Page with the plans of both sides to write, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The verdicts with their reasons
    Table,
    /// One object with every time and plan
    Json,
    /// Comma-separated values with a header
    Csv,
}

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let baseline = args.baseline.clone().unwrap_or_else(Variant::baseline);
    let variants: Vec<&Variant> = [&baseline].into_iter().chain(&args.variant).collect();
    for (at, variant) in variants.iter().enumerate() {
        if variants[..at]
            .iter()
            .any(|other| other.name == variant.name)
        {
            let message = format!("two sides have the name {}", variant.name);
            return Err(Blamed::new(Blame::Input, message).into());
        }
    }
    let statements = args.input.statements(&args.connection)?;
    let of_sides = variants
        .iter()
        .map(|variant| side::statements_of(variant, &statements));
    let of_sides = of_sides.collect::<Result<Vec<_>, _>>()?;
    for statement in of_sides.iter().flatten() {
        check_kind(statement)?;
    }
    if statements.iter().all(is_setting) {
        let message = "no statement to compare: there are only settings of the session";
        return Err(Blamed::new(Blame::Input, message).into());
    }
    signals::interrupt()?;
    let (copies, endpoints) = args.servers(&variants)?;
    let report = args.measure(&variants, &of_sides, &endpoints);
    // The measurements are there; the copies are removed whether they succeeded or not.
    let destroyed = copies.map_or(Ok(()), Copies::destroy);
    let report = report?;
    destroyed?;
    if let Some(path) = &args.html {
        let written = files::replace(path, page::page(&report).as_bytes());
        written
            .map_err(std::io::Error::from)
            .map_err(Blamed::io(Blame::Input, path))?;
    }
    match args.format {
        Format::Table => {
            let width = usize::from(terminal_width());
            print!("{}", outputs::table(&report, args.verbose, width));
        }
        Format::Json => write_out(outputs::json(&report).as_bytes())?,
        Format::Csv => write_out(outputs::csv(&report).as_bytes())?,
    }
    Ok(if report.has_different_results() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// An error for a statement whose executions cannot be taken back.
fn check_kind(statement: &SqlStatement) -> Result<(), Blamed> {
    if is_setting(statement) || effect_of(statement) != Effect::Other {
        return Ok(());
    }
    let message = format!(
        "{}: {} cannot be rolled back",
        statement.place(),
        kind_of(statement)
    );
    let hint = "definitions and the like belong to a variant: --variant 'NAME: ...'";
    Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
}

impl CompareArgs {
    /// The servers of the sides: copies where a variant changes one, else the named server.
    fn servers(&self, variants: &[&Variant]) -> Result<(Option<Copies>, Vec<Endpoint>), Blamed> {
        let Some(changing) = variants.iter().find(|variant| variant.changes_server()) else {
            let endpoint = self.connection.endpoint()?;
            return Ok((None, vec![endpoint; variants.len()]));
        };
        let Some(name) = &self.connection.server else {
            let message = format!(
                "variant {} changes the server or its data, which is done only on a copy of a private server",
                changing.name
            );
            let hint = "name one by --server; on another server a variant can have SET of the session, hints and a rewrite";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        };
        // The first one is for the sides that only differ in their sessions.
        let unchanged = Variant::baseline();
        let mut own: Vec<&Variant> = Vec::new();
        if variants.iter().any(|variant| !variant.changes_server()) {
            own.push(&unchanged);
        }
        own.extend(variants.iter().copied().filter(|it| it.changes_server()));
        let copies = Copies::make(name, &own)?;
        let endpoints = copies
            .servers()
            .map(|server| self.connection.endpoint_of_server(server.endpoint()));
        let of_copies = endpoints.collect::<Result<Vec<_>, _>>()?;
        let mut changed = of_copies
            .iter()
            .skip(usize::from(own.len() > changing_count(variants)));
        let of_sides = variants.iter().map(|variant| {
            let copy = if variant.changes_server() {
                changed.next()
            } else {
                of_copies.first()
            };
            copy.cloned().expect("each side has a copy")
        });
        let of_sides = of_sides.collect();
        Ok((Some(copies), of_sides))
    }

    fn measure(
        &self,
        variants: &[&Variant],
        statements: &[Vec<SqlStatement>],
        endpoints: &[Endpoint],
    ) -> Result<Report, Blamed> {
        let terms = Terms {
            blocks: self.runs as usize,
            budget: self.budget,
            margin: f64::from(self.min_effect) / 100.0,
            seed: self.seed,
        };
        let limit = self.connection.statement_timeout;
        let limit = limit.unwrap_or(Purpose::Work.limit());
        let measured = reactor::block_on(async {
            for (variant, endpoint) in variants.iter().zip(endpoints) {
                if !variant.changes.is_empty() {
                    side::change(variant, endpoint, limit).await?;
                }
            }
            let mut sides = Vec::new();
            for ((variant, statements), endpoint) in variants.iter().zip(statements).zip(endpoints)
            {
                sides.push(Side::open(variant, statements, endpoint, self.timeout).await?);
            }
            let trial = Trial::begin(&mut sides, terms).await?;
            let (comparisons, blocks) = trial.run(&mut sides).await?;
            let mut plans = Vec::new();
            for side in &mut sides {
                plans.push(plans_of(side).await?);
            }
            let version = sides[0].session.version().to_owned();
            for side in sides {
                side.session.close().await;
            }
            let own = |it: &&SqlStatement| !is_setting(it);
            let names = statements[0].iter().filter(own).enumerate();
            let names: Vec<String> = names.map(|(at, it)| statement_name(it, at)).collect();
            let texts = statements.iter().map(|of_side| {
                let texts = of_side.iter().filter(own);
                let text = |it: &SqlStatement| String::from_utf8_lossy(it.text()).into_owned();
                texts.map(text).collect::<Vec<String>>()
            });
            let texts: Vec<Vec<String>> = texts.collect();
            let findings = comparisons.into_iter().map(|it| {
                let texts =
                    [&texts[0], &texts[it.side]].map(|of_side| of_side[it.statement].clone());
                let plan = |side: usize| plans[side][it.statement].clone();
                let plans = [plan(0), plan(it.side)];
                let variant = variants[it.side].name.clone();
                Finding::new(names[it.statement].clone(), variant, texts, plans, it)
            });
            Ok(Report {
                version,
                baseline: variants[0].name.clone(),
                copied: self
                    .connection
                    .server
                    .clone()
                    .filter(|_| variants.iter().any(|variant| variant.changes_server())),
                terms,
                blocks,
                findings: findings.collect(),
            })
        });
        measured.map_err(Blamed::machine)?
    }
}

fn changing_count(variants: &[&Variant]) -> usize {
    variants.iter().filter(|it| it.changes_server()).count()
}

/// The plans of a side's statements, without those of settings.
async fn plans_of(side: &mut Side<'_>) -> Result<Vec<Option<(String, plans::Plan)>>, Blamed> {
    let mut plans = Vec::new();
    for statement in side.statements {
        plans.push(explained_plan(&mut side.session, statement).await?);
    }
    let is_statement = |(statement, _): &(&SqlStatement, _)| !is_setting(statement);
    let all = side.statements.iter().zip(plans);
    Ok(all.filter(is_statement).map(|(_, plan)| plan).collect())
}
