//! The user's selection, and the effect of each key on it.

use std::time::Duration;

use crate::{
    model::Model,
    palette::Palette,
    playback::{Playback, Source},
    sorting::Sorting,
};

/// Available sampling intervals of a server, milliseconds, shortest first.
const INTERVALS_MS: [u64; 9] = [100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000];
/// Steps of the arrow keys and of the page keys in a record, seconds.
const STEP_S: f64 = 1.0;
const LEAP_S: f64 = 10.0;

/// A key, independent of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Tab,
    /// The tab key with shift.
    BackTab,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Escape,
    /// Control-C.
    Interrupt,
}

/// The action that a key requests from the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Redraw only.
    Draw,
    Quit,
    /// Query the server at this interval from now on.
    Every(Duration),
}

/// A panel of figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Panel {
    #[default]
    Overview,
    Statements,
    Waits,
    Connections,
    Innodb,
    Machine,
}

impl Panel {
    /// All panels, in the order of their digit keys.
    pub(crate) const ALL: [Self; 6] = [
        Self::Overview,
        Self::Statements,
        Self::Waits,
        Self::Connections,
        Self::Innodb,
        Self::Machine,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Statements => "Statements",
            Self::Waits => "Waits",
            Self::Connections => "Connections",
            Self::Innodb => "InnoDB",
            Self::Machine => "Machine",
        }
    }

    fn place(self) -> usize {
        let place = Self::ALL.iter().position(|panel| *panel == self);
        place.unwrap_or_default()
    }

    fn moved(self, by: usize) -> Self {
        Self::ALL[(self.place() + by) % Self::ALL.len()]
    }
}

/// The user's selection.
#[derive(Debug, Clone)]
pub struct Screen {
    pub playback: Playback,
    pub(crate) palette: Palette,
    pub(crate) every: Duration,
    pub(crate) panel: Panel,
    pub(crate) sorting: Sorting,
    /// Number of rows of a list above the first visible one.
    pub(crate) scrolled: usize,
    pub(crate) shows_idle: bool,
    pub(crate) shows_help: bool,
    /// Of the statements that connections run only the verb is shown.
    pub(crate) hides_statements: bool,
    /// How long nothing has come, where it should have.
    pub(crate) silence: Option<Duration>,
}

impl Screen {
    /// A screen with the overview. `every` is the sampling interval of a server.
    pub fn new(playback: Playback, palette: Palette, every: Duration) -> Self {
        Self {
            playback,
            palette,
            every,
            panel: Panel::default(),
            sorting: Sorting::default(),
            scrolled: 0,
            shows_idle: false,
            shows_help: false,
            hides_statements: false,
            silence: None,
        }
    }

    /// The polling interval that was chosen.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// Sets the time since the last update of a silent feed; `None` while updates arrive as expected.
    pub fn set_silence(&mut self, silence: Option<Duration>) {
        self.silence = silence;
    }

    pub fn press(&mut self, key: Key, model: &Model) -> Answer {
        // Any key closes the help unless it ends the program.
        let had_help = std::mem::take(&mut self.shows_help);
        match key {
            Key::Interrupt | Key::Char('q' | 'Q') => return Answer::Quit,
            Key::Char('h' | 'H' | '?') => self.shows_help = !had_help,
            _ if had_help => {}
            Key::Char('p' | 'P' | ' ') => self.playback.toggle_pause(model),
            Key::Char(digit @ '1'..='6') => {
                let place = digit as usize - '1' as usize;
                self.go_to(Panel::ALL[place]);
            }
            Key::Tab => self.go_to(self.panel.moved(1)),
            Key::BackTab => self.go_to(self.panel.moved(Panel::ALL.len() - 1)),
            Key::Char('+' | '=') => return self.change_pace(1),
            Key::Char('-') => return self.change_pace(-1),
            Key::Char('s' | 'S') => {
                self.sorting = self.sorting.next();
                self.scrolled = 0;
            }
            Key::Char('i' | 'I') => self.shows_idle = !self.shows_idle,
            Key::Left => self.playback.seek(-STEP_S, model),
            Key::Right => self.playback.seek(STEP_S, model),
            Key::PageUp => self.playback.seek(-LEAP_S, model),
            Key::PageDown => self.playback.seek(LEAP_S, model),
            Key::Home => self.playback.rewind(model),
            Key::End => self.playback.catch_up(model),
            Key::Up => self.scrolled = self.scrolled.saturating_sub(1),
            Key::Down => self.scrolled += 1,
            Key::Char(_) | Key::Escape => {}
        }
        Answer::Draw
    }

    fn go_to(&mut self, panel: Panel) {
        self.panel = panel;
        self.scrolled = 0;
    }

    /// A replay runs faster; a server is queried less often, which makes intervals longer.
    fn change_pace(&mut self, by: i32) -> Answer {
        match self.playback.source() {
            Source::Replay => {
                self.playback.change_speed(2f64.powi(by));
                Answer::Draw
            }
            // The run's interval of writing determines it.
            Source::Following => Answer::Draw,
            Source::Live => {
                let now_ms = self.every.as_millis() as u64;
                let mut steps = INTERVALS_MS.into_iter();
                let next_ms = if by > 0 {
                    steps.find(|step| *step > now_ms)
                } else {
                    steps.rev().find(|step| *step < now_ms)
                };
                self.every = Duration::from_millis(next_ms.unwrap_or(now_ms));
                Answer::Every(self.every)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(source: Source) -> Screen {
        let every = Duration::from_secs(1);
        Screen::new(Playback::new(source, 1.0), Palette::plain(), every)
    }

    #[test]
    fn keys_choose_panels() {
        let model = Model::default();
        let mut screen = screen(Source::Live);
        for (key, panel) in [
            (Key::Tab, Panel::Statements),
            (Key::Char('6'), Panel::Machine),
            (Key::Tab, Panel::Overview),
            (Key::BackTab, Panel::Machine),
            (Key::Char('9'), Panel::Machine),
        ] {
            assert_eq!(screen.press(key, &model), Answer::Draw);
            assert_eq!(screen.panel, panel, "{key:?}");
        }
        for key in [Key::Char('q'), Key::Interrupt] {
            assert_eq!(screen.press(key, &model), Answer::Quit);
        }
    }

    #[test]
    fn help_closes_by_any_key_which_does_nothing_else() {
        let model = Model::default();
        let mut screen = screen(Source::Live);
        screen.press(Key::Char('?'), &model);
        assert!(screen.shows_help);
        screen.press(Key::Char('p'), &model);
        assert!(!screen.shows_help && !screen.playback.is_paused());
        screen.press(Key::Char('p'), &model);
        assert!(screen.playback.is_paused());
    }

    #[test]
    fn plus_and_minus_change_the_pace() {
        let model = Model::default();
        let mut live = screen(Source::Live);
        let seconds = |s| Answer::Every(Duration::from_secs(s));
        assert_eq!(live.press(Key::Char('+'), &model), seconds(2));
        assert_eq!(live.press(Key::Char('-'), &model), seconds(1));
        for _ in 0..20 {
            live.press(Key::Char('-'), &model);
        }
        assert_eq!(live.every, Duration::from_millis(100));
        let mut replay = screen(Source::Replay);
        replay.press(Key::Char('+'), &model);
        assert_eq!(replay.playback.speed(), 2.0);
        assert_eq!(replay.every, Duration::from_secs(1));
    }
}
