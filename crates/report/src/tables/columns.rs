//! A table for programs: named columns of one type each, and rows.

use crate::{
    results::Results,
    tables::{
        factor_columns::free_names,
        run_values::{BreakdownKind, RunValues, Value},
        seconds::{Second, seconds},
    },
};
use samples::{Record, STAGE};
use settings::Factor;
use verdict::Execution;

/// A table for programs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
}

/// One column; all columns of a table have the same length.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) cells: Cells,
}

/// The cells of a column; `None` is a missing value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    Text(Vec<Option<String>>),
    Integer(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Flag(Vec<bool>),
}

impl Cells {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(cells) => cells.len(),
            Self::Integer(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
            Self::Flag(cells) => cells.len(),
        }
    }
}

impl Table {
    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    fn push(&mut self, name: impl Into<String>, cells: Cells) {
        self.columns.push(Column {
            name: name.into(),
            cells,
        });
    }
}

/// Columns of every table, whose names no factor may have.
const RUN_COLUMNS: [&str; 5] = ["experiment", "run", "block", "complete", "started_at"];
const MEASURE_COLUMNS: [&str; 7] = [
    "load",
    "operation",
    "statement",
    "measure",
    "unit",
    "value",
    "thin",
];
const SECOND_COLUMNS: [&str; 17] = [
    "t_s",
    "length_s",
    "phase",
    "operations",
    "errors",
    "throughput_per_s",
    "mean_ns",
    "p50_ns",
    "p95_ns",
    "p99_ns",
    "max_ns",
    "waiting",
    "cpu_server",
    "cpu_client",
    "cpu_busy",
    "cpu_iowait",
    "cpu_steal",
];

/// The column of the slices of runs side by side.
const SLICE: &str = "slice";

/// One row per run and figure; operations and statements of a run have rows of their own.
pub(crate) fn table_of_measures(results: &Results) -> Table {
    struct Row<'a> {
        record: &'a Record,
        /// Load, operation, statement.
        part: [Option<String>; 3],
        value: Value,
    }
    let mut rows = Vec::new();
    for record in results.compared() {
        let values = RunValues::of(&Execution::of(record, 1));
        rows.extend(values.whole.into_iter().map(|value| Row {
            record,
            part: [None, None, None],
            value,
        }));
        for part in values.parts {
            let [operation, statement] = match part.kind {
                BreakdownKind::Operation => [Some(part.name), None],
                BreakdownKind::Statement => [None, Some(part.name)],
            };
            let names = [Some(part.load), operation, statement];
            rows.extend(part.values.into_iter().map(|value| Row {
                record,
                part: names.clone(),
                value,
            }));
        }
    }
    let records: Vec<&Record> = rows.iter().map(|row| row.record).collect();
    let mut table = of_runs(&results.all_factors(), &records, &MEASURE_COLUMNS);
    let text = |cell: &dyn Fn(&Row) -> Option<String>| Cells::Text(rows.iter().map(cell).collect());
    for (index, name) in MEASURE_COLUMNS[..3].iter().enumerate() {
        table.push(*name, text(&|row| row.part[index].clone()));
    }
    table.push("measure", text(&|row| Some(row.value.measure.to_owned())));
    table.push("unit", text(&|row| Some(row.value.unit.to_owned())));
    let values = rows.iter().map(|row| Some(row.value.value)).collect();
    table.push("value", Cells::Real(values));
    let thin = rows.iter().map(|row| row.value.thin.is_some()).collect();
    table.push("thin", Cells::Flag(thin));
    table
}

/// One row per run and interval, which is a second unless the run has another interval.
pub(crate) fn table_of_seconds(results: &Results) -> Table {
    let rows: Vec<(&Record, Second)> = results
        .runs
        .iter()
        .flat_map(|record| seconds(record).into_iter().map(move |row| (record, row)))
        .collect();
    let records: Vec<&Record> = rows.iter().map(|(record, _)| *record).collect();
    let has_slices = results.runs.iter().any(|it| it.side_by_side.is_some());
    let mut taken = SECOND_COLUMNS.to_vec();
    taken.extend(has_slices.then_some(SLICE));
    let mut table = of_runs(&results.factors, &records, &taken);
    let intervals = || results.runs.iter().flat_map(|record| &record.intervals);
    if !results.parts.staged.is_empty() {
        let stages = intervals().map(|it| stage_level(results, it.stage?));
        table.push(STAGE, Cells::Text(stages.collect()));
    }
    if has_slices {
        let slices = intervals().map(|it| it.slice.map(i64::from));
        table.push(SLICE, Cells::Integer(slices.collect()));
    }
    let real = |cell: fn(&Second) -> Option<f64>| {
        Cells::Real(rows.iter().map(|(_, row)| cell(row)).collect())
    };
    let whole = |cell: fn(&Second) -> Option<u64>| {
        let cells = rows.iter().map(|(_, row)| cell(row).map(integer));
        Cells::Integer(cells.collect())
    };
    let phases = rows.iter().map(|(_, row)| Some(row.phase.to_owned()));
    let cells = [
        real(|row| Some(row.t_s)),
        real(|row| Some(row.length_s)),
        Cells::Text(phases.collect()),
        whole(|row| Some(row.operations)),
        whole(|row| Some(row.errors)),
        real(|row| row.throughput_per_s),
        real(|row| row.mean_ns),
        whole(|row| row.p50_ns),
        whole(|row| row.p95_ns),
        whole(|row| row.p99_ns),
        whole(|row| row.max_ns),
        whole(|row| row.waiting),
        real(|row| row.cpu_server),
        real(|row| row.cpu_client),
        real(|row| row.cpu_busy),
        real(|row| row.cpu_iowait),
        real(|row| row.cpu_steal),
    ];
    for (name, cells) in SECOND_COLUMNS.iter().zip(cells) {
        table.push(*name, cells);
    }
    table
}

fn stage_level(results: &Results, number: u32) -> Option<String> {
    results
        .parts
        .staged
        .levels
        .get(number as usize - 1)
        .cloned()
}

/// The columns that identify a row's run: one record per row.
fn of_runs(factors: &[Factor], rows: &[&Record], taken: &[&str]) -> Table {
    let mut table = Table::default();
    let headers = || rows.iter().map(|record| &record.header);
    let text = |cell: fn(&samples::RunHeader) -> &String| {
        Cells::Text(headers().map(|header| Some(cell(header).clone())).collect())
    };
    let number = |cell: fn(&samples::RunHeader) -> u32| {
        Cells::Integer(
            headers()
                .map(|header| Some(i64::from(cell(header))))
                .collect(),
        )
    };
    table.push("experiment", text(|header| &header.experiment));
    table.push("run", number(|header| header.run));
    table.push("block", number(|header| header.block));
    let complete = rows.iter().map(|record| record.is_complete()).collect();
    table.push("complete", Cells::Flag(complete));
    table.push("started_at", text(|header| &header.started_at));
    let names = factors.iter().map(|factor| factor.name.as_str());
    let taken = [RUN_COLUMNS.as_slice(), taken].concat();
    for (factor, name) in factors.iter().zip(free_names(names, &taken)) {
        let levels = headers().map(|header| header.combination.get(&factor.name).cloned());
        table.push(name, Cells::Text(levels.collect()));
    }
    table
}

/// Larger values than 2^63 do not occur.
fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_by_second_name_the_slice() {
        let table = table_of_seconds(&Results::of_slices(1));
        let slices = table.columns.iter().find(|it| it.name == SLICE);
        let numbers = [Some(1), None, Some(2), None, Some(3), None, Some(4), None];
        assert_eq!(slices.unwrap().cells, Cells::Integer(numbers.into()));
        assert_eq!(table.rows(), 8);
    }
}
