//! A connection with its prepared statements, and the steps of a transaction over it.

use load::{Class, Failure, OperationObserver};
use protocol::{Connection, Endpoint, Fetched, Statement, Value};

use super::statement::{Definition, Sql};

/// A connection that is ready for transactions.
pub(super) struct Session {
    connection: Connection,
    /// Prepared statements, indexed by [`Sql`].
    prepared: Vec<Option<Statement>>,
    fetched: Fetched,
}

impl Session {
    /// Connects and prepares the statements.
    pub(super) async fn open(
        endpoint: &Endpoint,
        definitions: &[Definition],
    ) -> Result<Self, Failure> {
        let mut connection = Connection::open(endpoint).await?;
        connection.query(b"set autocommit = 0").await?;
        let mut prepared = vec![None; Sql::COUNT];
        for definition in definitions {
            let statement = connection.prepare(definition.text).await?;
            prepared[definition.sql as usize] = Some(statement);
        }
        Ok(Self {
            connection,
            prepared,
            fetched: Fetched::default(),
        })
    }

    /// Rolls back the changes of a failed transaction.
    pub(super) async fn undo(&mut self) -> Result<(), Failure> {
        self.connection.query(b"rollback").await?;
        Ok(())
    }

    /// Closes the connection; the server may already be gone, and a failed close has no consequence.
    pub(super) async fn close(self) {
        let _ = self.connection.close().await;
    }
}

/// The steps of a transaction: statements, each reported to `watch`.
pub(super) struct Steps<'s, W> {
    pub(super) session: &'s mut Session,
    pub(super) watch: &'s mut W,
}

impl<W: OperationObserver> Steps<'_, W> {
    /// Runs a statement that returns rows.
    pub(super) async fn read(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
    ) -> Result<&Fetched, Failure> {
        self.fetch(sql, values).await?;
        let rows = self.session.fetched.rows() as u64;
        self.watch.statement(sql as usize, Class::Read { rows });
        Ok(&self.session.fetched)
    }

    async fn fetch(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<(), Failure> {
        let session = &mut *self.session;
        let statement = session.prepared[sql as usize].ok_or_else(|| not_prepared(sql))?;
        session
            .connection
            .fetch(&statement, values, &mut session.fetched)
            .await?;
        Ok(())
    }

    /// Calls the stored procedure of a whole transaction, its commit included; returns the last rows of its result.
    pub(super) async fn call(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
    ) -> Result<&Fetched, Failure> {
        self.fetch(sql, values).await.map_err(left_open)?;
        Ok(&self.session.fetched)
    }

    /// Calls a procedure that changes nothing, so that it can be repeated after any failure.
    pub(super) async fn call_to_read(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
    ) -> Result<&Fetched, Failure> {
        self.fetch(sql, values).await?;
        Ok(&self.session.fetched)
    }

    /// Runs a statement that changes exactly one row.
    pub(super) async fn change_one(
        &mut self,
        sql: Sql,
        values: &[Value<'_>],
    ) -> Result<(), Failure> {
        match self.change(sql, values).await? {
            1 => Ok(()),
            rows => Err(Failure::of_client(format!(
                "{sql:?} changed {rows} rows instead of one"
            ))),
        }
    }

    /// Runs a statement that changes rows; returns their number.
    pub(super) async fn change(&mut self, sql: Sql, values: &[Value<'_>]) -> Result<u64, Failure> {
        let session = &mut *self.session;
        let statement = session.prepared[sql as usize].ok_or_else(|| not_prepared(sql))?;
        let outcome = session.connection.execute(&statement, values).await?;
        let class = match outcome.affected_rows {
            0 => Class::Other,
            _ => Class::Write,
        };
        self.watch.statement(sql as usize, class);
        Ok(outcome.affected_rows)
    }

    pub(super) async fn commit(&mut self) -> Result<(), Failure> {
        self.end(Sql::Commit, b"commit").await.map_err(left_open)
    }

    /// Commits a transaction that changed nothing, so that it can be repeated after any failure.
    pub(super) async fn end_reading(&mut self) -> Result<(), Failure> {
        self.end(Sql::Commit, b"commit").await
    }

    pub(super) async fn rollback(&mut self) -> Result<(), Failure> {
        self.end(Sql::Rollback, b"rollback").await
    }

    async fn end(&mut self, sql: Sql, text: &[u8]) -> Result<(), Failure> {
        self.session.connection.query(text).await?;
        self.watch.statement(sql as usize, Class::Other);
        Ok(())
    }
}

/// An integer parameter.
pub(super) fn int(number: u32) -> Value<'static> {
    Value::Int(number.into())
}

/// The failure of a commit: the transaction may have been committed if the connection was lost.
fn left_open(failure: Failure) -> Failure {
    Failure {
        outcome_unknown: failure.lost,
        ..failure
    }
}

/// The value that a row must have.
pub(super) fn expect<T>(value: Option<T>, what: &str) -> Result<T, Failure> {
    value.ok_or_else(|| Failure::of_client(format!("{what} is missing")))
}

fn not_prepared(sql: Sql) -> Failure {
    Failure::of_client(format!("{sql:?} was not prepared"))
}
