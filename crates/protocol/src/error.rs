//! What can go wrong between a client and its server.

use std::{io, path::PathBuf, time::Duration};

/// An error that the server reported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("error {number} ({sqlstate}): {message}")]
pub struct ServerError {
    /// The server's number, such as 1213 for a deadlock.
    pub number: u16,
    /// Five characters; `HY000` where the server gave none.
    pub sqlstate: String,
    /// The server's words.
    pub message: String,
}

/// A failure of a connection or of one statement on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection came about.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// Where the server should be.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// Connecting and logging in took too long.
    #[error("{address}: not logged in after {after:?}")]
    Timeout {
        /// Where the server should be.
        address: String,
        /// The limit.
        after: Duration,
    },
    /// The server reported an error.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The connection ended.
    #[error("connection lost while {during}: {source}")]
    Lost {
        /// What was going on.
        during: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The server sent what the protocol does not allow, or more than we take. The connection is over.
    #[error("malformed answer of the server: {what}")]
    Malformed {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The server asks for a login that this client cannot or will not do.
    #[error("login with plugin {plugin:?}: {what}")]
    Auth {
        /// The server's name of the method.
        plugin: String,
        /// Why not.
        what: &'static str,
    },
    /// TLS was asked for and cannot be had.
    #[error("TLS with {address}: {what}")]
    Tls {
        /// Where the server is.
        address: String,
        /// What is missing or wrong.
        what: String,
    },
    /// The file of trusted authorities cannot be used.
    #[error("{}: {what}", path.display())]
    SslCa {
        /// The file.
        path: PathBuf,
        /// Why not.
        what: String,
    },
}

impl Error {
    /// The server's error number, if the server reported one.
    pub fn server_number(&self) -> Option<u16> {
        match self {
            Self::Server(error) => Some(error.number),
            _ => None,
        }
    }

    /// Whether the connection is of no use any more.
    pub fn is_connection_lost(&self) -> bool {
        match self {
            // Shutdown, too big a packet and the network errors; killed (MariaDB), idle for too long (MySQL):
            // the server closes after these.
            Self::Server(error) => {
                matches!(error.number, 1053 | 1153 | 1155..=1161 | 1927 | 4031)
            }
            _ => true,
        }
    }
}
