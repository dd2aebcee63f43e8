//! Executions of statements, each within its guard.

use blame::{Blame, Blamed};
use protocol::{AnswerMoments, RowsChecksum};
use reactor::Instant;
use sqltext::SqlStatement;

use super::{
    counters::Counters,
    examination::Examination,
    guard::{Guard, NOT_COMPLETE},
    session::{Failure, Session},
    setting::is_setting,
    statement_event::StatementEvent,
};

pub(super) struct GuardedStatements<'a> {
    statements: &'a [SqlStatement],
    guards: Vec<Guard>,
    /// What to do about a statement that changes data for good.
    hint: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Execution {
    /// From sending the statement to the last byte of its result, seconds.
    pub(super) time_s: f64,
    /// Rows received or changed.
    pub(super) rows: u64,
    pub(super) warnings: u32,
    pub(super) parts: Parts,
}

/// The parts of an execution's time, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Parts {
    /// Until the statement was given to the operating system.
    pub(super) send_s: f64,
    /// From then to the first byte of the answer.
    pub(super) server_s: f64,
    /// From the first byte to the first row, in which the columns are described.
    pub(super) first_row_s: f64,
    /// From the first row to the end; without rows from the first byte.
    pub(super) fetch_s: f64,
}

impl Parts {
    fn of(started: Instant, moments: AnswerMoments, ended: Instant) -> Self {
        let first_row = moments.first_row.unwrap_or(moments.first_byte);
        Self {
            send_s: (moments.sent - started).as_secs_f64(),
            server_s: (moments.first_byte - moments.sent).as_secs_f64(),
            first_row_s: (first_row - moments.first_byte).as_secs_f64(),
            fetch_s: (ended - first_row).as_secs_f64(),
        }
    }
}

impl<'a> GuardedStatements<'a> {
    /// `commit` keeps what the statements change.
    pub(super) fn new(
        statements: &'a [SqlStatement],
        commit: bool,
        hint: Option<&'static str>,
    ) -> Self {
        let guards = statements.iter().map(|it| Guard::of(it, commit)).collect();
        Self {
            statements,
            guards,
            hint,
        }
    }

    pub(super) fn all(&self) -> &'a [SqlStatement] {
        self.statements
    }

    /// Whether each execution of a statement is rolled back.
    pub(super) fn is_rolled_back(&self, at: usize) -> bool {
        self.guards[at] == Guard::RollBack
    }

    /// Refuses what a rollback would not take back, before anything is executed but settings: `before` those of the
    /// session, then those among the statements. A session of its own takes them, and twice, since from the second round
    /// on they hold for the statements before them, too.
    pub(super) async fn check(
        &self,
        session: &Session,
        before: impl Iterator<Item = &SqlStatement>,
    ) -> Result<(), Blamed> {
        let mut session = session.another().await?;
        let checked = self.check_in(&mut session, before).await;
        session.close().await;
        checked
    }

    async fn check_in(
        &self,
        session: &mut Session,
        before: impl Iterator<Item = &SqlStatement>,
    ) -> Result<(), Blamed> {
        let mut examination = Examination::default();
        for setting in before {
            examination.set(session, setting).await?;
        }
        let rounds = if self.statements.iter().any(is_setting) {
            2
        } else {
            1
        };
        for _ in 0..rounds {
            for (statement, guard) in self.statements.iter().zip(&self.guards) {
                if is_setting(statement) {
                    examination.set(session, statement).await?;
                    continue;
                }
                examination.check_text(session, statement).await?;
                let Some(access) = guard.access(statement) else {
                    continue;
                };
                let obstacle = examination.obstacle(session, statement, access).await?;
                if let Some(obstacle) = obstacle {
                    let message = format!("{}: not executed: {obstacle}", statement.place());
                    return Err(self.refusal(message));
                }
            }
        }
        Ok(())
    }

    fn refusal(&self, message: String) -> Blamed {
        Blamed::new(Blame::Input, message).hint(self.hint.map(str::to_owned))
    }

    /// One execution. After a failure the server rolls back with the end of the session.
    pub(super) async fn execute(
        &self,
        session: &mut Session,
        at: usize,
    ) -> Result<Execution, Blamed> {
        self.begin(session, at).await?;
        let execution = self.measure(session, at).await?;
        self.end(session, at).await?;
        Ok(execution)
    }

    /// One execution whose rows are added up, with a checksum of them or of the number of changed rows; and the
    /// server's warnings: number and text.
    pub(super) async fn result(
        &self,
        session: &mut Session,
        at: usize,
    ) -> Result<(StatementResult, Vec<(u32, String)>), Blamed> {
        let statement = &self.statements[at];
        self.begin(session, at).await?;
        let started = reactor::now();
        let summed = session.checksum(statement.text()).await;
        let time_s = (reactor::now() - started).as_secs_f64();
        let (outcome, rows) = summed.map_err(|failure| self.failed(session, at, failure))?;
        let warnings = match outcome.warnings {
            0 => Vec::new(),
            // Before the end of the transaction, which has warnings of its own.
            _ => {
                let warnings = session.warnings().await;
                warnings.map_err(|failure| self.failed(session, at, failure))?
            }
        };
        self.end(session, at).await?;
        let result = StatementResult {
            time_s,
            rows,
            changed: outcome.affected_rows,
            warnings: outcome.warnings,
        };
        Ok((result, warnings))
    }

    /// What one more execution adds to the counters.
    pub(super) async fn costs(
        &self,
        session: &mut Session,
        at: usize,
    ) -> Result<Vec<(String, i64)>, Blamed> {
        let costs = self.counted(session, at).await?;
        self.end(session, at).await?;
        Ok(costs)
    }

    /// The same, and what performance_schema says about the execution, or why it does not.
    pub(super) async fn costs_and_event(
        &self,
        session: &mut Session,
        at: usize,
    ) -> Result<(Vec<(String, i64)>, Result<StatementEvent, String>), Blamed> {
        let costs = self.counted(session, at).await?;
        let statement = &self.statements[at];
        let event = StatementEvent::read(session, statement.text(), Counters::STATEMENTS).await;
        let event = event.map_err(|failure| failure.blamed(session.endpoint(), statement))?;
        self.end(session, at).await?;
        Ok((costs, event))
    }

    /// One execution between two readings of the counters, within its transaction, which stays open: its own commands
    /// are not counted.
    async fn counted(
        &self,
        session: &mut Session,
        at: usize,
    ) -> Result<Vec<(String, i64)>, Blamed> {
        let statement = &self.statements[at];
        let endpoint = session.endpoint().clone();
        let blamed = |failure: Failure| failure.blamed(&endpoint, statement);
        self.begin(session, at).await?;
        let reading_before = Counters::read(session).await.map_err(blamed)?;
        let before = Counters::read(session).await.map_err(blamed)?;
        self.measure(session, at).await?;
        let after = Counters::read(session).await.map_err(blamed)?;
        Ok(after.since(&before, &before, &reading_before))
    }

    async fn begin(&self, session: &mut Session, at: usize) -> Result<(), Blamed> {
        let endpoint = session.endpoint().clone();
        let begun = self.guards[at].begin(session).await;
        begun.map_err(|failure| failure.blamed(&endpoint, &self.statements[at]))
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
            "{}: stopped after an execution that was not rolled back: {warning}",
            statement.place()
        );
        Err(Blamed {
            server_error: Some(NOT_COMPLETE),
            ..self.refusal(message)
        })
    }

    async fn measure(&self, session: &mut Session, at: usize) -> Result<Execution, Blamed> {
        let started = reactor::now();
        let outcome = session.count(self.statements[at].text()).await;
        let ended = reactor::now();
        let outcome = outcome.map_err(|failure| self.failed(session, at, failure))?;
        let moments = session.moments();
        Ok(Execution {
            time_s: (ended - started).as_secs_f64(),
            parts: moments.map_or_else(Parts::default, |it| Parts::of(started, it, ended)),
            rows: if outcome.result_sets > 0 {
                outcome.rows
            } else {
                outcome.affected_rows
            },
            warnings: outcome.warnings,
        })
    }

    fn failed(&self, session: &Session, at: usize, failure: Failure) -> Blamed {
        let is_refused = self.guards[at].refused(&failure);
        let blamed = failure.blamed(session.endpoint(), &self.statements[at]);
        if is_refused {
            self.refusal(blamed.message)
        } else {
            blamed
        }
    }
}

/// The result of a statement, for a comparison with another one.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementResult {
    /// Time of this execution, seconds.
    pub(super) time_s: f64,
    pub(super) rows: RowsChecksum,
    /// Rows changed.
    pub(super) changed: u64,
    pub(super) warnings: u32,
}
