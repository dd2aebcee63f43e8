//! Takes the forms of explanation that a server has, by trying: a form that it does not know is a syntax error.

use plans::{Plan, Rows, Trace};
use protocol::ResultSet;
use serde_json::{Value, json};

use super::explanation::{CapturedPlan, Explained, Form, TakenTrace};
use crate::{
    guard::Guard,
    session::{Failure, Session},
};

/// Memory for a trace, bytes; a join of many tables has megabytes.
const TRACE_BYTES_MAX: u64 = 48 << 20;
/// ER_PARSE_ERROR: here a form that the version does not know, because the statement itself has been checked.
const UNKNOWN_FORM: u16 = protocol::PARSE_ERROR;
/// ER_UNKNOWN_SYSTEM_VARIABLE
const UNKNOWN_VARIABLE: u16 = 1193;

/// ER_WARN_DEPRECATED_SYNTAX: EXTENDED itself.
const DEPRECATED: [u32; 2] = [1287, 1681];

/// Ways to say each form, the better ones first.
const OF_ROWS: &[&str] = &["EXPLAIN EXTENDED", "EXPLAIN FORMAT=TRADITIONAL", "EXPLAIN"];
const OF_JSON: &[&str] = &["EXPLAIN FORMAT=JSON"];
const OF_TREE: &[&str] = &["EXPLAIN FORMAT=TREE"];
const MEASURED: &[&str] = &[
    "EXPLAIN ANALYZE FORMAT=JSON",
    "EXPLAIN ANALYZE",
    "ANALYZE FORMAT=JSON",
];

/// What is known of the server's forms, so that an unknown one is tried once per session.
#[derive(Debug, Default)]
pub(super) struct Forms {
    unknown: Vec<&'static str>,
}

impl Forms {
    /// Takes every form of a statement within its transaction: for a plan alone a server may call functions, too.
    pub(super) async fn take(
        &mut self,
        session: &mut Session,
        sql: &str,
        guard: Guard,
        is_measured: bool,
    ) -> Result<Explained, Failure> {
        guard.begin(session).await?;
        let taken = self.take_all(session, sql, is_measured).await;
        let ended = session.rows("ROLLBACK").await;
        let mut explained = taken?;
        ended?;
        for (number, message) in session.warnings().await? {
            let warning = format!("{message} (warning {number} after the rollback)");
            explained.warnings.push(warning);
        }
        Ok(explained)
    }

    /// EXPLAIN's rows alone, within the transaction of the statement.
    pub(super) async fn rows(
        &mut self,
        session: &mut Session,
        sql: &str,
        guard: Guard,
    ) -> Result<CapturedPlan, Failure> {
        guard.begin(session).await?;
        let taken = self.one(session, Form::Rows, OF_ROWS, sql).await;
        session.rows("ROLLBACK").await?;
        taken
    }

    async fn take_all(
        &mut self,
        session: &mut Session,
        sql: &str,
        is_measured: bool,
    ) -> Result<Explained, Failure> {
        let mut forms = Vec::new();
        let is_traced = trace_on(session).await?;
        forms.push(self.one(session, Form::Rows, OF_ROWS, sql).await?);
        let trace = match is_traced {
            Ok(()) => read_trace(session).await?,
            Err(why) => TakenTrace::Missing(why),
        };
        json_version(session, 2).await?;
        let mut as_json = self.one(session, Form::Json, OF_JSON, sql).await?;
        // Version 2 has no plan of statements that the iterator executor does not run.
        if as_json.plan.is_err() && json_version(session, 1).await? {
            as_json = self.one(session, Form::Json, OF_JSON, sql).await?;
            json_version(session, 2).await?;
        }
        forms.push(as_json);
        forms.push(self.one(session, Form::Tree, OF_TREE, sql).await?);
        if is_measured {
            forms.push(self.one(session, Form::Measured, MEASURED, sql).await?);
        }
        Ok(Explained {
            forms,
            trace,
            warnings: Vec::new(),
        })
    }

    /// Takes one form by the first of its commands that the server knows.
    async fn one(
        &mut self,
        session: &mut Session,
        form: Form,
        commands: &[&'static str],
        sql: &str,
    ) -> Result<CapturedPlan, Failure> {
        let mut taken = CapturedPlan {
            form,
            command: commands[0].to_owned(),
            plan: Err("not in this version".to_owned()),
        };
        for command in commands {
            if self.unknown.contains(command) {
                continue;
            }
            (*command).clone_into(&mut taken.command);
            let sets = match session.rows(&format!("{command} {sql}")).await {
                Ok(sets) => sets,
                Err(failure) if failure.number() == Some(UNKNOWN_FORM) => {
                    // A version may know the form only for SELECT: tried again with the next statement of that kind.
                    if sql
                        .trim_start()
                        .get(..6)
                        .is_some_and(|verb| verb.eq_ignore_ascii_case("select"))
                    {
                        self.unknown.push(command);
                    }
                    taken.plan = Err("not in this version".to_owned());
                    continue;
                }
                Err(failure) if failure.is_of_statement() => {
                    taken.plan = Err(failure.server_message().unwrap_or_default());
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            taken.plan = read(session, command, &sets).await?;
            // MySQL 8.0 answers EXPLAIN ANALYZE FORMAT=JSON of an UPDATE with estimates, and does not execute it.
            let is_unmeasured = |(plan, _): &(Plan, Value)| !plan.root.is_measured();
            if form == Form::Measured && taken.plan.as_ref().is_ok_and(is_unmeasured) {
                taken.plan = Err("the server explained it without executing it".to_owned());
            }
            if taken.plan.is_ok() {
                break;
            }
        }
        Ok(taken)
    }
}

/// Reads an answer by its shape: one column is JSON or a tree.
async fn read(
    session: &mut Session,
    command: &str,
    sets: &[ResultSet],
) -> Result<Result<(Plan, Value), String>, Failure> {
    let Some(set) = sets.first() else {
        return Ok(Err("no rows".to_owned()));
    };
    if set.columns.len() == 1 {
        let lines = set.rows.iter().filter_map(|row| text_of(row.first()?));
        let text = lines.collect::<Vec<_>>().join("\n");
        let is_json = text.trim_start().starts_with('{');
        let plan = if is_json {
            Plan::of_json(&text)
        } else {
            Plan::of_tree(&text)
        };
        return Ok(plan
            .map(|plan| (plan, Value::String(text)))
            .map_err(|error| error.to_string()));
    }
    let rows: Vec<Vec<Option<String>>> = set
        .rows
        .iter()
        .map(|row| row.iter().map(text_of).collect())
        .collect();
    let plan = Plan::of_rows(Rows {
        columns: &set.columns,
        rows: &rows,
    });
    let mut warnings = Vec::new();
    if command.starts_with("EXPLAIN") {
        warnings = session.warnings().await?;
        warnings.retain(|(number, _)| !DEPRECATED.contains(number));
    }
    let original = json!({ "columns": set.columns, "rows": rows, "warnings": warnings });
    Ok(match plan {
        Ok(mut plan) => {
            plan.add_warnings(warnings);
            Ok((plan, original))
        }
        Err(error) => Err(error.to_string()),
    })
}

/// Chooses the version of FORMAT=JSON; false if the server has only one.
async fn json_version(session: &mut Session, version: u32) -> Result<bool, Failure> {
    match session
        .rows(&format!(
            "SET SESSION explain_json_format_version = {version}"
        ))
        .await
    {
        Ok(_) => Ok(true),
        Err(failure) if failure.is_of_statement() => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Switches the trace on; the reason if that is not possible.
async fn trace_on(session: &mut Session) -> Result<Result<(), String>, Failure> {
    let sql = format!(
        "SET SESSION optimizer_trace_max_mem_size = {TRACE_BYTES_MAX}, SESSION optimizer_trace = 'enabled=on'"
    );
    match session.rows(&sql).await {
        Ok(_) => Ok(Ok(())),
        Err(failure) if failure.number() == Some(UNKNOWN_VARIABLE) => {
            Ok(Err("not in this version".to_owned()))
        }
        Err(failure) if failure.is_of_statement() => {
            Ok(Err(failure.server_message().unwrap_or_default()))
        }
        Err(failure) => Err(failure),
    }
}

/// Reads the trace of the last explained statement, and switches it off.
async fn read_trace(session: &mut Session) -> Result<TakenTrace, Failure> {
    let sql = "SELECT trace, missing_bytes_beyond_max_mem_size, insufficient_privileges \
               FROM information_schema.optimizer_trace";
    let sets = session.rows(sql).await;
    session
        .rows("SET SESSION optimizer_trace = 'enabled=off'")
        .await?;
    let sets = match sets {
        Ok(sets) => sets,
        Err(failure) if failure.is_of_statement() => {
            return Ok(TakenTrace::Missing(
                failure.server_message().unwrap_or_default(),
            ));
        }
        Err(failure) => return Err(failure),
    };
    let row = sets
        .into_iter()
        .flat_map(|set| set.rows)
        .next()
        .unwrap_or_default();
    let text = |at: usize| row.get(at).and_then(text_of).unwrap_or_default();
    if text(2) == "1" {
        let why =
            "this account may not see it: all privileges on the statement's objects are needed";
        return Ok(TakenTrace::Missing(why.to_owned()));
    }
    if text(1) != "0" && !text(1).is_empty() {
        let why = format!(
            "longer than {} by {} bytes",
            units::bytes(TRACE_BYTES_MAX),
            text(1)
        );
        return Ok(TakenTrace::Missing(why));
    }
    let original = text(0);
    if original.trim().is_empty() {
        return Ok(TakenTrace::Missing(
            "the server wrote none for this statement".to_owned(),
        ));
    }
    Ok(match Trace::parse(&original) {
        Ok(trace) => TakenTrace::Trace(trace, original),
        Err(error) => TakenTrace::Missing(error.to_string()),
    })
}

fn text_of(value: &Option<Vec<u8>>) -> Option<String> {
    value
        .as_ref()
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
