//! A lock file, which gives one process at a time access to the files beside it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FlockOperation, OFlags, flock},
    io::Errno,
};

use crate::error::Error;

/// The room for a part of /proc/locks, of which a read gives at most a page: 4 KiB, and 64 KiB on some CPUs.
const LOCKS_PER_READ_BYTES: usize = 1 << 16;
/// How often /proc/locks is read at most, where a part of it may be missing.
const LISTS_AT_MOST: usize = 20;

/// A held lock. The kernel releases it when the process dies; the file is removed with the lock.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock; the error names the process that holds it.
    pub fn take(path: &Path) -> Result<Self, Error> {
        loop {
            let mut file = open(path, 0o666).map_err(Error::io("open", path))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    let path = path.to_owned();
                    return Err(Error::Held {
                        pid: written_pid(&mut file),
                        path,
                    });
                }
                Err(error) => return Err(Error::io("lock", path)(error.into())),
            }
            // The previous holder may have removed the file between the two calls.
            if !is_at(&file, path).map_err(Error::io("lock", path))? {
                continue;
            }
            let pid = std::process::id();
            file.set_len(0)
                .and_then(|()| writeln!(file, "{pid}"))
                .map_err(Error::io("write", path))?;
            let path = path.to_owned();
            return Ok(Self { file, path });
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while the lock is held: a process that opened the file meanwhile detects that it is gone. If the
        // removal fails, the file remains without a holder.
        let _ = fs::remove_file(&self.path);
        // Closing alone may release too late: a process that another thread is just starting holds a copy of the file
        // until its exec.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// The holder of a lock on a file, as `process 4711`; `None` if there is none, or if it cannot be determined.
pub fn holder(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {}
        _ => return None,
    }
    let inode = file.metadata().ok()?.ino();
    let pid = pid_in_lists(|| File::open("/proc/locks"), inode).unwrap_or_default();
    Some(pid.map_or("another process".to_owned(), |pid| format!("process {pid}")))
}

/// The process that locks the file with this inode, in a list that `open` opens: /proc/locks.
///
/// The kernel makes the list anew for each read, and continues it by the number of locks that it gave before. A list of
/// more than a page, which are some 90 locks, takes several reads, so that it lacks a lock if one before it is released
/// between two of them. Therefore such a list proves only what it has, and is read again where the lock is not in it.
fn pid_in_lists<R: Read>(open: impl Fn() -> io::Result<R>, inode: u64) -> io::Result<Option<u32>> {
    for _ in 0..LISTS_AT_MOST {
        let (locks, reads) = lock_list(open()?)?;
        let pid = pid_of(&locks, inode);
        if pid.is_some() || reads <= 1 {
            return Ok(pid);
        }
    }
    Ok(None)
}

/// The text of a list, and the number of reads that it took.
fn lock_list(mut list: impl Read) -> io::Result<(String, usize)> {
    let mut text = String::new();
    let mut part = vec![0; LOCKS_PER_READ_BYTES];
    let mut reads = 0;
    loop {
        match list.read(&mut part)? {
            0 => return Ok((text, reads)),
            length => text.push_str(&String::from_utf8_lossy(&part[..length])),
        }
        reads += 1;
    }
}

/// The process that locks the file with this inode: `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`.
fn pid_of(locks: &str, inode: u64) -> Option<u32> {
    let end = format!(":{inode}");
    let of_file = |line: &&str| {
        let mut words = line.split_ascii_whitespace();
        words.nth(1) == Some("FLOCK") && words.nth(3).is_some_and(|place| place.ends_with(&end))
    };
    let line = locks.lines().find(of_file)?;
    line.split_ascii_whitespace().nth(4)?.parse().ok()
}

/// Opens a file for locking; symbolic links are not followed.
pub(crate) fn open(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(mode)
        .custom_flags(OFlags::NOFOLLOW.bits() as i32)
        .open(path)
}

/// Whether an open file is the one that has this path now.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match path.symlink_metadata() {
        Ok(named) => Ok((named.dev(), named.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn written_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        cell::Cell,
        collections::VecDeque,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    /// A list of locks that gives one of these parts per read.
    struct Parts(VecDeque<&'static str>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = self.0.pop_front().unwrap_or_default();
            buffer[..part.len()].copy_from_slice(part.as_bytes());
            Ok(part.len())
        }
    }

    /// The holder of the lock on file 131, and the number of lists that were read for it; the last list does not change.
    fn looked_up(lists: &[&[&'static str]]) -> (Option<u32>, usize) {
        let opened = Cell::new(0);
        let open = || {
            let list = lists[opened.get().min(lists.len() - 1)];
            opened.set(opened.get() + 1);
            Ok(Parts(list.iter().copied().collect()))
        };
        let pid = pid_in_lists(open, 131).unwrap();
        (pid, opened.get())
    }

    #[test]
    fn a_list_in_parts_is_read_again_if_it_lacks_the_lock() {
        const FIRST: &str = "1: FLOCK  ADVISORY  WRITE 11 08:01:7 0 EOF\n";
        const OTHER: &str = "2: POSIX  ADVISORY  WRITE 12 08:01:131 0 EOF\n";
        const HELD: &str = "3: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF\n";
        const LAST: &str = "4: FLOCK  ADVISORY  WRITE 13 08:01:8 0 EOF\n";
        // The first lock is released after the first read, so that the second read begins behind the held one.
        let skipped: &[&str] = &[FIRST, LAST];
        assert_eq!(looked_up(&[skipped, &[OTHER, HELD]]), (Some(4711), 2));
        assert_eq!(looked_up(&[skipped, skipped, &[HELD]]), (Some(4711), 3));
        // A list of a single read is of one moment.
        assert_eq!(looked_up(&[&[FIRST]]), (None, 1));
        assert_eq!(looked_up(&[&[]]), (None, 1));
        // The holder may be in another container, whose processes no list shows.
        assert_eq!(looked_up(&[skipped]), (None, LISTS_AT_MOST));
    }

    #[test]
    fn it_names_its_holder_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let lock = Lock::take(&path).unwrap();
        // As in a process between fork and exec.
        let _copy = lock.file.try_clone().unwrap();
        match Lock::take(&path) {
            Err(Error::Held { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
            other => panic!("{other:?}"),
        }
        drop(lock);
        assert!(!path.exists());
        drop(Lock::take(&path).unwrap());
    }

    #[test]
    fn a_holder_is_named_while_other_locks_come_and_go() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| File::create(directory.path().join(name)).unwrap();
        let held = place("held");
        flock(&held, FlockOperation::LockExclusive).unwrap();
        let is_over = AtomicBool::new(false);
        let named = thread::scope(|scope| {
            for name in ["one", "two", "three", "four", "five", "six"] {
                let file = place(name);
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        flock(&file, FlockOperation::LockExclusive).unwrap();
                        flock(&file, FlockOperation::Unlock).unwrap();
                    }
                });
            }
            let path = directory.path().join("held");
            let named: Vec<_> = (0..200).map(|_| holder(&path)).collect();
            is_over.store(true, Ordering::Relaxed);
            named
        });
        let it = Some(format!("process {}", std::process::id()));
        let others: Vec<_> = named.iter().filter(|named| **named != it).collect();
        assert!(others.is_empty(), "{}: {others:?}", others.len());
    }

    #[test]
    fn what_a_killed_process_left_is_taken_over_and_a_link_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        fs::write(&path, "4000000000\n and more").unwrap();
        let lock = Lock::take(&path).unwrap();
        let pid = format!("{}\n", std::process::id());
        assert_eq!(fs::read_to_string(&path).unwrap(), pid);
        drop(lock);
        let theirs = directory.path().join("theirs");
        fs::write(&theirs, "text").unwrap();
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        assert!(Lock::take(&path).is_err());
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "text");
    }
}
