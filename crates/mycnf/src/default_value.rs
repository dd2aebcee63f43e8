//! The default values of server variables, as SHOW GLOBAL VARIABLES reports them without any option, and of options
//! without a variable, as `--verbose --help` does.
//!
//! `crates/mycnf/catalogue/defaults_mysql.tsv` and `defaults_mariadb.tsv` hold them, read from running servers, or
//! documented where the version has a `*`; those that Percona Server adds are in `percona.tsv`. The second column has an `x` for every version of the heading in which this is the value:
//!
//! ```text
//! name         5.5.9 5.6.24 5.7.22 8.0.12 8.0.33 8.4* 9.7  value
//! sync_binlog  ..xxxxx                                     1
//! sync_binlog  xx.....                                     0
//! ```
//!
//! Variables that contain a path, a time or the identity of the server are not included.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use crate::catalogue::{Catalogue, Family};
use crate::target::Target;

/// Variables whose value the server computes at its start unless a file sets it: from other variables, the memory or
/// the CPUs. Their value in the tables is that of a small machine without any option.
///
/// Source: MySQL Reference Manual, the defaults that "signify autosizing", and "Configuring InnoDB I/O Capacity";
/// MariaDB documentation, "Server System Variables" and "InnoDB System Variables".
const COMPUTED: [&str; 11] = [
    "back_log",
    "host_cache_size",
    "innodb_buffer_pool_chunk_size",
    "innodb_buffer_pool_instances",
    "innodb_io_capacity_max",
    "innodb_open_files",
    "innodb_page_cleaners",
    "open_files_limit",
    "table_definition_cache",
    "thread_cache_size",
    "thread_pool_size",
];

/// Variables whose value MySQL computes from the memory or the CPUs in 8.4 and later.
///
/// Source: MySQL 8.4 Reference Manual, "InnoDB Startup Options and System Variables" and "Server System Variables".
const COMPUTED_FROM_8_4: [&str; 4] = [
    "innodb_parallel_read_threads",
    "innodb_purge_threads",
    "innodb_read_io_threads",
    "temptable_max_ram",
];

/// Whether a server of this version computes the variable if no file sets it. The value of one server is then none of
/// another's.
pub(crate) fn is_computed(target: &Target, variable: &str) -> bool {
    let is_new = target.is_at_least(Family::MySql, &[8, 4]);
    COMPUTED.contains(&variable) || (is_new && COMPUTED_FROM_8_4.contains(&variable))
}

/// Values of each version, in the order of the heading.
type Values = BTreeMap<&'static str, Vec<(&'static str, &'static str)>>;

static MYSQL: LazyLock<Values> =
    LazyLock::new(|| parse(include_str!("../catalogue/defaults_mysql.tsv")));
static MARIADB: LazyLock<Values> =
    LazyLock::new(|| parse(include_str!("../catalogue/defaults_mariadb.tsv")));

fn parse(text: &'static str) -> Values {
    let mut values = Values::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split('\t');
        let (name, columns) = (fields.next(), fields.next());
        if let (Some(name), Some(columns)) = (name, columns) {
            let value = fields.next().unwrap_or_default();
            values.entry(name).or_default().push((columns, value));
        }
    }
    values
}

impl Catalogue {
    /// The default value of a variable; `None` if this version does not have the variable or if its value depends on
    /// the instance. Some defaults depend on the machine or on other variables: the value is that of a small machine.
    pub fn default_value(&self, variable: &str) -> Option<&'static str> {
        if let Some(addition) = self.addition(variable) {
            return addition.default;
        }
        let mut values = self.values().get(variable)?.iter();
        values
            .find(|(columns, _)| self.is_in(columns))
            .map(|(_, value)| *value)
    }

    /// All variables of this version with their defaults, sorted by name.
    pub(crate) fn defaults(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let own = self.values().keys().copied();
        let added = self.names().filter(|name| self.addition(name).is_some());
        let names: BTreeSet<&'static str> = own.chain(added).collect();
        let defaults = names
            .into_iter()
            .filter_map(|name| Some((name, self.default_value(name)?)));
        defaults.collect::<Vec<_>>().into_iter()
    }

    fn values(&self) -> &'static Values {
        match self.family() {
            Family::MySql => &MYSQL,
            Family::MariaDb => &MARIADB,
        }
    }

    fn is_in(&self, columns: &str) -> bool {
        columns.as_bytes().get(self.base_column()) == Some(&b'x')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Kind;

    #[test]
    fn defaults_differ_by_version_and_family() {
        let cases: [(Family, &[u32], &str, Option<&str>); 13] = [
            (
                Family::MySql,
                &[9, 7],
                "check_table_functions",
                Some("ABORT"),
            ),
            (
                Family::MySql,
                &[5, 5, 9],
                "transaction_isolation",
                Some("REPEATABLE-READ"),
            ),
            (
                Family::MySql,
                &[5, 7, 22],
                "character_set_client_handshake",
                Some("ON"),
            ),
            (Family::MySql, &[8, 0, 33], "ndb_batch_size", Some("32768")),
            (
                Family::MariaDb,
                &[10, 11],
                "wsrep_retry_autocommit",
                Some("1"),
            ),
            (Family::MariaDb, &[10, 11], "socket", None),
            (Family::MySql, &[5, 6, 51], "sync_binlog", Some("0")),
            (Family::MySql, &[8, 0, 40], "sync_binlog", Some("1")),
            (Family::MariaDb, &[10, 11, 19], "sync_binlog", Some("0")),
            (Family::MySql, &[5, 5, 9], "query_cache_type", Some("ON")),
            (Family::MySql, &[8, 0, 40], "query_cache_type", None),
            (Family::MySql, &[8, 0, 40], "datadir", None),
            (Family::MariaDb, &[10, 11, 19], "init_slave", Some("")),
        ];
        for (family, version, variable, value) in cases {
            let catalogue = Catalogue::nearest(family, version);
            assert_eq!(catalogue.default_value(variable), value, "{variable}");
        }
    }

    /// Options of a number, a switch or a word have a default, except those that depend on the machine.
    #[test]
    fn options_with_a_default_in_the_help_have_it_here() {
        let own = [
            "help",
            "open_files_limit",
            "port",
            "report_port",
            "server_id",
            "thread_pool_size",
            "verbose",
        ];
        let of_start = ["initialize", "initialize_insecure", "validate_config"];
        for family in [Family::MySql, Family::MariaDb] {
            // Documentation does not name every default.
            for catalogue in Catalogue::all(family).filter(|one| !one.is_documented()) {
                let is_lacking = |name: &&str| {
                    let row = catalogue.row(name);
                    let is_of_value = row.is_some_and(|row| {
                        !matches!(row.kind, Kind::Text | Kind::NoEffect | Kind::VariableOnly)
                    });
                    is_of_value && catalogue.default_value(name).is_none()
                };
                let lacking: Vec<&str> = catalogue.names().filter(is_lacking).collect();
                let unexpected = lacking
                    .iter()
                    .find(|name| !own.contains(name) && !of_start.contains(name));
                assert_eq!(unexpected, None, "{family:?} {}", catalogue.version());
            }
        }
    }

    #[test]
    fn columns_are_those_of_the_options() {
        for (values, versions) in [(&*MYSQL, 7), (&*MARIADB, 6)] {
            assert!(values.len() > 500);
            let mut columns = values.values().flatten();
            assert!(columns.all(|(columns, _)| columns.len() == versions));
        }
    }
}
