//! Copies a data directory: by sharing blocks if the file system supports it, else block by block with its holes.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, fstatfs, ioctl_ficlone, seek};

use crate::directory::layout::make_private_dir;
use crate::error::Error;
use crate::process::interruption;

const BUFFER_BYTES: usize = 1 << 20;

/// Files that belong to one server and not to its data: two servers must not have the same identity.
pub(crate) const OWN_FILES: [&str; 1] = ["auto.cnf"];

/// Numbers of copied files, by method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Copied {
    /// Files whose blocks the copy shares with the original.
    pub(crate) shared: u64,
    /// Files that were written in full.
    pub(crate) written: u64,
}

/// Copies a directory into a new one. Files named in `skip` at its top level and sockets are left out.
pub(crate) fn copy_directory(
    from: &Path,
    to: &Path,
    skip: &[impl AsRef<OsStr>],
) -> Result<Copied, Error> {
    make_private_dir(to).map_err(Error::io("create the directory", to))?;
    let mut copied = Copied::default();
    for entry in fs::read_dir(from).map_err(Error::io("read the directory", from))? {
        let entry = entry.map_err(Error::io("read the directory", from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(Error::io("look at", &path))?;
        if skip.iter().any(|name| entry.file_name() == name.as_ref()) {
            continue;
        }
        if kind.is_dir() {
            let below = copy_directory(&path, &target, &[""; 0])?;
            copied.shared += below.shared;
            copied.written += below.written;
        } else if kind.is_file() {
            if copy_file(&path, &target).map_err(Error::io("copy to", &target))? {
                copied.shared += 1
            } else {
                copied.written += 1
            }
        } else if kind.is_symlink() {
            // The original and the copy would share its target, which would change under the copy.
            let link = io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link");
            return Err(Error::io("copy", &path)(link));
        }
    }
    Ok(copied)
}

/// Bytes that the files of a directory take on disk.
pub(crate) fn allocated_bytes(directory: &Path) -> Result<u64, Error> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).map_err(Error::io("read the directory", directory))? {
        let path = entry
            .map_err(Error::io("read the directory", directory))?
            .path();
        // A running server can remove files at any time.
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        bytes += if metadata.is_dir() {
            allocated_bytes(&path)?
        } else {
            metadata.blocks() * 512
        };
    }
    Ok(bytes)
}

/// Copies one file; returns whether the copy shares the original's blocks.
fn copy_file(from: &Path, to: &Path) -> io::Result<bool> {
    interruption::check()?;
    let source = File::open(from)?;
    let metadata = source.metadata()?;
    let target = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(metadata.mode() & 0o777)
        .open(to)?;
    if ioctl_ficlone(&target, &source).is_ok() {
        return Ok(true);
    }
    target.set_len(metadata.len())?;
    let is_laid_out = metadata.blocks() * 512 >= metadata.len() && metadata.len() > 0;
    if is_laid_out && !has_room_in_memory(&target, metadata.len())? {
        // A redo log is preallocated. With holes in its copy, the server would look for free blocks during the
        // measurement. Some file systems cannot preallocate; there nothing is lost.
        let laid_out = fallocate(&target, FallocateFlags::empty(), 0, metadata.len());
        if laid_out == Err(rustix::io::Errno::NOSPC) {
            return Err(io::ErrorKind::StorageFull.into());
        }
    }
    copy_data(source, target, metadata.len())?;
    Ok(false)
}

/// Whether a file of this length is in memory, where a page is found at once, and there is room for several of it: laid out
/// in advance, a redo log would be 100 MB of zeros for each copy.
fn has_room_in_memory(file: &File, length: u64) -> io::Result<bool> {
    /// `TMPFS_MAGIC` of linux/magic.h.
    const TMPFS: u64 = 0x0102_1994;
    let file_system = fstatfs(file)?;
    let free_bytes = file_system.f_bavail * file_system.f_bsize as u64;
    Ok(file_system.f_type as u64 == TMPFS && free_bytes / 4 > length)
}

/// Copies the parts of a file that are not holes.
fn copy_data(mut source: File, mut target: File, length: u64) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut at = 0;
    while at < length {
        let data = match seek(&source, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data,
            // The rest of the file is a hole.
            Err(rustix::io::Errno::NXIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let hole = seek(&source, rustix::fs::SeekFrom::Hole(data))?;
        source.seek(SeekFrom::Start(data))?;
        target.seek(SeekFrom::Start(data))?;
        let mut left = hole - data;
        while left > 0 {
            interruption::check()?;
            let wanted = usize::try_from(left).map_or(BUFFER_BYTES, |left| left.min(BUFFER_BYTES));
            let read = source.read(&mut buffer[..wanted])?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            target.write_all(&buffer[..read])?;
            left -= read as u64;
        }
        at = hole;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_holes_and_layout_survive() {
        let dir = tempfile::tempdir().unwrap();
        survives_in(dir.path());
        if let Ok(in_memory) = tempfile::tempdir_in("/dev/shm") {
            survives_in(in_memory.path());
        }
    }

    fn survives_in(dir: &Path) {
        let from = dir.join("from");
        fs::create_dir_all(from.join("db")).unwrap();
        fs::write(from.join("auto.cnf"), "uuid").unwrap();
        fs::write(from.join("db/small"), "row").unwrap();
        fs::write(from.join("db/empty"), "").unwrap();

        let mut sparse = File::create(from.join("sparse")).unwrap();
        sparse.set_len(64 << 20).unwrap();
        sparse.seek(SeekFrom::Start(10 << 20)).unwrap();
        sparse.write_all(&[7; 3_000_000]).unwrap();
        let laid_out = File::create(from.join("redo")).unwrap();
        fallocate(&laid_out, FallocateFlags::empty(), 0, 8 << 20).unwrap();

        let to = dir.join("to");
        let copied = copy_directory(&from, &to, &["auto.cnf"]).unwrap();
        assert_eq!(copied.shared + copied.written, 4);
        assert!(!to.join("auto.cnf").exists());
        for name in ["db/small", "db/empty", "sparse", "redo"] {
            let same = fs::read(from.join(name)).unwrap() == fs::read(to.join(name)).unwrap();
            assert!(same, "{name} differs");
        }
        let blocks_bytes = |name: &str| fs::metadata(to.join(name)).unwrap().blocks() * 512;
        assert!(blocks_bytes("sparse") < 16 << 20);
        let redo = File::open(to.join("redo")).unwrap();
        if has_room_in_memory(&redo, 8 << 20).unwrap() {
            assert_eq!(blocks_bytes("redo"), 0, "no memory for what is not there");
        } else {
            assert!(blocks_bytes("redo") >= 8 << 20);
            assert!(allocated_bytes(&to).unwrap() >= (8 << 20) + 3_000_000);
        }
    }

    #[test]
    fn a_symbolic_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir(&from).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", from.join("link")).unwrap();
        let error = copy_directory(&from, &dir.path().join("to"), &[""; 0]).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("link: cannot copy: it is a symbolic link"),
            "{error}"
        );
    }
}
