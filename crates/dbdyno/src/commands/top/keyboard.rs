//! The terminal's input: keys and changes of its size, and whether there is a terminal any more.

use std::{
    fs::File,
    io::{self, IsTerminal, stdin},
    os::fd::{AsFd, OwnedFd},
    thread,
    time::Duration,
};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use reactor::{
    Interrupt,
    channel::{Receiver, RecvTimeoutError, unbounded},
};
use top::Key;

use super::hang_up::has_hung_up;

pub(super) enum Input {
    Pressed(Key),
    Resized,
    /// Nothing came in time, or nothing that means anything here.
    Nothing,
    /// The terminal was closed.
    Gone,
}

/// The terminal that keys come from.
///
/// They are read in a thread of its own: at the end of its input crossterm (0.29) reads on and on without returning,
/// which must not outlast the terminal. The thread ends with the program.
pub(super) struct Keyboard {
    terminal: OwnedFd,
    events: Receiver<io::Result<Event>>,
}

impl Keyboard {
    /// Begins to read: from standard input, or from the controlling terminal if that is something else.
    pub(super) fn open() -> io::Result<Self> {
        let terminal = if stdin().is_terminal() {
            stdin().as_fd().try_clone_to_owned()?
        } else {
            File::open("/dev/tty")?.into()
        };
        let (sender, events) = unbounded();
        thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || {
                loop {
                    let event = event::read();
                    let is_last = event.is_err();
                    if sender.send(event).is_err() || is_last {
                        return;
                    }
                }
            })?;
        Ok(Self { terminal, events })
    }

    /// Waits for input, or for an interruption.
    pub(super) fn input(&self, timeout: Duration, interrupt: &Interrupt) -> io::Result<Input> {
        match interrupt.receive(&self.events, timeout) {
            Ok(event) => event.map(meaning),
            Err(_) if self.is_gone() => Ok(Input::Gone),
            Err(RecvTimeoutError::Timeout) => Ok(Input::Nothing),
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("its input has ended")),
        }
    }

    /// Whether the terminal was closed.
    pub(super) fn is_gone(&self) -> bool {
        has_hung_up(&self.terminal)
    }
}

fn meaning(event: Event) -> Input {
    match event {
        Event::Resize(..) => Input::Resized,
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            key_of(key).map_or(Input::Nothing, Input::Pressed)
        }
        _ => Input::Nothing,
    }
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
