//! Messages and progress of long steps, reported while runs are prepared, executed and cleaned up.

use std::{path::Path, sync::Arc, time::Duration};

use reactor::Interrupt;

/// Receiver of messages and progress; implemented by the command line, which prints them.
pub trait Listener: Send + Sync {
    fn on_event(&self, event: Event<'_>);

    /// Begins a step that takes noticeable time; dropping the returned value ends it.
    fn begin(&self, what: &str, length: Length) -> Box<dyn Step>;

    /// Receives a warning: an unwanted condition that does not end the run.
    fn warn(&self, what: &str) {
        self.on_event(Event::Warning(what));
    }
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// Information: the run continues as wanted.
    Note(&'a str),
    /// The run continues, but not as wanted.
    Warning(&'a str),
    /// An incomplete record was renamed to this path.
    IncompleteKept(&'a Path),
    /// The last lines of the log of a server that died.
    ServerLog(&'a str),
    /// The private server with this name is kept.
    ServerKept(&'a str),
}

/// Length of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    Unknown,
    /// Length in any unit, at an even pace: the time left can be computed.
    Even(u64),
    /// Length in any unit; the time left is reported by the step.
    Paced(u64),
}

/// A step in progress.
pub trait Step {
    /// Sets the completed part of the length.
    fn reach(&self, position: u64);

    fn lengthen(&self, by: u64);

    /// Sets the current activity of the step.
    fn say(&self, what: &str);

    /// Sets the current activity of the step, and the estimated time left.
    fn say_with(&self, what: &str, left: Duration);

    /// Like `say_with`, for one of the few lines that are also written to a log.
    fn announce(&self, what: &str, left: Duration);

    /// Prints a line beside the progress.
    fn note(&self, line: &str);
}

/// Common context of all long operations: an early end, and the receiver of messages.
#[derive(Clone)]
pub struct Context {
    /// Ends the operation early.
    pub interrupt: Interrupt,
    pub listener: Arc<dyn Listener>,
}

impl Context {
    pub fn new(interrupt: Interrupt, listener: Arc<dyn Listener>) -> Self {
        Self {
            interrupt,
            listener,
        }
    }

    /// A context that discards all messages.
    pub fn silent(interrupt: Interrupt) -> Self {
        Self::new(interrupt, Arc::new(SilentListener))
    }

    pub fn notify(&self, event: Event<'_>) {
        self.listener.on_event(event);
    }

    pub fn warn(&self, what: &str) {
        self.listener.warn(what);
    }

    pub fn note(&self, what: &str) {
        self.notify(Event::Note(what));
    }

    pub fn step(&self, what: &str, length: Length) -> Box<dyn Step> {
        self.listener.begin(what, length)
    }
}

/// Discards all messages.
struct SilentListener;

impl Listener for SilentListener {
    fn on_event(&self, _event: Event<'_>) {}

    fn begin(&self, _what: &str, _length: Length) -> Box<dyn Step> {
        Box::new(Self)
    }
}

impl Step for SilentListener {
    fn reach(&self, _position: u64) {}

    fn lengthen(&self, _by: u64) {}

    fn say(&self, _what: &str) {}

    fn say_with(&self, _what: &str, _left: Duration) {}

    fn announce(&self, _what: &str, _left: Duration) {}

    fn note(&self, _line: &str) {}
}
