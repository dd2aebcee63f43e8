//! `dbdyno quick`: a first honest figure in seconds.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use experiment::{Experiment, Overrides};
use protocol::Endpoint;

use super::run;
use crate::{
    blame::{Blame, Blamed},
    connection_options::ConnectionOptions,
    runs::{Choices, ResultsDirectory, SmackFiles, control},
};

const EXPERIMENT: &str = include_str!("quick.toml");
const SMACK: &str = include_str!("../../../../experiments/smacks/quick.smack");
/// The line of the experiment that the server's keys replace.
const SERVER_LINE: &str = "#server#";
/// The database on a server that is already there; dbdyno creates it and drops it again.
const DATABASE: &str = "dbdyno_quick";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without connection options a private server is made, measured and removed. On a server that is named,
the database dbdyno_quick is created for the measurement and dropped afterwards; with --database the table
dbdyno_quick is created in that one instead.

Examples:
  dbdyno quick
  dbdyno quick --host db1 --user bench --password-file ~/.bench-password")]
pub(crate) struct QuickArgs {
    #[command(flatten)]
    connection: ConnectionOptions,
    /// Directory of the results [default: results/quick-N]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Server binary of the private server, instead of one that is found
    #[arg(long, value_name = "PATH")]
    mysqld: Option<PathBuf>,
    /// Keep the private server, to look into it
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: QuickArgs) -> anyhow::Result<ExitCode> {
    let directory = match &args.results {
        Some(directory) => directory.clone(),
        None => ResultsDirectory::unused_path("quick"),
    };
    let mut choices = Choices {
        mysqld: args.mysqld,
        keep: args.keep,
        endpoint: None,
        sample_every: None,
    };
    if !args.connection.names_a_server() {
        let experiment = write_experiment(&directory, "restart = \"per-run\"")?;
        let smacks = SmackFiles::read(experiment.plan())?;
        let results = ResultsDirectory::create(Some(&directory), &experiment)?;
        return run::perform(&experiment, smacks, &results, &choices, "");
    }
    let mut endpoint = args.connection.endpoint()?;
    let server = format!("address = {:?}", endpoint.address.to_string());
    let experiment = write_experiment(&directory, &server)?;
    let smacks = SmackFiles::read(experiment.plan())?;
    let results = ResultsDirectory::create(Some(&directory), &experiment)?;
    let own_database = args.connection.database.is_none();
    if own_database {
        create_database(&endpoint)?;
        endpoint.database = Some(DATABASE.to_owned());
    }
    choices.endpoint = Some(endpoint.clone());
    let measured = run::perform(&experiment, smacks, &results, &choices, "");
    if !own_database {
        return measured;
    }
    let dropped = statement(&endpoint, &format!("drop database {DATABASE}"));
    measured.and_then(|code| dropped.map(|()| code))
}

/// Writes the experiment and its .smack file into the results' directory, so that they can be run again.
fn write_experiment(directory: &Path, server: &str) -> anyhow::Result<Experiment> {
    let path = directory.join("quick.toml");
    let text = EXPERIMENT.replace(SERVER_LINE, server);
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(&path, &text))
        .and_then(|()| std::fs::write(directory.join("quick.smack"), SMACK));
    written.map_err(|error| Blamed::new(Blame::Machine, format!("{}: {error}", path.display())))?;
    let experiment = Experiment::parse(&path, &text, &Overrides::default());
    Ok(experiment.map_err(Blamed::from)?)
}

/// Creates the database; one that exists already is not ours to drop.
fn create_database(endpoint: &Endpoint) -> anyhow::Result<()> {
    let created = statement(endpoint, &format!("create database {DATABASE}"));
    created.map_err(|error| match error.downcast::<Blamed>() {
        Ok(blamed) if blamed.blame == Blame::Server => {
            let hint = format!(
                "dbdyno quick makes the database {DATABASE} for itself; where it exists already, an earlier quick may \
                 have left it (drop database {DATABASE}); where you may not make one, --database names another"
            );
            Blamed::new(Blame::Input, blamed).hint(hint).into()
        }
        Ok(blamed) => blamed.into(),
        Err(other) => other,
    })
}

fn statement(endpoint: &Endpoint, sql: &str) -> anyhow::Result<()> {
    let endpoint = Endpoint {
        database: None,
        ..endpoint.clone()
    };
    control(&endpoint, async |connection| {
        connection.query(sql.as_bytes()).await
    })?;
    Ok(())
}
