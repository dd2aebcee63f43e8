//! What a guard undoes on a server: its login there, and its connection attempts.

use std::{thread, time::Duration};

use blame::{Blame, Blamed};
use protocol::{Address, Compression, Connection, Endpoint, ServerKey};
use serde::{Deserialize, Serialize};

use crate::control::Purpose;

/// Maximum connection attempts to a server that does not answer.
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// Address and account of its login; passed over a pipe, so that no process list shows a password.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Login {
    socket: Option<std::path::PathBuf>,
    host: String,
    port: u16,
    user: String,
    password: Option<String>,
    ssl_mode: String,
    ssl_ca: Option<std::path::PathBuf>,
    server_key: Option<std::path::PathBuf>,
    takes_any_key: bool,
    connect_timeout_s: f64,
}

impl Login {
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let (socket, host, port) = match &endpoint.address {
            Address::Unix(path) => (Some(path.clone()), String::new(), 0),
            Address::Tcp { host, port } => (None, host.clone(), *port),
        };
        let password = endpoint.password.as_ref();
        Self {
            socket,
            host,
            port,
            user: endpoint.user.clone(),
            password: password.map(|password| password.reveal().to_owned()),
            ssl_mode: endpoint.ssl_mode.to_string(),
            ssl_ca: endpoint.ssl_ca.clone(),
            server_key: match &endpoint.server_key {
                ServerKey::File(path) => Some(path.clone()),
                ServerKey::Refused | ServerKey::Asked => None,
            },
            takes_any_key: endpoint.server_key == ServerKey::Asked,
            connect_timeout_s: endpoint.connect_timeout.as_secs_f64(),
        }
    }

    /// Executes this on the server, which may have to be reached several times.
    pub(crate) fn undo<T>(
        self,
        undo: impl AsyncFn(&mut Connection) -> Result<T, protocol::Error>,
    ) -> Result<T, Blamed> {
        let endpoint = self.endpoint()?;
        let mut tries = 1;
        loop {
            let undone =
                Purpose::Change.control(&endpoint, async |connection| undo(connection).await);
            match undone {
                Err(_) if tries < TRIES => {
                    tries += 1;
                    thread::sleep(PAUSE);
                }
                undone => return undone,
            }
        }
    }

    fn endpoint(self) -> Result<Endpoint, Blamed> {
        Ok(Endpoint {
            address: match self.socket {
                Some(path) => Address::Unix(path),
                None => Address::Tcp {
                    host: self.host,
                    port: self.port,
                },
            },
            user: self.user,
            password: self.password.map(Into::into),
            database: None,
            ssl_mode: (self.ssl_mode.parse()).map_err(|error| Blamed::new(Blame::Input, error))?,
            ssl_ca: self.ssl_ca,
            server_key: match (self.server_key, self.takes_any_key) {
                (Some(path), _) => ServerKey::File(path),
                (None, true) => ServerKey::Asked,
                (None, false) => ServerKey::Refused,
            },
            statement_timeout: None,
            // The guard sends a few statements at most.
            compression: Compression::Off,
            round_trip: Duration::ZERO,
            connect_timeout: Duration::from_secs_f64(self.connect_timeout_s),
        })
    }
}

#[cfg(test)]
mod tests {
    use protocol::SslMode;

    use super::*;

    #[test]
    fn a_login_comes_through_the_pipe_as_it_was() {
        let address = [
            Address::Unix("/run/x.sock".into()),
            Address::Tcp {
                host: "::1".to_owned(),
                port: 3307,
            },
        ];
        for address in address {
            let endpoint = Endpoint {
                address,
                user: "bench".to_owned(),
                password: Some("a \"quoted\" one".into()),
                database: Some("shop".to_owned()),
                ssl_mode: SslMode::VerifyCa,
                ssl_ca: Some("ca.pem".into()),
                server_key: ServerKey::File("key.pem".into()),
                statement_timeout: None,
                compression: Compression::Off,
                round_trip: Duration::ZERO,
                connect_timeout: Duration::from_millis(2500),
            };
            let line = serde_json::to_string(&Login::of(&endpoint)).unwrap();
            let login: Login = serde_json::from_str(&line).unwrap();
            let read = login.endpoint().unwrap();
            assert_eq!(read.address, endpoint.address);
            assert_eq!(read.user, endpoint.user);
            let password = read.password.unwrap();
            assert_eq!(password.reveal(), "a \"quoted\" one");
            assert_eq!(read.database, None);
            assert_eq!(read.ssl_mode, endpoint.ssl_mode);
            assert_eq!(read.ssl_ca, endpoint.ssl_ca);
            assert_eq!(read.server_key, endpoint.server_key);
            assert_eq!(read.connect_timeout, endpoint.connect_timeout);
        }
    }
}
