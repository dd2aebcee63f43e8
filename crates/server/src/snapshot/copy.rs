//! Copies a data directory: by sharing blocks if the file system supports it, else block by block with its holes.
//!
//! A server writes its redo log in full before it is first used: 96 MiB of zeros in a new MariaDB. A private server has
//! several copies of it: in the template of its build, in the snapshot of its new data directory and in that of its loaded
//! data. No server writes to these copies, so their zeros are holes. In the data directory of a server, all of them are
//! written: a write to a hole looks for a free block, and one to a block that is allocated but not written also changes the
//! file's extents, so that commits would cost more than without dbdyno's copies. Hard links would not do, because the server
//! writes to its log in place.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate, fstatfs, ioctl_ficlone, seek};
use rustix::io::Errno;

use crate::directory::layout::make_private_dir;
use crate::error::Error;
use crate::process::interruption;
use crate::redo_log;

const BUFFER_BYTES: usize = 1 << 20;
/// Zeros that become a hole.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

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

/// What a copy is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyUse {
    /// To be copied again: no server writes to it.
    Keeping,
    /// The data directory of a server.
    Server,
}

/// The parts of a file that are written to its copy; the others are holes in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    All,
    /// All but the holes.
    Data,
    /// All but the holes and the zeros.
    NonZero,
}

/// Copies a directory into a new one. Files named in `skip` at its top level and sockets are left out.
pub(crate) fn copy_directory(
    from: &Path,
    to: &Path,
    skip: &[impl AsRef<OsStr>],
    copy_use: CopyUse,
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
            let below = copy_directory(&path, &target, &[""; 0], copy_use)?;
            copied.shared += below.shared;
            copied.written += below.written;
        } else if kind.is_file() {
            let is_shared =
                copy_file(&path, &target, copy_use).map_err(Error::io("copy to", &target))?;
            if is_shared {
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
fn copy_file(from: &Path, to: &Path, copy_use: CopyUse) -> io::Result<bool> {
    interruption::check()?;
    let source = File::open(from)?;
    let metadata = source.metadata()?;
    let target = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(metadata.mode() & 0o777)
        .open(to)?;
    let not_shared = match ioctl_ficlone(&target, &source) {
        Ok(()) => return Ok(true),
        Err(why) => why,
    };
    let length = metadata.len();
    target.set_len(length)?;
    let is_laid_out = metadata.blocks() * 512 >= length && length > 0;
    let is_in_memory = has_room_in_memory(&target, length)?;
    let is_redo_log = redo_log::is_log_file(from) && length > 0 && !is_in_memory;
    // On another file system, which may share the blocks of the copy, a hole would come into a data directory.
    let may_have_holes = copy_use == CopyUse::Keeping && not_shared != Errno::XDEV;
    let parts = if is_redo_log && may_have_holes && is_laid_out && !has_hole(&source, length)? {
        Parts::NonZero
    } else if is_redo_log && copy_use == CopyUse::Server && !is_laid_out {
        Parts::All
    } else {
        Parts::Data
    };
    let lays_out = match parts {
        Parts::All => true,
        Parts::Data => is_laid_out,
        Parts::NonZero => false,
    };
    if lays_out && !is_in_memory {
        // A file that is laid out has no holes in its copy either: the server would look for free blocks during the
        // measurement. Some file systems cannot preallocate; there nothing is lost.
        let laid_out = fallocate(&target, FallocateFlags::empty(), 0, length);
        if laid_out == Err(Errno::NOSPC) {
            return Err(io::ErrorKind::StorageFull.into());
        }
    }
    copy_parts(source, target, length, parts)?;
    Ok(false)
}

/// Whether a part of a file was never written.
fn has_hole(file: &File, length: u64) -> io::Result<bool> {
    Ok(seek(file, rustix::fs::SeekFrom::Hole(0))? < length)
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

/// Copies these parts of a file.
fn copy_parts(mut source: File, mut target: File, length: u64, parts: Parts) -> io::Result<()> {
    if parts == Parts::All {
        return copy_range(&mut source, &mut target, 0..length, parts);
    }
    let mut at = 0;
    while at < length {
        let data = match seek(&source, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data,
            // The rest of the file is a hole.
            Err(Errno::NXIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let hole = seek(&source, rustix::fs::SeekFrom::Hole(data))?;
        copy_range(&mut source, &mut target, data..hole, parts)?;
        at = hole;
    }
    Ok(())
}

fn copy_range(
    source: &mut File,
    target: &mut File,
    range: Range<u64>,
    parts: Parts,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    source.seek(SeekFrom::Start(range.start))?;
    target.seek(SeekFrom::Start(range.start))?;
    let mut left = range.end - range.start;
    while left > 0 {
        interruption::check()?;
        let wanted = usize::try_from(left).map_or(BUFFER_BYTES, |left| left.min(BUFFER_BYTES));
        let read = source.read(&mut buffer[..wanted])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match parts {
            Parts::All | Parts::Data => target.write_all(&buffer[..read])?,
            Parts::NonZero => write_without_zeros(target, &buffer[..read])?,
        }
        left -= read as u64;
    }
    Ok(())
}

/// Writes bytes at the position of a file whose rest is a hole; blocks of zeros remain holes.
fn write_without_zeros(target: &mut File, bytes: &[u8]) -> io::Result<()> {
    for block in bytes.chunks(ZEROS.len()) {
        if *block == ZEROS[..block.len()] {
            target.seek(SeekFrom::Current(block.len() as i64))?;
        } else {
            target.write_all(block)?;
        }
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

        for (name, copy_use) in [("kept", CopyUse::Keeping), ("server", CopyUse::Server)] {
            survives_in_copy(&from, &dir.join(name), copy_use);
        }
    }

    fn survives_in_copy(from: &Path, to: &Path, copy_use: CopyUse) {
        let copied = copy_directory(from, to, &["auto.cnf"], copy_use).unwrap();
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
            assert!(allocated_bytes(to).unwrap() >= (8 << 20) + 3_000_000);
        }
    }

    #[test]
    fn a_kept_redo_log_takes_little_and_that_of_a_server_is_written_in_full() {
        const LENGTH: usize = 8 << 20;
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir_all(from.join("#innodb_redo")).unwrap();
        let mut log = vec![0; LENGTH];
        log[..512].fill(1);
        log[LENGTH / 2 + 100] = 2;
        let names = ["ib_logfile0", "#innodb_redo/#ib_redo5", "ibdata1"];
        for name in names {
            fs::write(from.join(name), &log).unwrap();
        }
        let (kept, server) = (dir.path().join("kept"), dir.path().join("server"));
        let copied = copy_directory(&from, &kept, &[""; 0], CopyUse::Keeping).unwrap();
        copy_directory(&kept, &server, &[""; 0], CopyUse::Server).unwrap();
        let bytes_on_disk = |directory: &Path, name: &str| {
            let path = directory.join(name);
            assert!(
                fs::read(&path).unwrap() == log,
                "{} differs",
                path.display()
            );
            fs::metadata(path).unwrap().blocks() * 512
        };
        let is_in_memory = has_room_in_memory(&File::open(&kept).unwrap(), LENGTH as u64).unwrap();
        for name in names {
            // What shares its blocks takes none, and in memory a file is copied as it is.
            let is_thinned = name != "ibdata1" && copied.shared == 0 && !is_in_memory;
            let of_kept = bytes_on_disk(&kept, name);
            assert_eq!(of_kept < 1 << 20, is_thinned, "{name}: {of_kept}");
            let of_server = bytes_on_disk(&server, name);
            assert!(of_server >= LENGTH as u64, "{name}: {of_server}");
            let log = File::open(server.join(name)).unwrap();
            assert!(!has_hole(&log, LENGTH as u64).unwrap(), "{name}");
        }
    }

    #[test]
    fn a_symbolic_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        fs::create_dir(&from).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", from.join("link")).unwrap();
        let error = copy_directory(&from, &dir.path().join("to"), &[""; 0], CopyUse::Keeping);
        let error = error.unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("link: cannot copy: it is a symbolic link"),
            "{error}"
        );
    }
}
