//! The entries of a slow query log, in the dialects of MySQL 5.5 to 9, Percona Server and MariaDB.

use std::{
    borrow::Cow,
    io::{self, BufRead},
};

/// Maximum length of a statement's text that is kept, bytes.
pub(crate) const STATEMENT_BYTES_AT_MOST: usize = 64 << 10;

/// One statement of a slow query log.
///
/// ```text
/// # Time: 2026-11-21T23:50:49.123456Z
/// # User@Host: bench[bench] @ localhost []  Id:    12
/// # Query_time: 1.500000  Lock_time: 0.000001 Rows_sent: 0  Rows_examined: 10
/// use shop;
/// SET timestamp=1763769049;
/// UPDATE t SET a = 'x';
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SlowEntry {
    /// Line on which the text begins, from 1.
    pub line: u64,
    /// Execution time with the waits for locks, seconds.
    pub time_s: f64,
    /// Wait for locks, seconds.
    pub lock_s: f64,
    pub rows_sent: u64,
    /// Rows read.
    pub rows_examined: u64,
    /// The current database: named with the statement, or by the last `use` of the log.
    pub schema: Option<String>,
    /// Number of executions that the entry stands for, where the server logs only one of some (Percona's
    /// `log_slow_rate_limit`).
    pub stands_for: u64,
    /// The text without its last `;`; `administrator command: Quit` for a command that is no SQL.
    pub text: String,
    /// Whether the text has bytes that are not UTF-8, which are replaced in it.
    pub is_changed: bool,
    /// Whether the text is longer than what is kept.
    pub is_cut: bool,
}

impl SlowEntry {
    /// Whether it is a command of the protocol and no SQL.
    pub fn is_command(&self) -> bool {
        self.text.starts_with("administrator command:")
    }
}

/// Reads entry by entry; text before the first head is left out.
#[derive(Debug)]
pub struct SlowEntries<R> {
    log: R,
    line: Vec<u8>,
    /// Number of the last line read.
    number: u64,
    /// The entry whose head was read.
    open: Option<SlowEntry>,
    /// Database of the last `use`.
    used: Option<String>,
    has_ended: bool,
}

impl<R: BufRead> SlowEntries<R> {
    pub fn of(log: R) -> Self {
        Self {
            log,
            line: Vec::new(),
            number: 0,
            open: None,
            used: None,
            has_ended: false,
        }
    }

    /// The next entry; `None` at the end.
    fn read(&mut self) -> io::Result<Option<SlowEntry>> {
        while !self.has_ended {
            self.line.clear();
            let length = read_line(&mut self.log, &mut self.line)?;
            self.number += 1;
            self.has_ended = length == 0;
            let line = String::from_utf8_lossy(&self.line);
            let is_changed = matches!(line, Cow::Owned(_));
            let line = line.into_owned();
            let is_cut = length > self.line.len();
            let is_after_text = self.open.as_ref().is_some_and(SlowEntry::has_whole_text);
            let is_next = begins(&line) || is_after_text && begins_short(&line);
            let finished = if self.has_ended || is_next {
                self.open.take().filter(SlowEntry::has_time)
            } else {
                None
            };
            // The server's own head ends an entry and begins none.
            let is_head = line.starts_with("# ") && !self.has_ended;
            if is_head || self.open.is_some() {
                self.add(&line, is_cut, is_changed);
            }
            if finished.is_some() {
                return Ok(finished.map(SlowEntry::trimmed));
            }
        }
        Ok(None)
    }

    fn add(&mut self, line: &str, is_cut: bool, is_changed: bool) {
        let used = &mut self.used;
        let entry = self.open.get_or_insert_with(|| SlowEntry {
            time_s: f64::NAN,
            stands_for: 1,
            schema: used.clone(),
            ..SlowEntry::default()
        });
        if let Some(command) = line.strip_prefix("# administrator command:") {
            entry.line = self.number;
            entry.text = format!("administrator command:{command}");
            return;
        }
        // A comment within a text is none of the head.
        if line.starts_with('#') && entry.text.is_empty() {
            entry.read_head(line);
            return;
        }
        if entry.text.is_empty() {
            if is_set_by_server(line) || line.trim().is_empty() {
                return;
            }
            if let Some(name) = line.strip_prefix("use ") {
                let name = name.trim_end().trim_end_matches(';').trim_matches('`');
                *used = Some(name.to_owned());
                entry.schema.clone_from(used);
                return;
            }
            entry.line = self.number;
        }
        let room = STATEMENT_BYTES_AT_MOST.saturating_sub(entry.text.len());
        let mut end = line.len().min(room);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        entry.text.push_str(&line[..end]);
        entry.is_changed |= is_changed;
        entry.is_cut |= is_cut || end < line.len();
    }
}

impl<R: BufRead> Iterator for SlowEntries<R> {
    type Item = io::Result<SlowEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

impl SlowEntry {
    fn has_time(&self) -> bool {
        !self.time_s.is_nan()
    }

    /// Whether its text may be at its end: the server writes a `;` behind it.
    fn has_whole_text(&self) -> bool {
        !self.text.is_empty() && (self.is_cut || self.text.trim_end().ends_with(';'))
    }

    /// Reads `# Query_time: 0.3  Lock_time: 0.0 Rows_sent: 1  Rows_examined: 0`, with more fields in some versions, and
    /// the lines of names and values before and after it.
    fn read_head(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once(" Schema: ") {
            // Two blanks end the name.
            let name = rest.split("  ").next().unwrap_or_default().trim();
            self.schema = Some(name.to_owned()).filter(|name| !name.is_empty());
        }
        let mut words = line.trim_start_matches("# ").split_whitespace().peekable();
        while let Some(name) = words.next() {
            if !name.ends_with(':') {
                continue;
            }
            // A name without a value is followed by the next name.
            let Some(value) = words.next_if(|word| !word.ends_with(':')) else {
                continue;
            };
            match name {
                "Query_time:" => self.time_s = value.parse().unwrap_or(0.0),
                "Lock_time:" => self.lock_s = value.parse().unwrap_or(0.0),
                "Rows_sent:" => self.rows_sent = value.parse().unwrap_or(0),
                "Rows_examined:" => self.rows_examined = value.parse().unwrap_or(0),
                "Log_slow_rate_limit:" => self.stands_for = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
    }

    fn trimmed(mut self) -> Self {
        let end = self.text.trim_end().trim_end_matches(';').trim_end().len();
        self.text.truncate(end);
        self
    }
}

/// Whether a line ends the entry before it: a new head, or one of the lines that a server writes when it opens its log.
fn begins(line: &str) -> bool {
    let is_of_server = line.contains(", Version: ") && line.trim_end().ends_with("started with:");
    line.starts_with("# Time:") || line.starts_with("# User@Host:") || is_of_server
}

/// Whether a line begins an entry of a log with `log_short_format`, which has neither time nor user. MySQL begins with the
/// figures, MariaDB 5 and Percona Server with a line before them; later MariaDB writes no entries at all.
fn begins_short(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    match words[..] {
        ["#", "Query_time:", time, "Lock_time:"] => time.parse::<f64>().is_ok(),
        ["#", "Thread_id:", thread, "Schema:"] => thread.parse::<u64>().is_ok(),
        ["#", "Schema:", _, "Last_errno:"] | ["#", "Schema:", "Last_errno:", _] => true,
        _ => false,
    }
}

/// Whether a line is the server's own, between the head and the text: `SET last_insert_id=7,insert_id=9,timestamp=1763769049;`.
fn is_set_by_server(line: &str) -> bool {
    let list = line.strip_prefix("SET ").unwrap_or_default();
    let mut variables = list.trim_end().trim_end_matches(';').split(',');
    variables.all(|variable| {
        let (name, value) = variable.split_once('=').unwrap_or_default();
        matches!(name, "last_insert_id" | "insert_id" | "timestamp")
            && value
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// Reads a line and keeps its beginning; returns its full length.
pub(crate) fn read_line(log: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let piece = log.fill_buf()?;
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(piece.len(), |end| end + 1);
        let room = STATEMENT_BYTES_AT_MOST.saturating_sub(line.len());
        line.extend_from_slice(&piece[..taken.min(room)]);
        log.consume(taken);
        length += taken;
        if end.is_some() || taken == 0 {
            return Ok(length);
        }
    }
}

#[cfg(test)]
mod tests;
