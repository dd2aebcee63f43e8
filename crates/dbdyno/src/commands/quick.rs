//! `dbdyno quick`: measures a private or an existing server in 15 seconds.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use blame::{Blame, Blamed};
use experiment::{Observe, written};
use protocol::Endpoint;
use runs::{Choices, Purpose};
use toml_edit::{Array, DocumentMut, value};

use crate::{
    commands::{
        load_times::time,
        own_experiment::OwnExperiment,
        run::{Ending, RerunCommand},
    },
    connection_options::{ConnectionOptions, given_address, observe_options::ObserveOptions},
};

/// The experiment without the server's keys; the user's choices replace some values.
const EXPERIMENT: &str = include_str!("quick.toml");
const SMACK: &str = include_str!("../../../../experiments/smacks/quick.smack");
/// The database on an existing server; dbdyno creates it and drops it again.
const DATABASE: &str = "dbdyno_quick";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
dbdyno quick measures point selects by primary key in a table of 100,000 rows, which fits in memory.

Without connection options, dbdyno creates a private server, measures it and removes it. On an existing server, the
database dbdyno_quick is created for the measurement and dropped afterwards. With --database, the table dbdyno_quick is
created in the given database instead, and also dropped afterwards, unless --keep is given.

Examples:
  dbdyno quick
  dbdyno quick --connections 32 --duration 30s
  dbdyno quick --host db1 --user bench --password-file ~/.bench-password")]
pub(crate) struct QuickArgs {
    /// Number of connections
    #[arg(long, short, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// Length of the measurement in each run, such as 10s or 1m
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time)]
    duration: Duration,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Directory for the results [default: results/quick-N]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Server binary for the private server [default: found automatically]
    #[arg(long, value_name = "FILE")]
    mysqld: Option<PathBuf>,
    /// Keep the private server, or the table of --database, instead of removing it
    #[arg(long)]
    keep: bool,
    /// Print every table and finding after the summary
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    observe: ObserveOptions,
}

pub(crate) fn run(args: QuickArgs) -> anyhow::Result<ExitCode> {
    let mut choices = Choices {
        mysqld: args.mysqld.clone(),
        keep: args.keep,
        endpoint: None,
        reach: given_address::endpoint,
        sample_every: None,
    };
    let observe = args.observe.observe()?;
    // Made again in a minute: it is not continued.
    let ending = Ending {
        way_on: "",
        again: Some(RerunCommand::of_this_command(&[
            "--repeats",
            "--duration",
            "--connections",
        ])),
        verbose: args.verbose,
    };
    if !args.connection.names_a_server() {
        if observe.is_some() {
            let message = "--observe is for a server on another host, but none is named";
            return Err(Blamed::new(Blame::Input, message)
                .hint("name it with --host".to_owned())
                .into());
        }
        let begun = args.experiment(&[("restart", "per-run".to_owned())])?;
        return begun.perform(&choices, &ending);
    }
    let mut endpoint = args.connection.endpoint()?;
    let mut server = vec![("address", endpoint.address.to_string())];
    if let Some(observe) = &observe {
        server.extend(observe_keys(observe)?);
    }
    // An unreachable server or a refused login is detected before anything is written.
    statement(&endpoint, "do 0")?;
    let begun = args.experiment(&server)?;
    let own_database = args.connection.database.is_none();
    if own_database {
        if let Err(error) = create_database(&endpoint) {
            begun.results.discard_if_empty();
            return Err(error);
        }
        endpoint.database = Some(DATABASE.to_owned());
    }
    choices.endpoint = Some(endpoint.clone());
    let measured = begun.perform(&choices, &ending);
    if !own_database {
        return measured;
    }
    if let Err(error) = statement(&endpoint, &format!("drop database {DATABASE}")) {
        // After an interruption the server may take longer than the user is kept waiting.
        eprintln!(
            "warning: the database {DATABASE} may still be on {}: {error:#}\nhint: drop database {DATABASE}",
            endpoint.address
        );
        let blamed = error.downcast_ref::<Blamed>();
        if blamed.is_none_or(|it| it.blame != Blame::Interrupted) {
            return measured.and(Err(error));
        }
    }
    measured
}

/// A key of `[server]` with its value.
type ServerOption = (&'static str, String);

/// The equivalent keys of an experiment.
fn observe_keys(observe: &Observe) -> Result<Vec<ServerOption>, Blamed> {
    let secret_file = observe.secret_file.as_ref().map(|file| {
        // The experiment is in a different directory.
        let whole = std::path::absolute(file).map(|file| file.display().to_string());
        whole.map_err(Blamed::io(Blame::Input, file))
    });
    let keys = [
        ("observe", Some(observe.address.to_string())),
        ("observe_secret_file", secret_file.transpose()?),
        ("observe_program", observe.program.clone()),
        ("observe_ssh", observe.ssh.clone()),
    ];
    let keys = keys.into_iter();
    Ok(keys
        .filter_map(|(key, value)| Some((key, value?)))
        .collect())
}

impl QuickArgs {
    /// The quick experiment with these keys of `[server]`.
    fn experiment(&self, server: &[ServerOption]) -> anyhow::Result<OwnExperiment> {
        let text = self.text(server);
        let results = self.results.as_deref();
        OwnExperiment::new(
            results,
            "quick",
            &text,
            &[("quick.smack", SMACK.as_bytes())],
        )
    }

    fn text(&self, server: &[ServerOption]) -> String {
        let file = EXPERIMENT.parse::<DocumentMut>();
        let mut file = file.expect("the experiment is TOML");
        file["repeats"] = value(written::number(self.repeats.into()));
        let connections = written::number(self.connections.into());
        file["matrix"]["connections"] = value(Array::from_iter([connections]));
        for (key, text) in server {
            file["server"][*key] = value(written::literal(text));
        }
        let duration = humantime::format_duration(self.duration).to_string();
        file["load"]["duration"] = value(written::string(&duration));
        file.to_string()
    }
}

/// Creates the database; an existing one is an error, because dbdyno must not drop it.
fn create_database(endpoint: &Endpoint) -> anyhow::Result<()> {
    let created = statement(endpoint, &format!("create database {DATABASE}"));
    created.map_err(|error| match error.downcast::<Blamed>() {
        Ok(blamed) if blamed.blame == Blame::Server => {
            let hint = format!(
                "dbdyno quick creates the database {DATABASE}; if it already exists, an earlier run may have left it \
                 (drop database {DATABASE}); if your account cannot create databases, name an existing one with \
                 --database"
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
    Purpose::Change.control(&endpoint, async |connection| {
        connection.query(sql.as_bytes()).await
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Parsed {
        #[command(flatten)]
        quick: QuickArgs,
    }

    fn text(server: &[ServerOption]) -> String {
        let words = ["quick", "--connections", "32", "--duration", "90s"];
        Parsed::parse_from(words).quick.text(server)
    }

    #[test]
    fn the_choices_replace_values_and_nothing_else() {
        let expected = EXPERIMENT
            .replace("connections = [8]", "connections = [32]")
            .replace("duration = \"2s\"", "duration = \"1m 30s\"")
            .replace("[server]\n", "[server]\nrestart = \"per-run\"\n");
        assert_eq!(text(&[("restart", "per-run".to_owned())]), expected);
    }

    #[test]
    fn a_socket_may_have_quotes_and_braces_in_its_path() {
        let written = text(&[("address", "/run/{\"a\"}.sock".to_owned())]);
        let line = r#"address = "/run/{{\"a\"}}.sock""#;
        assert!(
            written.contains(&format!("[server]\n{line}\n\n[data]\n")),
            "{written}"
        );
    }
}
