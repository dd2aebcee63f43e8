//! `mysql-proxy`: a proxy between clients and servers, with MySQL Proxy's command line.

mod address;
mod arguments;
mod base_directory;
mod defaults_file;
mod fault_options;
mod own_command;
mod own_options;
mod refusal;
mod service;
mod side_options;

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use arguments::{Arguments, Parsed};
use base_directory::below;
use blame::Blamed;
use clap::CommandFactory;
use own_command::own_command;
use proxy::{Guard, Level, Log, ProxyProcess, Role, StartError, Supervision};
use refusal::refusal;
use runs::signals;

use crate::{live_view, output::print_of_clap};

/// Its options, for completions and man pages.
pub(crate) fn definition() -> clap::Command {
    Arguments::command()
}

/// Runs the proxy with the arguments after its name.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let words: Vec<OsString> = args.collect();
    let arguments = match arguments::parse(&words)? {
        Parsed::Arguments(arguments) => *arguments,
        Parsed::Message(message) => return Ok(print_of_clap(&message)?),
    };
    if let Some(password) = &arguments.admin_password
        && words
            .iter()
            .any(|word| word.to_string_lossy().contains(password.as_str()))
    {
        crate::connection_options::hidden_argument::hide_argument(password)?;
    }
    let supervision = Supervision {
        in_background: arguments.daemon,
        restarts: arguments.keepalive,
        user: arguments.user.clone(),
    };
    match supervision.role().map_err(refusal)? {
        Role::Starter => start_in_background(&words),
        Role::Guard => guard(&arguments, &words, &supervision),
        Role::Proxy => serve(&arguments),
    }
}

fn start_in_background(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let failed = |error: io::Error| Blamed::machine(format!("--daemon: {error}"));
    let command = own_command(words).map_err(failed)?;
    let code = proxy::start_in_background(command).map_err(|error| match error {
        StartError::Process(error) => failed(error),
        error => refusal(error),
    })?;
    Ok(ExitCode::from(code))
}

fn guard(
    arguments: &Arguments,
    words: &[OsString],
    supervision: &Supervision,
) -> anyhow::Result<ExitCode> {
    let interrupt = signals::silent_interrupt()?;
    let pid_file = arguments.pid_file.as_deref();
    let pid_file = pid_file.map(|path| below(arguments, path)).transpose()?;
    let guard = Guard {
        supervision,
        command: &|| own_command(words),
        pid_file: pid_file.as_deref(),
        interrupt: &interrupt,
        warn: live_view::warn,
    };
    Ok(ExitCode::from(guard.run().map_err(refusal)?))
}

fn serve(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = signals::silent_interrupt()?;
    if let Some(files) = arguments.max_open_files {
        proxy::limit_open_files(files).map_err(refusal)?;
    }
    let settings = service::settings(arguments)?;
    let log = Arc::new(log(arguments)?);
    if let Some(dir) = &arguments.plugin_dir {
        let dir = dir.display();
        log.write(
            Level::Message,
            &format!(
                "--plugin-dir {dir}: the plugins proxy and admin are built in, no other is loaded"
            ),
        );
    }
    let metrics = arguments.own.metrics_address.as_deref();
    let pid_file = arguments.pid_file.as_deref();
    let process = ProxyProcess {
        settings,
        log,
        metrics: metrics.map(metrics_server).transpose()?,
        pid_file: pid_file.map(|path| below(arguments, path)).transpose()?,
        always_logs_end: arguments.verbose_shutdown,
        warn: live_view::warn,
    };
    process.run(&interrupt).map_err(refusal)?;
    // The reader of standard output may have gone.
    let _ = io::stdout().flush();
    Ok(ExitCode::SUCCESS)
}

fn log(arguments: &Arguments) -> Result<Log, Blamed> {
    match &arguments.log_file {
        None => Ok(Log::new(arguments.log_level, Box::new(io::stderr()))),
        Some(path) => {
            let path = below(arguments, path)?;
            Log::append(arguments.log_level, &path).map_err(refusal)
        }
    }
}

/// Listens where the user wants; `:PORT` is this machine alone.
fn metrics_server(wanted: &str) -> Result<web::Server, Blamed> {
    let own = wanted
        .starts_with(':')
        .then(|| format!("127.0.0.1{wanted}"));
    live_view::bind("--metrics-address", own.as_deref().unwrap_or(wanted))
}
