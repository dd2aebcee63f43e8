//! A directory that is measured, claimed for dbdyno's test files.

use std::path::{Path, PathBuf};

use blame::Blamed;
use samples::Storage;
use storage::{Place, TestFile};
use telemetry::{Directory, storage_behind};

use crate::listener::{Context, Event};

/// A directory that is measured, as telemetry describes what stands behind it.
pub(crate) fn of_test_file(path: PathBuf) -> Directory {
    Directory {
        holds: "test file".to_owned(),
        path,
    }
}

/// What stands behind a directory that is measured.
pub fn storage_of(path: &Path) -> Storage {
    storage_behind(of_test_file(path.to_owned()))
}

/// Checks a directory and makes dbdyno's own below it; what a killed dbdyno left there is removed. `before` can refuse the
/// directory before anything is written.
pub fn claim_place<T>(
    path: &Path,
    context: &Context,
    before: impl FnOnce(&Place) -> Result<T, Blamed>,
) -> Result<(Place, TestFile, T), Blamed> {
    let mut place = Place::check(path, storage_of)?;
    let held = before(&place)?;
    let test = TestFile::claim(place.path())?;
    if test.left_over_bytes() > 0 {
        let bytes = units::bytes(test.left_over_bytes());
        let note = format!("removed {bytes} of test files that a killed dbdyno had left");
        context.notify(Event::Note(&note));
        place = Place::check(path, storage_of)?;
    }
    for warning in place.warnings() {
        context.warn(warning);
    }
    Ok((place, test, held))
}
