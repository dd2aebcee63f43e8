//! The null server for a calibration or a simulated experiment: a separate process, which ends with this one.

use std::{
    env,
    io::{self, BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use blame::{Blame, Blamed};
use files::Scratch;
use protocol::{Address, Endpoint};
use rustix::process::{Pid, Signal, kill_process};
use server::Lifetime;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A running null server.
pub struct NullProcess {
    child: Child,
    directory: Scratch,
    port: u16,
}

impl NullProcess {
    /// Starts the null server and waits until it listens.
    pub fn start() -> Result<Self, Blamed> {
        let failed = |error: io::Error| {
            Blamed::new(
                Blame::Machine,
                format!("the null server does not start: {error}"),
            )
        };
        let directory = Scratch::make("dbdyno-null-").map_err(|error| failed(error.into()))?;
        let started = start_in(directory.path().join("null.sock"));
        let (child, port) = started.map_err(failed)?;
        Ok(Self {
            child,
            directory,
            port,
        })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn endpoint(&self, is_unix: bool) -> Endpoint {
        let address = if is_unix {
            Address::Unix(self.directory.path().join("null.sock"))
        } else {
            Address::Tcp {
                host: "127.0.0.1".to_owned(),
                port: self.port,
            }
        };
        Endpoint::plain(address, "dbdyno", CONNECT_TIMEOUT)
    }

    /// Ends the null server; an error if it had already ended.
    pub fn stop(mut self) -> Result<(), Blamed> {
        let gone = |why: String| Blamed::new(Blame::Server, format!("the null server {why}"));
        if let Ok(Some(status)) = self.child.try_wait() {
            return Err(gone(format!("ended unexpectedly: {status}")));
        }
        self.terminate();
        Ok(())
    }

    fn terminate(&mut self) {
        // Both calls fail only for a process that has ended.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

impl Drop for NullProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.terminate();
        }
    }
}

fn start_in(socket: PathBuf) -> io::Result<(Child, u16)> {
    let mut command = Command::new(env::current_exe()?);
    command
        .args(["null-server", "--port", "0", "--socket"])
        .arg(socket)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // Its summary is not needed.
        .stderr(Stdio::null());
    let mut child = server::spawn(command, Lifetime::Owned)?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    // "listening on PATH and 127.0.0.1:PORT"
    let port = line
        .trim_end()
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok());
    match port {
        Some(port) => Ok((child, port)),
        None => {
            // Its state does not matter, as it is not needed any more.
            let _ = child.kill();
            let status = child.wait()?;
            Err(io::Error::other(format!("{status}")))
        }
    }
}
