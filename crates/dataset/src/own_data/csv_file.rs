//! A CSV file whose first line names columns: checked in one pass, then read by ranges.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use csv::ByteRecord;

use super::{
    field_kind::{FieldKind, NULL, write_field},
    generate::TableInfo,
};
use crate::{Rows, TableData, csv_records::Records};

/// Bytes of a range at least.
const RANGE_BYTES: u64 = 256 << 10;
/// Records between two reports of progress.
const RECORDS_PER_REPORT: u64 = 4096;

#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        problem: String,
    },
    #[error("interrupted while reading {}", path.display())]
    Interrupted { path: PathBuf },
}

/// A range of a file: whole records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chunk {
    start: u64,
    end: u64,
    line: u64,
    rows: u64,
}

/// A file that was read once: each record has as many fields as the first line, in UTF-8.
#[derive(Debug)]
pub struct CsvFile {
    path: PathBuf,
    /// Its text.
    content: File,
    columns: Vec<String>,
    chunks: Vec<Chunk>,
}

impl CsvFile {
    /// The names in the first line.
    ///
    /// # Errors
    /// A file that cannot be read, an empty one, a name that is empty or comes twice.
    pub fn header(path: &Path) -> Result<Vec<String>, CsvError> {
        let failed = |source| CsvError::Read {
            path: path.to_owned(),
            source,
        };
        let wrong = |problem: String| CsvError::Line {
            path: path.to_owned(),
            line: 1,
            problem,
        };
        let mut first = ByteRecord::new();
        let mut records = Records::new(files::UserText::open(path).map_err(failed)?);
        let read = records.read(&mut first);
        if !read.map_err(|error| wrong(error.to_string()))? {
            return Err(wrong(
                "it is empty: its first line names the columns".to_owned(),
            ));
        }
        let mut columns: Vec<String> = Vec::new();
        for name in &first {
            let name = str::from_utf8(name).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
            let name = name.trim();
            if name.is_empty() {
                return Err(wrong("a column has no name".to_owned()));
            }
            if columns.iter().any(|other| other.eq_ignore_ascii_case(name)) {
                return Err(wrong(format!(
                    "{} is named twice",
                    column_named(path, name)
                )));
            }
            columns.push(name.to_owned());
        }
        Ok(columns)
    }

    /// Reads the whole file and checks it; `report` hears of the bytes so far and says whether to continue.
    ///
    /// # Errors
    /// [`CsvError`] with the line of the first record that is wrong.
    pub fn check(path: &Path, report: &mut dyn FnMut(u64) -> bool) -> Result<Self, CsvError> {
        let columns = Self::header(path)?;
        let failed = |source| CsvError::Read {
            path: path.to_owned(),
            source,
        };
        let content = files::seekable(path).map_err(failed)?;
        let mut reader = Records::new(files::reopened(&content).map_err(failed)?);
        let mut record = ByteRecord::new();
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut is_header = true;
        let mut records = 0;
        loop {
            let before = reader.position().clone();
            let read = reader.read(&mut record).map_err(|error| CsvError::Line {
                path: path.to_owned(),
                line: line_of(&content, before.byte(), before.line()),
                problem: error.to_string(),
            });
            if !read? {
                break;
            }
            if std::mem::take(&mut is_header) {
                continue;
            }
            let begin = record.position().unwrap_or(&before).clone();
            let wrong = |problem: String| CsvError::Line {
                path: path.to_owned(),
                line: line_of(&content, begin.byte(), begin.line()),
                problem,
            };
            if record.len() != columns.len() {
                let (found, named) = (record.len(), columns.len());
                let problem = format!("{found} fields, and the first line names {named} columns");
                return Err(wrong(problem));
            }
            if let Some(at) = record
                .iter()
                .position(|field| str::from_utf8(field).is_err())
            {
                let column = if files::is_quotable(path) {
                    columns[at].as_str()
                } else {
                    "a column"
                };
                return Err(wrong(format!("{column}: it is not UTF-8")));
            }
            let end = reader.position().byte();
            match chunks.last_mut() {
                Some(chunk) if chunk.end - chunk.start < RANGE_BYTES => {
                    chunk.end = end;
                    chunk.rows += 1;
                }
                _ => chunks.push(Chunk {
                    start: begin.byte(),
                    end,
                    line: begin.line(),
                    rows: 1,
                }),
            }
            records += 1;
            if records % RECORDS_PER_REPORT == 0 && !report(end) {
                let path = path.to_owned();
                return Err(CsvError::Interrupted { path });
            }
        }
        Ok(Self {
            path: path.to_owned(),
            content,
            columns,
            chunks,
        })
    }

    /// Number of its records.
    pub fn rows(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.rows).sum()
    }

    /// The records as rows of a table; `auto_increment_is_shared` as for generated rows.
    ///
    /// # Errors
    /// A column that the table does not have, or that the server computes.
    pub fn data(
        self,
        table: &TableInfo,
        auto_increment_is_shared: bool,
    ) -> Result<TableData, CsvError> {
        let mut kinds = Vec::new();
        let mut counts = false;
        for name in &self.columns {
            let mut columns = table.columns.iter();
            let column = columns.find(|column| column.name.eq_ignore_ascii_case(name));
            let problem = match column {
                None => {
                    let column = column_named(&self.path, name);
                    format!("table {} has no {column}", table.name)
                }
                Some(column) if column.is_generated => format!("the server computes column {name}"),
                Some(column) => {
                    counts |= column.is_auto_increment;
                    kinds.push(FieldKind::of(&column.data_type));
                    continue;
                }
            };
            return Err(CsvError::Line {
                path: self.path.clone(),
                line: 1,
                problem,
            });
        }
        let quoted = |name: &String| format!("`{}`", name.replace('`', "``"));
        let columns: Vec<String> = self.columns.iter().map(quoted).collect();
        let rows = CsvRows {
            file: self,
            kinds,
            failure: Mutex::new(None),
        };
        Ok(TableData {
            name: quoted(&table.name),
            columns: columns.join(", "),
            create: Vec::new(),
            rows: Some(Arc::new(rows)),
            finish: Vec::new(),
            is_divisible: !counts || auto_increment_is_shared,
        })
    }

    fn open(&self, chunk: Chunk) -> io::Result<Records<impl Read>> {
        let mut file = files::reopened(&self.content)?;
        file.seek(SeekFrom::Start(chunk.start))?;
        let range = BufReader::new(file).take(chunk.end - chunk.start);
        Ok(Records::new(range))
    }
}

/// `column id`; without the name that the file's first line gives if errors do not quote the file.
fn column_named(path: &Path, name: &str) -> String {
    if files::is_quotable(path) {
        format!("column {name}")
    } else {
        format!("column of that name ({})", files::WITHHELD)
    }
}

/// The line of a record that begins behind the line ends at this byte, of which the first is in this line: the reader
/// counts a record from the end of the one before.
fn line_of(content: &File, byte: u64, line: u64) -> u64 {
    let breaks = || -> io::Result<u64> {
        let mut file = files::reopened(content)?;
        file.seek(SeekFrom::Start(byte))?;
        let mut breaks = 0;
        for byte in BufReader::new(file).bytes() {
            match byte? {
                b'\n' => breaks += 1,
                b'\r' => {}
                _ => break,
            }
        }
        Ok(breaks)
    };
    line + breaks().unwrap_or(0)
}

/// The records of a file as rows; a unit is one range.
#[derive(Debug)]
struct CsvRows {
    file: CsvFile,
    kinds: Vec<FieldKind>,
    failure: Mutex<Option<io::Error>>,
}

impl CsvRows {
    fn write_chunk(&self, chunk: Chunk, out: &mut Vec<u8>) -> io::Result<u64> {
        let mut reader = self.file.open(chunk)?;
        let mut record = ByteRecord::new();
        let mut rows = 0;
        while reader.read(&mut record)? {
            if record.len() != self.kinds.len() {
                return Err(self.changed());
            }
            for (at, (field, kind)) in record.iter().zip(&self.kinds).enumerate() {
                if at > 0 {
                    out.push(b'\t');
                }
                let is_null = field == NULL && !reader.is_quoted(at);
                write_field((!is_null).then_some(field), *kind, out).map_err(|problem| {
                    if files::is_quotable(&self.file.path) {
                        problem
                    } else {
                        io::Error::other(format!("no value of its column ({})", files::WITHHELD))
                    }
                })?;
            }
            out.push(b'\n');
            rows += 1;
        }
        if rows == chunk.rows {
            Ok(rows)
        } else {
            Err(self.changed())
        }
    }

    fn changed(&self) -> io::Error {
        let path = self.file.path.display();
        io::Error::other(format!("{path} was changed while it was loaded"))
    }
}

impl Rows for CsvRows {
    fn units(&self) -> u64 {
        self.file.chunks.len() as u64
    }

    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
        let chunk = self.file.chunks[unit as usize];
        let begin = out.len();
        self.write_chunk(chunk, out).unwrap_or_else(|error| {
            out.truncate(begin);
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
            0
        })
    }

    fn charset(&self) -> &'static str {
        "utf8mb4"
    }

    fn failure(&self) -> Option<io::Error> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = failure.as_ref()?;
        Some(io::Error::new(failure.kind(), failure.to_string()))
    }

    fn place(&self, units: &Range<u64>, row: u64) -> Option<String> {
        let mut before = 0;
        for unit in units.clone() {
            let chunk = *self.file.chunks.get(unit as usize)?;
            if row > before + chunk.rows {
                before += chunk.rows;
                continue;
            }
            let mut reader = self.file.open(chunk).ok()?;
            let mut record = ByteRecord::new();
            for _ in before..row {
                reader.read(&mut record).ok()?;
            }
            let position = record.position()?;
            let line = chunk.line + position.line() - 1;
            let line = line_of(&self.file.content, chunk.start + position.byte(), line);
            return Some(format!("{}:{line}", self.file.path.display()));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::own_data::generate::ColumnInfo;

    fn table(columns: &[(&str, &str)]) -> TableInfo {
        let column = |(name, data_type): &(&str, &str)| ColumnInfo {
            name: (*name).to_owned(),
            data_type: (*data_type).to_owned(),
            ..ColumnInfo::default()
        };
        TableInfo {
            name: "t".to_owned(),
            columns: columns.iter().map(column).collect(),
            ..TableInfo::default()
        }
    }

    fn checked(text: &[u8]) -> Result<(tempfile::TempDir, CsvFile), CsvError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let file = CsvFile::check(&path, &mut |_| true)?;
        Ok((directory, file))
    }

    fn lines(rows: &dyn Rows) -> Vec<u8> {
        let mut out = Vec::new();
        for unit in 0..rows.units() {
            rows.write(unit, &mut out);
        }
        assert!(rows.failure().is_none());
        out
    }

    #[test]
    fn fields_are_quoted_by_rfc_4180() {
        let text = "\u{feff}id,name,seen,flags\r\n1,\"a,\"\"b\"\"\nc\",,5\r\n\\N,\"\",2024-01-01,\\N\n2,tab\tback\\slash,,0";
        let (_directory, file) = checked(text.as_bytes()).unwrap();
        assert_eq!(file.rows(), 3);
        let table = table(&[
            ("flags", "bit"),
            ("id", "int"),
            ("name", "varchar"),
            ("seen", "date"),
        ]);
        let data = file.data(&table, false).unwrap();
        assert_eq!(data.columns, "`id`, `name`, `seen`, `flags`");
        let expected = "1\ta,\"b\"\\\nc\t\\N\t\u{5}\n\\N\t\t2024-01-01\t\\N\n2\ttab\\\tback\\\\slash\t\\N\t\0\n";
        let rows = data.rows.unwrap();
        assert_eq!(String::from_utf8(lines(&*rows)).unwrap(), expected);
        assert!(rows.place(&(0..1), 2).unwrap().ends_with("t.csv:4"));
        assert!(rows.place(&(0..1), 3).unwrap().ends_with("t.csv:5"));
    }

    #[test]
    fn faults_have_their_line() {
        for (text, fault) in [
            (&b""[..], ":1: it is empty"),
            (b"a,b,A\n", ":1: column A is named twice"),
            (b"a,,c\n", ":1: a column has no name"),
            (
                b"a,b\n1,2\n\n3\n",
                ":4: 1 fields, and the first line names 2 columns",
            ),
            (b"a,b\n\"1\n\n\",2\n3,4,5\n", ":5: 3 fields"),
            (b"a,b\n1,\xff\n", ":2: b: it is not UTF-8"),
        ] {
            let error = checked(text).unwrap_err().to_string();
            assert!(error.contains(fault), "{error}");
        }
        let (_directory, file) = checked(b"a,b\n1,2\n").unwrap();
        let error = file.data(&table(&[("a", "int")]), false).err().unwrap();
        assert!(
            error.to_string().contains(":1: table t has no column b"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn ranges_together_are_the_whole_file(
            records in prop::collection::vec(prop::collection::vec("[a\",\n\r\\\\\t\u{e9}]{0,9}", 2), 1..40),
            repeats in 1..600_usize,
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.write_record(["a", "b"]).unwrap();
            for record in records.iter().cycle().take(records.len() * repeats) {
                writer.write_record(record).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let (_directory, file) = checked(&text).unwrap();
            let data = file.data(&table(&[("a", "varchar"), ("b", "varchar")]), false).unwrap();
            let mut expected = Vec::new();
            for record in records.iter().cycle().take(records.len() * repeats) {
                write_field(Some(record[0].as_bytes()), FieldKind::Text, &mut expected).unwrap();
                expected.push(b'\t');
                write_field(Some(record[1].as_bytes()), FieldKind::Text, &mut expected).unwrap();
                expected.push(b'\n');
            }
            prop_assert_eq!(lines(&*data.rows.unwrap()), expected);
        }
    }
}
