//! Errors of the connection between client and observer.

use std::io;

use crate::{message::PROTOCOL, wire::WireError};

/// An error between client and observer.
#[derive(Debug, thiserror::Error)]
#[error("{peer}: {problem}")]
pub struct Error {
    /// The other side: `tcp://db1:7306`, or a client's address.
    pub peer: String,
    pub problem: Problem,
}

/// The cause of an error.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The address does not accept the connection.
    #[error("no observer: {0}")]
    Connect(io::Error),
    /// The program that connects cannot be started.
    #[error("cannot start {program}: {source}")]
    Start { program: String, source: io::Error },
    /// The program that connects has ended.
    #[error("{program} ended with {how}{said}")]
    Ended {
        program: String,
        /// Its exit code or signal, in words.
        how: String,
        /// Its last output after a colon; may be empty.
        said: String,
        /// Its exit code, if it has one.
        code: Option<i32>,
    },
    /// The other side has another version.
    #[error(
        "version {theirs} there uses protocol {protocol}, version {} here uses protocol {PROTOCOL}",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The version of dbdyno there.
        theirs: String,
        protocol: u32,
    },
    /// The client does not know the secret.
    #[error("wrong secret")]
    WrongSecret,
    /// The observer refuses this client's secret.
    #[error("refused: wrong secret")]
    SecretRefused,
    /// The observer does not know the secret; it may belong to another user.
    #[error("the observer does not know the secret")]
    ForeignObserver,
    /// The observer does not require a secret although one was given.
    #[error("the observer requires no secret, so another program could take its place")]
    NoSecret,
    /// The observer's reason for a refusal.
    #[error("refused: {0}")]
    Refused(String),
    /// A message out of order.
    #[error("it sent '{0}' at an unexpected time")]
    Turn(String),
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Wire(error.into())
    }
}

impl Problem {
    /// Adds the name of the other side.
    pub(crate) fn at(self, peer: &str) -> Error {
        Error {
            peer: peer.to_owned(),
            problem: self,
        }
    }

    /// The error for a message out of order.
    pub(crate) fn turn(message: &impl serde::Serialize) -> Self {
        let message = serde_json::to_value(message).unwrap_or_default();
        Self::Turn(message["message"].as_str().unwrap_or("nothing").to_owned())
    }
}

impl Error {
    /// What the user can do; `None` if there is nothing.
    pub fn hint(&self) -> Option<&'static str> {
        let is_ssh = self.peer.starts_with("ssh://");
        match &self.problem {
            Problem::Connect(_) => Some(
                "dbdyno observe --listen ADDRESS:PORT --secret-file FILE must run on that host",
            ),
            // ssh reports its own errors with this code.
            Problem::Ended {
                code: Some(255), ..
            } if is_ssh => {
                Some("ssh must connect without asking: keys in ssh-agent, the host in known_hosts")
            }
            // A shell reports a missing program with this code.
            Problem::Ended {
                code: Some(127), ..
            } if is_ssh => Some(
                "name the program on that host with its full path, with observe_program or --observe-program",
            ),
            Problem::Version { .. } => Some("use the same dbdyno on both hosts"),
            Problem::SecretRefused | Problem::ForeignObserver | Problem::NoSecret => Some(
                "both sides need a file with the same first line: --observe-secret-file (in an experiment \
                 observe_secret_file) on this machine, and --secret-file of dbdyno observe on the server's host",
            ),
            Problem::WrongSecret => Some(
                "both sides need a file with the same first line: --secret-file on this machine, and \
                 --observe-secret-file (in an experiment observe_secret_file) on the client's machine",
            ),
            Problem::Wire(WireError::NotUnderstood { .. }) if is_ssh => Some(
                "on the server's host, a shell's start-up files must not print anything in non-interactive sessions",
            ),
            _ => None,
        }
    }
}
