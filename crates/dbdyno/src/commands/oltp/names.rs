//! sysbench's option names: what they are called here, and which have no meaning here.

use std::ffi::OsString;

use runs::{Blame, Blamed};

/// sysbench's name and ours.
const OURS: [(&str, &str); 19] = [
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
];

/// sysbench's options that have no meaning here, and why.
const REFUSED: [(&str, &str); 19] = [
    (
        "thread-stack-size",
        "connections have no threads here: leave it out",
    ),
    (
        "thread-init-timeout",
        "a connection may take 10 s to open: leave it out",
    ),
    ("luajit-cmd", "there is no Lua here: leave it out"),
    (
        "report-checkpoints",
        "the run record has every interval: leave it out",
    ),
    ("verbosity", "leave it out"),
    ("debug", "leave it out"),
    ("validate", "leave it out"),
    ("config-file", "write the options on the command line"),
    (
        "db-debug",
        "every report has the times of each statement: leave it out",
    ),
    ("mysql-debug", "leave it out"),
    ("mysql-dry-run", "a run without a server measures nothing"),
    ("mysql-compression", "compression is not supported"),
    (
        "mysql-compression-algorithms",
        "compression is not supported",
    ),
    ("mysql-ssl-key", "certificates of clients are not supported"),
    (
        "mysql-ssl-cert",
        "certificates of clients are not supported",
    ),
    (
        "mysql-ssl-cipher",
        "ciphers are chosen by the TLS library: leave it out",
    ),
    ("pgsql-variant", "only MySQL and MariaDB are spoken here"),
    (
        "reconnect",
        "connections stay open; a lost one is opened again with --mysql-ignore-errors=2013",
    ),
    ("mysql-storage-engine-options", "use --create-table-options"),
];

/// The arguments with our names for sysbench's options, and `-` for the `_` in them.
pub(super) fn translated(args: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, Blamed> {
    args.map(|arg| {
        let Some(option) = arg.to_str().and_then(|arg| arg.strip_prefix("--")) else {
            return Ok(arg);
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        let name = name.replace('_', "-");
        if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            let message = format!("--{name}: {why}");
            return Err(Blamed::new(Blame::Input, message));
        }
        let ours = OURS.iter().find(|(theirs, _)| *theirs == name);
        let name = ours.map_or(name.as_str(), |(_, ours)| ours);
        Ok(match value {
            Some(value) => format!("--{name}={value}").into(),
            None => format!("--{name}").into(),
        })
    })
    .collect()
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
    fn what_has_no_meaning_is_named() {
        for option in ["--thread-stack-size=64K", "--luajit_cmd=off", "--validate"] {
            let name = option.split('=').next().unwrap().replace('_', "-");
            let message = translate(&[option]).unwrap_err();
            assert!(message.starts_with(&name), "{message}");
        }
    }
}
