//! Sides with their servers and statements, from the copies to the findings.

use std::time::Duration;

use protocol::Endpoint;
use runs::{Blame, Blamed, Purpose};
use workload::sql_script::SqlStatement;

use super::{
    copies::Copies,
    finding::{Finding, Report},
    side::{self, Side},
    trial::{Terms, Trial},
    variant::Variant,
};
use crate::{
    commands::sql::{
        explain::{ExplainedPlan, explained_plan},
        input::{is_setting, statement_name},
        session::{Failure, Session},
    },
    connection_options::ConnectionOptions,
};

/// What is measured.
pub(in crate::commands::sql) struct Contest<'a> {
    /// The sides, the baseline first.
    pub(in crate::commands::sql) variants: &'a [&'a Variant],
    /// The statements of each side.
    pub(in crate::commands::sql) statements: &'a [Vec<SqlStatement>],
    pub(in crate::commands::sql) connection: &'a ConnectionOptions,
    pub(in crate::commands::sql) terms: Terms,
    /// Time limit of each statement.
    pub(in crate::commands::sql) timeout: Duration,
    /// A question with one number as its answer, for sides that have one; asked after the measurement.
    pub(in crate::commands::sql) questions: &'a [Option<String>],
}

impl Contest<'_> {
    /// Measures on copies where a variant changes the server, and removes them.
    pub(in crate::commands::sql) fn run(&self) -> Result<Report, Blamed> {
        let (copies, endpoints) = self.servers()?;
        let report = self.measure(&endpoints);
        // The measurements are there; the copies are removed whether they succeeded or not.
        let destroyed = copies.map_or(Ok(()), Copies::destroy);
        let report = report?;
        destroyed?;
        Ok(report)
    }

    /// The servers of the sides: copies where a variant changes one, else the named server.
    fn servers(&self) -> Result<(Option<Copies>, Vec<Endpoint>), Blamed> {
        let variants = self.variants;
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

    fn measure(&self, endpoints: &[Endpoint]) -> Result<Report, Blamed> {
        let (variants, statements, terms) = (self.variants, self.statements, self.terms);
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
            let mut answers = Vec::new();
            for (at, side) in sides.iter_mut().enumerate() {
                let question = self.questions.get(at).cloned().flatten();
                answers.push(match question {
                    Some(question) => answer(&mut side.session, &question).await?,
                    None => None,
                });
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
                answers,
            })
        });
        measured.map_err(Blamed::machine)?
    }
}

fn changing_count(variants: &[&Variant]) -> usize {
    variants.iter().filter(|it| it.changes_server()).count()
}

/// The plans of a side's statements, without those of settings.
async fn plans_of(side: &mut Side<'_>) -> Result<Vec<Option<ExplainedPlan>>, Blamed> {
    let mut plans = Vec::new();
    for statement in side.statements {
        plans.push(explained_plan(&mut side.session, statement).await?);
    }
    let is_statement = |(statement, _): &(&SqlStatement, _)| !is_setting(statement);
    let all = side.statements.iter().zip(plans);
    Ok(all.filter(is_statement).map(|(_, plan)| plan).collect())
}

/// The number with which a server answers; `None` if it has none.
async fn answer(session: &mut Session, question: &str) -> Result<Option<f64>, Blamed> {
    let endpoint = session.endpoint().clone();
    let sets = match session.rows(question).await {
        Ok(sets) => sets,
        Err(failure) if failure.is_of_statement() => return Ok(None),
        Err(Failure::Of(error)) => return Err(Blamed::of_server(&endpoint.address, error)),
        Err(_) => return Err(Blamed::new(Blame::Interrupted, "interrupted")),
    };
    let mut values = sets.iter().flat_map(|set| &set.rows).flatten().flatten();
    Ok(values
        .next()
        .and_then(|value| String::from_utf8_lossy(value).parse().ok()))
}
