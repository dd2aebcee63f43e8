//! Progress on stderr: a spinner for steps of unknown length, a bar with the time left for the others.

use std::{borrow::Cow, io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// One step that takes noticeable time; its line vanishes at its end.
///
/// A terminal line is redrawn in place; elsewhere each step is one plain line, so that a log stays readable.
#[derive(Debug, Clone)]
pub(crate) struct Step(ProgressBar);

impl Step {
    /// A step of unknown length.
    pub(crate) fn spinner(what: impl Into<Cow<'static, str>>) -> Self {
        let what = what.into();
        let what = safe(what);
        announce(&what);
        let bar = ProgressBar::with_draw_target(None, target())
            .with_style(style("{spinner} {msg} ({elapsed})"))
            .with_message(what);
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// A step of known length, in any unit, with an even pace.
    pub(crate) fn bar(what: impl Into<Cow<'static, str>>, length: u64) -> Self {
        let what = what.into();
        announce(&what);
        Self::with_template(
            what,
            length,
            "{bar:16} {percent:>3} %, {eta} left: {wide_msg}",
        )
    }

    /// A step of known length whose caller computes the time left.
    pub(crate) fn paced(what: impl Into<Cow<'static, str>>, length: u64) -> Self {
        Self::with_template(what.into(), length, "{bar:16} {percent:>3} %, {wide_msg}")
    }

    fn with_template(what: Cow<'static, str>, length: u64, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), target())
            .with_style(style(template))
            .with_message(safe(what));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    /// Sets the completed part of the length.
    pub(crate) fn reach(&self, position: u64) {
        self.0.set_position(position);
    }

    /// Adds to the length.
    pub(crate) fn lengthen(&self, by: u64) {
        self.0.inc_length(by);
    }

    /// Sets the current activity of the step.
    pub(crate) fn say(&self, what: impl Into<Cow<'static, str>>) {
        self.0.set_message(safe(what.into()));
    }

    /// Sets the current activity of the step, and the estimated time left.
    pub(crate) fn say_with(&self, what: String, left: Duration) {
        self.say(format!("{} left: {what}", units::span(left)));
    }

    /// Like `say_with`, printed also if stderr is not a terminal.
    pub(crate) fn announce(&self, what: &str, left: Duration) {
        self.say_with(what.to_owned(), left);
        if !std::io::stderr().is_terminal() {
            eprintln!("{what} (about {} left)", units::span(left));
        }
    }

    /// Writes a line above the progress line.
    pub(crate) fn note(&self, line: &str) {
        self.0.suspend(|| eprint!("{line}\n"));
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn announce(what: &str) {
    if !std::io::stderr().is_terminal() {
        eprintln!("{what}");
    }
}

/// Makes a step's text, which names tables, files and servers, safe for a terminal.
fn safe(what: Cow<'static, str>) -> Cow<'static, str> {
    Cow::Owned(samples::printable(&what).into_owned())
}

fn target() -> ProgressDrawTarget {
    ProgressDrawTarget::stderr_with_hz(8)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("our templates are valid")
        .progress_chars("=> ")
}
