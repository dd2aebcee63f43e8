//! The heat table of a measurement of storage as a chart: a picture holds no table of the page.

use maud::html;
use samples::StorageRecord;
use units::bytes;

use super::style::colour;
use crate::{chart::px, storage::HeatTable};

/// Width and height of a cell, height of one with a margin, and room for the names of rows and columns, SVG units.
const CELL: (f64, f64) = (70.0, 26.0);
const HEIGHT_WITH_MARGIN: f64 = 42.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 40.0;
/// The fullest colour of a cell: its figure has to be readable.
const OPACITY_AT_MOST: f64 = 0.6;

/// The table as a section of a page, as [`super::section::sections`] reads them; empty where no random pattern was measured.
pub(super) fn section(record: &StorageRecord) -> String {
    let Some(table) = HeatTable::of(record).filter(|it| !it.rows.is_empty()) else {
        return String::new();
    };
    let width = LEFT + CELL.0 * table.depths.len() as f64;
    let mut cells = table.rows.iter().flat_map(|(_, _, cells)| cells).flatten();
    let has_margins = cells.any(|it| table.margin(it).is_some());
    let row_height = if has_margins {
        HEIGHT_WITH_MARGIN
    } else {
        CELL.1
    };
    let height = TOP + row_height * table.rows.len() as f64;
    let (full, text) = (colour("--s2"), colour("--fg"));
    let at = |column: usize, row: usize| {
        let (column, row) = (column as f64, row as f64);
        (LEFT + CELL.0 * column, TOP + row_height * row)
    };
    let middle = |x: f64| px(x + CELL.0 / 2.0);
    let base = |y: f64| px(y + CELL.1 / 2.0 + 4.0);
    let second = |y: f64| px(y + CELL.1 / 2.0 + 19.0);
    let chart = html! {
        section aria-labelledby="heat" {
            h2 { "Random requests per second by block size, share of reads and depth" }
            svg class="chart" viewBox={ "0 0 " (px(width)) " " (px(height)) } {
                text x="0" y="16" fill=(text) font-size="12" { "block, reads" }
                text x=(px(LEFT)) y="16" fill=(text) font-size="12" { "requests in flight" }
                @for (column, depth) in table.depths.iter().enumerate() {
                    text x=(middle(at(column, 0).0)) y=(px(TOP - 6.0)) fill=(text) font-size="12" text-anchor="middle" { (depth) }
                }
                @for (row, (block, reads, cells)) in table.rows.iter().enumerate() {
                    text x="0" y=(base(at(0, row).1)) fill=(text) font-size="12" { (bytes(*block)) ", " (reads) " %" }
                    @for (column, cell) in cells.iter().enumerate() {
                        @let (x, y) = at(column, row);
                        @if let Some(cell) = cell {
                            rect x=(px(x + 1.0)) y=(px(y + 1.0)) width=(px(CELL.0 - 2.0)) height=(px(row_height - 2.0))
                                fill=(full) fill-opacity=(format!("{:.2}", table.share(cell) * OPACITY_AT_MOST)) {}
                            text x=(middle(x)) y=(base(y)) fill=(text) font-size="12" text-anchor="middle" { (table.cell(cell)) }
                            @if let Some(margin) = table.margin(cell) {
                                text x=(middle(x)) y=(second(y)) fill=(text) font-size="10" text-anchor="middle" { (margin) }
                            }
                        }
                    }
                }
            }
            p class="note" { (HeatTable::LEGEND) }
        }
    };
    chart.into_string()
}
