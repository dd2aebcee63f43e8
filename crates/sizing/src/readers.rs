//! Recognises what kind of file the load of a system is in.

use std::io::{BufRead, Cursor, Read};

use crate::{
    cloudwatch, error::Error, iostat, lines::LINE_BYTES_AT_MOST, load_curve::LoadCurve, run_record,
    sadf,
};

/// Reads the load of the system `name`. The kind of the file is recognised by its first line, never by its name.
pub fn read_curve(name: &str, mut reader: impl BufRead) -> Result<LoadCurve, Error> {
    let io = |source| Error::Io {
        name: name.to_owned(),
        source,
    };
    skip_empty_lines(&mut reader).map_err(io)?;
    let mut first = Vec::new();
    let mut begin = Read::by_ref(&mut reader).take(LINE_BYTES_AT_MOST);
    begin.read_until(b'\n', &mut first).map_err(io)?;
    let line = String::from_utf8_lossy(&first).trim().to_owned();
    let reader = Cursor::new(first).chain(reader);
    if line.starts_with('{') {
        run_record::read(name, reader)
    } else if sadf::begins_with(&line) {
        sadf::read(name, reader)
    } else if iostat::begins_with(&line) {
        iostat::read(name, reader)
    } else if cloudwatch::begins_with(&line) {
        cloudwatch::read(name, reader)
    } else {
        Err(Error::UnknownKind {
            name: name.to_owned(),
        })
    }
}

/// `sadf` begins its output with an empty line if the first records of a file are of a restart.
fn skip_empty_lines(reader: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let begin = reader.fill_buf()?;
        let empty = begin.iter().take_while(|it| it.is_ascii_whitespace());
        match empty.count() {
            0 => return Ok(()),
            empty => reader.consume(empty),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_kind_is_recognised_by_the_content() {
        for (text, kind) in [
            ("\n# hostname;interval;timestamp;CPU\n", "no sample"),
            (
                "Linux 6.1.0 (db1) \t11/20/26 \t_x86_64_\t(4 CPU)\n",
                "no sample",
            ),
            ("\"Label\",ReadIOPS\n", "no sample"),
            ("{}\n", "run record line 1 is not valid"),
            ("time,writes\n1,2\n", "unknown kind of file"),
            ("", "unknown kind of file"),
        ] {
            // A reader may give a byte at a time.
            let bytes = BufReader::with_capacity(1, text.as_bytes());
            let error = read_curve("a", bytes).unwrap_err().to_string();
            assert!(
                error.starts_with("a: ") && error.contains(kind),
                "{text:?}: {error}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_curve("a", bytes.as_slice());
            for begin in ["{\"line\":\"run\"", "Linux ", "# hostname;interval;timestamp", "Label,ReadIOPS\n"] {
                let _ = read_curve("a", [begin.as_bytes(), &bytes].concat().as_slice());
            }
        }
    }
}
