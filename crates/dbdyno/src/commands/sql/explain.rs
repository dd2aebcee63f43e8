//! `dbdyno sql explain`: how a server executes a statement, in every form that it has.

mod explanation;
mod forms;
mod limits;
mod outputs;

use std::{io::IsTerminal, path::PathBuf, process::ExitCode, time::Duration};

use runs::{Blame, Blamed, signals};
use workload::sql_script::SqlStatement;

use self::{
    explanation::{Explanation, Form, Taken},
    forms::Forms,
};
use super::{
    effect::{Effect, effect_of, not_taken},
    examination::Examination,
    guard::Guard,
    input::InputArgs,
    reach::Access,
    session::{Failure, Session},
    setting::is_setting,
    timeout::timeout,
};
use crate::{
    commands::run::terminal_width,
    connection_options::ConnectionOptions,
    output::{write_file, write_out},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each form of EXPLAIN that the server supports is used once: EXPLAIN as a table (EXTENDED with its warnings, if it
exists), FORMAT=JSON, FORMAT=TREE, EXPLAIN ANALYZE or MariaDB's ANALYZE, and the optimizer trace. The plan is drawn from
the most informative form; --forms draws it from all.

A statement that only reads is executed once, in a read-only transaction, to measure its plan. A statement that changes
data is only explained; with --analyze it is also executed, in a transaction that is rolled back. USE and SET of session
variables are executed for the statements that follow.

Examples:
  dbdyno sql explain --server demo -e 'select count(*) from page where page_len > 9000'
  dbdyno sql explain queries.sql --host db1 --database wiki --output plans.html
  dbdyno sql explain --server demo -e 'update page set page_len = 0' --analyze")]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Also execute statements that change data, and roll them back
    #[arg(long)]
    analyze: bool,
    /// Execute nothing; show only the optimizer's estimates
    #[arg(long, conflicts_with = "analyze")]
    no_analyze: bool,
    /// Time limit of each statement, after which it is killed on the server
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = timeout)]
    timeout: Duration,
    /// Draw the plan from every form of EXPLAIN, not only from the most informative one
    #[arg(long)]
    forms: bool,
    /// Output format [default: from the file extension of --output, otherwise text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Trees for a terminal
    Text,
    /// One object: each plan as dbdyno parsed it, with the server's original output
    Json,
    /// A page for a browser
    Html,
}

pub(super) fn run(args: &ExplainArgs) -> anyhow::Result<ExitCode> {
    let format = args.wanted_format();
    let statements = args.input.statements(&args.connection)?;
    for statement in &statements {
        check_kind(statement)?;
    }
    let endpoint = args.connection.endpoint()?;
    signals::interrupt()?;
    let explained = reactor::block_on(async {
        let mut session = Session::open(&endpoint, args.timeout).await?;
        let explained = explain_all(&mut session, &statements, args).await;
        session.close().await;
        explained
    });
    let explained = explained.map_err(Blamed::machine)??;
    let text = match format {
        Format::Text => {
            let width = usize::from(terminal_width()).min(outputs::WIDTH_AT_MOST);
            outputs::text(&explained, width, args.forms)
        }
        Format::Json => outputs::json(&explained),
        Format::Html => outputs::page(&explained),
    };
    match &args.output {
        Some(path) => {
            write_file(path, text.as_bytes())?;
        }
        None if format == Format::Html && std::io::stdout().is_terminal() => {
            let message = "HTML is not written to a terminal";
            return Err(Blamed::new(Blame::Input, message)
                .hint("use --output FILE".to_owned())
                .into());
        }
        None if format != Format::Text => write_out(text.as_bytes())?,
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}

impl ExplainArgs {
    fn wanted_format(&self) -> Format {
        let ending = self
            .output
            .as_ref()
            .and_then(|path| path.extension()?.to_str());
        self.format.unwrap_or(match ending {
            Some("json") => Format::Json,
            Some("html") => Format::Html,
            _ => Format::Text,
        })
    }
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
    args: &ExplainArgs,
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
        let is_measured = !args.no_analyze && (args.analyze || !changes);
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
        if changes && !is_measured && !args.no_analyze {
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

/// Whether a statement that changes data was executed. A version that cannot measure it does not execute it either.
fn execution_note(forms: &[Taken]) -> String {
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
        let taken = |form, plan| Taken {
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
