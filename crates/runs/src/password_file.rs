//! A file whose first line is a password, or another secret.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use blame::{Blame, Blamed};

use crate::listener::Listener;

/// Maximum length of the password, bytes.
const BYTES_MAX: u64 = 64 << 10;

/// Reads the first line; warns if other users can read the file. `what` is the secret's name in messages: `password`.
pub fn read(path: &Path, what: &str, listener: &dyn Listener) -> Result<String, Blamed> {
    let wrong = |why: &dyn std::fmt::Display| {
        Blamed::new(
            Blame::Input,
            format!("{}: cannot read the {what}: {why}", path.display()),
        )
    };
    let text = files::read_regular_text(path, BYTES_MAX).map_err(|error| wrong(&error))?;
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o004 != 0 {
        listener.warn(&format!(
            "{}: this {what} is readable by everyone: chmod 600 it",
            path.display()
        ));
    }
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
