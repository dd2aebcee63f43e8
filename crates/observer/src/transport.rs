//! The transports to an observer: a program started over ssh, or a TCP connection.

use std::{
    io::{self, Read},
    net::{TcpStream, ToSocketAddrs},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use crate::{error::Problem, secret::Secret};

/// Time limit for opening a TCP connection.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Time limit for a program to end after its pipe is closed.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// Length of the part that is kept of a program's standard error, bytes: its end.
const SAID_BYTES: usize = 2 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// An observer started by ssh.
    Ssh(Ssh),
    /// An observer that listens on TCP.
    Tcp(Tcp),
}

/// The parameters of an observer started by ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The ssh program and its options.
    pub command: Vec<String>,
    /// `host` or `user@host`.
    pub destination: String,
    /// The port; `None` for the one in ssh's configuration.
    pub port: Option<u16>,
    /// The command that starts dbdyno in the shell there.
    pub program: String,
}

/// The parameters of an observer that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tcp {
    /// Name or address; IPv6 without brackets.
    pub host: String,
    pub port: u16,
    pub secret: Secret,
}

/// The process or socket of the transport.
#[derive(Debug)]
pub(crate) enum Link {
    Ssh(SshChild),
    Tcp(TcpStream),
}

#[derive(Debug)]
pub(crate) struct SshChild {
    program: String,
    child: Child,
    /// The end of its standard error.
    said: Arc<Mutex<Vec<u8>>>,
    listener: Option<thread::JoinHandle<()>>,
}

/// An open transport: both directions and its link.
pub(crate) struct Opened {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) link: Link,
}

impl Transport {
    pub(crate) fn open(&self) -> Result<Opened, Problem> {
        match self {
            Self::Ssh(ssh) => ssh.open(),
            Self::Tcp(tcp) => {
                let stream = tcp.connect().map_err(Problem::Connect)?;
                stream.set_nodelay(true)?;
                Ok(Opened {
                    input: stream.try_clone()?.into(),
                    output: stream.try_clone()?.into(),
                    link: Link::Tcp(stream),
                })
            }
        }
    }
}

impl Tcp {
    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_PATIENCE) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl Ssh {
    /// The complete command line.
    fn arguments(&self) -> Vec<String> {
        // ssh must not ask: the run may be unattended, and its questions would get lost in the progress bar.
        let mut arguments = vec!["-o".to_owned(), "BatchMode=yes".to_owned()];
        arguments.extend(["-o".to_owned(), "ConnectTimeout=10".to_owned()]);
        if let Some(port) = self.port {
            arguments.extend(["-p".to_owned(), port.to_string()]);
        }
        arguments.extend(["--".to_owned(), self.destination.clone()]);
        arguments.push(format!("{} observe --stdio", self.program));
        arguments
    }

    fn open(&self) -> Result<Opened, Problem> {
        let (program, options) = self
            .command
            .split_first()
            .ok_or_else(|| Problem::Connect(io::Error::other("the ssh command is empty")))?;
        let started = Command::new(program)
            .args(options)
            .args(self.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C ends the load; the observer is still needed for its summary.
            .process_group(0)
            .spawn();
        let mut child = started.map_err(|source| Problem::Start {
            program: program.clone(),
            source,
        })?;
        let input = child.stdout.take().expect("it is piped");
        let output = child.stdin.take().expect("it is piped");
        let mut stderr = child.stderr.take().expect("it is piped");
        let said = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&said);
        let listener = thread::spawn(move || {
            let mut part = [0; 1024];
            while let Ok(count @ 1..) = stderr.read(&mut part) {
                let mut said = received.lock().unwrap_or_else(PoisonError::into_inner);
                said.extend_from_slice(&part[..count]);
                let too_many = said.len().saturating_sub(SAID_BYTES);
                said.drain(..too_many);
            }
        });
        Ok(Opened {
            input: input.into(),
            output: output.into(),
            link: Link::Ssh(SshChild {
                program: program.clone(),
                child,
                said,
                listener: Some(listener),
            }),
        })
    }
}

impl Link {
    /// Closes it: both the other side and the reader here see the end.
    pub(crate) fn cut(&mut self) {
        match self {
            // It may be closed already.
            Self::Tcp(stream) => drop(stream.shutdown(std::net::Shutdown::Both)),
            Self::Ssh(ssh) => drop(ssh.end()),
        }
    }

    /// The cause of the end, if the program explains more than a closed connection.
    pub(crate) fn why_ended(&mut self) -> Option<Problem> {
        match self {
            Self::Tcp(_) => None,
            Self::Ssh(ssh) => ssh.why_ended(),
        }
    }
}

impl SshChild {
    /// Waits a short time for it to end by itself, then kills it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // Without a descriptor to wait on it is killed at once.
        if let Ok(Some(status)) = reactor::wait_for_child(&mut self.child, None, END_PATIENCE) {
            return Ok(status);
        }
        self.child.kill()?;
        self.child.wait()
    }

    fn why_ended(&mut self) -> Option<Problem> {
        let status = self.end().ok()?;
        if let Some(listener) = self.listener.take() {
            // The thread only reads; its output so far counts.
            let _ = listener.join();
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        let said = said.trim().replace(['\n', '\r'], " ");
        Some(Problem::Ended {
            program: self.program.clone(),
            how: status.to_string(),
            said: if said.is_empty() {
                said
            } else {
                format!(": {said}")
            },
            code: status.code(),
        })
    }
}

impl Drop for SshChild {
    fn drop(&mut self) {
        // An error can no longer be reported.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(port: Option<u16>) -> Ssh {
        Ssh {
            command: vec!["ssh".to_owned()],
            destination: "dba@db1".to_owned(),
            port,
            program: "sudo -n dbdyno".to_owned(),
        }
    }

    #[test]
    fn ssh_is_told_not_to_ask() {
        assert_eq!(
            ssh(Some(2222)).arguments().join(" "),
            "-o BatchMode=yes -o ConnectTimeout=10 -p 2222 -- dba@db1 sudo -n dbdyno observe --stdio"
        );
        assert!(!ssh(None).arguments().contains(&"-p".to_owned()));
    }

    #[test]
    fn what_ssh_says_at_its_end_is_told() {
        let failing = Ssh {
            command: ["sh", "-c", "echo 'no route to db1' >&2; exit 255"]
                .map(str::to_owned)
                .to_vec(),
            ..ssh(None)
        };
        let mut opened = failing.open().unwrap();
        let why = opened.link.why_ended().unwrap();
        assert_eq!(
            why.to_string(),
            "sh ended with exit status: 255: no route to db1"
        );
        let missing = Ssh {
            command: vec!["/no/ssh".to_owned()],
            ..ssh(None)
        };
        let error = missing.open().err().unwrap().to_string();
        assert!(error.starts_with("cannot start /no/ssh: "), "{error}");
    }
}
