//! Progress on stderr: a spinner for steps of unknown length, a bar with the time left for the others.

use std::{
    borrow::Cow,
    fmt,
    io::IsTerminal,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use reactor::system_now;

mod countdown;
mod shown;

use countdown::Countdown;
use shown::ShownStep;
pub(crate) use shown::StepStack;

/// Before this share of a bar, and this time, its pace is a guess: no time left is shown.
const PACE_SHARE: f32 = 0.05;
const PACE_TIME: Duration = Duration::from_secs(2);

/// One step that takes noticeable time; its line vanishes at its end.
///
/// On a terminal it is redrawn in place; elsewhere each step is one plain line, so that a log stays readable.
#[derive(Debug)]
pub(crate) struct Step {
    bar: ProgressBar,
    /// The time left as it was shown last.
    countdown: Arc<Mutex<Countdown>>,
    /// The same for those who look on from elsewhere.
    shown: Option<ShownStep>,
}

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
        Self::of(bar, Arc::default())
    }

    /// The same step, also shown to those who look on from elsewhere.
    pub(crate) fn shown_in(mut self, shown: &StepStack) -> Self {
        self.shown = Some(shown.begin(&self.bar.message()));
        self
    }

    /// A step of known length, in any unit, with an even pace.
    pub(crate) fn bar(what: impl Into<Cow<'static, str>>, length: u64) -> Self {
        let what = what.into();
        announce(&what);
        Self::with_template(
            what,
            length,
            "{bar:16} {percent:>3} %, {left} left: {wide_msg}",
        )
    }

    /// A step of known length whose caller computes the time left.
    pub(crate) fn paced(what: impl Into<Cow<'static, str>>, length: u64) -> Self {
        Self::with_template(what.into(), length, "{bar:16} {percent:>3} %, {wide_msg}")
    }

    fn with_template(what: Cow<'static, str>, length: u64, template: &str) -> Self {
        let countdown = Arc::<Mutex<Countdown>>::default();
        let left = Arc::clone(&countdown);
        let style = style(template).with_key(
            "left",
            move |state: &ProgressState, out: &mut dyn fmt::Write| {
                // A terminal that is gone takes nothing.
                let _ = out.write_str(&left_at_pace(&left, state));
            },
        );
        let bar = ProgressBar::with_draw_target(Some(length), target())
            .with_style(style)
            .with_message(safe(what));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self::of(bar, countdown)
    }

    fn of(bar: ProgressBar, countdown: Arc<Mutex<Countdown>>) -> Self {
        Self {
            bar,
            countdown,
            shown: None,
        }
    }

    /// Sets the completed part of the length.
    pub(crate) fn reach(&self, position: u64) {
        self.bar.set_position(position);
    }

    pub(crate) fn lengthen(&self, by: u64) {
        self.bar.inc_length(by);
    }

    /// Sets the current activity of the step.
    pub(crate) fn say(&self, what: impl Into<Cow<'static, str>>) {
        let what = safe(what.into());
        if let Some(shown) = &self.shown {
            shown.say(&what);
        }
        self.bar.set_message(what);
    }

    /// Says what the step does now, and how long the rest takes about.
    pub(crate) fn say_with(&self, what: &str, left: Duration) {
        self.say_left(what, &left_in_words(&self.countdown, left));
    }

    /// Like `say_with`, printed also if stderr is not a terminal.
    pub(crate) fn announce(&self, what: &str, left: Duration) {
        let left = left_in_words(&self.countdown, left);
        self.say_left(what, &left);
        if !std::io::stderr().is_terminal() {
            eprintln!("{what} (about {left} left)");
        }
    }

    fn say_left(&self, what: &str, left: &str) {
        self.say(format!("{left} left: {what}"));
    }

    /// Writes a line above the progress line.
    pub(crate) fn note(&self, line: &str) {
        self.bar.suspend(|| eprint!("{line}\n"));
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The time left that is shown for an estimate.
fn left_in_words(countdown: &Mutex<Countdown>, estimate: Duration) -> String {
    let mut countdown = countdown.lock().unwrap_or_else(PoisonError::into_inner);
    units::span(countdown.show(system_now(), estimate))
}

/// The time left of a bar, by its pace so far.
fn left_at_pace(countdown: &Mutex<Countdown>, state: &ProgressState) -> String {
    if state.fraction() < PACE_SHARE && state.elapsed() < PACE_TIME || state.pos() == 0 {
        return "–".to_owned();
    }
    left_in_words(countdown, state.eta())
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
