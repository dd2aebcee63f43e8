//! Records of CSV, of which none may take all memory: a quotation mark without its end makes one record of a whole file.

use std::{
    cell::Cell,
    io::{self, Read},
    rc::Rc,
};

use csv::{ByteRecord, Position, Reader, ReaderBuilder};

/// Bytes of a record at most, as of a statement of a dump.
const RECORD_BYTES_MAX: u64 = 64 << 20;

/// What an error says of a longer one.
const TOO_LONG: &str = "longer than 64 MiB; is a quotation mark not closed?";

/// Reads records of different lengths, the first line among them.
pub(crate) struct Records<R> {
    reader: Reader<Bounded<R>>,
    /// How far the input may be read, bytes from its start.
    until: Rc<Cell<u64>>,
    record_bytes_max: u64,
}

impl<R: Read> Records<R> {
    pub(crate) fn new(input: R) -> Self {
        Self::within(input, RECORD_BYTES_MAX)
    }

    fn within(input: R, record_bytes_max: u64) -> Self {
        let until = Rc::new(Cell::new(0));
        let input = Bounded {
            input,
            read: 0,
            until: Rc::clone(&until),
        };
        let mut builder = ReaderBuilder::new();
        let reader = builder.has_headers(false).flexible(true).from_reader(input);
        Self {
            reader,
            until,
            record_bytes_max,
        }
    }

    /// Reads the next record; false at the end. One that is too long is an error that says where it begins.
    pub(crate) fn read(&mut self, record: &mut ByteRecord) -> io::Result<bool> {
        let begin = self.reader.position().byte();
        self.until.set(begin + self.record_bytes_max);
        Ok(self.reader.read_byte_record(record)?)
    }

    /// Where the next record is read from.
    pub(crate) fn position(&self) -> &Position {
        self.reader.position()
    }
}

/// An input that is an error behind a place.
struct Bounded<R> {
    input: R,
    read: u64,
    until: Rc<Cell<u64>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.until.get().saturating_sub(self.read);
        let room = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if room == 0 {
            return Err(io::Error::other(TOO_LONG));
        }
        let read = self.input.read(&mut out[..room])?;
        self.read += read as u64;
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
        assert!(spent.bytes_max < 4 << 20, "{spent:?}");
    }
}
