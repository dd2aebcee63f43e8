//! dbdyno: a dynamometer for MySQL-family servers.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::ExitCode,
};

use blame::{Blame, Blamed};
use clap::{CommandFactory, FromArgMatches, error::ErrorKind};
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
mod habits;
mod live_view;
mod progress;
mod seed;
mod terminal;

use command_groups::grouped;
use command_tree::with_front_doors;
use commands::{Cli, run::terminal_width, script::with_run};
use front_doors::FrontDoor;
use output::{StdoutFailure, print_of_clap};

/// Maximum characters of an error message: a server can send megabytes.
const MESSAGE_AT_MOST: usize = 8000;

fn main() -> ExitCode {
    exit_as_bug_on_panic();
    runs::open_files::raise_limit();
    runs::signals::when_first_comes(terminal::tell_interruption);
    match run() {
        Ok(code) => code,
        Err(error) => complain(&error),
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    let program = Path::new(&program).file_name().and_then(OsStr::to_str);
    if let Some(tool) = program.and_then(FrontDoor::linked) {
        return tool.enter(args.collect());
    }
    if let Some(answered) = candidates::answer(|| command_tree::command_tree(Cli::command())) {
        return answered;
    }
    let args = with_run(args.collect());
    let cli = grouped(with_front_doors(Cli::command()), terminal_width());
    let line = std::iter::once(OsString::from("dbdyno")).chain(args.iter().cloned());
    let matches = match cli.try_get_matches_from(line) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error, &args),
    };
    let door = matches.subcommand();
    if let Some((door, matches)) = door.and_then(|(name, it)| Some((FrontDoor::named(name)?, it))) {
        let args = matches.get_many::<OsString>("args").unwrap_or_default();
        return door.enter_as_command(args.cloned().collect());
    }
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli.command.run(),
        Err(error) => Ok(print_of_clap(&error)?),
    }
}

/// Prints what clap says of the command line, and what to type instead; returns the exit code.
fn refuse(error: &clap::Error, args: &[OsString]) -> anyhow::Result<ExitCode> {
    match habits::hint(&Cli::command(), args, error) {
        None => Ok(print_of_clap(error)?),
        Some(hint) if error.kind() == ErrorKind::DisplayHelp => {
            Err(Blamed::new(Blame::Input, "no server is named")
                .hint(hint)
                .into())
        }
        Some(hint) => {
            let code = print_of_clap(error)?;
            eprintln!("hint: {hint}");
            Ok(code)
        }
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
