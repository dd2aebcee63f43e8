//! What a load makes: how many pages, up to when, and when the keys are made.

use std::sync::Arc;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use settings::Values;

use super::{
    history::History,
    page_rows::PageRows,
    revision_rows::RevisionRows,
    schema::{KeyTime, PAGE, REVISION, WikiTable},
};
use crate::table_data::{Rows, TableData};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WikiPlan {
    /// Rows of `page`; `revision` has 0.957 times as many.
    pub pages: u64,
    /// The time up to which there are revisions.
    pub end: Timestamp,
    pub key_time: KeyTime,
}

impl WikiPlan {
    /// The plan that options describe, which are checked already.
    pub fn of(values: &Values) -> Self {
        Self {
            pages: values.count("pages").expect("it has a default"),
            end: end_of(values).expect("the options are checked"),
            key_time: match values.text("key_time") {
                Some("after") => KeyTime::After,
                _ => KeyTime::Before,
            },
        }
    }

    /// Both tables with their rows.
    pub fn tables(&self) -> Vec<TableData> {
        let history = History::new(self.pages, self.end);
        vec![
            self.table(REVISION, Arc::new(RevisionRows::new(history))),
            self.table(PAGE, Arc::new(PageRows::new(history))),
        ]
    }

    fn table(&self, table: WikiTable, rows: Arc<dyn Rows>) -> TableData {
        TableData {
            name: table.name.to_owned(),
            columns: table.column_list(),
            create: vec![table.create(self.key_time)],
            rows: Some(rows),
            finish: table.finish(self.key_time).into_iter().collect(),
            // Both have an AUTO_INCREMENT column, which the load fills.
            is_divisible: false,
        }
    }
}

/// The time up to which there are revisions; `None` where the value is no date.
pub(super) fn end_of(values: &Values) -> Option<Timestamp> {
    let date: Date = values.text("until")?.parse().ok()?;
    // Later than the first revision of them all, and with four digits for the year.
    let is_possible = (1980..=9999).contains(&date.year());
    let start = date.to_zoned(TimeZone::UTC).ok()?;
    is_possible.then(|| start.timestamp())
}
