//! The file with the process id. It stays after the end, as MySQL Proxy's does: scripts that stop the proxy read it then.

use std::{fs, path::Path, process};

use blame::{Blame, Blamed};

use super::{arguments::Arguments, log_file::below};

/// Longest pid file that is read, bytes.
const LONGEST: u64 = 64;

/// Writes the file with this process's id, if one was asked for.
pub(super) fn write(arguments: &Arguments) -> Result<(), Blamed> {
    let Some(path) = &arguments.pid_file else {
        return Ok(());
    };
    let path = below(arguments, path)?;
    if let Some(pid) = running(&path) {
        let message = format!("{}: process {pid} runs with this pid file", path.display());
        return Err(Blamed::new(Blame::Input, message)
            .hint("stop it first, or name another --pid-file".to_owned()));
    }
    let line = format!("{}\n", process::id());
    fs::write(&path, line).map_err(Blamed::io(Blame::Input, &path))
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
