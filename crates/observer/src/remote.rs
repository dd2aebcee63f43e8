//! The client's side: a host with an observer on it, from the connection to the final summary.

use std::{
    sync::{Arc, OnceLock},
    thread::{self, JoinHandle},
    time::Duration,
};

use reactor::{
    Instant, Interrupt,
    channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded},
    system_now,
};
use samples::{Host, Telemetry};

use crate::{
    clocks::{Clocks, Exchange, Offset},
    error::{Error, Problem},
    message::{
        FromClient, FromObserver, Hello, ObservationRequest, PROTOCOL, RefusalCode, Watching, read,
    },
    receiver::{PATIENCE, WAITING_AT_MOST, receive},
    remote_thread::{BURST, Command, Event, Observed, RemoteThread},
    secret::{Nonces, Role, Secret, nonce},
    transport::{Link, Opened, Transport},
    wire::{Input, LINE_BYTES_AT_MOST, Output, WireError},
};

/// Time limit of the handshake; over ssh it includes the login.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(30);

/// Time limit for the answer to `watch`: usually a few milliseconds, more with thousands of processes.
const WATCH_PATIENCE: Duration = Duration::from_secs(30);

/// Time limit of leaving; the thread gives up earlier.
const LEAVE_PATIENCE: Duration = Duration::from_secs(60);

/// Time limit of either after an interruption by the user.
const PATIENCE_INTERRUPTED: Duration = Duration::from_millis(500);

/// A host with an observer on it; dropping this ends the connection.
#[derive(Debug)]
pub struct RemoteHost {
    address: String,
    version: String,
    boot_id: Option<String>,
    offset: Offset,
    events: Sender<Event>,
    lost: Arc<OnceLock<(Instant, String)>>,
    thread: Option<JoinHandle<()>>,
}

impl RemoteHost {
    /// Connects, logs in and compares the clocks. `address` is its name in messages and in the record.
    pub fn reach(address: &str, transport: &Transport) -> Result<Self, Error> {
        let address = address.to_owned();
        let secret = match transport {
            Transport::Tcp(tcp) => Some(&tcp.secret),
            Transport::Ssh(_) => None,
        };
        let opened = transport.open().map_err(|problem| problem.at(&address))?;
        let Opened {
            input,
            output,
            mut link,
        } = opened;
        let arrive = || {
            let mut door = UnsplitConnection {
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
        let (events, inbox) = bounded(WAITING_AT_MOST);
        receive(door.input, events.clone(), Event::Received);
        let lost = Arc::new(OnceLock::new());
        let thread = RemoteThread::new(door.output, link, clocks, offset, Arc::clone(&lost));
        Ok(Self {
            address,
            version,
            boot_id,
            offset,
            events,
            lost,
            thread: Some(thread::spawn(move || thread.run(&inbox))),
        })
    }

    /// The address as in the record: `tcp://db1:7306`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The version of dbdyno on that host.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The clock offset at the time of connecting.
    pub fn offset(&self) -> Offset {
        self.offset
    }

    /// True if client and server share one machine; `None` if a kernel has no boot id.
    pub fn same_machine(&self) -> Option<bool> {
        let ours = telemetry::boot_id()?;
        Some(*self.boot_id.as_ref()? == ours)
    }

    /// Which side of the run that machine has.
    pub fn host(&self) -> Host {
        match self.same_machine() {
            Some(true) => Host::Both,
            _ => Host::Server,
        }
    }

    /// Selects the targets; the answer is as of [`RemoteHost::host`]. It gives up after a while, and soon after
    /// an interruption.
    pub fn watch(
        &self,
        watch: ObservationRequest,
        interrupt: &Interrupt,
    ) -> Result<Watching, Error> {
        let (answer, answered) = unbounded();
        self.command(Command::Watch(watch, answer));
        let problem = match patiently(&answered, WATCH_PATIENCE, interrupt) {
            Some(Ok(mut watching)) => {
                watching.machine.host = self.host();
                watching.storage.host = self.host();
                return Ok(watching);
            }
            Some(Err(why)) => Problem::Refused(why),
            None => Problem::Wire(WireError::Silent(WATCH_PATIENCE)),
        };
        Err(problem.at(&self.address))
    }

    /// Starts the samples at the start of the load; `take` receives each with times on the load's clock until it
    /// returns false.
    pub fn start(
        &self,
        started: Instant,
        every: Duration,
        take: impl FnMut(Telemetry) -> bool + Send + 'static,
    ) {
        self.command(Command::Start {
            started,
            every,
            host: self.host(),
            take: Box::new(take),
        });
    }

    /// The time and reason of a lost connection; `None` while it is working.
    pub fn lost(&self) -> Option<(Instant, &str)> {
        let (at, why) = self.lost.get()?;
        Some((*at, why))
    }

    /// Ends the samples, compares the clocks once more, and disconnects. After an interruption, the time limit
    /// for the final summary is shorter.
    pub fn leave(mut self, interrupt: &Interrupt) -> Observed {
        let (answer, answered) = unbounded();
        self.command(Command::Leave(answer));
        match patiently(&answered, LEAVE_PATIENCE, interrupt) {
            Some(observed) => {
                self.join();
                observed
            }
            // The thread ends by itself.
            None => {
                self.thread.take();
                Observed::default()
            }
        }
    }

    fn command(&self, command: Command) {
        // A thread that panicked is detected when it is joined.
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
            let (answer, _) = unbounded();
            self.command(Command::Leave(answer));
            self.join();
        }
    }
}

/// The next value of a channel; `None` after the time limit, or shortly after an interruption.
fn patiently<T>(channel: &Receiver<T>, patience: Duration, interrupt: &Interrupt) -> Option<T> {
    let end = system_now() + patience;
    match interrupt.receive(channel, patience) {
        Err(RecvTimeoutError::Timeout) if interrupt.is_raised() => {
            let left = (end - system_now()).min(PATIENCE_INTERRUPTED);
            channel.recv_timeout(left).ok()
        }
        received => received.ok(),
    }
}

/// The exit status of the transport's program explains more than a closed connection.
fn why_ended(link: &mut Link, problem: Problem) -> Problem {
    match &problem {
        Problem::Wire(WireError::Closed) => link.why_ended().unwrap_or(problem),
        _ => problem,
    }
}

/// The connection before it is split between two threads.
struct UnsplitConnection {
    input: Input,
    output: Output,
    deadline: Instant,
}

impl UnsplitConnection {
    /// Sends hello and proves the secret; returns version and boot id of the other side.
    fn enter(&mut self, secret: Option<&Secret>) -> Result<(String, Option<String>), Problem> {
        let own_nonce = secret.map(|_| nonce()).transpose()?;
        let hello = Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            nonce: own_nonce.clone(),
        };
        self.output.send(&FromClient::Hello(hello))?;
        let hello = match self.receive()? {
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
            match self.receive()? {
                FromObserver::Proof { proof }
                    if secret.is_proven(Role::Observer, &nonces, &proof) => {}
                FromObserver::Proof { .. } => return Err(Problem::ForeignObserver),
                other => return Err(Problem::turn(&other)),
            }
        }
        self.input.limit = LINE_BYTES_AT_MOST;
        match self.receive()? {
            FromObserver::Welcome { boot_id } => Ok((hello.version, boot_id)),
            other => Err(Problem::turn(&other)),
        }
    }

    fn compare_clocks(&mut self) -> Result<Clocks, Problem> {
        let mut clocks = Clocks::default();
        for _ in 0..BURST {
            let t1_ns = system_now().as_ns();
            self.output.send(&FromClient::Ping { t1_ns })?;
            let answer = self.receive()?;
            let exchange = Exchange::ended_by(&answer, system_now());
            clocks.add(exchange.ok_or_else(|| Problem::turn(&answer))?);
        }
        Ok(clocks)
    }

    fn receive(&mut self) -> Result<FromObserver, Problem> {
        let line = self.input.line(self.deadline - system_now())?;
        match read(&line)? {
            FromObserver::Refused {
                code: Some(RefusalCode::WrongSecret),
                ..
            } => Err(Problem::SecretRefused),
            FromObserver::Refused { why, .. } | FromObserver::Bye { why } => {
                Err(Problem::Refused(why))
            }
            message => Ok(message),
        }
    }
}
