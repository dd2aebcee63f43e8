//! The options that Percona Server adds to the MySQL versions that it derives from, or has in another form.
//!
//! `crates/mycnf/catalogue/percona.tsv` holds them, one line per option and form; the heading names for each column the
//! version of MySQL below it, and `?` stands for what the documentation does not say:
//!
//! ```text
//! name                   5.7*=5.7.22 8.0*=8.0.33  kind  min  max   words  default  change
//! innodb_show_locks_held xx                       i     0    1000         10       run
//! ```
//!
//! Everything else is MySQL's. Sources, facts alone: Percona Server's documentation of 5.7 and 8.0 (the lists of variables,
//! "Changed in Percona Server 5.7" and "8.0", and the pages on the thread pool, the slow log and its rotation, changed page
//! tracking, I/O-bound loads, data at rest encryption, compressed columns, corrupt tables, idle transactions, the utility
//! user, the space of binary logs, network buffers and SHOW ENGINE INNODB STATUS), and the list of options that both series
//! print for `--verbose --help`, as their own tests have it. Where two pages say two things of a class, it is a `?`.
//!
//! The catalogue of MySQL 5.7 is of a build with yaSSL, and Percona Server is built with OpenSSL. Its TLS options in
//! 5.7 are therefore listed, too. Sources: MySQL 5.7 Reference Manual, "SSL Library-Dependent Capabilities" and
//! "Creating SSL and RSA Certificates and Keys using MySQL"; Percona Server 5.7 documentation, "Installing Percona
//! Server for MySQL 5.7 from a Binary Tarball".

use std::sync::LazyLock;

use crate::known_option::KnownOption;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Addition {
    pub(crate) option: KnownOption,
    /// The default; `None` if the documentation does not say it.
    pub(crate) default: Option<&'static str>,
    /// Whether it can be set only at start; `None` if the documentation does not say it.
    pub(crate) needs_restart: Option<bool>,
}

/// What one product adds to the versions of another.
#[derive(Debug)]
pub(crate) struct Additions {
    /// Each version as in a heading, with the version that it derives from.
    pub(crate) versions: Vec<(&'static str, &'static str)>,
    /// Sorted by name.
    pub(crate) rows: Vec<Addition>,
}

pub(crate) static PERCONA: LazyLock<Additions> =
    LazyLock::new(|| Additions::parse(include_str!("../catalogue/percona.tsv")));

impl Additions {
    fn parse(text: &'static str) -> Self {
        let mut lines = text.lines();
        let heading = lines.next().unwrap_or_default();
        let versions = heading.split('\t').nth(1).unwrap_or_default();
        let versions = versions.split(' ').filter_map(|one| one.split_once('='));
        Self {
            versions: versions.collect(),
            rows: lines.map(parse_row).collect(),
        }
    }

    /// The line of an option in a version.
    pub(crate) fn row(&self, name: &str, column: usize) -> Option<&Addition> {
        let mut rows = self.rows_of(name).iter();
        rows.find(|row| row.option.is_in(column))
    }

    /// All lines of an option.
    pub(crate) fn rows_of(&self, name: &str) -> &[Addition] {
        let from = self.rows.partition_point(|row| row.option.name < name);
        let rest = &self.rows[from..];
        &rest[..rest.partition_point(|row| row.option.name == name)]
    }
}

fn parse_row(line: &'static str) -> Addition {
    let mut last = line.split('\t').skip(6);
    let default = last.next().filter(|default| *default != "?");
    let needs_restart = match last.next() {
        Some("start") => Some(true),
        Some("run") => Some(false),
        _ => None,
    };
    Addition {
        option: KnownOption::parse(line),
        default,
        needs_restart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let table = &*PERCONA;
        assert_eq!(table.versions, [("5.7*", "5.7.22"), ("8.0*", "8.0.33")]);
        assert!(table.rows.len() > 80);
        assert!(table.rows.is_sorted_by_key(|row| row.option.name));
        for row in &table.rows {
            let option = &row.option;
            assert_eq!(option.width(), table.versions.len(), "{}", option.name);
            let forms = table.rows_of(option.name).iter();
            for column in option.columns() {
                let forms = forms.clone().filter(|form| form.option.is_in(column));
                assert_eq!(forms.count(), 1, "{}", option.name);
            }
        }
        let row = table.row("innodb_show_locks_held", 1).unwrap();
        assert_eq!((row.default, row.needs_restart), (Some("10"), Some(false)));
        let row = table.row("thread_pool_size", 0).unwrap();
        assert_eq!((row.default, row.needs_restart), (None, Some(false)));
        // MySQL 8.1 brought it, and Percona's list of its own variables in 8.0 does not have it.
        let option = "tls_certificates_enforced_validation";
        assert!(table.row(option, 1).is_none());
    }
}
