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
    /// A statement was not answered in time. The connection is over.
    #[error("no answer within {after:?}")]
    NoAnswer {
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
    /// The login needs the password itself, and nothing keeps it from others on the way.
    #[error(
        "login with plugin {plugin:?}: the connection is not encrypted, and no public key of the server may encrypt \
         the password"
    )]
    Exposed {
        /// The server's name of the method.
        plugin: &'static str,
    },
    /// A public RSA key cannot encrypt the password.
    #[error("{from}: {what}")]
    ServerKey {
        /// The file, or the server.
        from: String,
        /// Why not.
        what: String,
    },
    /// TLS was asked for and cannot be had.
    #[error("TLS with {address}: {what}")]
    Tls {
        /// Where the server is.
        address: String,
        /// What is missing or wrong.
        what: String,
    },
    /// Compression was insisted on and cannot be had.
    #[error("{address}: the server does not compress by zlib")]
    NoCompression {
        /// Where the server is.
        address: String,
    },
    /// The file of trusted authorities cannot be used.
    #[error("{}: {what}", path.display())]
    SslCa {
        /// The file.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// The certificate is to be verified, but not against what.
    #[error("ssl-mode VERIFY_CA and VERIFY_IDENTITY need a file of trusted authorities")]
    SslCaMissing,
    /// The server's way of logging in is older than MySQL 4.1.
    #[error("server {version}: too old, it cannot log in by the protocol of MySQL 4.1")]
    TooOld {
        /// The server's version.
        version: String,
    },
    /// The server reported an error and ended the connection.
    #[error("{0}; the server ended the connection")]
    Ended(ServerError),
    /// An answer is longer than we keep. The connection is over.
    #[error("answer of the server longer than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The data for LOAD DATA LOCAL could not be had. The connection is over.
    #[error("data to load: {source}")]
    Source {
        /// What the source says.
        source: io::Error,
    },
    /// The server asked for a file that nobody offered. It got nothing.
    #[error("the server asked for the file {name:?}, which was not offered")]
    FileRequested {
        /// What the server called it.
        name: String,
    },
    /// Data was offered and the server did not ask for it.
    #[error("the server did not ask for the data: the statement is no LOAD DATA LOCAL")]
    DataNotRequested,
    /// A prepared statement was given too few or too many values.
    #[error("prepared statement with {expected} parameters: given {given} values")]
    Parameters {
        /// Number of its placeholders.
        expected: usize,
        /// Number of values.
        given: usize,
    },
}

impl Error {
    /// The server's error, if the server reported one.
    pub fn server_error(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) | Self::Ended(error) => Some(error),
            _ => None,
        }
    }

    /// The server's error number, if the server reported one.
    pub fn server_number(&self) -> Option<u16> {
        self.server_error().map(|error| error.number)
    }

    /// Whether the connection is of no use any more.
    pub fn is_connection_lost(&self) -> bool {
        match self {
            // Shutdown, packets too big or out of order, network errors; killed (MariaDB), idle for too long
            // (MySQL): the server closes after these.
            Self::Server(error) => matches!(error.number, 1053 | 1153 | 1155..=1161 | 1927 | 4031),
            Self::FileRequested { .. } | Self::DataNotRequested | Self::Parameters { .. } => false,
            _ => true,
        }
    }

    /// Whether this client refuses to log in as the server asks.
    pub fn is_login_refused(&self) -> bool {
        matches!(
            self,
            Self::Auth { .. } | Self::Exposed { .. } | Self::ServerKey { .. }
        )
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Connect { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "is the server running, and is this its socket or host?",
                io::ErrorKind::ConnectionRefused => "is the server running, and is this its port?",
                io::ErrorKind::PermissionDenied => "this account may not open the socket",
                _ => return None,
            },
            Self::Timeout { .. } => {
                "does something else listen there, or is a firewall on the way?"
            }
            Self::NoAnswer { .. } => {
                "is the server stopped or overloaded? --statement-timeout allows more time"
            }
            Self::Exposed { .. } => {
                "use TLS (--ssl-mode=REQUIRED), or name a copy of the server's public_key.pem: \
                 --server-public-key-path=FILE; --get-server-public-key trusts whatever key is sent"
            }
            Self::ServerKey { .. } => {
                "name a copy of the server's public_key.pem (--server-public-key-path=FILE), or use TLS \
                 (--ssl-mode=REQUIRED)"
            }
            Self::Auth { .. } => {
                "give the account another login method, for example \
                 ALTER USER ... IDENTIFIED VIA mysql_native_password (MariaDB) \
                 or IDENTIFIED WITH caching_sha2_password (MySQL)"
            }
            Self::Tls { .. } => {
                "--ssl-ca names the authority that signed the server's certificate, --ssl-mode=REQUIRED encrypts \
                 without checking it, --ssl-mode=DISABLED connects without TLS"
            }
            Self::NoCompression { .. } => {
                "allow it (MySQL: protocol_compression_algorithms), or do without"
            }
            Self::SslCaMissing => "name one with --ssl-ca, or use --ssl-mode=REQUIRED",
            Self::Server(error) | Self::Ended(error) => return error.hint().map(str::to_owned),
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl ServerError {
    fn hint(&self) -> Option<&'static str> {
        Some(match self.number {
            1040 | 1203 => "raise max_connections, or use fewer connections",
            1044 | 1142 | 1227 => "the account lacks a privilege; GRANT it, or use another account",
            1045 => {
                "check user and password; to a server, user@localhost and user@% are two accounts"
            }
            1049 => "create the database first",
            1129 => "too many failed connections from this host: FLUSH HOSTS on the server",
            1130 => "no account may log in from this host",
            1148 | 3948 | 4166 => {
                "the server forbids LOAD DATA LOCAL: SET GLOBAL local_infile = ON"
            }
            1153 => "raise max_allowed_packet",
            1461 => "raise max_prepared_stmt_count",
            1820 | 1862 => {
                "the password has expired: set a new one with the command-line client, or use another account"
            }
            3118 | 4151 => {
                "the account is locked: ALTER USER ... ACCOUNT UNLOCK, or use another account"
            }
            1698 => "the account logs in by the operating system's user name, over the unix socket",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(number: u16) -> Error {
        let (sqlstate, message) = ("HY000".into(), "message".into());
        Error::Server(ServerError {
            number,
            sqlstate,
            message,
        })
    }

    #[test]
    fn which_errors_end_the_connection() {
        let lost = |error: Error| error.is_connection_lost();
        for number in [1053, 1153, 1158, 1927, 4031] {
            assert!(lost(server(number)), "{number}");
        }
        for number in [1062, 1064, 1205, 1213, 1317] {
            assert!(!lost(server(number)), "{number}");
        }
        assert!(!lost(Error::FileRequested { name: "x".into() }));
        assert!(lost(Error::Malformed { what: "x" }));
    }

    #[test]
    fn hints_name_what_to_change() {
        let hint = |error: Error| error.hint().unwrap_or_default();
        assert!(hint(server(1045)).contains("password"));
        assert!(hint(server(4166)).contains("local_infile"));
        assert_eq!(server(1064).hint(), None);
        let source = io::ErrorKind::ConnectionRefused.into();
        assert!(
            hint(Error::Connect {
                address: "x:1".into(),
                source
            })
            .contains("port")
        );
    }
}
