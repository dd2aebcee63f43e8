//! Why an observer could not be reached, or is not talked to.

use std::io;

use crate::{message::PROTOCOL, wire::WireError};

/// Something that keeps client and observer apart.
#[derive(Debug, thiserror::Error)]
#[error("{peer}: {problem}")]
pub struct Error {
    /// The other side: `tcp://db1:7306`, or the address that a client came from.
    pub peer: String,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// Nobody answers there.
    #[error("no observer: {0}")]
    Connect(io::Error),
    /// The program that goes there cannot be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program that goes there ended.
    #[error("{program} ended with {how}{said}")]
    Ended {
        /// The program.
        program: String,
        /// Its exit code or signal, in words.
        how: String,
        /// What it said, behind a colon; may be empty.
        said: String,
        /// Its exit code, if it has one.
        code: Option<i32>,
    },
    /// The other side has another version.
    #[error(
        "version {theirs} there says protocol {protocol}, version {} here says protocol {PROTOCOL}",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The dbdyno there.
        theirs: String,
        /// Its protocol.
        protocol: u32,
    },
    /// A client that does not know the secret.
    #[error("wrong secret")]
    WrongSecret,
    /// An observer that does not know the secret; it may be somebody else's.
    #[error("the observer does not know the secret")]
    ForeignObserver,
    /// An observer that asks for no secret where one is given.
    #[error("the observer asks for no secret, so that it cannot be told from another program")]
    NoSecret,
    /// What the observer says for no.
    #[error("refused: {0}")]
    Refused(String),
    /// It said something else than was its turn.
    #[error("it said '{0}' when that was not its turn")]
    Turn(String),
    /// The connection.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Wire(error.into())
    }
}

impl Problem {
    /// The same with the other side's name.
    pub(crate) fn at(self, peer: &str) -> Error {
        Error {
            peer: peer.to_owned(),
            problem: self,
        }
    }

    /// A message that came out of turn.
    pub(crate) fn turn(message: &impl serde::Serialize) -> Self {
        let message = serde_json::to_value(message).unwrap_or_default();
        Self::Turn(message["message"].as_str().unwrap_or("nothing").to_owned())
    }
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        let is_ssh = self.peer.starts_with("ssh://");
        match &self.problem {
            Problem::Connect(_) => {
                Some("dbdyno observe --listen ADDRESS:PORT --secret-file FILE has to run there")
            }
            // ssh says so of itself.
            Problem::Ended {
                code: Some(255), ..
            } if is_ssh => Some(
                "ssh must get there without asking: keys in ssh-agent, the host in known_hosts",
            ),
            // So does a shell of a program that it does not find.
            Problem::Ended {
                code: Some(127), ..
            } if is_ssh => Some(
                "name the program there with its whole path, as observe_program or --observe-program",
            ),
            Problem::Version { .. } => Some("use the same dbdyno on both hosts"),
            Problem::Refused(why) if why == WRONG_SECRET => {
                Some("both sides need a file with the same first line")
            }
            Problem::ForeignObserver | Problem::NoSecret => {
                Some("both sides need a file with the same first line")
            }
            Problem::Wire(WireError::NotUnderstood { .. }) if is_ssh => Some(
                "a shell's start-up files there must print nothing where nobody is logged in by hand",
            ),
            _ => None,
        }
    }
}

/// What an observer answers to a wrong secret.
pub(crate) const WRONG_SECRET: &str = "wrong secret";
