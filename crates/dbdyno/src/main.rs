//! dbdyno: a dynamometer for MySQL-family servers.

use std::process::ExitCode;

use blame::{Blame, Blamed};
use samples::printable_lines_within;

#[macro_use]
mod output;

mod bundled_experiments;
mod candidates;
mod command_groups;
mod command_tree;
mod commands;
mod connection_options;
mod front_doors;
mod live_view;
mod mysql_client_options;
mod progress;
mod seed;
mod terminal;

use output::StdoutFailure;

/// Maximum characters of an error message: a server can send megabytes.
const MESSAGE_AT_MOST: usize = 8000;

fn main() -> ExitCode {
    exit_as_bug_on_panic();
    runs::open_files::raise_limit();
    runs::signals::when_first_comes(terminal::tell_interruption);
    match commands::run_command_line() {
        Ok(code) => code,
        Err(error) => complain(&error),
    }
}

/// Prints the error and its hints; returns the exit code of the responsible party.
fn complain(error: &anyhow::Error) -> ExitCode {
    eprint!("error: {}\n", indented(&format!("{error:#}")));
    let Some(blamed) = error.downcast_ref::<Blamed>() else {
        return ExitCode::from(Blame::Input as u8);
    };
    for hint in &blamed.hints {
        eprint!("hint: {}\n", indented(hint));
    }
    ExitCode::from(blamed.blame as u8)
}

/// The message with its further lines indented, so that none can be mistaken for a separate message.
fn indented(message: &str) -> String {
    let cut = printable_lines_within(message, MESSAGE_AT_MOST);
    cut.replace('\n', "\n  ")
}

/// Makes a panic report a bug and exit with a separate code.
fn exit_as_bug_on_panic() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let code = match info.payload().downcast_ref::<StdoutFailure>() {
            Some(StdoutFailure(error)) => {
                eprintln!("error: failed printing to stdout: {error}");
                Blame::Machine as i32
            }
            None => {
                default(info);
                eprintln!("error: this is a bug in dbdyno; the measurements so far are kept");
                Blame::Bug as i32
            }
        };
        #[expect(
            clippy::exit,
            reason = "a panic in any thread must end the process with its own code"
        )]
        std::process::exit(code);
    }));
}
