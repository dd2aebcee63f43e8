//! Files that somebody else names, such as a server in its variables: only regular ones are opened, and no more is read
//! of them than their purpose needs.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::{fd::AsRawFd, unix::fs::OpenOptionsExt},
    path::Path,
};

use rustix::fs::{FileType, Mode, OFlags, fstat, fstatfs};

/// File systems whose files are made up by the kernel while they are read: some of them never end, some wait.
/// Source: linux/magic.h: proc, sysfs, debugfs, tracefs.
const OF_THE_KERNEL: [u64; 4] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163];

/// Opens a regular file for reading. What a device, a FIFO or a socket would do when it is opened does not happen: the
/// path is looked up first, and only what was found there is opened.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    match FileType::from_raw_mode(fstat(&found)?.st_mode) {
        FileType::RegularFile => {}
        FileType::Fifo => return refused("a FIFO, no regular file"),
        FileType::CharacterDevice | FileType::BlockDevice => {
            return refused("a device, no regular file");
        }
        FileType::Directory => return refused("a directory, no regular file"),
        _ => return refused("no regular file"),
    }
    // The type of the field differs between architectures.
    let file_system = fstatfs(&found)?.f_type as u64;
    if OF_THE_KERNEL.contains(&(file_system & 0xffff_ffff)) {
        return refused("a file of the kernel, which no server writes");
    }
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

/// The first `bytes_max` bytes of a regular file.
pub(crate) fn beginning(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    #[test]
    fn regular_files_are_read_as_far_as_allowed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "0123456789").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(beginning(&file, 4).unwrap(), b"0123");
        assert_eq!(beginning(&link, 100).unwrap(), b"0123456789");
        let gone = beginning(&dir.path().join("gone"), 1).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
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
            (fifo.as_path(), "a FIFO"),
            (Path::new("/dev/zero"), "a device"),
            (Path::new("/dev/tty"), "a device"),
            (link.as_path(), "a device"),
            (socket.as_path(), "no regular file"),
            (dir.path(), "a directory"),
            (Path::new("/proc/self/maps"), "a file of the kernel"),
            (
                Path::new("/sys/kernel/mm/transparent_hugepage/enabled"),
                "a file of the kernel",
            ),
        ] {
            if path.starts_with("/sys") && !path.exists() {
                continue;
            }
            let error = beginning(path, 1).unwrap_err().to_string();
            assert!(error.starts_with(why), "{}: {error}", path.display());
        }
    }
}
