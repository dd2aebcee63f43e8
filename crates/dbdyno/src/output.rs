//! What goes to standard output and standard error, where a reader that is gone ends nothing.
//!
//! The macros of this file stand in for those of the standard library, which panic when nobody takes what they print. A
//! command goes on to its end without a reader, and its exit code says how it ended: `dbdyno report X | head` succeeds,
//! a run whose progress nobody reads is measured all the same, and a failure stays one although nobody hears of it.

use std::{
    fmt,
    io::{self, Write},
};

use crate::blame::{Blame, Blamed};

/// Prints to standard output.
macro_rules! print {
    ($($arg:tt)*) => { $crate::output::print(format_args!($($arg)*)) };
}

/// Prints a line to standard output.
macro_rules! println {
    () => { $crate::output::print(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::output::print(format_args!("{}\n", format_args!($($arg)*))) };
}

/// Prints to standard error.
macro_rules! eprint {
    ($($arg:tt)*) => { $crate::output::tell(format_args!($($arg)*)) };
}

/// Prints a line to standard error.
macro_rules! eprintln {
    () => { $crate::output::tell(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::output::tell(format_args!("{}\n", format_args!($($arg)*))) };
}

/// Begins the message of a panic about standard output that cannot be written; see `main.rs`.
pub(crate) const UNPRINTED: &str = "failed printing to stdout: ";

/// Prints to standard output; a full disk behind it ends dbdyno with the machine's exit code.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    if let Err(error) = unless_closed(io::stdout().lock().write_fmt(text)) {
        panic!("{UNPRINTED}{error}");
    }
}

/// Prints to standard error; what cannot be told is not told.
pub(crate) fn tell(text: fmt::Arguments<'_>) {
    // One write: what other processes tell does not come in between.
    let _ = io::stderr().lock().write_all(text.to_string().as_bytes());
}

/// Writes to standard output in one piece and at once, so that what others write does not come in between.
pub(crate) fn write_out(text: &[u8]) -> Result<(), Blamed> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text).and_then(|()| stdout.flush());
    unless_closed(written)
        .map_err(|error| Blamed::new(Blame::Machine, format!("standard output: {error}")))
}

/// A reader that has seen enough is no error.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
