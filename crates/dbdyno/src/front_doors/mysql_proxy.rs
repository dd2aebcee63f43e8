//! `mysql-proxy`: a proxy between clients and servers, with MySQL Proxy's command line.

mod address;
mod arguments;
mod defaults_file;
mod fault_options;
mod log_file;
mod metrics_site;
mod own_options;
mod pid_file;
mod processes;
mod service;
mod side_options;

use std::{ffi::OsString, io::Write, process::ExitCode, sync::Arc, time::Duration};

use arguments::{Arguments, Parsed};
use blame::{Blame, Blamed};
use clap::CommandFactory;
use processes::Role;
use proxy::{Level, Proxy, StartError};
use runs::signals;

use crate::{live_view, output::print_of_clap};

/// Interval at which it checks for its end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

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
    match processes::role(&arguments)? {
        Role::Starter => processes::start_in_background(&words),
        Role::Guard => processes::guard(&arguments, &words),
        Role::Proxy => serve(&arguments),
    }
}

fn serve(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let interrupt = signals::silent_interrupt()?;
    if let Some(files) = arguments.max_open_files {
        processes::limit_open_files(files)?;
    }
    let settings = service::settings(arguments)?;
    let log = Arc::new(log_file::open(arguments)?);
    if let Some(dir) = &arguments.plugin_dir {
        let dir = dir.display();
        log.write(
            Level::Message,
            &format!(
                "--plugin-dir {dir}: the plugins proxy and admin are built in, no other is loaded"
            ),
        );
    }
    let server = arguments.own.metrics_address.as_deref();
    let server = server.map(metrics_site::open).transpose()?;
    let metrics = Arc::clone(&settings.metrics);
    let proxy = Proxy::start(settings, Arc::clone(&log)).map_err(|error| {
        let hint = matches!(error, StartError::Listen { .. }).then(|| {
            "another program listens there, or the address is not this machine's: choose another --proxy-address or \
             --admin-address"
                .to_owned()
        });
        Blamed::new(Blame::Input, error).hint(hint)
    })?;
    if let Some(server) = server {
        let address = server
            .start(
                move || metrics_site::MetricsSite::new(metrics),
                live_view::warn,
            )
            .map_err(Blamed::machine)?;
        let text = format!("metrics: http://{address}/metrics and http://{address}/metrics.json");
        log.write(Level::Message, &text);
    }
    // A guard has written its own id, which ends both.
    if !processes::is_guarded() {
        pid_file::write(arguments)?;
    }
    processes::say_ready();
    let places = proxy.addresses().join(", ");
    log.write(
        Level::Message,
        &format!(
            "dbdyno {} proxy started, listens on {places}",
            env!("CARGO_PKG_VERSION")
        ),
    );
    reactor::block_on(async {
        while !interrupt.is_raised() && !proxy.is_over() {
            reactor::sleep(LOOK_EVERY).await;
        }
    })
    .map_err(Blamed::machine)?;
    proxy.stop();
    let level = if arguments.verbose_shutdown {
        // Also written where only errors are.
        Level::Error
    } else {
        Level::Message
    };
    log.write(level, "shut down, exit code 0");
    // The reader of standard output may have gone.
    let _ = std::io::stdout().flush();
    Ok(ExitCode::SUCCESS)
}
