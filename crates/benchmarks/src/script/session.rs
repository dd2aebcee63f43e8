//! One connection that sends the statements of scripts: prepared, as text, or prepared each time.

use std::{io::Write as _, sync::Arc, time::Duration};

use load::{Class, Failure, OperationObserver};
use protocol::{Connection, Endpoint, Fetched, Outcome, Temporal, Value};

use super::{
    plan::{Mode, Plan},
    program::{Kept, Role, Statement},
    scalar::Scalar,
    variables::{Unusable, Variables, put_literal},
};

/// Time for a statement to be prepared before a load: less than that of a connection until it can begin, so that the error
/// names the statement.
const PREPARED_WITHIN: Duration = Duration::from_secs(30);
/// ER_UNSUPPORTED_PS: the statement cannot be prepared.
const UNSUPPORTED_PS: u16 = 1295;

/// One connection of a run.
pub(super) struct Session {
    plan: Arc<Plan>,
    endpoint: Arc<Endpoint>,
    connection: Option<Connection>,
    /// One for each statement of the plan; `None` for one that the server cannot prepare; empty in the other modes.
    prepared: Vec<Option<protocol::Statement>>,
    /// The variables of the columns of each prepared statement whose answer is kept.
    columns: Vec<Vec<Option<u32>>>,
    /// Buffer for a statement sent as text, reused for the next one.
    sql: Vec<u8>,
    fetched: Fetched,
    /// The values of a prepared statement; kept empty, to reuse its memory.
    values: Vec<Value<'static>>,
    /// Buffer for the name of a column's variable.
    name: String,
    /// The last operation failed in its middle, and may have left a transaction open.
    pub(super) is_half_done: bool,
    /// BEGIN was sent, and neither COMMIT nor ROLLBACK since.
    is_in_transaction: bool,
}

impl Session {
    pub(super) fn new(plan: Arc<Plan>, endpoint: Arc<Endpoint>) -> Self {
        Self {
            plan,
            endpoint,
            connection: None,
            prepared: Vec::new(),
            columns: Vec::new(),
            sql: Vec::new(),
            fetched: Fetched::default(),
            values: Vec::new(),
            name: String::new(),
            is_half_done: false,
            is_in_transaction: false,
        }
    }

    /// Connects, and prepares every statement in that mode.
    pub(super) async fn connect(&mut self) -> Result<(), Failure> {
        self.connection = None;
        self.prepared.clear();
        self.columns.clear();
        self.is_half_done = false;
        self.is_in_transaction = false;
        let mut connection = Connection::open(&self.endpoint).await?;
        if self.plan.settings.mode == Mode::Prepared {
            for statement in &self.plan.statements {
                let prepared = connection.prepare_within(&statement.sql, PREPARED_WITHIN);
                let prepared = prepared_or_text(prepared.await, statement)?;
                let mut columns = Vec::new();
                if let (Some(prepared), Some(kept)) = (&prepared, &statement.kept) {
                    for name in connection.column_names(prepared) {
                        let name = format!("{}{name}", kept.prefix);
                        columns.push(self.plan.names.find(&name));
                    }
                }
                self.prepared.push(prepared);
                self.columns.push(columns);
            }
        }
        self.connection = Some(connection);
        Ok(())
    }

    pub(super) async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            // The server may already be gone; a failed close has no consequence.
            let _ = connection.close().await;
        }
    }

    /// Rolls back what an operation that failed in its middle may have left open.
    pub(super) async fn roll_back(&mut self) -> Result<(), Failure> {
        if !(self.is_half_done && self.plan.has_transactions) {
            return Ok(());
        }
        let connection = self
            .connection
            .as_mut()
            .ok_or_else(Failure::not_connected)?;
        if let Err(error) = connection.query(b"ROLLBACK").await {
            let failure = Failure::from(error);
            // With the connection the transaction is gone.
            let retryable = failure.lost;
            return Err(Failure {
                retryable,
                ..failure
            });
        }
        self.is_half_done = false;
        self.is_in_transaction = false;
        Ok(())
    }

    /// Runs the statement with this index, and sets the variables that it keeps.
    pub(super) async fn run(
        &mut self,
        index: usize,
        variables: &mut Variables,
        watch: &mut impl OperationObserver,
    ) -> Result<(), Failure> {
        let plan = &*self.plan;
        let statement = &plan.statements[index];
        let connection = self
            .connection
            .as_mut()
            .ok_or_else(Failure::not_connected)?;
        let each;
        let prepared = match plan.settings.mode {
            Mode::Text => None,
            Mode::Prepared => self.prepared[index].as_ref(),
            Mode::PrepareEach => {
                each = prepare(connection, statement).await?;
                each.as_ref()
            }
        };
        let result = if let Some(prepared) = prepared {
            let mut values = emptied(std::mem::take(&mut self.values));
            put_values(plan, statement, variables, &mut values)?;
            let fetched = &mut self.fetched;
            let result = match &statement.kept {
                None => connection.execute(prepared, &values).await,
                Some(_) => connection.fetch(prepared, &values, fetched).await,
            };
            self.values = emptied(values);
            result
        } else {
            let escapes = connection.escapes_with_backslash();
            put_text(plan, statement, variables, escapes, &mut self.sql)?;
            match &statement.kept {
                None => connection.query(&self.sql).await,
                Some(_) => connection.fetch_text(&self.sql, &mut self.fetched).await,
            }
        };
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                let each = prepared.filter(|_| plan.settings.mode == Mode::PrepareEach);
                if let Some(prepared) = each.filter(|_| !error.is_connection_lost()) {
                    connection.close_statement(*prepared).await?;
                }
                return Err(self.failure(error, index));
            }
        };
        match statement.role {
            Role::Begin => self.is_in_transaction = true,
            Role::Commit | Role::Rollback => self.is_in_transaction = false,
            Role::Read | Role::Other => {}
        }
        match class(&outcome) {
            class if !plan.statements().is_empty() => watch.statement(index, class),
            Class::Read { rows } => watch.returned(rows),
            Class::Write | Class::Other => {}
        }
        let mut result = Ok(());
        if let Some(kept) = &statement.kept {
            let columns = match plan.settings.mode {
                Mode::Prepared => self.prepared[index].and(Some(&self.columns[index])),
                Mode::Text | Mode::PrepareEach => None,
            };
            let names = match (plan.settings.mode, prepared) {
                (Mode::PrepareEach, Some(prepared)) => Some(connection.column_names(prepared)),
                _ => None,
            };
            let mut target = |column: usize| {
                if let Some(columns) = columns {
                    return columns.get(column).copied().flatten();
                }
                self.name.clear();
                self.name.push_str(&kept.prefix);
                match names {
                    Some(names) => self.name.push_str(names.get(column)?),
                    None => self.name.push_str(self.fetched.name(column)?),
                }
                plan.names.find(&self.name)
            };
            result = keep(&self.fetched, kept, &mut target, variables)
                .map_err(|why| statement_failure(why, &statement.name));
        }
        if let (Mode::PrepareEach, Some(prepared)) = (plan.settings.mode, prepared) {
            connection.close_statement(*prepared).await?;
        }
        result
    }

    #[cold]
    fn failure(&self, error: protocol::Error, index: usize) -> Failure {
        let statement = &self.plan.statements[index];
        let mut failure = failure_of(error, statement);
        if failure.lost {
            // The server rolls an open transaction back, unless it was about to be committed.
            let is_undone = self.is_in_transaction && statement.role != Role::Commit;
            failure.outcome_unknown = !(is_undone || statement.role == Role::Read);
            failure.retryable = !failure.outcome_unknown;
        }
        failure
    }
}

/// `None` for a statement that the server cannot prepare, which is then sent as text, as a C client does.
async fn prepare(
    connection: &mut Connection,
    statement: &Statement,
) -> Result<Option<protocol::Statement>, Failure> {
    prepared_or_text(connection.prepare(&statement.sql).await, statement)
}

fn prepared_or_text(
    prepared: Result<protocol::Statement, protocol::Error>,
    statement: &Statement,
) -> Result<Option<protocol::Statement>, Failure> {
    match prepared {
        Ok(prepared) => Ok(Some(prepared)),
        Err(error) if error.server_number() == Some(UNSUPPORTED_PS) => Ok(None),
        Err(error) => Err(failure_of(error, statement)),
    }
}

/// The failure of a statement, with its name. A syntax error is the script's, and so is a statement that reads a file of
/// the client.
#[cold]
fn failure_of(error: protocol::Error, statement: &Statement) -> Failure {
    let is_of_input = error.server_number() == Some(protocol::PARSE_ERROR)
        || matches!(error, protocol::Error::FileRequested { .. });
    let failure = Failure::from(error);
    Failure {
        message: format!("{} (statement: {})", failure.message, statement.name),
        is_of_input,
        ..failure
    }
}

/// The memory of a vector of values, for values that live differently long.
fn emptied<'v>(mut values: Vec<Value<'_>>) -> Vec<Value<'v>> {
    values.clear();
    // Collecting from a vector's own iterator keeps its memory.
    values.into_iter().map(|_| Value::Null).collect()
}

/// Appends the values of a statement's variables.
fn put_values<'v>(
    plan: &'v Plan,
    statement: &Statement,
    variables: &'v Variables,
    values: &mut Vec<Value<'v>>,
) -> Result<(), Failure> {
    for slot in &statement.parameters {
        let value = variables.value(*slot, &plan.lists);
        values.push(value.map_err(|why| unusable(plan, statement, why))?);
    }
    Ok(())
}

/// Writes the statement with literals for its variables.
fn put_text(
    plan: &Plan,
    statement: &Statement,
    variables: &Variables,
    escapes_with_backslash: bool,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    out.clear();
    let (first, others) = statement.pieces.split_first().expect("there is a piece");
    out.extend_from_slice(first.as_bytes());
    for (slot, piece) in statement.parameters.iter().zip(others) {
        let value = variables.value(*slot, &plan.lists);
        let value = value.map_err(|why| unusable(plan, statement, why))?;
        put_literal(value, escapes_with_backslash, out);
        out.extend_from_slice(piece.as_bytes());
    }
    Ok(())
}

#[cold]
fn unusable(plan: &Plan, statement: &Statement, why: Unusable) -> Failure {
    let what = match why {
        Unusable::Unset(slot) => format!("the variable :{} is not set", plan.names.of_slot(slot)),
        Unusable::Infinite(slot) => {
            let name = plan.names.of_slot(slot);
            format!("the value of the variable :{name} is not a finite number")
        }
    };
    statement_failure(what, &statement.name)
}

#[cold]
fn statement_failure(what: impl std::fmt::Display, statement: &str) -> Failure {
    Failure {
        is_of_input: true,
        ..Failure::of_client(format!("{what} (statement: {statement})"))
    }
}

/// As with sysbench, a statement that changed nothing is neither a read nor a write.
fn class(outcome: &Outcome) -> Class {
    match outcome {
        outcome if outcome.result_sets > 0 => Class::Read { rows: outcome.rows },
        outcome if outcome.affected_rows > 0 => Class::Write,
        _ => Class::Other,
    }
}

/// Sets the variables for the columns of an answer.
fn keep(
    fetched: &Fetched,
    kept: &Kept,
    target: &mut dyn FnMut(usize) -> Option<u32>,
    variables: &mut Variables,
) -> Result<(), String> {
    let rows = fetched.rows();
    if kept.is_one && rows != 1 {
        return Err(format!("\\gset needs one row, and there are {rows}"));
    }
    let Some(last) = rows.checked_sub(1) else {
        return Ok(());
    };
    let mut column = 0;
    while let Some(value) = fetched.value(last, column) {
        if let Some(slot) = target(column) {
            set(variables, slot, value, fetched.temporal(column));
        }
        column += 1;
    }
    Ok(())
}

fn set(variables: &mut Variables, slot: u32, value: Value<'_>, temporal: Option<Temporal>) {
    match (value, temporal) {
        (Value::Null, _) => variables.set(slot, Scalar::Null),
        (Value::Int(int), _) => variables.set(slot, Scalar::Int(int)),
        (Value::Uint(int), _) => match i64::try_from(int) {
            Ok(int) => variables.set(slot, Scalar::Int(int)),
            Err(_) => variables.write_text(slot, |text| {
                text.extend_from_slice(itoa::Buffer::new().format(int).as_bytes());
            }),
        },
        (Value::Float(double), _) => variables.set(slot, Scalar::Double(double)),
        (Value::Bytes(bytes), Some(temporal)) => {
            variables.write_text(slot, |text| put_moment(bytes, temporal, text));
        }
        (Value::Bytes(bytes) | Value::Decimal(bytes), _) => variables.set_text(slot, bytes),
    }
}

/// Writes a date or a time of the binary protocol as SQL does.
///
/// Source: MySQL protocol, binary encoding of dates and times.
fn put_moment(bytes: &[u8], temporal: Temporal, text: &mut Vec<u8>) {
    let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or_default());
    let micros = |at: usize| {
        let four = bytes.get(at..at + 4).and_then(|it| it.try_into().ok());
        four.map(u32::from_le_bytes)
    };
    let written = match temporal {
        Temporal::Date => {
            let year = byte(0) | byte(1) << 8;
            let date = write!(text, "{year:04}-{:02}-{:02}", byte(2), byte(3));
            match bytes.len() {
                0..=4 => date,
                _ => write!(text, " {:02}:{:02}:{:02}", byte(4), byte(5), byte(6)),
            }
        }
        Temporal::Time => {
            let sign = if byte(0) == 1 { "-" } else { "" };
            let hours = u64::from(micros(1).unwrap_or_default()) * 24 + u64::from(byte(5));
            write!(text, "{sign}{hours:02}:{:02}:{:02}", byte(6), byte(7))
        }
    };
    let fraction = match temporal {
        Temporal::Date => micros(7),
        Temporal::Time => micros(8),
    };
    let written = written.and_then(|()| match fraction {
        Some(micros) => write!(text, ".{micros:06}"),
        None => Ok(()),
    });
    written.expect("writing into memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_sql_does() {
        for (bytes, temporal, text) in [
            (&[][..], Temporal::Date, "0000-00-00"),
            (&[0xea, 7, 1, 2], Temporal::Date, "2026-01-02"),
            (
                &[0xea, 7, 1, 2, 3, 4, 5],
                Temporal::Date,
                "2026-01-02 03:04:05",
            ),
            (
                &[0xea, 7, 1, 2, 3, 4, 5, 6, 0, 0, 0],
                Temporal::Date,
                "2026-01-02 03:04:05.000006",
            ),
            (&[], Temporal::Time, "00:00:00"),
            (&[1, 1, 0, 0, 0, 2, 3, 4], Temporal::Time, "-26:03:04"),
        ] {
            let mut out = Vec::new();
            put_moment(bytes, temporal, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
