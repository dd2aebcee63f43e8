//! The lines of a text file, one at a time, with the place of a problem.

use std::io::{BufRead, Read};

use crate::error::Error;

/// Largest length of a line: far above those of sysstat.
pub(crate) const LINE_BYTES_AT_MOST: u64 = 1 << 20;

/// Passes each line to `take`. True if the last line was torn: it was refused, and its end is missing.
pub(crate) fn each_line(
    name: &str,
    reader: &mut impl BufRead,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<bool, Error> {
    let mut text = String::new();
    for line in 1.. {
        text.clear();
        let read = Read::by_ref(reader)
            .take(LINE_BYTES_AT_MOST)
            .read_line(&mut text);
        let length = read.map_err(|source| Error::Io {
            name: name.to_owned(),
            source,
        })?;
        if length == 0 {
            break;
        }
        match take(text.trim_end()) {
            Ok(()) => {}
            Err(_) if !text.ends_with('\n') && (length as u64) < LINE_BYTES_AT_MOST => {
                return Ok(true);
            }
            Err(problem) => {
                return Err(Error::Line {
                    name: name.to_owned(),
                    line,
                    problem,
                });
            }
        }
    }
    Ok(false)
}
