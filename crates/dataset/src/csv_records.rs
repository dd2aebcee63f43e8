//! Records of CSV, of which none may take all memory: a quotation mark without its end makes one record of a whole file.

use std::{
    cell::{Cell, RefCell},
    io::{self, Read},
    rc::Rc,
};

use csv::{ByteRecord, Position, Reader, ReaderBuilder};

/// Bytes of a record at most, as of a statement of a dump.
const RECORD_BYTES_MAX: u64 = 64 << 20;

/// What an error says of a longer one.
const TOO_LONG: &str = "longer than 64 MiB; a closing quotation mark may be missing";

/// Reads records of different lengths, the first line among them.
pub struct Records<R> {
    reader: Reader<LimitedReader<R>>,
    /// How far the input may be read, bytes from its start.
    until: Rc<Cell<u64>>,
    /// What was read since the beginning of the last record.
    raw: Rc<RefCell<Raw>>,
    record_bytes_max: u64,
}

impl<R: Read> Records<R> {
    pub fn new(input: R) -> Self {
        Self::within(input, RECORD_BYTES_MAX)
    }

    fn within(input: R, record_bytes_max: u64) -> Self {
        let until = Rc::new(Cell::new(0));
        let raw = Rc::new(RefCell::new(Raw::default()));
        let input = LimitedReader {
            input,
            read: 0,
            until: Rc::clone(&until),
            raw: Rc::clone(&raw),
        };
        let mut builder = ReaderBuilder::new();
        let reader = builder.has_headers(false).flexible(true).from_reader(input);
        Self {
            reader,
            until,
            raw,
            record_bytes_max,
        }
    }

    /// Reads the next record; false at the end. One that is too long is an error that says where it begins.
    pub fn read(&mut self, record: &mut ByteRecord) -> io::Result<bool> {
        let begin = self.reader.position().byte();
        self.until.set(begin + self.record_bytes_max);
        self.raw.borrow_mut().forget_until(begin);
        Ok(self.reader.read_byte_record(record)?)
    }

    /// Whether the field at this place of the last record stood in quotation marks.
    pub fn is_quoted(&self, place: usize) -> bool {
        let raw = self.raw.borrow();
        let mut rest = &raw.bytes[raw.forgotten..];
        // Empty lines are no records.
        while let [b'\r' | b'\n', behind @ ..] = rest {
            rest = behind;
        }
        for _ in 0..place {
            rest = behind_field(rest);
        }
        rest.starts_with(b"\"")
    }

    /// Where the next record is read from.
    pub fn position(&self) -> &Position {
        self.reader.position()
    }
}

/// What stands behind the first field, and the comma behind it.
fn behind_field(fields: &[u8]) -> &[u8] {
    let mut rest = fields;
    // A mark elsewhere than at the beginning is a character as any other.
    if let Some(quoted) = rest.strip_prefix(b"\"") {
        rest = quoted;
        while let Some(mark) = rest.iter().position(|byte| *byte == b'"') {
            rest = &rest[mark + 1..];
            match rest.strip_prefix(b"\"") {
                Some(behind) => rest = behind,
                None => break,
            }
        }
    }
    let comma = rest.iter().position(|byte| *byte == b',');
    comma.map_or(&[], |comma| &rest[comma + 1..])
}

/// Bytes of an input from a place on.
#[derive(Default)]
struct Raw {
    bytes: Vec<u8>,
    /// Bytes at the beginning that are not needed any more.
    forgotten: usize,
    /// Where the others begin in the input.
    from: u64,
}

impl Raw {
    fn forget_until(&mut self, place: u64) {
        self.forgotten += (place - self.from) as usize;
        self.from = place;
        if self.forgotten > self.bytes.len() / 2 {
            self.bytes.drain(..self.forgotten);
            self.forgotten = 0;
        }
    }
}

/// An input that is an error behind a place.
struct LimitedReader<R> {
    input: R,
    read: u64,
    until: Rc<Cell<u64>>,
    raw: Rc<RefCell<Raw>>,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.until.get().saturating_sub(self.read);
        let room = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if room == 0 {
            return Err(io::Error::other(TOO_LONG));
        }
        let read = self.input.read(&mut out[..room])?;
        self.read += read as u64;
        self.raw.borrow_mut().bytes.extend_from_slice(&out[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(text: &str, record_bytes_max: u64) -> io::Result<Vec<usize>> {
        let mut records = Records::within(text.as_bytes(), record_bytes_max);
        let mut record = ByteRecord::new();
        let mut lengths = Vec::new();
        while records.read(&mut record)? {
            lengths.push(record.as_slice().len());
        }
        Ok(lengths)
    }

    #[test]
    fn only_a_record_that_is_too_long_is_refused() {
        let line = "x".repeat(900_000);
        let text = format!("{line}\n").repeat(5);
        assert_eq!(lengths(&text, 1 << 20).unwrap(), vec![900_000; 5]);
        let text = format!("a\n{line}{line}\n");
        let error = lengths(&text, 1 << 20).unwrap_err().to_string();
        assert!(error.starts_with("longer than "), "{error}");
    }

    #[test]
    fn a_field_is_known_by_its_quotation_marks() {
        let text = format!(
            "5\"a,\"\\N\",\\N\n\n\r\n\"x,\"\"\n\",\\N,\"\\N\"\n{}\\N,\"q\",\"\"\n",
            "a,b,c\n".repeat(50_000)
        );
        let mut records = Records::new(text.as_bytes());
        let mut record = ByteRecord::new();
        let mut read = |count: usize| {
            (0..count).for_each(|_| assert!(records.read(&mut record).unwrap()));
            [0, 1, 2].map(|place| records.is_quoted(place))
        };
        assert_eq!(read(1), [false, true, false]);
        assert_eq!(read(1), [true, false, true]);
        assert_eq!(read(50_001), [false, true, true]);
    }

    /// The file has a quotation mark too many, and no end.
    #[test]
    fn a_record_without_end_takes_no_more_memory_than_its_limit() {
        let begin = &b"id,name\n1,\""[..];
        let mut records = Records::within(begin.chain(io::repeat(b'x')), 1 << 20);
        let mut record = ByteRecord::new();
        assert!(records.read(&mut record).unwrap());
        let spent = allocation_counter::measure(|| {
            records.read(&mut record).unwrap_err();
        });
        assert!(spent.bytes_max < 8 << 20, "{spent:?}");
    }
}
