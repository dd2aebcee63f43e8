//! A virtual terminal in which a shell runs dbdyno, with its displayed text.

use std::{
    io::{Read, Write},
    num::NonZero,
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::scene::{FOREIGN, PATIENCE, Scene};

const POLL: Duration = Duration::from_millis(20);

/// A virtual terminal; its programs are killed if the test ends first.
pub(crate) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    shown: Arc<Mutex<Shown>>,
}

/// The output of the terminal.
struct Shown {
    screen: vt100::Parser,
    bytes: Vec<u8>,
    /// Nothing more is read.
    is_closed: bool,
}

impl Terminal {
    /// Runs an sh script, in which `$DBDYNO` is dbdyno, in a terminal of this number of columns and rows.
    pub(crate) fn run(scene: &Scene, script: &str, (columns, rows): (u16, u16)) -> Self {
        let pty = native_pty_system().openpty(size(columns, rows)).unwrap();
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script]);
        command.cwd(scene.path());
        command.env("HOME", scene.path());
        command.env("DBDYNO", env!("CARGO_BIN_EXE_dbdyno"));
        command.env("TERM", "xterm-256color");
        for variable in FOREIGN.iter().chain(&["NO_COLOR"]) {
            command.env_remove(variable);
        }
        let child = pty.slave.spawn_command(command).unwrap();
        // The terminal closes when its last program has ended.
        drop(pty.slave);
        let shown = Arc::new(Mutex::new(Shown {
            screen: vt100::Parser::new(whole(rows), whole(columns), 0),
            bytes: Vec::new(),
            is_closed: false,
        }));
        let (mut reader, told) = (pty.master.try_clone_reader().unwrap(), Arc::clone(&shown));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut shown = told.lock().unwrap();
                if shown.is_closed {
                    return;
                }
                shown.screen.process(&bytes[..count]);
                shown.bytes.extend_from_slice(&bytes[..count]);
            }
        });
        Self {
            keyboard: pty.master.take_writer().unwrap(),
            master: pty.master,
            child,
            shown,
        }
    }

    pub(crate) fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Resizes the terminal, which its programs receive as a signal.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let mut shown = self.shown();
        let screen = shown.screen.screen_mut();
        screen.set_size(whole(rows), whole(columns));
        drop(shown);
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// Sends a signal to the shell's foreground programs.
    pub(crate) fn signals(&self, signal: Signal) {
        let shell = self.child.process_id().unwrap();
        let children = format!("/proc/{shell}/task/{shell}/children");
        let children = std::fs::read_to_string(children).unwrap();
        let first = children.split_whitespace().next().unwrap();
        let pid = Pid::from_raw(first.parse().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Closes the terminal for the programs that its shell leaves: with the next that they write.
    pub(crate) fn close(self) {
        self.shown().is_closed = true;
    }

    /// The displayed text.
    pub(crate) fn text(&self) -> String {
        self.shown().screen.screen().contents()
    }

    /// Everything written to the terminal so far.
    pub(crate) fn written(&self) -> String {
        String::from_utf8_lossy(&self.shown().bytes).into_owned()
    }

    /// Waits until a text is displayed.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) -> &Self {
        self.shows_what(text, |shown| shown.contains(text))
    }

    /// Waits until the displayed text satisfies a condition.
    #[track_caller]
    pub(crate) fn shows_what(&self, what: &str, is_so: impl Fn(&str) -> bool) -> &Self {
        let mut waited = Duration::ZERO;
        loop {
            let text = self.text();
            if is_so(&text) {
                return self;
            }
            assert!(waited < PATIENCE, "waited in vain for {what:?}:\n{text}");
            thread::sleep(POLL);
            waited += POLL;
        }
    }

    /// Waits until a program uses the whole screen and has hidden the cursor, which it does after its first picture.
    #[track_caller]
    pub(crate) fn is_taken(&self) -> &Self {
        self.shows_what("the other screen without a cursor", |_| {
            let shown = self.shown();
            let screen = shown.screen.screen();
            screen.alternate_screen() && screen.hide_cursor()
        })
    }

    /// Whether a program has restored the terminal: the normal screen, with a cursor.
    pub(crate) fn is_left_alone(&self) -> bool {
        let shown = self.shown();
        let screen = shown.screen.screen();
        !screen.alternate_screen() && !screen.hide_cursor()
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Both calls fail for a shell that has ended, which is the normal case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn whole(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a terminal has rows and columns")
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}
