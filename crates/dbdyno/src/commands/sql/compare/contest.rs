//! Sides with their servers and statements, from the copies to the findings.

use std::time::Duration;

use protocol::Endpoint;
use runs::{Blame, Blamed, Purpose, named_server};
use workload::sql_script::SqlStatement;

use super::{
    copies::Copies,
    finding::{Finding, Report},
    hints,
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
    /// Whether a side whose variant cannot be made is left out; else that is an error.
    pub(in crate::commands::sql) leaves_out: bool,
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
        // Before the server is stopped and copied.
        let version = named_server::open(name)?.installation()?.version;
        for variant in variants {
            hints::check(variant, &version)?;
        }
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
        let limit = self.connection.statement_timeout;
        let limit = limit.unwrap_or(Purpose::Work.limit());
        let measured = reactor::block_on(async {
            let mut left_out = vec![None; self.variants.len()];
            let (mut sides, mut places) = (Vec::new(), Vec::new());
            for (at, endpoint) in endpoints.iter().enumerate() {
                match self.side(at, endpoint, limit).await {
                    Ok(side) => {
                        sides.push(side);
                        places.push(at);
                    }
                    Err(error)
                        if self.leaves_out && at > 0 && error.blame != Blame::Interrupted =>
                    {
                        left_out[at] = Some(error.message);
                    }
                    Err(error) => return Err(error),
                }
            }
            let report = self.measure_sides(&mut sides, &places, left_out).await;
            for side in sides {
                side.session.close().await;
            }
            report
        });
        measured.map_err(Blamed::machine)?
    }

    /// A side on its server, with its changes made.
    async fn side(
        &self,
        at: usize,
        endpoint: &Endpoint,
        limit: Duration,
    ) -> Result<Side<'_>, Blamed> {
        let variant = self.variants[at];
        if variant.has_changes() {
            side::change(variant, endpoint, limit).await?;
        }
        Side::open(variant, &self.statements[at], endpoint, self.timeout).await
    }

    /// `places` are the indexes of the sides among the variants.
    async fn measure_sides<'a>(
        &self,
        sides: &mut [Side<'a>],
        places: &[usize],
        left_out: Vec<Option<String>>,
    ) -> Result<Report, Blamed> {
        let measured = Trial::begin(sides, self.terms).await?.run(sides).await;
        let mut failure = measured.failure;
        let mut plans = vec![Vec::new(); sides.len()];
        let mut answers = vec![None; self.variants.len()];
        for ((side, place), plans) in sides.iter_mut().zip(places).zip(&mut plans) {
            if failure.is_some() {
                break;
            }
            let question = self.questions.get(*place).and_then(Option::as_deref);
            let explained = explain(side, question, plans).await;
            match explained {
                Ok(answer) => answers[*place] = answer,
                Err(error) => failure = Some(side.blamed(error)),
            }
        }
        let own = |it: &&SqlStatement| !is_setting(it);
        let findings = measured.comparisons.into_iter().map(|mut it| {
            let of_sides = [0, it.side];
            let [before, after] = of_sides.map(|side| {
                let mut statements = sides[side].statements.iter().filter(own);
                let statement = statements.nth(it.statement);
                statement.expect("each side has every statement")
            });
            let name = statement_name(before, it.statement);
            let texts = [before, after].map(|it| String::from_utf8_lossy(it.text()).into_owned());
            let plans = of_sides.map(|side| plans[side].get(it.statement).cloned().flatten());
            let variant = sides[it.side].variant.name.clone();
            it.side = places[it.side];
            Finding::new(name, variant, texts, plans, it)
        });
        let has_copies = self.variants.iter().any(|it| it.changes_server());
        Ok(Report {
            version: sides[0].session.version().to_owned(),
            baseline: self.variants[0].name.clone(),
            copied: self.connection.server.clone().filter(|_| has_copies),
            terms: self.terms,
            blocks: measured.blocks,
            findings: findings.collect(),
            answers,
            left_out,
            failure,
        })
    }
}

fn changing_count(variants: &[&Variant]) -> usize {
    variants.iter().filter(|it| it.changes_server()).count()
}

/// Adds the plans of a side's statements, without those of settings, and asks its question.
async fn explain(
    side: &mut Side<'_>,
    question: Option<&str>,
    plans: &mut Vec<Option<ExplainedPlan>>,
) -> Result<Option<f64>, Blamed> {
    for statement in side.statements {
        let plan = explained_plan(&mut side.session, statement).await?;
        if !is_setting(statement) {
            plans.push(plan);
        }
    }
    match question {
        Some(question) => answer(&mut side.session, question).await,
        None => Ok(None),
    }
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
