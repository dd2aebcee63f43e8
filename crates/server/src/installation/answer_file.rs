//! Files that keep what server binaries answered, one for each path of a binary, so that an upgrade replaces it.
//!
//! They only save time: where one cannot be read or written, the binary is asked.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::snapshot::digest::hexadecimal;

/// The file of one binary, whether it exists or not.
#[derive(Debug, Clone)]
pub(crate) struct AnswerFile(PathBuf);

impl AnswerFile {
    /// That of a binary; `None` for a script, which may start another program than before.
    pub(crate) fn of(root: &Path, mysqld: &Path) -> Option<Self> {
        let mut begin = [0; 4];
        File::open(mysqld).ok()?.read_exact(&mut begin).ok()?;
        if begin != *b"\x7fELF" {
            return None;
        }
        let name = Sha256::digest(mysqld.as_os_str().as_encoded_bytes());
        Some(Self(root.join(hexadecimal(&name[..16]))))
    }

    /// What it holds, if that can be read.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&fs::read(&self.0).ok()?).ok()
    }

    /// Replaces what it holds, if that is possible.
    pub(crate) fn write(&self, kept: &impl Serialize) {
        let kept = serde_json::to_vec(kept).expect("texts and numbers are JSON");
        let directory = self.0.parent().unwrap_or(Path::new("/"));
        if fs::create_dir_all(directory).is_ok() {
            let _ = files::replace_private(&self.0, &kept);
        }
    }
}
