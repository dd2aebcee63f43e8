//! Escaping of text in statements.

/// Appends `value`, with any bytes, escaped for use between single quotes.
///
/// For connections in UTF-8 without the SQL mode NO_BACKSLASH_ESCAPES.
/// Source: MySQL manual, "String Literals".
pub fn escape_into(value: &[u8], out: &mut Vec<u8>) {
    out.reserve(value.len());
    for &byte in value {
        let escape = match byte {
            0 => b'0',
            b'\n' => b'n',
            b'\r' => b'r',
            0x1a => b'Z',
            b'\'' | b'"' | b'\\' => byte,
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', escape]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_end_the_literal_is_escaped() {
        let cases: [(&[u8], &[u8]); 4] = [
            (b"plain \xc3\xa4", b"plain \xc3\xa4"),
            (b"O'Neil \\ \"x\"", b"O\\'Neil \\\\ \\\"x\\\""),
            (b"a\0b\nc\rd\x1a", b"a\\0b\\nc\\rd\\Z"),
            (b"", b""),
        ];
        for (value, expected) in cases {
            let mut out = Vec::new();
            escape_into(value, &mut out);
            assert_eq!(out, expected);
        }
    }
}
