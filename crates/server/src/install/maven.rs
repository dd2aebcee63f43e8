//! Fetches a Maven artifact.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::registry_client::{Client, written_bytes};
use crate::error::Error;

/// Fetches an artifact into an empty directory; Maven fails if it differs from the registry's checksum.
pub(super) fn fetch(
    artifact: &str,
    into: &Path,
    watch: &mut dyn FnMut(u64),
) -> Result<PathBuf, Error> {
    let client = Client {
        name: "mvn",
        what: artifact,
    };
    let mut command = Command::new("mvn");
    command
        .args([
            "--quiet",
            "--batch-mode",
            "--strict-checksums",
            "dependency:copy",
        ])
        .arg(format!("-Dartifact={artifact}"))
        .arg(format!("-DoutputDirectory={}", into.display()))
        // Otherwise Maven would read a build file in the current directory.
        .current_dir(into);
    client.run(command, &mut |pid| watch(written_bytes(pid)))?;
    let entries = std::fs::read_dir(into).map_err(Error::io("read the directory", into))?;
    let file = entries.flatten().map(|entry| entry.path()).next();
    let none = || std::io::Error::new(std::io::ErrorKind::NotFound, "Maven wrote no file there");
    file.ok_or_else(|| Error::io("read", into)(none()))
}
