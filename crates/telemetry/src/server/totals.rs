//! The server's tables with sums by statement, event, user or table.

use std::collections::BTreeMap;

use protocol::Error;
use samples::{ServerTotals, TotalsRow};

use super::{questioner::Questioner, status::to_nano};

/// Maximum number of rows per source in a record.
const ROWS_AT_MOST: usize = 20;

/// A table of the server and its query: a `name`, and numbers, the first of which determines the order.
pub(crate) struct Source {
    /// A description of its content.
    what: &'static str,
    table: &'static str,
    /// The variable that must be on for the table to be filled.
    needs: &'static str,
    columns: &'static str,
    filter: &'static str,
    /// A condition that is true for all rows that grew within the last {seconds}; empty if there is none.
    lately: &'static str,
    rank: &'static str,
}

/// The first sources, statements and waits: a live display also shows their growth in one interval.
pub(crate) const LIVE_SOURCES: std::ops::Range<usize> = 0..2;

/// All sources. Times of performance_schema are in picoseconds.
pub(crate) const SOURCES: &[Source] = &[
    Source {
        what: "statement digests",
        table: "performance_schema.events_statements_summary_by_digest",
        needs: "performance_schema",
        columns: "CONCAT(IFNULL(CONCAT(SCHEMA_NAME, ': '), ''), IFNULL(DIGEST_TEXT, '(all that found no room)')) AS name, \
                  SUM_TIMER_WAIT / 1e12 AS time_s, COUNT_STAR AS count, SUM_LOCK_TIME / 1e12 AS lock_s, \
                  SUM_ERRORS AS errors, SUM_ROWS_AFFECTED AS rows_affected, SUM_ROWS_SENT AS rows_sent, \
                  SUM_ROWS_EXAMINED AS rows_examined, SUM_CREATED_TMP_DISK_TABLES AS tmp_disk_tables, \
                  SUM_SORT_ROWS AS sort_rows, SUM_NO_INDEX_USED AS no_index_used",
        filter: "",
        lately: "LAST_SEEN >= NOW() - INTERVAL {seconds} SECOND",
        rank: "time_s",
    },
    Source {
        what: "waits",
        table: "performance_schema.events_waits_summary_global_by_event_name",
        needs: "performance_schema",
        columns: "EVENT_NAME AS name, SUM_TIMER_WAIT / 1e12 AS time_s, COUNT_STAR AS count",
        filter: "WHERE COUNT_STAR > 0 AND EVENT_NAME <> 'idle'",
        lately: "",
        rank: "time_s",
    },
    Source {
        what: "user statistics",
        table: "information_schema.USER_STATISTICS",
        needs: "userstat",
        columns: "USER AS name, BUSY_TIME AS busy_s, CPU_TIME AS cpu_s, BYTES_RECEIVED AS bytes_received, \
                  BYTES_SENT AS bytes_sent, ROWS_READ AS rows_read, ROWS_SENT AS rows_sent, \
                  ROWS_INSERTED AS rows_inserted, ROWS_UPDATED AS rows_updated, ROWS_DELETED AS rows_deleted",
        filter: "",
        lately: "",
        rank: "busy_s",
    },
    Source {
        what: "table statistics",
        table: "information_schema.TABLE_STATISTICS",
        needs: "userstat",
        columns: "CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) AS name, ROWS_READ AS rows_read, \
                  ROWS_CHANGED AS rows_changed, ROWS_CHANGED_X_INDEXES AS rows_changed_x_indexes",
        filter: "",
        lately: "",
        rank: "rows_read",
    },
    Source {
        what: "index statistics",
        table: "information_schema.INDEX_STATISTICS",
        needs: "userstat",
        columns: "CONCAT(TABLE_SCHEMA, '.', TABLE_NAME, '.', INDEX_NAME) AS name, ROWS_READ AS rows_read",
        filter: "",
        lately: "",
        rank: "rows_read",
    },
];

/// The content of one source at one time.
pub(crate) type Sums = BTreeMap<String, BTreeMap<String, f64>>;

impl Source {
    /// True if the server fills it; otherwise this is recorded, unless this kind of server has no such table.
    pub(crate) fn is_filled(
        &self,
        questioner: &mut Questioner,
        variables: &BTreeMap<String, String>,
    ) -> bool {
        match variables.get(self.needs).map(String::as_str) {
            Some("ON" | "1") => return true,
            Some(_) => questioner.miss(self.what, &format!("{} is off", self.needs)),
            None if self.needs == "userstat" => {}
            None => questioner.miss(self.what, &format!("this server has no {}", self.needs)),
        }
        false
    }

    pub(crate) fn what(&self) -> &'static str {
        self.what
    }

    /// Reads the table; `None` if the server refuses the query.
    pub(crate) async fn read(&self, questioner: &mut Questioner) -> Result<Option<Sums>, Error> {
        self.read_where(questioner, self.filter).await
    }

    /// Reads the rows that can have grown within the last seconds, or all rows if they cannot be selected.
    pub(crate) async fn read_lately(
        &self,
        questioner: &mut Questioner,
        seconds: u64,
    ) -> Result<Option<Sums>, Error> {
        match self.lately {
            "" => self.read(questioner).await,
            lately => {
                let lately = lately.replace("{seconds}", &seconds.to_string());
                self.read_where(questioner, &format!("WHERE {lately}"))
                    .await
            }
        }
    }

    async fn read_where(
        &self,
        questioner: &mut Questioner,
        filter: &str,
    ) -> Result<Option<Sums>, Error> {
        let Self {
            what,
            table,
            columns,
            ..
        } = self;
        let sql = format!("SELECT {columns} FROM {table} {filter}");
        let Some(answer) = questioner.ask(what, &sql).await? else {
            return Ok(None);
        };
        let mut sums = Sums::new();
        for row in answer.rows() {
            // Several digests can have the same text if it is cut off.
            let sum = sums.entry(row.text("name")).or_default();
            for (column, value) in row.numbers().filter(|(column, _)| *column != "name") {
                *sum.entry(column.to_owned()).or_default() += value;
            }
        }
        Ok(Some(sums))
    }

    /// The growth between two readings.
    pub(crate) fn grown(&self, before: &Sums, after: &Sums) -> ServerTotals {
        let mut rows: Vec<TotalsRow> = after
            .iter()
            .map(|(name, now)| TotalsRow {
                name: name.clone(),
                counters: growth(before.get(name), now),
            })
            .filter(|row| !row.counters.is_empty())
            .collect();
        let rank = |row: &TotalsRow| row.counters.get(self.rank).copied().unwrap_or(0.0);
        rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        let left_out = rows.len().saturating_sub(ROWS_AT_MOST) as u64;
        rows.truncate(ROWS_AT_MOST);
        ServerTotals {
            source: self.table.to_owned(),
            rows,
            left_out,
        }
    }
}

/// The growth of a row's columns; from 0 for a new row.
fn growth(
    before: Option<&BTreeMap<String, f64>>,
    now: &BTreeMap<String, f64>,
) -> BTreeMap<String, f64> {
    let grown = now.iter().map(|(column, now)| {
        let before = before.and_then(|before| before.get(column)).copied();
        (column.clone(), to_nano(now - before.unwrap_or(0.0)))
    });
    grown.filter(|(_, grown)| *grown > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(rows: &[(&str, f64, f64)]) -> Sums {
        let rows = rows.iter().map(|(name, time_s, count)| {
            let columns = [("time_s", *time_s), ("count", *count)];
            let columns = columns.map(|(column, value)| (column.to_owned(), value));
            ((*name).to_owned(), BTreeMap::from(columns))
        });
        rows.collect()
    }

    #[test]
    fn what_grew_is_ranked_by_its_cost() {
        let before = sums(&[("a", 5.0, 10.0), ("idle", 1.0, 1.0)]);
        let after = sums(&[("a", 6.0, 30.0), ("idle", 1.0, 1.0), ("new", 2.5, 4.0)]);
        let totals = SOURCES[0].grown(&before, &after);
        let names: Vec<&str> = totals.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["new", "a"]);
        assert_eq!(totals.rows[1].counters["count"], 20.0);
        assert_eq!(totals.left_out, 0);
    }

    #[test]
    fn the_cheapest_are_left_out_and_counted() {
        let names: Vec<String> = (0..25).map(|n| format!("statement {n}")).collect();
        let rows: Vec<(&str, f64, f64)> = names
            .iter()
            .enumerate()
            .map(|(n, name)| (name.as_str(), n as f64 + 1.0, 1.0))
            .collect();
        let totals = SOURCES[0].grown(&Sums::new(), &sums(&rows));
        assert_eq!((totals.rows.len(), totals.left_out), (20, 5));
        assert_eq!(totals.rows[0].name, "statement 24");
    }
}
