//! `dbdyno config prove` on a staged file: 3 lines that matter, 5 that do not, and 1 that harms.
//!
//! It measures, so it needs a quiet machine and some 20 minutes a version: `DBDYNO_PROVE=1` asks for it, on MariaDB 10.11
//! and MySQL 8.0.33.

use std::fs;

use serde_json::Value;

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, dbdyno},
};

/// A small buffer pool and durable commits.
const BASE: &str = "[mysqld]\ninnodb_buffer_pool_size = 16M\ninnodb_flush_method = O_DIRECT\nlog_bin = binlog\n\
                    sync_binlog = 1\n";
/// Updates of single rows are where the three matter, and a redo log of 4 MB harms them without hiding the others.
const STAGED: &str = "[mysqld]\ninnodb_flush_method = O_DIRECT\nlog_bin = binlog\ninnodb_buffer_pool_size = 256M\n\
                      innodb_flush_log_at_trx_commit = 2\nsync_binlog = 0\nsort_buffer_size = 1M\n\
                      thread_cache_size = 64\njoin_buffer_size = 512K\nbulk_insert_buffer_size = 16M\n\
                      read_rnd_buffer_size = 1M\ninnodb_log_file_size = 4M\n";
const MATTER: [&str; 3] = [
    "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
];
const HARMS: &str = "innodb_log_file_size";

/// The staged file has nine lines to test; with `DBDYNO_PROVE=1` the three are kept, the other six are dropped, and the harm
/// is named.
pub(crate) fn staged(subject: &mut Subject) -> Cell {
    let number = subject.number();
    let is_staged = if subject.is_mariadb() {
        number.starts_with("10.11")
    } else {
        number.starts_with("8.0.33")
    };
    if !is_staged {
        return Cell::Skipped("staged on MariaDB 10.11 and MySQL 8.0.33".to_owned());
    }
    fs::write(subject.directory().join("base.cnf"), BASE).unwrap();
    fs::write(subject.directory().join("staged.cnf"), STAGED).unwrap();
    let planned = prove(subject, "--plan");
    assert!(planned.contains("9 groups to test"), "{planned}");
    if std::env::var_os("DBDYNO_PROVE").is_none() {
        return Cell::Ok;
    }
    // The server of the other checks would take time from the measured one.
    if let Some(server) = &mut subject.server {
        server.stop().unwrap();
    }
    // As crates/verdict simulates it.
    let answer = prove(
        subject,
        "--script update_non_index --table-size 50k --warmup 2s --duration 4s --margin 15% --blocks 16 \
         --format json --results proof",
    );
    let answer: Value = serde_json::from_str(&answer).unwrap();
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

/// What `config prove` of the staged file prints.
fn prove(subject: &Subject, more: &str) -> String {
    let begin = "config prove staged.cnf --against base.cnf --for";
    let output = dbdyno(subject.directory())
        .args(begin.split_whitespace())
        .arg(&subject.version.name)
        .args(more.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
