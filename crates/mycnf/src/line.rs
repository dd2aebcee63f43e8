//! One line of an option file.
//!
//! Source: behaviour of MariaDB 10.11's `my_print_defaults`, whose parser is shared by every MySQL and MariaDB
//! program.

/// Largest length of a line, bytes: the servers read 4096 bytes at a time and treat the rest as another line.
pub(crate) const LINE_BYTES_MAX: usize = 4094;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Empty or a comment.
    Nothing,
    /// `[mysqld]`
    Group(&'a str),
    /// `innodb_io_capacity = 2000` or `skip-name-resolve`
    Option {
        name: &'a str,
        value: Option<String>,
    },
    /// `!include other.cnf`
    Include(&'a str),
    /// `!includedir /etc/mysql/conf.d`
    IncludeDirectory(&'a str),
}

/// Parses one line, without its line end; the error describes the problem.
pub(crate) fn parse_line(text: &str) -> Result<Line<'_>, &'static str> {
    let text = text.trim_matches(is_space);
    match text.as_bytes().first() {
        None | Some(b'#' | b';') => return Ok(Line::Nothing),
        Some(b'!') => return parse_directive(&text[1..]),
        Some(b'[') => {
            let end = text.find(']').ok_or("a group's name lacks its ]")?;
            return Ok(Line::Group(text[1..end].trim_end_matches(is_space)));
        }
        Some(_) => {}
    }
    if text.len() > LINE_BYTES_MAX {
        return Err("the line is longer than 4094 bytes; servers would truncate it");
    }
    let text = without_comment(text).trim_end_matches(is_space);
    let Some((name, value)) = text.split_once('=') else {
        return Ok(Line::Option {
            name: text,
            value: None,
        });
    };
    let name = name.trim_end_matches(is_space);
    if name.is_empty() {
        return Err("an option's name is missing before the =");
    }
    let value = unquote(value.trim_start_matches(is_space));
    Ok(Line::Option {
        name,
        value: Some(unescape(value)),
    })
}

/// A directive after its `!`.
fn parse_directive(text: &str) -> Result<Line<'_>, &'static str> {
    let (word, path) = text.split_once(is_space).unwrap_or((text, ""));
    let path = path.trim_matches(is_space);
    match (word, path) {
        ("include", "") => Err("!include names no file"),
        ("includedir", "") => Err("!includedir names no directory"),
        ("include", path) => Ok(Line::Include(path)),
        ("includedir", path) => Ok(Line::IncludeDirectory(path)),
        _ => Err("a line that starts with ! must be !include or !includedir"),
    }
}

/// Cuts the line at its first `#` outside quotes. Quotes count even inside a word.
pub(crate) fn without_comment(text: &str) -> &str {
    let mut open: Option<char> = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match (open, character) {
            (_, '"' | '\'') if escaped => {}
            (None, '"' | '\'') => open = Some(character),
            (Some(quote), _) if quote == character => open = None,
            (None, '#') => return &text[..at],
            _ => {}
        }
        escaped = open.is_some() && character == '\\' && !escaped;
    }
    text
}

/// Removes one pair of quotes that encloses the whole value.
fn unquote(value: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

/// Resolves `\n \t \r \b \s \" \' \\`; any other backslash remains.
fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some(kept @ ('"' | '\'' | '\\')) => out.push(kept),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

/// White space for the servers: ASCII only, including the vertical tab.
pub(crate) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair was checked with MariaDB 10.11's `my_print_defaults`.
    #[test]
    fn values_as_the_servers_read_them() {
        for (line, value) in [
            (r#"user = "us er"   # trailing"#, "us er"),
            ("password='pa#ss'", "pa#ss"),
            (r"host=a\sb # c", "a b"),
            ("port = 3307 ; kept", "3307 ; kept"),
            (r#"socket = "a\"b""#, "a\"b"),
            ("database = x#y", "x"),
            (r#"foo = "a" "b""#, r#"a" "b"#),
            ("bar='it''s'", "it''s"),
            (r"baz = a\\b\tc\qd", "a\\b\tc\\qd"),
            ("em =", ""),
            (r#"q2 = "abc"#, "\"abc"),
            (r"q3 = 'a\nb'", "a\nb"),
            (r#"q4 = "a # b" # c"#, "a # b"),
            ("q6 = it's # not", "it's # not"),
            (r#"q7 = "x\"y # z""#, "x\"y # z"),
            (r#"q9 = "a"b""#, "a\"b"),
            (r#"q10 = 'a""#, "'a\""),
            (r#"q11 = ""#, "\""),
            ("q12 = ''", ""),
            (r"q13 = a\ b\", r"a\ b\"),
            (r"q15 = \#x\;", r"\"),
            (r#"q19 = "a\'b""#, "a'b"),
            ("q20 = 'x' y 'z'", "x' y 'z"),
            ("q21=a\t# tab", "a"),
            (r"q26 = \xyz\e\0", r"\xyz\e\0"),
            ("x=1\r", "1"),
        ] {
            let Ok(Line::Option {
                value: Some(read), ..
            }) = parse_line(line)
            else {
                panic!("{line} is no option with a value");
            };
            assert_eq!(read, value, "{line}");
        }
    }

    #[test]
    fn lines_without_a_value() {
        let option = |name| Ok(Line::Option { name, value: None });
        for (line, read) in [
            ("", Ok(Line::Nothing)),
            ("  # comment", Ok(Line::Nothing)),
            ("; comment", Ok(Line::Nothing)),
            ("[client] # junk", Ok(Line::Group("client"))),
            ("[client ]junk", Ok(Line::Group("client"))),
            ("[ client]", Ok(Line::Group(" client"))),
            ("  loose-xx", option("loose-xx")),
            ("k16 # comment", option("k16")),
            ("k17;c", option("k17;c")),
            ("!include /a b.cnf ", Ok(Line::Include("/a b.cnf"))),
            ("!includedir\t/etc", Ok(Line::IncludeDirectory("/etc"))),
        ] {
            assert_eq!(parse_line(line), read, "{line}");
        }
    }

    #[test]
    fn wrong_lines_are_errors() {
        let long = format!("x={}", "y".repeat(LINE_BYTES_MAX));
        for line in [
            "[client",
            "=1",
            " = 2",
            "!include",
            "!includedir ",
            "!inlcude x",
            &long,
        ] {
            assert!(parse_line(line).is_err(), "{line}");
        }
    }
}
