//! Rounds over all statements, in their order.

use std::{iter, time::Duration};

use blame::Blamed;
use sqltext::SqlStatement;

use super::figures::{Median, Timed};
use crate::{
    execution::{Execution, GuardedStatements},
    session::Session,
    setting::is_setting,
    statement_text::statement_name,
};

/// What to do about a statement that changes data for good.
const KEEP: &str = "with --commit, it is executed and its changes are kept";

/// The statements with their times so far.
pub(super) struct Rounds<'a> {
    statements: GuardedStatements<'a>,
    timed: Vec<Timed>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(statements: &'a [SqlStatement], commit: bool) -> Self {
        let guarded = GuardedStatements::new(statements, commit, Some(KEEP));
        let timed = statements.iter().enumerate().map(|(at, statement)| Timed {
            name: statement_name(statement, at),
            statement: Some(statement.clone()),
            is_rolled_back: guarded.is_rolled_back(at),
            ..Timed::default()
        });
        let timed = timed.collect();
        Self {
            statements: guarded,
            timed,
        }
    }

    pub(super) fn timed(self) -> Vec<Timed> {
        let is_timed = |(statement, _): &(&SqlStatement, Timed)| !is_setting(statement);
        let all = self.statements.all().iter().zip(self.timed);
        all.filter(is_timed).map(|(_, timed)| timed).collect()
    }

    /// A round after a restart.
    pub(super) async fn cold(&mut self, session: &mut Session) -> Result<(), Blamed> {
        self.statements.check(session, iter::empty()).await?;
        self.round(session, |timed, it| timed.cold_s.push(it.time_s))
            .await
    }

    /// The first round, and those after it.
    pub(super) async fn warm(
        &mut self,
        session: &mut Session,
        runs: u32,
        budget: Duration,
        precision: f64,
    ) -> Result<(), Blamed> {
        self.statements.check(session, iter::empty()).await?;
        self.round(session, |timed, it| timed.first_s = Some(it.time_s))
            .await?;
        let started = reactor::now();
        for _ in 0..runs {
            let note = |timed: &mut Timed, it: Execution| {
                timed.warm_s.push(it.time_s);
                timed.parts.push(it.parts);
            };
            self.round(session, note).await?;
            if reactor::now() - started >= budget || self.is_precise(precision) {
                break;
            }
        }
        Ok(())
    }

    /// One more execution of each statement, between two readings of the counters. Returns why performance_schema says
    /// nothing about it, if it does not.
    pub(super) async fn costs(&mut self, session: &mut Session) -> Result<Option<String>, Blamed> {
        let mut missing = None;
        for (at, statement) in self.statements.all().iter().enumerate() {
            if is_setting(statement) {
                self.statements.execute(session, at).await?;
            } else {
                let (costs, event) = self.statements.costs_and_event(session, at).await?;
                let timed = &mut self.timed[at];
                timed.costs = costs;
                match event {
                    Ok(event) => timed.event = Some(event),
                    Err(why) => missing = Some(why),
                }
            }
        }
        Ok(missing)
    }

    fn is_precise(&self, precision: f64) -> bool {
        let mut medians = self.timed.iter().filter(|it| it.first_s.is_some());
        medians.all(|it| Median::of(&it.warm_s).is_some_and(|median| median.is_within(precision)))
    }

    async fn round(
        &mut self,
        session: &mut Session,
        note: impl Fn(&mut Timed, Execution),
    ) -> Result<(), Blamed> {
        for (at, statement) in self.statements.all().iter().enumerate() {
            let execution = self.statements.execute(session, at).await?;
            if is_setting(statement) {
                continue;
            }
            let timed = &mut self.timed[at];
            timed.rows = execution.rows;
            timed.warnings = execution.warnings;
            note(timed, execution);
        }
        Ok(())
    }
}
