//! Starts, stops and kills a server.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::directory::layout::Layout;
use crate::directory::lock::Lock;
use crate::directory::marker::Marker;
use crate::error::Error;
use crate::initialise::{LOG_LINES, is_disk_full, without_mysql_variables};
use crate::process::interruption::Wait;
use crate::process::readiness::{Readiness, wait_until_up};
use crate::process::spawner::{Lifetime, spawn_in};
use crate::process::{ProcessHandle, ProcessId};
use crate::server::Server;
use crate::{configuration, directory::socket_dir, process::log, process::port, redo_log};

/// Time limit until a server answers: recovery after a kill can take minutes.
const START_TIMEOUT: Duration = Duration::from_secs(600);

/// Time limit of a clean stop: the dirty pages of a large buffer pool have to be written.
const STOP_TIMEOUT: Duration = Duration::from_secs(600);

/// Time limit until a killed process has disappeared.
const KILL_TIMEOUT: Duration = Duration::from_secs(60);

/// Number of free ports that are tried when other programs take them first.
const PORT_TRIES: usize = 5;

impl Server {
    /// Starts the server and waits until it answers.
    pub fn start(&mut self, lifetime: Lifetime) -> Result<(), Error> {
        self.start_with(lifetime, Wait::of_work())
    }

    /// Restarts a server that was stopped for other work, even if that work was interrupted.
    pub fn start_again(&mut self, lifetime: Lifetime) -> Result<(), Error> {
        self.start_with(lifetime, Wait::from_now())
    }

    fn start_with(&mut self, lifetime: Lifetime, wait: Wait) -> Result<(), Error> {
        let _lock = Lock::take(&self.layout)?;
        self.refresh()?;
        self.refuse_if_running()?;
        if !self.layout.data.is_dir() {
            return Err(Error::NoData {
                dir: self.layout.dir.clone(),
            });
        }
        self.prepare_socket()?;
        if self.marker.stopped_cleanly {
            redo_log::make_room(&self.installation()?, &self.options()?, &self.layout.data)?;
        }
        self.marker.stopped_cleanly = false;
        match lifetime {
            Lifetime::Detached => self.marker.owner = None,
            Lifetime::Owned if self.marker.owner.is_some() => {
                self.marker.owner = Some(own_process()?)
            }
            Lifetime::Owned => {}
        }
        for _ in 1..PORT_TRIES {
            match self.start_once(lifetime, wait) {
                Err(Error::PortTaken { .. }) if !self.marker.port_is_named => {}
                ended => return ended,
            }
        }
        self.start_once(lifetime, wait)
    }

    /// Stops the server cleanly: its data is complete afterwards.
    pub fn stop(&mut self) -> Result<(), Error> {
        let wait = Wait::from_now();
        let _lock = Lock::take(&self.layout)?;
        self.refresh()?;
        let handle = self.handle()?.ok_or_else(|| Error::NotRunning {
            dir: self.layout.dir.clone(),
        })?;
        self.signal(&handle, Signal::TERM)?;
        let ended = handle
            .wait(STOP_TIMEOUT, wait)
            .map_err(self.io("wait for the server of"))?;
        if !ended {
            self.signal(&handle, Signal::KILL)?;
        }
        self.reap();
        self.marker.server = None;
        self.marker.stopped_cleanly = ended;
        self.marker.write(&self.layout)?;
        if ended {
            Ok(())
        } else {
            Err(self.timed_out("stop", STOP_TIMEOUT, 0))
        }
    }

    /// Whether the data directory says that the redo log is disabled: a crash then costs all data, and a clean stop
    /// does not change it. Only MySQL from 8.0.30 on records it there.
    pub fn redo_log_is_off(&self) -> bool {
        redo_log::is_off(&self.layout.data)
    }

    /// Kills the server with SIGKILL, as in a crash, and waits until it has ended. Does nothing if it is not running; a
    /// server without its redo log is not killed, since it would never start again.
    pub fn kill(&mut self) -> Result<(), Error> {
        if self.is_running() && self.redo_log_is_off() {
            return Err(Error::RedoLogOff {
                dir: self.layout.dir.clone(),
            });
        }
        kill_marked(&self.layout, &self.marker)?;
        self.reap();
        Ok(())
    }

    fn start_once(&mut self, lifetime: Lifetime, wait: Wait) -> Result<(), Error> {
        wait.go_on().map_err(self.io("start the server of"))?;
        self.take_port()?;
        let from = log::length(&self.layout.log);
        let mut child = spawn_in(self.command()?, lifetime, self.group.as_deref())
            .map_err(self.io("start the server of"))?;
        let failure = match self.follow_start(&child, wait) {
            Ok(Readiness::Up) => {
                self.child = Some(child);
                self.dies_with_us = lifetime == Lifetime::Owned;
                return Ok(());
            }
            Ok(Readiness::Ended) => self.died_at_start(&mut child, from),
            Ok(Readiness::TimedOut) => {
                end(&mut child);
                self.timed_out("answer", START_TIMEOUT, from)
            }
            Err(error) => {
                end(&mut child);
                error
            }
        };
        self.marker.server = None;
        self.marker.write(&self.layout)?;
        Err(failure)
    }

    /// Records the new process and waits for its greeting.
    fn follow_start(&mut self, child: &Child, wait: Wait) -> Result<Readiness, Error> {
        let process = ProcessId::of(child.id()).map_err(self.io("find the server of"))?;
        let handle = process.handle().map_err(self.io("find the server of"))?;
        self.marker.server = Some(process);
        self.marker.write(&self.layout)?;
        match handle {
            None => Ok(Readiness::Ended),
            Some(handle) => wait_until_up(&self.socket(), &handle, START_TIMEOUT, wait)
                .map_err(self.io("wait for the server of")),
        }
    }

    fn command(&self) -> Result<Command, Error> {
        let open = |_| log::open(&self.layout.log).map_err(Error::io("open", &self.layout.log));
        let mut command = self.marker.launch.command(&self.marker.mysqld);
        command
            .arg(option_file_argument(&self.layout))
            .arg(format!("--socket={}", self.socket().display()))
            .arg(format!("--port={}", self.marker.port))
            .current_dir(&self.layout.dir)
            .stdin(Stdio::null())
            .stdout(open(())?)
            .stderr(open(())?);
        without_mysql_variables(&mut command);
        Ok(command)
    }

    /// Reserves a port and writes it to client.cnf.
    fn take_port(&mut self) -> Result<(), Error> {
        let (host, port) = (self.marker.host.clone(), self.marker.port);
        if port::is_free(&host, port) {
            return Ok(());
        }
        if self.marker.port_is_named {
            return Err(Error::PortTaken { host, port });
        }
        self.marker.port = port::free_port(&host)?;
        self.rewrite_client_file()
    }

    /// Prepares the socket's directory and removes the remains of a killed server: MySQL takes a lock file for a
    /// running server's if its process number now belongs to another process.
    fn prepare_socket(&mut self) -> Result<(), Error> {
        if let Some(directory) = &self.marker.socket_dir
            && !socket_dir::belongs_to(directory, &self.layout)
        {
            // Temporary directories are emptied at boot.
            self.marker.socket_dir = Some(socket_dir::make(&self.layout)?);
            self.rewrite_client_file()?;
        }
        let socket = self.socket();
        for leftover in [socket.with_extension("sock.lock"), socket] {
            match std::fs::remove_file(&leftover) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &leftover)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn rewrite_client_file(&self) -> Result<(), Error> {
        self.write_client_file(configuration::is_without_tls(&self.options()?))
    }

    fn handle(&self) -> Result<Option<ProcessHandle>, Error> {
        running(&self.layout, &self.marker)
    }

    fn signal(&self, handle: &ProcessHandle, signal: Signal) -> Result<(), Error> {
        handle.signal(signal).map_err(self.io("stop the server of"))
    }

    /// Reaps an ended child, so that it does not stay as a zombie.
    fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            end(&mut child);
        }
        self.dies_with_us = false;
    }

    fn died_at_start(&self, child: &mut Child, from: u64) -> Error {
        let status = child
            .wait()
            .map_or_else(|error| error.to_string(), |status| status.to_string());
        let log = log::tail(&self.layout.log, from, LOG_LINES);
        if log.contains("Bind on TCP/IP port") {
            return Error::PortTaken {
                host: self.marker.host.clone(),
                port: self.marker.port,
            };
        }
        if is_disk_full(&log) {
            return Error::DiskFull {
                path: self.layout.data.clone(),
            };
        }
        Error::DiedAtStart {
            dir: self.layout.dir.clone(),
            status,
            log,
        }
    }

    fn timed_out(&self, what: &'static str, timeout: Duration, from: u64) -> Error {
        Error::TimedOut {
            dir: self.layout.dir.clone(),
            what,
            timeout_s: timeout.as_secs(),
            log: log::tail(&self.layout.log, from, LOG_LINES),
        }
    }

    fn io(&self, what: &'static str) -> impl FnOnce(io::Error) -> Error {
        Error::io(what, &self.layout.dir)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.dies_with_us {
            self.reap();
        }
    }
}

/// Kills the server process that a marker names, if it runs, and waits until it is gone.
pub(crate) fn kill_marked(layout: &Layout, marker: &Marker) -> Result<(), Error> {
    if let Some(handle) = running(layout, marker)? {
        let wait = Wait::from_now();
        let kill = || {
            handle.signal(Signal::KILL)?;
            handle.wait(KILL_TIMEOUT, wait)
        };
        kill().map_err(Error::io("kill the server of", &layout.dir))?;
    }
    Ok(())
}

/// The server process that a marker names; `None` when it does not run.
fn running(layout: &Layout, marker: &Marker) -> Result<Option<ProcessHandle>, Error> {
    match marker.running() {
        Some(process) if process.has_argument(&option_file_argument(layout)) => process
            .handle()
            .map_err(Error::io("find the server of", &layout.dir)),
        _ => Ok(None),
    }
}

/// The argument that identifies a server's process.
fn option_file_argument(layout: &Layout) -> String {
    format!("--defaults-file={}", layout.option_file.display())
}

/// Kills a child, if it still runs, and reaps it. This fails only for a child that is reaped already, which is
/// harmless.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// This process, as the owner of servers.
pub(crate) fn own_process() -> Result<ProcessId, Error> {
    ProcessId::own().map_err(Error::io("read", Path::new("/proc/self/stat")))
}
