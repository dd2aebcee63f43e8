//! What tells one build of a server binary from another.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A binary by its path, size, inode and time of modification: an upgrade changes them, and reading 60 MB at every start
/// would take as long as what is spared by knowing the build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Build {
    mysqld: PathBuf,
    bytes: u64,
    inode: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
}

impl Build {
    /// That of the binary at this path; `None` if there is none.
    pub(crate) fn of(mysqld: &Path) -> Option<Self> {
        let binary = mysqld.metadata().ok()?;
        Some(Self {
            mysqld: mysqld.to_owned(),
            bytes: binary.len(),
            inode: binary.ino(),
            modified: (binary.mtime(), binary.mtime_nsec()),
        })
    }

    /// Adds what identifies the build to a digest.
    pub(crate) fn add_to(&self, digest: &mut Sha256) {
        digest.update(self.mysqld.as_os_str().as_encoded_bytes());
        digest.update([0]);
        digest.update(self.bytes.to_le_bytes());
        digest.update(self.inode.to_le_bytes());
        digest.update(self.modified.0.to_le_bytes());
        digest.update(self.modified.1.to_le_bytes());
    }
}
