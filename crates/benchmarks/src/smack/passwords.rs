//! Removes the passwords from a .smack file's text, so that a copy of it can be shared.

use super::lexer::{Token, TokenKind, end_of_string, tokens};
use crate::diagnostic::Source;

/// The member of a client section that holds a password.
const MEMBER: &str = "pass";
/// The last line of such a copy.
const NOTE: &[u8] = b"# dbdyno left the passwords out of this copy\n";

/// The text with all passwords empty, also in comments, and a note at its end; `None` where it has none. Line numbers
/// do not change. `pass "secret";` becomes `pass "";`, which selects the password of the connection options.
pub(super) fn without_passwords(text: &[u8]) -> Option<Vec<u8>> {
    let mut found = strings_after_pass(text, 0);
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let indent = line
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let marker = match &line[indent..] {
            [b'#', ..] => 1,
            [b'/', b'/', ..] => 2,
            _ => 0,
        };
        if marker > 0 {
            found.extend(strings_after_pass(
                &line[indent + marker..],
                start + indent + marker,
            ));
        }
        start += line.len();
    }
    if found.is_empty() {
        return None;
    }
    found.sort_unstable();
    found.dedup();
    let (mut copy, mut at) = (Vec::with_capacity(text.len()), 0);
    for (from, to) in found {
        if from >= at {
            copy.extend_from_slice(&text[at..from]);
            copy.extend_from_slice(b"\"\"");
            at = to;
        }
    }
    copy.extend_from_slice(&text[at..]);
    if !copy.ends_with(b"\n") {
        copy.push(b'\n');
    }
    copy.extend_from_slice(NOTE);
    Some(copy)
}

/// Start and end of the strings after the word `pass`, counted from `offset`, without empty ones.
fn strings_after_pass(text: &[u8], offset: usize) -> Vec<(usize, usize)> {
    let source = Source { name: "", text };
    let (tokens, _) = tokens(&source);
    let secret = |pair: &[Token]| match (&pair[0].kind, &pair[1].kind) {
        (TokenKind::Word(word), TokenKind::Text(value)) if word == MEMBER && !value.is_empty() => {
            let at = pair[1].at;
            Some((offset + at, offset + end_of_string(&source, at)?))
        }
        _ => None,
    };
    tokens.windows(2).filter_map(secret).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_go_and_everything_else_stays() {
        for (text, expected) in [
            (
                "client \"a\" { user \"u\"; pass \"se\\\"cret\"; db \"d\"; }\nmain {}\n",
                Some("client \"a\" { user \"u\"; pass \"\"; db \"d\"; }\nmain {}\n"),
            ),
            (
                "# pass \"old\";\nclient \"a\" {\n  pass\n \"x\"; }",
                Some("# pass \"\";\nclient \"a\" {\n  pass\n \"\"; }\n"),
            ),
            ("// pass \"old\"\n", Some("// pass \"\"\n")),
            ("client \"a\" { pass \"\"; }", None),
            (
                "query \"q\" { query \"select pass, 'pass' from t\"; }",
                None,
            ),
            ("table \"pass\" { create \"x\"; }", None),
        ] {
            let found = without_passwords(text.as_bytes());
            let expected = expected.map(|it| format!("{it}{}", String::from_utf8_lossy(NOTE)));
            assert_eq!(
                found.map(|it| String::from_utf8(it).unwrap()),
                expected,
                "{text}"
            );
        }
    }
}
