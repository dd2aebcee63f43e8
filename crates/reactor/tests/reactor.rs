//! Tests of the event loop over real sockets and with a driven clock.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    cell::{Cell, RefCell},
    future::{pending, poll_fn},
    io,
    net::SocketAddr,
    path::Path,
    rc::Rc,
    sync::{Arc, Mutex},
    task::{Poll, Waker},
    thread,
    time::Duration,
};

use reactor::{
    Clock, Elapsed, EndAddress, Listener, Options, Reactor, Stream, block_on, now, sleep,
    sleep_until, spawn, stay_awake, system_now, timeout, yield_now,
};

const LOOPBACK: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn driven() -> Reactor {
    Reactor::new(Clock::Driven).unwrap()
}

/// Spawns a server that echoes everything until its clients close.
fn spawn_echo(listener: Listener) {
    spawn(async move {
        loop {
            let mut stream = listener.accept().await.unwrap();
            spawn(async move {
                let mut buf = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut buf).await {
                    if stream.write_all(&buf[..count]).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
}

async fn read_exact(stream: &mut Stream, buf: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < buf.len() {
        match stream.read(&mut buf[filled..]).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(())
}

async fn echoes(stream: &mut Stream, message: &[u8]) {
    stream.write_all(message).await.unwrap();
    let mut answer = vec![0; message.len()];
    read_exact(stream, &mut answer).await.unwrap();
    assert_eq!(answer, message);
}

#[test]
fn timers_fire_in_the_order_of_their_time_then_of_their_setting() {
    let order = Rc::new(RefCell::new(Vec::new()));
    driven().run(async {
        for (name, ms) in [("c", 30), ("a", 10), ("b1", 20), ("b2", 20), ("d", 40)] {
            let order = Rc::clone(&order);
            spawn(async move {
                sleep(Duration::from_millis(ms)).await;
                order.borrow_mut().push((name, now().as_ns()));
            });
        }
        sleep(Duration::from_millis(35)).await;
    });
    let expected = [
        ("a", 10_000_000),
        ("b1", 20_000_000),
        ("b2", 20_000_000),
        ("c", 30_000_000),
    ];
    assert_eq!(*order.borrow(), expected);
}

#[test]
fn a_driven_clock_jumps_over_years() {
    let year = Duration::from_secs(365 * 24 * 3600);
    driven().run(async {
        let start = now();
        sleep_until(start + year).await;
        assert_eq!(now(), start + year);
        sleep_until(start).await;
        assert_eq!(
            now(),
            start + year,
            "a time that has passed is not waited for"
        );
    });
}

#[test]
fn a_driven_clock_stands_still_while_sockets_have_news() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    driven().run(async {
        spawn_echo(Listener::bind_unix(&path).unwrap());
        spawn(async { sleep(Duration::from_secs(1)).await });
        let mut stream = Stream::connect_unix(&path).await.unwrap();
        for _ in 0..100 {
            echoes(&mut stream, b"ping").await;
        }
        assert_eq!(now().as_ns(), 0);
    });
}

#[test]
fn the_system_clock_sleeps_at_least_as_long_as_told() {
    for spin in [false, true] {
        let clock = Clock::System;
        let reactor = Reactor::with_options(Options { clock, spin }).unwrap();
        for us in [0, 50, 1500, 20_000] {
            let start = system_now();
            reactor.run(sleep(Duration::from_micros(us)));
            assert!(system_now() - start >= Duration::from_micros(us));
        }
    }
}

#[test]
fn a_spinning_loop_looks_at_its_sockets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    for clock in [Clock::System, Clock::Driven] {
        let _ = std::fs::remove_file(&path);
        let reactor = Reactor::with_options(Options { clock, spin: true }).unwrap();
        reactor.run(async {
            spawn_echo(Listener::bind_unix(&path).unwrap());
            // A timer that is always about to fire.
            spawn(async {
                loop {
                    sleep(Duration::from_micros(500)).await;
                }
            });
            let mut stream = open(&path).await;
            for _ in 0..100 {
                echoes(&mut stream, b"ping").await;
            }
        });
    }
}

#[test]
fn a_loop_that_stays_awake_looks_at_sockets_and_timers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    for clock in [Clock::System, Clock::Driven] {
        let _ = std::fs::remove_file(&path);
        let reactor = Reactor::new(clock).unwrap();
        reactor.run(async {
            spawn_echo(Listener::bind_unix(&path).unwrap());
            let mut stream = open(&path).await;
            // Shorter and longer than what is waited for.
            for awake in [Duration::from_micros(1), Duration::from_secs(3600)] {
                let outer = stay_awake(awake);
                for _ in 0..100 {
                    echoes(&mut stream, b"ping").await;
                }
                let inner = stay_awake(Duration::from_secs(7200));
                let start = now();
                sleep(Duration::from_millis(2)).await;
                assert!(now() - start >= Duration::from_millis(2));
                drop(inner);
                drop(outer);
            }
            // As before: no event comes, and the loop sleeps until the timer.
            sleep(Duration::from_millis(1)).await;
        });
    }
}

#[test]
fn timeout_tells_who_was_first() {
    driven().run(async {
        let second = Duration::from_secs(1);
        assert_eq!(timeout(second, async { 7 }).await, Ok(7));
        assert_eq!(timeout(second, pending::<()>()).await, Err(Elapsed));
        assert_eq!(now().as_ns(), 1_000_000_000);
        // The timers of finished futures are removed: the clock does not jump to them.
        assert_eq!(timeout(second * 10, sleep(second)).await, Ok(()));
        sleep(second).await;
        assert_eq!(now().as_ns(), 3_000_000_000);
    });
}

#[test]
fn ten_thousand_timeouts_that_never_fire_leave_order_intact() {
    driven().run(async {
        for _ in 0..10_000 {
            timeout(Duration::from_secs(60), yield_now()).await.unwrap();
        }
        sleep(Duration::from_secs(1)).await;
        assert_eq!(now().as_ns(), 1_000_000_000);
    });
}

#[test]
fn yielding_tasks_take_turns() {
    let order = Rc::new(RefCell::new(String::new()));
    driven().run(async {
        for name in ['a', 'b', 'c'] {
            let order = Rc::clone(&order);
            spawn(async move {
                for _ in 0..3 {
                    order.borrow_mut().push(name);
                    yield_now().await;
                }
            });
        }
        sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(*order.borrow(), "abcabcabc");
}

#[test]
fn tasks_left_over_are_dropped_with_the_run() {
    struct Spawning(Rc<Cell<u32>>);
    impl Drop for Spawning {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            let again = Rc::clone(&self.0);
            // A destructor that spawns must neither deadlock nor leak the spawned task.
            if self.0.get() < 5 {
                let held = Spawning(again);
                spawn(async move {
                    let _held = held;
                    pending::<()>().await;
                });
            }
        }
    }
    let drops = Rc::new(Cell::new(0));
    let reactor = driven();
    reactor.run(async {
        let held = Spawning(Rc::clone(&drops));
        spawn(async move {
            let _held = held;
            pending::<()>().await;
        });
        yield_now().await;
    });
    // The tasks spawned by the destructors were never polled; dropped unpolled, they still drop their captured values.
    assert_eq!(drops.get(), 5);
    assert_eq!(Rc::strong_count(&drops), 1);
    assert_eq!(reactor.run(async { 1 }), 1, "the reactor can be used again");
}

#[test]
fn a_waker_works_from_another_thread() {
    let shared: Arc<Mutex<(bool, Option<Waker>)>> = Arc::default();
    let remote = Arc::clone(&shared);
    let thread = std::thread::spawn(move || {
        loop {
            let mut state = remote.lock().unwrap();
            if let Some(waker) = state.1.take() {
                state.0 = true;
                waker.wake();
                return;
            }
            drop(state);
            std::thread::yield_now();
        }
    });
    block_on(poll_fn(|context| {
        let mut state = shared.lock().unwrap();
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }))
    .unwrap();
    thread.join().unwrap();
}

/// A slow reader must not lose, duplicate or reorder bytes.
async fn transfers_more_than_the_socket_holds(
    listener: Listener,
    connect: impl AsyncFn() -> Stream,
) {
    let pattern: Rc<Vec<u8>> = Rc::new((0..20_000_000_u32).map(|i| (i % 251) as u8).collect());
    let sent = Rc::clone(&pattern);
    let mut sender = connect().await;
    spawn(async move { sender.write_all(&sent).await.unwrap() });
    let mut receiver = listener.accept().await.unwrap();
    sleep(Duration::from_millis(5)).await;
    let mut received = vec![0; pattern.len()];
    read_exact(&mut receiver, &mut received).await.unwrap();
    assert!(received == *pattern);
    assert_eq!(
        receiver.read(&mut [0; 16]).await.unwrap(),
        0,
        "the sender is gone"
    );
    assert_eq!(
        receiver.read(&mut [0; 16]).await.unwrap(),
        0,
        "the end stays"
    );
}

#[test]
fn tcp_carries_bytes_both_ways() {
    block_on(async {
        let listener = Listener::bind_tcp(LOOPBACK).unwrap();
        let address = listener.tcp_address().unwrap();
        spawn_echo(listener);
        let mut stream = Stream::connect_tcp(address).await.unwrap();
        echoes(&mut stream, b"hello").await;
        echoes(&mut stream, &[7; 4096]).await;

        let listener = Listener::bind_tcp(LOOPBACK).unwrap();
        let address = listener.tcp_address().unwrap();
        let connect = async || Stream::connect_tcp(address).await.unwrap();
        transfers_more_than_the_socket_holds(listener, connect).await;
    })
    .unwrap();
}

#[test]
fn a_unix_socket_carries_bytes_both_ways() {
    let dir = tempfile::tempdir().unwrap();
    let (small, big) = (dir.path().join("small"), dir.path().join("big"));
    block_on(async {
        let listener = Listener::bind_unix(&small).unwrap();
        assert_eq!(listener.tcp_address(), None);
        spawn_echo(listener);
        let mut stream = Stream::connect_unix(&small).await.unwrap();
        echoes(&mut stream, b"hello").await;
        echoes(&mut stream, &[7; 4096]).await;

        let listener = Listener::bind_unix(&big).unwrap();
        let connect = async || Stream::connect_unix(&big).await.unwrap();
        transfers_more_than_the_socket_holds(listener, connect).await;
    })
    .unwrap();
}

#[test]
fn a_thousand_connections_share_one_loop() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let done = Rc::new(Cell::new(0));
    // Two descriptors each; the limit of an ordinary user may be lower than that of a thousand connections.
    let connections = 1000;
    driven().run(async {
        let listener = Listener::bind_unix(&path).unwrap();
        spawn_echo(listener);
        for number in 0..connections {
            let (path, done) = (path.clone(), Rc::clone(&done));
            spawn(async move {
                let mut stream = open(&path).await;
                for round in 0..3 {
                    echoes(&mut stream, format!("{number}/{round}").as_bytes()).await;
                }
                done.set(done.get() + 1);
            });
        }
        while done.get() < connections {
            sleep(Duration::from_millis(1)).await;
        }
    });
}

async fn open(path: &Path) -> Stream {
    Stream::connect_unix(path).await.unwrap()
}

#[test]
fn a_stream_lives_on_from_one_block_on_to_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let (listener, mut stream) = block_on(async {
        let listener = Listener::bind_unix(&path).unwrap();
        let stream = open(&path).await;
        (listener, stream)
    })
    .unwrap();
    let _open = block_on(async {
        let mut accepted = listener.accept().await.unwrap();
        accepted.write_all(b"later").await.unwrap();
        let mut buf = [0; 5];
        read_exact(&mut stream, &mut buf).await.unwrap();
        assert_eq!(&buf, b"later");
        accepted
    })
    .unwrap();
    let foreign = driven().run(async { stream.read(&mut [0; 1]).await });
    assert_eq!(
        foreign.unwrap_err().to_string(),
        "the socket belongs to another reactor"
    );
}

#[test]
fn failures_to_connect_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let long = dir.path().join("x".repeat(200));
    block_on(async {
        let kind = |result: io::Result<Stream>| result.err().map(|error| error.kind());
        assert_eq!(
            kind(Stream::connect_unix(&missing).await),
            Some(io::ErrorKind::NotFound)
        );
        assert_eq!(
            kind(Stream::connect_unix(&long).await),
            Some(io::ErrorKind::InvalidInput)
        );
        // No other test listens on this address: one may get a port that was just left.
        let other = Listener::bind_tcp(([127, 0, 0, 2], 0).into());
        let closed = other.unwrap().tcp_address().unwrap();
        assert_eq!(
            kind(Stream::connect_tcp(closed).await),
            Some(io::ErrorKind::ConnectionRefused)
        );
    })
    .unwrap();
}

#[test]
fn hundreds_of_connections_wait_to_be_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    block_on(async {
        let tcp = Listener::bind_tcp(LOOPBACK).unwrap();
        let unix = Listener::bind_unix(&path).unwrap();
        let address = tcp.tcp_address().unwrap();
        let mut clients = Vec::new();
        for number in 0..512 {
            // If the queue is full, TCP waits for retransmitted packets, and a unix socket for space in the queue.
            let both = async {
                let over_tcp = Stream::connect_tcp(address).await.unwrap();
                (over_tcp, open(&path).await)
            };
            let opened = timeout(Duration::from_secs(10), both).await;
            clients.push(opened.unwrap_or_else(|_| panic!("connection {number} had no place")));
        }
        for (over_tcp, over_unix) in &mut clients {
            for (listener, client) in [(&tcp, over_tcp), (&unix, over_unix)] {
                let mut accepted = listener.accept().await.unwrap();
                accepted.write_all(b"hello").await.unwrap();
                let mut buf = [0; 5];
                read_exact(client, &mut buf).await.unwrap();
            }
        }
    })
    .unwrap();
}

#[test]
fn an_accepted_connection_may_go_to_another_thread() {
    Reactor::new(Clock::System).unwrap().run(async {
        let listener = Listener::bind_tcp(LOOPBACK).unwrap();
        let address = listener.tcp_address().unwrap();
        let mut client = Stream::connect_tcp(address).await.unwrap();
        let accepted = listener.accept_for_any().await.unwrap();
        let local = client.local_address().unwrap();
        assert_eq!(client.peer_address().unwrap(), EndAddress::Tcp(address));
        let other = thread::spawn(move || {
            Reactor::new(Clock::System).unwrap().run(async {
                let mut stream = Stream::take(accepted).unwrap();
                assert_eq!(stream.peer_address().unwrap(), local);
                stream.write_all(b"hello").await.unwrap();
                // The peer says something before it closes: that does not end the wait.
                stream.closed().await.unwrap();
                let mut buf = [0; 9];
                assert_eq!(stream.read(&mut buf).await.unwrap(), 3);
                assert_eq!(stream.read(&mut buf).await.unwrap(), 0);
            });
        });
        let mut buf = [0; 5];
        read_exact(&mut client, &mut buf).await.unwrap();
        client.write_all(b"bye").await.unwrap();
        sleep(Duration::from_millis(20)).await;
        assert!(!other.is_finished());
        client.finish_writing().unwrap();
        // The other side closes when it has read everything.
        assert_eq!(client.read(&mut buf).await.unwrap(), 0);
        other.join().unwrap();
    });
}
