//! Checks of the backends, also while no client comes.

use std::{sync::Arc, time::Duration};

use protocol::{Connection, Endpoint, Error};

use crate::{Address, Backend, BackendState, Backends, Level, Log};

/// The user of a check. It needs no account: a server that refuses it is there. A connection without a login would count
/// among the errors for which a server blocks a host.
const USER: &str = "dbdyno_check";

/// Checks all backends at an interval, for ever.
pub(crate) fn spawn(backends: &Arc<Backends>, interval: Duration, limit: Duration, log: &Arc<Log>) {
    for place in 0..backends.0.len() {
        let (backends, log) = (Arc::clone(backends), Arc::clone(log));
        reactor::spawn(async move {
            loop {
                let backend = &backends.0[place];
                let result = check(&backend.address, limit).await;
                note(backend, result, &log);
                reactor::sleep(interval).await;
            }
        });
    }
}

/// Logs in; an error says why there is no server.
async fn check(address: &Address, limit: Duration) -> Result<(), Error> {
    let address = match address {
        Address::Tcp(address) => protocol::Address::Tcp {
            host: address.ip().to_string(),
            port: address.port(),
        },
        Address::Unix(path) => protocol::Address::Unix(path.clone()),
    };
    let endpoint = Endpoint::plain(address, USER, limit);
    match Connection::open_within(&endpoint, limit).await {
        Ok(connection) => {
            // It was there a moment ago; the next check tells the rest.
            let _ = connection.close().await;
            Ok(())
        }
        Err(error) if is_answer(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether an error comes from a server that works.
fn is_answer(error: &Error) -> bool {
    let of_login = error.is_login_refused();
    of_login
        || matches!(
            error,
            Error::Server(_) | Error::Ended(_) | Error::Exposed { .. }
        )
}

fn note(backend: &Backend, result: Result<(), Error>, log: &Log) {
    let before = backend.state();
    match result {
        Ok(()) => {
            backend.set_state(BackendState::Up);
            if before == BackendState::Down {
                log.write(
                    Level::Message,
                    &format!("backend {} is UP", backend.address),
                );
            }
        }
        Err(error) => {
            backend.failed(reactor::now());
            if before != BackendState::Down {
                let text = format!("backend {} is DOWN: {error}", backend.address);
                log.write_of_peer(Level::Warning, &text);
            }
        }
    }
}
