//! A reader for the lines of a run record, one at a time, so that gigabytes are never in memory as a whole.

use std::{
    io::{BufRead, Read},
    path::PathBuf,
};

use crate::{
    line::{FORMAT, Line},
    read_error::ReadError,
};

/// Largest length of a line: far above the samples of the largest machine.
const LINE_BYTES_AT_MOST: usize = 64 << 20;

/// The error for a line of this length, if it is too long.
pub(crate) fn too_long(bytes: usize, number: usize) -> Option<ReadError> {
    (bytes > LINE_BYTES_AT_MOST).then(|| ReadError::Line {
        number,
        source: serde::de::Error::custom("it is longer than 64 MiB"),
    })
}

/// The lines of a run record, in order.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    /// The current line, and its number from 1.
    text: Vec<u8>,
    number: usize,
    is_torn: bool,
    has_ended: bool,
}

impl<R: BufRead> Lines<R> {
    pub fn of(reader: R) -> Self {
        Self {
            reader,
            text: Vec::new(),
            number: 0,
            is_torn: false,
            has_ended: false,
        }
    }

    /// True if the last line was torn and therefore omitted.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    /// The next non-empty line; `None` at the end.
    fn next_line(&mut self) -> Result<Option<Line>, ReadError> {
        loop {
            self.text.clear();
            let mut reader = Read::by_ref(&mut self.reader).take(LINE_BYTES_AT_MOST as u64 + 1);
            let read = reader.read_until(b'\n', &mut self.text);
            let length = read.map_err(|source| ReadError::Io {
                path: PathBuf::new(),
                source,
            })?;
            if length == 0 {
                return Ok(None);
            }
            self.number += 1;
            if let Some(error) = too_long(length, self.number) {
                return Err(error);
            }
            let text = self.text.trim_ascii_end();
            if text.is_empty() {
                continue;
            }
            return match serde_json::from_slice(text) {
                Ok(Line::Run(header)) if header.format != FORMAT => Err(ReadError::Format {
                    found: header.format,
                }),
                Ok(line) => Ok(Some(line)),
                // The first line identifies the file: if it is torn, the file is not a record.
                Err(_) if self.number > 1 && self.is_last()? => {
                    self.is_torn = true;
                    Ok(None)
                }
                Err(source) => Err(ReadError::Line {
                    number: self.number,
                    source,
                }),
            };
        }
    }

    /// True if nothing follows.
    fn is_last(&mut self) -> Result<bool, ReadError> {
        let rest = self.reader.fill_buf().map_err(|source| ReadError::Io {
            path: PathBuf::new(),
            source,
        })?;
        Ok(rest.is_empty())
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<Line, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let line = self.next_line().transpose();
        self.has_ended = !matches!(line, Some(Ok(_)));
        line
    }
}
