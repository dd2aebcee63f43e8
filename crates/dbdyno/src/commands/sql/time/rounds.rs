//! Rounds over all statements, in their order.

use std::time::Duration;

use runs::Blamed;
use workload::sql_script::SqlStatement;

use super::{
    costs::Counters,
    figures::{Median, Timed},
};
use crate::commands::sql::{
    effect::{Effect, effect_of, obstacle},
    input::is_setting,
    session::{Failure, Session},
};

/// The statements with their times so far.
pub(super) struct Rounds<'a> {
    statements: &'a [SqlStatement],
    commit: bool,
    timed: Vec<Timed>,
}

/// One execution.
struct Execution {
    time_s: f64,
    rows: u64,
    warnings: u32,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(statements: &'a [SqlStatement], commit: bool) -> Self {
        let timed = statements.iter().enumerate().map(|(at, statement)| Timed {
            name: statement
                .label()
                .map_or_else(|| format!("{}", at + 1), str::to_owned),
            statement: Some(statement.clone()),
            is_rolled_back: !commit && effect_of(statement) == Effect::Changes,
            ..Timed::default()
        });
        Self {
            statements,
            commit,
            timed: timed.collect(),
        }
    }

    /// The statements that were timed.
    pub(super) fn timed(self) -> Vec<Timed> {
        let is_timed = |(statement, _): &(&SqlStatement, Timed)| !is_setting(statement);
        let all = self.statements.iter().zip(self.timed);
        all.filter(is_timed).map(|(_, timed)| timed).collect()
    }

    /// A round after a restart.
    pub(super) async fn cold(&mut self, session: &mut Session) -> Result<(), Blamed> {
        self.check(session).await?;
        self.round(session, |timed, time_s| timed.cold_s.push(time_s))
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
        self.check(session).await?;
        self.round(session, |timed, time_s| timed.first_s = Some(time_s))
            .await?;
        let started = reactor::now();
        for _ in 0..runs {
            self.round(session, |timed, time_s| timed.warm_s.push(time_s))
                .await?;
            if reactor::now() - started >= budget || self.is_precise(precision) {
                break;
            }
        }
        Ok(())
    }

    /// One more execution of each statement, between two readings of the counters.
    pub(super) async fn costs(&mut self, session: &mut Session) -> Result<(), Blamed> {
        for at in 0..self.statements.len() {
            let statement = &self.statements[at];
            if is_setting(statement) {
                self.execute(session, at).await?;
                continue;
            }
            let endpoint = session.endpoint().clone();
            let blamed = |failure: Failure| failure.blamed(&endpoint, statement);
            let reading_before = Counters::read(session).await.map_err(blamed)?;
            let before = Counters::read(session).await.map_err(blamed)?;
            self.execute(session, at).await?;
            let after = Counters::read(session).await.map_err(blamed)?;
            self.timed[at].costs = after.since(&before, &before, &reading_before);
        }
        Ok(())
    }

    /// Refuses what a rollback would not take back, before anything is executed.
    async fn check(&self, session: &mut Session) -> Result<(), Blamed> {
        for (statement, timed) in self.statements.iter().zip(&self.timed) {
            if !timed.is_rolled_back {
                continue;
            }
            let endpoint = session.endpoint().clone();
            let obstacle = obstacle(session, statement).await;
            if let Some(obstacle) =
                obstacle.map_err(|failure| failure.blamed(&endpoint, statement))?
            {
                let message = format!("{}: not executed: {obstacle}", statement.place());
                let hint = "--commit executes it and keeps what it changes".to_owned();
                return Err(Blamed::new(runs::Blame::Input, message).hint(hint));
            }
        }
        Ok(())
    }

    fn is_precise(&self, precision: f64) -> bool {
        let mut medians = self.timed.iter().filter(|it| it.first_s.is_some());
        medians.all(|it| Median::of(&it.warm_s).is_some_and(|median| median.is_within(precision)))
    }

    async fn round(
        &mut self,
        session: &mut Session,
        note: impl Fn(&mut Timed, f64),
    ) -> Result<(), Blamed> {
        for at in 0..self.statements.len() {
            let execution = self.execute(session, at).await?;
            if is_setting(&self.statements[at]) {
                continue;
            }
            let timed = &mut self.timed[at];
            timed.rows = execution.rows;
            timed.warnings = execution.warnings;
            note(timed, execution.time_s);
        }
        Ok(())
    }

    async fn execute(&self, session: &mut Session, at: usize) -> Result<Execution, Blamed> {
        let statement = &self.statements[at];
        let endpoint = session.endpoint().clone();
        let blamed = |failure: Failure| failure.blamed(&endpoint, statement);
        let in_transaction = self.timed[at].is_rolled_back && !self.commit;
        if in_transaction {
            session.rows("START TRANSACTION").await.map_err(blamed)?;
        }
        let started = reactor::now();
        let outcome = session.count(statement.text()).await;
        let time_s = (reactor::now() - started).as_secs_f64();
        if in_transaction {
            session.rows("ROLLBACK").await.map_err(blamed)?;
        }
        let outcome = outcome.map_err(blamed)?;
        Ok(Execution {
            time_s,
            rows: if outcome.result_sets > 0 {
                outcome.rows
            } else {
                outcome.affected_rows
            },
            warnings: outcome.warnings,
        })
    }
}
