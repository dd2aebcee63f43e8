//! The data file of a table, made by gen-data or by a shell command; dropping the future that makes it stops both.

use std::{
    fs::File,
    future::poll_fn,
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    task::Poll,
    thread,
    time::Duration,
};

use bstr::ByteSlice;
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Error, script::Generator};

/// Polling interval of a running command.
const PERIOD: Duration = Duration::from_millis(20);

/// Creates a data file; it receives its name only when it is complete.
pub(super) async fn make_file(path: &Path, generator: &Generator) -> Result<(), Error> {
    let failed = |error: files::Error| data_file(path, error.into());
    let file = files::Replacement::begin(path).map_err(failed)?;
    write_file(file.path(), generator).await?;
    file.commit().map_err(failed)
}

async fn write_file(path: &Path, generator: &Generator) -> Result<(), Error> {
    let mut file = File::create(path).map_err(|error| data_file(path, error))?;
    match generator {
        Generator::GenData(generator) => {
            let mut stream = generator.stream();
            let mut piece = Vec::new();
            while stream.fill(&mut piece) {
                file.write_all(&piece)
                    .map_err(|error| data_file(path, error))?;
                piece.clear();
                give_way().await;
            }
            Ok(())
        }
        Generator::Shell(command) => run_shell(command, file).await,
    }
}

async fn run_shell(command: &bstr::BString, output: File) -> Result<(), Error> {
    let failed = |reason: String| Error::ShellCommand {
        command: command.to_string(),
        reason,
    };
    let child = Command::new("sh")
        .arg("-c")
        .arg(command.to_os_str_lossy())
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(output)
        .spawn();
    let mut shell = Shell(child.map_err(|error| failed(error.to_string()))?);
    let status = shell.end().await;
    let status = status.map_err(|error| failed(error.to_string()))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(status.to_string()))
    }
}

/// A running command, which leads a process group.
struct Shell(Child);

impl Shell {
    async fn end(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            thread::sleep(PERIOD);
            give_way().await;
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(None)) {
            return;
        }
        // Its rows are no longer needed.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Yields once to other tasks, such as the one that checks for Ctrl-C.
async fn give_way() {
    let mut has_given = false;
    poll_fn(|context| {
        if has_given {
            return Poll::Ready(());
        }
        has_given = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

pub(super) fn data_file(path: &Path, source: io::Error) -> Error {
    Error::DataFile {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    use super::*;
    use crate::smack::{gen_data::GenData, rows::RowSource};

    fn made(path: &Path, generator: &Generator) -> Result<(), Error> {
        let mut making = pin!(make_file(path, generator));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(made) = making.as_mut().poll(&mut context) {
                return made;
            }
        }
    }

    #[test]
    fn files_appear_complete_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.dat");
        made(&path, &Generator::Shell("printf 'a,1\\nb,2\\n'".into())).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"a,1\nb,2\n");
        let other = dir.path().join("other.dat");
        let error = made(&other, &Generator::Shell("echo a; exit 3".into())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "shell command 'echo a; exit 3' failed: exit status: 3"
        );
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_command_that_nobody_waits_for_ends_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (path, number) = (dir.path().join("rows.dat"), dir.path().join("pid"));
        let command = format!(
            "sleep 3600 & echo $! > {0}.new; mv {0}.new {0}; wait",
            number.display()
        );
        let generator = Generator::Shell(command.into());
        {
            let mut making = pin!(make_file(&path, &generator));
            let mut context = Context::from_waker(Waker::noop());
            while !number.exists() {
                assert!(making.as_mut().poll(&mut context).is_pending());
            }
        }
        let child = std::fs::read_to_string(&number).unwrap();
        let is_gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        // The kernel needs a moment.
        for _ in 0..500 {
            if is_gone() {
                break;
            }
            thread::sleep(PERIOD);
        }
        assert!(is_gone(), "process {child} still runs");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_generator_and_its_file_stream_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.dat");
        let generator = GenData::new(50_000, b"%12-12s%n,%25-25s,%n,%d").unwrap();
        made(&path, &Generator::GenData(generator.clone())).unwrap();
        let read = |mut source: RowSource| {
            let mut rows = Vec::new();
            while source.fill(&mut rows).unwrap() {}
            rows
        };
        let generated = read(RowSource::generated(&generator));
        assert!(generated == read(RowSource::open(&path).unwrap()));
        assert_eq!(generated.find_iter(b"\n").count(), 50_000);
    }
}
