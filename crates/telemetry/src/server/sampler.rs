//! The thread that queries the server while a load runs.

use std::{
    collections::VecDeque,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::Duration,
};

use protocol::{Connection, Endpoint, Error};
use reactor::{Clock, Instant, Interrupt, Reactor, system_now};
use samples::{Collected, Line, ServerObservation};
use units::moment;

use super::{
    query_timeouts::in_time_or_interrupted,
    questioner::Questioner,
    reading::{Probes, Reading},
    start_end_queries::Start,
};

/// The observed server, and the sampling interval.
#[derive(Debug, Clone)]
pub struct WatchedServer {
    /// The server's address, and the account for the queries.
    pub endpoint: Endpoint,
    /// True if its files can be read on this machine.
    pub is_local: bool,
    /// Connections that the load is going to open: if the server allows no more, it is not observed.
    pub connections: u32,
    /// Sampling interval of its counters.
    pub every: Duration,
    /// True if the load restarts it: then a lost connection is opened again, once per interval.
    pub comes_back: bool,
    /// Raised when the run is to end: a silent server then has a shorter time limit.
    pub interrupt: Interrupt,
}

/// Queries the server from its own thread, so that a slow answer does not delay the load.
#[derive(Debug)]
pub struct ServerSampler {
    orders: Sender<Order>,
    lines: Receiver<Line>,
    thread: Option<JoinHandle<()>>,
}

enum Order {
    Started(Instant),
    ReadAt(Vec<Instant>),
    Finish,
}

impl ServerSampler {
    /// Connects and takes the reading before the load; returns when that is done or has failed.
    pub fn start(server: WatchedServer) -> Self {
        let (orders, receiver) = channel();
        let (sender, lines) = channel();
        let (ready, is_ready) = channel();
        let failed = sender.clone();
        let thread = std::thread::Builder::new()
            .name("server".to_owned())
            .spawn(move || {
                let told = Channels {
                    orders: receiver,
                    lines: sender,
                };
                told.observe(&server, || {
                    // If the receiver has gone, the message is not needed.
                    let _ = ready.send(());
                });
            });
        let thread = match thread {
            Ok(thread) => {
                // An error means that the thread has ended already and reported why.
                let _ = is_ready.recv();
                Some(thread)
            }
            Err(error) => {
                let _ = failed.send(nothing_observed(&error));
                None
            }
        };
        Self {
            orders,
            lines,
            thread,
        }
    }

    /// Records the start of the load, from which the times of all lines count.
    pub fn started(&self, at: Instant) {
        // A thread that has ended has reported why.
        let _ = self.orders.send(Order::Started(at));
    }

    /// Reads the counters at these moments, which are later than all before; from now on no longer at the interval.
    pub fn read_at(&self, moments: Vec<Instant>) {
        // A thread that has ended has reported why.
        let _ = self.orders.send(Order::ReadAt(moments));
    }

    /// The lines since the last call.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.lines.try_iter()
    }

    /// Takes the reading after the load; returns the remaining lines.
    pub fn finish(mut self) -> Vec<Line> {
        let _ = self.orders.send(Order::Finish);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            // A panic was reported on stderr; the samples so far are kept.
            return self.lines.try_iter().collect();
        }
        self.lines.try_iter().collect()
    }
}

/// The thread's ends of the channels.
struct Channels {
    orders: Receiver<Order>,
    lines: Sender<Line>,
}

/// The state between two readings.
struct Observed {
    questioner: Questioner,
    probes: Probes,
    start: Start,
    last: Reading,
    began: Instant,
    /// The moments of the readings to come; `None` for readings at the interval.
    moments: Option<VecDeque<Instant>>,
    collected: Collected,
}

impl Channels {
    fn observe(&self, server: &WatchedServer, ready: impl Fn()) {
        let reactor = match Reactor::new(Clock::System) {
            Ok(reactor) => reactor,
            Err(error) => return self.say(nothing_observed(&error)),
        };
        let observed = reactor.run(in_time_or_interrupted(&server.interrupt, begin(server)));
        let (mut observed, lines) = match observed {
            Ok(Ok(begun)) => begun,
            Ok(Err(why)) => return self.say(nothing_observed(&why)),
            Err(error) => return self.say(nothing_observed(&error)),
        };
        lines.into_iter().for_each(|line| self.say(line));
        ready();
        let mut lost: Option<String> = None;
        loop {
            let order = match lost {
                Some(_) if server.comes_back => self.orders.recv_timeout(server.every),
                // Nothing remains but to wait for the end.
                Some(_) => self.orders.recv().map_err(RecvTimeoutError::from),
                None => match observed.until_next(server.every) {
                    Some(wait) => self.orders.recv_timeout(wait),
                    None => self.orders.recv().map_err(RecvTimeoutError::from),
                },
            };
            if let (Err(RecvTimeoutError::Timeout), Some(since)) = (&order, &lost) {
                let again = observed.connect_again(server);
                let again = reactor.run(in_time_or_interrupted(&server.interrupt, again));
                if again.is_ok() {
                    observed.is_back(since);
                    lost = None;
                }
                continue;
            }
            let result = match (order, &lost) {
                (Ok(Order::Started(at)), None) => reactor.run(in_time_or_interrupted(
                    &server.interrupt,
                    observed.started(at),
                )),
                (Ok(Order::Started(_)), Some(_)) => Ok(()),
                (Ok(Order::ReadAt(moments)), _) => {
                    observed.moments.get_or_insert_default().extend(moments);
                    Ok(())
                }
                (Err(RecvTimeoutError::Timeout), _) => {
                    let line =
                        reactor.run(in_time_or_interrupted(&server.interrupt, observed.read()));
                    line.map(|line| self.say(line))
                }
                (Ok(Order::Finish) | Err(RecvTimeoutError::Disconnected), _) => break,
            };
            if let Err(error) = result {
                let at_s = observed.elapsed_s();
                lost = Some(format!("from {} on: {error}", moment(at_s)));
            }
        }
        if lost.is_none() {
            match reactor.run(in_time_or_interrupted(&server.interrupt, observed.end())) {
                Ok(lines) => lines.into_iter().for_each(|line| self.say(line)),
                Err(error) => lost = Some(format!("at the end: {error}")),
            }
        }
        let closing = observed.closing(lost.as_deref());
        closing.into_iter().for_each(|line| self.say(line));
        if lost.is_some() {
            return;
        }
        // This ends the queries either way.
        let _ = reactor.run(in_time_or_interrupted(
            &server.interrupt,
            observed.questioner.close(),
        ));
    }

    fn say(&self, line: Line) {
        // The receiver is gone if the run was abandoned.
        let _ = self.lines.send(line);
    }
}

/// Connects and takes the first reading; the inner error says why the server cannot be observed.
async fn begin(server: &WatchedServer) -> Result<Result<(Observed, Vec<Line>), String>, Error> {
    let endpoint = Endpoint {
        // The database may not exist yet.
        database: None,
        ..server.endpoint.clone()
    };
    let mut questioner = Questioner::new(Connection::open(&endpoint).await?);
    let variables = questioner.ask("variables", "SHOW GLOBAL VARIABLES").await?;
    let variables = variables.map(|answer| answer.pairs()).unwrap_or_default();
    let allowed = variables
        .get("max_connections")
        .and_then(|max| max.parse::<u32>().ok());
    if let Some(allowed) = allowed
        && allowed <= server.connections
    {
        questioner.close().await?;
        return Ok(Err(format!(
            "max_connections = {allowed} leaves no connection for it"
        )));
    }
    let mut probes = Probes::all();
    let (start, lines) = Start::read(&mut questioner, &variables, server.is_local).await?;
    let last = probes.read(&mut questioner).await?.into_first();
    let observed = Observed {
        began: last.at,
        questioner,
        probes,
        start,
        last,
        moments: None,
        collected: Collected {
            collector: "server".to_owned(),
            every_s: server.every.as_secs_f64(),
            ..Collected::default()
        },
    };
    Ok(Ok((observed, lines)))
}

impl Observed {
    /// Connects to a server that was restarted, and begins its counting there.
    async fn connect_again(&mut self, server: &WatchedServer) -> Result<(), Error> {
        let endpoint = Endpoint {
            database: None,
            ..server.endpoint.clone()
        };
        self.questioner.ask_over(Connection::open(&endpoint).await?);
        self.probes.start_anew();
        self.last = self.probes.read(&mut self.questioner).await?.into_first();
        Ok(())
    }

    /// Records the gap of a server that is back; `lost` says since when there was no connection, and why.
    fn is_back(&mut self, lost: &str) {
        let now = moment(self.elapsed_s());
        let gap = format!("{lost}; observed again from {now} on");
        self.questioner.miss("server status", &gap);
        self.start.forget_totals(&mut self.questioner);
    }

    /// Restarts the counting: the time before the load is not part of the run.
    async fn started(&mut self, at: Instant) -> Result<(), Error> {
        self.began = at;
        self.probes.start_anew();
        self.last = self.probes.read(&mut self.questioner).await?.into_first();
        Ok(())
    }

    async fn read(&mut self) -> Result<Line, Error> {
        let reading = self.probes.read(&mut self.questioner).await?;
        let status = reading.since(&self.last, self.began);
        self.last = reading;
        let passed = self.pass_moments();
        let collected = &mut self.collected;
        collected.samples += 1;
        collected.length_s = status.t_s + status.length_s;
        collected.longest_s = collected.longest_s.max(status.asked_s);
        collected.missed += passed.saturating_sub(1);
        Ok(Line::ServerStatus(status))
    }

    /// Removes the moments up to the last reading; returns their number.
    fn pass_moments(&mut self) -> u64 {
        let Some(moments) = &mut self.moments else {
            return 0;
        };
        let passed = moments.partition_point(|moment| *moment <= self.last.at);
        moments.drain(..passed);
        passed as u64
    }

    async fn end(&mut self) -> Result<Vec<Line>, Error> {
        let mut lines = vec![self.read().await?];
        lines.extend(self.start.end(&mut self.questioner).await?);
        Ok(lines)
    }

    /// Time until the next reading; `None` while none is planned. One that is overdue by a whole interval is skipped.
    fn until_next(&mut self, every: Duration) -> Option<Duration> {
        if let Some(moments) = &self.moments {
            return moments.front().map(|next| *next - system_now());
        }
        let since = system_now() - self.last.at;
        let overdue = since.as_nanos() / every.as_nanos().max(1);
        self.collected.missed += overdue.saturating_sub(1) as u64;
        Some(every.saturating_sub(since))
    }

    fn elapsed_s(&self) -> f64 {
        (system_now() - self.began).as_secs_f64()
    }

    /// The last lines; `lost` says since when there has been no connection, and why.
    fn closing(&mut self, lost: Option<&str>) -> [Line; 2] {
        if let Some(lost) = lost {
            self.questioner.miss("server status", lost);
        }
        self.collected.cpu_s = reactor::thread_cpu_time().as_secs_f64();
        let how = ServerObservation {
            statements: self.questioner.statements,
            statement_max_s: self.probes.longest.as_secs_f64(),
            not_observed: std::mem::take(&mut self.questioner.not_observed),
        };
        [
            Line::Collected(self.collected.clone()),
            Line::ServerObservation(how),
        ]
    }
}

fn nothing_observed(why: &impl std::fmt::Display) -> Line {
    Line::ServerObservation(ServerObservation {
        not_observed: vec![format!("server status not observed: {why}")],
        ..ServerObservation::default()
    })
}
