//! Where a server is and as whom to log in.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use crate::{password::Password, server_key::ServerKey};

/// Where a server listens; shown without credentials: `db1:3306`, `/run/mysqld/mysqld.sock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host name or IP address, and a port.
    Tcp {
        /// Name or address; an IPv6 address without brackets.
        host: String,
        /// Port number.
        port: u16,
    },
    /// The path of a unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

/// How far a connection insists on TLS; the levels of the mysql client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SslMode {
    /// No TLS.
    Disabled,
    /// TLS over TCP where the server offers it, without looking at its certificate.
    #[default]
    Preferred,
    /// TLS or an error, without looking at the server's certificate.
    Required,
    /// TLS, and the certificate must come from `ssl_ca`.
    VerifyCa,
    /// As `VerifyCa`, and the certificate must be for this host.
    VerifyIdentity,
}

/// A word that names no ssl-mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ssl-mode {0:?}: not one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY")]
pub struct UnknownSslMode(String);

impl FromStr for SslMode {
    type Err = UnknownSslMode;

    /// Accepts mysql's words in any case.
    fn from_str(word: &str) -> Result<Self, UnknownSslMode> {
        match word.to_ascii_uppercase().as_str() {
            "DISABLED" => Ok(Self::Disabled),
            "PREFERRED" => Ok(Self::Preferred),
            "REQUIRED" => Ok(Self::Required),
            "VERIFY_CA" => Ok(Self::VerifyCa),
            "VERIFY_IDENTITY" => Ok(Self::VerifyIdentity),
            _ => Err(UnknownSslMode(word.to_owned())),
        }
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disabled => "DISABLED",
            Self::Preferred => "PREFERRED",
            Self::Required => "REQUIRED",
            Self::VerifyCa => "VERIFY_CA",
            Self::VerifyIdentity => "VERIFY_IDENTITY",
        })
    }
}

/// Whether what is sent and received is compressed, by zlib.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// It is not.
    #[default]
    Off,
    /// Where the server offers it.
    Preferred,
    /// Or an error.
    Required,
}

/// Everything that opening a connection needs.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Where the server is.
    pub address: Address,
    /// The account's name.
    pub user: String,
    /// `None` is the empty password.
    pub password: Option<Password>,
    /// The database to start in.
    pub database: Option<String>,
    /// How far to insist on TLS. Over a unix socket only from [`SslMode::Required`] on.
    pub ssl_mode: SslMode,
    /// PEM file of the authorities to trust; the verifying levels need one.
    pub ssl_ca: Option<PathBuf>,
    /// Which RSA key may encrypt the password, where neither TLS nor a unix socket keeps it from others.
    pub server_key: ServerKey,
    /// Whether to compress.
    pub compression: Compression,
    /// Added to every exchange: what a network would take, half of it before the server hears what is sent, half
    /// before we hear the answer.
    pub round_trip: Duration,
    /// The user's limit for each statement around a load, in place of that of its purpose
    /// ([`Connection::open_within`](crate::Connection::open_within)).
    pub statement_timeout: Option<Duration>,
    /// Limit for connecting and logging in together.
    pub connect_timeout: Duration,
}

impl Endpoint {
    /// An account without a password, without TLS and compression.
    pub fn plain(address: Address, user: &str, connect_timeout: Duration) -> Self {
        Self {
            address,
            user: user.to_owned(),
            password: None,
            database: None,
            ssl_mode: SslMode::Disabled,
            ssl_ca: None,
            server_key: ServerKey::default(),
            compression: Compression::Off,
            round_trip: Duration::ZERO,
            statement_timeout: None,
            connect_timeout,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_as_people_write_them() {
        let tcp = |host: &str| {
            Address::Tcp {
                host: host.into(),
                port: 3306,
            }
            .to_string()
        };
        assert_eq!(tcp("db1"), "db1:3306");
        assert_eq!(tcp("::1"), "[::1]:3306");
        assert_eq!(
            Address::Unix("/run/x.sock".into()).to_string(),
            "/run/x.sock"
        );
    }

    #[test]
    fn ssl_modes_are_mysqls_words_in_any_case() {
        for mode in [
            SslMode::Disabled,
            SslMode::Preferred,
            SslMode::Required,
            SslMode::VerifyCa,
            SslMode::VerifyIdentity,
        ] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
            assert_eq!(mode.to_string().to_lowercase().parse(), Ok(mode));
        }
        assert_eq!("on".parse::<SslMode>(), Err(UnknownSslMode("on".into())));
    }
}
