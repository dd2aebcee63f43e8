//! Statements with rows on their way to the connections, and the session's settings for them.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use reactor::Interrupt;

use crate::dump_load::{
    error::DumpError,
    job::{Job, JobText},
};

/// Bytes of statements in memory that wait or are sent at most, unless one alone is longer.
const BYTES_AT_MOST: usize = 32 << 20;

/// The queue, and the failure that ends everything.
#[derive(Debug)]
pub(super) struct Queue<'i> {
    state: Mutex<State>,
    changed: Condvar,
    interrupt: &'i Interrupt,
    /// Also raised by the first failure.
    end: Interrupt,
    ahead_at_most: usize,
}

#[derive(Debug, Default)]
struct State {
    /// Tables with rows that wait, in the order of the dump.
    waiting: Vec<Waiting>,
    /// Of each connection the table that it loads, or loaded last.
    own: Vec<Option<String>>,
    /// Bytes of the jobs that wait or are sent.
    bytes: Bytes,
    /// Jobs that are sent now.
    active: usize,
    /// Settings of the session so far.
    sets: Vec<Arc<[u8]>>,
    is_closed: bool,
    failure: Option<DumpError>,
    done: (u64, u64),
}

/// A table and its rows that wait; at least one statement.
#[derive(Debug)]
struct Waiting {
    table: String,
    jobs: VecDeque<Job>,
}

/// Bytes of statements by where they are.
#[derive(Debug, Default)]
struct Bytes {
    kept: usize,
    in_file: usize,
    spooled: usize,
}

impl Bytes {
    fn of(&mut self, text: &JobText) -> &mut usize {
        match text {
            JobText::Kept(_) => &mut self.kept,
            JobText::InFile { .. } => &mut self.in_file,
            JobText::Spooled(_) => &mut self.spooled,
        }
    }
}

impl State {
    /// The table whose rows a connection takes next. Two connections in one table wait for each other in the server: it is
    /// the one with the fewest others, its own before another one, an earlier one before a later one.
    fn choose(&self, connection: usize) -> Option<usize> {
        let has = |own: &Option<String>, it: &Waiting| own.as_ref() == Some(&it.table);
        let others = |it: &Waiting| {
            let all = self.own.iter().enumerate();
            all.filter(|(at, own)| *at != connection && has(own, it))
                .count()
        };
        let tables = self.waiting.iter().enumerate();
        let rank =
            |(at, it): &(usize, &Waiting)| (others(it), !has(&self.own[connection], it), *at);
        tables.min_by_key(rank).map(|(at, _)| at)
    }

    /// Whether more rows may wait.
    fn has_room(&mut self, text: &JobText, ahead_at_most: usize) -> bool {
        let at_most = match text {
            JobText::Kept(_) => BYTES_AT_MOST,
            JobText::InFile { .. } => ahead_at_most,
            // Each connection has a table of its own then; the longer the file of ours, the more of it goes to the disk.
            JobText::Spooled(_) => return self.waiting.len() <= self.own.len(),
        };
        let bytes = *self.bytes.of(text);
        bytes == 0 || bytes + text.bytes() <= at_most
    }

    /// The first job of a table.
    fn take(&mut self, table: usize) -> Option<Job> {
        let waiting = &mut self.waiting[table];
        let job = waiting.jobs.pop_front();
        if waiting.jobs.is_empty() {
            self.waiting.remove(table);
        }
        job
    }
}

impl<'i> Queue<'i> {
    /// An empty queue for a number of connections; an interruption is a failure. Of files that are not compressed at most
    /// `ahead_at_most` bytes are waiting.
    pub(super) fn new(interrupt: &'i Interrupt, connections: usize, ahead_at_most: usize) -> Self {
        let state = State {
            own: vec![None; connections],
            ..State::default()
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            interrupt,
            end: interrupt.child(),
            ahead_at_most,
        }
    }

    /// Adds rows; waits while too many are on their way.
    pub(super) fn push(&self, job: Job) {
        let more = job.text.bytes();
        let mut state = self.lock();
        loop {
            if state.has_room(&job.text, self.ahead_at_most) {
                *state.bytes.of(&job.text) += more;
                break;
            }
            if self.end.is_raised() {
                return;
            }
            state = self.wait_on(state);
        }
        let mut tables = state.waiting.iter_mut();
        match tables.find(|it| it.table == job.columns.table) {
            Some(table) => table.jobs.push_back(job),
            None => state.waiting.push(Waiting {
                table: job.columns.table.clone(),
                jobs: VecDeque::from([job]),
            }),
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Adds a setting, which holds for the rows behind it; returns the number of settings.
    pub(super) fn set(&self, text: Vec<u8>) -> usize {
        let mut state = self.lock();
        state.sets.push(text.into());
        state.sets.len()
    }

    /// The next rows for a connection, and the settings for them that it does not have: those behind its first
    /// `known_sets`, or all where it has some that come behind the rows; `None` at the end.
    pub(super) fn next(
        &self,
        connection: usize,
        known_sets: usize,
    ) -> Option<(Job, Vec<Arc<[u8]>>)> {
        let mut state = self.lock();
        loop {
            if self.end.is_raised() {
                return None;
            }
            let chosen = state.choose(connection);
            if let Some(job) = chosen.and_then(|table| state.take(table)) {
                state.active += 1;
                state.own[connection] = Some(job.columns.table.clone());
                let known = if known_sets > job.sets { 0 } else { known_sets };
                let sets = state.sets[known..job.sets].to_vec();
                return Some((job, sets));
            }
            if state.is_closed {
                return None;
            }
            state = self.wait_on(state);
        }
    }

    /// These rows are in.
    pub(super) fn finished(&self, job: &Job, as_lines: bool) {
        let mut state = self.lock();
        state.active -= 1;
        *state.bytes.of(&job.text) -= job.text.bytes();
        state.done.0 += 1;
        state.done.1 += u64::from(as_lines);
        drop(state);
        self.changed.notify_all();
    }

    /// Whether memory takes this many bytes more.
    pub(super) fn keeps(&self, more: usize) -> bool {
        self.lock().bytes.kept + more <= BYTES_AT_MOST
    }

    /// Bytes of statements, decompressed, whose rows are not in yet.
    pub(super) fn bytes_ahead(&self) -> u64 {
        let bytes = &self.lock().bytes;
        (bytes.kept + bytes.in_file + bytes.spooled) as u64
    }

    /// Rows were sent outside of the queue.
    pub(super) fn sent_in_order(&self) {
        self.lock().done.0 += 1;
    }

    /// Ends everything; the first failure is kept.
    pub(super) fn fail(&self, error: DumpError) {
        let mut state = self.lock();
        state.failure.get_or_insert(error);
        self.end.raise();
        drop(state);
        self.changed.notify_all();
    }

    /// Makes an interruption the failure; returns whether everything ends, for whichever failure.
    pub(super) fn fail_if_interrupted(&self) -> bool {
        let is_over = self.end.is_raised();
        if is_over && self.interrupt.is_raised() {
            self.fail(DumpError::Interrupted);
        }
        is_over
    }

    /// The result of `future`, such as a statement that may wait for a lock; `None` once everything ends.
    pub(super) async fn unless_failed<F: Future>(&self, future: F) -> Option<F::Output> {
        let output = self.end.unless_raised(future).await;
        if output.is_none() {
            self.fail_if_interrupted();
        }
        output
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
        state.active == 0 && state.waiting.is_empty()
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
        self.end.wait_on(&self.changed, state)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dump_load::{columns::TableColumns, spool::Spool};

    fn job(table: &str, sets: usize) -> Job {
        let columns = TableColumns {
            table: table.to_owned(),
            is_innodb: true,
            depends: false,
            counted: None,
            kinds: None,
        };
        Job {
            place: String::new(),
            text: JobText::Kept(vec![0; 10]),
            columns: Arc::new(columns),
            sets,
        }
    }

    #[test]
    fn each_connection_has_a_table_of_its_own_while_there_are_enough() {
        let interrupt = Interrupt::default();
        let queue = Queue::new(&interrupt, 2, 0);
        for table in ["a", "a", "a", "b", "b", "b", "b", "b"] {
            queue.push(job(table, 0));
        }
        queue.close();
        let mut taken = Vec::new();
        while let Some((job, _)) = queue.next(taken.len() % 2, 0) {
            queue.finished(&job, true);
            taken.push(job.columns.table.clone());
        }
        // The last rows of b are taken by both.
        assert_eq!(taken, ["a", "b", "a", "b", "a", "b", "b", "b"]);
        assert!(queue.is_idle());
        assert_eq!(queue.done(), (8, 8));
    }

    #[test]
    fn rows_wait_in_the_file_of_ours_until_there_is_a_table_more_than_connections() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::make(directory.path(), 1 << 20).unwrap());
        let text = JobText::Spooled(spool.put(b"INSERT").unwrap());
        let interrupt = Interrupt::default();
        let queue = Queue::new(&interrupt, 1, 0);
        for (table, has_room) in [("a", true), ("a", true), ("b", false)] {
            queue.push(job(table, 0));
            assert_eq!(queue.lock().has_room(&text, 0), has_room, "{table}");
        }
        let (a, _) = queue.next(0, 0).unwrap();
        assert!(!queue.lock().has_room(&text, 0), "{a:?}");
        queue.next(0, 0).unwrap();
        assert!(queue.lock().has_room(&text, 0));
    }

    #[test]
    fn rows_have_the_settings_before_them_and_no_others() {
        let interrupt = Interrupt::default();
        let queue = Queue::new(&interrupt, 1, 0);
        let mut sets = queue.set(b"first".to_vec());
        queue.push(job("a", sets));
        sets = queue.set(b"second".to_vec());
        queue.push(job("b", sets));
        queue.push(job("a", sets));
        let next = |known| {
            let (job, sets) = queue.next(0, known).unwrap();
            let sets: Vec<Vec<u8>> = sets.iter().map(|set| set.to_vec()).collect();
            (job.columns.table.clone(), sets.join(&b' '))
        };
        assert_eq!(next(0), ("a".to_owned(), b"first".to_vec()));
        assert_eq!(next(1), ("a".to_owned(), b"second".to_vec()));
        assert_eq!(next(2), ("b".to_owned(), Vec::new()));
        queue.push(job("c", 1));
        // A connection that has the second one begins anew.
        let (_, sets) = queue.next(0, 2).unwrap();
        assert_eq!(sets.len(), 1);
    }
}
