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
//! - Percona Server 5.7 and 8.0: MySQL's options of the series, and `additions.rs`.

use std::sync::LazyLock;

use crate::additions::{Addition, Additions, PERCONA};
pub use crate::family::{Family, Product};
pub(crate) use crate::known_option::{Kind, KnownOption};
use crate::letter_case::{is_in_own_case, takes_any_case};
use crate::name::OptionName;

/// One column of a table.
#[derive(Debug)]
struct Version {
    text: &'static str,
    is_documented: bool,
    /// The column of the family's tables that it derives from: its own, but for another maker's versions.
    base: usize,
}

/// All versions of a product.
#[derive(Debug)]
struct Table {
    versions: Vec<Version>,
    /// Sorted by name.
    rows: Vec<KnownOption>,
}

static MYSQL: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../catalogue/mysql.tsv")));
static MARIADB: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../catalogue/mariadb.tsv")));
static PERCONA_SERVER: LazyLock<Table> = LazyLock::new(|| Table::derived(&MYSQL, &PERCONA));

impl Table {
    fn of(product: Product) -> &'static Self {
        match product {
            Product::MySql => &MYSQL,
            Product::Percona => &PERCONA_SERVER,
            Product::MariaDb => &MARIADB,
        }
    }

    fn parse(text: &'static str) -> Self {
        let mut lines = text.lines();
        let heading = lines.next().unwrap_or_default();
        let versions = heading.split('\t').nth(1).unwrap_or_default();
        let versions = versions.split(' ').enumerate();
        Self {
            versions: versions
                .map(|(column, text)| Version::parse(text, column))
                .collect(),
            rows: lines.map(KnownOption::parse).collect(),
        }
    }

    /// The versions that derive from those of another table, with what is added to them.
    fn derived(from: &Self, additions: &Additions) -> Self {
        let versions = additions.versions.iter().map(|(text, base)| {
            let mut known = from.versions.iter();
            let base = known.position(|version| version.text == *base);
            Version::parse(
                text,
                base.expect("a version derives from one of its family"),
            )
        });
        let versions: Vec<Version> = versions.collect();
        let taken_over = from.rows.iter().filter_map(|row| {
            let is_its = |(column, version): (usize, &Version)| {
                row.is_in(version.base) && additions.row(row.name, column).is_none()
            };
            let is_in: Vec<bool> = versions.iter().enumerate().map(is_its).collect();
            is_in.contains(&true).then(|| row.with_columns(&is_in))
        });
        let added = additions.rows.iter().map(|row| row.option.clone());
        let mut rows: Vec<KnownOption> = taken_over.chain(added).collect();
        rows.sort_by_key(|row| row.name);
        Self { versions, rows }
    }

    /// All forms of an option.
    fn rows_of(&self, name: &str) -> &[KnownOption] {
        let from = self.rows.partition_point(|row| row.name < name);
        let rest = &self.rows[from..];
        &rest[..rest.partition_point(|row| row.name == name)]
    }
}

impl Version {
    /// A version of a heading: `8.0.33`, `8.4*`.
    fn parse(text: &'static str, base: usize) -> Self {
        let documented = text.strip_suffix('*');
        Self {
            text: documented.unwrap_or(text),
            is_documented: documented.is_some(),
            base,
        }
    }
}

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
        Self {
            product,
            table,
            column,
            takes_any_case: takes_any_case(product, version),
        }
    }

    /// The catalogues of a product, the oldest first; of a family those of the maker that gave it its name.
    pub fn all(product: impl Into<Product>) -> impl Iterator<Item = Self> {
        let product = product.into();
        let table = Table::of(product);
        (0..table.versions.len()).map(move |column| Self {
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
            Product::Percona => PERCONA.row(name, self.column),
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
        let mut columns: Vec<usize> = rows.flat_map(KnownOption::columns).collect();
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
        numbers(self.version()) < numbers(other.version())
    }
}

fn numbers(version: &str) -> Vec<u32> {
    let numbers = version.split('.').map_while(|number| number.parse().ok());
    numbers.collect()
}

/// Whether two versions share their first two numbers.
fn same_series(one: &[u32], other: &[u32]) -> bool {
    one.len() >= 2 && other.len() >= 2 && one[..2] == other[..2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        for (product, versions, options) in [
            (Product::MySql, 7, 1_000),
            (Product::Percona, 2, 900),
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
