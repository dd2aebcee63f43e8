//! The stream of rows of a format, byte for byte those printed by Super Smack's gen-data.

use super::format::{Content, Format, Item, STRING_WIDTH_MAX, Width};
use crate::glibc_random::{BLOCK, GlibcRandom};

/// Maximum random numbers drawn by one directive: a width and the letters of a string.
const DRAWS_PER_DIRECTIVE: usize = 1 + STRING_WIDTH_MAX as usize;
/// Letters copied at a time: strings are copied in whole chunks, the excess is overwritten.
const CHUNK: usize = 32;
/// Decimal digits of the largest u64.
const DIGITS_MAX: usize = 20;

/// Generates the rows of a table, in constant memory.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    items: Vec<Item>,
    rows_left: u64,
    row: Counter,
    draws: Draws,
}

impl Rows {
    /// The first `count` rows of a format.
    pub(crate) fn new(format: &Format, count: u64) -> Self {
        Self {
            items: format.items.clone(),
            rows_left: count,
            row: Counter::zero(),
            draws: Draws::new(),
        }
    }

    /// Appends complete rows until `out` holds at least `until` bytes or no row is left; false when none is left.
    pub(crate) fn fill(&mut self, out: &mut Vec<u8>, until: usize) -> bool {
        while out.len() < until && self.rows_left > 0 {
            self.append_row(out);
        }
        self.rows_left > 0
    }

    fn append_row(&mut self, out: &mut Vec<u8>) {
        self.rows_left -= 1;
        self.row.increment();
        for item in &self.items {
            match item {
                Item::Literal(literal) => out.extend_from_slice(literal),
                Item::Directive { width, content } => {
                    self.draws.ensure();
                    let width = match *width {
                        Width::Exact(width) => width,
                        Width::Drawn { min, span } => min + u64::from(self.draws.number()) % span,
                    };
                    match content {
                        Content::Letters => self.draws.letters(width, out),
                        Content::RowNumber => right_aligned(self.row.digits(), width, out),
                        Content::Random => {
                            let mut buffer = itoa::Buffer::new();
                            let number = buffer.format(self.draws.number());
                            right_aligned(number.as_bytes(), width, out);
                        }
                    }
                }
            }
        }
    }
}

fn right_aligned(digits: &[u8], width: u64, out: &mut Vec<u8>) {
    let blanks = (width as usize).saturating_sub(digits.len());
    if blanks > 0 {
        out.resize(out.len() + blanks, b' ');
    }
    out.extend_from_slice(digits);
}

/// Precomputed random numbers, each also as the letter that it selects.
#[derive(Debug, Clone)]
struct Draws {
    generator: GlibcRandom,
    numbers: Box<[u32; DRAWS_PER_DIRECTIVE + BLOCK]>,
    /// With room for the last chunk of the last string.
    letters: Box<[u8; DRAWS_PER_DIRECTIVE + BLOCK + CHUNK]>,
    /// Index of the next number; those before it are used.
    next: usize,
}

impl Draws {
    fn new() -> Self {
        Self {
            generator: GlibcRandom::unseeded(),
            numbers: Box::new([0; DRAWS_PER_DIRECTIVE + BLOCK]),
            letters: Box::new([0; DRAWS_PER_DIRECTIVE + BLOCK + CHUNK]),
            next: DRAWS_PER_DIRECTIVE + BLOCK,
        }
    }

    /// Refills the buffer so that a directive has all its numbers.
    #[inline]
    fn ensure(&mut self) {
        if self.next > BLOCK {
            self.refill();
        }
    }

    #[inline(never)]
    fn refill(&mut self) {
        // The unused numbers move to the positions right before the new block.
        let start = self.next - BLOCK;
        self.numbers.copy_within(self.next.., start);
        self.letters
            .copy_within(self.next..DRAWS_PER_DIRECTIVE + BLOCK, start);
        self.next = start;
        let fresh = self.numbers[DRAWS_PER_DIRECTIVE..]
            .first_chunk_mut()
            .expect("the buffer ends with one block");
        self.generator.fill(fresh);
        for (letter, number) in self.letters[DRAWS_PER_DIRECTIVE..].iter_mut().zip(fresh) {
            *letter = letter_of(*number);
        }
    }

    #[inline]
    fn number(&mut self) -> u32 {
        let number = self.numbers[self.next];
        self.next += 1;
        number
    }

    #[inline]
    fn letters(&mut self, width: u64, out: &mut Vec<u8>) {
        let width = match width {
            0 => STRING_WIDTH_MAX as usize,
            width => width.min(STRING_WIDTH_MAX) as usize,
        };
        let end = out.len() + width;
        let mut from = self.next;
        let mut left = width;
        loop {
            // Chunks of a fixed size compile to vector moves instead of a call.
            out.extend_from_slice(&self.letters[from..from + CHUNK]);
            if left <= CHUNK {
                break;
            }
            from += CHUNK;
            left -= CHUNK;
        }
        out.truncate(end);
        self.next += width;
    }
}

/// `'a' + number mod 25`, without a wide multiplication so that it works on 16-bit lanes.
///
/// 2^10 is -1 and 2^20 is 1 modulo 25, so the number's three parts of at most 11 bits add up to the same
/// remainder: low - middle + high, plus 41 * 25 to stay positive, is below 4096.
#[inline]
fn letter_of(number: u32) -> u8 {
    let low = (number & 0x3ff) as u16;
    let middle = (number >> 10 & 0x3ff) as u16;
    let high = (number >> 20) as u16;
    let sum = low + 1025 - middle + high;
    let quotient = ((u32::from(sum) * 2622) >> 16) as u16;
    b'a' + (sum - 25 * quotient) as u8
}

/// A row number that counts in decimal digits: faster than formatting each number.
#[derive(Debug, Clone)]
struct Counter {
    digits: [u8; DIGITS_MAX],
    /// Index of the first digit.
    start: usize,
}

impl Counter {
    fn zero() -> Self {
        Self {
            digits: [b'0'; DIGITS_MAX],
            start: DIGITS_MAX - 1,
        }
    }

    fn increment(&mut self) {
        let mut index = DIGITS_MAX - 1;
        while self.digits[index] == b'9' {
            self.digits[index] = b'0';
            index -= 1;
        }
        self.digits[index] += 1;
        self.start = self.start.min(index);
    }

    fn digits(&self) -> &[u8] {
        &self.digits[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(format: &str, count: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rows = Rows::new(&Format::parse(format.as_bytes()).unwrap(), count);
        while rows.fill(&mut out, usize::MAX) {}
        out
    }

    /// The same rows by a slow, simple method.
    fn plainly(format: &Format, count: u64) -> Vec<u8> {
        let mut generator = GlibcRandom::unseeded();
        let mut block = [0; BLOCK];
        let mut used = BLOCK;
        let mut draw = || {
            if used == BLOCK {
                generator.fill(&mut block);
                used = 0;
            }
            used += 1;
            block[used - 1]
        };
        let mut out = Vec::new();
        for row in 1..=count {
            for item in &format.items {
                let (width, content) = match item {
                    Item::Literal(literal) => {
                        out.extend_from_slice(literal);
                        continue;
                    }
                    Item::Directive { width, content } => (width, content),
                };
                let width = match *width {
                    Width::Exact(width) => width,
                    Width::Drawn { min, span } => min + u64::from(draw()) % span,
                } as usize;
                match content {
                    Content::Letters => {
                        let width = if width == 0 || width > 256 {
                            256
                        } else {
                            width
                        };
                        out.extend((0..width).map(|_| b'a' + (draw() % 25) as u8));
                    }
                    Content::RowNumber => out.extend(format!("{row:width$}").bytes()),
                    Content::Random => out.extend(format!("{:width$}", draw()).bytes()),
                }
            }
        }
        out
    }

    #[test]
    fn letters_are_the_remainder_by_25() {
        for number in (0..1 << 31).step_by(9973).chain([0, 24, 25, (1 << 31) - 1]) {
            assert_eq!(letter_of(number), b'a' + (number % 25) as u8, "{number}");
        }
    }

    #[test]
    fn first_rows() {
        assert_eq!(
            String::from_utf8(rows("%12-12s%n,%25-25s,%n,%d", 2)).unwrap(),
            "ilcpsklryvmc1,pjnbpbwllsrehfmxrkecwitrs,1,2089018456\n\
             lrexvtjmxypu2,nbqfgxmuvgfajclfvenhyuhuo,2,1548233367\n"
        );
        assert_eq!(
            String::from_utf8(rows("[%6n|%3-3d]", 3)).unwrap(),
            "[1|846930886]\n[  2|1714636915]\n[    3|424238335]\n"
        );
    }

    #[test]
    fn whole_files() {
        for (count, bytes, digest) in [
            (90_000, 5_421_337, "f0d0fcc1c0b95d390b5d6155e8d2309c"),
            (9_000, 524_162, "ea7fc24416135f5a27425ae7287beb01"),
        ] {
            let out = rows("%12-12s%n,%25-25s,%n,%d", count);
            assert_eq!(out.len(), bytes);
            assert_eq!(format!("{:x}", md5::compute(&out)), digest);
        }
    }

    #[test]
    fn every_width_as_the_plain_way() {
        for format in [
            "%s",
            "%255s|%s",
            "%3-5s,%n",
            "%12n;%d",
            "%-9d",
            "%9-5s",
            "%300-300s",
            "%40-90s%33-33s",
            "%255s,%255s,%255s",
            "x",
            "",
            "%3000-3000n",
        ] {
            let parsed = Format::parse(format.as_bytes()).unwrap();
            assert!(rows(format, 500) == plainly(&parsed, 500), "{format}");
        }
    }

    #[test]
    fn pieces_join_to_the_same_rows() {
        let whole = rows("%12-12s%n,%d", 1_000);
        let mut rows = Rows::new(&Format::parse(b"%12-12s%n,%d").unwrap(), 1_000);
        let mut joined = Vec::new();
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let more = rows.fill(&mut piece, 100);
            assert!(piece.len() < 200);
            joined.extend_from_slice(&piece);
            if !more {
                break;
            }
        }
        assert_eq!(joined, whole);
    }

    #[test]
    fn the_counter_counts() {
        let mut counter = Counter::zero();
        for number in 1..=1_234 {
            counter.increment();
            assert_eq!(counter.digits(), number.to_string().as_bytes());
        }
    }
}
