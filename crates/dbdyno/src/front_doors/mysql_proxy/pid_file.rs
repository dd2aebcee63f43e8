//! The file with the process id.

use std::{fs, path::PathBuf, process};

use runs::{Blame, Blamed};

use super::{arguments::Arguments, log_file::below, processes};

/// The file with this process's id; removed when dropped.
pub(super) struct PidFile(Option<PathBuf>);

impl PidFile {
    /// Writes the file, unless another process watches this one and has written its own id.
    pub(super) fn write(arguments: &Arguments) -> Result<Self, Blamed> {
        let path = match &arguments.pid_file {
            Some(path) if !processes::is_guarded() => below(arguments, path)?,
            _ => return Ok(Self(None)),
        };
        let line = format!("{}\n", process::id());
        fs::write(&path, line).map_err(Blamed::io(Blame::Input, &path))?;
        Ok(Self(Some(path)))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Somebody may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}
