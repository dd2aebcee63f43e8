//! What server binaries answered to `--version`, kept so that each build is asked once: a start of the binary takes as
//! long as half a start of the server.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::answer_file::AnswerFile;
use super::build::Build;
use crate::process::launch::Launch;

/// The answer of one build of a binary, whether it is known or not.
pub(super) struct KnownVersion {
    file: AnswerFile,
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
    /// That of a binary; `None` for a script.
    pub(super) fn of(root: &Path, mysqld: &Path, launch: &Launch) -> Option<Self> {
        Some(Self {
            file: AnswerFile::of(root, mysqld)?,
            asked: VersionKey {
                build: Build::of(mysqld)?,
                launch: launch.clone(),
            },
        })
    }

    /// The answer, if this build has given one.
    pub(super) fn answer(&self) -> Option<String> {
        let kept: CachedVersion = self.file.read()?;
        (kept.asked == self.asked).then_some(kept.answer)
    }

    pub(super) fn keep(self, answer: &str) {
        self.file.write(&CachedVersion {
            asked: self.asked,
            answer: answer.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

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
