//! Rounds over all statements, in their order.

use std::time::Duration;

use runs::{Blame, Blamed};
use workload::sql_script::SqlStatement;

use super::{
    costs::Counters,
    figures::{Median, Timed},
    guard::Guard,
};
use crate::commands::sql::{
    effect::{obstacle, server_schema},
    input::is_setting,
    session::{Failure, Session},
};

/// What to do about a statement that changes data for good.
const KEEP: &str = "--commit executes it and keeps what it changes";

/// The statements with their times so far.
pub(super) struct Rounds<'a> {
    statements: &'a [SqlStatement],
    guards: Vec<Guard>,
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
        let guards: Vec<Guard> = statements
            .iter()
            .map(|statement| Guard::of(statement, commit))
            .collect();
        let timed = statements.iter().enumerate().map(|(at, statement)| Timed {
            name: statement
                .label()
                .map_or_else(|| format!("{}", at + 1), str::to_owned),
            statement: Some(statement.clone()),
            is_rolled_back: guards[at] == Guard::RollBack,
            ..Timed::default()
        });
        let timed = timed.collect();
        Self {
            statements,
            guards,
            timed,
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
            // Read within the transaction, so that its own commands are not counted.
            self.guards[at].begin(session).await.map_err(blamed)?;
            let reading_before = Counters::read(session).await.map_err(blamed)?;
            let before = Counters::read(session).await.map_err(blamed)?;
            self.measure(session, at).await?;
            let after = Counters::read(session).await.map_err(blamed)?;
            self.end(session, at).await?;
            self.timed[at].costs = after.since(&before, &before, &reading_before);
        }
        Ok(())
    }

    /// Refuses what a rollback would not take back, before anything is executed.
    async fn check(&self, session: &mut Session) -> Result<(), Blamed> {
        self.check_databases()?;
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
                return Err(Blamed::new(Blame::Input, message).hint(KEEP.to_owned()));
            }
        }
        Ok(())
    }

    /// Refuses a change of the database to one of the server's if a statement shall be rolled back. From the second
    /// round on it takes effect for the statements before it, too.
    fn check_databases(&self) -> Result<(), Blamed> {
        if !self.guards.contains(&Guard::RollBack) {
            return Ok(());
        }
        let mut changes = self.statements.iter().filter(|it| it.verb() == "USE");
        let Some((change, schema)) = changes.find_map(|it| Some((it, server_schema(it)?))) else {
            return Ok(());
        };
        let message = format!(
            "{}: not executed: not every table of schema {schema} has transactions",
            change.place()
        );
        Err(Blamed::new(Blame::Input, message).hint(KEEP.to_owned()))
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
        let begun = self.guards[at].begin(session).await;
        begun.map_err(|failure| failure.blamed(&endpoint, statement))?;
        // After a failure the server rolls back with the end of the session.
        let execution = self.measure(session, at).await?;
        self.end(session, at).await?;
        Ok(execution)
    }

    /// Ends the transaction of a statement; an error if the statement left something behind.
    async fn end(&self, session: &mut Session, at: usize) -> Result<(), Blamed> {
        let statement = &self.statements[at];
        let endpoint = session.endpoint().clone();
        let ended = self.guards[at].end(session).await;
        let Some(warning) = ended.map_err(|failure| failure.blamed(&endpoint, statement))? else {
            return Ok(());
        };
        let message = format!(
            "{}: ended after an execution that was not rolled back: {warning}",
            statement.place()
        );
        Err(Blamed::new(Blame::Input, message).hint(KEEP.to_owned()))
    }

    async fn measure(&self, session: &mut Session, at: usize) -> Result<Execution, Blamed> {
        let statement = &self.statements[at];
        let started = reactor::now();
        let outcome = session.count(statement.text()).await;
        let time_s = (reactor::now() - started).as_secs_f64();
        let outcome = outcome.map_err(|failure| {
            let is_refused = self.guards[at].refused(&failure);
            let blamed = failure.blamed(session.endpoint(), statement);
            if is_refused {
                Blamed::new(Blame::Input, blamed.message).hint(KEEP.to_owned())
            } else {
                blamed
            }
        })?;
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
