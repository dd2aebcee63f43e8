//! Messages and progress of the engine, on standard error.

use std::{
    io::{Write, stderr},
    sync::Arc,
    time::Duration,
};

use runs::{Context, Event, Length, Listener, signals};

use crate::progress::{Step, StepStack};

/// Prints messages and progress.
pub(crate) struct Terminal;

/// The context of long operations: Ctrl-C ends them, and the terminal receives their messages.
pub(crate) fn context() -> anyhow::Result<Context> {
    Ok(Context::new(signals::interrupt()?, Arc::new(Terminal)))
}

/// The same, where others look on from elsewhere.
pub(crate) fn context_shown_in(shown: StepStack) -> anyhow::Result<Context> {
    Ok(Context::new(
        signals::interrupt()?,
        Arc::new(SharedTerminal(shown)),
    ))
}

/// Says that the first signal came. It does not wait for the output of others, as the macros do.
pub(crate) fn tell_interruption() {
    // The reader may be gone.
    let _ = writeln!(
        stderr(),
        "\ninterrupted: ending and cleaning up; all measurements so far are kept. Interrupt again to end at once"
    );
}

impl Listener for Terminal {
    fn on_event(&self, event: Event<'_>) {
        match event {
            Event::Note(note) => eprintln!("note: {note}"),
            Event::Warning(warning) => eprintln!("warning: {warning}"),
            Event::IncompleteKept(path) => eprintln!("incomplete, kept as {}", path.display()),
            Event::ServerLog(tail) => eprint!("the end of the server's log:\n{tail}\n"),
            Event::ServerKept(name) => eprintln!("kept: dbdyno server start {name}"),
        }
    }

    fn begin(&self, what: &str, length: Length) -> Box<dyn runs::Step> {
        Box::new(step(what, length))
    }
}

fn step(what: &str, length: Length) -> Step {
    let what = what.to_owned();
    match length {
        Length::Unknown => Step::spinner(what),
        Length::Even(length) => Step::bar(what, length),
        Length::Paced(length) => Step::paced(what, length),
    }
}

/// Prints messages, and also publishes the progress for `--serve`.
struct SharedTerminal(StepStack);

impl Listener for SharedTerminal {
    fn on_event(&self, event: Event<'_>) {
        Terminal.on_event(event);
    }

    fn begin(&self, what: &str, length: Length) -> Box<dyn runs::Step> {
        Box::new(step(what, length).shown_in(&self.0))
    }
}

impl runs::Step for Step {
    fn reach(&self, position: u64) {
        self.reach(position);
    }

    fn lengthen(&self, by: u64) {
        self.lengthen(by);
    }

    fn say(&self, what: &str) {
        self.say(what.to_owned());
    }

    fn say_with(&self, what: &str, left: Duration) {
        self.say_with(what, left);
    }

    fn announce(&self, what: &str, left: Duration) {
        self.announce(what, left);
    }

    fn note(&self, line: &str) {
        self.note(line);
    }
}
