//! The output of `dbdyno size`: its formats, and the lines of an answer for people.

use report::wrapped_behind;
use sizing::AnswerLine;

use crate::commands::run::terminal_width;

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Format {
    /// Text for a terminal
    Text,
    /// One JSON object
    Json,
    /// CSV with a header line
    Csv,
}

/// Prints an answer for people in lines of the terminal's width, and notes to standard error.
pub(super) fn print_lines(lines: &[AnswerLine], remarks: &[String]) {
    let width = usize::from(terminal_width());
    for line in lines {
        println!("{}", wrapped_behind(&line.head(), &line.text, width));
    }
    for remark in remarks {
        eprintln!("note: {remark}");
    }
}
