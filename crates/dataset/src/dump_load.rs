//! Loads a dump: one thread reads and splits it, rows are sent over several connections, all else over one, in order.

mod columns;
mod error;
mod job;
mod mariadb_syntax;
mod queue;
mod reading;
mod source;
mod spool;
mod sql_mode;
mod worker;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use crate::{
    dump_load::{
        columns::TableColumns,
        error::failed,
        job::{Job, JobText},
        queue::Queue,
        reading::{ReaderEvent, Reading},
        source::Source,
        spool::Spool,
    },
    own_data::dump::{DefaultCharset, DumpStatement, Role, creates_event, without_definer},
    own_session::open_settled,
    populate::STATEMENT_LIMIT,
};
use protocol::{Connection, Endpoint};
use reactor::{Interrupt, channel::RecvTimeoutError};
use sqltext::{Quoting, without_database};

pub use error::DumpError;

/// Interval of the progress reports.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);
/// Statements shorter than this stay in memory until they are sent: reading each once more would cost as much as sending it.
const IN_FILE_AT_LEAST: usize = 64 << 10;

/// A dump and where it goes.
#[derive(Debug)]
pub struct DumpLoad {
    /// The server and the account; its database is that of the tables.
    pub endpoint: Endpoint,
    /// The files, in their order.
    pub files: Vec<PathBuf>,
    /// Settings of the session before the first statement.
    pub session: Vec<String>,
    /// The database that the files' names say.
    pub database: Option<String>,
    /// Connections for rows; at least 1.
    pub streams: u32,
    /// INSERTs are sent as LOAD DATA LOCAL where that changes no row.
    pub as_lines: bool,
    /// A directory on a disk: rows of compressed files wait there in a file without a name, if it can be made, so that each
    /// connection has a table of its own.
    pub spool_in: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DumpProgress {
    /// Bytes of the files, compressed or not, that were read, less the share of the rows that are not in yet.
    pub bytes: u64,
    /// Bytes of all files.
    pub bytes_expected: u64,
    /// Statements with rows that were sent, and those of them that were sent as LOAD DATA LOCAL.
    pub statements: u64,
    /// Those that were sent as LOAD DATA LOCAL.
    pub as_lines: u64,
    pub elapsed: Duration,
}

impl DumpProgress {
    /// The estimated time for the rest of the files at this rate; `None` before the first byte.
    pub fn left(&self) -> Option<Duration> {
        let rest = self.bytes_expected.saturating_sub(self.bytes) as f64;
        (self.bytes > 0).then(|| self.elapsed.mul_f64(rest / self.bytes as f64))
    }
}

#[derive(Debug)]
pub struct LoadedDump {
    pub progress: DumpProgress,
    /// What a user should know of it, a sentence each.
    pub notes: Vec<String>,
}

/// Loads a dump into the endpoint's database; `watch` is called on this thread.
///
/// # Errors
/// [`DumpError`]: the first failure ends the load.
pub fn load_dump(
    load: &DumpLoad,
    interrupt: &Interrupt,
    watch: &mut dyn FnMut(DumpProgress),
) -> Result<LoadedDump, DumpError> {
    let begin = reactor::system_now();
    let streams = load.streams.max(1) as usize;
    let ahead_at_most = ahead_at_most();
    let queue = Queue::new(interrupt, streams, ahead_at_most);
    let spool_in = load.spool_in.as_ref();
    // Without it the load only takes longer.
    let spool = spool_in.and_then(|it| Spool::make(it, ahead_at_most as u64).ok());
    let spool = spool.map(Arc::new);
    let reading = Reading::of(&load.files, &load.session);
    let mut notes = Vec::new();
    let result = thread::scope(|scope| {
        let mut threads = Vec::new();
        for index in 0..streams {
            let queue = &queue;
            let builder = thread::Builder::new().name(format!("dump-{index}"));
            match builder.spawn_scoped(scope, move || worker::run(queue, index, &load.endpoint)) {
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
            let opened = open_settled(&load.endpoint, STATEMENT_LIMIT);
            let Some(opened) = queue.unless_failed(opened).await else {
                return Ok(());
            };
            let mut director = Director {
                load,
                queue: &queue,
                spool: spool.clone(),
                connection: opened.map_err(DumpError::Connection)?,
                used: None,
                named: load.database.clone(),
                charset: DefaultCharset::default(),
                tables: BTreeMap::new(),
                filled: BTreeSet::new(),
                sets: 0,
                events: 0,
                notes: &mut notes,
            };
            for set in &load.session {
                if let Role::Session(set) = Role::of(set.as_bytes()) {
                    director.set("the session of the dump", set).await?;
                }
            }
            loop {
                if queue.fail_if_interrupted() {
                    return Ok(());
                }
                watch(progress(&queue, &reading, begin));
                match interrupt.receive(&pieces, PROGRESS_EVERY) {
                    Ok(ReaderEvent::Statements(source, statements)) => {
                        for read in statements {
                            if queue.fail_if_interrupted() {
                                return Ok(());
                            }
                            watch(progress(&queue, &reading, begin));
                            let source = Arc::clone(&source);
                            director
                                .take(source, read.statement, read.has_backslashes)
                                .await?;
                        }
                    }
                    Ok(ReaderEvent::Database(name)) => director.named = Some(name),
                    Ok(ReaderEvent::CutOff(note)) => director.notes.push(note),
                    Ok(ReaderEvent::Failed(error)) => return Err(error),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            while !queue.is_idle() && !queue.fail_if_interrupted() {
                watch(progress(&queue, &reading, begin));
                queue.wait();
            }
            if queue.fail_if_interrupted() {
                return Ok(());
            }
            director.note_events().await?;
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
    result.map(|()| LoadedDump {
        progress: progress(&queue, &reading, begin),
        notes,
    })
}

/// Bytes of statements that may be read before their rows are sent: a quarter of the memory, so that they are still in the page
/// cache then.
fn ahead_at_most() -> usize {
    let info = rustix::system::sysinfo();
    (info.totalram as usize).saturating_mul(info.mem_unit as usize) / 4
}

fn progress(queue: &Queue<'_>, reading: &Reading, begin: reactor::Instant) -> DumpProgress {
    let (statements, as_lines) = queue.done();
    DumpProgress {
        bytes: reading.bytes_less(queue.bytes_ahead()),
        bytes_expected: reading.bytes_expected(),
        statements,
        as_lines,
        elapsed: reactor::system_now() - begin,
    }
}

/// Says of each statement what becomes of it.
struct Director<'l> {
    load: &'l DumpLoad,
    queue: &'l Queue<'l>,
    spool: Option<Arc<Spool>>,
    connection: Connection,
    /// The database that a statement names.
    used: Option<String>,
    /// The one that names of files, or a first line, say.
    named: Option<String>,
    charset: DefaultCharset,
    /// Tables with rows, as they are on the server.
    tables: BTreeMap<String, Arc<TableColumns>>,
    /// Tables whose rows may be under way.
    filled: BTreeSet<String>,
    /// Number of the session's settings so far.
    sets: usize,
    /// Number of events so far.
    events: usize,
    notes: &'l mut Vec<String>,
}

impl Director<'_> {
    async fn take(
        &mut self,
        source: Arc<Source>,
        statement: DumpStatement,
        has_backslashes: bool,
    ) -> Result<(), DumpError> {
        let place = format!("{}, line {}", source.path.display(), statement.line);
        let own = self.without_own_database(&statement.text, has_backslashes);
        let is_in_file = source.is_plain && own.is_none();
        let text = own.unwrap_or(statement.text);
        match Role::of(&text) {
            Role::Rows(table) => {
                let Some(columns) = self.columns(&place, &table).await? else {
                    return Ok(());
                };
                if !columns.is_free(&text, has_backslashes) {
                    self.barrier();
                    self.send(&place, &text).await?;
                    self.queue.sent_in_order();
                    return Ok(());
                }
                self.filled.insert(table);
                let text = if is_in_file && text.len() >= IN_FILE_AT_LEAST {
                    JobText::InFile {
                        source,
                        at: statement.at,
                        bytes: text.len(),
                    }
                } else {
                    self.kept(text)
                };
                self.queue.push(Job {
                    place,
                    text,
                    columns,
                    sets: self.sets,
                });
                Ok(())
            }
            Role::Session(text) => self.set(&place, text).await,
            Role::Table(name) => {
                if self.filled.contains(&name) {
                    self.barrier();
                }
                self.tables.remove(&name);
                self.set_charset_before(&place, &text).await?;
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
            Role::Database(name) => self.database(place, name),
            Role::AlterDatabase(name, text) => {
                self.database(place.clone(), name)?;
                self.charset.settle();
                self.barrier();
                self.send(&place, &text).await
            }
            Role::Skipped => Ok(()),
            Role::Other => {
                self.barrier();
                // It can be a trigger.
                self.tables.clear();
                self.events += usize::from(creates_event(&text));
                self.set_charset_before(&place, &text).await?;
                self.send(&place, &without_definer(text)).await
            }
        }
    }

    /// A statement whose names are not qualified with the dump's database; `None` where it has no such name. The tables are
    /// in another one.
    fn without_own_database(&self, text: &[u8], has_backslashes: bool) -> Option<Vec<u8>> {
        let quoting = Quoting {
            has_plain_backslashes: !has_backslashes,
            ..Quoting::default()
        };
        let database = self.used.as_ref().or(self.named.as_ref())?;
        without_database(text, database, quoting)
    }

    /// Sets something for the rows behind it, on every connection.
    async fn set(&mut self, place: &str, text: Vec<u8>) -> Result<(), DumpError> {
        self.send(place, &text).await?;
        self.sets = self.queue.set(text);
        // Which rows may go as lines, and in any order, depends on settings.
        self.tables.clear();
        Ok(())
    }

    /// Gives the database the character set that is concluded from the statements before this one.
    async fn set_charset_before(&mut self, place: &str, statement: &[u8]) -> Result<(), DumpError> {
        let Some(charset) = self.charset.before(statement) else {
            return Ok(());
        };
        let charset = charset.to_owned();
        let before = self.collation(place).await?;
        let alter = format!("ALTER DATABASE {charset}");
        self.send(place, alter.as_bytes()).await?;
        if self.collation(place).await? != before {
            self.notes.push(format!(
                "no statement gives the character set of the database; the character set of most \
                 tables is used ({charset})"
            ));
        }
        Ok(())
    }

    /// Notes that the server executes the dump's events by itself: what they do is part of the load and changes its rows.
    async fn note_events(&mut self) -> Result<(), DumpError> {
        let place = "the end of the dump";
        let is_on = self.events > 0
            && self.value(place, "select @@event_scheduler").await? == Some(b"ON".to_vec());
        if is_on {
            self.notes.push(format!(
                "this server executes the dump's events ({}), also during the runs; to prevent \
                 this, set event_scheduler = OFF",
                self.events
            ));
        }
        Ok(())
    }

    /// The collation of the database; `None` once everything ends.
    async fn collation(&mut self, place: &str) -> Result<Option<Vec<u8>>, DumpError> {
        self.value(place, "select @@collation_database").await
    }

    /// The single value that a query returns; `None` once everything ends.
    async fn value(&mut self, place: &str, sql: &str) -> Result<Option<Vec<u8>>, DumpError> {
        let read = self.queue.unless_failed(self.connection.rows(sql)).await;
        let sets = read
            .transpose()
            .map_err(|error| failed(place, sql.as_bytes(), error))?;
        let mut rows = sets.into_iter().flatten().flat_map(|set| set.rows);
        Ok(rows.next().and_then(|row| row.into_iter().next()?))
    }

    /// A statement in memory as long as that takes it, then in the file for those that wait.
    fn kept(&self, text: Vec<u8>) -> JobText {
        let spool = self
            .spool
            .as_ref()
            .filter(|_| text.len() >= IN_FILE_AT_LEAST && !self.queue.keeps(text.len()));
        let spooled = spool.and_then(|spool| spool.put(&text));
        spooled.map_or_else(|| JobText::Kept(text), JobText::Spooled)
    }

    /// Notes the database that a statement names; an error if it is a second one.
    fn database(&mut self, place: String, second: String) -> Result<(), DumpError> {
        match &self.used {
            Some(first) if *first != second => Err(DumpError::Databases {
                place,
                first: first.clone(),
                second,
            }),
            _ => {
                self.used = Some(second);
                Ok(())
            }
        }
    }

    /// Waits until all rows so far are in.
    fn barrier(&mut self) {
        while !self.queue.is_idle() && !self.queue.fail_if_interrupted() {
            self.queue.wait();
        }
        self.filled.clear();
    }

    async fn send(&mut self, place: &str, text: &[u8]) -> Result<(), DumpError> {
        match self.queue.unless_failed(self.connection.query(text)).await {
            Some(Err(error)) => Err(failed(place, text, error)),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// The columns of a table; `None` once everything ends.
    async fn columns(
        &mut self,
        place: &str,
        table: &str,
    ) -> Result<Option<Arc<TableColumns>>, DumpError> {
        if let Some(known) = self.tables.get(table) {
            return Ok(Some(Arc::clone(known)));
        }
        let read = TableColumns::read(&mut self.connection, table, self.load.as_lines);
        let Some(read) = self.queue.unless_failed(read).await else {
            return Ok(None);
        };
        let read = Arc::new(read.map_err(|error| failed(place, b"", error))?);
        self.tables.insert(table.to_owned(), Arc::clone(&read));
        Ok(Some(read))
    }
}
