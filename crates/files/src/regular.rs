//! Bounded reading of files that a user or a server names: only regular files are opened.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
    path::Path,
};

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, fstatfs, major, minor};

/// The file system of unnamed pipes, which a shell creates for `<(command)`. Source: linux/magic.h.
const PIPEFS: u64 = 0x5049_5045;
/// File systems whose files the kernel generates while they are read: some never end, some block.
/// Source: linux/magic.h: proc, sysfs, debugfs, tracefs.
const OF_THE_KERNEL: [u64; 4] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163];
/// Major and minor number of `/dev/null`.
const NULL: (u32, u32) = (1, 3);

/// Opens a regular file for reading. A FIFO would wait for a writer and a device may never end, so both are refused
/// before they are opened. A pipe of the shell (`<(command)`) and `/dev/null` are accepted.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let stat = fstat(&found)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::CharacterDevice if is_null(&stat) => open_found(&found, OFlags::NONBLOCK),
        FileType::Fifo if file_system(&found)? == PIPEFS => open_found(&found, OFlags::empty()),
        kind => open_kind(&found, kind),
    }
}

/// Opens a regular file named by another party, such as a server in its variables. Pipes and `/dev/null` are refused,
/// as are files that the kernel generates while they are read, which may never end or may block.
pub fn open_foreign(path: &Path) -> io::Result<File> {
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let kind = FileType::from_raw_mode(fstat(&found)?.st_mode);
    if kind == FileType::RegularFile && OF_THE_KERNEL.contains(&file_system(&found)?) {
        return Err(refused("a file of the kernel, which no server writes"));
    }
    open_kind(&found, kind)
}

/// The first `bytes_max` bytes of a regular file named by another party.
pub fn read_foreign(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_foreign(path)?
        .take(bytes_max)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_kind(found: &OwnedFd, kind: FileType) -> io::Result<File> {
    match kind {
        FileType::RegularFile => open_found(found, OFlags::NONBLOCK),
        FileType::Fifo => Err(refused("a FIFO, not a regular file")),
        FileType::CharacterDevice | FileType::BlockDevice => {
            Err(refused("a device, not a regular file"))
        }
        FileType::Directory => Err(refused("a directory, not a regular file")),
        _ => Err(refused("not a regular file")),
    }
}

/// Opens the file that was checked, even if the path now refers to another one.
fn open_found(found: &OwnedFd, flags: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

/// As [`open_regular`]; an error if the file is longer than `bytes_max`.
pub fn open_regular_within(path: &Path, bytes_max: u64) -> io::Result<File> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > bytes_max {
        Err(too_long(bytes_max))
    } else {
        Ok(file)
    }
}

/// The content of a regular file; an error if it is longer than `bytes_max`.
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    // The file may grow, and a pipe has no length.
    read_within(open_regular_within(path, bytes_max)?, bytes_max)
}

/// The whole content of a stream, such as standard input; an error if it is longer than `bytes_max`.
pub fn read_within(stream: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_long(bytes_max));
    }
    Ok(bytes)
}

pub(crate) fn too_long(bytes_max: u64) -> io::Error {
    let limit = units::bytes(bytes_max);
    let message = format!("longer than {limit}, the limit for such a file");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// As [`read_regular`], as text.
pub fn read_regular_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    text_of(read_regular(path, bytes_max)?)
}

/// Bytes as text; an error that names the first byte that is none.
pub(crate) fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        let message = format!("not UTF-8 text (byte {})", position + 1);
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn is_null(stat: &Stat) -> bool {
    (major(stat.st_rdev), minor(stat.st_rdev)) == NULL
}

fn file_system(found: &OwnedFd) -> io::Result<u64> {
    // The type of the field differs between architectures.
    Ok(fstatfs(found)?.f_type as u64 & 0xffff_ffff)
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        os::unix::{fs::symlink, net::UnixListener},
    };

    use super::*;

    #[test]
    fn a_regular_file_is_read_as_far_as_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, vec![b'x'; 2048]).unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(read_regular(&link, 2048).unwrap().len(), 2048);
        let error = read_regular(&file, 1024).unwrap_err();
        assert_eq!(
            error.to_string(),
            "longer than 1.00 KiB, the limit for such a file"
        );
        // The file is sparse and uses no disk space.
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        let error = read_regular(&file, 1 << 20).unwrap_err();
        assert_eq!(
            error.to_string(),
            "longer than 1.00 MiB, the limit for such a file"
        );
        let gone = read_regular(&dir.path().join("gone"), 1).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
        std::fs::write(&file, b"ab\xff").unwrap();
        let error = read_regular_text(&file, 10).unwrap_err();
        assert_eq!(error.to_string(), "not UTF-8 text (byte 3)");
    }

    /// None of these is opened: the FIFO would wait for a writer, the device would never end.
    #[test]
    fn nothing_else_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let socket = dir.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        let link = dir.path().join("link");
        symlink("/dev/zero", &link).unwrap();
        for (path, why) in [
            (fifo.as_path(), "a FIFO, not a regular file"),
            (Path::new("/dev/zero"), "a device, not a regular file"),
            (&link, "a device, not a regular file"),
            (dir.path(), "a directory, not a regular file"),
            (&socket, "not a regular file"),
        ] {
            for read in [read_regular, read_foreign] {
                let error = read(path, 10).unwrap_err();
                assert_eq!(error.to_string(), why, "{}", path.display());
            }
        }
    }

    #[test]
    fn what_a_shell_hands_over_is_read() {
        assert_eq!(read_regular(Path::new("/dev/null"), 1).unwrap(), b"");
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"secret").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read_regular(Path::new(&path), 10).unwrap(), b"secret");
    }

    #[test]
    fn what_somebody_else_names_is_read_as_far_as_allowed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "0123456789").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(read_foreign(&file, 4).unwrap(), b"0123");
        assert_eq!(read_foreign(&link, 100).unwrap(), b"0123456789");
        let gone = read_foreign(&dir.path().join("gone"), 1).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_a_shell_hands_over_and_the_kernel_makes_up_is_no_file_of_somebody_else() {
        let (reader, _writer) = io::pipe().unwrap();
        let pipe = format!("/dev/fd/{}", reader.as_raw_fd());
        for (path, why) in [
            (pipe.as_str(), "a FIFO"),
            ("/dev/null", "a device"),
            ("/proc/self/maps", "a file of the kernel"),
            (
                "/sys/kernel/mm/transparent_hugepage/enabled",
                "a file of the kernel",
            ),
        ] {
            if path.starts_with("/sys") && !Path::new(path).exists() {
                continue;
            }
            let error = read_foreign(Path::new(path), 1).unwrap_err().to_string();
            assert!(error.starts_with(why), "{path}: {error}");
        }
    }

    #[test]
    fn a_stream_is_read_as_far_as_its_limit() {
        assert_eq!(read_within(&b"0123"[..], 4).unwrap(), b"0123");
        let error = read_within(io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!(
            error.to_string(),
            "longer than 1.00 MiB, the limit for such a file"
        );
    }
}
