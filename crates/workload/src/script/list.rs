//! Lists of real values: the rows of a CSV file or of a query, and how they are drawn.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    random::{self, unit},
    scalar::Scalar,
};

/// A list with its rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List {
    columns: Vec<String>,
    /// Row by row.
    cells: Vec<StoredCell>,
    bytes: Vec<u8>,
    draw: Draw,
}

/// A value of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Double(f64),
    /// For [`List::text`].
    Text(Range<usize>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum StoredCell {
    Null,
    Int(i64),
    Double(f64),
    Text { start: u32, length: u32 },
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

impl ListRows {
    /// Reads a CSV file. Its first line has the names of the columns, unless they are `named`; `\N` is NULL.
    pub(super) fn of_csv(text: &[u8], named: &[String]) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text);
        let mut list = Self {
            columns: named.to_vec(),
            rows: Vec::new(),
        };
        for record in reader.byte_records() {
            let record = record.map_err(|error| error.to_string())?;
            if list.columns.is_empty() {
                let names = record.iter().map(String::from_utf8_lossy);
                list.columns = names.map(|name| name.trim().to_owned()).collect();
                continue;
            }
            if record.len() != list.columns.len() {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(format!(
                    "line {line} has {} values for {} columns",
                    record.len(),
                    list.columns.len()
                ));
            }
            let values = record.iter();
            let row = values.map(|value| (value != b"\\N").then(|| value.to_vec()));
            list.rows.push(row.collect());
        }
        Ok(list)
    }
}

impl List {
    /// A list of rows; a column in which all values are integers, or numbers, has numbers, any other has texts.
    pub(super) fn new(rows: ListRows, draw: &DrawSpec) -> Result<Self, String> {
        let ListRows { columns, rows } = rows;
        if rows.is_empty() {
            return Err("it has no rows".to_owned());
        }
        let count = rows.len() * columns.len();
        if u32::try_from(count).is_err() {
            return Err("it has more than 4,294,967,295 values".to_owned());
        }
        let kinds: Vec<Kind> = (0..columns.len())
            .map(|column| Kind::of(rows.iter().filter_map(|row| row[column].as_deref())))
            .collect();
        let mut list = Self {
            draw: Draw::Uniform,
            columns,
            cells: Vec::with_capacity(count),
            bytes: Vec::new(),
        };
        for row in &rows {
            for (kind, value) in kinds.iter().zip(row) {
                let cell = list.stored(*kind, value.as_deref())?;
                list.cells.push(cell);
            }
        }
        list.draw = match draw {
            DrawSpec::Uniform => Draw::Uniform,
            DrawSpec::Sequential => Draw::Sequential,
            DrawSpec::Zipf(parameter) => Draw::Zipf(*parameter),
            DrawSpec::Weight(column) => Draw::Weighted(list.sums(column)?),
        };
        Ok(list)
    }

    fn stored(&mut self, kind: Kind, value: Option<&[u8]>) -> Result<StoredCell, String> {
        let Some(value) = value else {
            return Ok(StoredCell::Null);
        };
        let number = || Scalar::number_of(std::str::from_utf8(value).unwrap_or_default());
        match (kind, number()) {
            (Kind::Int, Some(Scalar::Int(int))) => Ok(StoredCell::Int(int)),
            (Kind::Double, Some(Scalar::Int(int))) => Ok(StoredCell::Double(int as f64)),
            (Kind::Double, Some(Scalar::Double(double))) => Ok(StoredCell::Double(double)),
            _ => {
                let start = u32::try_from(self.bytes.len());
                self.bytes.extend_from_slice(value);
                let length = u32::try_from(value.len());
                match (start, length) {
                    (Ok(start), Ok(length)) => Ok(StoredCell::Text { start, length }),
                    _ => Err("its texts have more than 4 GiB".to_owned()),
                }
            }
        }
    }

    /// The sums of a column's weights up to each row.
    fn sums(&self, column: &str) -> Result<Vec<f64>, String> {
        let Some(index) = self.columns.iter().position(|name| name == column) else {
            let known = self.columns.join(", ");
            return Err(format!("it has no column `{column}` (columns: {known})"));
        };
        let weights = self.cells.iter().skip(index).step_by(self.columns.len());
        let mut sum = 0.0;
        let mut sums = Vec::with_capacity(self.rows());
        for (row, weight) in weights.enumerate() {
            let weight = match weight {
                StoredCell::Int(int) => *int as f64,
                StoredCell::Double(double) => *double,
                StoredCell::Null | StoredCell::Text { .. } => f64::NAN,
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

    pub(super) fn rows(&self) -> usize {
        self.cells.len() / self.columns.len().max(1)
    }

    /// Whether different draws give different rows.
    pub(super) fn varies(&self) -> bool {
        self.rows() > 1
    }

    pub(super) fn cell(&self, cell: u32) -> Cell {
        match self.cells[cell as usize] {
            StoredCell::Null => Cell::Null,
            StoredCell::Int(int) => Cell::Int(int),
            StoredCell::Double(double) => Cell::Double(double),
            StoredCell::Text { start, length } => {
                Cell::Text(start as usize..start as usize + length as usize)
            }
        }
    }

    pub(super) fn text(&self, text: Range<usize>) -> &[u8] {
        &self.bytes[text]
    }

    /// Draws a row and returns its first cell; `turn` is the connection's next row in sequence, which moves on by
    /// `connections`.
    pub(super) fn draw(
        &self,
        turn: &mut u64,
        connections: u32,
        random: &mut Xoshiro256PlusPlus,
    ) -> u32 {
        let rows = self.rows() as u64;
        let row = match &self.draw {
            Draw::Uniform => random::below(rows, random),
            Draw::Sequential => {
                let row = *turn % rows;
                *turn = turn.wrapping_add(connections.into());
                row
            }
            Draw::Zipf(parameter) => random::zipf_rank(rows, *parameter, random) - 1,
            Draw::Weighted(sums) => {
                let all = sums.last().copied().unwrap_or_default();
                let point = unit(random) * all;
                let row = sums.partition_point(|sum| *sum <= point);
                row.min(sums.len() - 1) as u64
            }
        };
        (row * self.columns.len() as u64) as u32
    }
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Double,
    Text,
}

impl Kind {
    fn of<'v>(values: impl Iterator<Item = &'v [u8]>) -> Self {
        let mut kind = Self::Int;
        for value in values {
            // Leading zeros have a meaning, as in a postal code.
            let has_leading_zero = value.len() > 1 && value[0] == b'0' && value[1] != b'.';
            let text = std::str::from_utf8(value).unwrap_or_default();
            match Scalar::number_of(text).filter(|_| !has_leading_zero) {
                Some(Scalar::Int(_)) => {}
                Some(_) => kind = Self::Double,
                None => return Self::Text,
            }
        }
        kind
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    fn list(csv: &str, draw: &DrawSpec) -> Result<List, String> {
        List::new(ListRows::of_csv(csv.as_bytes(), &[])?, draw)
    }

    #[test]
    fn columns_have_types() {
        let list = list(
            "id,price,name,zip\n1,2,\"a, b\",01067\n-2,2.5,\\N,99999\n",
            &DrawSpec::Uniform,
        );
        let list = list.unwrap();
        assert_eq!((list.rows(), list.columns().len()), (2, 4));
        assert_eq!(list.cell(0), Cell::Int(1));
        assert_eq!(list.cell(1), Cell::Double(2.0));
        let Cell::Text(text) = list.cell(2) else {
            panic!("{:?}", list.cell(2));
        };
        assert_eq!(list.text(text), b"a, b");
        assert!(matches!(list.cell(3), Cell::Text(_)));
        assert_eq!(list.cell(6), Cell::Null);
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
                let cell = list.draw(&mut turn, 2, &mut random);
                counts[cell as usize / list.columns().len()] += 1;
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
