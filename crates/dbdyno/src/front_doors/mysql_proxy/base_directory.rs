//! The directory from which relative paths of the command line start.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};

use super::arguments::Arguments;

/// A path of the command line, which starts from the base directory if it is relative.
pub(super) fn below(arguments: &Arguments, path: &Path) -> Result<PathBuf, Blamed> {
    match &arguments.basedir {
        None => Ok(path.to_owned()),
        Some(base) if base.is_absolute() => Ok(base.join(path)),
        Some(base) => {
            let message = format!("--basedir {}: not an absolute path", base.display());
            Err(Blamed::new(Blame::Input, message))
        }
    }
}
