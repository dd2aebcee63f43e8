//! The endpoint of a connection: server address, account and options.

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use crate::{password::Password, server_key::ServerKey};

/// The address of a server; displayed without credentials: `db1:3306`, `/run/mysqld/mysqld.sock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Tcp {
        /// Host name or IP address; an IPv6 address without brackets.
        host: String,
        port: u16,
    },
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

/// The TLS requirement of a connection; the levels of the mysql client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SslMode {
    Disabled,
    /// TLS over TCP if the server offers it, without verification of its certificate.
    #[default]
    Preferred,
    /// TLS or an error, without verification of the server's certificate.
    Required,
    /// TLS, with a certificate issued by an authority in `ssl_ca`.
    VerifyCa,
    /// As `VerifyCa`, with a certificate for this host.
    VerifyIdentity,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ssl-mode {0:?}: not one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY")]
pub struct UnknownSslMode(String);

impl FromStr for SslMode {
    type Err = UnknownSslMode;

    /// Accepts the words of the mysql client in any case.
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

/// The compression (zlib) of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    #[default]
    Off,
    /// Compressed if the server offers it.
    Preferred,
    /// Compressed, or an error.
    Required,
}

/// The parameters of opening a connection.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub address: Address,
    pub user: String,
    /// Password; `None` is the empty password.
    pub password: Option<Password>,
    /// Initial database.
    pub database: Option<String>,
    /// TLS requirement. A unix socket uses TLS only from [`SslMode::Required`].
    pub ssl_mode: SslMode,
    /// PEM file of the trusted authorities; required by the verifying levels.
    pub ssl_ca: Option<PathBuf>,
    /// The RSA key that may encrypt the password if neither TLS nor a unix socket protects it.
    pub server_key: ServerKey,
    pub compression: Compression,
    /// Delay added to every exchange to simulate a network: half of it before the server receives our data, half before
    /// we receive the answer.
    pub round_trip: Duration,
    /// The user's time limit for each statement around a load, which replaces the limit of its purpose
    /// ([`Connection::open_within`](crate::Connection::open_within)).
    pub statement_timeout: Option<Duration>,
    /// Time limit for connecting and logging in together.
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
