//! A slow route to the server: every byte arrives a fixed time after it was sent, in either direction.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use reactor::{Instant, system_now};

/// Listens until the test ends; the threads of each connection end with it.
pub(crate) struct Detour {
    port: u16,
}

impl Detour {
    /// A route to this socket with this delay.
    pub(crate) fn to(socket: &Path, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let socket = PathBuf::from(socket);
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { continue };
                let Ok(server) = UnixStream::connect(&socket) else {
                    return;
                };
                client.set_nodelay(true).unwrap();
                let (from_client, to_server) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                carry(from_client, to_server, delay, |server: &UnixStream| {
                    // The other direction may have closed it.
                    let _ = server.shutdown(Shutdown::Both);
                });
                carry(server, client, delay, |client: &TcpStream| {
                    let _ = client.shutdown(Shutdown::Both);
                });
            }
        });
        Self { port }
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Copies bytes in one direction.
fn carry<W: Write + Send + 'static>(
    mut from: impl Read + Send + 'static,
    mut to: W,
    delay: Duration,
    close: impl FnOnce(&W) + Send + 'static,
) {
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = [0; 65536];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if sender
                .send((system_now(), buffer[..length].to_vec()))
                .is_err()
            {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (came, bytes) in receiver {
            thread::sleep(delay.saturating_sub(system_now() - came));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        close(&to);
    });
}
