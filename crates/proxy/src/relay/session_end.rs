//! Why a session ended.

use std::io;

use crate::session_reset::ReuseObstacle;

/// Why a session ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionEnd {
    /// By `COM_QUIT`, an error of the login, or a hook's wish.
    #[error("closed")]
    Closed,
    #[error("the client closed the connection")]
    ClientLeft,
    #[error("the server closed the connection")]
    ServerLeft,
    #[error("the connection to the client failed: {0}")]
    Client(io::Error),
    #[error("the connection to the server failed: {0}")]
    Server(io::Error),
    #[error("no TLS with the client: {0}")]
    ClientTls(io::Error),
    #[error("{0}: a malformed answer from the server")]
    Answer(protocol::Error),
    #[error("{0}")]
    Refused(String),
    #[error("no data within --proxy-read-timeout")]
    ReadTimeout,
    #[error("no data accepted within --proxy-write-timeout")]
    WriteTimeout,
}

impl SessionEnd {
    pub(super) fn of_client(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::ClientLeft,
            _ => Self::Client(error),
        }
    }

    pub(super) fn of_server(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::ServerLeft,
            _ => Self::Server(error),
        }
    }

    pub(super) fn of_question(stays: ReuseObstacle) -> Self {
        match stays {
            ReuseObstacle::Io(error) => Self::of_server(error),
            ReuseObstacle::Answer(error) => Self::Answer(error),
            other => Self::Refused(other.to_string()),
        }
    }

    /// Whether it is how sessions usually end.
    pub(super) fn is_usual(&self) -> bool {
        matches!(self, Self::Closed | Self::ClientLeft)
    }
}
