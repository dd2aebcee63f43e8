//! The load of one table as measured operations: its rows by LOAD DATA, then its keys.

use std::{
    io,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dataset::{
    Adjusted, BulkError, Lines, Rows, TableData,
    own_session::settle,
    tpch::{LoadPlan, Table, TableRows},
};
use load::{Failure, Next, OperationObserver, User};
use protocol::{Connection, Endpoint, LocalSource};

/// Size of a piece of rows to send, bytes.
const PIECE_BYTES: usize = 256 << 10;

/// Operation that loads rows.
const ROWS: usize = 0;
/// Operation that creates indexes and foreign keys.
const KEYS: usize = 1;

/// The load of one existing, empty table, shared by all loaders.
pub(super) struct TableLoad {
    data: TableData,
    rows: TableRows,
    session: Vec<String>,
    /// Statements that create the keys after all rows are loaded.
    keys: Vec<String>,
    operations: Vec<String>,
    statements: u64,
    /// Number of LOAD DATA statements begun.
    begun: AtomicU64,
    /// Number of LOAD DATA statements finished.
    done: AtomicU64,
    /// Rows and bytes of the finished statements.
    rows_in: AtomicU64,
    bytes_in: AtomicU64,
}

impl TableLoad {
    /// A load by this number of LOAD DATA statements; fewer if the table has fewer units of rows.
    pub(super) fn new(plan: &LoadPlan, table: Table, statements: u64) -> Self {
        let rows = TableRows::new(table, plan.scale_factor);
        Self {
            data: plan.table(table),
            rows,
            session: plan.session(),
            keys: plan.keys_after(table),
            operations: vec!["rows".to_owned(), "keys".to_owned()],
            statements: statements.clamp(1, rows.units()),
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
            rows_in: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
        }
    }

    pub(super) fn operations(&self) -> &[String] {
        &self.operations
    }

    pub(super) fn table(&self) -> &str {
        &self.data.name
    }

    /// Rows and bytes of the finished LOAD DATA statements.
    pub(super) fn loaded_totals(&self) -> (u64, u64) {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (of(&self.rows_in), of(&self.bytes_in))
    }

    /// Generates the first rows, so that the generator's start of a second is not part of the load.
    pub(super) fn warm_up(&self) {
        self.rows.write(0, &mut Vec::new());
    }

    /// The units of rows in a statement.
    fn units(&self, statement: u64) -> Range<u64> {
        let begin = |statement: u64| self.rows.units() * statement / self.statements;
        begin(statement)..begin(statement + 1)
    }
}

/// One loading connection.
pub(super) struct TableLoader {
    load: Arc<TableLoad>,
    endpoint: Arc<Endpoint>,
    connection: Option<Connection>,
    /// Index of the next LOAD DATA statement.
    statement: Option<u64>,
    makes_keys: bool,
}

impl TableLoader {
    /// A loader, not connected yet.
    pub(super) fn new(load: Arc<TableLoad>, endpoint: Arc<Endpoint>) -> Self {
        Self {
            load,
            endpoint,
            connection: None,
            statement: None,
            makes_keys: false,
        }
    }

    async fn send_rows(&mut self, statement: u64) -> Result<(), Failure> {
        let data = &self.load.data;
        let columns = format!("({})", data.columns);
        let lines = Lines {
            table: &data.name,
            columns: &columns,
            separator: b'\t',
            charset: Some("binary"),
            name: "generated",
        };
        let mut source = Units {
            rows: self.load.rows,
            units: self.load.units(statement),
            sent_rows: 0,
            sent_bytes: 0,
        };
        let connection = connected(&mut self.connection)?;
        let adjusted = lines
            .load_local(connection, &mut source)
            .await
            .map_err(failure)?;
        if let Some(adjusted) = adjusted {
            return Err(adjusted_rows(&adjusted));
        }
        self.load
            .rows_in
            .fetch_add(source.sent_rows, Ordering::Relaxed);
        self.load
            .bytes_in
            .fetch_add(source.sent_bytes, Ordering::Relaxed);
        // All rows are loaded when the last statement is done.
        let done = self.load.done.fetch_add(1, Ordering::AcqRel) + 1;
        self.makes_keys = done == self.load.statements && !self.load.keys.is_empty();
        self.statement = None;
        Ok(())
    }

    async fn make_keys(&mut self) -> Result<(), Failure> {
        let connection = connected(&mut self.connection)?;
        for sql in &self.load.keys {
            connection.query(sql.as_bytes()).await?;
        }
        self.makes_keys = false;
        Ok(())
    }
}

impl User for TableLoader {
    fn operations(&self) -> &[String] {
        &self.load.operations
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        let mut connection = Connection::open(&self.endpoint).await?;
        settle(&mut connection).await?;
        for sql in &self.load.session {
            connection.query(sql.as_bytes()).await?;
        }
        self.connection = Some(connection);
        Ok(())
    }

    fn next(&mut self) -> Next {
        if self.makes_keys {
            return Next::Operation(KEYS);
        }
        let begun = self.load.begun.fetch_add(1, Ordering::Relaxed);
        if begun >= self.load.statements {
            return Next::End;
        }
        self.statement = Some(begun);
        Next::Operation(ROWS)
    }

    async fn execute(&mut self, _watch: &mut impl OperationObserver) -> Result<(), Failure> {
        match self.statement {
            Some(statement) => self.send_rows(statement).await,
            None => self.make_keys().await,
        }
    }

    async fn disconnect(&mut self) {
        if let Some(connection) = self.connection.take() {
            // The server notices a lost connection without this message.
            let _ = connection.close().await;
        }
    }
}

/// A stream of the rows of a range of units.
struct Units {
    rows: TableRows,
    units: Range<u64>,
    sent_rows: u64,
    sent_bytes: u64,
}

impl LocalSource for Units {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let begin = buffer.len();
        while buffer.len() - begin < PIECE_BYTES {
            let Some(unit) = self.units.next() else { break };
            self.sent_rows += self.rows.write(unit, buffer);
        }
        self.sent_bytes += (buffer.len() - begin) as u64;
        Ok(!self.units.is_empty())
    }
}

fn connected(connection: &mut Option<Connection>) -> Result<&mut Connection, Failure> {
    connection.as_mut().ok_or_else(Failure::not_connected)
}

fn failure(error: BulkError) -> Failure {
    match error {
        BulkError::Statement { source, .. } => source.into(),
        refused @ BulkError::Refused { .. } => Failure::of_client(refused.to_string()),
    }
}

/// The failure for rows changed by the server: they are not TPC-H's, so the duration of the load is not valid.
fn adjusted_rows(adjusted: &Adjusted) -> Failure {
    let Adjusted { warnings, first } = adjusted;
    Failure::of_client(format!(
        "the server changed values of the rows ({warnings} warnings): {first}"
    ))
}

#[cfg(test)]
mod tests {
    use dataset::tpch::{KeyTime, Keys};

    use super::*;

    fn load(keys: Keys, statements: u64) -> TableLoad {
        let plan = LoadPlan {
            scale_factor: "0.01".parse().unwrap(),
            keys,
            key_time: KeyTime::After,
            checks: false,
        };
        TableLoad::new(&plan, Table::LineItem, statements)
    }

    #[test]
    fn statements_share_all_units() {
        for statements in [1, 2, 7, 15, 100] {
            let load = load(Keys::Primary, statements);
            assert_eq!(load.statements, statements.min(15));
            let ranges: Vec<_> = (0..load.statements).map(|one| load.units(one)).collect();
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, 15));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(ranges.iter().all(|range| !range.is_empty()));
        }
    }

    #[test]
    fn each_statement_is_begun_once_and_then_all_is_over() {
        let load = Arc::new(load(Keys::Secondary, 3));
        assert_eq!(load.keys.len(), 1);
        let endpoint = Arc::new(Endpoint::plain(
            protocol::Address::Unix("/nowhere".into()),
            "",
            std::time::Duration::from_secs(1),
        ));
        let mut one = TableLoader::new(Arc::clone(&load), Arc::clone(&endpoint));
        let mut other = TableLoader::new(load, endpoint);
        assert_eq!(
            (one.next(), one.statement),
            (Next::Operation(ROWS), Some(0))
        );
        assert_eq!(
            (other.next(), other.statement),
            (Next::Operation(ROWS), Some(1))
        );
        assert_eq!(
            (one.next(), one.statement),
            (Next::Operation(ROWS), Some(2))
        );
        assert_eq!((one.next(), other.next()), (Next::End, Next::End));
        one.makes_keys = true;
        assert_eq!(one.next(), Next::Operation(KEYS));
    }
}
