//! Removal of directory trees that never crosses a mount point.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

use crate::error::Error;

/// Removes a directory with its content. Symbolic links are removed, but not their targets. If another file system is
/// mounted inside, it is an error and nothing is removed. A missing directory is not an error.
pub fn remove_tree(dir: &Path) -> Result<(), Error> {
    refuse_mounts(dir, is_mount_point)?;
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", dir)(error))
        }
        _ => Ok(()),
    }
}

/// Removes a directory that a marker file identifies as ours. The marker is removed last, so that an interrupted
/// removal still leaves it identifiable. Without the marker nothing is removed and the result is false. `late` is a
/// file that is removed just before the marker.
pub fn remove_marked(dir: &Path, marker: &str, late: Option<&str>) -> Result<bool, Error> {
    let marker = dir.join(marker);
    let late = late.map(|name| dir.join(name));
    if !marker.symlink_metadata().is_ok_and(|it| it.is_file()) {
        return Ok(false);
    }
    refuse_mounts(dir, is_mount_point)?;
    for entry in fs::read_dir(dir).map_err(Error::io("remove", dir))? {
        let entry = entry.map_err(Error::io("remove", dir))?;
        let path = entry.path();
        if path == marker || Some(&path) == late.as_ref() {
            continue;
        }
        let removed = if entry.file_type().is_ok_and(|it| it.is_dir()) {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(Error::io("remove", &path))?;
    }
    for path in late.iter().chain([&marker]) {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", path)(error));
            }
            _ => {}
        }
    }
    fs::remove_dir(dir).map_err(Error::io("remove", dir))?;
    Ok(true)
}

/// An error if something is mounted below a directory, at any depth.
fn refuse_mounts(dir: &Path, is_mounted: fn(&Path) -> bool) -> Result<(), Error> {
    let mut left: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(next) = left.pop() {
        // A directory that cannot be listed cannot be emptied either, and the removal reports the error.
        for entry in fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if is_mounted(&path) {
                return Err(Error::Mounted {
                    dir: dir.to_owned(),
                    mounted: path,
                });
            }
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                left.push(path);
            }
        }
    }
    Ok(())
}

/// Whether a file system, or a part of one, is mounted here. Kernels before 5.8 do not report it; a mount is then
/// recognised only by its different device.
fn is_mount_point(path: &Path) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let Ok(stat) = statx(CWD, path, flags, StatxFlags::BASIC_STATS) else {
        return false;
    };
    if stat
        .stx_attributes_mask
        .contains(StatxAttributes::MOUNT_ROOT)
    {
        return stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
    }
    let above = path.parent().unwrap_or(path);
    statx(CWD, above, flags, StatxFlags::BASIC_STATS).is_ok_and(|above| {
        (above.stx_dev_major, above.stx_dev_minor) != (stat.stx_dev_major, stat.stx_dev_minor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_known() {
        let directory = tempfile::tempdir().unwrap();
        assert!(is_mount_point(Path::new("/proc")));
        assert!(!is_mount_point(directory.path()));
    }

    #[test]
    fn nothing_is_removed_where_something_is_mounted() {
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path().join("server");
        fs::create_dir_all(dir.join("data/mnt")).unwrap();
        fs::write(dir.join("data/row"), "x").unwrap();
        let refused = refuse_mounts(&dir, |path| path.ends_with("mnt")).unwrap_err();
        assert!(
            matches!(&refused, Error::Mounted { mounted, .. } if mounted.ends_with("data/mnt"))
        );
        refuse_mounts(&dir, is_mount_point).unwrap();
        remove_tree(&dir).unwrap();
        assert!(!dir.exists());
        remove_tree(&dir).unwrap();
    }

    #[test]
    fn links_go_and_what_they_lead_to_stays() {
        let directory = tempfile::tempdir().unwrap();
        let (dir, theirs) = (
            directory.path().join("ours"),
            directory.path().join("theirs"),
        );
        fs::create_dir_all(&dir).unwrap();
        fs::create_dir_all(&theirs).unwrap();
        fs::write(theirs.join("thesis"), "x").unwrap();
        std::os::unix::fs::symlink(&theirs, dir.join("link")).unwrap();
        assert!(!remove_marked(&dir, "marker", None).unwrap());
        assert!(dir.join("link").is_symlink(), "no marker, no removal");
        fs::write(dir.join("marker"), "").unwrap();
        assert!(remove_marked(&dir, "marker", None).unwrap());
        assert!(!dir.exists() && theirs.join("thesis").exists());
    }
}
