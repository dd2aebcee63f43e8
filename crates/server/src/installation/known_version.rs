//! What server binaries answered to `--version`, kept so that each build is asked once: a start of the binary takes as
//! long as half a start of the server.
//!
//! One file for each path, which an upgrade replaces. It only saves time: where it cannot be read or written, the binary
//! is asked.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::build::Build;
use crate::process::launch::Launch;
use crate::snapshot::digest::hexadecimal;

/// The answer of one build of a binary, whether it is known or not.
pub(super) struct KnownVersion {
    path: PathBuf,
    asked: VersionKey,
}

/// What was asked: a build, started with these libraries.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct VersionKey {
    build: Build,
    launch: Launch,
}

#[derive(Serialize, Deserialize)]
struct CachedVersion {
    asked: VersionKey,
    answer: String,
}

impl KnownVersion {
    /// That of a binary; `None` for a script, which may start another program than before.
    pub(super) fn of(root: &Path, mysqld: &Path, launch: &Launch) -> Option<Self> {
        let mut begin = [0; 4];
        File::open(mysqld).ok()?.read_exact(&mut begin).ok()?;
        if begin != *b"\x7fELF" {
            return None;
        }
        let name = Sha256::digest(mysqld.as_os_str().as_encoded_bytes());
        Some(Self {
            path: root.join(hexadecimal(&name[..16])),
            asked: VersionKey {
                build: Build::of(mysqld)?,
                launch: launch.clone(),
            },
        })
    }

    /// The answer, if this build has given one.
    pub(super) fn answer(&self) -> Option<String> {
        let kept: CachedVersion = serde_json::from_slice(&fs::read(&self.path).ok()?).ok()?;
        (kept.asked == self.asked).then_some(kept.answer)
    }

    pub(super) fn keep(self, answer: &str) {
        let path = self.path;
        let kept = CachedVersion {
            asked: self.asked,
            answer: answer.to_owned(),
        };
        let kept = serde_json::to_vec(&kept).expect("texts and numbers are JSON");
        let directory = path.parent().unwrap_or(Path::new("/"));
        // It is optional, so errors are not reported.
        if fs::create_dir_all(directory).is_ok() {
            let _ = files::replace_private(&path, &kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_known_until_it_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("versions");
        let mysqld = dir.path().join("mysqld");
        let known = || KnownVersion::of(&root, &mysqld, &Launch::default());
        assert!(known().is_none(), "there is no such file");
        fs::write(&mysqld, b"\x7fELF and the rest").unwrap();
        assert_eq!(known().unwrap().answer(), None);
        known().unwrap().keep("Ver 10.11");
        assert_eq!(known().unwrap().answer().as_deref(), Some("Ver 10.11"));
        let others = Launch {
            library_dirs: vec![PathBuf::from("/lib")],
            ..Launch::default()
        };
        let other = KnownVersion::of(&root, &mysqld, &others).unwrap();
        assert_eq!(other.answer(), None);
        fs::write(&mysqld, b"\x7fELF and another rest").unwrap();
        assert_eq!(known().unwrap().answer(), None);
        fs::write(&mysqld, b"#!/bin/sh\nexec other \"$@\"\n").unwrap();
        assert!(known().is_none(), "a script is asked each time");
    }
}
