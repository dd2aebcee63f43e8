//! Lines of an option file, as they are shown and as they are written.

use blame::Blamed;
use mycnf::{Entry, MASK, OptionFile, is_secret};

/// A line as it is written to an option file, without a line feed; a secret is left out.
pub(crate) fn shown(entry: &Entry) -> String {
    match own(entry) {
        Ok(line) if !is_secret(&entry.name) => line,
        _ => format!("{} = {MASK}", entry.name),
    }
}

/// A line with the user's own value, also of a password: for a file that a server reads.
pub(crate) fn own(entry: &Entry) -> Result<String, Blamed> {
    let mut file = OptionFile::default();
    file.push("mysqld", entry.name.as_written(), entry.value.clone())?;
    Ok(file.to_string().lines().skip(1).collect())
}
