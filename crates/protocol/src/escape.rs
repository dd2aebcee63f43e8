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

/// Appends `value` as a string literal, with its single quotes: `'it\'s'`, or `'it''s'` where no backslash escapes
/// (see [`crate::Connection::escapes_with_backslash`]).
pub fn quote_into(value: &[u8], escapes_with_backslash: bool, out: &mut Vec<u8>) {
    out.push(b'\'');
    if escapes_with_backslash {
        escape_into(value, out);
    } else {
        for &byte in value {
            out.push(byte);
            if byte == b'\'' {
                out.push(byte);
            }
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_backslash_escapes_only_quotes_are_doubled() {
        let mut out = Vec::new();
        quote_into(b"O'Neil \\ \"x\"\n", false, &mut out);
        assert_eq!(out, b"'O''Neil \\ \"x\"\n'");
        out.clear();
        quote_into(b"O'Neil \\", true, &mut out);
        assert_eq!(out, b"'O\\'Neil \\\\'");
    }

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
