//! One dbdyno under limits of time, memory and output, with its result.

use std::{
    fs,
    io::Read,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// The password of every account in these tests; no output may contain it.
pub(crate) const PASSWORD: &str = "Wh1te-rabbit-hole";

const POLL: Duration = Duration::from_millis(10);
/// Maximum output of a command, bytes.
const OUTPUT_BYTES_MAX: usize = 32 << 20;
/// Environment variables of the developer that must not affect dbdyno.
const FOREIGN: [&str; 7] = [
    "MYSQL_PWD",
    "MYSQL_HOST",
    "MYSQL_TCP_PORT",
    "MYSQL_UNIX_PORT",
    "MYSQL_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
];

/// A command line and its limits.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    /// The working directory and home.
    pub(crate) directory: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) time_max: Duration,
    pub(crate) bytes_max: u64,
    /// Signals to send, each with its delay after the previous one.
    pub(crate) signals: Vec<(Duration, Signal)>,
    /// Command-line words before dbdyno that run it elsewhere, as in a control group.
    pub(crate) inside: Vec<String>,
}

/// A limit that a command exceeded; it was then killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    Time,
    Memory,
    Output,
}

/// Result of a command.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) line: String,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    pub(crate) peak_bytes: u64,
    pub(crate) excess: Option<Excess>,
    /// Signals that it received while it ran.
    pub(crate) signalled: Vec<Signal>,
}

impl Trial {
    /// dbdyno with these arguments, in this directory.
    pub(crate) fn new<S: ToString>(directory: &Path, args: impl IntoIterator<Item = S>) -> Self {
        Self {
            directory: directory.to_owned(),
            args: args.into_iter().map(|arg| arg.to_string()).collect(),
            time_max: Duration::from_secs(60),
            bytes_max: 256 << 20,
            signals: Vec::new(),
            inside: Vec::new(),
        }
    }

    /// The trial with another time limit.
    pub(crate) fn within(self, time_max: Duration) -> Self {
        Self { time_max, ..self }
    }

    /// The trial with another memory limit.
    pub(crate) fn below(self, bytes_max: u64) -> Self {
        Self { bytes_max, ..self }
    }

    /// Runs it to its end, or until it exceeds a limit.
    pub(crate) fn run(&self) -> Ended {
        let mut command = self.command();
        let start = Instant::now();
        let mut child = command.spawn().expect("dbdyno was built for this test");
        let stdout = drain(child.stdout.take().expect("it is piped"));
        let stderr = drain(child.stderr.take().expect("it is piped"));
        let mut watch = Watch {
            start,
            peak_bytes: 0,
            signalled: Vec::new(),
            due: self.signals.clone(),
        };
        let (status, mut excess) = watch.until_end(&mut child, self);
        let took = start.elapsed();
        let (stdout, is_flood) = stdout.join().expect("reading does not panic");
        let (stderr, is_flood_too) = stderr.join().expect("reading does not panic");
        if is_flood || is_flood_too {
            excess = excess.or(Some(Excess::Output));
        }
        Ended {
            line: self.line(),
            code: status.code(),
            signal: status.signal(),
            stdout,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            took,
            peak_bytes: watch.peak_bytes,
            excess,
            signalled: watch.signalled,
        }
    }

    fn command(&self) -> Command {
        let dbdyno = env!("CARGO_BIN_EXE_dbdyno");
        // Under nohup SIGHUP is ignored unless it is restored.
        let env = ["env", "--default-signal=HUP", dbdyno];
        let mut words = self.inside.iter().map(String::as_str).chain(env);
        let mut command = Command::new(words.next().expect("dbdyno at least"));
        let temporary = self.directory.join("tmp");
        // It may exist already, or the disk may be full, which is what is tested.
        let _ = fs::create_dir_all(&temporary);
        command
            .args(words)
            .args(&self.args)
            .current_dir(&self.directory)
            .env("HOME", &self.directory)
            .env("TMPDIR", temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for variable in FOREIGN {
            command.env_remove(variable);
        }
        command
    }

    /// The command line as a user would type it.
    pub(crate) fn line(&self) -> String {
        let quoted = self.args.iter().map(|arg| {
            if arg.contains([' ', '"', '$']) {
                format!("'{arg}'")
            } else {
                arg.clone()
            }
        });
        let words: Vec<_> = quoted.collect();
        format!("dbdyno {}", words.join(" "))
    }
}

/// Observations while a command runs.
struct Watch {
    start: Instant,
    peak_bytes: u64,
    signalled: Vec<Signal>,
    due: Vec<(Duration, Signal)>,
}

impl Watch {
    fn until_end(&mut self, child: &mut Child, trial: &Trial) -> (ExitStatus, Option<Excess>) {
        let pid = child.id();
        let mut since = self.start;
        let mut excess = None;
        loop {
            if let Some(status) = child.try_wait().expect("it is our child") {
                return (status, excess);
            }
            self.peak_bytes = self.peak_bytes.max(peak_bytes(pid));
            if let Some((after, signal)) = self.due.first().copied()
                && since.elapsed() >= after
            {
                self.due.remove(0);
                since = Instant::now();
                if kill_process(Pid::from_child(child), signal).is_ok() {
                    self.signalled.push(signal);
                }
            }
            let broken = match () {
                () if self.peak_bytes > trial.bytes_max => Some(Excess::Memory),
                () if self.start.elapsed() > trial.time_max => Some(Excess::Time),
                () => None,
            };
            if excess.is_none() && broken.is_some() {
                excess = broken;
                // It may end on its own at this moment.
                let _ = child.kill();
            }
            thread::sleep(POLL);
        }
    }
}

/// Peak memory of a process, bytes; 0 for one that has ended.
fn peak_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    words
        .and_then(|kb| kb.parse::<u64>().ok())
        .map_or(0, |kb| kb << 10)
}

/// Reads a pipe to its end; also returns whether it exceeded the maximum output.
fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<(Vec<u8>, bool)> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        let mut is_flood = false;
        // A broken pipe is a closed one.
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            if kept.len() < OUTPUT_BYTES_MAX {
                kept.extend_from_slice(&buffer[..count])
            } else {
                is_flood = true
            }
        }
        (kept, is_flood)
    })
}
