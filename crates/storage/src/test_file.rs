//! The test files, in a directory of dbdyno's own below the one that is measured: removed at the end, and after a kill at
//! the next start.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use files::{Lock, remove_marked};
use reactor::{Interrupt, system_now};
use rustix::fs::OFlags;

use crate::{aligned::AlignedBuffer, error::Error};

/// The directory of the test files.
const DIRECTORY: &str = "dbdyno-storage-test";
/// Says that the directory is dbdyno's; without it nothing is removed.
const MARKER: &str = "dbdyno-storage.json";
const MARKER_TEXT: &[u8] = b"{\"format\":1,\"made_by\":\"dbdyno storage\"}\n";
/// Held while the directory is used.
const LOCK: &str = "dbdyno-storage.lock";
/// Written at once, bytes; sizes are multiples of it.
const UNIT: usize = 1 << 20;
/// Number of units after which the bytes differ, so that a disk cannot store equal blocks only once.
const REFILL_EVERY: u64 = 16;

/// The directory of the test files, which goes away with this value.
#[derive(Debug)]
pub struct TestFile {
    directory: PathBuf,
    /// Given back after the files are gone.
    lock: Option<Lock>,
    left_over_bytes: u64,
}

impl TestFile {
    /// Makes the directory of the test files below `place`; what a killed dbdyno left there is removed.
    pub fn claim(place: &Path) -> Result<Self, Error> {
        let directory = place.join(DIRECTORY);
        let mut left_over_bytes = 0;
        if directory.symlink_metadata().is_ok() {
            refuse_unless_ours(&directory)?;
            left_over_bytes = size_of(&directory);
            // Whoever still uses it holds the lock.
            let lock = Lock::take(&directory.join(LOCK))?;
            if is_marked(&directory) {
                remove_marked(&directory, MARKER, Some(LOCK))?;
            }
            drop(lock);
        }
        match fs::create_dir(&directory) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io("make", &directory)(error));
            }
            _ => {}
        }
        let lock = Lock::take(&directory.join(LOCK))?;
        let claimed = Self {
            directory,
            lock: Some(lock),
            left_over_bytes,
        };
        files::replace(&claimed.directory.join(MARKER), MARKER_TEXT)?;
        Ok(claimed)
    }

    /// What a killed dbdyno had left, bytes.
    pub fn left_over_bytes(&self) -> u64 {
        self.left_over_bytes
    }

    /// The file of the patterns.
    pub fn data(&self) -> PathBuf {
        self.path("fio.dat")
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes the file of the patterns whole, so that no pattern meets blocks that were never written, and flushes it.
    /// Returns its size, which is smaller where `limit` ends it. `progress` is given the bytes so far.
    pub fn fill(
        &self,
        bytes: u64,
        direct: bool,
        limit: Option<Duration>,
        interrupt: &Interrupt,
        progress: impl FnMut(u64),
    ) -> Result<u64, Error> {
        let path = self.data();
        let file = open(&path, direct).map_err(Error::io("write", &path))?;
        write_whole(&path, file, bytes, limit, interrupt, progress)
    }
}

/// Writes the first `bytes` of a file or device, in whole units, and flushes them; returns what was written.
pub(crate) fn write_whole(
    path: &Path,
    mut file: File,
    bytes: u64,
    limit: Option<Duration>,
    interrupt: &Interrupt,
    mut progress: impl FnMut(u64),
) -> Result<u64, Error> {
    let failed = |error| Error::io("write", path)(error);
    let mut buffer = AlignedBuffer::random(UNIT, 1);
    let begun = system_now();
    let mut written = 0;
    for unit in 0..bytes / UNIT as u64 {
        if interrupt.is_raised() {
            return Err(Error::Interrupted);
        }
        if written > 0 && limit.is_some_and(|limit| system_now() - begun >= limit) {
            break;
        }
        if unit.is_multiple_of(REFILL_EVERY) {
            buffer.refill(unit);
        }
        file.write_all(buffer.bytes()).map_err(failed)?;
        written += UNIT as u64;
        progress(written);
    }
    file.sync_all().map_err(failed)?;
    Ok(written)
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // What cannot be removed is known by its marker at the next start.
        let _ = remove_marked(&self.directory, MARKER, Some(LOCK));
        self.lock = None;
    }
}

fn open(path: &Path, direct: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if direct {
        options.custom_flags(OFlags::DIRECT.bits().cast_signed());
    }
    options.open(path)
}

fn is_marked(directory: &Path) -> bool {
    let marker = directory.join(MARKER).symlink_metadata();
    marker.is_ok_and(|it| it.is_file())
}

/// An error unless the directory is dbdyno's, or as empty as a kill right after its making left it.
fn refuse_unless_ours(directory: &Path) -> Result<(), Error> {
    let is_directory = directory.symlink_metadata().is_ok_and(|it| it.is_dir());
    let names = fs::read_dir(directory).map_err(Error::io("read", directory));
    let is_ours = is_directory
        && (is_marked(directory) || {
            let mut names = names?.flatten().map(|it| it.file_name());
            names.all(|name| name == LOCK || name.to_string_lossy().ends_with(".dbdyno-new"))
        });
    if is_ours {
        return Ok(());
    }
    Err(Error::Refused {
        path: directory.to_owned(),
        why: "is not dbdyno's: it has no marker".to_owned(),
        hint: Some("rename it, or measure another directory".to_owned()),
    })
}

fn size_of(directory: &Path) -> u64 {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = files.filter_map(|it| Some(it.metadata().ok()?.len()));
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_go_with_the_value_and_after_a_kill_at_the_next_start() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        assert_eq!(test.left_over_bytes(), 0);
        let mut seen = Vec::new();
        let interrupt = Interrupt::default();
        let written = test.fill(3 << 20, false, None, &interrupt, |at| seen.push(at));
        assert_eq!(written.unwrap(), 3 << 20);
        assert_eq!(seen, [1 << 20, 2 << 20, 3 << 20]);
        assert_eq!(fs::metadata(test.data()).unwrap().len(), 3 << 20);
        // Two at once.
        let second = TestFile::claim(place.path()).unwrap_err();
        assert!(second.to_string().contains("measures there"), "{second}");
        drop(test);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        // A kill leaves the files and no lock that is held.
        let left = place.path().join(DIRECTORY);
        fs::create_dir(&left).unwrap();
        fs::write(left.join(MARKER), MARKER_TEXT).unwrap();
        fs::write(left.join("fio.dat"), vec![0; 5000]).unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        assert!(test.left_over_bytes() >= 5000);
        assert!(!test.data().exists());
    }

    #[test]
    fn a_directory_of_that_name_without_the_marker_stays() {
        let place = tempfile::tempdir().unwrap();
        let theirs = place.path().join(DIRECTORY);
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("thesis"), "x").unwrap();
        let error = TestFile::claim(place.path()).unwrap_err();
        assert!(error.to_string().contains("no marker"), "{error}");
        assert!(theirs.join("thesis").exists());
        fs::remove_file(theirs.join("thesis")).unwrap();
        drop(TestFile::claim(place.path()).unwrap());
        assert!(!theirs.exists());
    }

    #[test]
    fn an_interruption_and_a_limit_end_the_writing() {
        let place = tempfile::tempdir().unwrap();
        let test = TestFile::claim(place.path()).unwrap();
        let interrupt = Interrupt::default();
        let limit = Some(Duration::ZERO);
        let short = test.fill(4 << 20, false, limit, &interrupt, |_| {});
        assert_eq!(short.unwrap(), 1 << 20);
        interrupt.raise();
        let interrupted = test.fill(1 << 20, false, None, &interrupt, |_| {});
        assert!(matches!(interrupted, Err(Error::Interrupted)));
    }
}
