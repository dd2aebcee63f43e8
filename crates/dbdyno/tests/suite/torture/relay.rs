//! A relay between a client and a real server that damages certain replies: the hostile server of these tests.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::torture::{
    chance::Chance,
    mischief::Mischief,
    packets::{Conversation, Reply, framed, plain_greeting, take_packet},
};

const POLL: Duration = Duration::from_millis(5);
const DRIP: Duration = Duration::from_millis(200);

/// The replies to damage, and the damage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    pub(crate) reply: Reply,
    pub(crate) mischief: Mischief,
    /// Index of the first damaged reply of each connection.
    pub(crate) from: usize,
    /// Index of the first damaged connection.
    pub(crate) from_connection: usize,
}

/// Observations of a relay.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Number of damaged replies.
    pub(crate) fired: AtomicUsize,
    /// True if the client sent the content of its canary file.
    pub(crate) leaked: AtomicBool,
}

/// A running relay; it ends when dropped.
pub(crate) struct Relay {
    pub(crate) port: u16,
    pub(crate) seen: Arc<Seen>,
    is_over: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

/// State for each connection.
#[derive(Clone)]
struct Shared {
    script: Script,
    chance: Chance,
    seen: Arc<Seen>,
    is_over: Arc<AtomicBool>,
    /// Content of a file that may be requested, which the client must never send.
    secret: Vec<u8>,
}

impl Relay {
    /// Starts a relay to `server` with a script.
    pub(crate) fn start(server: SocketAddr, script: Script, chance: Chance, secret: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        let port = listener.local_addr().expect("it is bound").port();
        listener.set_nonblocking(true).expect("it is a socket");
        let seen = Arc::new(Seen::default());
        let is_over = Arc::new(AtomicBool::new(false));
        let shared = Shared {
            script,
            chance,
            seen: Arc::clone(&seen),
            is_over: Arc::clone(&is_over),
            secret: secret.as_bytes().to_vec(),
        };
        let acceptor = thread::spawn(move || accept(&listener, server, &shared));
        Self {
            port,
            seen,
            is_over,
            acceptor: Some(acceptor),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(acceptor) = self.acceptor.take() {
            // A panic there was printed, and appears as a failed case.
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, server: SocketAddr, shared: &Shared) {
    let mut connections = Vec::new();
    let mut number = 0;
    while !shared.is_over.load(Ordering::Relaxed) {
        let Ok((client, _)) = listener.accept() else {
            thread::sleep(POLL);
            continue;
        };
        let is_true = number < shared.script.from_connection;
        number += 1;
        let mut chance = shared.chance.clone();
        for _ in 0..number {
            chance.any();
        }
        let shared = Shared {
            chance,
            ..shared.clone()
        };
        connections.push(thread::spawn(move || {
            // A lost client or server is no failure of the relay.
            let _ = relay(client, server, shared, is_true);
        }));
    }
    for connection in connections {
        let _ = connection.join();
    }
}

fn relay(client: TcpStream, server: SocketAddr, shared: Shared, is_true: bool) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_millis(50)))?;
        stream.set_write_timeout(Some(Duration::from_millis(50)))?;
    }
    let conversation = Arc::new(Mutex::new(Conversation::new()));
    let upwards = thread::spawn({
        let (client, server) = (client.try_clone()?, server.try_clone()?);
        let (conversation, shared) = (Arc::clone(&conversation), shared.clone());
        move || {
            let _ = upwards(&client, &server, &conversation, &shared);
            let _ = server.shutdown(Shutdown::Both);
        }
    });
    let mut downwards = Downwards {
        client: &client,
        conversation: &conversation,
        shared,
        is_true,
        count: 0,
        shift: 0,
        held: None,
    };
    let end = downwards.run(&server);
    let _ = client.shutdown(Shutdown::Both);
    let _ = upwards.join();
    end
}

/// Reads the next bytes; `None` at the end.
fn read(
    mut stream: &TcpStream,
    buffer: &mut [u8],
    is_over: &AtomicBool,
) -> io::Result<Option<usize>> {
    loop {
        match stream.read(buffer) {
            Ok(0) => return Ok(None),
            Ok(count) => return Ok(Some(count)),
            Err(error) if is_pause(&error) && !is_over.load(Ordering::Relaxed) => {}
            Err(error) => return Err(error),
        }
    }
}

fn write(mut stream: &TcpStream, mut bytes: &[u8], is_over: &AtomicBool) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if is_pause(&error) && !is_over.load(Ordering::Relaxed) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

fn upwards(
    client: &TcpStream,
    server: &TcpStream,
    conversation: &Mutex<Conversation>,
    shared: &Shared,
) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = Vec::new();
    while let Some(count) = read(client, &mut buffer, &shared.is_over)? {
        let part = &buffer[..count];
        if part
            .windows(shared.secret.len())
            .any(|found| found == shared.secret)
        {
            shared.seen.leaked.store(true, Ordering::Relaxed);
        }
        bytes.extend_from_slice(part);
        while let Some((_, payload)) = take_packet(&mut bytes) {
            conversation
                .lock()
                .expect("telling replies apart does not panic")
                .sent(&payload);
        }
        write(server, part, &shared.is_over)?;
    }
    Ok(())
}

/// A rare reply of a real server, to replace another one.
fn stand_in(wanted: Reply, reply: Reply) -> Option<&'static [u8]> {
    match (wanted, reply) {
        (Reply::AuthSwitch, Reply::LoginOk) => {
            Some(b"\xfemysql_native_password\0abcdefghijklmnopqrst\0")
        }
        (Reply::AuthMore, Reply::LoginOk) => Some(b"\x01\x04"),
        (Reply::Error, Reply::Ok | Reply::ColumnCount) => {
            Some(b"\xff\xbd\x04#40001Deadlock found when trying to get lock")
        }
        _ => None,
    }
}

/// The direction from the server to the client.
struct Downwards<'a> {
    client: &'a TcpStream,
    conversation: &'a Mutex<Conversation>,
    shared: Shared,
    is_true: bool,
    /// Replies of the kind so far.
    count: usize,
    /// Offset of the sequence numbers in this reply.
    shift: u8,
    /// The packet held back until the next one.
    held: Option<Vec<u8>>,
}

impl Downwards<'_> {
    fn run(&mut self, server: &TcpStream) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let mut bytes = Vec::new();
        while let Some(count) = read(server, &mut buffer, &self.shared.is_over)? {
            bytes.extend_from_slice(&buffer[..count]);
            while let Some((sequence, payload)) = take_packet(&mut bytes) {
                self.packet(sequence, payload)?;
            }
        }
        Ok(())
    }

    fn packet(&mut self, sequence: u8, mut payload: Vec<u8>) -> io::Result<()> {
        let (is_beginning, reply) = {
            let mut conversation = self.conversation.lock().expect("telling does not panic");
            (conversation.is_beginning(), conversation.received(&payload))
        };
        if is_beginning {
            self.shift = 0;
        }
        if reply == Reply::Greeting {
            plain_greeting(&mut payload);
        }
        let number = sequence.wrapping_add(self.shift);
        let script = self.shared.script;
        let stand_in = stand_in(script.reply, reply);
        let fits = (reply == script.reply || stand_in.is_some()) && !self.is_true;
        self.count += usize::from(fits);
        if fits && self.count > script.from {
            self.shared.seen.fired.fetch_add(1, Ordering::Relaxed);
            return self.damage(number, stand_in.unwrap_or(&payload));
        }
        self.send(&framed(number, &payload))?;
        match self.held.take() {
            Some(held) => self.send(&held),
            None => Ok(()),
        }
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        write(self.client, bytes, &self.shared.is_over)
    }

    fn damage(&mut self, number: u8, payload: &[u8]) -> io::Result<()> {
        let mischief = self.shared.script.mischief;
        let chance = &mut self.shared.chance;
        let damaged = mischief.damage(payload, chance);
        let packet = framed(number, &damaged);
        match mischief {
            Mischief::CutOff => {
                let end = chance.below(packet.len());
                self.send(&packet[..end])?;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Mischief::Closed => Err(io::ErrorKind::ConnectionAborted.into()),
            Mischief::Promised => {
                let promise = [&[0xff, 0xff, 0xff, number], payload].concat();
                self.send(&promise)?;
                self.wait()
            }
            Mischief::Never => self.wait(),
            Mischief::Lost => {
                self.shift = self.shift.wrapping_sub(1);
                Ok(())
            }
            Mischief::OutOfOrder => {
                self.held = Some(packet);
                Ok(())
            }
            Mischief::Twice => {
                self.shift = self.shift.wrapping_add(1);
                self.send(&packet)?;
                self.send(&framed(number.wrapping_add(1), &damaged))
            }
            Mischief::Endless => self.endless(number, &damaged),
            Mischief::WrongSequence => {
                let wrong = number.wrapping_add(1 + chance.below(254) as u8);
                self.send(&framed(wrong, &damaged))
            }
            Mischief::Dripping => {
                for byte in packet {
                    self.send(&[byte])?;
                    thread::sleep(DRIP);
                }
                Ok(())
            }
            _ => self.send(&packet),
        }
    }

    /// Stays silent until the client disconnects.
    fn wait(&self) -> io::Result<()> {
        while !self.shared.is_over.load(Ordering::Relaxed) {
            let mut byte = [0];
            match self.client.peek(&mut byte) {
                Ok(0) => return Err(io::ErrorKind::ConnectionAborted.into()),
                Err(error) if !is_pause(&error) => return Err(error),
                _ => thread::sleep(POLL),
            }
        }
        Err(io::ErrorKind::ConnectionAborted.into())
    }

    fn endless(&self, mut number: u8, payload: &[u8]) -> io::Result<()> {
        loop {
            let mut many = Vec::new();
            while many.len() < 1 << 16 {
                many.extend_from_slice(&framed(number, payload));
                number = number.wrapping_add(1);
            }
            self.send(&many)?;
        }
    }
}
