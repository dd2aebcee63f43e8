//! A server and a client that say what a test wants, byte by byte, and a proxy between them.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, atomic::Ordering::Relaxed},
    thread,
    time::Duration,
};

use protocol::{
    null_server::OutgoingGreeting,
    relay::{ok_packet, put_bytes, put_packet},
};
use proxy::{
    Address, Backend, BackendKind, Backends, Log, MakerOfThread, Proxy, Service, Settings,
};
use reactor::Interrupt;

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// One end of a connection.
pub(crate) struct End {
    pub(crate) stream: TcpStream,
}

impl End {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream }
    }

    /// The next packet; `None` if the peer has closed.
    pub(crate) fn packet(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            if let Err(error) = self.stream.read_exact(&mut header) {
                let kind = error.kind();
                assert!(kind != std::io::ErrorKind::WouldBlock, "nothing came");
                return None;
            }
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let begin = payload.len();
            payload.resize(begin + length, 0);
            self.stream.read_exact(&mut payload[begin..]).ok()?;
            if length < 0xff_ffff {
                return Some((header[3], payload));
            }
        }
    }

    /// The next packet, which has to have this number.
    #[track_caller]
    pub(crate) fn expect(&mut self, number: u8) -> Vec<u8> {
        let (got, payload) = self.packet().expect("the peer has closed");
        assert_eq!(got, number, "number of {payload:?}");
        payload
    }

    /// Sends one packet; an error is the peer's business.
    pub(crate) fn say(&mut self, number: u8, payload: &[u8]) {
        self.say_all(number, &[payload]);
    }

    /// Sends packets with numbers that follow each other.
    pub(crate) fn say_all(&mut self, mut number: u8, payloads: &[&[u8]]) {
        let mut out = Vec::new();
        for payload in payloads {
            number = put_packet(payload, number, &mut out);
        }
        let _ = self.stream.write_all(&out);
    }

    #[track_caller]
    pub(crate) fn expect_all(&mut self, number: u8, payloads: &[&[u8]]) {
        for (at, payload) in payloads.iter().enumerate() {
            let number = number.wrapping_add(u8::try_from(at % 256).unwrap());
            assert_eq!(self.expect(number), *payload, "packet {at}");
        }
    }

    /// The peer closes; nothing else comes.
    #[track_caller]
    pub(crate) fn expect_end(&mut self) {
        assert_eq!(self.packet(), None);
    }

    pub(crate) fn close(self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// The greeting of the mock servers.
pub(crate) fn hello() -> OutgoingGreeting {
    OutgoingGreeting {
        version: "10.11.1-MariaDB".into(),
        connection_id: 7,
        ..OutgoingGreeting::default()
    }
}

/// Protocol 4.1, secure connection, database, plugin, transactions, several results.
pub(crate) const CAPABILITIES: u32 = 1 << 9 | 1 << 15 | 1 << 3 | 1 << 19 | 1 << 13 | 1 << 17;
pub(crate) const DEPRECATE_EOF: u32 = 1 << 24;

/// A login packet of user `ann` with database `shop`.
pub(crate) fn login(capabilities: u32, proof: &[u8], plugin: &str) -> Vec<u8> {
    login_of("ann", capabilities, proof, plugin)
}

pub(crate) fn login_of(user: &str, capabilities: u32, proof: &[u8], plugin: &str) -> Vec<u8> {
    login_with(user, capabilities, proof, plugin, "shop")
}

pub(crate) fn login_with(
    user: &str,
    capabilities: u32,
    proof: &[u8],
    plugin: &str,
    database: &str,
) -> Vec<u8> {
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend_from_slice(&[0, 0, 0, 1, 45]);
    payload.extend_from_slice(&[0; 23]);
    payload.extend_from_slice(user.as_bytes());
    payload.extend_from_slice(&[0, u8::try_from(proof.len()).unwrap()]);
    payload.extend_from_slice(proof);
    payload.extend_from_slice(database.as_bytes());
    payload.push(0);
    payload.extend_from_slice(plugin.as_bytes());
    payload.push(0);
    payload
}

/// Answers what the proxy asks of a connection before it gives it to another session, or after a `USE`; false if the command
/// is another one.
pub(crate) fn answers_question(end: &mut End, number: u8, command: &[u8], left: &Left<'_>) -> bool {
    const EOF: &[u8] = b"\xfe\0\0\x02\0";
    let columns = match command {
        b"\x03SELECT DATABASE() LIMIT 1" => 1,
        _ if command.starts_with(b"\x03SELECT DATABASE(), ") => 4,
        _ => return false,
    };
    let mut row = Vec::new();
    for value in [left.database, left.role, None, Some(left.profiles)]
        .into_iter()
        .take(columns)
    {
        match value {
            Some(text) => put_bytes(text.as_bytes(), &mut row),
            None => row.push(0xfb),
        }
    }
    let head = [u8::try_from(columns).unwrap()];
    let mut packets = vec![&head[..]];
    packets.extend(vec![&b"\x03def"[..]; columns]);
    packets.extend([EOF, &row, EOF]);
    end.say_all(number.wrapping_add(1), &packets);
    true
}

/// What a session has left on a connection.
pub(crate) struct Left<'a> {
    pub(crate) database: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
    pub(crate) profiles: &'a str,
}

/// Nothing but the database of [`login`].
pub(crate) const NOTHING_LEFT: Left<'static> = Left {
    database: Some("shop"),
    role: None,
    profiles: "0",
};

/// A server on a port of its own; `serve` is called with each connection, in a thread of its own.
pub(crate) fn server(serve: impl Fn(End) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (serve, stream) = (Arc::clone(&serve), stream.unwrap());
            thread::spawn(move || serve(End::new(stream)));
        }
    });
    address
}

/// An address at which nothing listens: another test may get a port that was just closed, but none of this host.
pub(crate) fn closed() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.2:0").expect("the whole net is loopback");
    listener.local_addr().expect("it is bound")
}

/// A server that lets everyone log in, and then calls `serve`.
pub(crate) fn open_server(serve: impl Fn(End) + Send + Sync + 'static) -> SocketAddr {
    server(move |mut end| {
        end.say(0, &hello().payload());
        if end.packet().is_some() {
            end.say(2, &ok_packet());
            serve(end);
        }
    })
}

/// A proxy in front of backends.
pub(crate) struct Scene {
    pub(crate) proxy: Option<Proxy>,
    pub(crate) backends: Arc<Backends>,
}

impl Scene {
    pub(crate) fn of(addresses: &[SocketAddr]) -> Self {
        Self::with(addresses, None, |_| {})
    }

    pub(crate) fn with(
        addresses: &[SocketAddr],
        hooks: Option<Arc<MakerOfThread>>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let backend =
            |address: &SocketAddr| Backend::new(Address::Tcp(*address), BackendKind::ReadWrite);
        let service = Service {
            address: Address::Tcp(([127, 0, 0, 1], 0).into()),
            hooks,
        };
        let backends = Backends(addresses.iter().map(backend).collect());
        let mut settings = Settings::new(vec![service], Arc::new(backends));
        change(&mut settings);
        let backends = Arc::clone(&settings.backends);
        let log = Log::new(proxy::Level::Debug, Box::new(std::io::stderr()));
        Self {
            proxy: Some(Proxy::start(settings, Arc::new(log), &Interrupt::default()).unwrap()),
            backends,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.proxy.as_ref().unwrap().address(0).unwrap()
    }

    pub(crate) fn client(&self) -> End {
        End::new(TcpStream::connect(self.address()).unwrap())
    }

    /// A client that has logged in; `None` if the proxy has ended the session before.
    pub(crate) fn try_user(&self) -> Option<End> {
        let mut client = self.client();
        client.packet()?;
        client.say(1, &login(CAPABILITIES, b"", "mysql_native_password"));
        (client.packet()? == (2, ok_packet())).then_some(client)
    }

    /// A client that has logged in.
    #[track_caller]
    pub(crate) fn user(&self, capabilities: u32) -> End {
        let mut client = self.client();
        let greeting = client.expect(0);
        assert_eq!(greeting[0], 10, "{greeting:?}");
        client.say(
            1,
            &login(CAPABILITIES | capabilities, b"", "mysql_native_password"),
        );
        assert_eq!(client.expect(2), ok_packet());
        client
    }

    /// Waits until no session uses a backend.
    #[track_caller]
    pub(crate) fn all_left(&self) {
        let clients = || {
            self.backends
                .0
                .iter()
                .map(|it| it.connected_clients.load(Relaxed))
        };
        wait_until(|| clients().sum::<u32>() == 0);
    }
}

const POLL: Duration = Duration::from_millis(2);

#[track_caller]
pub(crate) fn wait_until(condition: impl Fn() -> bool) {
    let start = reactor::system_now();
    while !condition() {
        assert!(
            reactor::system_now() - start < PATIENCE,
            "it does not happen"
        );
        thread::sleep(POLL);
    }
}
