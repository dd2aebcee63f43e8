//! The results as tables for a terminal, readable without colour.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use samples::{CpuUse, printable, printable_within};
use units::{duration, percent_number};

use crate::{
    findings::audit_in_short,
    grid::{
        Facet, Grid,
        cell::{Cell, Figure, Percentile},
        in_words,
        percentiles::marked,
        scaling,
    },
    results::Results,
    sentences::{
        answer, ceiling, clauses, disturbances,
        events::{self, answer::EventAnswer, overview::overviews},
        limit::PeakLimit,
        max_rates,
        nouns::run_nouns,
        proxy, set_limit, stage_rates, steadiness,
    },
    text::wrapped::wrapped,
};

/// With more combinations than this, a facet shows only throughput: one row per x, one column per line.
const DETAILED_COMBINATIONS_MAX: usize = 24;
/// Only a rule under the headings: columns are separated by blanks.
pub(crate) const RULED: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// Maximum length of a cell, characters.
const CELL_AT_MOST: usize = 120;
/// Number of blanks between two columns.
const GAP: usize = 2;

/// Renders `results` as text of at most `width` columns if the words allow it, ending with a line feed.
pub fn table(results: &Results, width: u16) -> String {
    let grid = Grid::of(results);
    let width = usize::from(width).max(40);
    let mut parts = vec![heading(results, &grid, width)];
    let named = clauses::lines(results, &grid);
    let named: Vec<String> = named.iter().map(|line| wrapped(line, width)).collect();
    if !named.is_empty() {
        parts.push(named.join("\n"));
    }
    let rates = max_rates::sentences(results);
    let rates: Vec<String> = rates.iter().map(|it| wrapped(it, width)).collect();
    if !rates.is_empty() {
        parts.push(rates.join("\n"));
    }
    let verdict: Vec<String> = answer::verdict(results, &grid)
        .iter()
        .map(|sentence| wrapped(sentence, width))
        .collect();
    if !verdict.is_empty() {
        parts.push(verdict.join("\n"));
    }
    let planned = overviews(results, &grid);
    let answer = EventAnswer::of(results, &planned).filter(|_| grid.combinations() > 1);
    let mut events = answer.map(|it| it.leads()).unwrap_or_default();
    events.extend(events::sentences(&planned));
    events.extend(stage_rates::sentences(&grid));
    parts.extend(events.iter().map(|sentence| wrapped(sentence, width)));
    let detailed = grid.combinations() <= DETAILED_COMBINATIONS_MAX;
    for facet in &grid.facets {
        let name = facet.name().map(|name| format!("{}\n", printable(&name)));
        let (keys, groups) = if detailed {
            (key_columns(&grid, facet), detailed_columns(facet))
        } else {
            (vec![x_column(&grid)], line_columns(&grid, facet))
        };
        let tables = fitted(&keys, &groups, width);
        parts.push(format!("{}{tables}", name.unwrap_or_default()));
    }
    if !detailed {
        parts.push(
            "operations/s; response times and CPU of each combination are in the HTML report"
                .to_owned(),
        );
    }
    let sentences: Vec<String> = grid
        .facets
        .iter()
        .map(|facet| wrapped(&answer::sentence(&grid, facet), width))
        .collect();
    parts.push(sentences.join("\n"));
    if detailed {
        let laws = grid.facets.iter();
        let laws = laws.filter_map(|facet| scaling::sentence(&grid, facet));
        parts.extend(laws.map(|law| wrapped(&law, width)));
    }
    let limit = PeakLimit::of(results, &grid);
    parts.extend(limit.map(|limit| wrapped(&limit.in_words(), width)));
    let set = set_limit::sentences(results);
    parts.extend(set.iter().map(|sentence| wrapped(sentence, width)));
    let proxies = proxy::sentences(results);
    parts.extend(proxies.iter().map(|sentence| wrapped(sentence, width)));
    parts.extend(ceiling::warning(results).map(|warning| wrapped(&warning, width)));
    parts.extend(answer::other_work(&grid).map(|warning| wrapped(&warning, width)));
    let steadiness = steadiness::sentences(results);
    parts.extend(steadiness.iter().map(|sentence| wrapped(sentence, width)));
    let disturbed = disturbances::sentences(results);
    parts.extend(disturbed.iter().map(|sentence| wrapped(sentence, width)));
    let audit = results.audit.as_ref();
    parts.extend(audit.map(|audit| audit_in_short(audit, width as u16).trim_end().to_owned()));
    parts.push(wrapped(&closing(results, &grid), width));
    parts.extend(incomplete_runs(results, width));
    format!("{}\n", parts.join("\n\n"))
}

fn heading(results: &Results, grid: &Grid, width: usize) -> String {
    let mut lines = vec![wrapped(results.title(), width)];
    if !grid.constants.is_empty() {
        lines.push(wrapped(
            &format!("all runs: {}", in_words(&grid.constants)),
            width,
        ));
    }
    lines.join("\n")
}

fn closing(results: &Results, grid: &Grid) -> String {
    let coverage = answer::coverage(results);
    match grid.combinations() {
        0 => coverage,
        _ => format!("{coverage} {}", answer::method(grid)),
    }
}

/// The incomplete runs, each with its reason.
fn incomplete_runs(results: &Results, width: usize) -> Option<String> {
    let lines: Vec<String> = results
        .runs
        .iter()
        .filter_map(|record| {
            let line = format!(
                "run {} is incomplete: {}",
                record.header.number_in_words(),
                record.incomplete_why()?
            );
            Some(wrapped(&line, width))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Names and levels come from a file that may be untrusted: they are reduced to one line of limited length.
pub(crate) fn in_cell(text: &str) -> String {
    printable_within(text, CELL_AT_MOST).into_owned()
}

/// A column before the layout.
pub(crate) struct Column {
    pub(crate) head: String,
    pub(crate) cells: Vec<String>,
}

impl Column {
    fn of(head: &str, facet: &Facet, cell: impl Fn(usize, usize, &Cell) -> String) -> Self {
        Self {
            head: in_cell(head),
            cells: facet
                .cells()
                .map(|(line, x, figures)| in_cell(&cell(line, x, figures)))
                .collect(),
        }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(self.head.chars().count())
    }
}

/// The columns that identify a row's combination.
pub(crate) fn key_columns(grid: &Grid, facet: &Facet) -> Vec<Column> {
    let line = grid.line.as_ref().map(|factor| {
        Column::of(&factor.name, facet, |line, _, _| {
            factor.levels[line].clone()
        })
    });
    let x = grid
        .x
        .as_ref()
        .map(|factor| Column::of(&factor.name, facet, |_, x, _| factor.levels[x].clone()));
    line.into_iter().chain(x).collect()
}

/// One row per combination with all figures; columns of one group stay in one table.
pub(crate) fn detailed_columns(facet: &Facet) -> Vec<Vec<Column>> {
    let [_, runs] = run_nouns(facet.cells().any(|(_, _, cell)| cell.noun == "batch"));
    let mut results = vec![
        Column::of("operations/s", facet, |_, _, cell| throughput(cell)),
        Column::of(runs, facet, |_, _, cell| cell.runs_in_words()),
        Column::of("errors", facet, |_, _, cell| cell.errors.to_string()),
    ];
    if facet
        .cells()
        .any(|(_, _, cell)| cell.new_orders_per_min.is_some())
    {
        let new_orders = Column::of("New-Orders/min", facet, |_, _, cell| {
            let figure = cell.new_orders_per_min.as_ref();
            figure.map_or("–".to_owned(), answer::throughput_in_words)
        });
        results.insert(1, new_orders);
    }
    let latency = Percentile::ALL.map(|percentile| {
        Column::of(percentile.name(), facet, |_, _, cell| {
            let figure = cell.percentile_ns(percentile);
            let in_words = |figure: Figure| marked(duration(figure.mean), figure.is_thin);
            figure.map_or("–".to_owned(), in_words)
        })
    });
    let cpu = |head: &str, share: fn(&CpuUse) -> Option<f64>| {
        Column::of(head, facet, |_, _, cell| {
            let share = cell.cpu.as_ref().and_then(share);
            share.map_or("–".to_owned(), percent_number)
        })
    };
    let mut groups = vec![results, latency.into()];
    if facet.cells().all(|(_, _, cell)| cell.cpu.is_none()) {
        return groups;
    }
    groups.push(vec![
        cpu("CPU %", |cpu| Some(cpu.busy())),
        cpu("server", |cpu| cpu.server),
        cpu("client", |cpu| cpu.client),
        cpu("rest", |cpu| Some(cpu.rest)),
    ]);
    groups
}

/// The levels of x: the rows of a compact table.
fn x_column(grid: &Grid) -> Column {
    match &grid.x {
        Some(factor) => Column {
            head: in_cell(&factor.name),
            cells: factor.levels.iter().map(|level| in_cell(level)).collect(),
        },
        None => Column {
            head: String::new(),
            cells: vec![String::new()],
        },
    }
}

/// Throughput, one column per line.
fn line_columns(grid: &Grid, facet: &Facet) -> Vec<Vec<Column>> {
    let factor = grid.line.as_ref().map_or("", |factor| factor.name.as_str());
    let lines = facet.lines.iter().filter(|line| !line.is_empty());
    let columns = lines.map(|line| {
        let cells = line.cells.iter().map(|cell| match cell {
            None => "–".to_owned(),
            Some(cell) if cell.incomplete == 0 => throughput(cell),
            Some(cell) => format!("{} ({} incomplete)", throughput(cell), cell.incomplete),
        });
        vec![Column {
            head: match &line.level {
                Some(level) => in_cell(&format!("{factor} {level}")),
                None => "operations/s".to_owned(),
            },
            cells: cells.collect(),
        }]
    });
    columns.collect()
}

fn throughput(cell: &Cell) -> String {
    let figure = cell.throughput.as_ref();
    figure.map_or("–".to_owned(), answer::throughput_in_words)
}

/// Arranges the groups in as many tables as the width requires; each begins with the key columns.
fn fitted(keys: &[Column], groups: &[Vec<Column>], width: usize) -> String {
    let taken =
        |columns: &[&Column]| -> usize { columns.iter().map(|column| column.width() + GAP).sum() };
    let mut tables: Vec<Vec<&Column>> = vec![keys.iter().collect()];
    for group in groups {
        let group: Vec<&Column> = group.iter().collect();
        let last = tables.len() - 1;
        let table = &mut tables[last];
        let too_wide = taken(table) + taken(&group) > width + GAP;
        if too_wide && table.len() > keys.len() {
            tables.push(keys.iter().chain(group).collect());
        } else {
            table.extend(group);
        }
    }
    let drawn: Vec<String> = tables
        .iter()
        .map(|table| drawn(table, keys.len()))
        .collect();
    drawn.join("\n\n")
}

fn drawn(columns: &[&Column], keys: usize) -> String {
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(columns.iter().map(|column| &column.head));
    let rows = columns
        .iter()
        .map(|column| column.cells.len())
        .max()
        .unwrap_or(0);
    for row in 0..rows {
        table.add_row(columns.iter().map(|column| &column.cells[row]));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, GAP as u16 - 1));
        if index >= keys {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(
            wrapped("how many queries per second", 10),
            "how many\nqueries\nper second"
        );
        assert_eq!(wrapped("", 10), "");
    }
}
