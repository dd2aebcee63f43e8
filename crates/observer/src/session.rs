//! The session of one client at an observer.

use std::{
    io,
    net::IpAddr,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, UNIX_EPOCH},
};

use reactor::{
    Instant, Interrupt,
    channel::{Receiver, RecvTimeoutError, bounded},
    system_now, thread_cpu_time,
};
use samples::{Collected, Host};
use telemetry::{AllowedPaths, Directory, Sampler, ServerMarks, ServerProcess, Targets, boot_id};

use crate::{
    attempts::Attempts,
    error::{Error, Problem},
    message::{
        FromClient, FromObserver, Hello, ObservationRequest, PROTOCOL, RefusalCode, Watching, read,
    },
    receiver::{Received, WAITING_AT_MOST, receive},
    secret::{Nonces, Role, Secret, is_nonce, nonce},
    wire::{Input, LINE_BYTES_AT_MOST, Output, WireError},
};

/// Time limit for a client's login.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(5);

/// The range of sampling intervals that a client may request.
const EVERY: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(60);

/// A last partial interval that is shorter is left out: the kernel's clock ticks are too coarse for it.
const PART_AT_LEAST: Duration = Duration::from_millis(20);

/// Delay of the answer to a wrong secret.
const WRONG_SECRET_COSTS: Duration = Duration::from_secs(1);

/// The clients that an observer admits, and the paths that it may examine.
#[derive(Debug, Default)]
pub struct Access {
    /// The secret required over TCP.
    pub secret: Option<Secret>,
    /// The server's pid file, instead of the client's value: for a server in a container, whose own paths and ids are
    /// not valid outside.
    pub pid_file: Option<PathBuf>,
    /// Directories below which a client may request paths, in addition to those of the servers here.
    pub allowed: Vec<PathBuf>,
    attempts: Mutex<Attempts>,
}

impl Access {
    /// Admits clients that know the secret; without a secret, every client, which is allowed only over pipes.
    pub fn new(secret: Option<Secret>, pid_file: Option<PathBuf>, allowed: Vec<PathBuf>) -> Self {
        Self {
            secret,
            pid_file,
            allowed,
            attempts: Mutex::default(),
        }
    }
}

/// Serves the client at the other end of two pipes, which is authenticated already.
pub fn serve_pipes(place: &Access, input: OwnedFd, output: OwnedFd) -> Result<(), Error> {
    let peer = "the client";
    let serve = || {
        let mut guest = UnauthenticatedClient::new(input, output)?;
        guest.greet(&Access::default(), None)?;
        Session::new(place, guest, peer).run(&Interrupt::default(), &|_| {})
    };
    serve().map_err(|problem: Problem| problem.at(peer))
}

pub(crate) struct UnauthenticatedClient {
    input: Input,
    output: Output,
}

impl UnauthenticatedClient {
    pub(crate) fn new(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            input: Input::new(input)?,
            output: Output::new(output, HANDSHAKE_PATIENCE)?,
        })
    }

    /// Admits the client or refuses it with the reason. `from` is its address, for counting its wrong secrets.
    pub(crate) fn greet(&mut self, place: &Access, from: Option<IpAddr>) -> Result<(), Problem> {
        let deadline = system_now() + HANDSHAKE_PATIENCE;
        let hello = match self.receive(deadline)? {
            FromClient::Hello(hello) => hello,
            other => return self.refuse(Problem::turn(&other)),
        };
        if hello.protocol != PROTOCOL {
            self.output.send(&FromObserver::Hello(own_hello(None)))?;
            return Err(Problem::Version {
                theirs: hello.version,
                protocol: hello.protocol,
            });
        }
        match &place.secret {
            None => self.output.send(&FromObserver::Hello(own_hello(None)))?,
            Some(secret) => self.examine(place, secret, hello.nonce, from, deadline)?,
        }
        let boot_id = boot_id();
        self.output.send(&FromObserver::Welcome { boot_id })?;
        self.input.limit = LINE_BYTES_AT_MOST;
        Ok(())
    }

    /// Checks the client's proof of the secret, then proves it in turn.
    fn examine(
        &mut self,
        place: &Access,
        secret: &Secret,
        client: Option<String>,
        from: Option<IpAddr>,
        deadline: Instant,
    ) -> Result<(), Problem> {
        let attempts = || {
            place
                .attempts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(wait) = from.and_then(|from| attempts().wait(from, system_now())) {
            let why = format!(
                "too many wrong secrets; the next try is in {}",
                units::span(Duration::from_secs(wait.as_secs() + 1))
            );
            return self.refuse(Problem::Refused(why));
        }
        let Some(client) = client.filter(|nonce| is_nonce(nonce)) else {
            return self.refuse(Problem::Refused(
                "this observer requires a secret".to_owned(),
            ));
        };
        let nonces = Nonces {
            client,
            observer: nonce()?,
        };
        let hello = own_hello(Some(nonces.observer.clone()));
        self.output.send(&FromObserver::Hello(hello))?;
        let proof = match self.receive(deadline)? {
            FromClient::Proof { proof } => proof,
            other => return self.refuse(Problem::turn(&other)),
        };
        if !secret.is_proven(Role::Client, &nonces, &proof) {
            if let Some(from) = from {
                attempts().failed(from, system_now());
            }
            thread::sleep(WRONG_SECRET_COSTS);
            return self.refuse(Problem::WrongSecret);
        }
        let proof = secret.proof(Role::Observer, &nonces);
        self.output.send(&FromObserver::Proof { proof })?;
        Ok(())
    }

    fn receive(&mut self, deadline: Instant) -> Result<FromClient, Problem> {
        let line = self.input.line(deadline - system_now())?;
        Ok(read(&line)?)
    }

    /// Sends the reason of a refusal; errors are ignored because the client may have gone.
    pub(crate) fn refuse(&mut self, problem: Problem) -> Result<(), Problem> {
        let why = match &problem {
            Problem::Refused(why) => why.clone(),
            other => other.to_string(),
        };
        let code = matches!(problem, Problem::WrongSecret).then_some(RefusalCode::WrongSecret);
        let _ = self.output.send(&FromObserver::Refused { why, code });
        Err(problem)
    }
}

fn own_hello(nonce: Option<String>) -> Hello {
    Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        nonce,
    }
}

/// The session of an admitted client.
pub(crate) struct Session<'p> {
    place: &'p Access,
    peer: &'p str,
    received: Receiver<Received<FromClient>>,
    output: Output,
    listening_cpu: Duration,
    sampler: Option<Sampler>,
    sampling: Option<Sampling>,
}

struct Sampling {
    every: Duration,
    started: Instant,
    /// End time of the last sample.
    last: Instant,
    due: Instant,
    collected: Collected,
    cpu_before: Duration,
}

impl<'p> Session<'p> {
    pub(crate) fn new(place: &'p Access, guest: UnauthenticatedClient, peer: &'p str) -> Self {
        let UnauthenticatedClient { input, output } = guest;
        let (tell, received) = bounded(WAITING_AT_MOST);
        receive(input, tell, |received| received);
        Self {
            place,
            peer,
            received,
            output,
            listening_cpu: Duration::ZERO,
            sampler: None,
            sampling: None,
        }
    }

    /// Executes the client's messages until one side ends.
    pub(crate) fn run(mut self, stop: &Interrupt, tell: &dyn Fn(String)) -> Result<(), Problem> {
        loop {
            let now = system_now();
            let sampling = self.sampling.as_ref();
            let left = sampling.map_or(Duration::MAX, |sampling| sampling.due - now);
            match stop.receive(&self.received, left) {
                Ok(received) => {
                    self.listening_cpu = received.cpu;
                    match received.message {
                        Ok(message) => self.answer(message, received.at, tell)?,
                        Err(WireError::Closed) => return Ok(()),
                        Err(error) => {
                            let why = error.to_string();
                            let _ = self.output.send(&FromObserver::Bye { why });
                            return Err(error.into());
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = system_now();
            if self.sampling.as_ref().is_some_and(|it| now >= it.due) {
                self.sample()?;
            }
            if stop.is_raised() {
                let why = "the observer was stopped".to_owned();
                self.output.send(&FromObserver::Bye { why })?;
                return Ok(());
            }
        }
    }

    fn answer(
        &mut self,
        message: FromClient,
        at: Instant,
        tell: &dyn Fn(String),
    ) -> Result<(), Problem> {
        let answer = match message {
            FromClient::Ping { t1_ns } => {
                let wall = reactor::wall_now().duration_since(UNIX_EPOCH);
                FromObserver::Pong {
                    t1_ns,
                    t2_ns: at.as_ns(),
                    wall_ns: wall.unwrap_or_default().as_nanos() as u64,
                    t3_ns: system_now().as_ns(),
                }
            }
            FromClient::Watch(watch) => {
                let watching = self.watch(watch);
                let what = match &watching.server_process {
                    Some(found_by) => format!("the server, found by {found_by}"),
                    None => "the machine, the server's process was not found".to_owned(),
                };
                tell(format!("{}: watches {what}", self.peer));
                FromObserver::Watching(Box::new(watching))
            }
            FromClient::Start { every_ns } if self.sampler.is_some() => {
                let every = Duration::from_nanos(every_ns);
                if !EVERY.contains(&every) {
                    let why = format!("a sample every {every:?}: from 100 ms to 60 s");
                    let problem = Problem::Refused(why.clone());
                    self.output.send(&FromObserver::Bye { why })?;
                    return Err(problem);
                }
                self.start(every);
                return Ok(());
            }
            FromClient::Stop if self.sampling.is_some() => {
                if self
                    .sampling
                    .as_ref()
                    .is_some_and(|it| system_now() - it.last >= PART_AT_LEAST)
                {
                    self.sample()?;
                }
                let changed = self.sampler.as_ref().map(Sampler::changes);
                FromObserver::Stopped {
                    changed: changed.unwrap_or_default(),
                    collected: self
                        .sampling
                        .take()
                        .map(|it| it.collected)
                        .unwrap_or_default(),
                }
            }
            other => {
                let problem = Problem::turn(&other);
                let why = problem.to_string();
                self.output.send(&FromObserver::Bye { why })?;
                return Err(problem);
            }
        };
        Ok(self.output.send(&answer)?)
    }

    /// Finds the server and its storage.
    fn watch(&mut self, watch: ObservationRequest) -> Watching {
        let allowed = AllowedPaths::of_this_machine(&self.place.allowed);
        let mut refused = Vec::new();
        let mut admit = |what: &str, path: PathBuf| {
            let admitted = allowed.admit(&path);
            if admitted.is_none() {
                let path = path.display();
                refused.push(format!(
                    "{what} {path} not observed: dbdyno observe on that host only reads files of that host's \
                     servers; --allow DIRECTORY adds others"
                ));
            }
            admitted
        };
        let own_file = self.place.pid_file.clone();
        let pid_file = own_file.or_else(|| watch.pid_file.and_then(|file| admit("pid file", file)));
        let datadir = watch.datadir;
        let datadir = datadir.and_then(|path| admit("data directory", path));
        let directories = watch.directories.into_iter();
        let directories: Vec<_> = directories
            .filter_map(|(holds, path)| {
                Some(Directory {
                    path: admit(&holds, path)?,
                    holds,
                })
            })
            .collect();
        let marks = ServerMarks {
            pid_file,
            port: watch.port,
        };
        let process = ServerProcess::find(&marks);
        let mut sampler = Sampler::new(Targets {
            host: Host::Server,
            server_pid: process.as_ref().ok().map(|process| process.pid),
            datadir,
        });
        let mut watching = Watching {
            machine: sampler.machine(),
            storage: sampler.storage(directories).unwrap_or_default(),
            server_process: None,
        };
        watching.machine.not_observed.extend(refused);
        match process {
            Ok(process) => {
                watching.server_process = Some(format!("{} ({})", process.found_by, process.name));
            }
            Err(why) => {
                let why = format!("server process not found: {why}");
                watching.machine.not_observed.push(why);
            }
        }
        self.sampler = Some(sampler);
        watching
    }

    fn start(&mut self, every: Duration) {
        let now = system_now();
        if let Some(sampler) = &mut self.sampler {
            // The time between the first reading and the start is not part of the load.
            sampler.sample(&|| 0.0);
        }
        self.sampling = Some(Sampling {
            every,
            started: now,
            last: now,
            due: now + every,
            collected: Collected {
                collector: "observer".to_owned(),
                every_s: every.as_secs_f64(),
                ..Collected::default()
            },
            cpu_before: thread_cpu_time() + self.listening_cpu,
        });
    }

    /// Takes one sample and sends it.
    fn sample(&mut self) -> Result<(), Problem> {
        let Some((sampling, sampler)) = self.sampling.as_mut().zip(self.sampler.as_mut()) else {
            return Ok(());
        };
        let began = system_now();
        let started = sampling.started;
        let telemetry = sampler.sample(&|| (system_now() - started).as_secs_f64());
        let telemetry = Box::new(telemetry);
        let length = Duration::from_secs_f64(telemetry.t_s + telemetry.length_s);
        let begin_ns = sampling.last.as_ns();
        self.output.send(&FromObserver::Sample {
            begin_ns,
            telemetry,
        })?;
        sampling.last = started + length;
        let collected = &mut sampling.collected;
        collected.samples += 1;
        collected.length_s = length.as_secs_f64();
        let took_s = (system_now() - began).as_secs_f64();
        collected.longest_s = collected.longest_s.max(took_s);
        // Both threads do nothing else: their whole CPU time is the cost of collecting and sending.
        let cpu = (thread_cpu_time() + self.listening_cpu).saturating_sub(sampling.cpu_before);
        collected.cpu_s = cpu.as_secs_f64();
        sampling.due = sampling.due + sampling.every;
        while sampling.due <= system_now() {
            sampling.due = sampling.due + sampling.every;
            collected.missed += 1;
        }
        Ok(())
    }
}
