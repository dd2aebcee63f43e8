//! The vocabulary of these tests: a directory of its own, and dbdyno run in it.

use std::{
    ffi::OsStr,
    fs,
    io::Read,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A command that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);

/// A directory that is working directory and home of every command run in it, and goes away with the test.
pub(crate) struct Scene {
    directory: TempDir,
}

impl Scene {
    /// An empty scene.
    pub(crate) fn new() -> Self {
        // Sockets live below it, and the path of a socket is limited to 107 bytes.
        let directory = tempfile::Builder::new()
            .prefix("dyno")
            .tempdir()
            .expect("the temporary directory is writable");
        Self { directory }
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).expect("the scene is writable");
        path
    }

    /// Runs dbdyno to its end.
    #[track_caller]
    pub(crate) fn dbdyno<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Finished {
        self.start(args).finish()
    }

    /// Runs dbdyno under another name, as a link to it would.
    #[track_caller]
    pub(crate) fn called<S: AsRef<OsStr>>(
        &self,
        name: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Finished {
        let link = self.path().join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dbdyno"), &link)
                .expect("the scene is writable");
        }
        self.launch(Command::new(link), args).finish()
    }

    /// Starts dbdyno and leaves it running.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        self.launch(Command::new(env!("CARGO_BIN_EXE_dbdyno")), args)
    }

    fn launch<S: AsRef<OsStr>>(
        &self,
        mut command: Command,
        args: impl IntoIterator<Item = S>,
    ) -> Running {
        command
            .args(args)
            .current_dir(self.path())
            .env("HOME", self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // What the developer who runs the tests has set must not reach them.
        for variable in [
            "MYSQL_PWD",
            "MYSQL_HOST",
            "MYSQL_TCP_PORT",
            "MYSQL_UNIX_PORT",
            "XDG_DATA_HOME",
        ] {
            command.env_remove(variable);
        }
        let line = format!("{command:?}");
        let mut child = command.spawn().expect("dbdyno was built for this test");
        let stdout = drain(child.stdout.take().expect("it is piped"));
        let stderr = drain(child.stderr.take().expect("it is piped"));
        Running {
            line,
            child,
            stdout: Some(stdout),
            stderr: Some(stderr),
        }
    }
}

/// Reads a pipe to its end in a thread of its own, so that the writer never waits.
fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks is one that ended.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// A dbdyno that runs; killed when the test ends before it.
pub(crate) struct Running {
    line: String,
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Running {
    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it is our child and still runs");
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Finished {
        let mut waited = Duration::ZERO;
        let status = loop {
            match self.child.try_wait().expect("it is our child") {
                Some(status) => break status,
                None if waited < PATIENCE => {
                    thread::sleep(POLL);
                    waited += POLL;
                }
                None => panic!("{} hangs for {PATIENCE:?}", self.line),
            }
        };
        let text = |pipe: &mut Option<JoinHandle<Vec<u8>>>| {
            let pipe = pipe.take().expect("it is taken once");
            pipe.join().expect("reading does not panic")
        };
        Finished {
            line: self.line.clone(),
            status,
            stdout: text(&mut self.stdout),
            stderr: String::from_utf8_lossy(&text(&mut self.stderr)).into_owned(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail on a process that ended, which is how it should be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A dbdyno that ended.
pub(crate) struct Finished {
    line: String,
    status: ExitStatus,
    /// Standard output, as bytes.
    pub(crate) stdout: Vec<u8>,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Finished {
    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// It ended by itself, with this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        let ended = match (self.status.code(), self.status.signal()) {
            (Some(found), _) if found == code => return self,
            (Some(found), _) => format!("exited with {found}"),
            (None, signal) => format!("was ended by signal {signal:?}"),
        };
        panic!(
            "{} {ended} and not with {code}\n{}",
            self.line,
            self.shown()
        );
    }

    /// Standard output holds this text.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(
            self.text().contains(text),
            "{} does not print {text:?}\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Standard error holds this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "{} does not say {text:?}\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Standard output is empty: data goes there, and there is none.
    #[track_caller]
    pub(crate) fn prints_nothing(self) -> Self {
        assert!(
            self.stdout.is_empty(),
            "{} prints\n{}",
            self.line,
            self.shown()
        );
        self
    }

    fn shown(&self) -> String {
        const SHOWN_MAX: usize = 4000;
        let output: String = self.text().chars().take(SHOWN_MAX).collect();
        format!(
            "--- standard output\n{output}\n--- standard error\n{}",
            self.stderr
        )
    }
}
