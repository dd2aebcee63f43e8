//! The place that is measured, and whether it may be: never a server's data, never memory, a device only on demand.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::{OFlags, StatVfsMountFlags, statvfs};
use samples::{Storage, StorageDirectory};

use crate::{
    aligned::{ALIGNMENT, AlignedBuffer},
    error::Error,
    raw_device::RawDevice,
};

/// One of how many parts of the file system stays free, and the bounds in bytes: others use the disk, too.
const KEPT_SHARE: u64 = 20;
const KEPT_AT_LEAST: u64 = 64 << 20;
const KEPT_AT_MOST: u64 = 10 << 30;
/// Files that only the data directory of a server contains.
const OF_A_SERVER: [&str; 5] = [
    "ibdata1",
    "ib_logfile0",
    "#innodb_redo",
    "aria_log_control",
    "mysql.ibd",
];

/// A directory or device that may be measured.
#[derive(Debug, Clone)]
pub struct Place {
    path: PathBuf,
    direct: Result<(), String>,
    free_bytes: u64,
    kept_bytes: u64,
    warnings: Vec<String>,
}

impl Place {
    /// Checks a directory; `storage_of` says what stands behind it.
    pub fn check(path: &Path, storage_of: impl Fn(&Path) -> Storage) -> Result<Self, Error> {
        let path = fs::canonicalize(path).map_err(Error::io("measure", path))?;
        refuse_unless_plain(&path)?;
        refuse_unless_directory(&path)?;
        refuse_data_directory(&path)?;
        let storage = storage_of(&path);
        let filesystem = storage.places.first().map(|it| it.filesystem.clone());
        let filesystem = filesystem.unwrap_or_default();
        if let Some(memory) = memory_below(&storage, &storage_of) {
            let hint = "name a directory on the disk that the server will use";
            let why = format!("{memory} is memory, not a disk");
            return Err(refused(&path, why, hint));
        }
        let space = statvfs(&path).map_err(|error| Error::io("measure", &path)(error.into()))?;
        if space.f_flag.contains(StatVfsMountFlags::RDONLY) {
            let hint = "name a directory on a file system that is mounted read-write";
            return Err(refused(
                &path,
                "its file system is read-only".to_owned(),
                hint,
            ));
        }
        let mut warnings = Vec::new();
        let mut places = storage.places.iter();
        if places.any(StorageDirectory::is_remote) {
            warnings.push(format!(
                "{} is on {filesystem}: the measurement includes the network and the other machine's caches",
                path.display()
            ));
        }
        let direct = probe_direct(&path)?;
        if let Err(why) = &direct {
            warnings.push(format!(
                "{filesystem} refuses requests that bypass the page cache ({why}): reads may come from memory"
            ));
        }
        let size_bytes = space.f_blocks * space.f_frsize;
        let free_bytes = space.f_bavail * space.f_frsize;
        Ok(Self {
            direct,
            free_bytes,
            kept_bytes: kept_bytes(size_bytes, free_bytes),
            path,
            warnings,
        })
    }

    /// A raw device: all of it may be written.
    pub fn of_device(device: &RawDevice) -> Self {
        Self {
            path: device.path().to_owned(),
            direct: Ok(()),
            free_bytes: device.size_bytes(),
            kept_bytes: 0,
            warnings: Vec::new(),
        }
    }

    /// The directory or device, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether requests go past the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct.is_ok()
    }

    /// What about the place a reader of the figures has to know.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What a test file may take at most, bytes.
    pub fn room_bytes(&self) -> u64 {
        self.free_bytes.saturating_sub(self.kept_bytes)
    }

    /// An error where a test file of this size leaves too little free.
    pub fn refuse_unless_room(&self, file_bytes: u64) -> Result<(), Error> {
        if file_bytes <= self.room_bytes() {
            return Ok(());
        }
        if self.kept_bytes == 0 {
            let (size, wanted) = (units::bytes(self.free_bytes), units::bytes(file_bytes));
            let why = format!("the device has {size}, but {wanted} should be written");
            return Err(refused(
                &self.path,
                why,
                "use --size to write only a part of it",
            ));
        }
        Err(Error::NoRoom {
            path: self.path.clone(),
            free_bytes: self.free_bytes,
            file_bytes,
            kept_bytes: self.kept_bytes,
        })
    }
}

/// What stays free of a file system of this size, bytes. Where hardly more or even less is free already, a file may still take
/// its share of that: it makes no full disk.
fn kept_bytes(size_bytes: u64, free_bytes: u64) -> u64 {
    let kept = (size_bytes / KEPT_SHARE).clamp(KEPT_AT_LEAST, KEPT_AT_MOST);
    kept.min(free_bytes - free_bytes / KEPT_SHARE)
        .max(KEPT_AT_LEAST)
}

/// The file system in memory that a place is on, also below an overlay as far as its upper directory can be seen.
fn memory_below(storage: &Storage, storage_of: impl Fn(&Path) -> Storage) -> Option<String> {
    let place = storage.places.first()?;
    if place.is_in_memory() {
        return Some(place.filesystem.clone());
    }
    let mut options = place.mount_options.split(',');
    let upper = options.find_map(|it| it.strip_prefix("upperdir="));
    let upper = upper.filter(|_| place.filesystem == "overlay")?;
    let below = storage_of(Path::new(upper)).places.into_iter().next()?;
    let words = format!("{}, where the overlay keeps its files,", below.filesystem);
    below.is_in_memory().then_some(words)
}

fn refused(path: &Path, why: String, hint: &str) -> Error {
    Error::Refused {
        path: path.to_owned(),
        why,
        hint: Some(hint.to_owned()),
    }
}

/// The path goes into fio's job file, where a line ends a name.
fn refuse_unless_plain(path: &Path) -> Result<(), Error> {
    let text = path.to_str();
    if text.is_some_and(|text| !text.chars().any(char::is_control)) {
        return Ok(());
    }
    let hint = "name a directory whose path is plain text";
    Err(refused(
        path,
        "fio's job file cannot contain this path".to_owned(),
        hint,
    ))
}

fn refuse_unless_directory(path: &Path) -> Result<(), Error> {
    let kind = fs::metadata(path)
        .map_err(Error::io("measure", path))?
        .file_type();
    let hint = "name a directory on the file system that the server will use";
    let (why, hint) = match kind {
        _ if kind.is_dir() => return Ok(()),
        _ if kind.is_block_device() => (
            "is a raw device; writing to it destroys its contents",
            "name a directory on the file system that the server will use; `suite` and `steady` take --destroy for a device",
        ),
        _ if kind.is_char_device() => ("is a device, but not a raw block device", hint),
        _ => ("is not a directory", hint),
    };
    Err(refused(path, why.to_owned(), hint))
}

/// A data directory of a server, or a directory below one.
fn refuse_data_directory(path: &Path) -> Result<(), Error> {
    for directory in path.ancestors() {
        let of_a_server = OF_A_SERVER.iter().find(|name| {
            let file = directory.join(name);
            file.symlink_metadata().is_ok()
        });
        if let Some(name) = of_a_server {
            let why = format!(
                "{} is the data directory of a server (it contains {name})",
                directory.display()
            );
            let hint =
                "name a directory beside it, on the same file system, while the server is idle";
            return Err(refused(path, why, hint));
        }
    }
    Ok(())
}

/// Whether a file here takes a request past the page cache; the inner error is the file system's refusal.
fn probe_direct(path: &Path) -> Result<Result<(), String>, Error> {
    let file = path.join(format!(".dbdyno-direct-{}", std::process::id()));
    let created = OpenOptions::new().write(true).create_new(true).open(&file);
    created.map_err(Error::io("write in", path))?;
    let tried = write_directly(&file);
    fs::remove_file(&file).map_err(Error::io("remove", &file))?;
    match tried {
        Ok(()) => Ok(Ok(())),
        Err(error) if is_refusal(&error) => Ok(Err(error.to_string())),
        Err(error) => Err(Error::io("write", &file)(error)),
    }
}

fn write_directly(file: &Path) -> io::Result<()> {
    let opened = OpenOptions::new()
        .write(true)
        .custom_flags(OFlags::DIRECT.bits().cast_signed())
        .open(file)?;
    opened.write_all_at(AlignedBuffer::random(ALIGNMENT, 1).bytes(), 0)
}

/// EINVAL is how a file system refuses it. Source: open(2).
fn is_refusal(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, Unsupported};
    matches!(error.kind(), InvalidInput | Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(filesystem: &str) -> impl Fn(&Path) -> Storage {
        let place = StorageDirectory {
            filesystem: filesystem.to_owned(),
            ..StorageDirectory::default()
        };
        move |_| Storage {
            places: vec![place.clone()],
            ..Storage::default()
        }
    }

    #[test]
    fn a_plain_directory_may_be_measured_and_stays_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place::check(directory.path(), on("ext4")).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(place.refuse_unless_room(0).is_ok());
        let error = place.refuse_unless_room(u64::MAX).unwrap_err();
        assert!(matches!(error, Error::NoRoom { .. }));
        let far = Place::check(directory.path(), on("nfs4")).unwrap();
        assert!(far.warnings()[0].contains("network"));
    }

    #[test]
    fn a_share_of_what_is_free_may_be_taken_of_a_nearly_full_disk() {
        const GIB: u64 = 1 << 30;
        // (size, free, what a file may take)
        let cases = [
            (1000 * GIB, 500 * GIB, 490 * GIB),
            (252 * GIB, 8 * GIB, 8 * GIB / 20),
            (1000 * GIB, 10 * GIB + 1, (10 * GIB + 1) / 20),
            (400 << 20, 100 << 20, 36 << 20),
            (400 << 20, 64 << 20, 0),
            (400 << 20, 0, 0),
        ];
        for (size, free, room) in cases {
            let kept = kept_bytes(size, free);
            assert_eq!(free.saturating_sub(kept), room, "{size} {free}");
        }
    }

    #[test]
    fn what_may_not_be_measured_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let why =
            |path: &Path, filesystem| Place::check(path, on(filesystem)).unwrap_err().to_string();
        assert!(why(path, "tmpfs").contains("memory"));
        let overlay = |at: &Path| {
            let is_upper = at == Path::new("/shm/up");
            let mut storage = on(if is_upper { "tmpfs" } else { "overlay" })(at);
            storage.places[0].mount_options = "lowerdir=/l,rw,upperdir=/shm/up".to_owned();
            storage
        };
        let error = Place::check(path, overlay).unwrap_err().to_string();
        assert!(error.contains("tmpfs, where the overlay keeps"), "{error}");
        assert!(why(Path::new("/dev/null"), "ext4").contains("raw block device"));
        assert!(why(&path.join("none"), "ext4").contains("No such file"));
        fs::create_dir(path.join("a\nb")).unwrap();
        assert!(why(&path.join("a\nb"), "ext4").contains("job file"));
        fs::write(path.join("notes"), "x").unwrap();
        assert!(why(&path.join("notes"), "ext4").contains("not a directory"));
        fs::create_dir(path.join("shop")).unwrap();
        fs::write(path.join("ibdata1"), "").unwrap();
        assert!(why(path, "ext4").contains("ibdata1"));
        assert!(why(&path.join("shop"), "ext4").contains("ibdata1"));
    }
}
