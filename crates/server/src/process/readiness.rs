//! Waits until a started server is ready.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use reactor::system_now;

use crate::process::ProcessHandle;
use crate::process::interruption::Wait;

/// Polling interval.
const PERIOD: Duration = Duration::from_millis(10);

/// Length of a packet's header, bytes; the next byte is the kind of packet.
const HEADER_BYTES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It answers.
    Up,
    Ended,
    TimedOut,
}

/// Waits until the server sends its greeting to a client on its socket. Neither a pid file nor a log line proves that
/// it accepts connections.
pub(crate) fn wait_until_up(
    socket: &Path,
    process: &ProcessHandle,
    timeout: Duration,
    wait: Wait,
) -> io::Result<Readiness> {
    let start = system_now();
    let mut greeting = Greeting::default();
    loop {
        wait.go_on()?;
        if process.wait(PERIOD, wait)? {
            return Ok(Readiness::Ended);
        }
        if greeting.has_come(socket) {
            return Ok(Readiness::Up);
        }
        if system_now() - start > timeout {
            return Ok(Readiness::TimedOut);
        }
    }
}

/// The first bytes from the server. The connection is kept between polls: a server that listens but does not accept yet
/// would otherwise find a queue of closed connections.
#[derive(Debug, Default)]
struct Greeting {
    stream: Option<UnixStream>,
    bytes: Vec<u8>,
}

impl Greeting {
    /// Polls once, for at most [`PERIOD`].
    fn has_come(&mut self, socket: &Path) -> bool {
        match self.read(socket) {
            Ok(()) => is_greeting(&self.bytes),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(_) => {
                *self = Self::default();
                false
            }
        }
    }

    fn read(&mut self, socket: &Path) -> io::Result<()> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let stream = UnixStream::connect(socket)?;
                stream.set_read_timeout(Some(PERIOD))?;
                self.stream.insert(stream)
            }
        };
        let mut bytes = [0; 64];
        match stream.read(&mut bytes)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.bytes.extend_from_slice(&bytes[..read]);
                Ok(())
            }
        }
    }
}

/// A greeting of protocol 10, or an error in its place: this client is refused, but the server is running.
fn is_greeting(bytes: &[u8]) -> bool {
    matches!(bytes.get(HEADER_BYTES), Some(0x0a | 0xff))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_greeting_in_pieces_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let mut greeting = Greeting::default();
        assert!(!greeting.has_come(&socket), "nobody listens yet");
        let listener = UnixListener::bind(&socket).unwrap();
        assert!(!greeting.has_come(&socket), "nobody has accepted");
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(&[0x4a, 0, 0]).unwrap();
        assert!(!greeting.has_come(&socket));
        server.write_all(&[0, 0x0a]).unwrap();
        assert!(greeting.has_come(&socket));
    }

    #[test]
    fn a_refusal_counts_as_up_and_a_closed_connection_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let mut greeting = Greeting::default();
        greeting.has_come(&socket);
        drop(listener.accept().unwrap());
        assert!(!greeting.has_come(&socket));
        greeting.has_come(&socket);
        listener
            .accept()
            .unwrap()
            .0
            .write_all(&[9, 0, 0, 0, 0xff])
            .unwrap();
        assert!(greeting.has_come(&socket));
    }
}
