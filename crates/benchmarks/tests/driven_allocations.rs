//! Tests that in the steady state an operation allocates nothing on its event loop's thread, from the arrival to the
//! record.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use benchmarks::script::{ListRows, Mode, Plan, ScriptUser, Scripts, Settings};
use load::{
    Arrivals, Class, Drain, Failure, Group, Judgement, Load, LoadListener, Next, OnError,
    OperationObserver, Process, Stop, Termination, ToleratedFailures, User, WarmUp,
};
use protocol::{
    Connection,
    testing::{Answer, Request, endpoint, serve},
};
use reactor::{Clock, Interrupt, Listener, Reactor};
use samples::{Interval, PhaseMark};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of each thread.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; the counter is a plain cell of the thread
// that needs no allocation of its own.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Operations before the steady state, over all users.
const WARM_UP: u64 = 2_000;
/// The steady state is checked in parts; number of parts, and operations of each.
const PARTS: usize = 4;
const PART: u64 = 2_500;
const ALL: u64 = WARM_UP + PARTS as u64 * PART;

/// The counts of one event loop's users.
#[derive(Default)]
struct Count {
    operations: AtomicU64,
    /// Allocations of the loop's thread at the start of each part, and at the end of the last.
    allocations: [AtomicU64; PARTS + 1],
}

impl Count {
    /// Counts an operation; true after the last one.
    fn is_over(&self) -> bool {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        if number >= WARM_UP && (number - WARM_UP).is_multiple_of(PART) {
            let part = ((number - WARM_UP) / PART) as usize;
            if let Some(allocations) = self.allocations.get(part) {
                allocations.store(ALLOCATIONS.get(), Ordering::Relaxed);
            }
        }
        number >= ALL
    }
}

/// A transaction of two statements.
struct Transaction {
    names: [Vec<String>; 2],
    socket: PathBuf,
    connection: Option<Connection>,
    count: Arc<Count>,
}

impl User for Transaction {
    fn operations(&self) -> &[String] {
        &self.names[0]
    }

    fn statements(&self) -> &[String] {
        &self.names[1]
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.connection = Some(Connection::open(&endpoint(&self.socket)).await?);
        Ok(())
    }

    fn next(&mut self) -> Next {
        if self.count.is_over() {
            return Next::End;
        }
        Next::Operation(0)
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        let connection = self.connection.as_mut().unwrap();
        connection.query(b"SELECT").await?;
        watch.statement(0, Class::Read { rows: 1 });
        connection.query(b"COMMIT").await?;
        watch.statement(1, Class::Other);
        Ok(())
    }

    async fn disconnect(&mut self) {
        self.connection = None;
    }
}

/// A script with a list of texts, expressions, a condition, a row that is kept, and a statement of many values.
const SCRIPT: &str = "\\list word from query \"SELECT text, times FROM words\" weight times
\\draw word drawn_
\\set id random_zipfian(1, 100000, 1.1)
\\set near random_gaussian(1, 100000, 2.5) + random_exponential(1, 100000, 5.0) * :drawn_times
\\set price case when :id % 2 = 0 then 1.5 * :id else abs(-2.5) end
\\set h permute(hash(:id) & 1023, 1024) + greatest(1, 2, least(:id, 3))
SELECT :id, :price \\gset row_
\\if :row_a > 0 and not :h is null
UPDATE t SET a = :row_a, b = :drawn_text, c = :near WHERE id = :h;
\\else
DELETE FROM t;
\\endif
INSERT INTO t VALUES (:id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id,
:id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :id, :price);
";

/// The rows of the script's list, its texts of several lengths and with what a literal has to escape.
fn words() -> ListRows {
    let rows = (1..=100_u32).map(|row| {
        let text = "it's \\ ".repeat(row as usize % 7 + 1);
        vec![Some(text.into_bytes()), Some(row.to_string().into_bytes())]
    });
    ListRows {
        columns: vec!["text".to_owned(), "times".to_owned()],
        rows: rows.collect(),
    }
}

/// The user of a script, counted.
struct Scripted {
    user: ScriptUser,
    count: Arc<Count>,
}

impl User for Scripted {
    fn operations(&self) -> &[String] {
        self.user.operations()
    }

    fn statements(&self) -> &[String] {
        self.user.statements()
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        self.user.connect().await
    }

    fn next(&mut self) -> Next {
        if self.count.is_over() {
            return Next::End;
        }
        self.user.next()
    }

    async fn execute(&mut self, watch: &mut impl OperationObserver) -> Result<(), Failure> {
        self.user.execute(watch).await
    }

    async fn disconnect(&mut self) {
        self.user.disconnect().await;
    }
}

struct Nobody;

impl LoadListener for Nobody {
    fn connected(&mut self, _open: u64, _total: u64) {}
    fn started(&mut self) {}
    fn phase(&mut self, _mark: PhaseMark) {}
    fn interval(&mut self, _interval: Interval) {}
}

/// Serves from a separate thread until the sender is dropped.
fn serve_from_a_thread(path: &Path) -> (mpsc::Sender<()>, std::thread::JoinHandle<()>) {
    let (stop, stopped) = mpsc::channel::<()>();
    let (ready, listening) = mpsc::channel();
    let path = path.to_owned();
    let thread = std::thread::spawn(move || {
        Reactor::new(Clock::System).unwrap().run(async {
            serve(
                Listener::bind_unix(&path).unwrap(),
                |request| match request {
                    Request::Query(_) => Answer::rows(&["a"], &[&[Some("1")]]),
                    Request::Execute(_) => Answer::binary_rows(&["a"], &[&[Some("1")]]),
                },
            );
            ready.send(()).unwrap();
            while stopped.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                reactor::sleep(Duration::from_millis(5)).await;
            }
        });
    });
    listening.recv().unwrap();
    (stop, thread)
}

/// Drives a group to its end, and holds that its operations allocate nothing once they run.
fn assert_allocates_nothing<U: User + 'static>(group: Group<U>, arrivals: Arrivals, count: &Count) {
    let load = Load {
        groups: vec![group],
        loops: 1,
        spin: false,
        arrivals,
        stages: Vec::new(),
        turns: None,
        seed: 1,
        judge: |_| Judgement {
            steady_from: None,
            wants_time: false,
            why_not: None,
        },
        warm_up: WarmUp::None,
        stop: Stop::WhenUsersEnd,
        drain: Drain::USUAL,
        on_refusal: load::OnRefusal::Stop,
        on_error: OnError::Stop,
        tolerated: ToleratedFailures::default(),
        // Delivering an interval may allocate: none ends here.
        interval: Duration::from_secs(3600),
    };
    let outcome = load::drive(load, &Interrupt::default(), &mut Nobody).unwrap();
    assert_eq!(outcome.ended, Termination::Planned);
    assert_eq!(outcome.totals[0].count, ALL);
    let at: Vec<u64> = count
        .allocations
        .iter()
        .map(|allocations| allocations.load(Ordering::Relaxed))
        .collect();
    let spent: Vec<u64> = at.windows(2).map(|part| part[1] - part[0]).collect();
    // A response that is longer than all before extends a histogram; that happens a few times at most.
    assert!(
        spent.contains(&0),
        "allocations by part, {arrivals:?}: {spent:?}"
    );
    assert!(spent.iter().sum::<u64>() < 20, "{spent:?}");
}

#[test]
fn operations_allocate_nothing_once_they_run() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let (stop, thread) = serve_from_a_thread(&socket);
    let open = Arrivals::Open {
        rate_per_s: 20_000.0,
        process: Process::Poisson,
    };
    for arrivals in [Arrivals::Closed, open] {
        let count = Arc::new(Count::default());
        let names = [
            vec!["transaction".to_owned()],
            vec!["select".to_owned(), "commit".to_owned()],
        ];
        let (socket, counted) = (socket.clone(), Arc::clone(&count));
        let group = Group {
            name: "users".to_owned(),
            operations: names[0].clone(),
            statements: names[1].clone(),
            users: 8,
            make: Box::new(move |_| Transaction {
                names: names.clone(),
                socket: socket.clone(),
                connection: None,
                count: Arc::clone(&counted),
            }),
        };
        assert_allocates_nothing(group, arrivals, &count);
    }
    drop(stop);
    thread.join().unwrap();
}

#[test]
fn scripts_allocate_nothing_once_they_run() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s");
    let (stop, thread) = serve_from_a_thread(&socket);
    for mode in [Mode::Text, Mode::Prepared] {
        let script = match mode {
            // The fake server names no columns when it prepares a statement.
            Mode::Prepared => SCRIPT.replace(":row_a", ":id"),
            _ => SCRIPT.to_owned(),
        };
        let scripts = Scripts::of_text("a.sql", &script).unwrap();
        let settings = Settings {
            mode,
            scale: 1,
            connections: 8,
            seed: 1,
        };
        let plan = Arc::new(Plan::new(scripts, [words()], settings).unwrap());
        let count = Arc::new(Count::default());
        let (counted, of_users) = (Arc::clone(&count), Arc::clone(&plan));
        let endpoint = Arc::new(endpoint(&socket));
        let group = Group {
            name: "script".to_owned(),
            operations: plan.operations().to_vec(),
            statements: plan.statements().to_vec(),
            users: 8,
            make: Box::new(move |index| Scripted {
                user: ScriptUser::new(Arc::clone(&of_users), Arc::clone(&endpoint), index),
                count: Arc::clone(&counted),
            }),
        };
        assert_allocates_nothing(group, Arrivals::Closed, &count);
    }
    drop(stop);
    thread.join().unwrap();
}
