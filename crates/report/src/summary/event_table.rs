//! The cost of an event in each combination as a table of a few lines.
//!
//! ```text
//! ALTER TABLE at 30 s  mysql-5.6          mysql-8.0.33       mariadb-10.11
//! column by copy       12.0k lost, 3.3 s  3.01k lost, 4.2 s  2.77k lost, 2.4 s
//! column instantly     –                  338 lost, 0.3 s    35 lost, 0.1 s
//! ```

use crate::{
    grid::Grid,
    sentences::events::{
        matrix::{EventMatrix, Wording},
        overview::EventOverview,
    },
};

/// Number of blanks between two columns.
const GAP: usize = 2;

/// The table with as many words as fit; `None` where even the fewest do not, and where there are several facets.
pub(super) fn lines(
    event: &EventOverview,
    grid: &Grid<'_>,
    width: usize,
    lines_max: usize,
) -> Option<Vec<String>> {
    let [_] = grid.facets.as_slice() else {
        return None;
    };
    let wordings = [
        Wording::Full,
        Wording::Long,
        Wording::Short,
        Wording::Shortest,
    ];
    wordings.into_iter().find_map(|wording| {
        let matrix = EventMatrix::of(event, grid, 0, wording);
        let upright = drawn(&matrix.transposed(), width, lines_max);
        drawn(&matrix, width, lines_max).or(upright)
    })
}

fn drawn(matrix: &EventMatrix, width: usize, lines_max: usize) -> Option<Vec<String>> {
    let head = std::iter::once(&matrix.title).chain(&matrix.columns);
    let rows = matrix.rows.iter();
    let rows = rows.map(|(head, cells)| std::iter::once(head).chain(cells).collect());
    let table: Vec<Vec<&String>> = std::iter::once(head.collect()).chain(rows).collect();
    let length = |text: &String| text.chars().count();
    let widths = (0..=matrix.columns.len()).map(|column| {
        let cells = table.iter().map(|row| length(row[column]));
        cells.max().unwrap_or(0)
    });
    let widths: Vec<usize> = widths.collect();
    let taken = widths.iter().sum::<usize>() + GAP * matrix.columns.len();
    if taken > width || table.len() > lines_max {
        return None;
    }
    let line = |row: &Vec<&String>| {
        let cells = row.iter().zip(&widths);
        let cells = cells.map(|(text, width)| format!("{text:<width$}"));
        let cells: Vec<String> = cells.collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    Some(table.iter().map(line).collect())
}
