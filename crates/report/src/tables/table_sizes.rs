//! The sizes of tables, for people and programs.

use std::fmt::Write;

use comfy_table::{CellAlignment, ColumnConstraint, Table};
use samples::TableSize;
use serde_json::{Value, json};
use units::{bytes, counted, percent};

use crate::terminal::{RULED, in_cell};

/// Tables, largest first, and the buffer pool that they share.
#[derive(Debug, Clone)]
pub struct TableList {
    pub tables: Vec<TableSize>,
    /// The InnoDB buffer pool, bytes; `None` if the server has none.
    pub buffer_pool_bytes: Option<u64>,
    /// The database of all tables, which is then not repeated in each row.
    pub database: Option<String>,
}

const MIB: u64 = 1 << 20;

impl TableList {
    /// A table with the columns of the well-known query on information_schema.tables: whole MiB, rounded down; then
    /// each table's share of the buffer pool, and the share of all InnoDB tables that fits into it.
    pub fn text(&self) -> String {
        if self.tables.is_empty() {
            return match &self.database {
                Some(database) => {
                    format!("The database {} has no tables.\n", in_cell(database))
                }
                None => "Only the server's own tables exist.\n".to_owned(),
            };
        }
        let mut table = Table::new();
        table.load_style(RULED);
        table.set_header([
            "table_name",
            "engine",
            "tbl_rows",
            "rlen",
            "allMB",
            "dMB",
            "iMB",
            "of pool",
        ]);
        for size in &self.tables {
            table.add_row([
                in_cell(&self.name(size)),
                in_cell(&size.engine),
                size.rows.to_string(),
                size.row_bytes.to_string(),
                (size.all_bytes() / MIB).to_string(),
                (size.data_bytes / MIB).to_string(),
                (size.index_bytes / MIB).to_string(),
                self.share_of_pool(size),
            ]);
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 1));
            column.set_constraint(ColumnConstraint::ContentWidth);
            if index > 1 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let lines: Vec<String> = table
            .lines()
            .map(|line| line.trim_end().to_owned())
            .collect();
        format!("{}\n\n{}\n", lines.join("\n"), self.summary())
    }

    /// The name `sbtest.sbtest1`, or the table alone if all are of one database.
    fn name(&self, size: &TableSize) -> String {
        match &self.database {
            Some(_) => size.table.clone(),
            None => format!("{}.{}", size.schema, size.table),
        }
    }

    fn share_of_pool(&self, size: &TableSize) -> String {
        match self.buffer_pool_bytes {
            Some(pool) if pool > 0 && is_innodb(size) => {
                percent(size.all_bytes() as f64 / pool as f64)
            }
            _ => "-".to_owned(),
        }
    }

    fn summary(&self) -> String {
        let all: u64 = self.tables.iter().map(TableSize::all_bytes).sum();
        let mut text = format!("{}: {}", counted(self.tables.len(), "table"), bytes(all));
        match (self.buffer_pool_bytes, self.fits()) {
            (Some(pool), Some(fits)) => {
                let innodb = bytes(self.innodb_bytes());
                write!(
                    text,
                    ". InnoDB: {innodb}, buffer pool {}: {} of it fit in memory.",
                    bytes(pool),
                    percent(fits)
                )
                .expect("writing to a string does not fail");
            }
            _ => text.push('.'),
        }
        text.push_str(" The server's estimates change from one reading to the next.");
        text
    }

    fn innodb_bytes(&self) -> u64 {
        let tables = self.tables.iter().filter(|size| is_innodb(size));
        tables.map(TableSize::all_bytes).sum()
    }

    /// The share of the InnoDB tables that fits into the buffer pool, 0 to 1; `None` without either.
    fn fits(&self) -> Option<f64> {
        let all = self.innodb_bytes();
        let pool = self.buffer_pool_bytes?;
        (all > 0).then(|| (pool as f64 / all as f64).min(1.0))
    }

    /// An object with the tables; sizes in bytes.
    pub fn json(&self) -> String {
        let tables: Vec<Value> = self
            .tables
            .iter()
            .map(|size| {
                json!({
                    "schema": size.schema,
                    "table": size.table,
                    "engine": size.engine,
                    "rows": size.rows,
                    "row_bytes": size.row_bytes,
                    "all_bytes": size.all_bytes(),
                    "data_bytes": size.data_bytes,
                    "index_bytes": size.index_bytes,
                    "free_bytes": size.free_bytes,
                })
            })
            .collect();
        let list = json!({
            "buffer_pool_bytes": self.buffer_pool_bytes,
            "innodb_bytes": self.innodb_bytes(),
            "fits_in_buffer_pool": self.fits(),
            "tables": tables,
        });
        format!("{list:#}\n")
    }

    /// One line per table after a header; sizes in bytes.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "schema,table,engine,rows,row_bytes,all_bytes,data_bytes,index_bytes,free_bytes\n",
        );
        for size in &self.tables {
            writeln!(
                out,
                "{},{},{},{},{},{},{},{},{}",
                quoted(&size.schema),
                quoted(&size.table),
                quoted(&size.engine),
                size.rows,
                size.row_bytes,
                size.all_bytes(),
                size.data_bytes,
                size.index_bytes,
                size.free_bytes
            )
            .expect("writing to a string does not fail");
        }
        out
    }
}

fn is_innodb(size: &TableSize) -> bool {
    size.engine.eq_ignore_ascii_case("innodb")
}

/// A field of CSV, quoted if needed: names of tables can contain any character.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> TableList {
        let table =
            |table: &str, engine: &str, rows, row_bytes, data_bytes, index_bytes| TableSize {
                schema: "app".to_owned(),
                table: table.to_owned(),
                engine: engine.to_owned(),
                rows,
                row_bytes,
                data_bytes,
                index_bytes,
                free_bytes: 4 << 20,
            };
        TableList {
            tables: vec![
                table("stock", "InnoDB", 9_999_831, 381, 3639 * MIB, 0),
                table("customer", "InnoDB", 2_972_004, 673, 1909 * MIB, 221 * MIB),
                table("log, old", "MyISAM", 12, 37, 444, 1024),
            ],
            buffer_pool_bytes: Some(1 << 30),
            database: None,
        }
    }

    #[test]
    fn for_people() {
        let expected = "\
table_name    engine  tbl_rows  rlen  allMB   dMB  iMB  of pool
────────────────────────────────────────────────────────────────
app.stock     InnoDB   9999831   381   3639  3639    0    355 %
app.customer  InnoDB   2972004   673   2130  1909  221    208 %
app.log, old  MyISAM        12    37      0     0    0        -

3 tables: 5.63 GiB. InnoDB: 5.63 GiB, buffer pool 1.00 GiB: 18 % of it fit in memory. The server's estimates change from one reading to the next.
";
        assert_eq!(list().text(), expected);
    }

    #[test]
    fn for_programs() {
        let csv = list().csv();
        assert_eq!(
            csv.lines().last(),
            Some("app,\"log, old\",MyISAM,12,37,1468,444,1024,4194304")
        );
        let json: Value = serde_json::from_str(&list().json()).unwrap();
        assert_eq!(json["tables"][1]["all_bytes"], 2130 * MIB);
        assert_eq!(json["fits_in_buffer_pool"], (1024.0 / 5769.0));
    }

    #[test]
    fn nothing_is_said_as_such() {
        let mut list = list();
        list.tables.clear();
        assert_eq!(list.text(), "Only the server's own tables exist.\n");
        list.database = Some("app".to_owned());
        assert_eq!(list.text(), "The database app has no tables.\n");
    }
}
