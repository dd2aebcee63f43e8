//! The full screen: takes over the terminal, draws, handles keys, and always restores the terminal.

use std::{
    io::{self, Write, stdout},
    mem::ManuallyDrop,
    panic,
    process::ExitCode,
    time::Duration,
};

use blame::{Blame, Blamed};
use monitor::{Feed, Viewers};
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};
use reactor::{Instant, Interrupt, system_now};
use top::{Answer, Model, Palette, Playback, Screen, Source, draw};

use crate::commands::top::keyboard::{Input, Keyboard};

/// Timeout of the wait for a key between two polls of the feed.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// Redraw interval without updates, for the times on the screen.
const DRAW_EVERY: Duration = Duration::from_secs(1);

/// Settings from the command line.
pub(super) struct Choices {
    pub(super) palette: Palette,
    pub(super) every: Duration,
    pub(super) speed: f64,
    /// Number of intervals after which it ends.
    pub(super) count: Option<u64>,
    /// Those who look on from elsewhere.
    pub(super) viewers: Option<Viewers>,
}

/// Shows the feed until the user ends it, or the terminal is closed.
pub(super) fn show(
    feed: &mut dyn Feed,
    model: &mut Model,
    choices: &Choices,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let playback = Playback::new(feed.source(), choices.speed);
    let mut screen = Screen::new(playback, choices.palette, choices.every);
    let mut terminal = TerminalGuard::take()?;
    let keyboard = Keyboard::open().map_err(|error| of_terminal(&error))?;
    let mut last = system_now();
    let mut drawn: Option<Instant> = None;
    loop {
        let outcome = feed.poll(model)?;
        if feed.source() != screen.playback.source() {
            screen.playback.set_source(feed.source(), model);
        }
        if outcome.is_new_run {
            screen.playback = Playback::new(feed.source(), screen.playback.speed());
        }
        let now = system_now();
        screen.playback.advance((now - last).as_secs_f64(), model);
        last = now;
        screen.set_silence(feed.silent_for());
        if let Some(viewers) = &choices.viewers {
            viewers.answer(model, &screen.playback, screen.every(), feed.silent_for());
        }
        let moves = feed.source() == Source::Replay
            && !screen.playback.is_paused()
            && !screen.playback.is_at_end(model);
        if outcome.is_any || moves || drawn.is_none_or(|drawn| now - drawn >= DRAW_EVERY) {
            match terminal.draw(&screen, model) {
                Err(_) if keyboard.is_gone() => return Ok(ExitCode::SUCCESS),
                drawn => drawn?,
            }
            drawn = Some(now);
        }
        let is_enough = choices
            .count
            .is_some_and(|count| model.intervals_until(screen.playback.at_s(model)) >= count);
        if is_enough || interrupt.is_raised() {
            return Ok(ExitCode::SUCCESS);
        }
        let input = keyboard.input(POLL_EVERY, interrupt);
        match input.map_err(|error| of_terminal(&error))? {
            Input::Nothing => {}
            Input::Resized => drawn = None,
            Input::Gone => return Ok(ExitCode::SUCCESS),
            Input::Pressed(key) => match screen.press(key, model) {
                Answer::Quit => return Ok(ExitCode::SUCCESS),
                Answer::Every(every) => {
                    feed.set_every(every);
                    drawn = None;
                }
                Answer::Draw => drawn = None,
            },
        }
    }
}

/// The terminal while it is in use: raw, on its alternate screen, without a cursor. It is restored when this is
/// dropped, and by a panic in any thread before the panic's message. What ratatui does when it is dropped is left out: it
/// shows the cursor, too, and panics where the terminal is gone that it would tell its failure.
struct TerminalGuard(ManuallyDrop<Terminal<CrosstermBackend<io::Stdout>>>);

impl TerminalGuard {
    fn take() -> Result<Self, Blamed> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        enable_raw_mode()
            .and_then(|()| execute!(stdout(), EnterAlternateScreen))
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())))
            .map(|terminal| Self(ManuallyDrop::new(terminal)))
            .map_err(|error| {
                give_back();
                of_terminal(&error)
            })
    }

    fn draw(&mut self, screen: &Screen, model: &Model) -> Result<(), Blamed> {
        let drawn = self.0.draw(|frame| {
            let area = frame.area();
            draw(screen, model, area, frame.buffer_mut());
        });
        drawn.map(drop).map_err(|error| of_terminal(&error))
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Leaves the alternate screen, shows the cursor and restores the terminal's line mode.
fn give_back() {
    // A lost terminal needs no restoration.
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = stdout().flush();
    let _ = disable_raw_mode();
}

fn of_terminal(error: &io::Error) -> Blamed {
    Blamed::new(Blame::Machine, format!("terminal: {error}"))
        .hint("--plain writes lines instead".to_owned())
}
