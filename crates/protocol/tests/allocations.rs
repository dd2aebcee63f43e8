//! The test that a query does not allocate in the steady state.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    path::Path,
    sync::mpsc,
};

use protocol::{
    Connection, Value,
    null_server::{NullServer, Settings},
    testing::{Answer, Request, endpoint, serve},
};
use reactor::{Clock, Listener, Reactor, sleep, spawn};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; the counter is a plain thread-local cell, which
// needs no allocation of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller fulfils the requirements of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the requirements of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller fulfils the requirements of the system's allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn count() {
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of allocations of this thread so far.
fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// A row of 100 values makes the answer longer than the first receive buffer.
fn answer(request: Request<'_>) -> Answer {
    let long = "x".repeat(100);
    match request {
        Request::Query(b"UPDATE") => Answer::ok(1),
        Request::Query(_) => {
            Answer::rows(&["a", "b"], &[[Some(long.as_str()), None].as_slice(); 100])
        }
        Request::Execute(_) => Answer::rows(&["a"], &[&[Some("1")]]),
    }
}

async fn exercise(connection: &mut Connection, statement: &protocol::Statement) {
    assert_eq!(connection.query(b"SELECT").await.unwrap().rows, 100);
    assert_eq!(connection.query(b"UPDATE").await.unwrap().affected_rows, 1);
    let values = [Value::Int(1), Value::Bytes(b"text"), Value::Null];
    assert_eq!(
        connection.execute(statement, &values).await.unwrap().rows,
        1
    );
}

/// Runs the server in a thread of its own until the sender is dropped.
fn serve_from_a_thread(path: &Path) -> (mpsc::Sender<()>, std::thread::JoinHandle<()>) {
    let (stop, stopped) = mpsc::channel::<()>();
    let (ready, listening) = mpsc::channel();
    let path = path.to_owned();
    let thread = std::thread::spawn(move || {
        Reactor::new(Clock::System).unwrap().run(async {
            serve(Listener::bind_unix(&path).unwrap(), answer);
            ready.send(()).unwrap();
            while stopped.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                sleep(std::time::Duration::from_millis(5)).await;
            }
        });
    });
    listening.recv().unwrap();
    (stop, thread)
}

#[test]
fn queries_allocate_nothing_once_they_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let (stop, thread) = serve_from_a_thread(&path);
    Reactor::new(Clock::System).unwrap().run(async {
        // Several connections on one loop, so that tasks wait and are woken.
        let (finished, mut running) = (std::rc::Rc::new(Cell::new(0)), 0);
        let before = std::rc::Rc::new(Cell::new(None));
        let after = std::rc::Rc::new(Cell::new(0));
        for _ in 0..8 {
            running += 1;
            let (path, finished) = (path.clone(), std::rc::Rc::clone(&finished));
            let (before, after) = (std::rc::Rc::clone(&before), std::rc::Rc::clone(&after));
            spawn(async move {
                let mut connection = Connection::open(&endpoint(&path)).await.unwrap();
                let statement = connection.prepare("INSERT ?, ?, ?").await.unwrap();
                for _ in 0..20 {
                    exercise(&mut connection, &statement).await;
                }
                finished.set(finished.get() + 1);
                // The steady state begins when all tasks have warmed up.
                while finished.get() < 8 {
                    sleep(std::time::Duration::from_millis(1)).await;
                }
                if before.get().is_none() {
                    before.set(Some(allocations()));
                }
                for _ in 0..200 {
                    exercise(&mut connection, &statement).await;
                }
                after.set(allocations());
                finished.set(finished.get() + 1);
                std::future::pending::<()>().await;
            });
        }
        while finished.get() < 2 * running {
            reactor::yield_now().await;
        }
        let spent = after.get() - before.get().unwrap();
        assert_eq!(spent, 0, "allocations in {} queries", 8 * 200 * 3);
    });
    drop(stop);
    thread.join().unwrap();
}

#[test]
fn the_null_server_allocates_nothing_either() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Reactor::new(Clock::System).unwrap().run(async {
        // Client and server share the thread, so the allocations of both count.
        let server = NullServer::new(Settings::default());
        server.serve(Listener::bind_unix(&path).unwrap(), None);
        let mut connection = Connection::open(&endpoint(&path)).await.unwrap();
        let statement = connection
            .prepare("SELECT c FROM t WHERE id = ?")
            .await
            .unwrap();
        let mut before = 0;
        for round in 0..220 {
            if round == 20 {
                before = allocations();
            }
            let read = connection.query(b"SELECT c FROM t WHERE id = 1").await;
            assert_eq!(read.unwrap().rows, 1);
            let read = connection.execute(&statement, &[Value::Int(round)]).await;
            assert_eq!(read.unwrap().rows, 1);
            let changed = connection.query(b"UPDATE t SET c = 1 WHERE id = 1").await;
            assert_eq!(changed.unwrap().affected_rows, 1);
        }
        assert_eq!(allocations() - before, 0, "allocations in 600 queries");
    });
}
