//! `super-smack`: Super Smack 1.3's command line and report, on dbdyno's engine.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::Duration,
};

use benchmarks::smack::{DataFiles, Dictionary, Interpreter, Script, layout::TimeUnit};
use blame::{Blame, Blamed};
use clap::{CommandFactory, Parser, ValueEnum};
use load::OnError;

mod client;
mod drive;
mod endpoints;
mod shared_state;
mod tables;

use benchmarks::smack::SCRIPT_BYTES_MAX;
use client::{ClientEnd, ClientRun};
use endpoints::Endpoints;
use runs::sample_every;
use shared_state::SharedState;

use crate::{
    connection_options::{ConnectionOptions, hidden_argument::hide_argument},
    output::print_of_clap,
    seed::fresh_seed,
    terminal,
};

/// The original's directory of data files.
const DATA_DIR: &str = "/var/smack-data";
/// Maximum retries of one operation with `--on-error retry`.
const RETRIES: u32 = 100;

/// Run a .smack file as Super Smack 1.3 does, and print the same report with correct figures
///
/// Options may be given anywhere on the command line. Connection options override the file's client sections.
#[derive(Debug, Parser)]
#[command(
    name = "super-smack",
    disable_help_flag = true,
    disable_version_flag = true
)]
struct Options {
    /// The .smack file to run [default: standard input]
    smack_file: Option<PathBuf>,

    /// Values of $1, $2, ... in the file
    arguments: Vec<String>,

    /// Database type; only mysql is supported
    #[arg(
        short = 'd',
        long,
        value_name = "ENGINE",
        default_value = "mysql",
        hide_default_value = true
    )]
    db_type: String,

    /// Directory for data files [default: /var/smack-data; if this directory does not exist, gen-data's rows are sent
    /// directly to the server]
    #[arg(short = 'D', long, value_name = "DIR")]
    datadir: Option<PathBuf>,

    #[command(flatten)]
    connection: ConnectionOptions,

    /// Password for all client sections; visible in the process list until dbdyno erases it
    /// (--password-file is safer)
    #[arg(short = 'p', long, value_name = "PASSWORD", conflicts_with_all = ["password_file", "server"])]
    password: Option<String>,

    /// Unit of the times in the report
    #[arg(long, value_enum, default_value = "ms")]
    time_unit: Unit,

    /// What to do after a failed statement: stop the test (stop), count the error and continue (count), or also repeat
    /// the statement after a deadlock (retry)
    #[arg(long, value_enum, default_value = "stop")]
    on_error: Policy,

    /// Random seed for the words; with the same seed, the same queries are sent [default: a new seed for each run]
    #[arg(long)]
    seed: Option<u64>,

    /// Number of event loops (threads that drive the connections) for each client section
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    loops: Option<u32>,

    /// Write a run record to this file; with several client sections or with create_threads, to FILE-1, FILE-2 ...
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// With --record: interval at which the machine and the server are sampled, from 100ms to 60s
    #[arg(long, value_name = "TIME", value_parser = sample_every, requires = "record")]
    sample_every: Option<Duration>,

    /// Print this help
    #[arg(short = 'h', long)]
    help: bool,

    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Unit {
    Ms,
    Us,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Policy {
    Stop,
    Count,
    Retry,
}

/// Its options, for completions and man pages.
pub(crate) fn definition() -> clap::Command {
    Options::command()
}

/// Runs super-smack with the arguments after its name.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let args = std::iter::once(OsString::from("super-smack")).chain(args);
    let options = match Options::try_parse_from(args) {
        Ok(options) => options,
        Err(error) => return Ok(print_of_clap(&error)?),
    };
    if let Some(password) = &options.password {
        hide_argument(password)?;
    }
    if options.help {
        print!("{}", Options::command().render_help());
        return Ok(ExitCode::SUCCESS);
    }
    if options.version {
        // The original's line ends with a blank.
        println!("super-smack version {} ", env!("CARGO_PKG_VERSION"));
        return Ok(ExitCode::SUCCESS);
    }
    if options.db_type != "mysql" {
        let message = format!("super-smack: unknown engine '{}'", options.db_type);
        return Err(Blamed::new(Blame::Input, message)
            .hint("the engine is mysql".to_owned())
            .into());
    }
    smack(options)
}

fn smack(options: Options) -> anyhow::Result<ExitCode> {
    let script = read_script(options.smack_file.as_deref())?;
    for (program, client) in programs(&script) {
        Interpreter::new(program, client, &options.arguments)
            .check_arguments()
            .map_err(Blamed::from)?;
    }
    let endpoints = Endpoints::new(&script, &options.connection, options.password.as_deref())?;
    let files = data_files(&options);
    tables::make_ready(&script, &files, &endpoints)?;
    let dictionaries = Dictionary::load_all(&script, &files).map_err(Blamed::from)?;
    note_coverage(&script, &dictionaries);
    let seed = options.seed.unwrap_or_else(fresh_seed);
    eprintln!("note: seed {seed}; --seed {seed} sends the same queries again");
    let shared = SharedState {
        dictionaries: dictionaries.into(),
        endpoints,
        arguments: options.arguments,
        unit: match options.time_unit {
            Unit::Ms => TimeUnit::Milliseconds,
            Unit::Us => TimeUnit::Microseconds,
        },
        on_error: match options.on_error {
            Policy::Stop => OnError::Stop,
            Policy::Count => OnError::Count,
            Policy::Retry => OnError::Retry { at_most: RETRIES },
        },
        seed,
        loops: options.loops,
        record: options.record,
        sample_every: options.sample_every,
        context: terminal::context()?,
        script,
    };
    run_clients(&shared)
}

fn read_script(path: Option<&Path>) -> anyhow::Result<Script> {
    let (name, text) = match path {
        Some(path) => (
            path.display().to_string(),
            files::read_handed_over(path, SCRIPT_BYTES_MAX),
        ),
        None => {
            let text = files::read_within(io::stdin().lock(), SCRIPT_BYTES_MAX);
            ("standard input".to_owned(), text)
        }
    };
    let text = text.map_err(|error| {
        Blamed::new(
            Blame::Input,
            format!("super-smack: cannot open {name}: {error}"),
        )
        .hint("usage: super-smack FILE.smack [ARGUMENT...]; see --help".to_owned())
    })?;
    let script = Script::parse(&name, &text).map_err(Blamed::from)?;
    for warning in &script.warnings {
        eprintln!("warning: {warning}");
    }
    Ok(script)
}

/// The original's directory is used if it exists; no file is written unless the user requested files.
fn data_files(options: &Options) -> DataFiles {
    let default = || Some(PathBuf::from(DATA_DIR)).filter(|dir| dir.is_dir());
    let smack_file = options.smack_file.as_deref();
    DataFiles {
        data_dir: options.datadir.clone().or_else(default),
        smack_dir: smack_file
            .and_then(Path::parent)
            .unwrap_or(Path::new(""))
            .to_owned(),
    }
}

/// Reports dictionaries of which only a part of the keys is used: a cache then appears better than it is.
fn note_coverage(script: &Script, dictionaries: &[Dictionary]) {
    for (section, dictionary) in script.dictionaries.iter().zip(dictionaries) {
        if let Some((used, offered)) = dictionary.coverage()
            && used < offered
        {
            eprintln!(
                "note: dictionary '{}' uses {used} of {offered} words; file_size_equiv \"0\" uses all",
                section.name
            );
        }
    }
}

/// The programs with their clients' names.
fn programs(script: &Script) -> impl Iterator<Item = (&benchmarks::smack::ClientProgram, &str)> {
    script
        .programs
        .iter()
        .map(|program| (program, script.clients[program.client].name.as_str()))
}

/// Runs all clients concurrently and returns the worst result.
fn run_clients(shared: &SharedState) -> anyhow::Result<ExitCode> {
    let runs = ClientRun::all(shared)?;
    let ends = thread::scope(|scope| {
        let threads: Vec<_> = runs
            .into_iter()
            .map(|run| scope.spawn(move || run.run()))
            .collect();
        threads
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(end) => end,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect::<anyhow::Result<Vec<ClientEnd>>>()
    })?;
    if ends.iter().any(|end| end.reported) {
        eprintln!(
            "note: max_time and min_time cover all queries, q_per_s counts only the time in which queries ran, and \
             times are in {}; Super Smack 1.3 printed the last query's times, and its rate included connecting",
            shared.unit.sign()
        );
    }
    Ok(if shared.context.interrupt.is_raised() {
        eprintln!("super-smack: interrupted");
        ExitCode::from(Blame::Interrupted as u8)
    } else if ends.iter().any(|end| end.failed) {
        ExitCode::from(Blame::Server as u8)
    } else {
        ExitCode::SUCCESS
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str]) -> Options {
        let args = std::iter::once("super-smack").chain(args.iter().copied());
        Options::try_parse_from(args).unwrap()
    }

    #[test]
    fn options_stand_anywhere() {
        for args in [
            &[
                "-d", "mysql", "-P", "3307", "-D", "data", "a.smack", "10", "1000",
            ][..],
            &[
                "a.smack",
                "10",
                "-dmysql",
                "1000",
                "--port=3307",
                "--datadir",
                "data",
            ],
        ] {
            let options = options(args);
            assert_eq!(options.smack_file.as_deref(), Some(Path::new("a.smack")));
            assert_eq!(options.arguments, ["10", "1000"]);
            assert_eq!(options.connection.port, Some(3307));
            assert_eq!(options.datadir.as_deref(), Some(Path::new("data")));
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        Options::command().debug_assert();
    }
}
