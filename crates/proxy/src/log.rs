//! The log of the proxy.

use std::{
    fmt,
    fs::OpenOptions,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use reactor::Instant;

use crate::{Level, StartError};

/// Lines about clients that have not logged in, within a [`WINDOW`]: whoever can connect must not be able to fill a disk.
const STRANGERS_MAX: u64 = 60;
const WINDOW: Duration = Duration::from_secs(60);
/// Characters of a line with texts of a client or a server.
const CHARS_OF_PEER_MAX: usize = 1000;

/// The log: lines with time and level. Every event thread writes to it.
pub struct Log {
    level: Level,
    out: Mutex<Box<dyn Write + Send>>,
    strangers: Mutex<Option<LogThrottle>>,
}

/// Lines about clients that have not logged in.
struct LogThrottle {
    since: Instant,
    lines: u64,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

impl Log {
    /// A log of the lines of this level and of more important ones.
    pub fn new(level: Level, out: Box<dyn Write + Send>) -> Self {
        Self {
            level,
            out: Mutex::new(out),
            strangers: Mutex::new(None),
        }
    }

    /// A log at the end of a file.
    pub fn append(level: Level, path: &Path) -> Result<Self, StartError> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o660)
            .open(path);
        let file = file.map_err(|source| StartError::File {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::new(level, Box::new(file)))
    }

    pub fn silent() -> Self {
        Self::new(Level::Error, Box::new(std::io::sink()))
    }

    /// Whether lines of this level are written.
    pub fn takes(&self, level: Level) -> bool {
        level <= self.level
    }

    /// Writes a line with texts of a client or a server, which is cut if it is long.
    pub(crate) fn write_of_peer(&self, level: Level, text: &str) {
        let end = text.char_indices().nth(CHARS_OF_PEER_MAX);
        match end {
            Some((end, _)) => {
                let (kept, cut) = text.split_at(end);
                self.write(level, &format!("{kept}... (and {} bytes)", cut.len()));
            }
            None => self.write(level, text),
        }
    }

    /// Writes a line about a client that has not logged in; of many within a minute some are counted and left out.
    pub(crate) fn write_of_stranger(&self, level: Level, text: &str) {
        if !self.takes(level) {
            return;
        }
        let left_out = {
            let mut strangers = self
                .strangers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let now = reactor::system_now();
            let (is_over, lines) = match &*strangers {
                Some(it) => (now - it.since >= WINDOW, it.lines),
                None => (true, 0),
            };
            if is_over {
                *strangers = Some(LogThrottle {
                    since: now,
                    lines: 1,
                });
                lines.saturating_sub(STRANGERS_MAX)
            } else {
                if let Some(strangers) = &mut *strangers {
                    strangers.lines += 1;
                }
                if lines >= STRANGERS_MAX {
                    return;
                }
                0
            }
        };
        if left_out > 0 {
            let text = format!("{left_out} more lines about clients without a login were left out");
            self.write(level, &text);
        }
        self.write_of_peer(level, text);
    }

    /// Writes a line. Control characters, which a peer may have sent, are replaced.
    pub fn write(&self, level: Level, text: &str) {
        if !self.takes(level) {
            return;
        }
        let harmless: String = text
            .chars()
            .map(|c| match c {
                '\n' | '\t' => c,
                c if c.is_control() => '?',
                c => c,
            })
            .collect();
        let time = Timestamp::try_from(reactor::wall_now()).unwrap_or_default();
        let line = format!(
            "{}: ({}) {harmless}\n",
            time.strftime("%F %T"),
            level.word()
        );
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A log that cannot be written must not end sessions.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

impl Level {
    /// The level's word on the command line and in the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Message => "message",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        let all = [
            Self::Error,
            Self::Critical,
            Self::Warning,
            Self::Message,
            Self::Info,
            Self::Debug,
        ];
        all.into_iter().find(|level| level.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use super::*;

    struct Lines(mpsc::Sender<Vec<u8>>);

    impl Write for Lines {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            self.0.send(line.to_vec()).unwrap();
            Ok(line.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn strangers_fill_no_disk() {
        let (sender, lines) = mpsc::channel();
        let log = Log::new(Level::Warning, Box::new(Lines(sender)));
        let long = "x".repeat(60_000);
        for _ in 0..1000 {
            log.write_of_stranger(Level::Warning, &long);
        }
        log.write_of_peer(Level::Warning, "a user's own");
        drop(log);
        let lines: Vec<Vec<u8>> = lines.iter().collect();
        assert_eq!(lines.len(), 61);
        assert!(lines.iter().all(|line| line.len() < 1100));
        let first = String::from_utf8_lossy(&lines[0]).into_owned();
        assert!(first.ends_with("x... (and 59000 bytes)\n"), "{first}");
    }

    #[test]
    fn lines_have_time_and_level_and_no_control_characters() {
        let (sender, lines) = mpsc::channel();
        let log = Arc::new(Log::new(Level::Warning, Box::new(Lines(sender))));
        log.write(Level::Info, "not this");
        log.write(Level::Critical, "a\u{1b}[2Jb");
        drop(log);
        let lines: Vec<String> = lines
            .iter()
            .map(|it| String::from_utf8(it).unwrap())
            .collect();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].ends_with(": (critical) a?[2Jb\n"), "{lines:?}");
        assert_eq!(lines[0].find(": "), Some("2026-11-24 17:00:00".len()));
        assert_eq!(Level::of_word("message"), Some(Level::Message));
        assert_eq!(Level::of_word("loud"), None);
    }
}
