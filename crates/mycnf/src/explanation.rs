//! The texts about single options: purpose, unit, when an option matters, what to measure, and its cost.
//!
//! `crates/mycnf/explanations/` holds them, one file for each subject:
//!
//! ```text
//! [sync_binlog]
//! unit = "commits"
//! what = "The number of commit groups after which the binary log is flushed; with 0, never."
//! ```

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

/// What options are about, in the order of what matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Commits, recovery, damaged pages.
    Durability,
    /// SQL: values, results, plans, files, accounts.
    Sql,
    /// The binary log and replication.
    Replication,
    /// Locks, transactions and tables of InnoDB.
    Transactions,
    /// Pools, caches and buffers.
    Memory,
    /// Reading and writing of pages.
    Io,
    /// Connections, threads, TLS.
    Connections,
    /// Logs and instruments.
    Logs,
    Other,
}

impl Topic {
    /// `durability`
    pub fn name(self) -> &'static str {
        match self {
            Self::Durability => "durability",
            Self::Sql => "SQL and security",
            Self::Replication => "binary log and replication",
            Self::Transactions => "locks and transactions",
            Self::Memory => "memory",
            Self::Io => "reads and writes",
            Self::Connections => "connections",
            Self::Logs => "logs and instruments",
            Self::Other => "other",
        }
    }
}

/// The text about an option.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The unit of the value, or its kind: `bytes`, `switch`, `word`.
    pub unit: String,
    /// What the option does.
    pub what: String,
    /// When it matters.
    pub when: String,
    /// The counter to look at.
    pub measure: String,
    /// What it costs in memory, durability and recovery.
    pub cost: String,
}

type Texts = BTreeMap<String, (Topic, Explanation)>;

static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    let files = [
        (Topic::Durability, include_str!("../explanations/redo.toml")),
        (Topic::Sql, include_str!("../explanations/sql.toml")),
        (
            Topic::Replication,
            include_str!("../explanations/binlog.toml"),
        ),
        (
            Topic::Transactions,
            include_str!("../explanations/locks.toml"),
        ),
        (Topic::Memory, include_str!("../explanations/memory.toml")),
        (Topic::Io, include_str!("../explanations/io.toml")),
        (
            Topic::Connections,
            include_str!("../explanations/connections.toml"),
        ),
        (Topic::Logs, include_str!("../explanations/logging.toml")),
    ];
    let texts = files.into_iter().flat_map(|(topic, text)| {
        let texts: BTreeMap<String, Explanation> =
            toml::from_str(text).expect("the texts are part of the program, and a test reads them");
        texts
            .into_iter()
            .map(move |(name, text)| (name, (topic, text)))
    });
    texts.collect()
});

/// The text about an option, by its name in the catalogues; `None` if there is none.
pub fn explanation(name: &str) -> Option<&'static Explanation> {
    TEXTS.get(name).map(|(_, text)| text)
}

/// The names of all options with a text.
pub fn explained_names() -> impl Iterator<Item = &'static str> {
    TEXTS.keys().map(String::as_str)
}

/// What an option is about; an option without a text by the beginning of its name.
pub fn topic(name: &str) -> Topic {
    const DURABLE: [&str; 2] = ["sync_binlog", "innodb_flush_method"];
    // They have their texts beside the options of durability, and lose no commit.
    const SIZES_OF_LOGS: [&str; 5] = [
        "innodb_doublewrite_pages",
        "innodb_log_file_size",
        "innodb_log_files_in_group",
        "innodb_log_write_ahead_size",
        "innodb_redo_log_capacity",
    ];
    if DURABLE.contains(&name) {
        return Topic::Durability;
    }
    if SIZES_OF_LOGS.contains(&name) {
        return Topic::Io;
    }
    if let Some((topic, _)) = TEXTS.get(name) {
        return *topic;
    }
    let beginnings = [
        ("innodb_log_", Topic::Io),
        ("innodb_buffer_pool", Topic::Memory),
        ("innodb_io", Topic::Io),
        ("innodb_flush", Topic::Io),
        ("innodb_", Topic::Transactions),
        ("performance_schema", Topic::Logs),
        ("log_", Topic::Logs),
        ("binlog_", Topic::Replication),
        ("gtid_", Topic::Replication),
        ("replica_", Topic::Replication),
        ("slave_", Topic::Replication),
        ("rpl_", Topic::Replication),
        ("character_set_", Topic::Sql),
        ("collation_", Topic::Sql),
        ("optimizer_", Topic::Sql),
        ("sql_", Topic::Sql),
        ("ssl_", Topic::Connections),
        ("thread_", Topic::Connections),
        ("net_", Topic::Connections),
    ];
    let found = beginnings.iter().find(|(begin, _)| name.starts_with(begin));
    found.map_or(Topic::Other, |(_, topic)| *topic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, Family};

    #[test]
    fn texts_are_whole_sentences_of_our_own() {
        assert!(TEXTS.len() >= 120, "{}", TEXTS.len());
        for (name, (_, text)) in TEXTS.iter() {
            for sentence in [&text.what, &text.when, &text.cost, &text.measure] {
                assert!(
                    sentence.ends_with('.') && sentence.len() >= 4,
                    "{name}: {sentence}"
                );
            }
            assert!(!text.unit.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_size_of_a_log_is_not_about_durability() {
        for (name, expected) in [
            ("innodb_flush_log_at_trx_commit", Topic::Durability),
            ("innodb_log_checksums", Topic::Durability),
            ("innodb_doublewrite", Topic::Durability),
            ("innodb_redo_log_capacity", Topic::Io),
            ("innodb_log_file_size", Topic::Io),
            ("innodb_log_writer_threads", Topic::Io),
            ("innodb_doublewrite_pages", Topic::Io),
        ] {
            assert_eq!(topic(name), expected, "{name}");
        }
    }

    #[test]
    fn texts_are_about_options_that_exist() {
        // Names of XtraDB 5.5, which document 004 has and no catalogue.
        let xtradb = [
            "innodb_adaptive_flushing_method",
            "innodb_flush_neighbor_pages",
        ];
        for name in explained_names().filter(|name| !xtradb.contains(name)) {
            let families = [Family::MySql, Family::MariaDb];
            let mut catalogues = families.into_iter().flat_map(Catalogue::all);
            assert!(
                catalogues.any(|catalogue| catalogue.row(name).is_some()),
                "{name}"
            );
        }
    }

    #[test]
    fn the_documents_options_have_texts() {
        let lines = include_str!("../fixtures/parameter_lists.tsv")
            .lines()
            .skip(1);
        let rows = lines.map(|line| line.split('\t').collect::<Vec<_>>());
        let names = rows
            .filter(|row| row[0] == "000" || row[0] == "004")
            .map(|row| {
                let name = row[1].split('=').next().unwrap();
                name.replace('-', "_")
            });
        // An abbreviation.
        let missing: Vec<String> = names
            .filter(|name| explanation(name).is_none() && name != "key_buffer")
            .collect();
        assert_eq!(missing, Vec::<String>::new());
    }
}
