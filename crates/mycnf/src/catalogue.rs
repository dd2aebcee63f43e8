//! The options of each server version with their types and limits, read from running servers, or documented.
//!
//! `crates/mycnf/catalogue/mysql.tsv` and `mariadb.tsv` hold them, one line per option and form:
//!
//! ```text
//! name                  5.5.9 5.6.24 5.7.22 8.0.12 8.0.33 8.4* 9.7   kind  min      max                   words
//! innodb_log_file_size  ...xxx.                                      i     4194304  18446744073709551615
//! ```
//!
//! The second column has an `x` for every version of the heading in which the option has this form. A version with a `*`
//! is documented: no server of it was at hand. What the servers before and behind it have alike is taken for its own; the
//! rest is from documentation, with the wider of two limits where that does not say which, and it is left out where it does
//! not say anything. Sources, facts alone:
//!
//! - MySQL 8.4: MySQL 8.4 Reference Manual, "What Is New in MySQL 8.4 since MySQL 8.0" and "Server and Status Variables and
//!   Options Added, Deprecated, or Removed"; MySQL Server Version Reference, "Option and Variable Changes for MySQL 8.4";
//!   Percona Server 8.4 documentation, "Defaults and tuning" and "Compatibility and removed items"; the list of options of
//!   `mysqld --verbose --help` as the tests of a server of this series have it; lines tried on 8.4.13.
//! - MariaDB 10.6: MariaDB documentation, "System Variables Added in MariaDB 10.6", "Upgrading from MariaDB 10.5 to MariaDB
//!   10.6", and the pages of the variables; lines tried on 10.6.23.
//! - Percona Server 5.7 and 8.0: MySQL's options of the series, and `additions.rs`. The versions of 8.0 that are older
//!   than 8.0.33 derive from MySQL 8.0.12.

use crate::additions::{Addition, PERCONA};
pub use crate::family::{Family, Product};
pub(crate) use crate::known_option::{Kind, KnownOption};
use crate::letter_case::{is_in_own_case, takes_any_case};
use crate::name::OptionName;
use crate::option_table::{Table, numbers, same_series};

/// The options of one server version.
#[derive(Debug, Clone, Copy)]
pub struct Catalogue {
    product: Product,
    table: &'static Table,
    column: usize,
    /// Whether the version takes names in any letter case.
    takes_any_case: bool,
}

impl Catalogue {
    /// The catalogue nearest to a version: the newest of the product that is not newer, otherwise the oldest; where only the
    /// family's own maker has the series, its catalogue. [`Catalogue::covers`] decides whether it is near enough to judge by.
    pub fn nearest(product: impl Into<Product>, version: &[u32]) -> Self {
        let product = product.into();
        let own = Self::nearest_of(product, version);
        let of_family = Self::nearest_of(product.family().into(), version);
        if of_family.covers(version) && !own.covers(version) {
            of_family
        } else {
            own
        }
    }

    fn nearest_of(product: Product, version: &[u32]) -> Self {
        let table = Table::of(product);
        let known = |column: usize| numbers(table.versions[column].text);
        let columns = 0..table.versions.len();
        let column = columns
            .clone()
            .rev()
            .find(|column| known(*column).as_slice() <= version);
        let mut column = column.unwrap_or(0);
        // 8.0.11 is nearer to 8.0.12 than to 5.7.
        let next = column + 1;
        if columns.contains(&next) && same_series(&known(next), version) {
            column += usize::from(!same_series(&known(column), version));
        }
        let at = |column: usize| Self {
            product,
            table,
            column,
            takes_any_case: takes_any_case(product, version),
        };
        // Percona Server 8.0.25 derives from an older MySQL than the catalogue of its series.
        while version.len() > 2
            && column > 0
            && !table.versions[column - 1].is_listed
            && numbers(at(column).base_version()).as_slice() > version
        {
            column -= 1;
        }
        at(column)
    }

    /// The catalogues of a product, the oldest first; of a family those of the maker that gave it its name.
    pub fn all(product: impl Into<Product>) -> impl Iterator<Item = Self> {
        let product = product.into();
        let table = Table::of(product);
        let columns = 0..table.versions.len();
        let listed = columns.filter(move |column| table.versions[*column].is_listed);
        listed.map(move |column| Self {
            product,
            table,
            column,
            takes_any_case: takes_any_case(product, &numbers(table.versions[column].text)),
        })
    }

    pub fn version(&self) -> &'static str {
        self.table.versions[self.column].text
    }

    /// Whether the catalogue is from documentation, and not read from a server.
    pub fn is_documented(&self) -> bool {
        self.table.versions[self.column].is_documented
    }

    /// Column of the version, or of the one that it derives from, in the tables of the family.
    pub(crate) fn base_column(&self) -> usize {
        self.table.versions[self.column].base
    }

    /// The version in the tables of the family: its own, or the one that it derives from.
    pub(crate) fn base_version(&self) -> &'static str {
        Table::of(self.family().into()).versions[self.base_column()].text
    }

    /// The line of an option that the product adds to its family's, or has in another form.
    pub(crate) fn addition(&self, name: &str) -> Option<&'static Addition> {
        match self.product {
            Product::Percona => PERCONA.row(name, self.table.versions[self.column].addition),
            Product::MySql | Product::MariaDb => None,
        }
    }

    pub fn product(&self) -> Product {
        self.product
    }

    pub fn family(&self) -> Family {
        self.product.family()
    }

    /// Whether a version is of the same series (5.7, 10.11), so that its options are the same with few exceptions.
    pub fn covers(&self, version: &[u32]) -> bool {
        same_series(&numbers(self.version()), version)
    }

    /// Whether this version accepts an option of this name, in any spelling, in an option file.
    pub fn has(&self, name: &OptionName) -> bool {
        self.find(name).is_some()
    }

    /// The name in the catalogue of an option in any spelling that the version accepts, abbreviations included.
    pub fn listed_name(&self, name: &OptionName) -> Option<&'static str> {
        self.find(name).map(|option| option.name)
    }

    /// The option of this name, in any spelling that the version accepts.
    pub(crate) fn find(&self, name: &OptionName) -> Option<&'static KnownOption> {
        if !self.takes_case_of(name) {
            return None;
        }
        let spellings = name.spellings();
        let mut spellings = spellings.iter();
        spellings
            .find_map(|spelling| self.row(spelling).filter(|row| row.is_option()))
            .or_else(|| self.abbreviated(name))
    }

    /// Whether the version takes a name in the letter case in which it is written.
    pub fn takes_case_of(&self, name: &OptionName) -> bool {
        self.takes_any_case || is_in_own_case(name)
    }

    /// Whether the version ignores a line of this name if it does not know the option.
    pub fn ignores_unknown(&self, name: &OptionName) -> bool {
        name.is_loose() && (self.takes_any_case || name.as_written().starts_with("loose"))
    }

    /// The row with exactly this name.
    pub(crate) fn row(&self, name: &str) -> Option<&'static KnownOption> {
        let mut rows = self.table.rows_of(name).iter();
        rows.find(|row| row.is_in(self.column))
    }

    /// The only option that starts with the name, if the version accepts abbreviations.
    fn abbreviated(&self, name: &OptionName) -> Option<&'static KnownOption> {
        let takes_them = self.family() == Family::MariaDb
            || numbers(self.version()).as_slice() < [5, 7].as_slice();
        self.completions(name).filter(|_| takes_them)
    }

    /// The only option that starts with the name.
    pub(crate) fn completions(&self, name: &OptionName) -> Option<&'static KnownOption> {
        let mut rows = self.table.rows.iter().filter(|row| {
            row.name.starts_with(name.folded()) && row.is_in(self.column) && row.is_option()
        });
        match (rows.next(), rows.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// The names of all options.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let rows = self.table.rows.iter();
        rows.filter(|row| row.is_in(self.column) && row.is_option())
            .map(|row| row.name)
    }

    /// The oldest and the newest version of the product in which the option has an effect; `None` if there is none.
    pub(crate) fn span(
        product: impl Into<Product>,
        name: &str,
    ) -> Option<(&'static str, &'static str)> {
        let table = Table::of(product.into());
        let works = |row: &&KnownOption| row.is_option() && row.kind != Kind::NoEffect;
        let rows = table.rows_of(name).iter().filter(works);
        let columns = rows.flat_map(KnownOption::columns);
        let listed = columns.filter(|column| table.versions[*column].is_listed);
        let mut columns: Vec<usize> = listed.collect();
        columns.sort_unstable();
        Some((
            table.versions[*columns.first()?].text,
            table.versions[*columns.last()?].text,
        ))
    }

    /// Whether a product has an option that the maker of its family does not have, or in a form of its own.
    pub fn is_added(product: Product, name: &str) -> bool {
        product == Product::Percona && !PERCONA.rows_of(name).is_empty()
    }

    pub(crate) fn is_older_than(&self, other: &Self) -> bool {
        numbers(self.base_version()) < numbers(other.base_version())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        for (product, versions, options) in [
            (Product::MySql, 7, 1_000),
            (Product::Percona, 3, 900),
            (Product::MariaDb, 6, 850),
        ] {
            let table = Table::of(product);
            assert_eq!(table.versions.len(), versions);
            assert!(table.rows.len() > options, "{}", table.rows.len());
            assert!(table.rows.is_sorted_by_key(|row| row.name), "{product:?}");
            for row in &table.rows {
                assert_eq!(row.width(), versions, "{}", row.name);
                assert!(row.columns().next().is_some(), "{}", row.name);
                if let Kind::Word(words) | Kind::Words(words) = row.kind {
                    assert!(!words.is_empty(), "{}", row.name);
                }
                if let Kind::Integer { min, max } = row.kind {
                    assert!(
                        min.zip(max).is_none_or(|(min, max)| min <= max),
                        "{}",
                        row.name
                    );
                }
            }
            // Each version has an option in one form only.
            for row in &table.rows {
                let forms = table.rows_of(row.name);
                for column in row.columns() {
                    let forms = forms.iter().filter(|form| form.is_in(column));
                    assert_eq!(forms.count(), 1, "{} {column}", row.name);
                }
            }
        }
    }

    #[test]
    fn documented_catalogues_are_marked() {
        let marked = Product::ALL.into_iter().flat_map(Catalogue::all);
        let marked = marked.filter(Catalogue::is_documented);
        let marked: Vec<String> = marked
            .map(|one| format!("{} {}", one.product().name(), one.version()))
            .collect();
        assert_eq!(
            marked,
            ["mysql 8.4", "percona 5.7", "percona 8.0", "mariadb 10.6"]
        );
    }

    #[test]
    fn percona_server_is_mysql_with_options_of_its_own() {
        for (version, name, has) in [
            ([5, 7], "innodb_buffer_pool_size", true),
            ([5, 7], "query_cache_size", true),
            ([5, 7], "extra_port", true),
            ([5, 7], "log_replica_updates", false),
            ([8, 0], "extra_port", false),
            ([8, 0], "query_cache_size", false),
            ([8, 0], "log_replica_updates", true),
            ([8, 0], "userstat", true),
            ([8, 0], "aria_pagecache_buffer_size", false),
        ] {
            let catalogue = Catalogue::nearest(Product::Percona, &version);
            assert_eq!(
                catalogue.has(&OptionName::new(name)),
                has,
                "{version:?} {name}"
            );
        }
        let percona = Catalogue::nearest(Product::Percona, &[5, 7, 44]);
        let words = |catalogue: &Catalogue, name: &str| match catalogue.row(name).unwrap().kind {
            Kind::Word(words) => words,
            _ => "",
        };
        assert!(words(&percona, "innodb_flush_method").contains("ALL_O_DIRECT"));
        assert!(words(&percona, "thread_handling").contains("pool-of-threads"));
        let mysql = Catalogue::nearest(Product::MySql, &[5, 7, 44]);
        assert!(!words(&mysql, "thread_handling").contains("pool-of-threads"));
        assert_eq!(percona.default_value("sync_binlog"), Some("1"));
        assert_eq!(
            percona.default_value("thread_pool_stall_limit"),
            Some("500")
        );
        assert_eq!(percona.default_value("thread_pool_size"), None);
        assert_eq!(percona.needs_restart("thread_pool_stall_limit"), Some(true));
        assert_eq!(percona.needs_restart("userstat"), Some(false));
        assert_eq!(
            percona.needs_restart("innodb_temp_tablespace_encrypt"),
            None
        );
        assert_eq!(percona.needs_restart("innodb_log_file_size"), Some(true));
        // MySQL 5.7.22 is built with yaSSL, and Percona Server with OpenSSL.
        let tls_versions = |catalogue: &Catalogue| catalogue.default_value("tls_version");
        assert_eq!(tls_versions(&percona), Some("TLSv1,TLSv1.1,TLSv1.2"));
        assert_eq!(tls_versions(&mysql), Some("TLSv1,TLSv1.1"));
        assert!(percona.has(&OptionName::new("auto_generate_certs")));
    }

    #[test]
    fn an_early_version_of_percona_server_derives_from_an_early_mysql() {
        for (patch, base, has_capacity) in [
            (11, "8.0.12", false),
            (12, "8.0.12", false),
            (32, "8.0.12", false),
            (33, "8.0.33", true),
            (36, "8.0.33", true),
        ] {
            let catalogue = Catalogue::nearest(Product::Percona, &[8, 0, patch]);
            assert_eq!(catalogue.base_version(), base, "{patch}");
            let capacity = OptionName::new("innodb_redo_log_capacity");
            assert_eq!(catalogue.has(&capacity), has_capacity, "{patch}");
            assert!(catalogue.has(&OptionName::new("userstat")), "{patch}");
            assert_eq!(catalogue.default_value("userstat"), Some("OFF"), "{patch}");
        }
        let listed: Vec<&str> = Catalogue::all(Product::Percona)
            .map(|catalogue| catalogue.version())
            .collect();
        assert_eq!(listed, ["5.7", "8.0"]);
        let span = Catalogue::span(Product::Percona, "innodb_redo_log_capacity");
        assert_eq!(span, Some(("8.0", "8.0")));
    }

    #[test]
    fn the_nearest_catalogue_is_of_the_same_series_where_there_is_one() {
        for (family, version, nearest, covered) in [
            (Family::MySql, [5, 7, 42], "5.7.22", true),
            (Family::MySql, [8, 0, 11], "8.0.12", true),
            (Family::MySql, [8, 0, 12], "8.0.12", true),
            (Family::MySql, [8, 0, 46], "8.0.33", true),
            (Family::MySql, [8, 4, 3], "8.4", true),
            (Family::MySql, [8, 3, 0], "8.0.33", false),
            (Family::MySql, [9, 7, 4], "9.7", true),
            (Family::MySql, [26, 7, 0], "9.7", false),
            (Family::MySql, [5, 1, 73], "5.5.9", false),
            (Family::MySql, [5, 6, 10], "5.6.24", true),
            (Family::MariaDb, [10, 11, 19], "10.11", true),
            (Family::MariaDb, [10, 6, 1], "10.6", true),
            (Family::MariaDb, [10, 3, 1], "10.2", false),
            (Family::MariaDb, [13, 1, 0], "11.8", false),
        ] {
            let catalogue = Catalogue::nearest(family, &version);
            assert_eq!(
                (catalogue.version(), catalogue.covers(&version)),
                (nearest, covered),
                "{version:?}"
            );
        }
    }

    #[test]
    fn options_are_found_in_every_spelling_that_the_version_takes() {
        for (family, version, name, found) in [
            (
                Family::MySql,
                [5, 6],
                "innodb-log_file-size",
                Some("innodb_log_file_size"),
            ),
            (Family::MySql, [9, 7], "innodb_log_file_size", None),
            (Family::MySql, [5, 6], "key_buffer", Some("key_buffer_size")),
            (Family::MySql, [5, 7], "key_buffer", None),
            (
                Family::MariaDb,
                [11, 8],
                "key_buffer",
                Some("key_buffer_size"),
            ),
            (Family::MySql, [5, 7], "tx_isolation", None),
            (
                Family::MySql,
                [8, 0],
                "skip-name-resolve",
                Some("skip_name_resolve"),
            ),
            (Family::MySql, [8, 0], "disable_log_bin", Some("log_bin")),
            (Family::MySql, [8, 0], "Max_Connections", None),
            (
                Family::MariaDb,
                [10, 11],
                "INNODB-Buffer_Pool_Size",
                Some("innodb_buffer_pool_size"),
            ),
            (Family::MariaDb, [10, 11], "Max_Conections", None),
            (Family::MariaDb, [10, 2], "Max_Connections", None),
            (
                Family::MariaDb,
                [10, 2],
                "wsrep_OSU_method",
                Some("wsrep_osu_method"),
            ),
            (Family::MariaDb, [10, 11], "SKIP-LOG-BIN", Some("log_bin")),
            (
                Family::MySql,
                [8, 0],
                "loose-maximum-sort-buffer-size",
                Some("sort_buffer_size"),
            ),
        ] {
            let catalogue = Catalogue::nearest(family, &version);
            let row = catalogue.find(&OptionName::new(name));
            assert_eq!(row.map(|row| row.name), found, "{version:?} {name}");
        }
    }
}
