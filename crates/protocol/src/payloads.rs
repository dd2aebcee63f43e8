//! The payloads of a server's packets: OK, error, the ends of columns and rows, column definitions, rows.

use crate::lenenc::put_lenenc;

/// Status flag: autocommit is enabled.
pub const AUTOCOMMIT: u16 = 0x0002;

/// An OK packet: no AUTO_INCREMENT value, no warning.
pub(crate) fn put_ok(affected_rows: u64, status: u16, info: &str, out: &mut Vec<u8>) {
    out.push(0);
    put_lenenc(affected_rows, out);
    out.push(0);
    out.extend_from_slice(&status.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
    if !info.is_empty() {
        put_bytes(info.as_bytes(), out);
    }
}

pub(crate) fn put_error(number: u16, sqlstate: &str, message: &str, out: &mut Vec<u8>) {
    out.push(0xff);
    out.extend_from_slice(&number.to_le_bytes());
    out.push(b'#');
    out.extend_from_slice(sqlstate.as_bytes());
    out.extend_from_slice(message.as_bytes());
}

/// The packet between columns and rows, for a client that expects EOF packets.
pub(crate) fn put_end_of_columns(out: &mut Vec<u8>) {
    put_end_of_rows(AUTOCOMMIT, false, out);
}

/// The packet after the last row: an EOF, or an OK with the first byte of an EOF for a client without EOF packets.
pub fn put_end_of_rows(status: u16, deprecate_eof: bool, out: &mut Vec<u8>) {
    let [low, high] = status.to_le_bytes();
    if deprecate_eof {
        out.extend_from_slice(&[0xfe, 0, 0, low, high, 0, 0])
    } else {
        out.extend_from_slice(&[0xfe, 0, 0, low, high])
    }
}

/// The definition of a text column: catalogue `def`, no schema or tables, the name twice, and its type.
pub fn put_column(name: &[u8], length: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\x03def\x00\x00\x00");
    put_bytes(name, out);
    put_bytes(name, out);
    // Character set 45, length, type VARCHAR, no flags, no decimals.
    out.extend_from_slice(&[0x0c, 45, 0]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&[0xfd, 0, 0, 0, 0, 0]);
}

/// A row of a text result; `None` is NULL.
pub fn put_text_row<'a>(values: impl IntoIterator<Item = Option<&'a [u8]>>, out: &mut Vec<u8>) {
    for value in values {
        match value {
            None => out.push(0xfb),
            Some(value) => put_bytes(value, out),
        }
    }
}

/// A row of a prepared statement's result, with text columns only; `None` is NULL.
pub(crate) fn put_binary_row<'a>(
    values: impl ExactSizeIterator<Item = Option<&'a [u8]>>,
    out: &mut Vec<u8>,
) {
    out.push(0);
    // One NULL bit per column; the first two bits are unused.
    let nulls = out.len();
    out.resize(nulls + (values.len() + 2).div_ceil(8), 0);
    for (column, value) in values.enumerate() {
        match value {
            None => out[nulls + (column + 2) / 8] |= 1 << ((column + 2) % 8),
            Some(value) => put_bytes(value, out),
        }
    }
}

/// A length-encoded string.
pub fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_lenenc(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_byte_by_byte() {
        let bytes = |put: fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            put(&mut out);
            out
        };
        let cases: [(Vec<u8>, &[u8]); 6] = [
            (
                bytes(|out| put_ok(300, 2, "", out)),
                b"\x00\xfc\x2c\x01\x00\x02\x00\x00\x00",
            ),
            (
                bytes(|out| put_ok(0, 10, "hi", out)),
                b"\x00\x00\x00\x0a\x00\x00\x00\x02hi",
            ),
            (
                bytes(|out| put_error(1213, "40001", "no", out)),
                b"\xff\xbd\x04#40001no",
            ),
            (
                bytes(|out| put_end_of_rows(2, false, out)),
                b"\xfe\x00\x00\x02\x00",
            ),
            (
                bytes(|out| put_end_of_rows(2, true, out)),
                b"\xfe\x00\x00\x02\x00\x00\x00",
            ),
            (
                bytes(|out| put_text_row([Some(&b"ab"[..]), None], out)),
                b"\x02ab\xfb",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn nulls_of_a_binary_row_are_bits_from_the_third_on() {
        let mut values = [Some(&b"x"[..]); 7];
        values[0] = None;
        values[6] = None;
        let mut out = Vec::new();
        put_binary_row(values.into_iter(), &mut out);
        assert_eq!(out, b"\x00\x04\x01\x01x\x01x\x01x\x01x\x01x");
    }
}
