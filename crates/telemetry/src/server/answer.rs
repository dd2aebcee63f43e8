//! Result sets of the server as text and numbers.

use std::collections::BTreeMap;

use protocol::{Connection, Error};

/// A result set whose columns are found by name, in any case.
pub(crate) struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    columns: &'a [String],
    values: &'a [Option<Vec<u8>>],
}

impl Answer {
    /// Runs a query; a statement without a result set returns no rows.
    pub(crate) async fn to(connection: &mut Connection, sql: &str) -> Result<Self, Error> {
        let set = connection.rows(sql).await?.into_iter().next();
        let set = set.unwrap_or_default();
        Ok(Self {
            columns: set.columns.iter().map(|name| name.to_lowercase()).collect(),
            rows: set.rows,
        })
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|values| Row {
            columns: &self.columns,
            values,
        })
    }

    /// The first two columns as name and value, as in SHOW VARIABLES.
    pub(crate) fn pairs(&self) -> BTreeMap<String, String> {
        let rows = self.rows().filter_map(|row| Some((row.at(0)?, row.at(1)?)));
        rows.collect()
    }
}

impl<'a> Row<'a> {
    /// The value in a column, counted from 0; `None` for NULL.
    pub(crate) fn at(self, place: usize) -> Option<String> {
        let value = self.values.get(place)?.as_deref()?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// The value of a column, whose name is given in lower case; empty for NULL and for a missing column.
    pub(crate) fn text(self, column: &str) -> String {
        let place = self.columns.iter().position(|name| name == column);
        place.and_then(|place| self.at(place)).unwrap_or_default()
    }

    /// The same as a number; 0 if it is not a number.
    pub(crate) fn number(self, column: &str) -> u64 {
        self.text(column).parse().unwrap_or(0)
    }

    /// The columns that hold numbers.
    pub(crate) fn numbers(self) -> impl Iterator<Item = (&'a str, f64)> {
        let numbers = self.columns.iter().enumerate().map(move |(place, name)| {
            let value = self.at(place)?.parse::<f64>().ok()?;
            value.is_finite().then_some((name.as_str(), value))
        });
        numbers.flatten()
    }
}
