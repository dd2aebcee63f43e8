//! Copies of the files that an experiment names, in its results directory.
//!
//! A copy is below `files` under the name in the experiment: `smacks/hp.smack` is `files/smacks/hp.smack`,
//! `../base.cnf` is `files/_up/base.cnf`, `/etc/base.cnf` is `files/_root/etc/base.cnf`.

use std::path::{Component, Path, PathBuf};

/// Directory of the copies in a results directory.
pub(crate) const FILES: &str = "files";

/// Replaces the parent directory `..`.
const UP: &str = "_up";
/// Replaces the root directory.
const ROOT: &str = "_root";

/// The path of a file's copy, below the copies' directory.
pub(crate) fn kept_path(name: &Path) -> PathBuf {
    let parts = name.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part),
        Component::ParentDir => Some(UP.as_ref()),
        Component::RootDir => Some(ROOT.as_ref()),
        Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

/// The name in the experiment of the file with this copy.
pub(crate) fn name_of(kept: &Path) -> PathBuf {
    let parts = kept.components().map(|component| match component {
        Component::Normal(part) if part == UP => Component::ParentDir.as_os_str(),
        Component::Normal(part) if part == ROOT => Component::RootDir.as_os_str(),
        other => other.as_os_str(),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_a_place_below_and_back() {
        for (name, kept) in [
            ("mixes/hp.txt", "mixes/hp.txt"),
            ("../base.cnf", "_up/base.cnf"),
            ("../../a/b.cnf", "_up/_up/a/b.cnf"),
            ("/etc/mysql/my.cnf", "_root/etc/mysql/my.cnf"),
        ] {
            assert_eq!(kept_path(Path::new(name)), Path::new(kept));
            assert_eq!(name_of(Path::new(kept)), Path::new(name));
        }
        assert_eq!(kept_path(Path::new("./a.cnf")), Path::new("a.cnf"));
    }
}
