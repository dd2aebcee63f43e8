//! A TCP port for a server.

use std::io;
use std::net::TcpListener;
use std::ops::Range;

use crate::error::Error;
use crate::random::random_below;

/// Ports are taken from here: above the well-known ones, below the range that Linux gives to outgoing
/// connections, where a port can be taken at any moment.
const PORTS: Range<u16> = 10_000..32_768;

/// How many ports are tried.
const TRIES: usize = 200;

/// A port that nobody listens on now; it can be taken before it is used.
pub(crate) fn free_port(host: &str) -> Result<u16, Error> {
    for _ in 0..TRIES {
        let port = PORTS.start + random_below(PORTS.end - PORTS.start)?;
        if is_free(host, port) {
            return Ok(port);
        }
    }
    let none = io::Error::new(io::ErrorKind::AddrInUse, "no free port found");
    Err(Error::io("listen", host.as_ref())(none))
}

/// Whether a server could listen here now. An address that this machine does not have is left for the server
/// to complain about.
pub(crate) fn is_free(host: &str, port: u16) -> bool {
    match TcpListener::bind((host, port)) {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_listened_on_is_not_free() {
        let port = free_port("127.0.0.1").unwrap();
        assert!(PORTS.contains(&port));
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        assert!(!is_free("127.0.0.1", port));
        drop(listener);
        assert!(is_free("127.0.0.1", port));
    }
}
