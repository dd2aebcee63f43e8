//! Unfinished directories: a mark in them shows that dbdyno began them, so that another dbdyno may remove them.

use std::fs;
use std::path::Path;

use crate::directory::layout::make_private_dir;
use crate::directory::marker::write_private;
use crate::error::Error;

pub(crate) const MARK: &str = "dbdyno-unfinished";

/// Makes a directory with the mark in it.
pub(crate) fn make(dir: &Path) -> Result<(), Error> {
    make_private_dir(dir).map_err(Error::io("create the directory", dir))?;
    mark(dir)
}

/// Marks a directory that was just made.
pub(crate) fn mark(dir: &Path) -> Result<(), Error> {
    write_private(
        &dir.join(MARK),
        b"dbdyno is creating this directory; another dbdyno removes it\n",
    )
}

/// Whether a directory contains the mark and is not a link.
pub(crate) fn is_marked(dir: &Path) -> bool {
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_file());
    dir.symlink_metadata().is_ok_and(|it| it.is_dir()) && is_file(&dir.join(MARK))
}

/// Removes the mark: the directory is complete.
pub(crate) fn unmark(dir: &Path) -> Result<(), Error> {
    let mark = dir.join(MARK);
    fs::remove_file(&mark).map_err(Error::io("remove", &mark))
}

/// Removes a marked directory, its mark last; false if it has no mark.
pub(crate) fn remove(dir: &Path) -> Result<bool, Error> {
    if !is_marked(dir) {
        return Ok(false);
    }
    files::remove_marked(dir, MARK, None).map_err(|error| Error::io("remove", dir)(error.into()))
}
