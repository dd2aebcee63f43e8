//! Kernel files stored as text, unpacked into a directory for a test.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use tempfile::TempDir;

use crate::kernel::Kernel;

/// The files of one kernel at two readings.
///
/// The text contains a description, then sections: `--- proc/stat` is a file at the first reading,
/// `--- proc/stat (second)` its content at the second, `--- sys/dev/block/8:1 -> ../x` a link.
pub(crate) struct Fixture {
    directory: TempDir,
    second: Vec<(PathBuf, String)>,
}

impl Fixture {
    /// Unpacks the first reading.
    pub(crate) fn unpack(text: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let mut second = Vec::new();
        for section in text.split("\n--- ").skip(1) {
            let (title, content) = section.split_once('\n').unwrap_or((section, ""));
            // The split has removed the newline before the next title.
            let content = format!("{}\n", content.trim_end_matches('\n'));
            let write = |name: &str| {
                let path = directory.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                path
            };
            if let Some((link, target)) = title.split_once(" -> ") {
                symlink(target, write(link)).unwrap();
            } else if let Some(name) = title.strip_suffix(" (second)") {
                second.push((write(name), content));
            } else {
                fs::write(write(title), content).unwrap();
            }
        }
        Self { directory, second }
    }

    pub(crate) fn kernel(&self, ticks_per_s: u64, page_bytes: u64) -> Kernel {
        Kernel::at(self.directory.path(), ticks_per_s, page_bytes)
    }

    /// Replaces the first reading by the second.
    pub(crate) fn advance(&self) {
        for (path, content) in &self.second {
            fs::write(path, content).unwrap();
        }
    }

    /// Writes one file of the directory.
    pub(crate) fn put(&self, name: &str, content: &str) {
        let path = self.directory.path().join(name);
        fs::write(path, content).unwrap();
    }

    /// Removes a file or a directory.
    pub(crate) fn remove(&self, name: &str) {
        let path = self.directory.path().join(name);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
    }
}
