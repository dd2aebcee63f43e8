//! Two servers that do no work, one of which answers each statement later.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

/// Response times, whose means differ so that throughput differs by about 5 %. About 0.1 ms of the client and of its
/// wake-ups is added to both.
const DELAYS: [&str; 2] = ["exponential:2ms", "exponential:2105us"];
/// A null server listens within milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// The two servers, which end with this.
pub(crate) struct NullPair {
    servers: Vec<(Child, PathBuf)>,
}

impl NullPair {
    /// The sockets of a pair in this directory.
    pub(crate) fn sockets(work: &Path) -> [PathBuf; 2] {
        ["fast.sock", "slow.sock"].map(|name| work.join(name))
    }

    /// Starts both, and waits until they listen.
    pub(crate) fn start(dbdyno: &Path, work: &Path, seed: u64) -> Result<Self> {
        let mut pair = Self {
            servers: Vec::new(),
        };
        for ((socket, delay), seed) in Self::sockets(work).into_iter().zip(DELAYS).zip(seed..) {
            let mut command = Command::new(dbdyno);
            command.arg("null-server").arg("--socket").arg(&socket);
            command.args(["--delay", delay, "--seed", &seed.to_string()]);
            let quiet = command.stdin(Stdio::null()).stdout(Stdio::null());
            let server = quiet.spawn().context("cannot start the null server")?;
            pair.servers.push((server, socket));
        }
        let begin = Instant::now();
        for (server, socket) in &mut pair.servers {
            while !socket.exists() {
                ensure!(server.try_wait()?.is_none(), "the null server ended");
                ensure!(
                    begin.elapsed() < PATIENCE,
                    "the null server does not listen"
                );
                thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(pair)
    }
}

impl Drop for NullPair {
    fn drop(&mut self) {
        for (server, socket) in &mut self.servers {
            // One that ended by itself needs no end.
            let _ = server.kill();
            let _ = server.wait();
            let _ = fs::remove_file(socket);
        }
    }
}
