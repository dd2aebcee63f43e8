//! `dbdyno sql advise`: what could make statements faster, with reasons; and what of it is proved to.

mod candidate;
mod outputs;
mod rewording;
mod statement_text;
mod table_facts;

use std::{iter, process::ExitCode, time::Duration};

use plans::column_uses;
use runs::{Blame, Blamed, signals};
use workload::sql_script::SqlStatement;

use self::{
    candidate::{Remedy, Subject},
    outputs::{Advice, Proof},
    table_facts::TableFacts,
};
use super::{
    compare::{
        Comparison, Contest, Finding, Report, Terms, Variant, are_order_hints_known, check_kind,
    },
    execution::GuardedStatements,
    explain::explained_plan,
    input::{InputArgs, statement_name},
    session::Session,
    setting::is_setting,
    timeout::timeout,
};
use crate::{connection_options::ConnectionOptions, output::write_out};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each statement is explained and executed, and its plan, its use of columns and its costs give the candidates: indexes by its
conditions, joins and order, covering ones, fresh statistics, larger buffers, and other texts of the statement: without
its hints, with a range for a function of a column, a UNION for an OR, a join for IN, another order of tables; and what only
its author can change.

With --try every candidate but those is measured on a copy of the private server, as by sql compare. One is kept only if
it makes a statement certainly faster, by more than --min-effect, with the same result on this data. Of an index, its size
and what it adds to an insert and an update are measured there, too. The server itself is not changed.

Exit code 1: with --try, nothing was proved.

Examples:
  dbdyno sql advise q.sql --host db1 --database wiki
  dbdyno sql advise q.sql --server demo --database wiki --try")]
pub(super) struct AdviseArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Measure the candidates on copies of the private server
    #[arg(long = "try")]
    is_tried: bool,
    /// Candidates to measure at most; each but another text of a statement has a copy of its own
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..=16))]
    at_most: u32,
    /// Time for all measurements
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = timeout)]
    budget: Duration,
    /// Smallest difference that matters
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=100))]
    min_effect: u32,
    /// Seed of the order of executions
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Time limit of each statement; after it the statement is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A paragraph per candidate
    Text,
    /// One object
    Json,
}

/// Blocks of a trial at most.
const BLOCKS_AT_MOST: usize = 20;

pub(super) fn run(args: &AdviseArgs) -> anyhow::Result<ExitCode> {
    // Not by clap, which asks for no option that conflicts with a given one, such as --host.
    if args.is_tried && args.connection.server.is_none() {
        let message = "--try needs a private server, of which it makes copies";
        let hint = "name one by --server; without --try the candidates are only named";
        return Err(Blamed::new(Blame::Input, message)
            .hint(hint.to_owned())
            .into());
    }
    let statements = args.input.statements(&args.connection)?;
    for statement in &statements {
        check_kind(statement)?;
    }
    if statements.iter().all(is_setting) {
        let message = "no statement to advise on: there are only settings of the session";
        return Err(Blamed::new(Blame::Input, message).into());
    }
    signals::interrupt()?;
    let endpoint = args.connection.endpoint()?;
    let advice = reactor::block_on(async {
        let mut session = Session::open(&endpoint, args.timeout).await?;
        let advice = advise(&mut session, &statements).await;
        session.close().await;
        advice
    });
    let mut advice = advice.map_err(Blamed::machine)??;
    let [failure, not_removed] = if args.is_tried && advice.iter().any(Advice::is_measurable) {
        args.try_all(&statements, &mut advice)?
    } else {
        [None, None]
    };
    let incomplete = failure.as_ref().map(|it| it.message.as_str());
    match args.format {
        Format::Text => print!("{}", outputs::text(&advice, args.is_tried, incomplete)),
        Format::Json => write_out(outputs::json(&advice, incomplete).as_bytes())?,
    }
    if let Some(failure) = failure.or(not_removed) {
        return Err(failure.into());
    }
    let is_proved = advice
        .iter()
        .any(|it| matches!(it.proof, Some(Proof::Kept { .. })));
    Ok(if args.is_tried && !is_proved {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The candidates of all statements; one that several have is named once, with the first of them.
async fn advise(session: &mut Session, statements: &[SqlStatement]) -> Result<Vec<Advice>, Blamed> {
    let guarded = GuardedStatements::new(statements, false, None);
    guarded.check(session, iter::empty()).await?;
    let larger_pool_bytes = larger_pool(session, &statements[0]).await?;
    let mut advice: Vec<Advice> = Vec::new();
    let mut number = 0;
    for (at, statement) in statements.iter().enumerate() {
        let Some(explained) = explained_plan(session, statement).await? else {
            continue;
        };
        // Warm, so that what it reads from disk is what the memory cannot hold.
        guarded.execute(session, at).await?;
        let costs = guarded.costs(session, at).await?;
        if explained.rewritten.is_none() {
            eprintln!(
                "note: {}: this version does not show which columns the statement uses: no index is proposed for it",
                statement.place()
            );
        }
        let uses = column_uses(explained.rewritten.as_deref().unwrap_or_default());
        let mut facts = Vec::new();
        for table in &uses {
            facts.push(TableFacts::read(session, statement, &table.schema, &table.table).await?);
        }
        let name = statement_name(statement, number);
        number += 1;
        let subject = Subject {
            statement,
            number,
            has_order_hints: are_order_hints_known(session.version()),
            plan: &explained.plan,
            uses: &uses,
            facts: &facts,
            costs: &costs,
            larger_pool_bytes,
        };
        for candidate in subject.candidates() {
            let is_known = advice
                .iter()
                .any(|it| it.candidate.remedy == candidate.remedy);
            if !is_known {
                advice.push(Advice {
                    at,
                    statement: name.clone(),
                    candidate,
                    proof: None,
                });
            }
        }
    }
    // A plain index is tried before one that has more columns.
    advice.sort_by_key(|it| it.is_covering());
    Ok(advice)
}

/// Four times the buffer pool, or as much as a quarter of this machine's memory; `None` if that is hardly larger.
async fn larger_pool(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Option<u64>, Blamed> {
    let endpoint = session.endpoint().clone();
    let sets = session.rows("SELECT @@innodb_buffer_pool_size").await;
    let sets = sets.map_err(|failure| failure.blamed(&endpoint, statement))?;
    let mut values = sets.iter().flat_map(|set| &set.rows).flatten().flatten();
    let bytes = values
        .next()
        .and_then(|it| String::from_utf8_lossy(it).parse::<u64>().ok());
    let limit = telemetry::usable_memory_bytes().map(|bytes| bytes / 4);
    let larger = bytes
        .zip(limit)
        .map(|(bytes, limit)| (bytes, (4 * bytes).min(limit)));
    Ok(larger
        .filter(|(bytes, larger)| *larger > bytes + bytes / 2)
        .map(|it| it.1))
}

impl AdviseArgs {
    /// Measures the candidates that a comparison can have, and notes what came of each. Returns why the measurement
    /// ended early, if it did, and why a copy was not removed.
    fn try_all(
        &self,
        statements: &[SqlStatement],
        advice: &mut [Advice],
    ) -> Result<[Option<Blamed>; 2], Blamed> {
        let mut variants = vec![Variant::baseline()];
        let mut of_sides = vec![statements.to_vec()];
        let mut indexes_of_sides = vec![None];
        let mut tried = Vec::new();
        for (place, it) in advice.iter_mut().enumerate() {
            if !it.is_measurable() {
                continue;
            }
            if tried.len() == self.at_most as usize {
                it.proof = Some(Proof::NotTried);
                continue;
            }
            let mut own = statements.to_vec();
            let (variant, indexes) = match &it.candidate.remedy {
                Remedy::Variant {
                    name,
                    parts,
                    indexes,
                } => {
                    let variant = Variant::parse(&format!("{name}: {parts}"));
                    let variant = variant.map_err(|error| Blamed::new(Blame::Server, error))?;
                    (variant, indexes.clone())
                }
                Remedy::Statement { name, text } => {
                    own[it.at] = own[it.at].reworded(text.as_bytes());
                    let name = name.clone();
                    let variant = Variant {
                        name,
                        ..Variant::default()
                    };
                    (variant, None)
                }
                Remedy::Author(_) => continue,
            };
            variants.push(variant);
            of_sides.push(own);
            indexes_of_sides.push(indexes);
            tried.push(place);
        }
        let sides: Vec<&Variant> = variants.iter().collect();
        let report = Contest {
            variants: &sides,
            statements: &of_sides,
            connection: &self.connection,
            setup: None,
            terms: Terms {
                blocks: BLOCKS_AT_MOST,
                budget: self.budget,
                margin: f64::from(self.min_effect) / 100.0,
                is_beyond_margin: true,
                seed: self.seed,
            },
            timeout: self.timeout,
            indexes: &indexes_of_sides,
            leaves_out: true,
        };
        let report = report.run()?;
        for (side, at) in tried.into_iter().enumerate() {
            let proof = match &report.left_out[side + 1] {
                Some(why) => Proof::CannotBeMade(why.clone()),
                None => proof(&report, side + 1, &advice[at].statement),
            };
            advice[at].proof = Some(proof);
        }
        Ok([report.failure, report.not_removed])
    }
}

/// What a trial says about the candidate of a side, which was proposed for a statement.
fn proof(report: &Report, side: usize, statement: &str) -> Proof {
    let of_side = || {
        report
            .findings
            .iter()
            .filter(|it| it.comparison.side == side)
    };
    let sentence = |it: &Finding| {
        let ratio = it
            .compared()
            .and_then(|compared| compared.comparison)
            .map(|it| it.ratio);
        let numbers = ratio.map_or_else(String::new, |ratio| {
            let [change, low, high] = [ratio.estimate, ratio.low, ratio.high].map(units::change);
            format!(", {change} ({low} to {high})")
        });
        let why = it.check().or_else(|| it.reason());
        let why = why.map_or_else(String::new, |why| format!("; {why}"));
        format!("{}: {}{numbers}{why}", it.statement, it.verdict())
    };
    // Without a comparison of the results it may be another one that is there faster.
    let is_faster = |it: &&Finding| Comparison::is_faster(&it.comparison);
    let sentences = |all: Vec<&Finding>| all.into_iter().map(sentence).collect::<Vec<_>>();
    let faster: Vec<&Finding> = of_side().filter(is_faster).collect();
    let worse = of_side().filter(|it| matches!(it.verdict(), "slower" | "different result"));
    let worse: Vec<&Finding> = worse.collect();
    if faster.is_empty() || worse.iter().any(|it| it.verdict() == "different result") {
        let is_telling = |it: &&Finding| {
            it.statement == statement || matches!(it.verdict(), "slower" | "different result")
        };
        return Proof::Rejected(sentences(of_side().filter(is_telling).collect()));
    }
    Proof::Kept {
        faster: sentences(faster),
        slower: sentences(worse),
        price: report.prices.get(side).cloned().flatten(),
    }
}
