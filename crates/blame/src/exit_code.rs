//! The exit codes: who is responsible for an error.

/// The party responsible for an error; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// No error: the answer is negative, such as a rate that was not reached. Also options that contradict each other,
    /// where a program that dbdyno replaces has this exit code.
    Answer = 1,
    /// The user's input: command line, file, password, missing binary, port taken.
    Input = 2,
    /// The server failed, or a statement's error remains.
    Server = 3,
    /// The machine: disk full, limits.
    Machine = 4,
    /// No error: a decision was requested, and the measurements do not decide it.
    Undecided = 5,
    /// dbdyno: a panic, or an overflow.
    Bug = 70,
    /// Interrupted by a signal.
    Interrupted = 130,
}
