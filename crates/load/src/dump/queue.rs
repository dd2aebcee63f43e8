//! Statements with rows on their way to the connections, and what these need to know of tables and session.

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use protocol::Connection;
use workload::own_data::dump::{ColumnKind, insert_head, is_literal};

use crate::{dump::error::DumpError, rules::Interrupt};

/// Bytes of statements that wait or are sent at most, unless one alone is longer.
const BYTES_AT_MOST: usize = 32 << 20;
/// How long one wait lasts.
const WAIT: Duration = Duration::from_millis(50);
/// Types whose values a line says as a statement does, where their texts are in the session's character set.
const TEXTS: [&str; 12] = [
    "char",
    "varchar",
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "enum",
    "set",
    "date",
    "datetime",
    "timestamp",
    "time",
];
const NUMBERS: [&str; 9] = [
    "tinyint",
    "smallint",
    "mediumint",
    "int",
    "bigint",
    "decimal",
    "float",
    "double",
    "year",
];
const BYTES: [&str; 7] = [
    "binary",
    "varbinary",
    "tinyblob",
    "blob",
    "mediumblob",
    "longblob",
    "bit",
];

/// A statement with rows.
#[derive(Debug)]
pub(super) struct Job {
    /// File and line.
    pub(super) place: String,
    pub(super) text: Vec<u8>,
    pub(super) columns: Arc<TableColumns>,
    /// Number of the settings that hold for it.
    pub(super) sets: usize,
}

/// The columns of a table.
#[derive(Debug)]
pub(super) struct TableColumns {
    pub(super) is_innodb: bool,
    /// Position and name of the one that the server counts.
    pub(super) counted: Option<(usize, String)>,
    /// Name and kind of each; none where the rows are sent as they are.
    pub(super) kinds: Option<Vec<(String, ColumnKind)>>,
}

impl TableColumns {
    /// Reads them; `as_lines` says that rows may be sent as lines.
    pub(super) async fn read(
        connection: &mut Connection,
        table: &str,
        as_lines: bool,
    ) -> Result<Self, protocol::Error> {
        let sql = format!(
            "select c.column_name, c.data_type, c.extra, coalesce(c.character_set_name, ''), t.engine, \
             @@character_set_client, @@sql_mode from information_schema.columns c \
             join information_schema.tables t using (table_schema, table_name) \
             where c.table_schema = database() and c.table_name = {} order by c.ordinal_position",
            // The session's own sql_mode could read a backslash in another way than it is meant.
            hexadecimal(table.as_bytes())
        );
        let sets = connection.rows(&sql).await?;
        let mut kinds = as_lines.then(Vec::new);
        let mut is_innodb = false;
        let (mut counted, mut position) = (None, 0);
        for row in sets.into_iter().flat_map(|set| set.rows) {
            let text = |value: Option<Vec<u8>>| {
                String::from_utf8_lossy(&value.unwrap_or_default()).to_lowercase()
            };
            let Ok([name, data_type, extra, charset, engine, client, mode]) =
                <[Option<Vec<u8>>; 7]>::try_from(row)
            else {
                continue;
            };
            let name = String::from_utf8_lossy(&name.unwrap_or_default()).into_owned();
            let [data_type, extra, charset] = [data_type, extra, charset].map(text);
            let [engine, client, mode] = [engine, client, mode].map(text);
            is_innodb = engine == "innodb";
            let is_computed = ["virtual", "stored", "persistent"]
                .iter()
                .any(|it| extra.contains(it));
            if extra.contains("auto_increment") {
                counted = Some((position, name.clone()));
            }
            position += 1;
            let has = |types: &[&str]| types.contains(&data_type.as_str());
            let kind = match () {
                () if mode.contains("no_backslash_escapes") || mode.contains("ansi") => None,
                () if is_computed => Some(ColumnKind::Computed),
                () if has(&TEXTS) && (charset.is_empty() || charset == client) => {
                    Some(ColumnKind::Text)
                }
                () if has(&NUMBERS) => Some(ColumnKind::Number),
                () if has(&BYTES) => Some(ColumnKind::Bytes),
                () => None,
            };
            kinds = kinds.zip(kind).map(|(mut kinds, kind)| {
                kinds.push((name, kind));
                kinds
            });
        }
        Ok(Self {
            is_innodb,
            counted,
            kinds,
        })
    }

    /// Whether the rows of this INSERT are the same on any connection and in any order.
    pub(super) fn is_free(&self, text: &[u8], has_backslashes: bool) -> bool {
        let Some(head) = insert_head(text) else {
            return false;
        };
        let counted = match &self.counted {
            None => None,
            Some((position, _)) if head.columns.is_empty() => Some(*position),
            Some((_, name)) => {
                let mut columns = head.columns.iter();
                match columns.position(|it| it.eq_ignore_ascii_case(name)) {
                    Some(position) => Some(position),
                    None => return false,
                }
            }
        };
        is_literal(&text[head.rows_at..], counted, has_backslashes)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("convert(x'{digits}' using utf8)")
}

/// The queue, and the failure that ends everything.
#[derive(Debug)]
pub(super) struct Queue<'i> {
    state: Mutex<State>,
    changed: Condvar,
    interrupt: &'i Interrupt,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Bytes of the jobs that wait or are sent.
    bytes: usize,
    /// Jobs that are sent now.
    active: usize,
    /// Settings of the session so far.
    sets: Vec<Arc<[u8]>>,
    is_closed: bool,
    has_failed: bool,
    failure: Option<DumpError>,
    done: (u64, u64),
}

impl<'i> Queue<'i> {
    /// An empty queue; an interruption is a failure.
    pub(super) fn new(interrupt: &'i Interrupt) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            interrupt,
        }
    }

    /// Adds rows; waits while too many are on their way.
    pub(super) fn push(&self, job: Job) {
        let mut state = self.lock();
        while state.bytes > 0 && state.bytes + job.text.len() > BYTES_AT_MOST {
            if state.has_failed || self.interrupt.is_raised() {
                return;
            }
            state = self.wait_on(state);
        }
        state.bytes += job.text.len();
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_all();
    }

    /// Adds a setting, which holds for the rows behind it; returns the number of settings.
    pub(super) fn set(&self, text: Vec<u8>) -> usize {
        let mut state = self.lock();
        state.sets.push(text.into());
        state.sets.len()
    }

    /// The next rows, and those of the settings for them that come behind the first `known_sets`; `None` at the end.
    /// Rows are handed out in their order, so that no connection has settings of rows behind its own.
    pub(super) fn next(&self, known_sets: usize) -> Option<(Job, Vec<Arc<[u8]>>)> {
        let mut state = self.lock();
        loop {
            if state.has_failed || self.interrupt.is_raised() {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                state.active += 1;
                let sets = state.sets.get(known_sets..job.sets);
                let sets = sets.unwrap_or_default().to_vec();
                return Some((job, sets));
            }
            if state.is_closed {
                return None;
            }
            state = self.wait_on(state);
        }
    }

    /// Rows of a statement of this length are in.
    pub(super) fn finished(&self, bytes: usize, as_lines: bool) {
        let mut state = self.lock();
        state.active -= 1;
        state.bytes -= bytes;
        state.done.0 += 1;
        state.done.1 += u64::from(as_lines);
        drop(state);
        self.changed.notify_all();
    }

    /// Rows were sent outside of the queue.
    pub(super) fn sent_in_order(&self) {
        self.lock().done.0 += 1;
    }

    /// Ends everything; the first failure is kept.
    pub(super) fn fail(&self, error: DumpError) {
        let mut state = self.lock();
        state.has_failed = true;
        state.failure.get_or_insert(error);
        drop(state);
        self.changed.notify_all();
    }

    /// Whether everything ends: a failure, or an interruption.
    pub(super) fn has_failed(&self) -> bool {
        if self.interrupt.is_raised() {
            self.fail(DumpError::Interrupted);
        }
        self.lock().has_failed
    }

    /// The result of `future`, such as a statement that may wait for a lock; `None` once everything ends.
    pub(super) async fn unless_failed<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        while !self.has_failed() {
            if let Ok(output) = reactor::timeout(WAIT, future.as_mut()).await {
                return Some(output);
            }
        }
        None
    }

    pub(super) fn failure(&self) -> Option<DumpError> {
        self.lock().failure.take()
    }

    /// No more rows come.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    pub(super) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.active == 0 && state.jobs.is_empty()
    }

    /// Waits for a change, not long.
    pub(super) fn wait(&self) {
        drop(self.wait_on(self.lock()));
    }

    /// Statements with rows so far, and those of them that were lines.
    pub(super) fn done(&self) -> (u64, u64) {
        self.lock().done
    }

    fn wait_on<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, WAIT);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
