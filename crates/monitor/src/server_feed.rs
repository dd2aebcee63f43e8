//! A server that is polled for the live display.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use blame::{Blame, Blamed};
use observer::RemoteHost;
use reactor::{Clock, Instant, Interrupt, Reactor, system_now};
use runs::{Stage, server_host, wait_for_thread};
use samples::{Line, ObserverLoss};
use telemetry::ServerView;
use top::{Model, Source};

use crate::{
    feed::{Feed, PollOutcome},
    polled_server::{Order, PolledServer, Update},
};

/// A server is silent after this number of intervals without an answer, and after this time.
const SILENT_AFTER_INTERVALS: u32 = 3;
const SILENT_AFTER: Duration = Duration::from_secs(3);

/// A polled server, and its machine.
pub struct ServerFeed {
    updates: Receiver<Update>,
    orders: Sender<Order>,
    every: Duration,
    heard: Instant,
    began: Instant,
    /// The observer on the server's host, until it is lost; disconnected when this is dropped.
    remote: Option<RemoteHost>,
}

impl ServerFeed {
    /// Starts to poll; an error if the server or the observer cannot be reached.
    pub fn start(stage: Stage, every: Duration) -> Result<Self, Blamed> {
        let began = system_now();
        let (told, updates) = channel();
        let (orders, receiver) = channel();
        let remote = match &stage.observation {
            Some(observation) => {
                let variables = server_host::variables_of(stage.server())?;
                let remote = observation.reach()?;
                let watching = remote
                    .watch(server_host::watch(&variables), Interrupt::of_user())
                    .map_err(|error| Blamed::new(Blame::Input, format!("observer {error}")))?;
                // A lost receiver is detected by the samples that follow.
                let _ = told.send(Update::Line(Box::new(Line::Machine(watching.machine))));
                let told = told.clone();
                remote.start(began, every, move |telemetry| {
                    let line = Line::Telemetry(Box::new(telemetry));
                    told.send(Update::Line(Box::new(line))).is_ok()
                });
                Some(remote)
            }
            None => None,
        };
        let (ready, is_ready) = channel();
        let server = PolledServer {
            endpoint: stage.server().clone(),
            every,
            is_observed: remote.is_some(),
            began,
            orders: receiver,
            updates: told,
        };
        let address = server.endpoint.address.clone();
        let thread = std::thread::Builder::new().name("server".to_owned());
        let spawned = thread.spawn(move || {
            let reactor = match Reactor::new(Clock::System) {
                Ok(reactor) => reactor,
                Err(error) => return drop(ready.send(Err(Blamed::new(Blame::Machine, error)))),
            };
            match reactor.run(ServerView::open(&server.endpoint, began)) {
                Ok(view) => {
                    if ready.send(Ok(())).is_ok() {
                        server.ask(&reactor, view);
                    }
                }
                Err(error) => drop(ready.send(Err(error.blamed(&address)))),
            }
        });
        spawned.map_err(Blamed::machine)?;
        // A thread that ended without a word has panicked, which ends the process.
        wait_for_thread(move || is_ready.recv().unwrap_or(Ok(())))??;
        Ok(Self {
            updates,
            orders,
            every,
            heard: system_now(),
            began,
            remote,
        })
    }
}

impl Feed for ServerFeed {
    fn poll(&mut self, model: &mut Model) -> Result<PollOutcome, Blamed> {
        let mut outcome = PollOutcome::default();
        for update in self.updates.try_iter() {
            outcome.is_any = true;
            match update {
                Update::Met(server) => model.meet(&server),
                Update::Line(line) => model.take(*line),
                Update::Looked(moment) => model.look(*moment),
                Update::Lost { at_s, why } => model.lose(at_s, why),
            }
            self.heard = system_now();
        }
        let lost = self.remote.as_ref().and_then(RemoteHost::lost);
        if let Some((at, why)) = lost {
            model.lose_observer(ObserverLoss {
                t_s: (at - self.began).as_secs_f64(),
                why: why.to_owned(),
            });
            self.remote = None;
            outcome.is_any = true;
        }
        Ok(outcome)
    }

    fn source(&self) -> Source {
        Source::Live
    }

    fn is_over(&self) -> bool {
        false
    }

    fn silent_for(&self) -> Option<Duration> {
        let silence = system_now() - self.heard;
        let limit = (self.every * SILENT_AFTER_INTERVALS).max(SILENT_AFTER);
        (silence > limit).then_some(silence)
    }

    fn set_every(&mut self, every: Duration) {
        self.every = every;
        // A thread that has ended has reported the reason.
        let _ = self.orders.send(Order::Every(every));
    }
}
