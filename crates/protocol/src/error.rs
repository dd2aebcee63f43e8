//! The errors between a client and its server.

use std::{io, path::PathBuf, time::Duration};

use crate::refusal::hint_to_refusal;

/// ER_ACCESS_DENIED_ERROR, of MySQL and MariaDB: a wrong user or password.
pub const ACCESS_DENIED: u16 = 1045;
/// ER_NO_SUCH_TABLE, of MySQL and MariaDB.
pub const NO_SUCH_TABLE: u16 = 1146;
/// ER_PARSE_ERROR, of MySQL and MariaDB.
pub const PARSE_ERROR: u16 = 1064;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("error {number} ({sqlstate}): {message}")]
pub struct ServerError {
    /// Error number, such as 1213 for a deadlock.
    pub number: u16,
    /// SQLSTATE of five characters; `HY000` if the server sent none.
    pub sqlstate: String,
    pub message: String,
}

/// A failure of a connection or of one statement on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot connect to {address}: {source}")]
    Connect { address: String, source: io::Error },
    /// Connecting and logging in took too long.
    #[error("{address}: not logged in after {after:?}")]
    Timeout {
        address: String,
        /// The time limit.
        after: Duration,
    },
    /// A statement was not answered in time. The connection is unusable afterwards.
    #[error("no answer within {after:?}")]
    NoAnswer {
        /// The time limit.
        after: Duration,
    },
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("connection lost while {during}: {source}")]
    Lost {
        /// The action that was interrupted.
        during: &'static str,
        source: io::Error,
    },
    /// The server violated the protocol, or exceeded a limit of this client. The connection is unusable afterwards.
    #[error("malformed answer from the server: {what}")]
    Malformed {
        /// The violation.
        what: &'static str,
    },
    /// The server requires a login method that this client does not support or refuses.
    #[error("login with plugin {plugin:?}: {what}")]
    Auth {
        plugin: String,
        /// The reason.
        what: &'static str,
    },
    /// The login requires the password itself, and the connection does not protect it.
    #[error(
        "login with plugin {plugin:?}: the connection is not encrypted, and no server public key is allowed for \
         encrypting the password"
    )]
    Exposed { plugin: &'static str },
    /// A public RSA key cannot be used to encrypt the password.
    #[error("{from}: {what}")]
    ServerKey {
        /// Source of the key: the file, or the server.
        from: String,
        /// The reason.
        what: String,
    },
    /// TLS was required and is not available.
    #[error("TLS with {address}: {what}")]
    Tls {
        address: String,
        /// The cause.
        what: String,
    },
    /// Compression was required and is not available.
    #[error("{address}: the server does not support zlib compression")]
    NoCompression { address: String },
    /// The file of trusted authorities cannot be used.
    #[error("{}: {what}", path.display())]
    SslCa {
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// A certificate or its key cannot be used.
    #[error("{}: {what}", path.display())]
    Certificate {
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// The certificate is to be verified, but no file of authorities was given.
    #[error("ssl-mode VERIFY_CA and VERIFY_IDENTITY need a file of trusted authorities")]
    SslCaMissing,
    /// The server's login protocol is older than MySQL 4.1.
    #[error("server {version}: too old, it does not support logins with the protocol of MySQL 4.1")]
    TooOld {
        /// Version of the server.
        version: String,
    },
    /// The server reported an error and ended the connection.
    #[error("{0}; the server ended the connection")]
    Ended(ServerError),
    /// An answer exceeds the limit for kept results. The connection is unusable afterwards.
    #[error("answer from the server longer than {limit} bytes")]
    TooLarge {
        /// The limit, bytes.
        limit: usize,
    },
    /// The data for LOAD DATA LOCAL could not be read. The connection is unusable afterwards.
    #[error("data to load: {source}")]
    Source { source: io::Error },
    /// The server requested a file that was not offered. Nothing was sent.
    #[error("the server asked for the file {name:?}, which was not offered")]
    FileRequested {
        /// The file name in the request.
        name: String,
    },
    /// Data was offered but the server did not request it.
    #[error("the server did not ask for the data: the statement is not LOAD DATA LOCAL")]
    DataNotRequested,
    /// A prepared statement received too few or too many values.
    #[error("prepared statement with {expected} parameters: given {given} values")]
    Parameters {
        /// Number of placeholders.
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

    /// Whether the server rolled the transaction back, so that the same one may succeed the next time.
    pub fn is_retryable(&self) -> bool {
        // Record changed since it was read (MariaDB), lock wait timeout and deadlock.
        matches!(self.server_number(), Some(1020 | 1205 | 1213))
    }

    /// Whether the connection is unusable.
    pub fn is_connection_lost(&self) -> bool {
        match self {
            // Shutdown, packets too big or out of order, network errors; killed (MariaDB), idle for too long
            // (MySQL): the server closes the connection after these.
            Self::Server(error) => matches!(error.number, 1053 | 1153 | 1155..=1161 | 1927 | 4031),
            Self::FileRequested { .. } | Self::DataNotRequested | Self::Parameters { .. } => false,
            _ => true,
        }
    }

    /// Whether this client refuses the login method that the server requires.
    pub fn is_login_refused(&self) -> bool {
        matches!(
            self,
            Self::Auth { .. } | Self::Exposed { .. } | Self::ServerKey { .. }
        )
    }

    /// The user's remedy, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Connect { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "is the server running, and is this its socket or host?",
                io::ErrorKind::ConnectionRefused => "is the server running, and is this its port?",
                io::ErrorKind::PermissionDenied => "this account may not open the socket",
                _ => return None,
            },
            Self::Timeout { .. } => {
                "does another program listen there, or is a firewall in between?"
            }
            Self::NoAnswer { .. } => {
                "is the server stopped or overloaded? --statement-timeout allows more time"
            }
            Self::Exposed { .. } => {
                "use TLS (--ssl-mode=REQUIRED), or name a copy of the server's public_key.pem: \
                 --server-public-key-path=FILE; --get-server-public-key trusts any key that is sent"
            }
            Self::ServerKey { .. } => {
                "name a copy of the server's public_key.pem (--server-public-key-path=FILE), or use TLS \
                 (--ssl-mode=REQUIRED)"
            }
            Self::Auth { .. } => {
                "use another login method for the account, for example \
                 ALTER USER ... IDENTIFIED VIA mysql_native_password (MariaDB) \
                 or IDENTIFIED WITH caching_sha2_password (MySQL)"
            }
            Self::Tls { .. } => {
                "--ssl-ca names the authority that signed the server's certificate, --ssl-mode=REQUIRED encrypts \
                 without checking it, --ssl-mode=DISABLED connects without TLS"
            }
            Self::NoCompression { .. } => {
                "allow it (MySQL: protocol_compression_algorithms), or connect without compression"
            }
            Self::SslCaMissing => "name one with --ssl-ca, or use --ssl-mode=REQUIRED",
            Self::Server(error) | Self::Ended(error) => {
                let of_refusal = hint_to_refusal(error.number);
                return of_refusal.or_else(|| error.hint().map(str::to_owned));
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl ServerError {
    fn hint(&self) -> Option<&'static str> {
        Some(match self.number {
            1044 | 1142 | 1227 => "the account lacks a privilege; GRANT it, or use another account",
            ACCESS_DENIED => {
                "check user and password; to a server, user@localhost and user@% are two accounts"
            }
            1049 => "create the database first; a benchmark's `prepare` creates its own",
            1115 | 1273 => {
                "this server does not have the character set or collation; use one from SHOW COLLATION, for example \
                 utf8mb4_unicode_520_ci in the place of MySQL 8.0's utf8mb4_0900_ai_ci or MariaDB's \
                 utf8mb4_uca1400_ai_ci"
            }
            1129 => "too many failed connections from this host: FLUSH HOSTS on the server",
            1130 => "no account may log in from this host",
            1148 | 3948 | 4166 => {
                "the server forbids LOAD DATA LOCAL: SET GLOBAL local_infile = ON"
            }
            1153 => "raise max_allowed_packet",
            1298 => {
                "a named time zone needs the server's time zone tables (mysql_tzinfo_to_sql), which a new server does \
                 not have; use SYSTEM or an offset such as '+01:00'"
            }
            1461 => "raise max_prepared_stmt_count",
            3822 => {
                "MySQL requires names of check constraints to be unique in the database: rename one of the two, or \
                 remove the CHECK (json_valid(...)) of a JSON column from MariaDB. MySQL itself gives a CHECK \
                 without a name the name TABLE_chk_1, TABLE_chk_2 and so on"
            }
            3750 => {
                "sql_require_primary_key is on: give the table a primary key, or switch it off while tables are created"
            }
            1820 | 1862 => {
                "the password has expired: set a new one with the command-line client, or use another account"
            }
            3118 | 4151 => {
                "the account is locked: ALTER USER ... ACCOUNT UNLOCK, or use another account"
            }
            1698 => {
                "the account logs in with the operating system's user name, over the unix socket"
            }
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
        assert!(hint(server(1273)).contains("SHOW COLLATION"));
        assert!(hint(server(1298)).contains("an offset"));
        assert!(hint(server(3822)).contains("rename one of the two"));
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
