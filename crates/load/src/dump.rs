//! Loads a dump: one thread reads and splits it, rows are sent over several connections, all else over one, in order.

mod error;
mod queue;
mod reading;
mod worker;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    pin::pin,
    sync::Arc,
    thread,
    time::Duration,
};

use protocol::{Connection, Endpoint};
use workload::own_data::dump::{DumpStatement, Role, without_definer};

use crate::{
    dump::{
        error::failed,
        queue::{Job, Queue, TableColumns},
        reading::{Piece, Reading},
    },
    populate::STATEMENT_LIMIT,
    rules::Interrupt,
};

pub use error::DumpError;

/// Interval of the progress reports and of the checks for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A dump and where it goes.
#[derive(Debug)]
pub struct DumpLoad {
    /// The server and the account; its database is that of the tables.
    pub endpoint: Endpoint,
    /// The files, in their order.
    pub files: Vec<PathBuf>,
    /// Connections for rows; at least 1.
    pub streams: u32,
    /// INSERTs are sent as LOAD DATA LOCAL where that changes no row.
    pub as_lines: bool,
}

/// How far the load of a dump is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DumpProgress {
    /// Bytes of the files, compressed or not, that were read.
    pub bytes: u64,
    /// Bytes of all files.
    pub bytes_expected: u64,
    /// Statements with rows that were sent, and those of them that were sent as LOAD DATA LOCAL.
    pub statements: u64,
    /// Those that were sent as LOAD DATA LOCAL.
    pub as_lines: u64,
    /// Time since the start.
    pub elapsed: Duration,
}

impl DumpProgress {
    /// The estimated time for the rest of the files at this rate; `None` before the first byte.
    pub fn left(&self) -> Option<Duration> {
        let rest = self.bytes_expected.saturating_sub(self.bytes) as f64;
        (self.bytes > 0).then(|| self.elapsed.mul_f64(rest / self.bytes as f64))
    }
}

/// Loads a dump into the endpoint's database; `watch` is called on this thread.
///
/// # Errors
/// [`DumpError`]: the first failure ends the load.
pub fn load_dump(
    load: &DumpLoad,
    interrupt: &Interrupt,
    watch: &mut dyn FnMut(DumpProgress),
) -> Result<DumpProgress, DumpError> {
    let begin = reactor::system_now();
    let queue = Queue::default();
    let reading = Reading::of(&load.files);
    let result = thread::scope(|scope| {
        let mut threads = Vec::new();
        for index in 0..load.streams.max(1) {
            let queue = &queue;
            let builder = thread::Builder::new().name(format!("dump-{index}"));
            match builder.spawn_scoped(scope, move || worker::run(queue, &load.endpoint)) {
                Ok(thread) => threads.push(thread),
                Err(error) => queue.fail(DumpError::Thread(error)),
            }
        }
        let pieces = match reading.start(scope, &queue) {
            Ok(pieces) => pieces,
            Err(error) => {
                // Otherwise its connections would wait for rows.
                queue.fail(DumpError::Thread(error));
                return queue.failure().map_or(Ok(()), Err);
            }
        };
        let main = reactor::block_on(async {
            let opened = Connection::open_within(&load.endpoint, STATEMENT_LIMIT).await;
            let mut director = Director {
                load,
                queue: &queue,
                connection: opened.map_err(DumpError::Connection)?,
                database: None,
                tables: BTreeMap::new(),
                filled: BTreeSet::new(),
                sets: 0,
                interrupt,
            };
            loop {
                if interrupt.is_raised() {
                    return Err(DumpError::Interrupted);
                }
                if queue.has_failed() {
                    return Ok(());
                }
                watch(progress(&queue, &reading, begin));
                match pieces.recv_timeout(LOOK_EVERY) {
                    Ok(Piece::Statement(path, statement)) => {
                        director.take(&path, statement).await?
                    }
                    Ok(Piece::Failed(error)) => return Err(error),
                    Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                    Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
            while !queue.is_idle() && !queue.has_failed() {
                if interrupt.is_raised() {
                    return Err(DumpError::Interrupted);
                }
                watch(progress(&queue, &reading, begin));
                queue.wait();
            }
            director
                .connection
                .close()
                .await
                .map_err(DumpError::Connection)
        });
        let main = main.unwrap_or_else(|error| Err(DumpError::Thread(error)));
        if let Err(error) = main {
            queue.fail(error);
        }
        queue.close();
        drop(pieces);
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        queue.failure().map_or(Ok(()), Err)
    });
    result.map(|()| progress(&queue, &reading, begin))
}

fn progress(queue: &Queue, reading: &Reading, begin: reactor::Instant) -> DumpProgress {
    let (statements, as_lines) = queue.done();
    DumpProgress {
        bytes: reading.bytes(),
        bytes_expected: reading.bytes_expected(),
        statements,
        as_lines,
        elapsed: reactor::system_now() - begin,
    }
}

/// Says of each statement what becomes of it.
struct Director<'l> {
    load: &'l DumpLoad,
    queue: &'l Queue,
    connection: Connection,
    /// The database that the dump names.
    database: Option<String>,
    /// Tables with rows, as they are on the server.
    tables: BTreeMap<String, Arc<TableColumns>>,
    /// Tables whose rows may be under way.
    filled: BTreeSet<String>,
    /// Number of the session's settings so far.
    sets: usize,
    interrupt: &'l Interrupt,
}

impl Director<'_> {
    async fn take(
        &mut self,
        path: &std::path::Path,
        statement: DumpStatement,
    ) -> Result<(), DumpError> {
        let place = format!("{}, line {}", path.display(), statement.line);
        let text = statement.text;
        match Role::of(&text) {
            Role::Rows(table) => {
                let columns = self.columns(&place, &table).await?;
                self.filled.insert(table);
                self.queue.push(Job {
                    place,
                    text,
                    columns,
                    sets: self.sets,
                });
                Ok(())
            }
            Role::Session => {
                self.send(&place, &text).await?;
                self.sets = self.queue.set(text);
                Ok(())
            }
            Role::Table(name) => {
                if self.filled.contains(&name) {
                    self.barrier();
                }
                self.tables.remove(&name);
                self.send(&place, &text).await
            }
            Role::EnableKeys(name) => {
                // InnoDB has no keys that could be disabled.
                if self.tables.get(&name).is_some_and(|table| table.is_innodb) {
                    return Ok(());
                }
                self.barrier();
                self.send(&place, &text).await
            }
            Role::Database(second) => match &self.database {
                Some(first) if *first != second => Err(DumpError::Databases {
                    place,
                    first: first.clone(),
                    second,
                }),
                _ => {
                    self.database = Some(second);
                    Ok(())
                }
            },
            Role::Skipped => Ok(()),
            Role::Other => {
                self.barrier();
                self.send(&place, &without_definer(text)).await
            }
        }
    }

    /// Waits until all rows so far are in.
    fn barrier(&mut self) {
        while !self.queue.is_idle() && !self.queue.has_failed() {
            if self.interrupt.is_raised() {
                self.queue.fail(DumpError::Interrupted);
            }
            self.queue.wait();
        }
        self.filled.clear();
    }

    async fn send(&mut self, place: &str, text: &[u8]) -> Result<(), DumpError> {
        if self.queue.has_failed() {
            return Ok(());
        }
        let mut sent = pin!(self.connection.query(text));
        while !self.interrupt.is_raised() {
            if let Ok(sent) = reactor::timeout(LOOK_EVERY, sent.as_mut()).await {
                return sent.map(drop).map_err(|error| failed(place, text, error));
            }
        }
        Err(DumpError::Interrupted)
    }

    async fn columns(&mut self, place: &str, table: &str) -> Result<Arc<TableColumns>, DumpError> {
        if let Some(known) = self.tables.get(table) {
            return Ok(Arc::clone(known));
        }
        let read = TableColumns::read(&mut self.connection, table, self.load.as_lines).await;
        let read = Arc::new(read.map_err(|error| failed(place, b"", error))?);
        self.tables.insert(table.to_owned(), Arc::clone(&read));
        Ok(read)
    }
}
