//! Copies of statements for another server: one connection for each session, which never delays the client.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
    task::{Poll, Waker},
    time::Duration,
};

use protocol::{Address, Connection, Endpoint, Password, SslMode};

use super::file::MirrorTable;
use crate::{Level, ScriptEnvironment, metrics::RuleCounter};

/// Copies of a session that wait, and their bytes; others are dropped.
const WAITING_MAX: usize = 100;
const BYTES_MAX: usize = 16 << 20;
/// Time limit for connecting and logging in.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Time limit of a copy.
const STATEMENT_TIME: Duration = Duration::from_secs(60);
/// Time after which a server that could not be reached is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Time for the copies that wait when the client leaves.
const LAST_COPIES_TIME: Duration = Duration::from_secs(2);
/// Bytes of a password file.
const PASSWORD_FILE_MAX: u64 = 64 << 10;
/// The port of a server if none is given.
const SERVER_PORT: u16 = 3306;

/// The server that gets the copies of a rule.
#[derive(Debug)]
pub(super) struct Target(Endpoint);

impl Target {
    /// The server of a table; its password file is relative to `directory`.
    pub(super) fn new(table: &MirrorTable, directory: &Path) -> Result<Arc<Self>, String> {
        let address = address(&table.address)?;
        let password = match &table.password_file {
            Some(path) => Some(password(&directory.join(path))?),
            None => None,
        };
        Ok(Arc::new(Self(Endpoint {
            password,
            database: table.database.clone(),
            ssl_mode: SslMode::Preferred,
            ..Endpoint::plain(address, &table.user, CONNECT_TIME)
        })))
    }
}

fn address(text: &str) -> Result<Address, String> {
    if text.starts_with('/') {
        return Ok(Address::Unix(PathBuf::from(text)));
    }
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address without a port has colons, too.
        Some((host, _)) if host.contains(':') && !host.starts_with('[') => (text, None),
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let port = match port {
        Some(port) => port.parse().map_err(|_| {
            format!("address {text:?}: HOST:PORT, [IPV6]:PORT, :PORT, or the path of a unix socket")
        })?,
        None => SERVER_PORT,
    };
    let host = match host.trim_start_matches('[').trim_end_matches(']') {
        "" => "127.0.0.1",
        host => host,
    };
    Ok(Address::Tcp {
        host: host.to_owned(),
        port,
    })
}

/// The first line of a file.
fn password(path: &Path) -> Result<Password, String> {
    let text = files::read_regular_text(path, PASSWORD_FILE_MAX)
        .map_err(|error| format!("password_file {}: {error}", path.display()))?;
    Ok(Password::from(text.lines().next().unwrap_or_default()))
}

/// The copies of one session for one target. Dropping it ends the connection after the last copies.
pub(super) struct Mirror(Rc<Queue>);

struct Queue {
    waiting: RefCell<VecDeque<Copy>>,
    bytes: Cell<usize>,
    is_closed: Cell<bool>,
    /// Those who wait for a copy, and for the end.
    wakers: RefCell<[Option<Waker>; 2]>,
}

/// The places of wakers.
const COPY: usize = 0;
const END: usize = 1;

/// A copy, which is counted as dropped unless its statement was answered.
struct Copy {
    text: Vec<u8>,
    counter: Arc<RuleCounter>,
    is_answered: bool,
}

impl Drop for Copy {
    fn drop(&mut self) {
        if !self.is_answered {
            self.counter.drop_one();
        }
    }
}

impl Mirror {
    /// A connection for a session, opened with its first copy.
    pub(super) fn new(target: &Arc<Target>, environment: &Rc<dyn ScriptEnvironment>) -> Self {
        let queue = Rc::new(Queue {
            waiting: RefCell::default(),
            bytes: Cell::new(0),
            is_closed: Cell::new(false),
            wakers: RefCell::default(),
        });
        reactor::spawn(serve(
            Rc::clone(&queue),
            Arc::clone(target),
            Rc::clone(environment),
        ));
        Self(queue)
    }

    /// Sends a copy when its turn comes, or drops and counts it.
    pub(super) fn send(&self, text: &[u8], counter: &Arc<RuleCounter>) {
        let bytes = self.0.bytes.get() + text.len();
        if self.0.waiting.borrow().len() >= WAITING_MAX || bytes > BYTES_MAX {
            counter.drop_one();
            return;
        }
        self.0.bytes.set(bytes);
        self.0.waiting.borrow_mut().push_back(Copy {
            text: text.to_vec(),
            counter: Arc::clone(counter),
            is_answered: false,
        });
        self.0.wake();
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.0.is_closed.set(true);
        self.0.wake();
    }
}

impl Queue {
    fn wake(&self) {
        self.wakers
            .borrow()
            .iter()
            .flatten()
            .for_each(Waker::wake_by_ref);
    }

    /// The next copy; `None` when the session has ended and there is none.
    async fn next(&self) -> Option<Copy> {
        poll_fn(|context| {
            if let Some(copy) = self.waiting.borrow_mut().pop_front() {
                self.bytes.set(self.bytes.get() - copy.text.len());
                return Poll::Ready(Some(copy));
            }
            if self.is_closed.get() {
                return Poll::Ready(None);
            }
            self.wakers.borrow_mut()[COPY] = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Ends when the session has.
    async fn closed(&self) {
        poll_fn(|context| {
            if self.is_closed.get() {
                return Poll::Ready(());
            }
            self.wakers.borrow_mut()[END] = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Sends the copies of a session.
async fn serve(queue: Rc<Queue>, target: Arc<Target>, environment: Rc<dyn ScriptEnvironment>) {
    let copies = send_all(&queue, &target, &*environment);
    let last = async {
        queue.closed().await;
        reactor::sleep(LAST_COPIES_TIME).await;
    };
    // A server that is slower than the client must not keep connections of sessions that have ended.
    crate::watch::first_of(copies, last).await;
}

async fn send_all(queue: &Queue, target: &Target, environment: &dyn ScriptEnvironment) {
    let mut connection: Option<Connection> = None;
    while let Some(mut copy) = queue.next().await {
        let open = match connection.take() {
            Some(open) => open,
            None => match Connection::open_within(&target.0, STATEMENT_TIME).await {
                Ok(open) => open,
                Err(error) => {
                    let text = format!("mirror {}: {error}", target.0.address);
                    environment.log(Level::Warning, &text);
                    reactor::sleep(PAUSE).await;
                    continue;
                }
            },
        };
        let mut open = open;
        match open.query(&copy.text).await {
            Err(error) if error.is_connection_lost() => {
                let text = format!("mirror {}: {error}", target.0.address);
                environment.log(Level::Warning, &text);
            }
            // An error of the statement is an answer like any other.
            _ => {
                copy.is_answered = true;
                connection = Some(open);
            }
        }
    }
    if let Some(connection) = connection {
        // The server notices the end of the connection in any case.
        let _ = connection.close().await;
    }
}
