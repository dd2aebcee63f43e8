//! Files with the load of a system over time.

use std::{
    fs,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use files::UserText;
use sizing::{LoadCurve, read_curve};

/// The load of the system in a file, or in all files of a directory.
pub(super) fn system(path: &Path) -> Result<LoadCurve, Blamed> {
    if !path.is_dir() {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        return curve(path, &name.to_string_lossy());
    }
    let refused = Blamed::io(Blame::Input, path);
    let entries = fs::read_dir(path).map_err(refused)?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.map(|it| it.path()))
        .collect::<Result<_, _>>()
        .map_err(refused)?;
    files.retain(|it| it.is_file());
    files.sort();
    directory(path, &files)
}

/// The load of the system with these files of a directory.
pub(super) fn directory(path: &Path, files: &[PathBuf]) -> Result<LoadCurve, Blamed> {
    let refused = Blamed::io(Blame::Input, path);
    // `.` and `..` have no name of their own.
    let whole = fs::canonicalize(path).map_err(refused)?;
    let name = whole.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let mut all: Option<LoadCurve> = None;
    for file in files {
        let next = curve(file, &name)?;
        all = Some(match all {
            Some(curve) => curve.with(next),
            None => next,
        });
    }
    let none = || Blamed::new(Blame::Input, format!("{}: no files in it", path.display()));
    all.ok_or_else(none)
}

fn curve(path: &Path, name: &str) -> Result<LoadCurve, Blamed> {
    let text = UserText::open(path).map_err(Blamed::io(Blame::Input, path))?;
    // Errors and notes of a file have its path.
    let mut curve = read_curve(&path.display().to_string(), text)?;
    name.clone_into(&mut curve.name);
    Ok(curve)
}
