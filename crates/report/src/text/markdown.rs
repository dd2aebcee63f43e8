//! Untrusted text as Markdown, escaped so that it contains no markup.

/// A table's cell on one line.
pub(crate) fn cell(text: &str) -> String {
    escaped(text).replace('|', "\\|")
}

/// Text with Markdown's and HTML's special characters escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' => out.extend(['\\', character]),
            // A line break would end a heading, an item or a row.
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            other if samples::is_unprintable(other) => {
                out.push('\\');
                out.push_str(&samples::printable(other.encode_utf8(&mut [0; 4])));
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_markdown_would_take_for_its_own_is_escaped() {
        let cases = [
            ("a_b*c", "a\\_b\\*c"),
            ("<b>&", "&lt;b>&amp;"),
            ("x|y\nz", "x\\|y z"),
            ("\x1b[2J\r\n\u{202e}", "\\\\u001b\\[2J  \\\\u202e"),
            ("1:0 ± 2 %", "1:0 ± 2 %"),
        ];
        for (text, expected) in cases {
            assert_eq!(cell(text), expected);
        }
    }
}
