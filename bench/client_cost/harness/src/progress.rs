//! How far the benchmark is, on stderr: one line that is written over on a terminal, else a line now and then.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

/// Without a terminal a line comes no more often.
const QUIET_FOR: Duration = Duration::from_secs(15);

pub struct Progress {
    begin: Instant,
    shown: Option<Instant>,
    steps: usize,
    done: usize,
}

impl Progress {
    pub fn new(steps: usize) -> Self {
        Self {
            begin: Instant::now(),
            shown: None,
            steps,
            done: 0,
        }
    }

    /// Says what comes next.
    pub fn step(&mut self, what: &str) {
        self.done += 1;
        let terminal = std::io::stderr().is_terminal();
        if !terminal && self.shown.is_some_and(|shown| shown.elapsed() < QUIET_FOR) {
            return;
        }
        self.shown = Some(Instant::now());
        let elapsed_s = self.begin.elapsed().as_secs_f64();
        let done = self.done.saturating_sub(1) as f64;
        let left = match self.done {
            0..=3 => String::new(),
            _ => format!(
                ", {:.0} s left",
                elapsed_s / done * (self.steps as f64 - done)
            ),
        };
        let line = format!("{}/{}{left}: {what}", self.done, self.steps);
        write_line(&line, terminal);
    }

    /// Says something that stays.
    pub fn note(&self, what: &str) {
        if std::io::stderr().is_terminal() {
            write_line("", true);
        }
        write_line(what, false);
    }

    /// Clears the line.
    pub fn finish(&self) {
        if std::io::stderr().is_terminal() {
            write_line("", true);
        }
    }
}

fn write_line(line: &str, over: bool) {
    let mut stderr = std::io::stderr();
    // A closed standard error must not stop the benchmark.
    let _ = match over {
        true => write!(stderr, "\r{line}\x1b[K"),
        false => writeln!(stderr, "{line}"),
    };
}
