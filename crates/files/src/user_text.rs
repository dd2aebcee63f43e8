//! Texts that people hand over, as their editors and archives wrote them: with a byte order mark, compressed, or both.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read, Seek},
    os::fd::AsRawFd,
    path::Path,
};

use flate2::bufread::MultiGzDecoder;

use crate::regular::{open_regular, open_regular_within, read_within, text_of, too_long};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 << 10;
/// The mark of UTF-8. Source: RFC 3629, section 6.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// The marks of UTF-16 in both orders of bytes.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// What other archives begin with, and what unpacks them. Source: magic(5).
const OTHERS: [(&[u8], &str, &str); 5] = [
    (b"BZh", "bzip2", "bunzip2 --keep"),
    (b"\xfd7zXZ\0", "xz", "unxz --keep"),
    (b"PK\x03\x04", "zip", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip", "7z x"),
    (b"\x04\x22\x4d\x18", "lz4", "unlz4 --keep"),
];
/// The longest of these beginnings.
const HEAD_BYTES: u64 = 6;

/// The text of a file: decompressed by what it begins with and not by its name, and without a byte order mark.
pub struct UserText<'r> {
    input: Box<dyn BufRead + 'r>,
    is_plain: bool,
}

impl UserText<'static> {
    /// Opens a file, as [`open_regular`] does.
    ///
    /// # Errors
    /// Also a text in UTF-16 and a format that is not read here, with the command that helps.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(open_regular(path)?)
    }

    /// The same; reading more than `bytes_max` of its text is an error.
    pub fn open_within(path: &Path, bytes_max: u64) -> io::Result<Self> {
        let opened = Self::open(path)?;
        let within = LimitedReader {
            input: opened.input,
            left: bytes_max,
            bytes_max,
        };
        Ok(Self {
            input: Box::new(within),
            is_plain: opened.is_plain,
        })
    }
}

impl<'r> UserText<'r> {
    /// The text of what is read here.
    ///
    /// # Errors
    /// As [`UserText::open`].
    pub fn of(input: impl Read + 'r) -> io::Result<Self> {
        let (head, input) = with_head(buffered(input))?;
        let other = OTHERS.iter().find(|(begin, ..)| head.starts_with(begin));
        if let Some((_, name, command)) = other {
            return Err(unread(format!(
                "compressed by {name}; {command} unpacks it"
            )));
        }
        if head.starts_with(GZIP) {
            return Self::unmarked(buffered(MultiGzDecoder::new(input)), false);
        }
        if head.starts_with(ZSTD) {
            return Self::unmarked(buffered(zstd::Decoder::with_buffer(input)?), false);
        }
        Self::unmarked(input, true)
    }

    fn unmarked(input: impl BufRead + 'r, is_plain: bool) -> io::Result<Self> {
        let (head, mut input) = with_head(input)?;
        if UTF_16.iter().any(|mark| head.starts_with(mark)) {
            let message = "UTF-16; iconv -f UTF-16 -t UTF-8 converts it".to_owned();
            return Err(unread(message));
        }
        let is_marked = head.starts_with(MARK);
        if is_marked {
            input.consume(MARK.len());
        }
        Ok(Self {
            input: Box::new(input),
            is_plain: is_plain && !is_marked,
        })
    }

    /// Whether the file's bytes are those of the text.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }
}

impl Read for UserText<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.input.read(out)
    }
}

impl BufRead for UserText<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
    }
}

/// The text of a file in memory; an error if it is longer than `bytes_max`, as are those of [`UserText::open`].
pub fn read_handed_over(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_within(UserText::open(path)?, bytes_max)
}

/// The same in UTF-8.
pub fn read_handed_over_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    text_of(read_handed_over(path, bytes_max)?)
}

/// The text of a file, or of a pipe, as a file that can be read at any place: itself where its bytes are those of the text,
/// and else one without a name, on the disk of temporary files.
pub fn seekable(path: &Path) -> io::Result<File> {
    seekable_within(path, u64::MAX)
}

/// The same; an error if it is longer than `bytes_max`.
pub fn seekable_within(path: &Path, bytes_max: u64) -> io::Result<File> {
    let given = open_regular_within(path, bytes_max)?;
    let is_file = given.metadata()?.is_file();
    let text = UserText::of(given)?;
    if text.is_plain() && is_file {
        return open_regular(path);
    }
    let mut file = tempfile::tempfile()?;
    if io::copy(&mut text.take(bytes_max), &mut file)? == bytes_max {
        return Err(too_long(bytes_max));
    }
    file.rewind()?;
    Ok(file)
}

/// The same file with a place of its own, from its beginning.
pub fn reopened(file: &File) -> io::Result<File> {
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn buffered<R: Read>(input: R) -> BufReader<R> {
    BufReader::with_capacity(PIECE_BYTES, input)
}

/// What an input begins with, and the whole of it.
fn with_head<R: BufRead>(mut input: R) -> io::Result<(Vec<u8>, impl BufRead + use<R>)> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

fn unread(what: String) -> io::Error {
    let message = format!("this is {what}");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// An input that is an error behind a number of bytes.
struct LimitedReader<R> {
    input: R,
    left: u64,
    bytes_max: u64,
}

impl<R: BufRead> Read for LimitedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for LimitedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.input.fill_buf()?;
        if self.left == 0 && !bytes.is_empty() {
            return Err(too_long(self.bytes_max));
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        Ok(&bytes[..bytes.len().min(room)])
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.left -= count as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn text(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        UserText::of(bytes)?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn a_text_is_the_same_however_it_is_handed_over() {
        let marked = b"\xef\xbb\xbfSELECT 1;\r\n";
        let two = [gzip(b"SELECT "), gzip(b"1;\r\n")].concat();
        for bytes in [
            b"SELECT 1;\r\n".to_vec(),
            marked.to_vec(),
            gzip(b"SELECT 1;\r\n"),
            gzip(marked),
            two,
            zstd::encode_all(&marked[..], 1).unwrap(),
        ] {
            assert_eq!(text(&bytes).unwrap(), "SELECT 1;\r\n", "{bytes:?}");
        }
        for short in ["", "a", "\u{feff}"] {
            let expected = short.trim_start_matches('\u{feff}');
            assert_eq!(text(short.as_bytes()).unwrap(), expected);
        }
        assert!(UserText::of(&b"a"[..]).unwrap().is_plain());
        assert!(!UserText::of(&marked[..]).unwrap().is_plain());
    }

    #[test]
    fn what_is_not_read_names_the_command_that_helps() {
        for (bytes, message) in [
            (
                &b"BZh91AY&SY"[..],
                "this is compressed by bzip2; bunzip2 --keep unpacks it",
            ),
            (
                b"\xfd7zXZ\0\0\x04",
                "this is compressed by xz; unxz --keep unpacks it",
            ),
            (
                b"PK\x03\x04\x14",
                "this is compressed by zip; unzip unpacks it",
            ),
            (
                b"\xff\xfeS\0E\0",
                "this is UTF-16; iconv -f UTF-16 -t UTF-8 converts it",
            ),
        ] {
            assert_eq!(text(bytes).unwrap_err().to_string(), message);
        }
        let torn = gzip(b"SELECT 1;");
        assert!(text(&torn[..torn.len() - 4]).is_err());
    }

    #[test]
    fn a_limit_is_one_of_the_text() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.sql.gz");
        std::fs::write(&path, gzip(&vec![b'x'; 1 << 20])).unwrap();
        assert_eq!(read_handed_over(&path, 1 << 20).unwrap().len(), 1 << 20);
        let limit = "longer than 1.00 MiB, the limit for such a file";
        let short = (1 << 20) - 1;
        assert!(read_handed_over(&path, short).is_err());
        let mut exact = UserText::open_within(&path, 1 << 20).unwrap();
        assert_eq!(io::copy(&mut exact, &mut io::sink()).unwrap(), 1 << 20);
        std::fs::write(&path, gzip(&vec![b'x'; (1 << 20) + 1])).unwrap();
        let mut long = UserText::open_within(&path, 1 << 20).unwrap();
        let error = io::copy(&mut long, &mut io::sink()).unwrap_err();
        assert_eq!(error.to_string(), limit);
        let seekable = seekable(&path).unwrap();
        assert_eq!(seekable.metadata().unwrap().len(), (1 << 20) + 1);
        let mut begin = [0; 2];
        for mut file in [reopened(&seekable).unwrap(), seekable] {
            file.read_exact(&mut begin).unwrap();
            assert_eq!(&begin, b"xx");
        }
    }
}
