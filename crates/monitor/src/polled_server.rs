//! The thread that polls a server and its machine, and reconnects after a lost connection.

use std::{
    collections::BTreeMap,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender},
    time::Duration,
};

use protocol::{Endpoint, Error};
use reactor::{Instant, Reactor, system_now};
use runs::local_pid;
use samples::{Edge, Host, Line, ServerIdentity, ServerMoment};
use telemetry::{Sampler, ServerView, Targets};

/// Delay before each attempt to reconnect.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// A message from the thread.
pub(crate) enum Update {
    /// Identity of the server; at first, and after each reconnection.
    Met(Box<ServerIdentity>),
    /// A sample of the machine.
    Line(Box<Line>),
    /// A sample of the server.
    Looked(Box<ServerMoment>),
    /// The server does not answer.
    Lost { at_s: f64, why: String },
}

/// An order to the thread.
pub(crate) enum Order {
    /// Change the polling interval.
    Every(Duration),
}

/// Polls one server.
pub(crate) struct PolledServer {
    pub(crate) endpoint: Endpoint,
    pub(crate) every: Duration,
    /// Whether an observer on the server's host samples its machine.
    pub(crate) is_observed: bool,
    pub(crate) began: Instant,
    pub(crate) orders: Receiver<Order>,
    pub(crate) updates: Sender<Update>,
}

/// The receiver is gone.
struct Disconnected;

impl PolledServer {
    /// Polls until the receiver is gone; `view` is the existing connection.
    pub(crate) fn ask(mut self, reactor: &Reactor, view: ServerView) {
        let mut view = view;
        while let Ok(lost) = self.watch(reactor, &mut view) {
            match self.reach_again(reactor, &lost) {
                Ok(reached) => view = reached,
                Err(Disconnected) => return,
            }
        }
        // The connection may have been lost at the same moment.
        let _ = reactor.run(view.close());
    }

    /// Polls while the server answers; returns the error that ended this.
    fn watch(&mut self, reactor: &Reactor, view: &mut ServerView) -> Result<Error, Disconnected> {
        let mut sampler = Sampler::new(self.targets(view.variables()));
        if self.is_observed {
            sampler.server_host_is_observed();
        }
        let machine = sampler.machine();
        self.tell(Update::Met(Box::new(self.identity(view))))?;
        self.tell(Update::Line(Box::new(Line::Machine(machine))))?;
        sampler.sample(&|| self.elapsed_s());
        let mut due = system_now() + self.every;
        loop {
            due = self.wait_until(due)?;
            let looked = match reactor.run(view.look()) {
                Ok(looked) => looked,
                Err(lost) => return Ok(lost),
            };
            let telemetry = sampler.sample(&|| self.elapsed_s());
            self.tell(Update::Line(Box::new(Line::Telemetry(Box::new(telemetry)))))?;
            self.tell(Update::Looked(Box::new(looked)))?;
            // If polling is too slow, intervals are skipped and not made up for.
            due = (due + self.every).max(system_now());
        }
    }

    fn reach_again(&mut self, reactor: &Reactor, lost: &Error) -> Result<ServerView, Disconnected> {
        let mut why = lost.to_string();
        loop {
            let at_s = self.elapsed_s();
            self.tell(Update::Lost { at_s, why })?;
            self.wait_until(system_now() + TRY_AGAIN_AFTER)?;
            match reactor.run(ServerView::open(&self.endpoint, self.began)) {
                Ok(view) => return Ok(view),
                Err(error) => why = error.to_string(),
            }
        }
    }

    /// Waits and executes orders meanwhile; returns the time for which it was to wait.
    fn wait_until(&mut self, due: Instant) -> Result<Instant, Disconnected> {
        let mut due = due;
        loop {
            let now = system_now();
            let left = if due > now { due - now } else { Duration::ZERO };
            match self.orders.recv_timeout(left) {
                Ok(Order::Every(every)) => {
                    self.every = every;
                    due = due.min(now + every);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(due),
                Err(RecvTimeoutError::Disconnected) => return Err(Disconnected),
            }
        }
    }

    /// Sampling targets on this machine: after a restart the server is another process.
    fn targets(&self, variables: &BTreeMap<String, String>) -> Targets {
        let server_pid = local_pid(&self.endpoint.address, variables);
        let datadir = variables.get("datadir").map(Into::into);
        Targets {
            host: match server_pid {
                Some(_) => Host::Both,
                None => Host::Client,
            },
            server_pid,
            // The same path on another machine is a different directory.
            datadir: datadir.filter(|_| server_pid.is_some()),
        }
    }

    fn identity(&self, view: &ServerView) -> ServerIdentity {
        let variables = view.variables();
        let comment = variables.get("version_comment");
        ServerIdentity {
            at: Edge::Start,
            version: view.version().to_owned(),
            version_comment: comment.cloned().unwrap_or_default(),
            address: self.endpoint.address.to_string(),
            private: false,
            variables: variables.clone(),
            settings_changed: Vec::new(),
        }
    }

    fn elapsed_s(&self) -> f64 {
        (system_now() - self.began).as_secs_f64()
    }

    fn tell(&self, update: Update) -> Result<(), Disconnected> {
        self.updates.send(update).map_err(|_| Disconnected)
    }
}
