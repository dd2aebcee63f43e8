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

/// How long a TCP connection may take to open.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// How long a program whose pipe is closed may take to end by itself.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// What is kept of what a program says besides: its last bytes.
const SAID_BYTES: usize = 2 << 10;

/// How an observer is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// ssh starts one there.
    Ssh(Ssh),
    /// One listens there.
    Tcp(Tcp),
}

/// An observer that ssh starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The ssh program and its options.
    pub command: Vec<String>,
    /// `host` or `user@host`.
    pub destination: String,
    /// Its port; `None` for what ssh's own files say.
    pub port: Option<u16>,
    /// dbdyno as the shell there is told to start it.
    pub program: String,
}

/// An observer that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tcp {
    /// Name or address, version 6 without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// What both know.
    pub secret: Secret,
}

/// What holds the transport open.
#[derive(Debug)]
pub(crate) enum Link {
    Ssh(SshChild),
    Tcp(TcpStream),
}

/// The running ssh.
#[derive(Debug)]
pub(crate) struct SshChild {
    program: String,
    child: Child,
    /// The end of what it says on its standard error.
    said: Arc<Mutex<Vec<u8>>>,
    listener: Option<thread::JoinHandle<()>>,
}

/// Both ends of a way that is open.
pub(crate) struct Opened {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
    pub(crate) link: Link,
}

impl Transport {
    /// Goes there.
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
    /// The whole command.
    fn arguments(&self) -> Vec<String> {
        // It must not ask: nobody may sit there, and its questions would get lost in the progress bar.
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
            // Ctrl-C asks the load to end; the observer is still needed for its last words.
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
    /// Cuts it: the other side sees the end, and whoever reads here does as well.
    pub(crate) fn cut(&mut self) {
        match self {
            // It may be cut already.
            Self::Tcp(stream) => drop(stream.shutdown(std::net::Shutdown::Both)),
            Self::Ssh(ssh) => drop(ssh.end()),
        }
    }

    /// What ended it, if the program that holds it tells more than that it is closed.
    pub(crate) fn why_ended(&mut self) -> Option<Problem> {
        match self {
            Self::Tcp(_) => None,
            Self::Ssh(ssh) => ssh.why_ended(),
        }
    }
}

impl SshChild {
    /// Waits a little while for it to end by itself, then ends it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        let deadline = reactor::system_now() + END_PATIENCE;
        while reactor::system_now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.child.kill()?;
        self.child.wait()
    }

    fn why_ended(&mut self) -> Option<Problem> {
        let status = self.end().ok()?;
        if let Some(listener) = self.listener.take() {
            // A thread that only reads; what it has heard so far counts.
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
        // Nobody is left to tell an error.
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
