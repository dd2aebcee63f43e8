//! One connection that sends prepared statements, or the statements as text.

use std::sync::Arc;

use load::{Class, Failure, OperationObserver};
use protocol::{Connection, Endpoint, Outcome, Statement, Value};

use super::{plan::Plan, statement::Kind};

/// ER_UNSUPPORTED_PS: the statement cannot be prepared.
const UNSUPPORTED_PS: u16 = 1295;

/// One connection of a run.
pub(super) struct Session {
    plan: Arc<Plan>,
    endpoint: Arc<Endpoint>,
    connection: Option<Connection>,
    /// In the order of the plan's texts; `None` for a statement that the server cannot prepare; empty where statements
    /// are sent as text.
    prepared: Vec<Option<Statement>>,
    /// Buffer for a statement sent as text, reused for the next one.
    sql: Vec<u8>,
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
            sql: Vec::new(),
            is_in_transaction: false,
        }
    }

    /// Connects and prepares every statement.
    pub(super) async fn connect(&mut self) -> Result<(), Failure> {
        self.connection = None;
        self.prepared.clear();
        self.is_in_transaction = false;
        let mut connection = Connection::open(&self.endpoint).await?;
        if self.plan.is_prepared() {
            for sql in self.plan.texts() {
                self.prepared.push(match connection.prepare(sql).await {
                    Ok(statement) => Some(statement),
                    // MySQL does not prepare BEGIN: then it is sent as text, as a C client does.
                    Err(error) if error.server_number() == Some(UNSUPPORTED_PS) => None,
                    Err(error) => return Err(statement_failure(error, sql)),
                });
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

    /// Rolls back the transaction that a failed attempt has left open: sysbench's next BEGIN would commit half of it.
    pub(super) async fn roll_back(
        &mut self,
        watch: &mut impl OperationObserver,
    ) -> Result<(), Failure> {
        if self.is_in_transaction {
            self.run(Kind::Rollback, 1, &[], watch).await
        } else {
            Ok(())
        }
    }

    /// Runs a statement on the table with this number (from 1).
    #[inline]
    pub(super) async fn run(
        &mut self,
        kind: Kind,
        table: u32,
        values: &[Value<'_>],
        watch: &mut impl OperationObserver,
    ) -> Result<(), Failure> {
        let text = self.plan.text_of(kind, table);
        let connection = self
            .connection
            .as_mut()
            .ok_or_else(Failure::not_connected)?;
        let result = match self.prepared.get(text) {
            Some(Some(statement)) => connection.execute(statement, values).await,
            Some(None) | None => {
                self.sql.clear();
                let sql = &self.plan.texts()[text];
                if !put_text(sql.as_bytes(), values, &mut self.sql) {
                    return Err(not_as_text(sql, values));
                }
                connection.query(&self.sql).await
            }
        };
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => return Err(self.failure(error, text)),
        };
        match kind {
            Kind::Begin => self.is_in_transaction = true,
            Kind::Commit | Kind::Rollback => self.is_in_transaction = false,
            _ => {}
        }
        match class(&outcome) {
            class if !self.plan.statements().is_empty() => {
                watch.statement(self.plan.name_of(kind), class);
            }
            Class::Read { rows } => watch.returned(rows),
            Class::Write | Class::Other => {}
        }
        Ok(())
    }

    /// Runs a statement whose text is already complete.
    pub(super) async fn run_text(
        &mut self,
        kind: Kind,
        table: u32,
        sql: &[u8],
        watch: &mut impl OperationObserver,
    ) -> Result<(), Failure> {
        let connection = self
            .connection
            .as_mut()
            .ok_or_else(Failure::not_connected)?;
        match connection.query(sql).await {
            Ok(outcome) => {
                watch.statement(self.plan.name_of(kind), class(&outcome));
                Ok(())
            }
            Err(error) => Err(self.failure(error, self.plan.text_of(kind, table))),
        }
    }

    #[cold]
    fn failure(&self, error: protocol::Error, text: usize) -> Failure {
        let mut failure = statement_failure(error, &self.plan.texts()[text]);
        failure.retryable = self.plan.ignored.holds(failure.number, failure.lost);
        if failure.retryable {
            self.plan.count_restart();
        }
        failure
    }
}

/// The failure, with the statement that failed.
fn statement_failure(error: protocol::Error, sql: &str) -> Failure {
    let mut failure = Failure::from(error);
    failure.message = format!("{} (statement: {sql})", failure.message);
    failure
}

/// sysbench's classes: an UPDATE that changed nothing is neither read nor write.
fn class(outcome: &Outcome) -> Class {
    match outcome {
        outcome if outcome.result_sets > 0 => Class::Read { rows: outcome.rows },
        outcome if outcome.affected_rows > 0 => Class::Write,
        _ => Class::Other,
    }
}

/// A value without a text form, or too few values: the statement sent would not be the statement to measure.
#[cold]
fn not_as_text(sql: &str, values: &[Value<'_>]) -> Failure {
    Failure::of_client(format!(
        "the values {values:?} cannot be written into a text (statement: {sql})"
    ))
}

/// Writes the statement with its values in place of `?`, which are integers, texts and NULL in this family; false for
/// any other type, and where a value is missing. The family's texts contain nothing that must be escaped.
#[must_use]
fn put_text(sql: &[u8], values: &[Value<'_>], out: &mut Vec<u8>) -> bool {
    let mut values = values.iter();
    for (index, piece) in sql.split(|byte| *byte == b'?').enumerate() {
        if index > 0 {
            match values.next() {
                Some(Value::Int(number)) => {
                    out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes());
                }
                Some(Value::Uint(number)) => {
                    out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes());
                }
                Some(Value::Bytes(text)) => {
                    out.push(b'\'');
                    out.extend_from_slice(text);
                    out.push(b'\'');
                }
                Some(Value::Null) => out.extend_from_slice(b"NULL"),
                Some(_) | None => return false,
            }
        }
        out.extend_from_slice(piece);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_statements() {
        let mut out = Vec::new();
        let is_written = put_text(
            b"INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)",
            &[
                Value::Int(-5),
                Value::Uint(7),
                Value::Bytes(b"a-b"),
                Value::Null,
            ],
            &mut out,
        );
        assert!(is_written);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "INSERT INTO sbtest1 (id, k, c, pad) VALUES (-5, 7, 'a-b', NULL)"
        );
        let mut out = Vec::new();
        assert!(put_text(b"BEGIN", &[], &mut out));
        assert_eq!(out, b"BEGIN");
    }

    #[test]
    fn what_cannot_be_written_is_not_sent_as_something_else() {
        let sql = "SELECT c FROM sbtest1 WHERE id = ?";
        for values in [&[Value::Decimal(b"1.5")][..], &[]] {
            assert!(!put_text(sql.as_bytes(), values, &mut Vec::new()));
            let failure = not_as_text(sql, values);
            assert!(failure.message.contains(sql) && !failure.retryable);
        }
    }

    #[test]
    fn classes_are_those_of_sysbench() {
        let outcome = |result_sets, affected_rows| Outcome {
            result_sets,
            affected_rows,
            ..Outcome::default()
        };
        assert_eq!(class(&outcome(1, 0)), Class::Read { rows: 0 });
        assert_eq!(class(&outcome(0, 2)), Class::Write);
        assert_eq!(class(&outcome(0, 0)), Class::Other);
    }
}
