//! What a server knows about a table: the types of its columns and its indexes.

use std::collections::BTreeMap;

use runs::{Blamed, quoted};
use workload::sql_script::SqlStatement;

use crate::commands::sql::session::Session;

/// Bytes of a key of InnoDB at most; old row formats and small pages take less, which the server says.
const KEY_BYTES_MAX: u64 = 3072;
/// Bytes of a column of numbers or times in an index, about.
const NUMBER_BYTES: u64 = 8;

/// A table.
#[derive(Debug, Clone, Default)]
pub(super) struct TableFacts {
    /// Type of each column in small letters: `varchar`.
    pub(super) types: BTreeMap<String, String>,
    /// Collation of each column of text.
    pub(super) collations: BTreeMap<String, String>,
    /// Bytes that a column can take in an index, of those of text and bytes.
    pub(super) bytes: BTreeMap<String, u64>,
    /// Columns of each index that is sorted by them, in its order; an expression has an empty name.
    pub(super) indexes: BTreeMap<String, Vec<String>>,
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
        let mut facts = Self::default();
        let columns =
            format!("SELECT column_name, data_type FROM information_schema.columns WHERE {filter}");
        for [column, kind] in pairs(session, statement, &columns).await? {
            facts.types.insert(column, kind.to_lowercase());
        }
        let collations = format!(
            "SELECT column_name, collation_name FROM information_schema.columns WHERE {filter}"
        );
        for [column, collation] in pairs(session, statement, &collations).await? {
            facts.collations.insert(column, collation);
        }
        let lengths = format!(
            "SELECT column_name, character_octet_length FROM information_schema.columns WHERE {filter}"
        );
        for [column, bytes] in pairs(session, statement, &lengths).await? {
            facts
                .bytes
                .extend(bytes.parse().ok().map(|bytes| (column, bytes)));
        }
        let indexes = format!(
            "SELECT index_name, COALESCE(column_name, '') FROM information_schema.statistics WHERE {filter} \
             AND index_type NOT IN ('FULLTEXT', 'SPATIAL', 'RTREE') ORDER BY index_name, seq_in_index"
        );
        for [index, column] in pairs(session, statement, &indexes).await? {
            facts.indexes.entry(index).or_default().push(column);
        }
        Ok(facts)
    }

    /// The index that begins with these columns, in any order among the first `equal` of them.
    pub(super) fn index_with(&self, columns: &[String], equal: usize) -> Option<&str> {
        let starts = |index: &Vec<String>| {
            let Some(start) = index.get(..columns.len()) else {
                return false;
            };
            let same = |a: &String, b: &String| a.eq_ignore_ascii_case(b);
            let (own, wanted) = (&start[..equal], &columns[..equal]);
            own.iter()
                .all(|column| wanted.iter().any(|it| same(it, column)))
                && start[equal..]
                    .iter()
                    .zip(&columns[equal..])
                    .all(|(a, b)| same(a, b))
        };
        let mut all = self.indexes.iter();
        all.find(|(_, index)| starts(index))
            .map(|(name, _)| name.as_str())
    }

    /// Whether an index begins with a column.
    pub(super) fn is_first_of_index(&self, column: &str) -> bool {
        let mut indexes = self.indexes.values();
        indexes.any(|index| index.first().is_some_and(|first| first == column))
    }

    /// Whether an index can hold a column as a whole.
    pub(super) fn is_indexable(&self, column: &str) -> bool {
        let kind = self.types.get(column).map_or("", String::as_str);
        let is_long =
            kind.ends_with("text") || kind.ends_with("blob") || matches!(kind, "json" | "geometry");
        !kind.is_empty() && !is_long
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

    /// Whether a column holds text.
    pub(super) fn is_text(&self, column: &str) -> bool {
        let kind = self.types.get(column).map_or("", String::as_str);
        matches!(kind, "char" | "varchar") || kind.ends_with("text")
    }
}

async fn pairs(
    session: &mut Session,
    statement: &SqlStatement,
    sql: &str,
) -> Result<Vec<[String; 2]>, Blamed> {
    let endpoint = session.endpoint().clone();
    let sets = session.rows(sql).await;
    let sets = sets.map_err(|failure| failure.blamed(&endpoint, statement))?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    let pairs = rows.filter_map(|row| {
        let text = |at: usize| Some(String::from_utf8_lossy(row.get(at)?.as_deref()?).into_owned());
        Some([text(0)?, text(1)?])
    });
    Ok(pairs.collect())
}
