//! Drops the pages of a stopped server's files from the kernel's page cache.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use crate::error::Error;

/// Drops the pages of all files below a directory from the kernel's page cache, so that the next read comes from the
/// disk. Needs no root; dirty pages are written first.
pub fn evict_page_cache(directory: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(directory).map_err(Error::io("read the directory", directory))? {
        let path = entry
            .map_err(Error::io("read the directory", directory))?
            .path();
        let kind = path
            .symlink_metadata()
            .map_err(Error::io("look at", &path))?
            .file_type();
        if kind.is_dir() {
            evict_page_cache(&path)?;
        } else if kind.is_file() {
            let file = File::open(&path).map_err(Error::io("open", &path))?;
            file.sync_all().map_err(Error::io("write to disk", &path))?;
            // The kernel keeps dirty pages: hence the sync before. A length of `None` means the whole file.
            fadvise(&file, 0, None, Advice::DontNeed)
                .map_err(|error| Error::io("evict from the page cache", &path)(error.into()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_a_directory_stay_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("deep").join("file");
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, vec![7; 100_000]).unwrap();
        evict_page_cache(directory.path()).unwrap();
        assert_eq!(fs::read(&file).unwrap(), vec![7; 100_000]);
        assert!(evict_page_cache(&directory.path().join("missing")).is_err());
    }
}
