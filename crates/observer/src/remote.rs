//! The client's side: a host with an observer on it, from the first word to what is to be said at the end.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, UNIX_EPOCH},
};

use reactor::{Instant, system_now, thread_cpu_time};
use samples::{Changed, ClockDrift, Collected, Host, Telemetry};

use crate::{
    clocks::{Clocks, Exchange, Offset},
    error::{Error, Problem},
    message::{FromClient, FromObserver, Hello, PROTOCOL, Watch, Watching, read},
    remote_thread::{Command, Event, RemoteThread},
    secret::{Nonces, Role, Secret, nonce},
    session::PATIENCE,
    way::{Link, Opened, Way},
    wire::{Input, LINE_BYTES_AT_MOST, Output, WireError},
};

/// How long the other side may take to let us in; over ssh a login is part of it.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(30);

/// Questions for the time one after the other, at the start and at the end.
pub(crate) const BURST: u32 = 16;

/// What the server's host is asked to watch takes it a few milliseconds; thousands of processes some more.
const WATCH_PATIENCE: Duration = Duration::from_secs(30);

/// A host with an observer on it; the connection ends with this.
#[derive(Debug)]
pub struct RemoteHost {
    address: String,
    version: String,
    boot_id: Option<String>,
    offset: Offset,
    events: Sender<Event>,
    thread: Option<JoinHandle<()>>,
}

/// What is watched, and whether that is our own machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    /// What is watched; as of the machine of both where that is so.
    pub watching: Watching,
    /// True where client and server share one machine; `None` where a kernel does not tell.
    pub same_machine: Option<bool>,
}

/// What is to be said at the end.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// What is otherwise than at the start.
    pub changed: Vec<Changed>,
    /// What sampling cost there; `None` where the observer was lost.
    pub collected: Option<Collected>,
    /// The clocks at the end, or when the observer was lost.
    pub offset: Option<Offset>,
    /// How they drifted apart since the start.
    pub drift: Option<ClockDrift>,
    /// CPU time that receiving took here.
    pub receiving_cpu: Duration,
    /// Since when nothing came any more, and why.
    pub lost: Option<(Instant, String)>,
}

impl RemoteHost {
    /// Goes there, is let in, and compares the clocks.
    pub fn reach(way: &Way) -> Result<Self, Error> {
        let address = way.to_string();
        let secret = match way {
            Way::Tcp(tcp) => Some(&tcp.secret),
            Way::Ssh(_) => None,
        };
        let opened = way.open().map_err(|problem| problem.at(&address))?;
        let Opened {
            input,
            output,
            mut link,
        } = opened;
        let arrive = || {
            let mut door = Door {
                input: Input::new(input)?,
                output: Output::new(output, PATIENCE)?,
                deadline: system_now() + HANDSHAKE_PATIENCE,
            };
            let (version, boot_id) = door.enter(secret)?;
            let clocks = door.compare_clocks()?;
            Ok((door, version, boot_id, clocks))
        };
        let arrived = arrive().map_err(|problem| why_ended(&mut link, problem).at(&address));
        let (door, version, boot_id, clocks) = arrived?;
        let offset = clocks.offset().ok_or_else(|| {
            let nonsense = WireError::Io(std::io::Error::other("its clock runs backwards"));
            Problem::from(nonsense).at(&address)
        })?;
        let (events, receive) = channel();
        listen(door.input, events.clone());
        let thread = RemoteThread::new(door.output, link, clocks, offset);
        Ok(Self {
            address,
            version,
            boot_id,
            offset,
            events,
            thread: Some(thread::spawn(move || thread.run(&receive))),
        })
    }

    /// As in the record: `tcp://db1:7306`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Version of the dbdyno there.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The clocks, as they were compared when the host was reached.
    pub fn offset(&self) -> Offset {
        self.offset
    }

    /// Says what to watch.
    pub fn watch(&self, watch: Watch) -> Result<Watched, Error> {
        let (answer, answered) = channel();
        self.command(Command::Watch(watch, answer));
        let lost = |why| Problem::Refused(why).at(&self.address);
        let watching = match answered.recv_timeout(WATCH_PATIENCE) {
            Ok(watching) => watching.map_err(lost)?,
            Err(_) => {
                return Err(Problem::Wire(WireError::Silent(WATCH_PATIENCE)).at(&self.address));
            }
        };
        let ours = telemetry::boot_id();
        let same_machine = self.boot_id.as_ref().zip(ours.as_ref());
        let mut watched = Watched {
            watching,
            same_machine: same_machine.map(|(theirs, ours)| theirs == ours),
        };
        let host = watched.host();
        watched.watching.machine.host = host;
        watched.watching.storage.host = host;
        Ok(watched)
    }

    /// Samples from now on, the start of the load; `take` gets each on the load's clock, as of `host`, until it
    /// returns false.
    pub fn start(
        &self,
        started: Instant,
        every: Duration,
        host: Host,
        take: impl FnMut(Telemetry) -> bool + Send + 'static,
    ) {
        self.command(Command::Start {
            started,
            every,
            host,
            take: Box::new(take),
        });
    }

    /// Ends the samples, compares the clocks once more, and leaves.
    pub fn leave(mut self) -> Observed {
        let (answer, answered) = channel();
        self.command(Command::Leave(answer));
        let observed = answered.recv();
        self.join();
        observed.unwrap_or_default()
    }

    fn command(&self, command: Command) {
        // A thread that ended by a panic is found when it is joined.
        let _ = self.events.send(Event::Command(command));
    }

    fn join(&mut self) {
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for RemoteHost {
    fn drop(&mut self) {
        if self.thread.is_some() && !thread::panicking() {
            let (answer, _) = channel();
            self.command(Command::Leave(answer));
            self.join();
        }
    }
}

impl Watched {
    /// Which half of the run that machine carries.
    pub fn host(&self) -> Host {
        match self.same_machine {
            Some(true) => Host::Both,
            _ => Host::Server,
        }
    }
}

/// What a program that held the way says of its end tells more than that it is closed.
fn why_ended(link: &mut Link, problem: Problem) -> Problem {
    match &problem {
        Problem::Wire(WireError::Closed) => link.why_ended().unwrap_or(problem),
        _ => problem,
    }
}

/// Reads what comes until the end, in a thread of its own: only so the times of answers are right.
fn listen(mut input: Input, events: Sender<Event>) {
    thread::spawn(move || {
        loop {
            let line = input.line(PATIENCE);
            let at = system_now();
            let message = line.and_then(|line| read(&line));
            let is_over = message.is_err();
            let cpu = thread_cpu_time();
            if events.send(Event::Heard { message, at, cpu }).is_err() || is_over {
                return;
            }
        }
    });
}

/// The connection before it is split between two threads.
struct Door {
    input: Input,
    output: Output,
    deadline: Instant,
}

impl Door {
    /// Says hello and proves to know the secret; returns version and boot id of the other side.
    fn enter(&mut self, secret: Option<&Secret>) -> Result<(String, Option<String>), Problem> {
        let own_nonce = secret.map(|_| nonce()).transpose()?;
        let hello = Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            nonce: own_nonce.clone(),
        };
        self.output.send(&FromClient::Hello(hello))?;
        let hello = match self.hear()? {
            FromObserver::Hello(hello) => hello,
            other => return Err(Problem::turn(&other)),
        };
        if hello.protocol != PROTOCOL {
            return Err(Problem::Version {
                theirs: hello.version,
                protocol: hello.protocol,
            });
        }
        if let Some((secret, client)) = secret.zip(own_nonce) {
            let observer = hello.nonce.ok_or(Problem::NoSecret)?;
            let nonces = Nonces { client, observer };
            let proof = secret.proof(Role::Client, &nonces);
            self.output.send(&FromClient::Proof { proof })?;
            match self.hear()? {
                FromObserver::Proof { proof }
                    if secret.is_proven(Role::Observer, &nonces, &proof) => {}
                FromObserver::Proof { .. } => return Err(Problem::ForeignObserver),
                other => return Err(Problem::turn(&other)),
            }
        }
        self.input.limit = LINE_BYTES_AT_MOST;
        match self.hear()? {
            FromObserver::Welcome { boot_id } => Ok((hello.version, boot_id)),
            other => Err(Problem::turn(&other)),
        }
    }

    fn compare_clocks(&mut self) -> Result<Clocks, Problem> {
        let mut clocks = Clocks::default();
        for _ in 0..BURST {
            let t1_ns = system_now().as_ns();
            self.output.send(&FromClient::Ping { t1_ns })?;
            let answer = self.hear()?;
            let exchange = exchange(&answer, system_now()).ok_or_else(|| Problem::turn(&answer))?;
            clocks.add(exchange);
        }
        Ok(clocks)
    }

    fn hear(&mut self) -> Result<FromObserver, Problem> {
        let line = self.input.line(self.deadline - system_now())?;
        match read(&line)? {
            FromObserver::Refused { why } | FromObserver::Bye { why } => Err(Problem::Refused(why)),
            message => Ok(message),
        }
    }
}

/// The exchange that an answer, which came now, completes; `None` for another message.
pub(crate) fn exchange(answer: &FromObserver, now: Instant) -> Option<Exchange> {
    let FromObserver::Pong {
        t1_ns,
        t2_ns,
        t3_ns,
        wall_ns,
    } = answer
    else {
        return None;
    };
    let wall = reactor::wall_now().duration_since(UNIX_EPOCH);
    let here_ns = wall.unwrap_or_default().as_nanos() as i128;
    let ahead_ns = i128::from(*wall_ns) - here_ns;
    Some(Exchange {
        t1_ns: *t1_ns,
        t2_ns: *t2_ns,
        t3_ns: *t3_ns,
        t4_ns: now.as_ns(),
        wall_ns: i64::try_from(ahead_ns).unwrap_or(i64::MAX),
    })
}

/// What the thread hears.
pub(crate) type Events = Receiver<Event>;
