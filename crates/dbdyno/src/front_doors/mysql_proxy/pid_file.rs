//! The file with the process id.

use std::{fs, path::PathBuf, process};

use runs::{Blame, Blamed};

use super::{arguments::Arguments, log_file::below};

/// The file with this process's id; removed when dropped.
pub(super) struct PidFile(Option<PathBuf>);

impl PidFile {
    /// Writes the file, if one was asked for.
    pub(super) fn write(arguments: &Arguments) -> Result<Self, Blamed> {
        let path = match &arguments.pid_file {
            Some(path) => below(arguments, path)?,
            None => return Ok(Self(None)),
        };
        let line = format!("{}\n", process::id());
        fs::write(&path, line).map_err(Blamed::io(Blame::Input, &path))?;
        Ok(Self(Some(path)))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Another program may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}
