//! All results as comma-separated values: one row per run and figure, or per run and second.
//!
//! ```text
//! experiment,run,block,complete,started_at,mix,connections,load,operation,statement,measure,unit,value,thin
//! quickstart,1,1,true,2026-11-21T10:01:00Z,1:0,1,,,,throughput,per second,5163.5,false
//! ```

use super::Detail;
use crate::{
    results::Results,
    tables::columns::{Cells, Table, table_of_measures, table_of_seconds},
};

const INFALLIBLE: &str = "writing to memory does not fail";

/// The results as CSV (RFC 4180, lines end with a line feed), with a header; missing values are empty.
pub fn csv(results: &Results, detail: Detail) -> String {
    let table = match detail {
        Detail::Runs => table_of_measures(results),
        Detail::Seconds => table_of_seconds(results),
    };
    text(&table)
}

fn text(table: &Table) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let names = table.columns.iter().map(|column| &column.name);
    writer.write_record(names).expect(INFALLIBLE);
    for row in 0..table.rows() {
        let cells = table.columns.iter().map(|column| cell(&column.cells, row));
        writer.write_record(cells).expect(INFALLIBLE);
    }
    let bytes = writer.into_inner().expect(INFALLIBLE);
    String::from_utf8(bytes).expect("names and numbers are text")
}

fn cell(cells: &Cells, row: usize) -> String {
    let shown = match cells {
        Cells::Text(cells) => cells[row].clone(),
        Cells::Integer(cells) => cells[row].map(|value| value.to_string()),
        Cells::Real(cells) => cells[row].map(|value| value.to_string()),
        Cells::Flag(cells) => Some(cells[row].to_string()),
    };
    shown.unwrap_or_default()
}
