//! The loop that answers requests, and its limits.

use std::{
    cell::RefCell,
    future::{Future, pending, poll_fn},
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, ToSocketAddrs},
    pin::pin,
    rc::Rc,
    task::Poll,
    time::Duration,
};

use blame::{Blame, Blamed};
use reactor::{Clock, Listener, Reactor, Stream, sleep, spawn, timeout};

use crate::{
    host::AllowedHosts,
    places::ConnectionSlots,
    request::{HEAD_BYTES_MAX, Request},
    response::Response,
    site::Site,
};

/// Connections at a time; a newcomer gets the place of the one that has been there longest.
const CONNECTIONS_MAX: usize = 32;
/// Time for a request to arrive.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// Time for a response to be taken.
const RESPONSE_TIME: Duration = Duration::from_secs(30);
/// Time, and bytes, for what a refused client still sends: without it the refusal would not reach it.
const REST_TIME: Duration = Duration::from_millis(500);
const REST_BYTES_MAX: usize = 256 << 10;
/// The lowest priority of a thread.
const NICE: i32 = 19;
/// How long after a failed `accept` the next one follows: there are too many open files.
const PAUSE: Duration = Duration::from_millis(200);

/// A socket that listens, and serves nothing before its start: a port that is taken must be known before anything is
/// measured.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    hosts: AllowedHosts,
}

impl Server {
    /// Listens on an address as the user wrote it with this option, `HOST:PORT`.
    pub fn bind(option: &str, wanted: &str) -> Result<Self, Blamed> {
        let failed = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    Some("another program listens there; port 0 chooses a free port")
                }
                io::ErrorKind::AddrNotAvailable => Some("the address belongs to another machine"),
                io::ErrorKind::InvalidInput => Some("an address and a port: 127.0.0.1:8080"),
                io::ErrorKind::PermissionDenied => {
                    Some("ports below 1024 need root; choose a higher one")
                }
                _ => None,
            };
            Blamed::new(Blame::Input, format!("{option} {wanted}: {error}"))
                .hint(hint.map(str::to_owned))
        };
        let addresses: Vec<SocketAddr> = wanted.to_socket_addrs().map_err(failed)?.collect();
        let listener = TcpListener::bind(addresses.as_slice()).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            hosts: AllowedHosts::of(wanted, address.ip()),
        })
    }

    /// A warning if other machines can reach it.
    pub fn exposure(&self) -> Option<String> {
        let address = self.address;
        if address.ip().is_loopback() {
            return None;
        }
        let place = if address.ip().is_unspecified() {
            "any address of this machine".to_owned()
        } else {
            address.ip().to_string()
        };
        Some(format!(
            "everyone who reaches {place}, port {}, can read the served data: there is no password and no encryption",
            address.port()
        ))
    }

    /// Its address as a browser can use it, which takes the address of all interfaces as no address at all.
    fn reachable_address(&self) -> SocketAddr {
        let mut reachable = self.address;
        if reachable.ip().is_unspecified() {
            reachable.set_ip(match reachable {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        reachable
    }

    /// Serves what `site` makes, on a thread of its own, until dbdyno ends; `warn` receives the message if it must end
    /// earlier. The address at which this machine reaches it.
    pub fn start<S: Site + 'static>(
        self,
        site: impl FnOnce() -> S + Send + 'static,
        warn: impl FnOnce(&str) + Send + 'static,
    ) -> io::Result<SocketAddr> {
        let (address, reachable) = (self.address, self.reachable_address());
        let thread = std::thread::Builder::new().name("viewers".to_owned());
        thread.spawn(move || {
            // Where the system refuses it, the thread works as any other.
            let _ = rustix::process::setpriority_process(None, NICE);
            if let Err(error) = self.run(site()) {
                warn(&format!("nothing is served at {address} any more: {error}"));
            }
        })?;
        Ok(reachable)
    }

    fn run(self, site: impl Site + 'static) -> io::Result<()> {
        let responder = Rc::new(Responder {
            hosts: self.hosts,
            site: RefCell::new(site),
            places: ConnectionSlots::default(),
        });
        Reactor::new(Clock::System)?.run(async {
            let listener = Listener::of_tcp(self.listener)?;
            loop {
                match listener.accept().await {
                    Ok(stream) => {
                        let place = responder.places.take(CONNECTIONS_MAX);
                        let responder = Rc::clone(&responder);
                        spawn(async move {
                            // Not `unless_raised(talk)`: a request that is there already is answered.
                            let lost = place.unless_raised(pending::<()>());
                            either(responder.talk(stream), lost).await;
                            responder.places.leave(&place);
                        });
                    }
                    Err(_) => sleep(PAUSE).await,
                }
            }
        })
    }
}

/// Waits for the first of two ends.
async fn either(one: impl Future<Output = ()>, other: impl Future) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| {
        if one.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        other.as_mut().poll(context).map(drop)
    })
    .await;
}

/// What all connections share.
struct Responder<S> {
    hosts: AllowedHosts,
    site: RefCell<S>,
    places: ConnectionSlots,
}

impl<S: Site> Responder<S> {
    /// One request and its response; a client that is gone or too slow gets none.
    async fn talk(&self, mut stream: Stream) {
        let head = timeout(REQUEST_TIME, read_head(&mut stream)).await;
        let Ok(Some(head)) = head else { return };
        let (response, is_whole) = match head {
            Head::Whole(bytes) => self.respond(&bytes),
            Head::TooLong => (Response::refusal(431), false),
        };
        let sent = timeout(RESPONSE_TIME, stream.write_all(&response.bytes())).await;
        if let (Ok(Ok(())), false) = (sent, is_whole) {
            let _ = timeout(REST_TIME, read_rest(&mut stream)).await;
        }
    }

    /// The response, and whether the request is one that has nothing behind its head.
    fn respond(&self, head: &[u8]) -> (Response, bool) {
        let request = match Request::parse(head) {
            Ok(request) => request,
            Err(status) => return (Response::refusal(status), false),
        };
        if !self.hosts.allow(&request.host) {
            return (Response::refusal(421), true);
        }
        if !request.is_read {
            return (Response::refusal(405), false);
        }
        let content = self.site.borrow_mut().at(&request.path);
        let response = match content {
            Some(content) => Response::of(content, &request),
            None => Response::refusal(404).for_request(&request),
        };
        (response, true)
    }
}

enum Head {
    Whole(Vec<u8>),
    TooLong,
}

/// The head of a request; `None` where the client went away before its end.
async fn read_head(stream: &mut Stream) -> Option<Head> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        let count = stream
            .read(&mut buffer)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        // The end may lie across two reads.
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(&buffer[..count]);
        let is_end = |window: &[u8]| window == b"\r\n\r\n";
        if let Some(end) = head[from..].windows(4).position(is_end) {
            head.truncate(from + end + 4);
            return Some(Head::Whole(head));
        }
        if head.len() > HEAD_BYTES_MAX {
            return Some(Head::TooLong);
        }
    }
}

/// Takes what still comes, so that the response before it is not lost.
async fn read_rest(stream: &mut Stream) {
    let mut buffer = [0; 4096];
    let mut taken = 0;
    while let Ok(count) = stream.read(&mut buffer).await {
        taken += count;
        if count == 0 || taken > REST_BYTES_MAX {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpStream,
    };

    use super::*;
    use crate::content::{Content, Kind};

    struct Greeting;

    impl Site for Greeting {
        fn at(&mut self, path: &str) -> Option<Content> {
            (path == "/metrics").then(|| Content::new(Kind::Text, "hello".to_owned()))
        }
    }

    #[test]
    fn the_address_of_all_interfaces_is_told_as_one_that_can_be_reached() {
        let server = Server::bind("--metrics-address", "0.0.0.0:0").unwrap();
        let address = server.start(|| Greeting, |_| {}).unwrap();
        assert_eq!(address.ip(), Ipv4Addr::LOCALHOST);
        TcpStream::connect(address).unwrap();
    }

    #[test]
    fn idle_clients_that_come_again_keep_no_one_out() {
        let server = Server::bind("--metrics-address", "127.0.0.1:0").unwrap();
        let address = server.start(|| Greeting, |_| {}).unwrap();
        let connect = || {
            let stream = TcpStream::connect(address).unwrap();
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            stream
        };
        let mut idle: Vec<TcpStream> = (0..2 * CONNECTIONS_MAX).map(|_| connect()).collect();
        for at in 0..20 {
            let mut client = connect();
            let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n");
            client.write_all(request.as_bytes()).unwrap();
            let mut response = String::new();
            client.read_to_string(&mut response).unwrap();
            assert!(response.starts_with("HTTP/1.1 200"), "{at}: {response}");
            // One that lost its place is there again at once, slower than a request is answered.
            idle.remove(0);
            let mut slow = connect();
            slow.write_all(b"GET /met").unwrap();
            idle.push(slow);
        }
    }
}
