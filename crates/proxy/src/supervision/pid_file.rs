//! The file with the process id. It stays after the end, as MySQL Proxy's does: scripts that stop the proxy read it then.

use std::{fs, path::Path, process};

use crate::StartError;

/// Longest pid file that is read, bytes.
const LONGEST: u64 = 64;

/// Writes the file with this process's id, unless another process of this program runs with it.
pub(crate) fn write_pid_file(path: &Path) -> Result<(), StartError> {
    if let Some(pid) = running(path) {
        return Err(StartError::PidFileInUse {
            path: path.to_owned(),
            pid,
        });
    }
    let line = format!("{}\n", process::id());
    fs::write(path, line).map_err(|source| StartError::File {
        path: path.to_owned(),
        source,
    })
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
