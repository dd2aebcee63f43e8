//! Escaping of external text (from a server, an observer or a file) for printing, so that it cannot move the cursor,
//! forge a line, change the writing direction or remain invisible.
//!
//! Unprintable characters are written as JSON escapes, so that a JSON document stays valid and unchanged:
//!
//! ```text
//! error 1064: near '\u001b[2J\nhint: everything is fine'
//! ```

use std::{borrow::Cow, fmt::Write};

/// Largest number of characters shown of one message or cell: a server can send megabytes.
const SHOWN_AT_MOST: usize = 2000;

/// True for characters that must not reach a terminal or a document unescaped: control characters, characters that
/// change the writing direction, zero-width characters and noncharacters.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            u32::from(character),
            0xAD | 0x34F
                | 0x61C
                | 0x115F..=0x1160
                | 0x17B4..=0x17B5
                | 0x180B..=0x180F
                | 0x200B..=0x200F
                | 0x2028..=0x202E
                | 0x2060..=0x206F
                | 0x3164
                | 0xFDD0..=0xFDEF
                | 0xFE00..=0xFE0F
                | 0xFEFF
                | 0xFFA0
                | 0xFFF0..=0xFFFB
                | 0xFFFE..=0xFFFF
                | 0x1BCA0..=0x1BCA3
                | 0x1D173..=0x1D17A
                | 0xE0000..=0xE0FFF
        )
        || u32::from(character) & 0xFFFE == 0xFFFE
}

/// A name or message on one line, shortened to 2,000 characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    cut(escaped(text, is_unprintable), SHOWN_AT_MOST)
}

/// As [`printable`], shortened to this number of characters.
pub fn printable_within(text: &str, at_most: usize) -> Cow<'_, str> {
    cut(escaped(text, is_unprintable), at_most)
}

/// A text of several lines in full length: line feeds and tabs are kept.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |it| is_unprintable(it) && !matches!(it, '\n' | '\t'))
}

/// As [`printable_lines`], shortened to this number of characters.
pub fn printable_lines_within(text: &str, at_most: usize) -> String {
    cut(printable_lines(text), at_most).into_owned()
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            _ if !is_escaped(character) => out.push(character),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").expect("writing to a string does not fail");
                }
            }
        }
    }
    Cow::Owned(out)
}

/// The beginning of a longer text, and the number of omitted characters.
fn cut(text: Cow<'_, str>, at_most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(at_most) {
        None => text,
        Some((end, _)) => {
            let more = text[end..].chars().count();
            Cow::Owned(format!("{}… ({more} more characters)", &text[..end]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_what_is_there() {
        let cases = [
            ("orders", "orders"),
            ("größer als 1 µs – 中文 🐬", "größer als 1 µs – 中文 🐬"),
            ("a\x1b[31mb\x07", "a\\u001b[31mb\\u0007"),
            ("one\r\ntwo\tthree", "one\\r\\ntwo\\tthree"),
            ("\u{9b}2J\u{7f}", "\\u009b2J\\u007f"),
            ("user\u{202e}gpj.exe", "user\\u202egpj.exe"),
            ("a\u{200b}b\u{feff}c\u{2028}", "a\\u200bb\\ufeffc\\u2028"),
            ("tag\u{e0041}", "tag\\udb40\\udc41"),
            ("\u{fffe}\u{1ffff}", "\\ufffe\\ud83f\\udfff"),
        ];
        for (text, expected) in cases {
            assert_eq!(printable(text), expected, "{text:?}");
            assert!(!printable(text).chars().any(is_unprintable));
        }
        assert_eq!(printable_lines("a\n\tb\r\x1b"), "a\n\tb\\r\\u001b");
    }

    #[test]
    fn a_json_document_stays_the_same() {
        let value = serde_json::json!({"a\u{202e}\u{e0041}\x1b\n": "\u{85}\u{2028}\u{7f}"});
        let printed = printable_lines(&value.to_string()).into_owned();
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&printed).unwrap(),
            value
        );
        assert!(printed.is_ascii());
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "ä".repeat(5000);
        let shown = printable(&long);
        assert!(shown.ends_with("ä… (3000 more characters)"), "{shown}");
        assert_eq!(printable_within("abcdef", 3), "abc… (3 more characters)");
        assert_eq!(printable_within("abc", 3), "abc");
        assert_eq!(printable_lines(&long), long);
    }
}
