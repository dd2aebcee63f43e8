//! One row in the text form of LOAD DATA: fields with a TAB between them, `\N` for NULL.

use super::{
    random::Draw,
    text::{push_a_string, push_alphanumeric, push_state, push_zip},
};

/// The load time, which the specification takes from the system clock; constant here, so that the same seed gives
/// the same bytes.
const LOADED_AT: &[u8] = b"2026-01-01 00:00:00";

/// Appends the fields of one row.
pub(super) struct Row<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
}

impl<'a> Row<'a> {
    /// A row without fields yet.
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            is_first: true,
        }
    }

    #[inline]
    fn separate(&mut self) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(b'\t');
        }
        self.out
    }

    /// An integer field.
    #[inline]
    pub(super) fn int(&mut self, number: u32) -> &mut Self {
        let mut buffer = itoa::Buffer::new();
        self.text(buffer.format(number).as_bytes())
    }

    /// An amount of money, or another number with two decimals, in hundredths: 1234 is `12.34`.
    #[inline]
    pub(super) fn hundredths(&mut self, number: u32) -> &mut Self {
        let mut buffer = itoa::Buffer::new();
        let whole = buffer.format(number / 100).as_bytes();
        let cents = (number % 100) as u8;
        let out = self.separate();
        out.extend_from_slice(whole);
        out.extend_from_slice(&[b'.', b'0' + cents / 10, b'0' + cents % 10]);
        self
    }

    /// A share from 0 to 1 in ten-thousandths: 1234 is `0.1234`.
    pub(super) fn share(&mut self, number: u32) -> &mut Self {
        let digit = |divisor: u32| b'0' + (number / divisor % 10) as u8;
        let digits = [
            digit(10_000),
            b'.',
            digit(1_000),
            digit(100),
            digit(10),
            digit(1),
        ];
        self.text(&digits)
    }

    /// A text without TAB, line end or backslash.
    #[inline]
    pub(super) fn text(&mut self, text: &[u8]) -> &mut Self {
        self.separate().extend_from_slice(text);
        self
    }

    /// Letters and digits, of a random length in this range.
    #[inline]
    pub(super) fn a_string(&mut self, draw: &mut Draw, shortest: u32, longest: u32) -> &mut Self {
        push_a_string(draw, shortest..=longest, self.separate());
        self
    }

    /// This number of letters and digits.
    #[inline]
    pub(super) fn alphanumeric(&mut self, draw: &mut Draw, length: usize) -> &mut Self {
        push_alphanumeric(draw, length, self.separate());
        self
    }

    /// A field written by `push`.
    #[inline]
    pub(super) fn with(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> &mut Self {
        push(self.separate());
        self
    }

    /// Two street lines, city, state and zip.
    pub(super) fn address(&mut self, draw: &mut Draw) -> &mut Self {
        self.a_string(draw, 10, 20)
            .a_string(draw, 10, 20)
            .a_string(draw, 10, 20)
            .with(|out| push_state(draw, out))
            .with(|out| push_zip(draw, out))
    }

    #[inline]
    pub(super) fn loaded_at(&mut self) -> &mut Self {
        self.text(LOADED_AT)
    }

    #[inline]
    pub(super) fn null(&mut self) -> &mut Self {
        self.text(b"\\N")
    }

    /// Ends the row; returns the number of rows, 1.
    #[inline]
    pub(super) fn end(&mut self) -> u64 {
        self.out.push(b'\n');
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_as_load_data_reads_them() {
        let mut out = Vec::new();
        let mut row = Row::new(&mut out);
        row.int(7).hundredths(1205).share(2000).share(10_000).null();
        row.text(b"a").loaded_at().end();
        let expected = "7\t12.05\t0.2000\t1.0000\t\\N\ta\t2026-01-01 00:00:00\n";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }
}
