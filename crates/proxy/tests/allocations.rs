//! The test that a query through a proxy without a script does not allocate in the steady state.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use protocol::{
    Connection, Endpoint,
    null_server::{self, NullServer},
};
use proxy::{Address, Backend, BackendKind, Backends, Log, Proxy, Service, Settings};
use reactor::{Clock, Interrupt, Listener, Reactor};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Counts the allocations of all threads: those of the proxy, and of a client and a server that make none.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; the counter needs no allocation of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller fulfils the requirements of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the requirements of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller fulfils the requirements of the system's allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Queries of a round, each of which would have to allocate at least once.
const QUERIES: u64 = 200;

/// A null server in a thread of its own, until the sender is dropped.
fn serve() -> (SocketAddr, mpsc::Sender<()>, thread::JoinHandle<()>) {
    let (stop, stopped) = mpsc::channel::<()>();
    let (ready, listening) = mpsc::channel();
    let thread = thread::spawn(move || {
        Reactor::new(Clock::System).unwrap().run(async {
            let listener = Listener::bind_tcp(([127, 0, 0, 1], 0).into()).unwrap();
            ready.send(listener.tcp_address().unwrap()).unwrap();
            let server = NullServer::new(null_server::Settings::default());
            server.serve(listener, None);
            while stopped.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                reactor::sleep(Duration::from_millis(5)).await;
            }
        });
    });
    (listening.recv().unwrap(), stop, thread)
}

fn proxy_to(server: SocketAddr) -> Proxy {
    let backend = Backend::new(Address::Tcp(server), BackendKind::ReadWrite);
    let service = Service {
        address: Address::Tcp(([127, 0, 0, 1], 0).into()),
        hooks: None,
    };
    let settings = Settings::new(vec![service], Arc::new(Backends(vec![backend])));
    let log = Log::new(proxy::Level::Critical, Box::new(std::io::stderr()));
    Proxy::start(settings, Arc::new(log), &Interrupt::default()).unwrap()
}

#[test]
fn a_point_select_allocates_nothing_without_a_script() {
    let (server, stop, thread) = serve();
    let proxy = proxy_to(server);
    let address = protocol::Address::Tcp {
        host: "127.0.0.1".to_owned(),
        port: proxy.address(0).unwrap().port(),
    };
    let endpoint = Endpoint::plain(address, "user", Duration::from_secs(20));
    let fewest = reactor::block_on(async {
        let mut connection = Connection::open(&endpoint).await.unwrap();
        assert!(ALLOCATIONS.load(Relaxed) > 0, "nothing is counted");
        let mut fewest = u64::MAX;
        // The first round warms up; timers of the other threads may fall into some of the others.
        for _ in 0..6 {
            let before = ALLOCATIONS.load(Relaxed);
            for _ in 0..QUERIES {
                let read = connection.query(b"SELECT c FROM t WHERE id = 1").await;
                assert_eq!(read.unwrap().rows, 1);
            }
            fewest = fewest.min(ALLOCATIONS.load(Relaxed) - before);
        }
        connection.close().await.unwrap();
        fewest
    });
    proxy.stop();
    drop(stop);
    thread.join().unwrap();
    assert_eq!(fewest.unwrap(), 0, "allocations in {QUERIES} queries");
}
