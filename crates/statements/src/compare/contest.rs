//! Sides with their servers and statements, from the copies to the findings.

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::Endpoint;
use runs::{Context, Purpose, named_server};
use server::Installation;
use sqltext::SqlStatement;
use verdict::Decision;

use super::{
    comparison::{Comparison, is_beyond_others},
    copies::{Copies, Setup},
    finding::{Finding, Report},
    hint_warnings::{self, Warned},
    hints,
    index_price::{IndexPrice, NewIndexes, price},
    side::{self, Side, SideError},
    trial::{Trial, TrialParameters},
    variant::Variant,
};
use crate::{
    connection::Connection,
    effect::{Effect, effect_of},
    execution::GuardedStatements,
    explain::{ExplainedPlan, explained_plan},
    other_work::{self, OtherWork},
    setting::is_setting,
    statement_text::statement_name,
};

pub(crate) struct Contest<'a> {
    /// The sides, the baseline first.
    pub(crate) variants: &'a [&'a Variant],
    /// The statements of each side.
    pub(crate) statements: &'a [Vec<SqlStatement>],
    /// Places of the statements that each side does not execute, because its variant changes nothing for them; none
    /// for a side that is missing here.
    pub(crate) skipped: &'a [Vec<usize>],
    pub(crate) connection: &'a dyn Connection,
    /// Receives notes and progress.
    pub(crate) context: &'a Context,
    /// The data of new servers; `None` for copies of the named one.
    pub(crate) setup: Option<&'a Setup>,
    pub(crate) terms: TrialParameters,
    /// How many times each statement is executed, without settings. If a side makes some statements faster and others
    /// slower, the sum of their times is decided, too. Without weights no sum is decided.
    pub(crate) weights: &'a [f64],
    /// Time limit of each statement.
    pub(crate) timeout: Duration,
    /// Indexes that sides make; their price is measured where they make a statement faster.
    pub(crate) indexes: &'a [Option<NewIndexes>],
    /// Whether a side whose copy or variant cannot be made, or whose statements fail, is left out; else that is an
    /// error.
    pub(crate) leaves_out: bool,
}

/// The servers that are removed in the end, and the endpoint of each side, or why it has none.
type SideServers = (Option<Copies>, Vec<Result<Endpoint, String>>);

impl Contest<'_> {
    /// Measures on copies where a variant changes the server, and removes them.
    pub(crate) fn run(&self) -> Result<Report, Blamed> {
        let (copies, endpoints) = self.servers()?;
        let pids: Vec<u32> = copies.iter().flat_map(Copies::pids).collect();
        let report = self.measure(&endpoints, &pids);
        // The copies are removed whether the measurement succeeded or not, and it counts whether they were or not.
        let destroyed = copies.map_or(Ok(()), Copies::destroy);
        let mut report = report?;
        if let Some(share) = report.other_work {
            other_work::report(share, self.context);
        }
        report.not_removed = destroyed.err();
        Ok(report)
    }

    /// The servers of the sides: new ones with data of their own, copies where a variant changes a server, else the
    /// named server.
    fn servers(&self) -> Result<SideServers, Blamed> {
        let variants = self.variants;
        if let Some(setup) = self.setup {
            // Before a server is made.
            for variant in variants.iter().filter(|it| !it.hints.is_empty()) {
                let installation = Installation::find(variant.run.as_deref(), None)?;
                hints::check(variant, &installation.version)?;
            }
            let servers =
                Copies::with_setup(&own_of(variants), setup, self.connection, self.context)?;
            return self.assigned(servers);
        }
        let Some(changing) = variants.iter().find(|variant| variant.changes_server()) else {
            let endpoint = self.connection.endpoint()?;
            return Ok((None, vec![Ok(endpoint); variants.len()]));
        };
        let Some(name) = self.connection.server() else {
            let message = format!(
                "variant {} changes the server or its data, which is done only on a copy of a private server",
                changing.name
            );
            let hint = "name one with --server; on another server, a variant can only have SET of session \
                 variables, hints and a rewrite";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        };
        // Before the server is stopped and copied.
        let server = named_server::open(name)?;
        let version = server.installation()?.version;
        for variant in variants {
            hints::check(variant, &version)?;
        }
        if server.is_running() {
            self.check_hints()?;
        }
        let copies = Copies::make(name, &own_of(variants), self.leaves_out, self.context)?;
        self.assigned(copies)
    }

    /// Refuses hints that the server does not follow, by its warnings about the statements without the changes of a
    /// variant. A side that needs these changes is checked on its copy, as is one with statements of its own.
    fn check_hints(&self) -> Result<(), Blamed> {
        let sides = || self.variants.iter().zip(self.statements);
        let Some(plain) = sides().find(|(variant, _)| variant.hints.is_empty()) else {
            return Ok(());
        };
        let is_meant = |(variant, _): &(&&Variant, &Vec<SqlStatement>)| {
            !variant.hints.is_empty() && variant.rewrite == plain.0.rewrite
        };
        let mut hinted = sides().filter(is_meant).peekable();
        if hinted.peek().is_none() {
            return Ok(());
        }
        let endpoint = self.connection.endpoint()?;
        let checked = reactor::block_on(async {
            let mut warned = Vec::new();
            for (variant, statements) in [plain].into_iter().chain(hinted) {
                match Warned::of(variant, statements, &endpoint, self.timeout).await {
                    Ok(side) => warned.push(side),
                    Err(error) if error.blame == Blame::Interrupted => return Err(error),
                    // Without its warnings, those of the others say nothing.
                    Err(_) if warned.is_empty() => return Ok(()),
                    Err(_) => {}
                }
            }
            hint_warnings::check(&warned)
        });
        checked.map_err(Blamed::machine)?
    }

    /// The endpoints of the sides on these servers.
    fn assigned(&self, copies: Copies) -> Result<SideServers, Blamed> {
        let variants = self.variants;
        let endpoints = copies.servers().map(|server| {
            let endpoint = server.map(|it| self.connection.endpoint_of_server(it.endpoint()));
            match endpoint {
                Ok(endpoint) => endpoint.map(Ok),
                Err(why) => Ok(Err(why)),
            }
        });
        let of_copies = endpoints.collect::<Result<Vec<_>, Blamed>>()?;
        let mut changed = of_copies
            .iter()
            .skip(usize::from(of_copies.len() > changing_count(variants)));
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

    /// Measures on running servers, one for each side; `pids` are the processes of all private ones.
    pub(crate) fn measure(
        &self,
        endpoints: &[Result<Endpoint, String>],
        pids: &[u32],
    ) -> Result<Report, SideError> {
        let limit = self.connection.statement_timeout();
        let limit = limit.unwrap_or(Purpose::Work.limit());
        let measured = reactor::block_on(async {
            let mut left_out = vec![None; self.variants.len()];
            let (mut sides, mut places) = (Vec::new(), Vec::new());
            for (at, endpoint) in endpoints.iter().enumerate() {
                let endpoint = match endpoint {
                    Ok(endpoint) => endpoint,
                    Err(why) => {
                        left_out[at] = Some(why.clone());
                        continue;
                    }
                };
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
                    Err(error) => return Err(SideError::of_all(error)),
                }
            }
            let others = OtherWork::beside(pids);
            let report = self
                .measure_sides(&mut sides, &places, left_out, others)
                .await;
            for side in sides {
                side.session.close().await;
            }
            report
        });
        measured.map_err(|error| SideError::of_all(Blamed::machine(error)))?
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
        let statements = &self.statements[at];
        let opened = Side::open(variant, statements, endpoint, self.timeout).await?;
        let mut side = Side {
            is_baseline: at == 0,
            skipped: self.skipped.get(at).map_or(&[][..], Vec::as_slice),
            ..opened
        };
        if self.leaves_out && at > 0 && self.is_reworded(at) {
            // Before the blocks, whose failure would end them for all sides.
            let guarded = GuardedStatements::new(statements, false, None);
            let skipped = side.skipped;
            for statement in (0..statements.len()).filter(|at| !skipped.contains(at)) {
                guarded.execute(&mut side.session, statement).await?;
            }
        }
        Ok(side)
    }

    /// Whether a side has other statements than the baseline.
    fn is_reworded(&self, at: usize) -> bool {
        let [own, baseline] = [at, 0].map(|side| self.statements[side].iter());
        !own.map(SqlStatement::text)
            .eq(baseline.map(SqlStatement::text))
    }

    /// `places` are the indexes of the sides among the variants.
    async fn measure_sides<'a>(
        &self,
        sides: &mut [Side<'a>],
        places: &[usize],
        left_out: Vec<Option<String>>,
        mut others: OtherWork,
    ) -> Result<Report, SideError> {
        let trial = Trial::begin(sides, self.terms, self.weights).await?;
        let mut measured = trial.run(sides).await;
        let other_work = others.notable_share();
        for comparison in &mut measured.comparisons {
            let [one, other] = [0, comparison.side].map(|side| &sides[side].session);
            let is_one_server = one.endpoint().address == other.endpoint().address;
            if let Some(share) = other_work.filter(|_| !is_one_server) {
                comparison.disturb(share, one.version() == other.version());
            }
        }
        let is_disturbed = |side: usize| {
            let [one, other] = [0, side].map(|side| &sides[side].session);
            other_work.is_some() && one.endpoint().address != other.endpoint().address
        };
        for (side, total) in measured.totals.iter_mut().enumerate() {
            // No counter belongs to a sum.
            if let Some(total) = total
                && is_disturbed(side)
                && !is_beyond_others(total)
            {
                total.decision = Decision::Inconclusive;
            }
        }
        let mut totals = vec![None; self.variants.len()];
        for (place, total) in places.iter().zip(measured.totals) {
            totals[*place] = total;
        }
        let mut failure = measured.failure;
        let mut plans = vec![Vec::new(); sides.len()];
        for (side, plans) in sides.iter_mut().zip(&mut plans) {
            if failure.is_some() {
                break;
            }
            let explained = explain(side, plans).await;
            failure = explained.err().map(|error| side.blamed(error).error);
        }
        let mut prices = vec![None; self.variants.len()];
        // Last, because it changes the data of the copies.
        for (at, place) in places.iter().enumerate().skip(1) {
            let indexes = self.indexes.get(*place).and_then(Option::as_ref);
            let mut of_side = measured.comparisons.iter().filter(|it| it.side == at);
            let is_faster = of_side.any(Comparison::is_faster);
            let Some(indexes) = indexes.filter(|_| is_faster && failure.is_none()) else {
                continue;
            };
            let margin = self.terms.margin;
            match price_of(sides, at, indexes, margin, &mut others).await {
                Ok(price) => prices[*place] = Some(price),
                Err(error) => failure = Some(sides[at].blamed(error).error),
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
            let [one, other] = of_sides.map(|side| sides[side].session.version());
            let is_one_version = one == other;
            it.side = places[it.side];
            Finding {
                statement: name,
                variant,
                texts,
                plans,
                is_one_version,
                has_limit: before.has_word("limit"),
                changes_data: effect_of(before) == Effect::Changes,
                comparison: it,
            }
        });
        let versions = sides.iter().map(|side| {
            let name = side.variant.name.clone();
            (name, side.session.version().to_owned())
        });
        let has_copies = self.variants.iter().any(|it| it.changes_server());
        Ok(Report {
            version: sides[0].session.version().to_owned(),
            baseline: self.variants[0].name.clone(),
            copied: self
                .connection
                .server()
                .filter(|_| has_copies)
                .map(str::to_owned),
            setup: self.setup.map(|it| it.path.display().to_string()),
            versions: versions.collect(),
            terms: self.terms,
            blocks: measured.blocks,
            took: measured.took,
            findings: findings.collect(),
            totals,
            prices,
            left_out,
            failure,
            other_work,
            not_removed: None,
        })
    }
}

/// The variants that need a server; the first one is for all that only differ in their sessions.
fn own_of<'a>(variants: &[&'a Variant]) -> Vec<&'a Variant> {
    let session = variants.iter().find(|it| !it.changes_server());
    let changing = variants.iter().filter(|it| it.changes_server());
    session.into_iter().chain(changing).copied().collect()
}

fn changing_count(variants: &[&Variant]) -> usize {
    variants.iter().filter(|it| it.changes_server()).count()
}

/// The price of the indexes of a side.
async fn price_of(
    sides: &mut [Side<'_>],
    at: usize,
    indexes: &NewIndexes,
    margin: f64,
    others: &mut OtherWork,
) -> Result<IndexPrice, Blamed> {
    let (before, from_side) = sides.split_at_mut(at);
    let sessions = [&mut before[0].session, &mut from_side[0].session];
    price(sessions, indexes, margin, others).await
}

/// Adds the plans of a side's statements, without those of settings.
async fn explain(
    side: &mut Side<'_>,
    plans: &mut Vec<Option<ExplainedPlan>>,
) -> Result<(), Blamed> {
    for (at, statement) in side.statements.iter().enumerate() {
        let plan = if side.skips(at) {
            None
        } else {
            explained_plan(&mut side.session, statement).await?
        };
        if !is_setting(statement) {
            plans.push(plan);
        }
    }
    Ok(())
}
