//! Where the log goes.

use std::{
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use proxy::Log;

use super::arguments::Arguments;

/// Opens the log.
pub(super) fn open(arguments: &Arguments) -> Result<Log, Blamed> {
    let Some(path) = &arguments.log_file else {
        return Ok(Log::new(arguments.log_level, Box::new(io::stderr())));
    };
    let path = below(arguments, path)?;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o660)
        .open(&path);
    let file = file.map_err(Blamed::io(Blame::Input, &path))?;
    Ok(Log::new(arguments.log_level, Box::new(file)))
}

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
