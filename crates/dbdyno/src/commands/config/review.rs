//! A review of option files, by the catalogue and by the server's own validator.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use mycnf::{Lint, Machine, OptionFile, Target, lint};
use runs::Blamed;
use server::Installation;

use super::subject::validated;

/// A review with what it is about.
#[derive(Debug)]
pub(super) struct Review {
    pub(super) files: Vec<PathBuf>,
    pub(super) target: Target,
    /// Whether the version's own validator took part.
    pub(super) is_validated: bool,
    pub(super) lint: Lint,
}

/// Reviews files by the catalogue, and by the server's own validator where it is installed.
pub(super) fn review(
    files: Vec<PathBuf>,
    file: &OptionFile,
    target: Target,
    machine: &Machine,
    installation: Option<&Installation>,
) -> Result<Review, Blamed> {
    let mut lint = lint(file, &target, machine);
    if let Some(installation) = installation {
        let findings = validated(installation, files.clone())?;
        lint.add_validator(&findings, file);
    }
    for path in files.iter().filter(|path| is_world_writable(path)) {
        lint.add_ignored_file(path);
    }
    Ok(Review {
        files,
        target,
        is_validated: installation.is_some(),
        lint,
    })
}

/// Whether all users may write a file.
fn is_world_writable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o002 != 0)
}
