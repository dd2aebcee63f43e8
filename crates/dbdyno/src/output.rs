//! What goes to standard output and standard error, where a reader that is gone ends nothing.
//!
//! The macros of this file stand in for those of the standard library, which panic when nobody takes what they print. A
//! command goes on to its end without a reader, and its exit code says how it ended: `dbdyno report X | head` succeeds,
//! a run whose progress nobody reads is measured all the same, and a failure stays one although nobody hears of it.
//!
//! Here, too, text from outside (what a server says, names, paths) becomes harmless for a terminal: what cannot be printed
//! is written as JSON writes it, and a line on standard error stays one line.

use std::{
    fmt,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use runs::{Blame, Blamed};
use samples::{printable, printable_lines};

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

/// Prints one line to standard error, whatever is in it; a very long one is cut.
macro_rules! eprintln {
    () => { $crate::output::tell(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::output::tell_line(format_args!($($arg)*)) };
}

/// Begins the message of a panic about standard output that cannot be written; see `main.rs`.
pub(crate) const UNPRINTED: &str = "failed printing to stdout: ";

/// Prints to standard output; a full disk behind it ends dbdyno with the machine's exit code.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    let written = io::stdout()
        .lock()
        .write_all(printable_lines(&text).as_bytes());
    if let Err(error) = unless_closed(written) {
        panic!("{UNPRINTED}{error}");
    }
}

/// Prints to standard error; what cannot be told is not told.
pub(crate) fn tell(text: fmt::Arguments<'_>) {
    // One write: what other processes tell does not come in between.
    let text = text.to_string();
    let _ = io::stderr()
        .lock()
        .write_all(printable_lines(&text).as_bytes());
}

/// The same as one line.
pub(crate) fn tell_line(text: fmt::Arguments<'_>) {
    tell(format_args!("{}\n", printable(&text.to_string())));
}

/// Standard output for bytes that are promised as they are, to a file or a program: rows, statements, the reports of the
/// tools that dbdyno stands in for. On a terminal they are text for people.
pub(crate) fn data() -> Data {
    let stdout = io::stdout();
    Data {
        is_terminal: stdout.is_terminal(),
        to: stdout.lock(),
    }
}

/// See [`data`].
pub(crate) struct Data {
    is_terminal: bool,
    to: io::StdoutLock<'static>,
}

impl Write for Data {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.to.write(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        self.to.write_all(printable_lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes to standard output in one piece and at once, so that what others write does not come in between.
pub(crate) fn write_out(text: &[u8]) -> Result<(), Blamed> {
    let mut stdout = data();
    let written = stdout.write_all(text).and_then(|()| stdout.flush());
    unless_closed(written)
        .map_err(|error| Blamed::new(Blame::Machine, format!("standard output: {error}")))
}

/// Prints what clap says of a command line, in its colours; where the command line holds what cannot be printed, without
/// them. Returns the exit code.
pub(crate) fn print_of_clap(error: &clap::Error) -> io::Result<ExitCode> {
    let text = error.render().to_string();
    if printable_lines(&text) == text {
        unless_closed(error.print())?;
    } else if error.use_stderr() {
        tell(format_args!("{text}"));
    } else {
        print(format_args!("{text}"));
    }
    Ok(if error.use_stderr() {
        ExitCode::from(Blame::Input as u8)
    } else {
        ExitCode::SUCCESS
    })
}

/// A reader that has seen enough is no error.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
