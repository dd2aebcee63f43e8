//! Candidates measured one after the other on two copies of a private server: one stays as it is, and the other has the
//! candidate of the round, which is taken back.
//!
//! A copy for each candidate needs as much memory and disk as all of them together, so that most found none.

mod changes;
mod order;
mod pairs;
mod servers;

use std::{collections::VecDeque, time::Duration};

use blame::{Blame, Blamed};
use protocol::Endpoint;
use runs::{Context, Length, Purpose};
use sqltext::SqlStatement;

use self::{
    order::{budget_of_round, chosen, needs_server, rounds, side_change},
    pairs::{PAIRS_AT_MOST, best_pair, has_pairs},
    servers::Servers,
};
use super::{
    candidate::{Parts, Remedy},
    diagnosis::{Advice, Diagnosis, TrialTime},
    proof::Proof,
};
use crate::{
    compare::{Contest, NewIndexes, Report, SideError, TrialParameters, Variant, change},
    connection::Connection,
    execution_counts::ExecutionCounts,
    other_work::{self, OtherWork},
    session::Session,
    setting::{is_setting, sets_variables},
};

/// Blocks of a round at most.
const BLOCKS_AT_MOST: usize = 20;

/// How candidates are measured.
pub struct Rounds<'a> {
    /// The statements that the advice is for.
    pub statements: &'a [SqlStatement],
    /// Their executions, by which their times are added up.
    pub counts: &'a ExecutionCounts,
    /// The private server that is copied.
    pub connection: &'a dyn Connection,
    /// Receives notes and progress.
    pub context: &'a Context,
    /// Candidates at most, besides fresh statistics.
    pub at_most: usize,
    /// Time of all timed blocks; copies, indexes, statistics and untimed executions come on top.
    pub budget: Duration,
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// Of the order of execution.
    pub seed: u64,
    /// Time limit of each statement.
    pub timeout: Duration,
}

/// The time of a round, and why it ended all of them.
#[derive(Default)]
struct RoundEnd {
    took: Duration,
    failure: Option<Blamed>,
}

/// A candidate in a round.
struct Side {
    /// Index of its advice.
    place: usize,
    /// The settings of its session.
    variant: Variant,
    /// What changes its server: the parts, and their variant.
    changes: Option<(Parts, Variant)>,
    statements: Vec<SqlStatement>,
    /// Places of the statements for which it changes nothing.
    unaffected: Vec<usize>,
    indexes: Option<NewIndexes>,
}

impl Rounds<'_> {
    /// Measures the candidates, and notes what came of each. Returns why the measurement ended early, if it did, and why
    /// a copy was not removed.
    pub fn run(&self, diagnosis: &mut Diagnosis) -> Result<[Option<Blamed>; 2], Blamed> {
        let started = reactor::system_now();
        let ended = self.try_all(diagnosis)?;
        diagnosis.trial = Some(TrialTime {
            budget: self.budget,
            whole: reactor::system_now() - started,
        });
        Ok(ended)
    }

    fn try_all(&self, diagnosis: &mut Diagnosis) -> Result<[Option<Blamed>; 2], Blamed> {
        let places = chosen(&diagnosis.advice, self.at_most);
        let changes_server = |(place, it): (usize, &Advice)| match &it.candidate.remedy {
            Remedy::Statistics(_) => true,
            Remedy::Side(change) => places.contains(&place) && needs_server(change),
            Remedy::Author(_) => false,
        };
        if !diagnosis.advice.iter().enumerate().any(changes_server) {
            let servers = Servers::named(self.connection.endpoint()?);
            return Ok([self.measure(diagnosis, &servers, self.budget)?, None]);
        }
        let mut with_options = Vec::new();
        let changes = places
            .iter()
            .filter_map(|place| side_change(&diagnosis.advice[*place]));
        for change in changes {
            if change.parts.is_option() {
                let variant = parsed(&change.name, &change.parts.text())?;
                with_options.push((change.parts.clone(), variant));
            }
        }
        let (servers, copies) = Servers::copied(self.connection, with_options, self.context)?;
        let mut others = OtherWork::beside(&servers.pids);
        let measured = self.measure_on_copies(diagnosis, &servers);
        if let Some(share) = others.notable_share() {
            other_work::report(share, self.context);
        }
        // The copies are removed whether the measurement succeeded or not, and it counts whether they were or not.
        let destroyed = copies.destroy();
        Ok([measured?, destroyed.err()])
    }

    /// Refreshes the statistics before an index is judged: with wrong ones the optimizer ignores it.
    fn measure_on_copies(
        &self,
        diagnosis: &mut Diagnosis,
        servers: &Servers,
    ) -> Result<Option<Blamed>, Blamed> {
        let statistics = diagnosis.advice.iter().position(Advice::is_statistics);
        let mut left = self.budget;
        if let Some(place) = statistics {
            let ended = self.statistics(diagnosis, place, servers)?;
            left = left.saturating_sub(ended.took);
            if ended.failure.is_some() {
                return Ok(ended.failure);
            }
        }
        let renewed = reactor::block_on(async {
            for endpoint in servers.copies() {
                self.analyze(endpoint, &diagnosis.tables).await?;
            }
            if statistics.is_none() && !diagnosis.is_estimated {
                return Ok(None);
            }
            let mut session = Session::open(&servers.baseline, self.timeout).await?;
            let fresh = Diagnosis::of(&mut session, self.statements, self.counts, self.context);
            let fresh = fresh.await;
            session.close().await;
            fresh.map(Some)
        });
        match renewed.map_err(Blamed::machine)? {
            // The advice would be for other statements than those that are measured.
            Ok(Some(fresh)) if !fresh.failed.is_empty() => return Ok(fresh.into_failure()),
            Ok(Some(fresh)) => diagnosis.renew(fresh),
            Ok(None) => {}
            Err(error) => return Ok(Some(error)),
        }
        self.measure(diagnosis, servers, left)
    }

    /// The round of fresh statistics, which stay on their copy.
    fn statistics(
        &self,
        diagnosis: &mut Diagnosis,
        place: usize,
        servers: &Servers,
    ) -> Result<RoundEnd, Blamed> {
        let words = diagnosis.advice[place].candidate.remedy.words();
        let variant = parsed("statistics", &words)?;
        let endpoint = match &servers.changed {
            Ok(endpoint) => endpoint,
            Err(why) => {
                diagnosis.advice[place].proof = Some(Proof::CannotBeMade(why.clone()));
                return Ok(RoundEnd::default());
            }
        };
        let _step = self
            .context
            .step(&format!("trying {words}"), Length::Unknown);
        let made = reactor::block_on(async {
            let changed = change(&variant, endpoint, self.limit()).await;
            changed.map_err(SideError::of_one)?;
            let both = [&servers.baseline, endpoint].map(|it| (it, self.statements));
            self.plan_effect(both, &[]).await
        });
        let effect = match made.map_err(Blamed::machine)? {
            Err(error) => return Ok(not_made(diagnosis, &[place], error)),
            Ok(effect) => effect,
        };
        let side = Side {
            place,
            variant: of_session(&variant),
            changes: None,
            statements: self.statements.to_vec(),
            unaffected: effect.unaffected,
            indexes: None,
        };
        let terms = self.terms(self.budget / 2, 1);
        Ok(self.contest(diagnosis, &[side], servers, endpoint, terms))
    }

    /// Measures the first candidates in rounds, the best by the plans first, and then pairs of indexes.
    fn measure(
        &self,
        diagnosis: &mut Diagnosis,
        servers: &Servers,
        mut left: Duration,
    ) -> Result<Option<Blamed>, Blamed> {
        let places = chosen(&diagnosis.advice, self.at_most);
        let mut waiting = VecDeque::from(rounds(&diagnosis.advice, &places));
        let mut pairs_left = if has_pairs(diagnosis, &places) {
            PAIRS_AT_MOST
        } else {
            0
        };
        let mut room = self.at_most - places.len();
        let candidates = (places.len() + pairs_left).min(self.at_most);
        let mut failure = None;
        while failure.is_none() {
            let pair = best_pair(diagnosis).filter(|_| pairs_left > 0 && !left.is_zero());
            if let Some(pair) = &pair
                && room == 0
                && waiting
                    .back()
                    .is_some_and(|it| pair.saves_more(diagnosis, it))
            {
                // It takes the place of the last candidate.
                waiting.pop_back();
                room = 1;
            }
            let pair = pair.filter(|_| room > 0);
            let rounds_left = waiting.len() + usize::from(pair.is_some());
            let round = match (waiting.pop_front(), pair) {
                (Some(round), _) => round,
                (None, Some(pair)) => {
                    room -= 1;
                    pairs_left -= 1;
                    diagnosis.advice.push(pair.advice);
                    vec![diagnosis.advice.len() - 1]
                }
                (None, None) => break,
            };
            let terms = self.terms(budget_of_round(left, rounds_left), candidates);
            let ended = self.round(diagnosis, &round, servers, terms)?;
            left = left.saturating_sub(ended.took);
            failure = ended.failure;
        }
        for it in &mut diagnosis.advice {
            if it.is_measurable() && it.proof.is_none() {
                it.proof = Some(Proof::NotTried);
            }
        }
        Ok(failure)
    }

    /// One round: a candidate on a server of its own, or all those that need none.
    fn round(
        &self,
        diagnosis: &mut Diagnosis,
        round: &[usize],
        servers: &Servers,
        terms: TrialParameters,
    ) -> Result<RoundEnd, Blamed> {
        let mut sides = Vec::new();
        for place in round {
            sides.extend(self.side(*place, &diagnosis.advice[*place])?);
        }
        let Some(first) = sides.first() else {
            return Ok(RoundEnd::default());
        };
        let _step = self
            .context
            .step(&format!("trying {}", first.variant.name), Length::Unknown);
        let Some((parts, variant)) = &first.changes else {
            return Ok(self.contest(diagnosis, &sides, servers, &servers.baseline, terms));
        };
        let endpoint = match servers.of(parts) {
            Ok(endpoint) => endpoint,
            Err(why) => {
                diagnosis.advice[first.place].proof = Some(Proof::CannotBeMade(why));
                return Ok(RoundEnd::default());
            }
        };
        let Some(indexes) = first.indexes.clone() else {
            return Ok(self.contest(diagnosis, &sides, servers, endpoint, terms));
        };
        let made = reactor::block_on(async {
            let changed = change(variant, endpoint, self.limit()).await;
            changed.map_err(SideError::of_one)?;
            let before = (&servers.baseline, self.statements);
            let after = (endpoint, first.statements.as_slice());
            self.plan_effect([before, after], &indexes.names).await
        });
        let place = first.place;
        let mut ended = match made.map_err(Blamed::machine)? {
            Err(error) => not_made(diagnosis, &[place], error),
            Ok(effect) if !effect.is_used => {
                diagnosis.advice[place].proof = Some(Proof::Unused);
                RoundEnd::default()
            }
            Ok(effect) => {
                sides[0].unaffected = effect.unaffected;
                self.contest(diagnosis, &sides, servers, endpoint, terms)
            }
        };
        if ended.failure.is_none() {
            let undone = reactor::block_on(self.undone(endpoint, &indexes));
            ended.failure = undone.map_err(Blamed::machine)?.err();
        }
        Ok(ended)
    }

    /// The side of a candidate; `None` if it has none.
    fn side(&self, place: usize, advice: &Advice) -> Result<Option<Side>, Blamed> {
        let Some(change) = side_change(advice) else {
            return Ok(None);
        };
        let variant = match &change.parts {
            Parts::None => Variant {
                name: change.name.clone(),
                ..Variant::default()
            },
            parts => parsed(&change.name, &parts.text())?,
        };
        let mut statements = self.statements.to_vec();
        if let Some(text) = &change.text {
            statements[advice.at] = statements[advice.at].reworded(text.as_bytes());
        }
        let is_text_alone = matches!(change.parts, Parts::None);
        let others = (0..statements.len()).filter(|at| is_text_alone && *at != advice.at);
        let is_needed = |it: &SqlStatement| is_setting(it) || sets_variables(it);
        let unaffected = others.filter(|at| !is_needed(&statements[*at])).collect();
        Ok(Some(Side {
            place,
            variant: of_session(&variant),
            changes: needs_server(change).then(|| (change.parts.clone(), variant)),
            statements,
            unaffected,
            indexes: change.parts.indexes().cloned(),
        }))
    }

    /// Compares the sides on a server with the baseline, and notes what came of each.
    fn contest(
        &self,
        diagnosis: &mut Diagnosis,
        sides: &[Side],
        servers: &Servers,
        endpoint: &Endpoint,
        terms: TrialParameters,
    ) -> RoundEnd {
        // It has no name: its errors are those of the statements.
        let baseline = Variant::default();
        let variants = [&baseline].into_iter();
        let variants: Vec<&Variant> = variants.chain(sides.iter().map(|it| &it.variant)).collect();
        let own = sides.iter().map(|it| it.statements.clone());
        let statements: Vec<Vec<SqlStatement>> =
            [self.statements.to_vec()].into_iter().chain(own).collect();
        let skipped = sides.iter().map(|it| it.unaffected.clone());
        let skipped = [unaffected_by_all(sides)].into_iter().chain(skipped);
        let skipped: Vec<Vec<usize>> = skipped.collect();
        let indexes = sides.iter().map(|it| it.indexes.clone());
        let indexes: Vec<Option<NewIndexes>> = [None].into_iter().chain(indexes).collect();
        let own = self.statements.iter().filter(|it| !is_setting(it));
        let weights: Vec<f64> = own.map(|it| self.counts.weight(it)).collect();
        let endpoints = sides.iter().map(|_| Ok(endpoint.clone()));
        let endpoints: Vec<Result<Endpoint, String>> = [Ok(servers.baseline.clone())]
            .into_iter()
            .chain(endpoints)
            .collect();
        let contest = Contest {
            context: self.context,
            variants: &variants,
            statements: &statements,
            skipped: &skipped,
            connection: self.connection,
            setup: None,
            terms,
            weights: &weights,
            timeout: self.timeout,
            indexes: &indexes,
            leaves_out: true,
        };
        match contest.measure(&endpoints, &servers.pids) {
            Ok(report) => {
                note(diagnosis, sides, &report);
                diagnosis.blocks_took += report.took;
                RoundEnd {
                    took: report.took,
                    failure: report.failure,
                }
            }
            Err(error) => {
                let places: Vec<usize> = sides.iter().map(|it| it.place).collect();
                not_made(diagnosis, &places, error)
            }
        }
    }

    /// The terms of a round, of which each of this number of candidates has one comparison for each statement, and one
    /// for the sum of several.
    fn terms(&self, budget: Duration, candidates: usize) -> TrialParameters {
        let statements = self.statements.iter().filter(|it| !is_setting(it)).count();
        let sums = usize::from(statements > 1);
        TrialParameters {
            blocks: BLOCKS_AT_MOST,
            budget,
            margin: self.margin,
            is_beyond_margin: true,
            seed: self.seed,
            family: candidates * (statements + sums),
        }
    }

    /// Time limit of what prepares a copy.
    fn limit(&self) -> Duration {
        let limit = self.connection.statement_timeout();
        limit.unwrap_or(Purpose::Work.limit())
    }
}

/// Notes what a report says about each side.
fn note(diagnosis: &mut Diagnosis, sides: &[Side], report: &Report) {
    for (number, side) in sides.iter().enumerate() {
        let advice = &mut diagnosis.advice[side.place];
        let proof = match &report.left_out[number + 1] {
            Some(why) => Proof::CannotBeMade(why.clone()),
            None => Proof::of(report, number + 1, &advice.statements()),
        };
        advice.proof = Some(proof);
        advice.unaffected = side.unaffected.len();
    }
}

/// Places of the statements for which no side changes anything, so that the baseline does not execute them either.
fn unaffected_by_all(sides: &[Side]) -> Vec<usize> {
    let Some((first, others)) = sides.split_first() else {
        return Vec::new();
    };
    let is_of_all = |at: &&usize| others.iter().all(|side| side.unaffected.contains(at));
    let of_all = first.unaffected.iter().filter(is_of_all);
    of_all.copied().collect()
}

/// Notes why candidates were not made; an error of the baseline and an interruption end all rounds.
fn not_made(diagnosis: &mut Diagnosis, places: &[usize], error: SideError) -> RoundEnd {
    let SideError { error, is_of_all } = error;
    if is_of_all || error.blame == Blame::Interrupted {
        return RoundEnd {
            failure: Some(error),
            ..RoundEnd::default()
        };
    }
    for place in places {
        let why = error.message.clone();
        diagnosis.advice[*place].proof = Some(Proof::CannotBeMade(why));
    }
    RoundEnd::default()
}

/// The variant of these parts.
fn parsed(name: &str, parts: &str) -> Result<Variant, Blamed> {
    let variant = Variant::parse(&format!("{name}: {parts}"));
    variant.map_err(|error| Blamed::new(Blame::Server, error))
}

/// A variant on a server that has its changes already.
fn of_session(variant: &Variant) -> Variant {
    Variant {
        name: variant.name.clone(),
        sql: variant.settings().cloned().collect(),
        ..Variant::default()
    }
}

#[cfg(test)]
mod tests;
