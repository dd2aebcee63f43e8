//! A start of a version with an option file, on a data directory of its own: what no check without a start can say.

use mycnf::{OptionFile, TrialFile, TrialHost};

use crate::check::complaint::{Complaint, parse_complaints};
use crate::configuration::Settings;
use crate::directory::marker::write_private;
use crate::error::Error;
use crate::initialise::make_data;
use crate::installation::Installation;
use crate::process::spawner::Lifetime;
use crate::server::Server;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Why the server did not start; `None` if it did.
    pub failure: Option<String>,
    /// The names of lines without which it was started, as they are about another machine or a cluster.
    pub left_out: Vec<String>,
    /// The options with less memory or disk than in the file.
    pub reduced: Vec<String>,
}

/// Starts a server with the file, and removes it. Nothing of the file's own directories, addresses and clusters is used.
pub fn try_start(installation: &Installation, file: &OptionFile) -> Result<Trial, Error> {
    let target = installation.target();
    let TrialFile {
        file,
        left_out,
        reduced,
    } = file.for_trial(&TrialHost {
        target: &target,
        has_path: &|path| path.exists(),
        has_library: &|library| installation.has_library(library),
    });
    let place = std::env::temp_dir();
    let scratch = files::Scratch::make("dbdyno-start-")
        .map_err(|error| Error::io("create a directory in", &place)(error.into()))?;
    let path = scratch.path().join("trial.cnf");
    write_private(&path, file.to_string().as_bytes())?;
    let settings = Settings {
        cnf: vec![path],
        ..Settings::default()
    };
    let failure = start(installation, &scratch.path().join("server"), &settings)?;
    Ok(Trial {
        failure,
        left_out,
        reduced,
    })
}

/// Makes, starts and removes a server; returns why it died.
fn start(
    installation: &Installation,
    dir: &std::path::Path,
    settings: &Settings,
) -> Result<Option<String>, Error> {
    // The caller has asked the server's own check already.
    let unchecked = Settings::default();
    let made = Server::create_with(
        dir,
        installation,
        settings,
        &unchecked,
        |layout, private| make_data(layout, installation, private.options()),
    );
    let mut server = match made {
        Ok(server) => server,
        Err(error) => return cause(error, "").map(Some),
    };
    let started = server.start(Lifetime::Owned);
    // Some versions write more lines when they end than an error has.
    let log = server.log_tail(LOG_LINES_MAX);
    server.destroy()?;
    match started {
        Ok(()) => Ok(None),
        Err(error) => cause(error, &log).map(Some),
    }
}

/// Number of log lines that are searched for the cause of a death.
const LOG_LINES_MAX: usize = 500;

/// The words of the server about its end, from its log or the end of it that the error has; an error that is not the file's
/// stays one.
fn cause(error: Error, log: &str) -> Result<String, Error> {
    let (Error::DiedAtStart {
        status, log: end, ..
    }
    | Error::Initialise {
        status, log: end, ..
    }) = &error
    else {
        return Err(error);
    };
    let log = if log.is_empty() { end } else { log };
    let mut said = parse_complaints(log)
        .into_iter()
        .filter_map(|one| match one {
            Complaint::Refused { text } if text != "Aborting" => Some(text),
            Complaint::Unknown { name } => Some(format!("unknown option {name}")),
            Complaint::Refused { .. } | Complaint::Remark { .. } => None,
        });
    // InnoDB of old versions writes its errors without a level.
    let is_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    let unmarked = || log.lines().find(is_error).or_else(|| log.lines().last());
    Ok(said
        .next()
        .or_else(|| unmarked().map(|line| line.trim().to_owned()))
        .unwrap_or_else(|| format!("it ended without a message ({status})")))
}
