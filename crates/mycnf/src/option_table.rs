//! The tables of the options of all versions of a product.

use std::sync::LazyLock;

use crate::additions::{Additions, PERCONA};
use crate::family::Product;
use crate::known_option::KnownOption;

/// One column of a table.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) text: &'static str,
    pub(crate) is_documented: bool,
    /// The column of the family's tables that it derives from: its own, but for another maker's versions.
    pub(crate) base: usize,
    /// The column of its maker's additions, if it is another maker's version.
    pub(crate) addition: usize,
    /// Whether it is a catalogue of its own. One that is not comes before that of its series, and is only for versions that
    /// are older than the MySQL version from which the catalogue of the series derives.
    pub(crate) is_listed: bool,
}

/// All versions of a product.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) versions: Vec<Version>,
    /// Sorted by name.
    pub(crate) rows: Vec<KnownOption>,
}

static MYSQL: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../catalogue/mysql.tsv")));
static MARIADB: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../catalogue/mariadb.tsv")));
static PERCONA_SERVER: LazyLock<Table> = LazyLock::new(|| Table::derived(&MYSQL, &PERCONA));

impl Table {
    pub(crate) fn of(product: Product) -> &'static Self {
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

    /// The versions that derive from those of another table, with what is added to them. What is added is known for a
    /// series only, and is the same in all its versions.
    fn derived(from: &Self, additions: &Additions) -> Self {
        let mut versions: Vec<Version> = Vec::new();
        for (addition, (text, base)) in additions.versions.iter().enumerate() {
            let mut known = from.versions.iter();
            let column = known.position(|version| version.text == *base);
            let column = column.expect("a version derives from one of its family");
            let earlier = from.versions[..column].iter().enumerate();
            let of_series = earlier
                .filter(|(_, earlier)| same_series(&numbers(earlier.text), &numbers(base)))
                .map(|(base, earlier)| Version {
                    text: earlier.text,
                    is_documented: true,
                    base,
                    addition,
                    is_listed: false,
                });
            versions.extend(of_series);
            versions.push(Version {
                addition,
                ..Version::parse(text, column)
            });
        }
        let taken_over = from.rows.iter().filter_map(|row| {
            let is_its = |version: &Version| {
                row.is_in(version.base) && additions.row(row.name, version.addition).is_none()
            };
            let is_in: Vec<bool> = versions.iter().map(is_its).collect();
            is_in.contains(&true).then(|| row.with_columns(&is_in))
        });
        let added = additions.rows.iter().map(|row| {
            let is_its = |version: &Version| row.option.is_in(version.addition);
            let is_in: Vec<bool> = versions.iter().map(is_its).collect();
            row.option.with_columns(&is_in)
        });
        let mut rows: Vec<KnownOption> = taken_over.chain(added).collect();
        rows.sort_by_key(|row| row.name);
        Self { versions, rows }
    }

    /// All forms of an option.
    pub(crate) fn rows_of(&self, name: &str) -> &[KnownOption] {
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
            addition: 0,
            is_listed: true,
        }
    }
}

/// The numbers of a version: `[8, 0, 33]`.
pub(crate) fn numbers(version: &str) -> Vec<u32> {
    let numbers = version.split('.').map_while(|number| number.parse().ok());
    numbers.collect()
}

/// Whether two versions share their first two numbers.
pub(crate) fn same_series(one: &[u32], other: &[u32]) -> bool {
    one.len() >= 2 && other.len() >= 2 && one[..2] == other[..2]
}
