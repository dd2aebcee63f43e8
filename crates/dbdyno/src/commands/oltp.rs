//! `dbdyno oltp`: sysbench's OLTP workloads, with our names for its options.

use std::{ffi::OsString, process::ExitCode};

use blame::{Blame, Blamed};
use clap::{CommandFactory, Parser};
use experiment::nearest;

mod options;
mod run;
mod tables;
mod watch;

use options::{Command, Options};

use crate::{connection_options::hidden_argument::hide_argument, output::print_of_clap};

/// sysbench's name, or a former one of ours, and ours.
const OURS: [(&str, &str); 20] = [
    ("threads", "connections"),
    ("num-threads", "connections"),
    ("time", "duration"),
    ("max-time", "duration"),
    ("events", "operations"),
    ("max-requests", "operations"),
    ("tx-rate", "rate"),
    ("warmup-time", "warmup"),
    ("rand-seed", "seed"),
    ("oltp-table-size", "table-size"),
    ("oltp-tables-count", "tables"),
    ("mysql-host", "host"),
    ("mysql-port", "port"),
    ("mysql-socket", "socket"),
    ("mysql-user", "user"),
    ("mysql-password", "password"),
    ("mysql-db", "database"),
    ("mysql-ssl-ca", "ssl-ca"),
    ("mysql-ssl", "tls"),
    ("sample-every", "every"),
];

/// sysbench's options that have no meaning here, and why.
const REFUSED: [(&str, &str); 18] = [
    (
        "thread-stack-size",
        "dbdyno uses no thread per connection: omit this option",
    ),
    (
        "thread-init-timeout",
        "dbdyno waits 10 s for a connection to open: omit this option",
    ),
    ("luajit-cmd", "dbdyno runs no Lua: omit this option"),
    (
        "report-checkpoints",
        "the run record contains every interval: omit this option",
    ),
    ("verbosity", "omit this option"),
    ("debug", "omit this option"),
    ("validate", "omit this option"),
    ("config-file", "write the options on the command line"),
    (
        "db-debug",
        "every report contains the times of each statement: omit this option",
    ),
    ("mysql-debug", "omit this option"),
    ("mysql-dry-run", "dbdyno cannot measure without a server"),
    (
        "mysql-compression-algorithms",
        "the server chooses the algorithm: use --compress or --mysql-compression=on",
    ),
    ("mysql-ssl-key", "client certificates are not supported"),
    ("mysql-ssl-cert", "client certificates are not supported"),
    (
        "mysql-ssl-cipher",
        "the TLS library chooses the ciphers: omit this option",
    ),
    (
        "pgsql-variant",
        "only the protocol of MySQL and MariaDB is supported",
    ),
    (
        "reconnect",
        "connections stay open; a lost one is opened again with --mysql-ignore-errors=2013",
    ),
    ("mysql-storage-engine-options", "use --create-table-options"),
];

/// sysbench's switch for compression, which is on without a value.
const COMPRESSION: &str = "mysql-compression";

/// Its options, for completions and man pages.
pub(crate) fn definition() -> clap::Command {
    Options::command()
}

/// Runs the command line behind `dbdyno oltp`.
pub(crate) fn run(args: impl Iterator<Item = OsString>) -> anyhow::Result<ExitCode> {
    let args = translated(args)?;
    let args = std::iter::once(OsString::from("dbdyno oltp")).chain(args);
    let options = match Options::try_parse_from(args) {
        Ok(options) => options,
        Err(error) => return Ok(print_of_clap(&error)?),
    };
    if let Some(password) = &options.password {
        hide_argument(password)?;
    }
    let script = options.script()?;
    match options.command {
        Command::Prepare => tables::prepare(&options, script),
        Command::Prewarm => tables::prewarm(&options, script),
        Command::Cleanup => tables::cleanup(&options, script),
        Command::Run => run::run(&options, script),
        Command::Check => tables::check(&options, script),
    }
}

/// The arguments with our names for sysbench's options, and `-` for the `_` in them.
fn translated(args: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, Blamed> {
    let known = names();
    let translated = args.map(|arg| {
        let Some(option) = arg.to_str().and_then(|arg| arg.strip_prefix("--")) else {
            return Ok(Some(arg));
        };
        if option.is_empty() {
            return Ok(Some(arg));
        }
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let name = name.replace('_', "-");
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            let message = format!("--{name}: {why}");
            return Err(Blamed::new(Blame::Input, message));
        }
        if name == COMPRESSION {
            return match value {
                None | Some("on" | "1" | "true") => Ok(Some("--compress".into())),
                Some("off" | "0" | "false") => Ok(None),
                Some(value) => {
                    let message = format!("--{name}={value}: on or off");
                    Err(Blamed::new(Blame::Input, message))
                }
            };
        }
        let ours = OURS.iter().find(|(theirs, _)| *theirs == name);
        let name = ours.map_or(name.as_str(), |(_, ours)| ours);
        if !known.iter().any(|known| known == name) {
            return Err(unknown(name, &known));
        }
        Ok(Some(match value {
            Some(value) => format!("--{name}={value}").into(),
            None => format!("--{name}").into(),
        }))
    });
    translated.filter_map(Result::transpose).collect()
}

/// The names of our options, hidden ones too.
fn names() -> Vec<String> {
    let mut command = Options::command();
    command.build();
    let names = command
        .get_arguments()
        .filter_map(|it| it.get_long_and_visible_aliases());
    names.flatten().map(str::to_owned).collect()
}

/// An option that neither of the two programs has, with the one that was probably meant.
fn unknown(name: &str, known: &[String]) -> Blamed {
    let theirs = OURS.iter().map(|(theirs, _)| (*theirs).to_owned());
    let all: Vec<String> = known.iter().cloned().chain(theirs).collect();
    let hint = match nearest(name, &all) {
        Some(near) => format!("did you mean --{near}?"),
        None => "dbdyno oltp --help lists them all".to_owned(),
    };
    Blamed::new(Blame::Input, format!("--{name}: there is no such option")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(args: &[&str]) -> Result<Vec<String>, String> {
        let args = args.iter().map(OsString::from);
        match translated(args) {
            Ok(args) => Ok(args
                .into_iter()
                .map(|arg| arg.into_string().unwrap())
                .collect()),
            Err(blamed) => Err(blamed.to_string()),
        }
    }

    #[test]
    fn sysbenchs_names_become_ours() {
        let translated = translate(&[
            "oltp_read_write",
            "--table_size=10",
            "--threads=4",
            "--mysql-password=a_b-c",
            "--skip-trx",
            "run",
        ]);
        let expected = [
            "oltp_read_write",
            "--table-size=10",
            "--connections=4",
            "--password=a_b-c",
            "--skip-trx",
            "run",
        ];
        assert_eq!(translated.unwrap(), expected);
    }

    #[test]
    fn compression_is_a_switch() {
        for (option, expected) in [
            ("--mysql-compression=on", &["--compress"][..]),
            ("--mysql_compression", &["--compress"]),
            ("--mysql-compression=off", &[]),
        ] {
            assert_eq!(translate(&[option]).unwrap(), expected, "{option}");
        }
        let message = translate(&["--mysql-compression=zlib"]).unwrap_err();
        assert_eq!(message, "--mysql-compression=zlib: on or off");
    }

    #[test]
    fn a_slip_leads_to_the_name_that_was_meant() {
        for (option, meant) in [
            ("--treads=4", "--threads"),
            ("--conections", "--connections"),
            ("--mysql-hots=db1", "--mysql-host"),
        ] {
            let blamed = translated(std::iter::once(OsString::from(option))).unwrap_err();
            assert_eq!(blamed.hints, [format!("did you mean {meant}?")]);
        }
        assert_eq!(
            translate(&["--help", "--", "x"]).unwrap(),
            ["--help", "--", "x"]
        );
    }

    #[test]
    fn what_has_no_meaning_is_named() {
        for option in ["--thread-stack-size=64K", "--luajit_cmd=off", "--validate"] {
            let name = option.split('=').next().unwrap().replace('_', "-");
            let message = translate(&[option]).unwrap_err();
            assert!(message.starts_with(&name), "{message}");
        }
    }
}
