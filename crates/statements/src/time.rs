//! How long statements take, how sure that is, and what they cost the server.

mod cold;
mod figures;
mod outputs;
mod rounds;

use std::time::Duration;

use blame::{Blame, Blamed};
use runs::Context;
use sqltext::SqlStatement;

use self::rounds::Rounds;
pub use self::{
    figures::{Report, Timed},
    outputs::{Layout, csv, document, json, page, table},
};
use super::{
    connection::Connection,
    effect::{Effect, effect_of, not_taken},
    session::in_session,
    setting::is_setting,
};

/// How statements are timed.
#[derive(Debug, Clone, Copy)]
pub struct TimingParameters {
    /// Rounds at most, after the first one.
    pub rounds: u32,
    /// Rounds end when each median is known to this share: half the width of its interval.
    pub precision: f64,
    /// Time of all rounds after the first one.
    pub budget: Duration,
    /// Rounds before the first one, each after a restart of the private server.
    pub cold: u32,
    /// Whether changes are kept, and statements that cannot be rolled back are taken.
    pub commit: bool,
    /// Time limit of each statement.
    pub timeout: Duration,
}

/// Times statements. What was measured before a failure stays in the report, which comes with it.
pub fn time(
    statements: &[SqlStatement],
    connection: &dyn Connection,
    terms: &TimingParameters,
    context: &Context,
) -> Result<(Report, Option<Blamed>), Blamed> {
    for statement in statements {
        terms.check_kind(statement)?;
    }
    if statements.iter().all(is_setting) {
        let message = "no statement to time: there are only session settings";
        return Err(Blamed::new(Blame::Input, message));
    }
    let mut rounds = Rounds::new(statements, terms.commit);
    let mut report = Report::default();
    let failure = measure(connection, terms, context, &mut rounds, &mut report).err();
    report.timed = rounds.timed();
    report.incomplete = failure.as_ref().map(|it| it.message.clone());
    Ok((report, failure))
}

/// All rounds, and one more for the costs. What was measured before an error stays in `rounds`.
fn measure(
    connection: &dyn Connection,
    terms: &TimingParameters,
    context: &Context,
    rounds: &mut Rounds<'_>,
    report: &mut Report,
) -> Result<(), Blamed> {
    for _ in 0..terms.cold {
        let name = connection.server().unwrap_or_default();
        if let Some(why) = cold::restart(name)? {
            let note = format!("cold rounds read the server's files from memory: {why}");
            report.note(note, context);
        }
        in_session(&connection.endpoint()?, terms.timeout, async |session| {
            session.version().clone_into(&mut report.version);
            rounds.cold(session).await
        })?;
    }
    let missing = in_session(&connection.endpoint()?, terms.timeout, async |session| {
        session.version().clone_into(&mut report.version);
        rounds
            .warm(session, terms.rounds, terms.budget, terms.precision)
            .await?;
        rounds.costs(session).await
    })?;
    if let Some(why) = missing {
        let note = format!("performance_schema has no data about the executions: {why}");
        report.note(note, context);
    }
    Ok(())
}

impl TimingParameters {
    /// An error for a statement that would leave something behind, unless that is asked for.
    fn check_kind(&self, statement: &SqlStatement) -> Result<(), Blamed> {
        if self.commit || is_setting(statement) || effect_of(statement) != Effect::Other {
            return Ok(());
        }
        let hint = "with --commit, it is executed in every round and not rolled back";
        Err(not_taken(statement, "cannot be rolled back", hint))
    }
}
