//! What a server knows about a table: the types of its columns and its indexes.

use std::collections::BTreeMap;

use blame::Blamed;
use plans::TableUse;
use protocol::ResultSet;
use runs::quoted;
use sqltext::SqlStatement;

use crate::{server_version::is_from, session::Session, system_schemas::is_system_schema};

/// Bytes of a key of InnoDB at most; old row formats and small pages take less, which the server says.
const KEY_BYTES_MAX: u64 = 3072;
/// Bytes of a column of numbers or times in an index, about.
const NUMBER_BYTES: u64 = 8;
pub(super) const PRIMARY: &str = "PRIMARY";

#[derive(Debug, Clone, Default)]
pub(super) struct TableFacts {
    /// Whether it is a view: MySQL's plan and rewritten text name one that is materialised like a table.
    pub(super) is_view: bool,
    /// Whether it is in a schema of the server itself, where an account must not change anything.
    pub(super) is_of_server: bool,
    /// Type of each column in small letters: `varchar`.
    pub(super) types: BTreeMap<String, String>,
    /// Collation of each column of text.
    pub(super) collations: BTreeMap<String, String>,
    /// Bytes that a column can take in an index, of those of text and bytes.
    pub(super) bytes: BTreeMap<String, u64>,
    /// Rows by the server's statistics; `None` where it has none, as of a view.
    pub(super) rows: Option<u64>,
    /// Each index that is sorted by its columns.
    pub(super) indexes: BTreeMap<String, IndexFacts>,
    /// Those that the optimizer must not use.
    pub(super) hidden: BTreeMap<String, IndexFacts>,
    pub(super) hiding: HiddenIndexSyntax,
    /// Whether rows are kept in the primary key, whose columns each other index ends in.
    pub(super) is_clustered: bool,
    /// Reads of each index since the server's start; `None` where the server does not count them.
    pub(super) reads: Option<BTreeMap<String, u64>>,
    /// First columns of foreign keys, which need an index.
    pub(super) foreign: Vec<String>,
}

/// How a server keeps an index from its optimizer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum HiddenIndexSyntax {
    /// MySQL.
    #[default]
    Invisible,
    /// MariaDB.
    Ignored,
}

impl HiddenIndexSyntax {
    /// Of a hidden index: `invisible`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Invisible => "invisible",
            Self::Ignored => "ignored",
        }
    }

    /// Of an index that is not hidden: `visible`.
    pub(super) fn opposite(self) -> &'static str {
        match self {
            Self::Invisible => "visible",
            Self::Ignored => "not ignored",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct IndexFacts {
    /// Its columns in its order; an expression has an empty name.
    pub(super) columns: Vec<String>,
    /// Its expressions as the server writes them: `` lower(`code`) ``.
    pub(super) expressions: Vec<String>,
    pub(super) is_unique: bool,
    /// Whether it has only whole columns in ascending order.
    pub(super) is_plain: bool,
}

impl TableFacts {
    /// Reads them; a table that is none has no columns.
    pub(super) async fn read(
        session: &mut Session,
        statement: &SqlStatement,
        schema: &str,
        table: &str,
    ) -> Result<Self, Blamed> {
        let filter = format!(
            "table_schema = {} AND table_name = {}",
            quoted(schema),
            quoted(table)
        );
        let mut facts = Self {
            is_of_server: is_system_schema(schema),
            ..Self::default()
        };
        let columns = format!(
            "SELECT column_name, data_type, COALESCE(collation_name, ''), COALESCE(character_octet_length, '') \
             FROM information_schema.columns WHERE {filter}"
        );
        for [column, kind, collation, bytes] in rows(session, statement, &columns).await? {
            facts.types.insert(column.clone(), kind.to_lowercase());
            if !collation.is_empty() {
                facts.collations.insert(column.clone(), collation);
            }
            facts
                .bytes
                .extend(bytes.parse().ok().map(|bytes| (column, bytes)));
        }
        let version = session.version();
        let (hiding, is_seen) = if !is_from(version, 80_000, 100_600) {
            (HiddenIndexSyntax::Invisible, "1")
        } else if is_from(version, 80_000, u32::MAX) {
            (HiddenIndexSyntax::Invisible, "is_visible = 'YES'")
        } else {
            (HiddenIndexSyntax::Ignored, "ignored = 'NO'")
        };
        facts.hiding = hiding;
        let expression = if is_from(version, 80_013, u32::MAX) {
            "COALESCE(expression, '')"
        } else {
            "''"
        };
        let indexes = format!(
            "SELECT index_name, COALESCE(column_name, ''), {expression}, non_unique, \
             sub_part IS NULL AND column_name IS NOT NULL AND COALESCE(collation, 'A') = 'A', {is_seen} \
             FROM information_schema.statistics WHERE {filter} \
             AND index_type NOT IN ('FULLTEXT', 'SPATIAL', 'RTREE', 'VECTOR') ORDER BY index_name, seq_in_index"
        );
        for [name, column, expression, not_unique, is_plain, is_seen] in
            rows(session, statement, &indexes).await?
        {
            let of_kind = if is_seen == "1" {
                &mut facts.indexes
            } else {
                &mut facts.hidden
            };
            let index = of_kind.entry(name).or_insert(IndexFacts {
                is_unique: not_unique == "0",
                is_plain: true,
                ..IndexFacts::default()
            });
            index.columns.push(column);
            index
                .expressions
                .extend(Some(expression).filter(|it| !it.is_empty()));
            index.is_plain &= is_plain == "1";
        }
        // VIEW, or SYSTEM VIEW of information_schema.
        let kind = format!(
            "SELECT COALESCE(engine, ''), table_type LIKE '%VIEW', COALESCE(table_rows, '') \
             FROM information_schema.tables WHERE {filter}"
        );
        for [engine, is_view, estimate] in rows(session, statement, &kind).await? {
            facts.rows = estimate.parse().ok();
            facts.is_clustered = engine.eq_ignore_ascii_case("InnoDB");
            facts.is_view = is_view == "1";
        }
        let foreign = format!(
            "SELECT column_name FROM information_schema.key_column_usage WHERE {filter} \
             AND referenced_table_name IS NOT NULL AND ordinal_position = 1"
        );
        let foreign = rows(session, statement, &foreign).await?;
        facts.foreign = foreign.into_iter().map(|[column]| column).collect();
        facts.reads = reads(session, statement, schema, table).await?;
        Ok(facts)
    }

    /// The columns of the primary key that each other index ends in; none where rows are not kept in it.
    pub(super) fn clustering_key(&self) -> &[String] {
        let primary = self.indexes.get(PRIMARY).filter(|_| self.is_clustered);
        primary.map_or(&[][..], |index| index.columns.as_slice())
    }

    /// Whether InnoDB adds a column to each index, as one of the primary key.
    pub(super) fn is_in_key(&self, column: &str) -> bool {
        contains(self.clustering_key(), column)
    }

    /// The columns of an index with those of the primary key that InnoDB adds to it.
    pub(super) fn with_key(&self, columns: &[String]) -> Vec<String> {
        let added = self
            .clustering_key()
            .iter()
            .filter(|it| !contains(columns, it));
        columns.iter().chain(added).cloned().collect()
    }

    /// Columns for an index without those at the end that InnoDB adds by itself: `(country, id)` becomes `(country)`.
    pub(super) fn without_key(&self, columns: &[String]) -> Vec<String> {
        let whole = self.with_key(columns);
        let mut lengths = 1..columns.len();
        let shortest = lengths.find(|length| same(&self.with_key(&columns[..*length]), &whole));
        columns[..shortest.unwrap_or(columns.len())].to_vec()
    }

    /// The index that begins with these columns, in any order among the first `equal` of them.
    pub(super) fn index_with(&self, columns: &[String], equal: usize) -> Option<&str> {
        let mut all = self.indexes.iter();
        all.find(|(_, index)| begins_with(&self.with_key(&index.columns), columns, equal))
            .map(|(name, _)| name.as_str())
    }

    /// The hidden index on exactly these columns, the first `equal` of them in any order.
    pub(super) fn hidden_with(&self, columns: &[String], equal: usize) -> Option<&str> {
        let equal = equal.min(columns.len());
        let mut all = self.hidden.iter();
        let found = all.find(|(_, index)| {
            let own = self.without_key(&index.columns);
            let is_as_long = own.len() == columns.len();
            index.is_plain && is_as_long && begins_with(&own, columns, equal)
        });
        found.map(|(name, _)| name.as_str())
    }

    /// Whether an index begins with these columns and has all others, too, so that no row is read besides. The primary
    /// key of InnoDB has all columns.
    pub(super) fn is_covered(&self, first: &[String], equal: usize, all: &[String]) -> bool {
        self.indexes.iter().any(|(name, index)| {
            let columns = self.with_key(&index.columns);
            let has_all =
                name == PRIMARY && self.is_clustered || all.iter().all(|it| contains(&columns, it));
            has_all && begins_with(&columns, first, equal)
        })
    }

    pub(super) fn is_first_of_index(&self, column: &str) -> bool {
        let mut indexes = self.indexes.values();
        indexes.any(|index| index.columns.first().is_some_and(|first| first == column))
    }

    /// Whether it has statistics and can have indexes, as neither a view nor a derived table nor a table of the server does.
    pub(super) fn is_base_table(&self) -> bool {
        !self.types.is_empty() && !self.is_view && !self.is_of_server
    }

    /// Whether an index can hold a column as a whole.
    pub(super) fn is_indexable(&self, column: &str) -> bool {
        let kind = self.types.get(column).map_or("", String::as_str);
        let is_long =
            kind.ends_with("text") || kind.ends_with("blob") || matches!(kind, "json" | "geometry");
        self.is_base_table() && !kind.is_empty() && !is_long
    }

    /// Whether these columns fit into one index.
    pub(super) fn fit(&self, columns: &[String]) -> bool {
        let bytes = columns
            .iter()
            .map(|column| self.bytes.get(column).unwrap_or(&NUMBER_BYTES));
        bytes.sum::<u64>() <= KEY_BYTES_MAX
    }

    /// How the server compares values of a column, the name in any case: values of two columns with one kind are equal or
    /// not in every comparison. `None` if there is no such column.
    pub(super) fn kind(&self, column: &str) -> Option<[&str; 2]> {
        let mut types = self.types.iter();
        let (name, kind) = types.find(|(name, _)| name.eq_ignore_ascii_case(column))?;
        let collation = self.collations.get(name).map_or("", String::as_str);
        let kind = match kind.as_str() {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => "int",
            "char" | "varchar" => "varchar",
            other => other,
        };
        Some([kind, collation])
    }

    /// Whether a column holds a date, with a time or without.
    pub(super) fn has_date(&self, column: &str) -> bool {
        let kind = self.types.get(column).map_or("", String::as_str);
        matches!(kind, "date" | "datetime" | "timestamp")
    }

    /// Whether a column holds a number, or a date or time, as which the server compares it with a text.
    pub(super) fn is_number_or_date(&self, column: &str) -> bool {
        let kind = self.types.get(column).map_or("", String::as_str);
        let is_number = matches!(
            kind,
            "tinyint"
                | "smallint"
                | "mediumint"
                | "int"
                | "bigint"
                | "decimal"
                | "float"
                | "double"
                | "bit"
                | "year"
                | "time"
        );
        is_number || self.has_date(column)
    }

    pub(super) fn is_text(&self, column: &str) -> bool {
        let kind = self.types.get(column).map_or("", String::as_str);
        matches!(kind, "char" | "varchar") || kind.ends_with("text")
    }

    /// Whether a column of text is compared with a number, so that the server converts it and uses no index of it.
    pub(super) fn is_converted_by_number(&self, table: &TableUse, column: &str) -> bool {
        self.is_text(column) && table.with_number.iter().any(|it| it == column)
    }
}

/// Reads of each index since the server's start, by performance_schema; `None` if it is off, missing or hidden, or counts
/// nothing: the statement of the table was executed before.
async fn reads(
    session: &mut Session,
    statement: &SqlStatement,
    schema: &str,
    table: &str,
) -> Result<Option<BTreeMap<String, u64>>, Blamed> {
    let sql = format!(
        "SELECT COALESCE(index_name, ''), count_star \
         FROM performance_schema.table_io_waits_summary_by_index_usage \
         WHERE object_schema = {} AND object_name = {}",
        quoted(schema),
        quoted(table)
    );
    let endpoint = session.endpoint().clone();
    let sets = match session.rows(&sql).await {
        Err(failure) if failure.is_of_statement() => return Ok(None),
        sets => sets.map_err(|failure| failure.blamed(&endpoint, statement))?,
    };
    Ok(counted(texts(sets)))
}

/// The counts of the rows of an answer: the index, or an empty name for reads without one, and its reads.
fn counted(rows: Vec<[String; 2]>) -> Option<BTreeMap<String, u64>> {
    let counts = rows.into_iter();
    let counts = counts.filter_map(|[index, count]| Some((index, count.parse().ok()?)));
    let counts: BTreeMap<String, u64> = counts.collect();
    Some(counts).filter(|counts| counts.values().any(|count| *count > 0))
}

fn contains(columns: &[String], column: &str) -> bool {
    columns.iter().any(|it| it.eq_ignore_ascii_case(column))
}

fn same(some: &[String], others: &[String]) -> bool {
    let mut pairs = some.iter().zip(others);
    some.len() == others.len() && pairs.all(|(a, b)| a.eq_ignore_ascii_case(b))
}

/// Whether an index begins with columns, in any order among the first `equal` of them.
fn begins_with(index: &[String], columns: &[String], equal: usize) -> bool {
    let Some(start) = index.get(..columns.len()) else {
        return false;
    };
    let is_wanted = |column: &String| contains(&columns[..equal], column);
    start[..equal].iter().all(is_wanted) && same(&start[equal..], &columns[equal..])
}

/// The rows of a question whose columns are never NULL.
async fn rows<const COLUMNS: usize>(
    session: &mut Session,
    statement: &SqlStatement,
    sql: &str,
) -> Result<Vec<[String; COLUMNS]>, Blamed> {
    let endpoint = session.endpoint().clone();
    let sets = session.rows(sql).await;
    let sets = sets.map_err(|failure| failure.blamed(&endpoint, statement))?;
    Ok(texts(sets))
}

fn texts<const COLUMNS: usize>(sets: Vec<ResultSet>) -> Vec<[String; COLUMNS]> {
    let rows = sets.into_iter().flat_map(|set| set.rows);
    let rows = rows.filter_map(|row| {
        let texts: Option<Vec<String>> = row
            .into_iter()
            .map(|it| Some(String::from_utf8_lossy(it.as_deref()?).into_owned()))
            .collect();
        texts?.try_into().ok()
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn facts(is_clustered: bool) -> TableFacts {
        let indexes = [
            (PRIMARY, columns(&["id"])),
            ("country", columns(&["country"])),
            ("kind", columns(&["kind", "day"])),
        ];
        let indexes = indexes.map(|(name, columns)| {
            let index = IndexFacts {
                columns,
                ..IndexFacts::default()
            };
            (name.to_owned(), index)
        });
        TableFacts {
            indexes: indexes.into(),
            is_clustered,
            ..TableFacts::default()
        }
    }

    #[test]
    fn an_index_of_innodb_ends_in_the_primary_key() {
        for (wanted, equal, index) in [
            (&["country", "id"][..], 1, Some("country")),
            (&["COUNTRY", "ID"], 2, Some("country")),
            (&["id"], 1, Some(PRIMARY)),
            (&["id", "country"], 1, None),
            (&["day", "kind", "id"], 2, Some("kind")),
            (&["day", "kind"], 0, None),
        ] {
            let wanted = columns(wanted);
            assert_eq!(facts(true).index_with(&wanted, equal), index, "{wanted:?}");
        }
        let wanted = columns(&["country", "id"]);
        assert_eq!(facts(false).index_with(&wanted, 1), None);
    }

    #[test]
    fn reads_are_known_only_where_some_are_counted() {
        let rows = |rows: &[(&str, &str)]| {
            let rows = rows.iter();
            let rows = rows.map(|(index, count)| [(*index).to_owned(), (*count).to_owned()]);
            counted(rows.collect())
        };
        // The instrument is off.
        assert_eq!(rows(&[("PRIMARY", "0"), ("a", "0"), ("", "0")]), None);
        assert_eq!(rows(&[]), None);
        let counts = rows(&[("PRIMARY", "0"), ("a", "0"), ("", "9")]).unwrap();
        assert_eq!(counts["a"], 0);
    }

    #[test]
    fn a_hidden_index_is_the_wanted_one_only_with_the_same_columns() {
        let index = |names: &[&str], is_plain| IndexFacts {
            columns: columns(names),
            is_plain,
            ..IndexFacts::default()
        };
        let hidden = [
            ("old", index(&["day", "country", "id"], true)),
            ("prefix", index(&["note"], false)),
        ];
        let facts = TableFacts {
            hidden: hidden.map(|(name, it)| (name.to_owned(), it)).into(),
            ..facts(true)
        };
        for (wanted, equal, expected) in [
            (&["day", "country"][..], 2, Some("old")),
            (&["country", "day"], 2, Some("old")),
            (&["country", "day"], 1, None),
            (&["day"], 1, None),
            (&["day", "country", "kind"], 3, None),
            (&["note"], 1, None),
            // Columns of the primary key at the end were left out.
            (&["day", "country"], 3, Some("old")),
        ] {
            let found = facts.hidden_with(&columns(wanted), equal);
            assert_eq!(found, expected, "{wanted:?}");
        }
    }

    #[test]
    fn columns_that_innodb_adds_by_itself_are_left_out() {
        let facts = facts(true);
        for (wanted, expected) in [
            (&["country", "id"][..], &["country"][..]),
            (&["id", "country"], &["id", "country"]),
            (&["country", "day"], &["country", "day"]),
            (&["id"], &["id"]),
        ] {
            assert_eq!(facts.without_key(&columns(wanted)), columns(expected));
        }
    }

    #[test]
    fn an_index_covers_with_the_primary_key_and_the_primary_key_covers_all() {
        let facts = facts(true);
        let is_covered = |first: &[&str], all: &[&str]| {
            facts.is_covered(&columns(first), first.len(), &columns(all))
        };
        assert!(is_covered(&["country"], &["country", "id"]));
        assert!(is_covered(&["kind"], &["day", "kind", "id"]));
        assert!(is_covered(&["id"], &["id", "note"]));
        assert!(!is_covered(&["country"], &["country", "day"]));
    }
}
