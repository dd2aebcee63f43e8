//! The file with the process id.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
};

use runs::{Blame, Blamed};

use super::{arguments::Arguments, log_file::below};

/// Longest pid file that is read, bytes.
const LONGEST: u64 = 64;

/// The file with this process's id; removed when dropped.
pub(super) struct PidFile(Option<PathBuf>);

impl PidFile {
    /// Writes the file, if one was asked for.
    pub(super) fn write(arguments: &Arguments) -> Result<Self, Blamed> {
        let path = match &arguments.pid_file {
            Some(path) => below(arguments, path)?,
            None => return Ok(Self(None)),
        };
        if let Some(pid) = running(&path) {
            let message = format!("{}: process {pid} runs with this pid file", path.display());
            return Err(Blamed::new(Blame::Input, message)
                .hint("stop it first, or name another --pid-file".to_owned()));
        }
        let line = format!("{}\n", process::id());
        fs::write(&path, line).map_err(Blamed::io(Blame::Input, &path))?;
        Ok(Self(Some(path)))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // Another program may have written or removed it.
        if let Some(path) = &self.0
            && written(path) == Some(process::id())
        {
            let _ = fs::remove_file(path);
        }
    }
}

/// The process id in a pid file; `None` if there is no such file.
fn written(path: &Path) -> Option<u32> {
    let text = files::read_regular_text(path, LONGEST).ok()?;
    text.trim().parse().ok()
}

/// The process of a pid file if it is another one of this program.
fn running(path: &Path) -> Option<u32> {
    let pid = written(path).filter(|pid| *pid != process::id())?;
    let program = |process: &str| fs::read_link(format!("/proc/{process}/exe")).ok();
    (program(&pid.to_string())? == program("self")?).then_some(pid)
}
