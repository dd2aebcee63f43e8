//! What a script can reach of the program around its session.

use std::time::Duration;

use crate::Peer;

/// How important a line of the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The program cannot continue.
    Error,
    /// A mistake, mostly in a script; the session continues with a default.
    Critical,
    /// Something that is probably not meant.
    Warning,
    /// What happened.
    Message,
    /// Details for users.
    Info,
    /// Details for developers.
    Debug,
}

/// What a script can reach of the program around its session. The relay implements it, once per event thread.
pub trait ScriptEnvironment {
    /// Writes a line to the log. The text can have several lines, and contains no password.
    fn log(&self, level: Level, text: &str);

    /// Writes a line to stdout, the text of a script's `print`; the newline is not part of it.
    fn print(&self, text: &[u8]);

    /// Idle connections in the pool to the backend at this place, from 0, of this user; of all users if it is empty.
    fn idle_connections(&self, backend: usize, user: &[u8]) -> usize;

    /// The server's end of the idle connection to the backend at this place that the session whose hook runs would get;
    /// `None` if there is none for it.
    fn idle_server(&self, _backend: usize) -> Option<Peer> {
        None
    }

    fn shut_down(&self);

    /// Counts a call of a script's hook: its time, and whether it ended with an error.
    fn hook_called(&self, _name: &str, _took: Duration, _is_error: bool) {}
}
