//! The defaults file: a key file with groups, of which one counts.

use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt, path::Path};

use blame::{Blame, Blamed};

/// Largest size of the file.
const BYTES_MAX: u64 = 1 << 20;
/// The group that counts.
const GROUP: &str = "mysql-proxy";
/// Permissions that the file must not have.
const FORBIDDEN: u32 = 0o7777 & !0o660;

/// A key and its value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) key: String,
    value: String,
}

impl Entry {
    /// The entry as words of a command line.
    pub(super) fn words(
        &self,
        is_list: bool,
        is_flag: bool,
        path: &Path,
    ) -> Result<Vec<OsString>, Blamed> {
        let word = |value: &str| OsString::from(format!("--{}={value}", self.key));
        if is_flag {
            return match self.value.as_str() {
                "true" | "1" => Ok(vec![format!("--{}", self.key).into()]),
                "false" | "0" => Ok(Vec::new()),
                other => {
                    let message = format!(
                        "{}: line {}: {} = {other}: not true or false",
                        path.display(),
                        self.line,
                        self.key
                    );
                    Err(Blamed::new(Blame::Input, message))
                }
            };
        }
        if is_list {
            let values = self.value.split([',', ';']).map(str::trim);
            return Ok(values.filter(|value| !value.is_empty()).map(word).collect());
        }
        Ok(vec![word(&self.value)])
    }
}

/// Reads the entries of the group, if only its owner and group can access the file.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, Blamed> {
    let wrong = |why: &dyn std::fmt::Display| {
        Blamed::new(
            Blame::Input,
            format!("--defaults-file {}: {why}", path.display()),
        )
    };
    let mode = fs::metadata(path)
        .map_err(|error| wrong(&error))?
        .permissions()
        .mode();
    if mode & FORBIDDEN != 0 {
        let why = format!(
            "permissions {:04o} are not secure, 0660 or stricter are required",
            mode & 0o7777
        );
        return Err(wrong(&why).hint(format!("chmod 660 {}", path.display())));
    }
    let text = files::read_regular_text(path, BYTES_MAX).map_err(|error| wrong(&error))?;
    entries(&text).map_err(|why| wrong(&why))
}

fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    let mut group = None;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            group = Some(name);
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(format!("line {number}: neither [group] nor key = value"));
        };
        match group {
            None => return Err(format!("line {number}: a key before the first [group]")),
            Some(GROUP) => entries.push(Entry {
                line: number,
                key: key.trim().to_owned(),
                value: unescaped(value.trim()),
            }),
            Some(_) => {}
        }
    }
    Ok(entries)
}

/// The value with the escapes of key files resolved.
fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('s') => out.push(' '),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_name_their_line() {
        assert_eq!(
            entries("[mysql-proxy]\nx\n"),
            Err("line 2: neither [group] nor key = value".to_owned())
        );
        assert_eq!(
            entries("a=1\n"),
            Err("line 1: a key before the first [group]".to_owned())
        );
        assert_eq!(
            entries("[mysql-proxy]\na = \\sx\\\\y \n").unwrap()[0].value,
            " x\\y"
        );
        assert_eq!(entries("[mysqld]\na=1\n"), Ok(Vec::new()));
    }
}
