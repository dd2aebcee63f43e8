//! A slow route to the server: the product's own proxy, which delays each command.

use std::{
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command},
    thread,
    time::Duration,
};

/// A proxy that runs until the case ends.
pub(crate) struct Detour {
    proxy: Child,
    port: u16,
}

impl Detour {
    /// A route to this socket with this delay of each command.
    pub(crate) fn to(socket: &Path, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbdyno"));
        command
            .arg("proxy")
            .arg(format!("--proxy-address=127.0.0.1:{port}"))
            .arg(format!("--proxy-backend-addresses={}", socket.display()))
            .arg(format!("--add-delay={}us", delay.as_micros()));
        let detour = Self {
            proxy: command.spawn().unwrap(),
            port,
        };
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return detour;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("the proxy does not listen");
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Detour {
    fn drop(&mut self) {
        // Fails only for a proxy that has ended.
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}
