//! A TCP port for a server.

use std::io;
use std::net::TcpListener;
use std::ops::Range;

use crate::error::Error;
use crate::random::random_below;

/// The range of ports: above the well-known ones, below the range that Linux uses for outgoing connections, where a
/// port can be taken at any moment.
const PORTS: Range<u16> = 10_000..32_768;

/// Maximum number of ports that are tried.
const TRIES: usize = 200;

/// A port that is free now; another program may take it before it is used.
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

/// Whether a server could listen here now. An address that this machine does not have returns true; the server reports
/// it.
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
        assert!(PORTS.contains(&free_port("127.0.0.1").unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(!is_free("127.0.0.1", port));
        // An address for examples: no machine has it. A port that was just left need not be free: a process that another
        // test starts has its socket until it becomes another program.
        assert!(is_free("192.0.2.1", port));
    }
}
