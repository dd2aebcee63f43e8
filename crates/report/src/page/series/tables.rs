//! The server's totals over one run: statements, waits, users, tables, the slow query log.

use samples::{Edge, Record, ServerTotals, SlowLog, TotalsRow};
use serde::Serialize;
use units::{bytes, count, counted, duration, percent_number};

use crate::chart::frame::shortened;

const ROWS_AT_MOST: usize = 12;
/// Maximum length of a statement, characters; the record has the full text.
const STATEMENT_AT_MOST: usize = 300;
/// Minimum share of the executions in the digests; with less they do not represent the server's work.
const DIGESTED_AT_LEAST: f64 = 0.9;

/// A column of totals: its heading, its name in the record, and how a value is shown.
type TotalsColumn = (&'static str, &'static str, fn(f64) -> String);

/// The layout of one source's totals; sources without a layout are not shown.
struct Layout {
    /// The suffix of the source's name.
    source: &'static str,
    title: &'static str,
    /// Heading of the names.
    name: &'static str,
    columns: &'static [TotalsColumn],
    /// Heading of the share of the first column in its sum; `None` if it is meaningless.
    share: Option<&'static str>,
    /// True if the rows are classes of statements.
    is_of_statements: bool,
}

const TIME: fn(f64) -> String = |seconds| duration(seconds * 1e9);

const LAYOUTS: [Layout; 5] = [
    Layout {
        source: "events_statements_summary_by_digest",
        title: "Statements by time in the server",
        name: "statement",
        columns: &[
            ("time", "time_s", TIME),
            ("executions", "count", count),
            ("waiting for table locks", "lock_s", TIME),
            ("rows examined", "rows_examined", count),
            ("rows sent", "rows_sent", count),
            ("errors", "errors", count),
            ("temporary tables on disk", "tmp_disk_tables", count),
            ("without an index", "no_index_used", count),
        ],
        share: Some("% of the time"),
        is_of_statements: true,
    },
    Layout {
        source: "events_waits_summary_global_by_event_name",
        title: "Waits in the server",
        name: "event",
        columns: &[("time", "time_s", TIME), ("times", "count", count)],
        share: Some("% of the time"),
        is_of_statements: false,
    },
    Layout {
        source: "USER_STATISTICS",
        title: "Users",
        name: "user",
        columns: &[
            ("busy", "busy_s", TIME),
            ("CPU", "cpu_s", TIME),
            ("rows read", "rows_read", count),
            ("rows sent", "rows_sent", count),
            ("rows inserted", "rows_inserted", count),
            ("rows updated", "rows_updated", count),
            ("rows deleted", "rows_deleted", count),
        ],
        share: None,
        is_of_statements: false,
    },
    Layout {
        source: "TABLE_STATISTICS",
        title: "Rows read and changed by table",
        name: "table",
        columns: &[
            ("rows read", "rows_read", count),
            ("rows changed", "rows_changed", count),
            ("changes times indexes", "rows_changed_x_indexes", count),
        ],
        share: Some("% of the rows read"),
        is_of_statements: false,
    },
    Layout {
        source: "INDEX_STATISTICS",
        title: "Rows read by index",
        name: "index",
        columns: &[("rows read", "rows_read", count)],
        share: Some("% of the rows read"),
        is_of_statements: false,
    },
];

/// A table for the script, with its texts in their final form.
#[derive(Serialize)]
pub(super) struct TableData {
    title: &'static str,
    /// A note; may be empty.
    note: String,
    head: Vec<&'static str>,
    /// The first cell of a row is its name.
    rows: Vec<Vec<String>>,
}

/// The tables of a run, without those that the server did not provide.
pub(super) fn of(record: &Record) -> Vec<TableData> {
    let mut tables: Vec<TableData> = LAYOUTS
        .iter()
        .filter_map(|layout| {
            let totals = record.server_totals.iter();
            let mut totals = totals.filter(|totals| totals.source.ends_with(layout.source));
            layout.table(totals.next()?, record)
        })
        .collect();
    tables.extend(record.slow_log.as_ref().and_then(slow_log));
    tables.extend(table_sizes(record));
    tables
}

impl Layout {
    fn table(&self, totals: &ServerTotals, record: &Record) -> Option<TableData> {
        let has = |column: &TotalsColumn| {
            let mut rows = totals.rows.iter();
            rows.any(|row| row.counters.contains_key(column.1))
        };
        let columns: Vec<&TotalsColumn> = self.columns.iter().filter(|it| has(it)).collect();
        let ranked = columns.first()?.1;
        let value = |row: &TotalsRow, name: &str| row.counters.get(name).copied().unwrap_or(0.0);
        let sum: f64 = totals.rows.iter().map(|row| value(row, ranked)).sum();
        let mut head = vec![self.name];
        head.extend(columns.iter().map(|column| column.0));
        head.extend(self.share);
        let rows = totals.rows.iter().take(ROWS_AT_MOST).map(|row| {
            let mut cells = vec![shortened(row.name.trim(), STATEMENT_AT_MOST)];
            cells.extend(
                columns
                    .iter()
                    .map(|(_, name, shown)| shown(value(row, name))),
            );
            if self.share.is_some() {
                cells.push(percent_number(value(row, ranked) / sum));
            }
            cells
        });
        let mut note = left_out(totals.rows.len(), totals.left_out);
        if ranked == "time_s" && self.is_of_statements {
            note.push_str("dbdyno's own statements are included. ");
            note.push_str(&undigested(totals, record).unwrap_or_default());
        }
        Some(TableData {
            title: self.title,
            note,
            head,
            rows: rows.collect(),
        })
    }
}

/// A note if the server counts only part of the executions; MariaDB, for example, leaves out prepared statements.
fn undigested(totals: &ServerTotals, record: &Record) -> Option<String> {
    let executions = |row: &TotalsRow| row.counters.get("count").copied().unwrap_or(0.0);
    let digested: f64 = totals.rows.iter().map(executions).sum();
    let statuses = record.server_status.iter();
    let executed: f64 = statuses
        .filter_map(|status| status.counters.get("Questions"))
        .sum();
    (totals.left_out == 0 && digested < executed * DIGESTED_AT_LEAST).then(|| {
        format!(
            "The table covers {} of {} statements: this server does not count all of them, for example prepared statements. ",
            count(digested),
            count(executed)
        )
    })
}

fn left_out(kept: usize, left_out: u64) -> String {
    match kept.saturating_sub(ROWS_AT_MOST) + left_out as usize {
        0 => String::new(),
        rows => format!("{} not shown. ", counted(rows, "smaller row")),
    }
}

fn slow_log(log: &SlowLog) -> Option<TableData> {
    let rows = log.classes.iter().take(ROWS_AT_MOST).map(|class| {
        vec![
            shortened(&class.fingerprint, STATEMENT_AT_MOST),
            TIME(class.total_s),
            count(class.count as f64),
            TIME(class.p50_s),
            TIME(class.p95_s),
            TIME(class.max_s),
            TIME(class.lock_s),
            count(class.rows_examined as f64),
            count(class.rows_sent as f64),
        ]
    });
    (!log.classes.is_empty()).then(|| TableData {
        title: "Slow query log",
        note: left_out(log.classes.len(), log.left_out),
        head: vec![
            "statement",
            "time",
            "executions",
            "p50",
            "p95",
            "longest",
            "waiting for table locks",
            "rows examined",
            "rows sent",
        ],
        rows: rows.collect(),
    })
}

/// The largest tables at the end of the run, or at its start if it did not reach its end.
fn table_sizes(record: &Record) -> Option<TableData> {
    let sizes = record.table_sizes.last()?;
    let rows = sizes.tables.iter().take(ROWS_AT_MOST).map(|table| {
        vec![
            format!("{}.{}", table.schema, table.table),
            table.engine.clone(),
            count(table.rows as f64),
            bytes(table.row_bytes),
            bytes(table.data_bytes),
            bytes(table.index_bytes),
            bytes(table.free_bytes),
        ]
    });
    (!sizes.tables.is_empty()).then(|| TableData {
        title: match sizes.at {
            Edge::End => "Tables at the end of the run (estimated by the server)",
            Edge::Start => "Tables at the start of the run (estimated by the server)",
        },
        note: left_out(sizes.tables.len(), sizes.left_out),
        head: vec![
            "table", "engine", "rows ≈", "row ≈", "data", "indexes", "free",
        ],
        rows: rows.collect(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{super::tests::record, *};

    const DIGESTS: &str = r#"{"line":"server_totals","source":"performance_schema.events_statements_summary_by_digest","rows":[{"name":"t: SELECT ? ","counters":{"count":30.0,"time_s":0.003,"rows_sent":30.0}},{"name":"COMMIT","counters":{"count":10.0,"time_s":0.001}}],"left_out":0}"#;

    #[test]
    fn columns_that_nothing_is_in_are_left_out() {
        let tables = of(&record(&[DIGESTS]));
        assert_eq!(tables.len(), 1);
        assert_eq!(
            tables[0].head,
            [
                "statement",
                "time",
                "executions",
                "rows sent",
                "% of the time"
            ]
        );
        assert_eq!(
            tables[0].rows,
            [
                ["t: SELECT ?", "3.00 ms", "30", "30", "75"],
                ["COMMIT", "1.00 ms", "10", "0", "25"]
            ]
        );
        assert_eq!(tables[0].note, "dbdyno's own statements are included. ");
    }

    #[test]
    fn statements_that_the_server_does_not_add_up_are_told() {
        let status = r#"{"line":"server_status","t_s":0.0,"length_s":1.0,"asked_s":0.0,"counters":{"Questions":4000.0},"values":{}}"#;
        let tables = of(&record(&[status, DIGESTS]));
        assert!(
            tables[0]
                .note
                .contains("The table covers 40 of 4.00k statements"),
            "{}",
            tables[0].note
        );
    }

    #[test]
    fn small_rows_are_counted() {
        let mut record = record(&[DIGESTS]);
        let row = TotalsRow {
            name: "x".to_owned(),
            counters: BTreeMap::from([("time_s".to_owned(), 1.0)]),
        };
        record.server_totals[0].rows = vec![row; ROWS_AT_MOST + 2];
        record.server_totals[0].left_out = 3;
        let tables = of(&record);
        assert_eq!(tables[0].rows.len(), ROWS_AT_MOST);
        assert!(
            tables[0].note.starts_with("5 smaller rows not shown. "),
            "{}",
            tables[0].note
        );
    }
}
