//! The statement log: one line per statement, with its times, from which the true results of a run can be computed.
//!
//! ```text
//! connection received_ns answered_ns command result
//! 3 88012345678901 88012345689012 execute rows
//! ```

use std::io::{self, Write};

use reactor::Instant;

/// First line of the log.
const HEADING: &str = "connection received_ns answered_ns command result\n";

/// One statement, as seen by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) connection_id: u32,
    /// Time at which its last byte was read.
    pub(super) received: Instant,
    /// Time at which its answer was passed to the kernel.
    pub(super) answered: Instant,
    /// `query` or `execute`.
    pub(super) command: &'static str,
    /// `rows`, `ok`, `error` or `dropped`.
    pub(super) result: &'static str,
}

/// The log writer; its first failure is kept until the end.
pub(super) struct Log {
    out: Box<dyn Write>,
    failed: Option<io::Error>,
}

impl Log {
    pub(super) fn new(out: Box<dyn Write>) -> Self {
        let mut log = Self { out, failed: None };
        log.put(|out| out.write_all(HEADING.as_bytes()));
        log
    }

    pub(super) fn append(&mut self, entry: &Entry) {
        let Entry {
            connection_id,
            received,
            answered,
            command,
            result,
        } = entry;
        let (received, answered) = (received.as_ns(), answered.as_ns());
        self.put(|out| {
            writeln!(
                out,
                "{connection_id} {received} {answered} {command} {result}"
            )
        });
    }

    /// Writes the buffered lines; returns the first failure of the log.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.put(|out| out.flush());
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Whether a line could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn put(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.failed.is_none()
            && let Err(error) = write(&mut *self.out)
        {
            self.failed = Some(error);
        }
    }
}
