//! Escapes in strings that Lua 5.1 accepts and LuaJIT refuses: `"\."` is a dot in the one, an error in the other.

/// The text with each backslash removed that LuaJIT would refuse; `None` if there is none.
///
/// Comments and long strings, where a backslash means nothing, stay as they are.
pub(crate) fn without_unknown_escapes(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = match rest[0] {
            b'-' if rest.starts_with(b"--") => 2 + comment_length(&rest[2..]),
            b'[' => long_bracket_length(rest).unwrap_or(1),
            quote @ (b'"' | b'\'') => {
                at += copy_string(rest, quote, &mut out);
                continue;
            }
            _ => 1,
        };
        out.extend_from_slice(&rest[..length]);
        at += length;
    }
    (out.len() < text.len()).then_some(out)
}

/// Length of a comment after its two dashes.
fn comment_length(rest: &[u8]) -> usize {
    let line = || rest.iter().position(|&byte| byte == b'\n');
    long_bracket_length(rest).unwrap_or_else(|| line().unwrap_or(rest.len()))
}

/// Length of a long string or comment, `[[...]]` or `[==[...]==]`; an unclosed one extends to the end.
fn long_bracket_length(text: &[u8]) -> Option<usize> {
    let level = text
        .strip_prefix(b"[")?
        .iter()
        .take_while(|&&byte| byte == b'=')
        .count();
    if text.get(1 + level) != Some(&b'[') {
        return None;
    }
    let open = level + 2;
    let closes = |part: &[u8]| {
        part.first() == Some(&b']')
            && part.last() == Some(&b']')
            && part[1..=level].iter().all(|&byte| byte == b'=')
    };
    let end = text[open..].windows(open).position(closes);
    Some(end.map_or(text.len(), |end| open + end + open))
}

/// Appends a short string without the backslashes that LuaJIT refuses; returns its length in the source.
fn copy_string(text: &[u8], quote: u8, out: &mut Vec<u8>) -> usize {
    out.push(quote);
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte == b'\\' {
            let Some(&escaped) = text.get(at) else {
                out.push(byte);
                break;
            };
            if is_known(escaped, &text[at + 1..]) {
                out.push(byte);
            }
            out.push(escaped);
            at += 1;
            continue;
        }
        out.push(byte);
        // A string ends with its line; LuaJIT reports the missing quote.
        if byte == quote || byte == b'\n' {
            break;
        }
    }
    at
}

/// Whether LuaJIT accepts a backslash before this byte.
fn is_known(escaped: u8, after: &[u8]) -> bool {
    match escaped {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'z' => true,
        b'\\' | b'"' | b'\'' | b'\n' | b'\r' | b'0'..=b'9' => true,
        b'x' => after.len() >= 2 && after[..2].iter().all(u8::is_ascii_hexdigit),
        b'u' => after.first() == Some(&b'{'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cleaned(text: &str) -> Option<String> {
        without_unknown_escapes(text.as_bytes()).map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn only_unknown_escapes_of_short_strings_go() {
        let cases = [
            (r#"x = "a\.b""#, Some(r#"x = "a.b""#)),
            (r"x = '\(%d\)'", Some(r"x = '(%d)'")),
            (r#"x = "\\." y = "\n\t\065\"" "#, None),
            (r#"x = "\x41\u{41}\z" "#, None),
            (r#"x = "\xg\u" "#, Some(r#"x = "xgu" "#)),
            (r"-- a comment \.", None),
            (
                "--[[ a comment \\. ]] x = '\\.'",
                Some("--[[ a comment \\. ]] x = '.'"),
            ),
            (
                "--[==[ ]] \\. ]==] x = '\\.'",
                Some("--[==[ ]] \\. ]==] x = '.'"),
            ),
            (r"x = [[a\.b]]", None),
            (
                r"x = [==[a\.b]] ' ]==] .. '\.'",
                Some(r"x = [==[a\.b]] ' ]==] .. '.'"),
            ),
            (r"t[t[1]] = '\.'", Some(r"t[t[1]] = '.'")),
            (r#"x = '"\.' "#, Some(r#"x = '".' "#)),
            (r"x = 'unfinished \", None),
        ];
        for (text, expected) in cases {
            assert_eq!(cleaned(text).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_keep_all_but_backslashes(text: Vec<u8>) {
            let cleaned = without_unknown_escapes(&text).unwrap_or_else(|| text.clone());
            let rest = |text: &[u8]| text.iter().filter(|&&byte| byte != b'\\').copied().collect::<Vec<_>>();
            prop_assert_eq!(rest(&cleaned), rest(&text));
        }

        #[test]
        fn texts_of_marks_never_panic(text in r#"[\[\]=\\"'a.x\n-]{0,40}"#) {
            let _ = without_unknown_escapes(text.as_bytes());
        }
    }
}
