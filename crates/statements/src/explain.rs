//! How a server executes a statement, in every form that it has.

mod explanation;
mod forms;
mod limits;
mod outputs;

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::Endpoint;
use sqltext::SqlStatement;

pub use self::{
    explanation::Explanation,
    outputs::{WIDTH_AT_MOST, json, page, text},
};
use self::{
    explanation::{CapturedPlan, Form},
    forms::Forms,
};
use super::{
    effect::{Effect, effect_of, not_taken},
    examination::Examination,
    guard::Guard,
    reach::Access,
    session::{Failure, Session, in_session},
    setting::is_setting,
};

/// The statements that are executed to measure their plans; those that change data are rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execute {
    Nothing,
    /// Those that only read.
    Reads,
    /// Those that change data, too.
    Everything,
}

/// Explains statements in a session of its own; each execution ends after `timeout`. An error for a statement that no server
/// explains comes before any is executed.
pub fn explain(
    endpoint: &Endpoint,
    statements: &[SqlStatement],
    execute: Execute,
    timeout: Duration,
) -> Result<Vec<Explanation>, Blamed> {
    for statement in statements {
        check_kind(statement)?;
    }
    in_session(endpoint, timeout, async |session| {
        explain_all(session, statements, execute).await
    })
}

/// An error for a statement that no server explains, before any is executed.
fn check_kind(statement: &SqlStatement) -> Result<(), Blamed> {
    let place = statement.place();
    if std::str::from_utf8(statement.text()).is_err() {
        return Err(Blamed::new(
            Blame::Input,
            format!("{place}: the statement is not UTF-8"),
        ));
    }
    if is_setting(statement) || effect_of(statement) != Effect::Other {
        return Ok(());
    }
    let hint = "SELECT, INSERT, REPLACE, UPDATE, DELETE, WITH, TABLE and VALUES can be explained; USE and SET of \
         session variables can precede them";
    Err(not_taken(statement, "cannot be explained", hint))
}

async fn explain_all(
    session: &mut Session,
    statements: &[SqlStatement],
    execute: Execute,
) -> Result<Vec<Explanation>, Blamed> {
    let mut forms = Forms::default();
    let mut examination = Examination::default();
    let mut explained = Vec::new();
    for statement in statements {
        if is_setting(statement) {
            examination.set(session, statement).await?;
            continue;
        }
        let endpoint = session.endpoint().clone();
        let blamed = |failure: Failure| failure.blamed(&endpoint, statement);
        examination.check_text(session, statement).await?;
        let sql = String::from_utf8_lossy(statement.text()).into_owned();
        session.check(&sql).await.map_err(blamed)?;
        let guard = Guard::of(statement, false);
        let changes = effect_of(statement) == Effect::Changes;
        let is_measured = match execute {
            Execute::Nothing => false,
            Execute::Reads => !changes,
            Execute::Everything => true,
        };
        let access = match guard.access(statement) {
            // For its plan the server calls functions at most.
            Some(Access::RolledBackChange) if !is_measured => Some(Access::RolledBackRead),
            access => access,
        };
        if let Some(access) = access
            && let Some(obstacle) = examination.obstacle(session, statement, access).await?
        {
            let message = format!("{}: not executed: {obstacle}", statement.place());
            let hint = (changes && is_measured).then_some("without --analyze it is only explained");
            return Err(Blamed::new(Blame::Input, message).hint(hint.map(str::to_owned)));
        }
        let mut notes = Vec::new();
        if changes && execute == Execute::Reads {
            notes.push("explained without being executed, because it changes data (--analyze executes it and rolls it back)".to_owned());
        }
        let taken = forms
            .take(session, &sql, guard, is_measured)
            .await
            .map_err(blamed)?;
        if changes && is_measured {
            notes.push(execution_note(&taken.forms));
        }
        let explanation = Explanation::new(statement, session.version(), taken, notes);
        if explanation.best().is_none() {
            let message = format!(
                "{}: server {} cannot explain this statement: {}",
                statement.place(),
                session.version(),
                explanation.last_refusal()
            );
            return Err(Blamed::new(Blame::Server, message));
        }
        explained.push(explanation);
    }
    if explained.is_empty() {
        return Err(Blamed::new(
            Blame::Input,
            "no statement to explain: there are only session settings",
        ));
    }
    Ok(explained)
}

/// A plan as the server gave it.
#[derive(Debug, Clone)]
pub(super) struct ExplainedPlan {
    /// What was sent before the statement.
    pub(super) command: String,
    pub(super) plan: plans::Plan,
    /// The statement as the optimizer rewrote it, by any form.
    pub(super) rewritten: Option<String>,
}

/// The plan that says most about a statement that was examined: measured if the statement only reads. A setting of the session is executed and
/// has none, and neither has a statement that the server does not explain.
pub(super) async fn explained_plan(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Option<ExplainedPlan>, Blamed> {
    let endpoint = session.endpoint().clone();
    let blamed = |failure: Failure| failure.blamed(&endpoint, statement);
    let Some(sql) = checked(session, statement).await.map_err(blamed)? else {
        return Ok(None);
    };
    let is_measured = effect_of(statement) == Effect::Reads;
    let taken = Forms::default()
        .take(session, &sql, Guard::of(statement, false), is_measured)
        .await
        .map_err(blamed)?;
    let explanation = Explanation::new(statement, session.version(), taken, Vec::new());
    let mut rewritten = explanation
        .plans()
        .filter_map(|(_, plan)| plan.rewritten.clone());
    let rewritten = rewritten.next();
    let best = explanation.best();
    Ok(best.map(|(taken, plan)| ExplainedPlan {
        command: taken.command.clone(),
        plan: plan.clone(),
        rewritten,
    }))
}

/// The text of a statement that the server can explain, which it is asked first: otherwise a syntax error would look like a
/// form that the server does not have. `None` of a setting of the session, which is executed instead.
async fn checked(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Option<String>, Failure> {
    let sql = String::from_utf8_lossy(statement.text()).into_owned();
    if is_setting(statement) {
        session.rows(&sql).await?;
        return Ok(None);
    }
    session.check(&sql).await?;
    Ok(Some(sql))
}

/// The plan of a statement that was examined, by EXPLAIN's rows, without its execution. `None` as above.
pub(super) async fn estimated_plan(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Option<plans::Plan>, Blamed> {
    let endpoint = session.endpoint().clone();
    let blamed = |failure: Failure| failure.blamed(&endpoint, statement);
    let Some(sql) = checked(session, statement).await.map_err(blamed)? else {
        return Ok(None);
    };
    let guard = Guard::of(statement, false);
    let taken = Forms::default().rows(session, &sql, guard).await;
    Ok(taken.map_err(blamed)?.plan.ok().map(|(plan, _)| plan))
}

/// The warnings of the server about a statement that was examined, without its execution: number and text.
pub(super) async fn warnings_of_explain(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Vec<(u32, String)>, Blamed> {
    let endpoint = session.endpoint().clone();
    let blamed = |failure: Failure| failure.blamed(&endpoint, statement);
    let sql = format!("EXPLAIN {}", String::from_utf8_lossy(statement.text()));
    let guard = Guard::of(statement, false);
    guard.begin(session).await.map_err(blamed)?;
    session.rows(&sql).await.map_err(blamed)?;
    let warnings = session.warnings().await.map_err(blamed)?;
    guard.end(session).await.map_err(blamed)?;
    Ok(warnings)
}

/// Whether a statement that changes data was executed. A version that cannot measure it does not execute it either.
fn execution_note(forms: &[CapturedPlan]) -> String {
    let measured = forms.iter().find(|taken| taken.form == Form::Measured);
    match measured.map(|taken| &taken.plan) {
        Some(Ok(_)) => "executed in a transaction that was rolled back".to_owned(),
        Some(Err(why)) => format!("not measured: {why}"),
        None => "not measured".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_counts_as_executed_only_if_it_was_measured() {
        let taken = |form, plan| CapturedPlan {
            form,
            command: String::new(),
            plan,
        };
        let plan = || {
            let text = "-> Rows fetched before execution  (cost=0.00 rows=1)";
            Ok((plans::Plan::of_tree(text).unwrap(), text.into()))
        };
        let refused = || Err("not in this version".to_owned());
        for (measured, note) in [
            (plan(), "executed in a transaction that was rolled back"),
            (refused(), "not measured: not in this version"),
        ] {
            let forms = [taken(Form::Rows, plan()), taken(Form::Measured, measured)];
            assert_eq!(execution_note(&forms), note);
        }
    }
}
