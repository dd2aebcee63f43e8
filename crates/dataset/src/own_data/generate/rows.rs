//! The rows of a table, each a pure function of seed, table, column and row, so that any loader can make any of them.

use std::sync::Arc;

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

use super::{
    law::Law,
    rule::Values,
    table::quoted,
    values::{draw, escape, write_distinct, write_number},
};
use crate::{Rows, TableData, permutation::permute, random::below, uniform::unit};

/// The keys of a table that is not generated, to which generated rows refer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParentKeys {
    pub table: String,
    /// The columns of the key.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    pub is_sample: bool,
}

/// A table with all that its rows are made of.
#[derive(Debug)]
pub struct GeneratedTable {
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) columns: Vec<Column>,
    pub(super) foreign: Vec<Foreign>,
    /// Texts beyond ASCII are in it, or documents, whose character set a server has to know.
    pub(super) is_utf8: bool,
    pub(super) has_auto_increment: bool,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) cell: Cell,
    pub(super) null_share: f64,
    pub(super) seed: u64,
}

/// How a value is made.
#[derive(Debug)]
pub(super) enum Cell {
    Drawn(Values),
    /// None twice: of `count` values, one for each row in a shuffled order.
    Distinct {
        values: Values,
        count: u64,
    },
    /// 1 for the first group of rows, 2 for the second.
    Spread {
        groups: u64,
    },
    /// 1 for the first row of its group.
    Enumerated {
        groups: u64,
    },
    /// A column of the row that a foreign key refers to.
    Foreign {
        foreign: usize,
        column: usize,
    },
}

#[derive(Debug)]
pub(super) struct Foreign {
    pub(super) parent: Parent,
    pub(super) parent_rows: u64,
    pub(super) draw: Draw,
    pub(super) seed: u64,
}

#[derive(Debug)]
pub(super) enum Parent {
    Generated(Arc<GeneratedTable>),
    Known(ParentKeys),
    Own,
}

/// Which row of its parent a row refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Draw {
    Law {
        law: Law,
        first: u64,
        count: u64,
    },
    Distinct,
    Spread {
        groups: u64,
    },
    Enumerated {
        groups: u64,
    },
    /// Of its own table a row before it; the first row refers to nothing, or to itself.
    Earlier {
        first_is_null: bool,
    },
}

impl GeneratedTable {
    /// The table as a loader takes it; `auto_increment_is_shared` says that several connections may load a table whose
    /// key the server counts.
    pub fn data(self: &Arc<Self>, auto_increment_is_shared: bool) -> TableData {
        let columns: Vec<String> = self.columns.iter().map(|it| quoted(&it.name)).collect();
        TableData {
            name: quoted(&self.name),
            columns: columns.join(", "),
            create: Vec::new(),
            rows: Some(Arc::clone(self) as Arc<dyn Rows>),
            finish: Vec::new(),
            is_divisible: !self.has_auto_increment || auto_increment_is_shared,
        }
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let mut columns = self.columns.iter();
        columns.position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The first number of a column that counts.
    pub(super) fn sequence(&self, name: &str) -> Option<i64> {
        let column = &self.columns[self.position(name)?];
        match column.cell {
            Cell::Drawn(Values::Sequence { first }) if column.null_share == 0.0 => Some(first),
            _ => None,
        }
    }

    fn write_field(&self, column: usize, row: u64, out: &mut Vec<u8>) {
        let column = &self.columns[column];
        let mut random = random_of(column.seed, row);
        if column.null_share > 0.0 && unit(&mut random) < column.null_share {
            out.extend_from_slice(b"\\N");
            return;
        }
        match &column.cell {
            Cell::Drawn(values) => draw(values, row, &mut random, out),
            Cell::Distinct { values, count } => {
                let place = shuffled(row, *count, column.seed);
                write_distinct(values, place, *count, &mut random, out);
            }
            Cell::Spread { groups } => write_number(group(row, *groups, self.rows) as i64 + 1, out),
            Cell::Enumerated { groups } => {
                let group = group(row, *groups, self.rows);
                write_number((row - first_of(group, *groups, self.rows)) as i64 + 1, out);
            }
            Cell::Foreign { foreign, column } => self.write_key(*foreign, *column, row, out),
        }
    }

    fn write_key(&self, foreign: usize, column: usize, row: u64, out: &mut Vec<u8>) {
        let foreign = &self.foreign[foreign];
        let parents = foreign.parent_rows;
        let mut random = random_of(foreign.seed, row);
        let parent = match foreign.draw {
            Draw::Law { law, first, count } => first + law.draw(count, &mut random),
            Draw::Distinct => shuffled(row, parents, foreign.seed),
            Draw::Spread { groups } => group(row, groups, self.rows),
            Draw::Enumerated { groups } => {
                let group = group(row, groups, self.rows);
                let begin = below(parents, &mut random_of(foreign.seed, group));
                (begin + (row - first_of(group, groups, self.rows))) % parents
            }
            Draw::Earlier {
                first_is_null: true,
            } if row == 0 => {
                out.extend_from_slice(b"\\N");
                return;
            }
            Draw::Earlier { .. } => below(row.max(1), &mut random),
        };
        match &foreign.parent {
            Parent::Generated(table) => table.write_field(column, parent, out),
            Parent::Own => self.write_field(column, parent, out),
            Parent::Known(keys) => match &keys.rows[parent as usize][column] {
                Some(value) => escape(value, out),
                None => out.extend_from_slice(b"\\N"),
            },
        }
    }
}

impl Rows for GeneratedTable {
    fn units(&self) -> u64 {
        self.rows
    }

    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
        for column in 0..self.columns.len() {
            if column > 0 {
                out.push(b'\t');
            }
            self.write_field(column, unit, out);
        }
        out.push(b'\n');
        1
    }

    fn charset(&self) -> &'static str {
        if self.is_utf8 { "utf8mb4" } else { "binary" }
    }
}

fn random_of(seed: u64, row: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ row.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn shuffled(row: u64, count: u64, seed: u64) -> u64 {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    permute(row as i64, count, seed as i64) as u64
}

/// The group of a row; neighbours are in one group.
fn group(row: u64, groups: u64, rows: u64) -> u64 {
    (u128::from(row) * u128::from(groups) / u128::from(rows)) as u64
}

/// The first row of a group.
fn first_of(group: u64, groups: u64, rows: u64) -> u64 {
    (u128::from(group) * u128::from(rows)).div_ceil(u128::from(groups)) as u64
}

/// A seed of names: FNV-1a, so that it stays what it is.
pub(super) fn hash_of(seed: u64, names: &[&str]) -> u64 {
    let bytes = names.iter().flat_map(|name| name.bytes().chain([0]));
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    seed.to_le_bytes()
        .into_iter()
        .chain(bytes)
        .fold(0xcbf2_9ce4_8422_2325, step)
}
