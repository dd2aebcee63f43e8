//! Standard output and standard error, on which a closed reader does not end a command.
//!
//! The macros of this file replace those of the standard library, which panic if the output cannot be written. A
//! command continues to its end without a reader, and its exit code is unaffected: `dbdyno report X | head` succeeds,
//! a run is measured even if no process reads its progress, and a failure remains one even if its message is lost.
//!
//! Text from outside (server messages, names, paths) is also made safe for a terminal: characters that cannot be
//! printed are escaped as in JSON, and a line on standard error stays one line.

use std::{
    fmt,
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use blame::{Blame, Blamed};
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
    ($($arg:tt)*) => { $crate::output::print_stderr(format_args!($($arg)*)) };
}

/// Prints one line to standard error, whatever it contains; a very long one is truncated.
macro_rules! eprintln {
    () => { $crate::output::print_stderr(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::output::print_stderr_line(format_args!($($arg)*)) };
}

/// Output format of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text for a terminal
    Text,
    /// One JSON object
    Json,
}

/// The panic of standard output that cannot be written; see `main.rs`.
pub(crate) struct StdoutFailure(pub(crate) io::Error);

/// Prints to standard output; a full disk ends dbdyno with the machine's exit code.
pub(crate) fn print(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    let written = io::stdout()
        .lock()
        .write_all(printable_lines(&text).as_bytes());
    if let Err(error) = unless_closed(written) {
        std::panic::panic_any(StdoutFailure(error));
    }
}

/// Prints to standard error; a failed write is ignored.
pub(crate) fn print_stderr(text: fmt::Arguments<'_>) {
    // One write, so that output of other processes cannot interrupt it.
    let text = text.to_string();
    let _ = io::stderr()
        .lock()
        .write_all(printable_lines(&text).as_bytes());
}

/// Prints one line to standard error.
pub(crate) fn print_stderr_line(text: fmt::Arguments<'_>) {
    print_stderr(format_args!("{}\n", printable(&text.to_string())));
}

/// Standard output for data whose bytes are guaranteed in a file or a pipe: rows, statements, the reports of the front
/// doors. On a terminal the data is treated as text for people.
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

/// Writes to standard output in one piece and at once, so that other output cannot interrupt it.
pub(crate) fn write_out(text: &[u8]) -> Result<(), Blamed> {
    let mut stdout = data();
    let written = stdout.write_all(text).and_then(|()| stdout.flush());
    unless_closed(written)
        .map_err(|error| Blamed::new(Blame::Machine, format!("standard output: {error}")))
}

/// Writes a file that the user asked for, whole or not at all.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), Blamed> {
    let written = files::replace(path, content).map_err(io::Error::from);
    written.map_err(Blamed::io(Blame::Input, path))
}

/// Prints clap's message about a command line, in its colours; without colours if the command line contains unprintable
/// characters. Returns the exit code.
pub(crate) fn print_of_clap(error: &clap::Error) -> io::Result<ExitCode> {
    let text = error.render().to_string();
    if printable_lines(&text) == text {
        unless_closed(error.print())?;
    } else if error.use_stderr() {
        print_stderr(format_args!("{text}"));
    } else {
        print(format_args!("{text}"));
    }
    Ok(if error.use_stderr() {
        ExitCode::from(Blame::Input as u8)
    } else {
        ExitCode::SUCCESS
    })
}

/// Ignores the error of a closed pipe.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
