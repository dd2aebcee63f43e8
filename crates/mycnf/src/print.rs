//! The printing of options in a form that the servers, and this crate, read back unchanged.

use std::fmt;

use crate::entry::Entry;
use crate::line::{LINE_BYTES_MAX, is_space};

/// Writes entries, with a `[group]` line wherever the group changes.
pub(crate) fn write_entries<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    out: &mut impl fmt::Write,
) -> fmt::Result {
    let mut group: Option<&str> = None;
    for entry in entries {
        if group != Some(&entry.group) {
            let gap = if group.is_some() { "\n" } else { "" };
            writeln!(out, "{gap}[{}]", entry.group)?;
            group = Some(&entry.group);
        }
        write_option(entry.name.as_written(), entry.value.as_deref(), out)?;
    }
    Ok(())
}

/// Writes one option as a line.
fn write_option(name: &str, value: Option<&str>, out: &mut impl fmt::Write) -> fmt::Result {
    match value {
        None => writeln!(out, "{name}"),
        Some(value) if is_plain(value) => writeln!(out, "{name} = {value}"),
        Some(value) => writeln!(out, "{name} = {}", quoted(value)),
    }
}

/// One option as a line, without its line feed.
pub(crate) fn option_line(name: &str, value: Option<&str>) -> String {
    let mut line = String::new();
    write_option(name, value, &mut line).expect("writing to a String cannot fail");
    line.trim_end_matches('\n').to_owned()
}

/// Why this option cannot be written to an option file; `None` if it can.
pub(crate) fn unprintable(name: &str, value: Option<&str>) -> Option<&'static str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || !name.bytes().all(plain) {
        return Some("an option's name may contain only letters, digits, - _ and .");
    }
    let value = value.unwrap_or_default();
    if value.contains('\0') {
        return Some("the value contains a NUL byte");
    }
    if name.len() + quoted(value).len() + " = ".len() > LINE_BYTES_MAX {
        return Some("the line would be longer than 4094 bytes; servers would truncate it");
    }
    None
}

/// Whether a value is read back unchanged without quotes.
fn is_plain(value: &str) -> bool {
    !value.starts_with(is_space)
        && !value.ends_with(is_space)
        && !value.contains(|character: char| {
            matches!(character, '#' | '"' | '\'' | '\\') || character.is_control()
        })
}

fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for character in value.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '"' | '\\' => out.extend(['\\', character]),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
