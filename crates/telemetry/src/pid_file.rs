//! A server's pid file.

use std::path::Path;

/// Maximum length of a pid file that is read, bytes: the largest id has seven digits.
const BYTES_MAX: u64 = 64;

/// The process id at the beginning of a regular file; the error is the reason in words.
pub fn pid_in_file(file: &Path) -> Result<u32, String> {
    let bytes = files::read_foreign(file, BYTES_MAX).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let pid = text.trim().parse();
    pid.map_err(|_| "contains no process id".to_owned())
}
