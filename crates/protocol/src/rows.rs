//! Results kept as text: for control statements, never on the hot path.

use crate::{
    command::COM_QUERY,
    connection::Connection,
    error::Error,
    fetched::{Fetched, TextFetched, name_of_column},
    lenenc::Fields,
    row_sink::{COLUMN, KEPT_BYTES_MAX, ROW, RowSink, too_much},
    skim::Outcome,
};

/// Memory of a value in addition to its bytes.
const VALUE_OVERHEAD: usize = size_of::<Option<Vec<u8>>>();

/// A set of rows as text; `None` is NULL.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one value per column.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

/// Collects columns and rows as text.
pub(crate) struct TextRows {
    sets: Vec<ResultSet>,
    bytes_left: usize,
}

impl TextRows {
    pub(crate) fn new() -> Self {
        Self {
            sets: Vec::new(),
            bytes_left: KEPT_BYTES_MAX,
        }
    }

    pub(crate) fn into_sets(self) -> Vec<ResultSet> {
        self.sets
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(too_much())?;
        Ok(())
    }
}

impl RowSink for TextRows {
    fn bytes_left(&self) -> usize {
        self.bytes_left
    }

    /// The columns of an unprepared statement are always defined.
    fn begin_set(&mut self, _: bool) {
        self.sets.push(ResultSet::default());
    }

    fn column(&mut self, payload: &[u8]) -> Result<(), Error> {
        self.charge(payload.len() + VALUE_OVERHEAD)?;
        let name = name_of_column(payload).ok_or(COLUMN)?;
        let set = self.sets.last_mut().ok_or(COLUMN)?;
        set.columns.push(String::from_utf8_lossy(name).into_owned());
        Ok(())
    }

    /// A row in text format: `01 "7" fb` is the value 7 and a NULL.
    fn row(&mut self, payload: &[u8]) -> Result<(), Error> {
        let columns = self.sets.last().map_or(0, |set| set.columns.len());
        self.charge(payload.len() + (columns + 1) * VALUE_OVERHEAD)?;
        let set = self.sets.last_mut().ok_or(ROW)?;
        let mut fields = Fields(payload);
        let mut row = Vec::with_capacity(columns);
        for _ in 0..columns {
            row.push(fields.text_value().ok_or(ROW)?.map(<[u8]>::to_vec));
        }
        if !fields.0.is_empty() {
            return Err(ROW);
        }
        set.rows.push(row);
        Ok(())
    }
}

impl Connection {
    /// Executes a statement and keeps its sets of rows, up to 64 MiB.
    ///
    /// If the answer is larger, the connection is closed. A statement without rows returns no set.
    pub async fn rows(&mut self, sql: &str) -> Result<Vec<ResultSet>, Error> {
        let mut kept = TextRows::new();
        self.run(COM_QUERY, sql.as_bytes(), None, Some(&mut kept))
            .await?;
        Ok(kept.into_sets())
    }

    /// Executes a statement and keeps its rows as text in `fetched`, whose memory is reused; of several sets of rows the
    /// last one is kept.
    ///
    /// If the answer exceeds 64 MiB, the connection is closed.
    pub async fn fetch_text(
        &mut self,
        sql: &[u8],
        fetched: &mut Fetched,
    ) -> Result<Outcome, Error> {
        fetched.clear();
        self.run(COM_QUERY, sql, None, Some(&mut TextFetched(fetched)))
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than two bytes can count.
    #[test]
    fn rows_are_limited_by_their_bytes_and_not_by_their_number() {
        let mut kept = TextRows::new();
        kept.begin_set(true);
        kept.sets[0].columns.push("a".to_owned());
        for _ in 0..70_000 {
            kept.row(&[1, b'7']).unwrap();
        }
        assert_eq!(kept.into_sets()[0].rows.len(), 70_000);
    }
}
