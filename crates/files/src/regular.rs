//! Files that a user names: only regular ones are opened, and no more is read of them than their purpose needs.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::{fd::AsRawFd, unix::fs::OpenOptionsExt},
    path::Path,
};

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, fstatfs, major, minor};

/// The file system of pipes without a name, as a shell makes them for `<(command)`. Source: linux/magic.h.
const PIPEFS: u64 = 0x5049_5045;
/// Major and minor number of `/dev/null`.
const NULL: (u32, u32) = (1, 3);

/// Opens a regular file for reading. A FIFO would wait for a writer and a device may never end: they are refused before
/// they are opened. A pipe of the shell (`<(command)`) and `/dev/null` are as good as files.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let stat = fstat(&found)?;
    let flags = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => OFlags::NONBLOCK,
        FileType::CharacterDevice if is_null(&stat) => OFlags::NONBLOCK,
        FileType::Fifo if is_without_name(&found)? => OFlags::empty(),
        FileType::Fifo => return Err(refused("a FIFO, not a regular file")),
        FileType::CharacterDevice | FileType::BlockDevice => {
            return Err(refused("a device, not a regular file"));
        }
        FileType::Directory => return Err(refused("a directory, not a regular file")),
        _ => return Err(refused("not a regular file")),
    };
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

/// The same; an error where it is longer than `bytes_max`.
pub fn open_regular_within(path: &Path, bytes_max: u64) -> io::Result<File> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > bytes_max {
        Err(too_long(bytes_max))
    } else {
        Ok(file)
    }
}

/// The content of a regular file; an error where it is longer than `bytes_max`.
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular_within(path, bytes_max)?;
    // It may grow, and a pipe has no length.
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_long(bytes_max));
    }
    Ok(bytes)
}

fn too_long(bytes_max: u64) -> io::Error {
    let limit = units::bytes(bytes_max);
    let message = format!("longer than {limit}, the limit for such a file");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// The same as text.
pub fn read_regular_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let bytes = read_regular(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        let message = format!("not UTF-8 text (byte {})", position + 1);
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn is_null(stat: &Stat) -> bool {
    (major(stat.st_rdev), minor(stat.st_rdev)) == NULL
}

fn is_without_name(found: impl std::os::fd::AsFd) -> io::Result<bool> {
    // The type of the field differs between architectures.
    let file_system = fstatfs(found)?.f_type as u64;
    Ok(file_system & 0xffff_ffff == PIPEFS)
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
        // Nothing of it is on the disk.
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
            let error = read_regular(path, 10).unwrap_err();
            assert_eq!(error.to_string(), why, "{}", path.display());
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
}
