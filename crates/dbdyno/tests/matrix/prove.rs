//! `dbdyno config prove` on a staged file: 3 lines that matter, 5 that do not, and 1 that harms.
//!
//! It measures, so it needs a quiet machine and some 20 minutes a version: `DBDYNO_PROVE=1` asks for it, on MariaDB 10.11
//! and MySQL 8.0.33.

use std::fs;

use serde_json::Value;

use crate::{
    results::Cell,
    subject::{Subject, dbdyno},
};

/// A small buffer pool, durable commits, and a general log that goes to a table where it is on.
const BASE: &str = "[mysqld]\ninnodb_buffer_pool_size = 16M\ninnodb_flush_method = O_DIRECT\nlog_bin = binlog\n\
                    sync_binlog = 1\nlog_output = TABLE\n";
const STAGED: &str = "[mysqld]\ninnodb_flush_method = O_DIRECT\nlog_bin = binlog\nlog_output = TABLE\n\
                      innodb_buffer_pool_size = 256M\ninnodb_flush_log_at_trx_commit = 2\nsync_binlog = 0\n\
                      max_connections = 400\nthread_cache_size = 64\nwait_timeout = 600\nmax_allowed_packet = 128M\n\
                      connect_timeout = 20\ngeneral_log = 1\n";
const MATTER: [&str; 3] = [
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
];
const HARMS: &str = "general_log";

/// The three are kept, the other six are dropped, and the harm is named.
pub(crate) fn staged(subject: &mut Subject) -> Cell {
    if std::env::var_os("DBDYNO_PROVE").is_none() {
        return Cell::Skipped("DBDYNO_PROVE=1 measures".to_owned());
    }
    let number = subject.number().to_owned();
    let is_asked =
        subject.is_mariadb() && number.starts_with("10.11") || number.starts_with("8.0.33");
    if !is_asked {
        return Cell::Skipped("staged on MariaDB 10.11 and MySQL 8.0.33".to_owned());
    }
    // The server of the other checks would take time from the measured one.
    subject.server().stop().unwrap();
    let directory = subject.directory();
    fs::write(directory.join("base.cnf"), BASE).unwrap();
    fs::write(directory.join("staged.cnf"), STAGED).unwrap();
    let version = subject.version.name.clone();
    let arguments = "config prove staged.cnf --against base.cnf --table-size 50k --warmup 2s --duration 4s --margin 5% \
                     --format json --results proof --for";
    let output = dbdyno(directory)
        .args(arguments.split_whitespace())
        .arg(&version)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    for group in answer["groups"].as_array().unwrap() {
        let name = group["options"][0].as_str().unwrap();
        let expected = match name {
            HARMS => "harms",
            name if MATTER.contains(&name) => "helps",
            _ => "no effect",
        };
        assert_eq!(group["fate"], expected, "{name}: {answer:#}");
    }
    Cell::Ok
}
