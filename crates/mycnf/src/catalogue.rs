//! The options of each server version with their types and limits, read from running servers.
//!
//! `crates/mycnf/catalogue/mysql.tsv` and `mariadb.tsv` hold them, one line per option and form:
//!
//! ```text
//! name                  5.5.9 5.6.24 5.7.22 8.0.12 8.0.33 9.7   kind  min      max                   words
//! innodb_log_file_size  ...xx.                                  i     4194304  18446744073709551615
//! ```
//!
//! The second column has an `x` for every version of the heading in which the option has this form.

use std::sync::LazyLock;

use crate::name::OptionName;

/// The two families of servers: an option removed in one often remains in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// MySQL and its derivatives.
    MySql,
    /// MariaDB.
    MariaDb,
}

impl Family {
    /// `mysql` or `mariadb`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MySql => "mysql",
            Self::MariaDb => "mariadb",
        }
    }
}

/// The values that an option accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// None: the server has a variable of this name, but no option.
    VariableOnly,
    /// Anything: the option exists for old files and has no effect.
    NoEffect,
    Boolean,
    /// An integer or size; the limits are `None` if the server does not report them.
    Integer {
        min: Option<i128>,
        max: Option<i128>,
    },
    Decimal,
    /// One of these comma-separated words.
    Word(&'static str),
    /// Some of these comma-separated words.
    Words(&'static str),
    Text,
}

/// One line of a table.
#[derive(Debug)]
pub(crate) struct KnownOption {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// One character per version: `x` if it has the option in this form.
    columns: &'static str,
}

/// All versions of a family.
#[derive(Debug)]
struct Table {
    versions: Vec<&'static str>,
    /// Sorted by name.
    rows: Vec<KnownOption>,
}

static MYSQL: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../catalogue/mysql.tsv")));
static MARIADB: LazyLock<Table> =
    LazyLock::new(|| Table::parse(include_str!("../catalogue/mariadb.tsv")));

impl Table {
    fn of(family: Family) -> &'static Self {
        match family {
            Family::MySql => &MYSQL,
            Family::MariaDb => &MARIADB,
        }
    }

    fn parse(text: &'static str) -> Self {
        let mut lines = text.lines();
        let heading = lines.next().unwrap_or_default();
        let versions = heading.split('\t').nth(1).unwrap_or_default();
        Self {
            versions: versions.split(' ').collect(),
            rows: lines.map(parse_row).collect(),
        }
    }

    /// All forms of an option.
    fn rows_of(&self, name: &str) -> &[KnownOption] {
        let from = self.rows.partition_point(|row| row.name < name);
        let rest = &self.rows[from..];
        &rest[..rest.partition_point(|row| row.name == name)]
    }
}

fn parse_row(line: &'static str) -> KnownOption {
    let mut fields = line.split('\t');
    let mut next = || fields.next().unwrap_or_default();
    let (name, columns, kind) = (next(), next(), next());
    let (min, max, words) = (next(), next(), next());
    KnownOption {
        name,
        columns,
        kind: match kind {
            "v" => Kind::VariableOnly,
            "n" => Kind::NoEffect,
            "b" => Kind::Boolean,
            "i" => Kind::Integer {
                min: min.parse().ok(),
                max: max.parse().ok(),
            },
            "f" => Kind::Decimal,
            "e" => Kind::Word(words),
            "s" => Kind::Words(words),
            _ => Kind::Text,
        },
    }
}

/// The options of one server version.
#[derive(Debug, Clone, Copy)]
pub struct Catalogue {
    family: Family,
    table: &'static Table,
    column: usize,
}

impl Catalogue {
    /// The catalogue nearest to a version: the newest that is not newer, otherwise the oldest.
    /// [`Catalogue::covers`] decides whether it is near enough to judge by.
    pub fn nearest(family: Family, version: &[u32]) -> Self {
        let table = Table::of(family);
        let column = table
            .versions
            .iter()
            .rposition(|known| numbers(known).as_slice() <= version);
        let mut column = column.unwrap_or(0);
        // 8.0.11 is nearer to 8.0.12 than to 5.7.
        let next = table.versions.get(column + 1);
        if next.is_some_and(|next| same_series(&numbers(next), version)) {
            let own = numbers(table.versions[column]);
            column += usize::from(!same_series(&own, version));
        }
        Self {
            family,
            table,
            column,
        }
    }

    /// The catalogues of a family, the oldest first.
    pub fn all(family: Family) -> impl Iterator<Item = Self> {
        let table = Table::of(family);
        (0..table.versions.len()).map(move |column| Self {
            family,
            table,
            column,
        })
    }

    /// The server version that the catalogue was read from.
    pub fn version(&self) -> &'static str {
        self.table.versions[self.column]
    }

    /// Index of the version within its family.
    pub(crate) fn column(&self) -> usize {
        self.column
    }

    /// The family of servers.
    pub fn family(&self) -> Family {
        self.family
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
        let spellings = name.spellings();
        let mut spellings = spellings.iter();
        spellings
            .find_map(|spelling| self.row(spelling).filter(|row| is_option(row)))
            .or_else(|| self.abbreviated(name))
            .or_else(|| self.in_small_letters(name))
    }

    /// The option of this name in another case, if the version takes that. Source: MariaDB 10.11 and MySQL 8.0.33 with
    /// `Max_Connections = 300`.
    fn in_small_letters(&self, name: &OptionName) -> Option<&'static KnownOption> {
        let small = name.as_written().to_ascii_lowercase();
        let is_other = self.family == Family::MariaDb && small != name.as_written();
        is_other.then(|| self.find(&OptionName::new(&small)))?
    }

    /// The row with exactly this name.
    pub(crate) fn row(&self, name: &str) -> Option<&'static KnownOption> {
        let mut rows = self.table.rows_of(name).iter();
        rows.find(|row| self.is_here(row))
    }

    /// The only option that starts with the name, if the version accepts abbreviations.
    fn abbreviated(&self, name: &OptionName) -> Option<&'static KnownOption> {
        let takes_them = self.family == Family::MariaDb
            || numbers(self.version()).as_slice() < [5, 7].as_slice();
        self.completions(name).filter(|_| takes_them)
    }

    /// The only option that starts with the name.
    pub(crate) fn completions(&self, name: &OptionName) -> Option<&'static KnownOption> {
        let mut rows = self.table.rows.iter().filter(|row| {
            row.name.starts_with(name.folded()) && self.is_here(row) && is_option(row)
        });
        match (rows.next(), rows.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// The names of all options.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let rows = self.table.rows.iter();
        rows.filter(|row| self.is_here(row) && is_option(row))
            .map(|row| row.name)
    }

    /// The oldest and the newest version of the family in which the option has an effect; `None` if there is none.
    pub(crate) fn span(family: Family, name: &str) -> Option<(&'static str, &'static str)> {
        let table = Table::of(family);
        let works = |row: &&KnownOption| is_option(row) && row.kind != Kind::NoEffect;
        let rows = table.rows_of(name).iter().filter(works);
        let mut columns: Vec<usize> = rows
            .flat_map(|row| row.columns.match_indices('x').map(|(column, _)| column))
            .collect();
        columns.sort_unstable();
        Some((
            table.versions[*columns.first()?],
            table.versions[*columns.last()?],
        ))
    }

    fn is_here(&self, row: &KnownOption) -> bool {
        row.columns.as_bytes().get(self.column) == Some(&b'x')
    }
}

fn is_option(row: &KnownOption) -> bool {
    row.kind != Kind::VariableOnly
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
        for (family, versions, options) in [(Family::MySql, 6, 1_000), (Family::MariaDb, 5, 850)] {
            let table = Table::of(family);
            assert_eq!(table.versions.len(), versions);
            assert!(table.rows.len() > options, "{}", table.rows.len());
            assert!(table.rows.is_sorted_by_key(|row| row.name), "{family:?}");
            for row in &table.rows {
                assert_eq!(row.columns.len(), versions, "{}", row.name);
                assert!(row.columns.contains('x'), "{}", row.name);
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
            for pair in table
                .rows
                .windows(2)
                .filter(|pair| pair[0].name == pair[1].name)
            {
                let columns = pair[0].columns.bytes().zip(pair[1].columns.bytes());
                assert!(
                    columns.into_iter().all(|both| both != (b'x', b'x')),
                    "{pair:?}"
                );
            }
        }
    }

    #[test]
    fn the_nearest_catalogue_is_of_the_same_series_where_there_is_one() {
        for (family, version, nearest, covered) in [
            (Family::MySql, [5, 7, 42], "5.7.22", true),
            (Family::MySql, [8, 0, 11], "8.0.12", true),
            (Family::MySql, [8, 0, 12], "8.0.12", true),
            (Family::MySql, [8, 0, 46], "8.0.33", true),
            (Family::MySql, [8, 4, 3], "8.0.33", false),
            (Family::MySql, [9, 7, 4], "9.7", true),
            (Family::MySql, [26, 7, 0], "9.7", false),
            (Family::MySql, [5, 1, 73], "5.5.9", false),
            (Family::MySql, [5, 6, 10], "5.6.24", true),
            (Family::MariaDb, [10, 11, 19], "10.11", true),
            (Family::MariaDb, [10, 6, 1], "10.5", false),
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
