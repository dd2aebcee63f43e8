//! Lists of real values: the rows of a CSV file or of a query, and how they are drawn.

use std::io::{Read, Seek};

use dataset::{
    Records,
    random::{below, zipf_rank},
    uniform::unit,
};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::column::{Cell, Column, Size};

/// A list with its rows, kept column by column, each in one piece of memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List {
    columns: Vec<String>,
    values: Vec<Column>,
    rows: usize,
    draw: Draw,
}

/// How a script asks for the rows to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DrawSpec {
    Uniform,
    /// One after the other: of n connections each takes every n-th row.
    Sequential,
    /// By Zipf's law with this parameter, the first row most often.
    Zipf(f64),
    /// In proportion to a column.
    Weight(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Draw {
    Uniform,
    Sequential,
    Zipf(f64),
    /// The sums of the weights up to each row.
    Weighted(Vec<f64>),
}

/// Rows as they are read: texts, `None` for NULL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one value per column.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl List {
    /// A list of rows that are in memory already; see [`Self::read`] for the types.
    pub(super) fn of_rows(rows: &ListRows, draw: &DrawSpec) -> Result<Self, String> {
        Self::read(rows.columns.clone(), draw, |take| {
            for row in &rows.rows {
                take(&mut row.iter().map(Option::as_deref))?;
            }
            Ok(())
        })
    }

    /// A list of a CSV file. Its first line has the names of the columns, unless they are `named`; `\N` is NULL.
    ///
    /// The file is read twice, so that no more than its values has to be kept.
    pub(super) fn of_csv<R: Read + Seek>(
        mut file: R,
        named: &[String],
        draw: &DrawSpec,
    ) -> Result<Self, String> {
        let mut columns = named.to_vec();
        if named.is_empty() {
            let mut header = csv::ByteRecord::new();
            let read = records(&mut file)?.read(&mut header);
            read.map_err(|error| error.to_string())?;
            let names = header.iter().map(String::from_utf8_lossy);
            columns = names.map(|name| name.trim().to_owned()).collect();
        }
        let count = columns.len();
        Self::read(columns, draw, |take| {
            let mut records = records(&mut file)?;
            let mut record = csv::ByteRecord::new();
            let mut is_header = named.is_empty();
            loop {
                let line = records.position().line();
                let read = records.read(&mut record);
                if !read.map_err(|error| format!("line {line}: {error}"))? {
                    return Ok(());
                }
                if std::mem::take(&mut is_header) {
                    continue;
                }
                if record.len() != count {
                    let line = record.position().map_or(0, csv::Position::line);
                    let found = record.len();
                    return Err(format!(
                        "line {line} has {found} values for {count} columns"
                    ));
                }
                take(
                    &mut record
                        .iter()
                        .map(|value| (value != b"\\N").then_some(value)),
                )?;
            }
        })
    }

    /// A list of rows that `each` passes on, twice the same; a column in which all values are integers, or numbers, has
    /// numbers, any other has texts.
    fn read(
        columns: Vec<String>,
        draw: &DrawSpec,
        mut each: impl FnMut(&mut TakeRow<'_>) -> Result<(), String>,
    ) -> Result<Self, String> {
        let mut sizes = vec![Size::default(); columns.len()];
        let mut rows = 0_usize;
        each(&mut |row| {
            rows += 1;
            sizes
                .iter_mut()
                .zip(row)
                .for_each(|(size, value)| size.add(value));
            Ok(())
        })?;
        if rows == 0 {
            return Err("it has no rows".to_owned());
        }
        if u32::try_from(rows).is_err() {
            return Err("it has more than 4,294,967,295 rows".to_owned());
        }
        if sizes
            .iter()
            .any(|size| u32::try_from(size.text_bytes).is_err())
        {
            return Err("a column's texts have more than 4 GiB".to_owned());
        }
        let new = sizes.iter().map(|size| Column::for_values(*size, rows));
        let mut values: Vec<Column> = new.collect();
        each(&mut |row| {
            let mut both = values.iter_mut().zip(row);
            let fits = both.all(|(column, value)| column.push(value));
            let changed = "it changed while it was read".to_owned();
            fits.then_some(()).ok_or(changed)
        })?;
        if values.iter().any(|column| column.rows() != rows) {
            return Err("it changed while it was read".to_owned());
        }
        let mut list = Self {
            draw: Draw::Uniform,
            columns,
            values,
            rows,
        };
        list.draw = match draw {
            DrawSpec::Uniform => Draw::Uniform,
            DrawSpec::Sequential => Draw::Sequential,
            DrawSpec::Zipf(parameter) => Draw::Zipf(*parameter),
            DrawSpec::Weight(column) => Draw::Weighted(list.sums(column)?),
        };
        Ok(list)
    }

    /// The sums of a column's weights up to each row.
    fn sums(&self, column: &str) -> Result<Vec<f64>, String> {
        let Some(index) = self.columns.iter().position(|name| name == column) else {
            let known = self.columns.join(", ");
            return Err(format!("it has no column `{column}` (columns: {known})"));
        };
        let mut sum = 0.0;
        let mut sums = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            let weight = match self.values[index].cell(row) {
                Cell::Int(int) => int as f64,
                Cell::Double(double) => double,
                Cell::Null | Cell::Text(_) => f64::NAN,
            };
            if !(weight.is_finite() && weight >= 0.0) {
                let row = row + 1;
                return Err(format!(
                    "the weight `{column}` of row {row} is not a number of at least 0"
                ));
            }
            sum += weight;
            sums.push(sum);
        }
        if sum > 0.0 && sum.is_finite() {
            Ok(sums)
        } else {
            Err(format!("the weights `{column}` have the sum {sum}"))
        }
    }

    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Whether different draws give different rows.
    pub(super) fn varies(&self) -> bool {
        self.rows > 1
    }

    pub(super) fn cell(&self, row: u32, column: u32) -> Cell<'_> {
        self.values[column as usize].cell(row as usize)
    }

    /// Draws a row; `turn` is the connection's next row in sequence, which moves on by `connections`.
    pub(super) fn draw(
        &self,
        turn: &mut u64,
        connections: u32,
        random: &mut Xoshiro256PlusPlus,
    ) -> u32 {
        let rows = self.rows as u64;
        let row = match &self.draw {
            Draw::Uniform => below(rows, random),
            Draw::Sequential => {
                let row = *turn % rows;
                *turn = turn.wrapping_add(connections.into());
                row
            }
            Draw::Zipf(parameter) => zipf_rank(rows, *parameter, random) - 1,
            Draw::Weighted(sums) => {
                let all = sums.last().copied().unwrap_or_default();
                let point = unit(random) * all;
                let row = sums.partition_point(|sum| *sum <= point);
                row.min(sums.len() - 1) as u64
            }
        };
        row as u32
    }
}

type TakeRow<'t> = dyn FnMut(&mut dyn Iterator<Item = Option<&[u8]>>) -> Result<(), String> + 't;

/// The records of a file from its start.
fn records<R: Read + Seek>(file: &mut R) -> Result<Records<&mut R>, String> {
    file.rewind().map_err(|error| error.to_string())?;
    Ok(Records::new(file))
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    fn list(csv: &str, draw: &DrawSpec) -> Result<List, String> {
        List::of_csv(std::io::Cursor::new(csv), &[], draw)
    }

    #[test]
    fn columns_have_types() {
        let list = list(
            "id,price,name,zip\n1,2,\"a, b\",01067\n-2,2.5,\\N,99999\n",
            &DrawSpec::Uniform,
        );
        let list = list.unwrap();
        assert_eq!((list.rows, list.columns().len()), (2, 4));
        for (row, column, cell) in [
            (0, 0, Cell::Int(1)),
            (1, 0, Cell::Int(-2)),
            (0, 1, Cell::Double(2.0)),
            (0, 2, Cell::Text(b"a, b")),
            (1, 2, Cell::Null),
            (0, 3, Cell::Text(b"01067")),
            (1, 3, Cell::Text(b"99999")),
        ] {
            assert_eq!(list.cell(row, column), cell, "{row} {column}");
        }
    }

    #[test]
    fn rows_of_a_query_are_those_of_a_file() {
        let text = |text: &str| Some(text.as_bytes().to_vec());
        let rows = ListRows {
            columns: vec!["id".to_owned(), "name".to_owned()],
            rows: vec![vec![text("1"), text("a")], vec![None, text("b")]],
        };
        assert_eq!(
            List::of_rows(&rows, &DrawSpec::Uniform),
            list("id,name\n1,a\n\\N,b\n", &DrawSpec::Uniform)
        );
    }

    #[test]
    fn a_list_takes_little_more_memory_than_its_file() {
        let (mut ids, mut names) = ("id\n".to_owned(), "name\n".to_owned());
        for row in 0..100_000 {
            ids.push_str(&format!("{}\n", 10_000_000 + row));
            names.push_str(&format!("name{}\n", 100_000 + row));
        }
        for csv in [ids, names] {
            let bytes = csv.len() as u64;
            let file = std::io::Cursor::new(csv);
            let spent = allocation_counter::measure(|| {
                List::of_csv(file, &[], &DrawSpec::Uniform).unwrap();
            });
            assert!(spent.bytes_max < bytes * 3 / 2, "{spent:?} for {bytes}");
        }
    }

    #[test]
    fn faults_say_where() {
        for (csv, draw, fault) in [
            ("id\n", DrawSpec::Uniform, "no rows"),
            (
                "a,b\n1,2\n3\n",
                DrawSpec::Uniform,
                "line 3 has 1 values for 2 columns",
            ),
            ("a\n1\n", DrawSpec::Weight("w".to_owned()), "no column `w`"),
            (
                "w\n0\n0\n",
                DrawSpec::Weight("w".to_owned()),
                "have the sum 0",
            ),
            ("w\n1\n-1\n", DrawSpec::Weight("w".to_owned()), "row 2"),
            ("w\n1\nx\n", DrawSpec::Weight("w".to_owned()), "row 1"),
        ] {
            let found = list(csv, &draw).unwrap_err();
            assert!(found.contains(fault), "{csv}: {found}");
        }
    }

    #[test]
    fn rows_are_drawn_as_asked() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut counts = |csv: &str, draw: DrawSpec| {
            let list = list(csv, &draw).unwrap();
            let mut turn = 1;
            let mut counts = [0_u32; 3];
            for _ in 0..3000 {
                let row = list.draw(&mut turn, 2, &mut random);
                counts[row as usize] += 1;
            }
            counts
        };
        let three = "id,w\n1,0\n2,1\n3,3\n";
        assert_eq!(counts(three, DrawSpec::Sequential), [1000; 3]);
        let weighted = counts(three, DrawSpec::Weight("w".to_owned()));
        assert_eq!(weighted[0], 0);
        assert!(weighted[1].abs_diff(750) < 120, "{weighted:?}");
        let uniform = counts(three, DrawSpec::Uniform);
        assert!(
            uniform.iter().all(|it| it.abs_diff(1000) < 130),
            "{uniform:?}"
        );
        let zipf = counts(three, DrawSpec::Zipf(2.0));
        assert!(zipf[0] > 2 * zipf[1] && zipf[1] > zipf[2], "{zipf:?}");
    }
}
