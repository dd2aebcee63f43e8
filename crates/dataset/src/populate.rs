//! Populates a dataset: creates tables and sends their rows over several connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use protocol::{Connection, Endpoint};
use reactor::Interrupt;

use crate::{
    bulk::{Adjusted, BulkError, Lines, refuses_local},
    own_session::open_settled,
    row_refusal::RowRefusal,
    table_data::TableData,
};

mod queue;
mod source;

use queue::{Job, Queue};
use source::{Tally, UnitLines};

/// Interval of the progress reports.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Time limit for each statement that creates or fills a table, for example the creation of an index.
pub const STATEMENT_LIMIT: Duration = Duration::from_secs(2 * 3600);
/// Maximum number of retries for the rows of one statement.
const RETRIES_AT_MOST: u32 = 10;

/// The tables to populate, and the parameters.
pub struct Population {
    pub endpoint: Endpoint,
    /// The tables, in the order in which they start.
    pub tables: Vec<TableData>,
    /// Number of connections; at least 1.
    pub streams: u32,
    /// Statements that each connection sends first, such as `SET foreign_key_checks=0`: for its session only.
    pub session: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PopulateEvent {
    Creating {
        table: String,
    },
    /// The rows of a table are now being sent.
    Filling {
        table: String,
        /// Units of its rows ([`crate::Rows::units`]).
        units: u64,
    },
    /// The server does not accept LOAD DATA LOCAL, so that all rows are sent by INSERT.
    ByInsert {
        /// The server's message.
        reason: String,
    },
    /// The server changed values while it inserted rows, which its SQL mode allows: they are not those of the
    /// benchmark.
    Adjusted {
        table: String,
        /// The warnings of some of its rows.
        adjusted: Adjusted,
    },
    /// A statement after the rows starts.
    Finishing {
        table: String,
        statement: String,
    },
    Ready {
        table: String,
    },
    Progress(Progress),
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Rows sent so far.
    pub rows: u64,
    /// Bytes of the rows sent so far.
    pub bytes: u64,
    /// Estimated bytes of all rows, from a sample of each table.
    pub bytes_expected: u64,
    pub elapsed: Duration,
}

impl Progress {
    /// Bytes of rows per second so far.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Rows per second so far.
    pub fn rows_per_s(&self) -> f64 {
        self.rows as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// The estimated time for the rest of the rows at this rate; `None` before the first byte.
    pub fn left(&self) -> Option<Duration> {
        let rest = self.bytes_expected.saturating_sub(self.bytes) as f64;
        (self.bytes > 0).then(|| self.elapsed.mul_f64(rest / self.bytes as f64))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PopulateError {
    /// The server cannot be reached, or a connection was lost.
    #[error("{0}")]
    Connection(protocol::Error),
    #[error("table {table}: {sql}: {source}")]
    Statement {
        table: String,
        sql: String,
        source: protocol::Error,
    },
    #[error("table {table}: the server refuses a row: {message}")]
    Row {
        table: String,
        /// The server's message, after the place of the row in a user's file.
        message: String,
        /// The row is from a user's file.
        is_of_file: bool,
    },
    #[error("interrupted while loading; the tables are incomplete")]
    Interrupted,
    /// A thread or its event loop could not be set up.
    #[error("cannot set up a connection's thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// Creates the tables and fills them; `watch` is called on this thread.
///
/// The first failure ends all streams; unfinished tables are left as they are.
pub fn populate(
    population: &Population,
    interrupt: &Interrupt,
    watch: &mut dyn FnMut(PopulateEvent),
) -> Result<Progress, PopulateError> {
    let streams = population.streams.max(1);
    let tally = Tally::default();
    let (queue, bytes_expected) = Queue::new(&population.tables, streams);
    let shared = Shared {
        population,
        queue,
        tally,
        end: interrupt.child(),
        by_insert: AtomicBool::new(false),
    };
    let begin = reactor::system_now();
    let progress = |shared: &Shared<'_>| Progress {
        rows: shared.tally.rows(),
        bytes: shared.tally.bytes(),
        bytes_expected,
        elapsed: reactor::system_now() - begin,
    };
    let result = thread::scope(|scope| {
        let (events, inbox) = mpsc::channel();
        let threads: Vec<_> = (0..streams)
            .map(|index| {
                let (shared, events) = (&shared, events.clone());
                thread::Builder::new()
                    .name(format!("populate-{index}"))
                    .spawn_scoped(scope, move || shared.stream(&events))
            })
            .collect();
        drop(events);
        loop {
            match inbox.recv_timeout(PROGRESS_EVERY) {
                Ok(event) => watch(event),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    watch(PopulateEvent::Progress(progress(&shared)));
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        first_failure(threads)
    });
    let reached = progress(&shared);
    if interrupt.is_raised() {
        return Err(PopulateError::Interrupted);
    }
    result.map(|()| reached)
}

/// The failure that ended the streams; failures caused by the end itself do not count.
fn first_failure<'s>(
    threads: Vec<std::io::Result<thread::ScopedJoinHandle<'s, Result<(), PopulateError>>>>,
) -> Result<(), PopulateError> {
    let mut result = Ok(());
    for thread in threads {
        let ended = match thread?.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        match (&result, ended) {
            (_, Ok(())) | (Err(_), Err(PopulateError::Interrupted)) => {}
            (Ok(()) | Err(PopulateError::Interrupted), failure) => result = failure,
            (Err(_), Err(_)) => {}
        }
    }
    result
}

/// The state shared by all streams.
struct Shared<'p> {
    population: &'p Population,
    queue: Queue,
    tally: Tally,
    /// Ends all streams: raised by an interruption, or by a stream that fails.
    end: Interrupt,
    /// Set by a stream when the server does not accept LOAD DATA LOCAL.
    by_insert: AtomicBool,
}

type Events = mpsc::Sender<PopulateEvent>;

impl Shared<'_> {
    /// Runs one connection on its own thread.
    fn stream(&self, events: &Events) -> Result<(), PopulateError> {
        let result = reactor::block_on(async {
            let ended = self.end.unless_raised(self.work(events)).await;
            ended.unwrap_or(Err(PopulateError::Interrupted))
        });
        let result = result.unwrap_or_else(|error| Err(PopulateError::Thread(error)));
        if result.is_err() {
            self.end.raise();
        }
        result
    }

    async fn work(&self, events: &Events) -> Result<(), PopulateError> {
        let mut connection = open_settled(&self.population.endpoint, STATEMENT_LIMIT)
            .await
            .map_err(PopulateError::Connection)?;
        for sql in &self.population.session {
            self.run(&mut connection, "", sql).await?;
        }
        while let Some(job) = self.queue.next(&self.end) {
            match &job {
                Job::Create { table } => self.create(&mut connection, *table, events).await?,
                Job::Fill { table, units } => {
                    self.fill(&mut connection, *table, units.clone(), events)
                        .await?;
                }
                Job::Finish { table } => self.finish(&mut connection, *table, events).await?,
            }
            self.queue.done(&job);
        }
        if self.end.is_raised() {
            return Err(PopulateError::Interrupted);
        }
        connection.close().await.map_err(PopulateError::Connection)
    }

    async fn create(
        &self,
        connection: &mut Connection,
        table: usize,
        events: &Events,
    ) -> Result<(), PopulateError> {
        let table = &self.population.tables[table];
        tell(
            events,
            PopulateEvent::Creating {
                table: table.name.clone(),
            },
        );
        for sql in &table.create {
            self.run(connection, &table.name, sql).await?;
        }
        if let Some(rows) = &table.rows {
            tell(
                events,
                PopulateEvent::Filling {
                    table: table.name.clone(),
                    units: rows.units(),
                },
            );
        }
        Ok(())
    }

    /// Sends the rows of some units; sends them again if the server rolled them back because of another stream.
    async fn fill(
        &self,
        connection: &mut Connection,
        table: usize,
        units: std::ops::Range<u64>,
        events: &Events,
    ) -> Result<(), PopulateError> {
        let mut retries = 0;
        loop {
            let filled = self.fill_once(connection, table, units.clone(), events);
            match filled.await {
                Err(PopulateError::Statement { source, .. })
                    // Parallel streams into one table with secondary indexes can conflict.
                    if retries < RETRIES_AT_MOST
                        && source.is_retryable()
                        && self.leaves_nothing(table, &units) =>
                {
                    self.undo(connection, table).await?;
                    retries += 1;
                }
                filled => return filled,
            }
        }
    }

    /// True if a failed attempt leaves no rows: of several INSERT statements outside of a transaction, those before the
    /// failed one stay.
    fn leaves_nothing(&self, table: usize, units: &std::ops::Range<u64>) -> bool {
        let rows = self.population.tables[table].rows.as_deref();
        !self.by_insert.load(Ordering::Relaxed)
            || rows.is_some_and(|rows| rows.mark(units).is_some())
    }

    /// A lock wait timeout leaves the rest of a transaction open.
    async fn undo(&self, connection: &mut Connection, table: usize) -> Result<(), PopulateError> {
        let name = &self.population.tables[table].name;
        self.run(connection, name, "rollback").await
    }

    async fn fill_once(
        &self,
        connection: &mut Connection,
        table: usize,
        units: std::ops::Range<u64>,
        events: &Events,
    ) -> Result<(), PopulateError> {
        let table = &self.population.tables[table];
        let Some(rows) = &table.rows else {
            return Ok(());
        };
        let columns = format!("({})", table.columns);
        let lines = Lines {
            table: &table.name,
            columns: &columns,
            separator: b'\t',
            charset: Some(rows.charset()),
            name: "generated",
        };
        let mark = rows.mark(&units);
        if mark.is_some() {
            self.run(connection, &table.name, "start transaction")
                .await?;
        }
        let filled = units.clone();
        let mut source = UnitLines::new(Arc::clone(rows), units, &self.tally, &self.end);
        let mut result = Ok(None);
        if !self.by_insert.load(Ordering::Relaxed) {
            result = lines.load_local(connection, &mut source).await;
        }
        if let Err(error) = &result
            && refuses_local(error)
        {
            let is_known = self.by_insert.swap(true, Ordering::Relaxed);
            if !is_known && let BulkError::Statement { source, .. } = error {
                let reason = source.to_string();
                tell(events, PopulateEvent::ByInsert { reason });
            }
            result = Ok(None);
        }
        if result.is_ok() && source.has_more() {
            result = lines.insert(connection, &mut source).await;
        }
        if result.is_err() {
            source.take_back();
        }
        let adjusted = result.map_err(|error| {
            let place = place_of(&error, rows.as_ref(), &filled);
            self.blame(&table.name, error, place)
        })?;
        if let Some(adjusted) = adjusted {
            let table = table.name.clone();
            tell(events, PopulateEvent::Adjusted { table, adjusted });
        }
        if let Some(mark) = mark {
            self.run(connection, &table.name, &mark).await?;
            self.run(connection, &table.name, "commit").await?;
        }
        Ok(())
    }

    async fn finish(
        &self,
        connection: &mut Connection,
        table: usize,
        events: &Events,
    ) -> Result<(), PopulateError> {
        let data = &self.population.tables[table];
        for sql in &data.finish {
            tell(
                events,
                PopulateEvent::Finishing {
                    table: data.name.clone(),
                    statement: sql.clone(),
                },
            );
            self.run(connection, &data.name, sql).await?;
        }
        tell(
            events,
            PopulateEvent::Ready {
                table: data.name.clone(),
            },
        );
        Ok(())
    }

    async fn run(
        &self,
        connection: &mut Connection,
        table: &str,
        sql: &str,
    ) -> Result<(), PopulateError> {
        match connection.query(sql.as_bytes()).await {
            Ok(_) => Ok(()),
            Err(source) => Err(self.blame(
                table,
                BulkError::Statement {
                    sql: sql.to_owned(),
                    source,
                },
                None,
            )),
        }
    }

    /// The error of a table; `place` is that of a refused row in a user's file.
    fn blame(&self, table: &str, error: BulkError, place: Option<String>) -> PopulateError {
        match error {
            _ if self.end.is_raised() => PopulateError::Interrupted,
            BulkError::Statement { source, .. } if source.is_connection_lost() => {
                PopulateError::Connection(source)
            }
            BulkError::Statement { sql, source } => PopulateError::Statement {
                table: table.to_owned(),
                sql,
                source,
            },
            BulkError::Refused { message, .. } => PopulateError::Row {
                table: table.to_owned(),
                is_of_file: place.is_some(),
                message: match place {
                    Some(place) => format!("{place}: {message}"),
                    None => message,
                },
            },
        }
    }
}

/// The place of a refused row in a user's file, where the server says which row of the statement it is.
fn place_of(
    error: &BulkError,
    rows: &dyn crate::Rows,
    units: &std::ops::Range<u64>,
) -> Option<String> {
    let BulkError::Refused {
        message,
        rows_before,
    } = error
    else {
        return None;
    };
    let refusal = RowRefusal::of(message)?;
    rows.place(units, rows_before + refusal.row)
}

fn tell(events: &Events, event: PopulateEvent) {
    // The watching thread outlives the streams unless it panicked; then no receiver is left.
    let _ = events.send(event);
}
