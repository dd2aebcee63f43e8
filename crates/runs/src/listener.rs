//! What is told while runs are prepared, driven and cleared up: messages, and the progress of long steps.

use std::{path::Path, sync::Arc, time::Duration};

use load::Interrupt;

/// Who is told; the command line prints it.
pub trait Listener: Send + Sync {
    /// Something to know.
    fn hear(&self, event: Event<'_>);

    /// A step that takes longer than a moment begins; it is over when what is returned goes.
    fn begin(&self, what: &str, length: Length) -> Box<dyn Step>;

    /// Something that is not as wanted, and ends nothing.
    fn warn(&self, what: &str) {
        self.hear(Event::Warning(what));
    }
}

/// Something to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The run goes on as wanted, and this is part of its story.
    Note(&'a str),
    /// The run goes on, but not as wanted.
    Warning(&'a str),
    /// An incomplete record was given this name.
    IncompleteKept(&'a Path),
    /// The last lines of the log of a server that died.
    ServerLog(&'a str),
    /// The private server of this name stays.
    ServerKept(&'a str),
}

/// How long a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Nobody knows.
    Unknown,
    /// In any unit, at an even pace: the time left can be computed.
    Even(u64),
    /// In any unit; the time left is told.
    Paced(u64),
}

/// A step while it lasts.
pub trait Step {
    /// So much of the length is done.
    fn reach(&self, position: u64);

    /// There is so much more to do.
    fn lengthen(&self, by: u64);

    /// What the step does now.
    fn say(&self, what: &str);

    /// What the step does now, and how long the rest takes about.
    fn say_with(&self, what: &str, left: Duration);

    /// The same, for one of the few lines that also a log shows.
    fn announce(&self, what: &str, left: Duration);

    /// A line beside the progress.
    fn note(&self, line: &str);
}

/// What everything that takes its time is given: what ends it early, and who is told.
#[derive(Clone)]
pub struct Context {
    /// Ends it early.
    pub interrupt: Interrupt,
    /// Is told.
    pub listener: Arc<dyn Listener>,
}

impl Context {
    /// Ends by `interrupt`, tells `listener`.
    pub fn new(interrupt: Interrupt, listener: Arc<dyn Listener>) -> Self {
        Self {
            interrupt,
            listener,
        }
    }

    /// Tells nobody.
    pub fn silent(interrupt: Interrupt) -> Self {
        Self::new(interrupt, Arc::new(Nobody))
    }

    /// Tells who listens.
    pub fn tell(&self, event: Event<'_>) {
        self.listener.hear(event);
    }

    pub(crate) fn warn(&self, what: &str) {
        self.listener.warn(what);
    }

    pub(crate) fn note(&self, what: &str) {
        self.tell(Event::Note(what));
    }

    /// Begins a step.
    pub fn step(&self, what: &str, length: Length) -> Box<dyn Step> {
        self.listener.begin(what, length)
    }
}

/// Hears nothing.
struct Nobody;

impl Listener for Nobody {
    fn hear(&self, _event: Event<'_>) {}

    fn begin(&self, _what: &str, _length: Length) -> Box<dyn Step> {
        Box::new(Self)
    }
}

impl Step for Nobody {
    fn reach(&self, _position: u64) {}

    fn lengthen(&self, _by: u64) {}

    fn say(&self, _what: &str) {}

    fn say_with(&self, _what: &str, _left: Duration) {}

    fn announce(&self, _what: &str, _left: Duration) {}

    fn note(&self, _line: &str) {}
}
