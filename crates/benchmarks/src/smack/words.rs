//! A compact list of words: ten million words of 19 bytes need about 230 MB.

use bstr::BString;

/// Words that share one base in the index.
const WORDS_PER_BASE: usize = 4096;

/// An ordered collection of words.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    bytes: Vec<u8>,
    /// End of each word, counted from the base of its group.
    ends: Vec<u32>,
    /// Start of each group of words.
    bases: Vec<usize>,
}

/// Error for a group of words that exceeds the range of its offsets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Words {
    /// Adds a word, escaped for a string literal so that drawing it is a plain copy.
    pub(super) fn push(&mut self, word: &[u8]) -> Result<(), TooLarge> {
        if self.ends.len().is_multiple_of(WORDS_PER_BASE) {
            self.bases.push(self.bytes.len());
        }
        protocol::escape_into(word, &mut self.bytes);
        let base = self.bases.last().copied().unwrap_or_default();
        self.ends
            .push(u32::try_from(self.bytes.len() - base).map_err(|_| TooLarge)?);
        Ok(())
    }

    /// Releases memory that was reserved in excess.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The word with this index, which must be below [`Words::len`].
    #[inline]
    pub(super) fn get(&self, index: usize) -> &[u8] {
        let base = self.bases[index / WORDS_PER_BASE];
        let start = if index.is_multiple_of(WORDS_PER_BASE) {
            0
        } else {
            self.ends[index - 1] as usize
        };
        &self.bytes[base + start..base + self.ends[index] as usize]
    }

    /// Bytes that the words and their index occupy.
    #[cfg(test)]
    fn size_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + self.bases.capacity() * 8
    }
}

/// Collects words from lines that arrive in pieces: every `step`th line, up to the delimiter.
#[derive(Debug)]
pub(super) struct LineReader {
    words: Words,
    delimiter: Option<u8>,
    step: u64,
    line: u64,
    /// The word of the unfinished line, if that line counts.
    word: BString,
    /// The delimiter was read; the rest of the line is ignored.
    complete: bool,
    /// The line has begun: at the end of the data it counts even without a line feed.
    begun: bool,
}

impl LineReader {
    /// A reader of every `step`th line; `step` is at least 1.
    pub(super) fn new(delimiter: Option<u8>, step: u64) -> Self {
        Self {
            words: Words::default(),
            delimiter,
            step: step.max(1),
            line: 1,
            word: BString::default(),
            complete: false,
            begun: false,
        }
    }

    pub(super) fn feed(&mut self, mut piece: &[u8]) -> Result<(), TooLarge> {
        use bstr::ByteSlice;
        while !piece.is_empty() {
            self.begun = true;
            let end = piece.find_byte(b'\n');
            let line = &piece[..end.unwrap_or(piece.len())];
            if !self.complete && self.line.is_multiple_of(self.step) {
                match self
                    .delimiter
                    .and_then(|delimiter| line.find_byte(delimiter))
                {
                    Some(length) => {
                        self.word.extend_from_slice(&line[..length]);
                        self.complete = true;
                    }
                    None => self.word.extend_from_slice(line),
                }
            }
            match end {
                Some(end) => {
                    self.end_line()?;
                    piece = &piece[end + 1..];
                }
                None => break,
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), TooLarge> {
        if self.line.is_multiple_of(self.step) {
            self.words.push(&self.word)?;
            self.word.clear();
        }
        self.line += 1;
        self.complete = false;
        self.begun = false;
        Ok(())
    }

    /// All words and the number of lines; a last line without a line feed counts (Super Smack lost it).
    pub(super) fn finish(mut self) -> Result<(Words, u64), TooLarge> {
        if self.begun {
            self.end_line()?;
        }
        self.words.shrink();
        Ok((self.words, self.line - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str], delimiter: Option<u8>, step: u64) -> Vec<String> {
        let mut reader = LineReader::new(delimiter, step);
        for piece in pieces {
            reader.feed(piece.as_bytes()).unwrap();
        }
        let (words, _) = reader.finish().unwrap();
        (0..words.len())
            .map(|index| String::from_utf8(words.get(index).to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn words_of_lines() {
        let comma = Some(b',');
        for (pieces, delimiter, step, expected) in [
            (&["a,1\nb,2\n"][..], comma, 1, &["a", "b"][..]),
            (&["a,1\nb,2"], comma, 1, &["a", "b"]),
            (&["a,1\nb,2\nc\nd"], comma, 2, &["b", "d"]),
            (&["a b\nc\n"], None, 1, &["a b", "c"]),
            (
                &["on", "e,x", "y\nt", "wo", "\n", "three"],
                comma,
                1,
                &["one", "two", "three"],
            ),
            (&["\n\nx\n"], comma, 1, &["", "", "x"]),
            (&["it's\n"], None, 1, &["it\\'s"]),
            (&[""], comma, 1, &[]),
        ] {
            assert_eq!(read(pieces, delimiter, step), expected, "{pieces:?}");
        }
    }

    #[test]
    fn lines_of_any_length() {
        let long = "x".repeat(70_000);
        assert_eq!(
            read(&[&long, ",y\nz\n"], Some(b','), 1),
            [long.as_str(), "z"]
        );
    }

    #[test]
    fn many_words_stay_packed() {
        let mut words = Words::default();
        for index in 0..100_000 {
            words
                .push(format!("abcdefghijkl{index}").as_bytes())
                .unwrap();
        }
        words.shrink();
        assert_eq!(words.len(), 100_000);
        for index in [0, 1, 4095, 4096, 4097, 8191, 8192, 99_999] {
            assert_eq!(words.get(index), format!("abcdefghijkl{index}").as_bytes());
        }
        // Four bytes a word besides the word itself, so that ten million stay below 250 MB.
        assert!(words.size_bytes() < 100_000 * (17 + 4 + 1));
    }
}
