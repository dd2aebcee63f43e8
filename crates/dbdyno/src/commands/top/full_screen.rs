//! The full screen: takes the terminal, draws, obeys keys, and gives the terminal back whatever happens.

use std::{
    io::{self, Write, stdout},
    panic,
    process::ExitCode,
    time::Duration,
};

use load::Interrupt;
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};
use reactor::{Instant, system_now};
use runs::{Blame, Blamed};
use top::{Answer, Key, Model, Palette, Playback, Screen, Source, draw};

use crate::commands::top::{feed::Feed, viewers::Viewers};

/// How long a key is waited for before is looked for news.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A screen on which nothing happens is drawn this often, for the times on it.
const DRAW_EVERY: Duration = Duration::from_secs(1);

/// What the command line chose.
pub(super) struct Choices {
    pub(super) palette: Palette,
    pub(super) every: Duration,
    pub(super) speed: f64,
    /// Intervals after which it ends.
    pub(super) count: Option<u64>,
    /// Those who look on from elsewhere.
    pub(super) viewers: Option<Viewers>,
}

/// Shows the feed until the user ends it.
pub(super) fn show(
    feed: &mut dyn Feed,
    model: &mut Model,
    choices: &Choices,
    interrupt: &Interrupt,
) -> anyhow::Result<ExitCode> {
    let playback = Playback::new(feed.source(), choices.speed);
    let mut screen = Screen::new(playback, choices.palette, choices.every);
    let mut terminal = TerminalGuard::take()?;
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
            terminal.draw(&screen, model)?;
            drawn = Some(now);
        }
        let is_enough = choices
            .count
            .is_some_and(|count| model.intervals_until(screen.playback.at_s(model)) >= count);
        if is_enough || interrupt.is_raised() {
            return Ok(ExitCode::SUCCESS);
        }
        if !terminal.waits_for_input()? {
            continue;
        }
        match terminal.input()? {
            Some(Input::Resized) => drawn = None,
            Some(Input::Pressed(key)) => match screen.press(key, model) {
                Answer::Quit => return Ok(ExitCode::SUCCESS),
                Answer::Every(every) => {
                    feed.set_every(every);
                    drawn = None;
                }
                Answer::Draw => drawn = None,
            },
            None => {}
        }
    }
}

/// What came from the terminal.
enum Input {
    Pressed(Key),
    Resized,
}

/// The terminal as long as it is ours: raw, on its other screen, without a cursor. It is given back when this is dropped,
/// and by a panic in any thread before that says what happened.
struct TerminalGuard(Terminal<CrosstermBackend<io::Stdout>>);

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
            .map(Self)
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

    /// True when something came from the terminal before the time was over.
    fn waits_for_input(&self) -> Result<bool, Blamed> {
        match event::poll(LOOK_EVERY) {
            // A signal; what it means is looked at elsewhere.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            polled => polled.map_err(|error| of_terminal(&error)),
        }
    }

    fn input(&self) -> Result<Option<Input>, Blamed> {
        let event = event::read().map_err(|error| of_terminal(&error))?;
        Ok(match event {
            Event::Resize(..) => Some(Input::Resized),
            Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Input::Pressed),
            _ => None,
        })
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Leaves the other screen, shows the cursor and lets the terminal do again what it does with lines.
fn give_back() {
    // A terminal that is gone needs nothing back.
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = stdout().flush();
    let _ = disable_raw_mode();
}

fn key_of(event: KeyEvent) -> Option<Key> {
    let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char('c') if is_control => Key::Interrupt,
        KeyCode::Char(_) if is_control => return None,
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Esc => Key::Escape,
        _ => return None,
    })
}

fn of_terminal(error: &io::Error) -> Blamed {
    Blamed::new(Blame::Machine, format!("terminal: {error}"))
        .hint("--plain writes lines instead".to_owned())
}
