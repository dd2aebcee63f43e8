//! Unpacks the archives of server packages.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path};

use flate2::read::GzDecoder;
use lzma_rust2::XzReader;
use tar::Archive;
use zip::ZipArchive;

use super::error::InstallError;
use crate::error::Error;
use crate::process::interruption::{self, Interruptible};

/// Directories and programs that no server needs and that can be the largest part of an archive.
const SKIPPED: [&str; 9] = [
    "debug",
    "mysqld-debug",
    "mysql-test",
    "mariadb-test",
    "sql-bench",
    "doc",
    "docs",
    "man",
    "locale",
];

/// The format of an archive, determined by its first bytes: names are unreliable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Gzip,
    Xz,
    Zip,
    Tar,
}

/// Unpacks an archive into a directory that exists.
pub(super) fn unpack(archive: &Path, into: &Path) -> Result<(), Error> {
    let unpacked = || -> io::Result<()> {
        let mut file = files::open_regular(archive)?;
        let format = format(&mut file)?;
        let file = BufReader::with_capacity(1 << 18, files::open_regular(archive)?);
        match format {
            Some(Format::Gzip) => unpack_tar(GzDecoder::new(file), into),
            Some(Format::Xz) => unpack_tar(XzReader::new(file, true), into),
            Some(Format::Tar) => unpack_tar(file, into),
            Some(Format::Zip) => unpack_zip(file, into),
            None => Err(io::Error::other("it is neither tar, gzip, xz nor zip")),
        }
    };
    let unpacked = unpacked().map_err(|error| interruption::check().err().unwrap_or(error));
    unpacked.map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::StorageFull | io::ErrorKind::NotFound => {
            Error::io("unpack", archive)(error)
        }
        _ => InstallError::Archive {
            path: archive.to_owned(),
            why: error.to_string(),
        }
        .into(),
    })
}

/// Unpacks a tar stream. Owners are not kept, and nothing is written outside of the directory.
pub(super) fn unpack_tar(stream: impl Read, into: &Path) -> io::Result<()> {
    let mut archive = Archive::new(Interruptible(stream));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if !is_skipped(&entry.path()?) {
            entry.unpack_in(into)?;
        }
    }
    Ok(())
}

fn unpack_zip(file: BufReader<File>, into: &Path) -> io::Result<()> {
    let mut archive = ZipArchive::new(file)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let Some(name) = entry.enclosed_name().filter(|name| !is_skipped(name)) else {
            continue;
        };
        let path = into.join(name);
        if entry.is_dir() {
            fs::create_dir_all(&path)?;
            continue;
        }
        fs::create_dir_all(path.parent().unwrap_or(into))?;
        if entry.is_symlink() {
            let mut target = String::new();
            entry.read_to_string(&mut target)?;
            if stays_inside(Path::new(&target)) {
                std::os::unix::fs::symlink(target, &path)?;
            }
            continue;
        }
        let mut target = File::create(&path)?;
        io::copy(&mut Interruptible(&mut entry), &mut target)?;
        if let Some(mode) = entry.unix_mode() {
            use std::os::unix::fs::PermissionsExt;
            target.set_permissions(fs::Permissions::from_mode(mode & 0o777 | 0o600))?;
        }
    }
    Ok(())
}

/// Library links point to a file in the same directory: `libaio.so.1` to `libaio.so.1.0.1`.
fn stays_inside(target: &Path) -> bool {
    target
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn is_skipped(path: &Path) -> bool {
    path.components()
        .any(|part| SKIPPED.iter().any(|name| part.as_os_str() == *name))
}

fn format(file: &mut File) -> io::Result<Option<Format>> {
    let mut start = Vec::new();
    file.take(512).read_to_end(&mut start)?;
    let is_tar = start.get(257..262) == Some(b"ustar");
    Ok(match start.as_slice() {
        [0x1f, 0x8b, ..] => Some(Format::Gzip),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Format::Xz),
        [b'P', b'K', 3, 4, ..] => Some(Format::Zip),
        _ => is_tar.then_some(Format::Tar),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn tar_of(names: &[&str]) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for name in names {
            let mut header = tar::Header::new_gnu();
            header.set_size(3);
            header.set_mode(0o755);
            // Set byte by byte: the setter refuses the malicious name.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, &b"abc"[..]).unwrap();
        }
        tar.into_inner().unwrap()
    }

    fn names_in(dir: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                names.extend(
                    names_in(&entry.path())
                        .iter()
                        .map(|inner| format!("{name}/{inner}")),
                )
            } else {
                names.push(name)
            }
        }
        names.sort();
        names
    }

    #[test]
    fn every_format_is_unpacked_without_what_no_server_needs() {
        let dir = tempfile::tempdir().unwrap();
        let tar = tar_of(&["x/bin/mysqld", "x/mysql-test/big", "x/share/errmsg.sys"]);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&tar).unwrap();
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
        for name in ["x/bin/mysqld", "x/mysql-test/big", "x/share/errmsg.sys"] {
            zip.start_file(name, options).unwrap();
            zip.write_all(b"abc").unwrap();
        }
        let zip = zip.finish().unwrap().into_inner();
        for (name, bytes) in [("tar", tar), ("gzip", gzip.finish().unwrap()), ("zip", zip)] {
            let archive = dir.path().join(format!("{name}.archive"));
            fs::write(&archive, bytes).unwrap();
            let into = dir.path().join(name);
            fs::create_dir(&into).unwrap();
            unpack(&archive, &into).unwrap();
            assert_eq!(
                names_in(&into),
                ["x/bin/mysqld", "x/share/errmsg.sys"],
                "{name}"
            );
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(into.join("x/bin/mysqld"))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o700, 0o700, "{name}");
        }
    }

    #[test]
    fn nothing_leaves_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let into = dir.path().join("in");
        fs::create_dir(&into).unwrap();
        unpack_tar(&tar_of(&["../outside", "good"])[..], &into).unwrap();
        assert_eq!(names_in(dir.path()), ["in/good"]);
        assert!(!stays_inside(Path::new("/etc/passwd")) && !stays_inside(Path::new("../x")));
    }

    #[test]
    fn what_is_no_archive_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mysql.tar.gz");
        for content in ["<html>not found</html>", ""] {
            fs::write(&path, content).unwrap();
            let error = unpack(&path, dir.path()).unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with("it is neither tar, gzip, xz nor zip"),
                "{error}"
            );
        }
        fs::write(&path, [0x1f, 0x8b, 8, 0, 0]).unwrap();
        assert!(matches!(
            unpack(&path, dir.path()).unwrap_err(),
            Error::Install(InstallError::Archive { .. })
        ));
    }
}
