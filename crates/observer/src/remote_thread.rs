//! The thread that serves the connection to an observer: it sends a ping every second and receives the samples.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use reactor::{
    Instant,
    channel::{Receiver, RecvTimeoutError, Sender},
    system_now, thread_cpu_time,
};
use samples::{Changed, ClockDrift, Collected, Host, Telemetry};
use telemetry::OwnProcess;

use crate::{
    clocks::{Clocks, Exchange, Offset},
    error::Problem,
    message::{FromClient, FromObserver, ObservationRequest, Watching},
    receiver::{PATIENCE, Received},
    transport::Link,
    wire::Output,
};

/// Interval of the pings, which also show that both sides are alive.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Samples allowed beyond one per interval: the last partial interval, and clock drift.
const SPARE_SAMPLES: u64 = 10;

/// Number of consecutive pings at the start and at the end.
pub(crate) const BURST: u32 = 16;

/// The summary at the end.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The differences from the values at the start.
    pub changed: Vec<Changed>,
    /// The cost of sampling on the other host; `None` if the observer was lost.
    pub collected: Option<Collected>,
    /// The clock offset at the end, or when the observer was lost.
    pub offset: Option<Offset>,
    /// The clock drift since the start.
    pub drift: Option<ClockDrift>,
    /// CPU time used for receiving on this host.
    pub receiving_cpu: Duration,
    /// The time at which the connection was lost, and the reason.
    pub lost: Option<(Instant, String)>,
}

/// An event for the thread: a command or a received message.
pub(crate) enum Event {
    Received(Received<FromObserver>),
    Command(Command),
}

/// A command from the load.
pub(crate) enum Command {
    /// Selects the targets; the sender receives the answer, or the reason why there is none.
    Watch(ObservationRequest, Sender<Result<Watching, String>>),
    Start {
        started: Instant,
        every: Duration,
        host: Host,
        take: Take,
    },
    /// Ends the samples, then the connection.
    Leave(Sender<Observed>),
}

/// Receives the samples until it returns false.
pub(crate) type Take = Box<dyn FnMut(Telemetry) -> bool + Send>;

pub(crate) struct RemoteThread {
    /// `None` after the connection is lost: ssh ends when its input is closed.
    output: Option<Output>,
    link: Link,
    clocks: Clocks,
    first: Offset,
    listening_cpu: Duration,
    lost: Arc<OnceLock<(Instant, String)>>,
    watching: Option<Sender<Result<Watching, String>>>,
    samples: Option<Samples>,
    /// Number of pings without an answer.
    unanswered: u32,
    /// The observer's summary after `stop`.
    stopped: Option<(Vec<Changed>, Collected)>,
    /// The state of the last clock comparison.
    leaving: Option<Disconnect>,
}

/// The destination of the samples.
struct Samples {
    started: Instant,
    every: Duration,
    count: u64,
    host: Host,
    take: Take,
    /// If both sides of the run share the machine, our own process is added to the sample.
    own: Option<OwnProcess>,
}

impl Samples {
    /// Maximum number of samples that a correct observer can have sent.
    fn due_at_most(&self, now: Instant) -> u64 {
        let passed = (now - self.started).as_nanos() / self.every.as_nanos().max(1);
        u64::try_from(passed)
            .unwrap_or(u64::MAX)
            .saturating_add(SPARE_SAMPLES)
    }
}

struct Disconnect {
    answer: Sender<Observed>,
    /// Moves with each step of the observer: on a saturated machine the 16 pings take longer than any one of them.
    deadline: Instant,
    questions_left: u32,
}

impl RemoteThread {
    /// `lost` is set when the connection is lost, with the reason.
    pub(crate) fn new(
        output: Output,
        link: Link,
        clocks: Clocks,
        first: Offset,
        lost: Arc<OnceLock<(Instant, String)>>,
    ) -> Self {
        Self {
            output: Some(output),
            link,
            clocks,
            first,
            listening_cpu: Duration::ZERO,
            lost,
            watching: None,
            samples: None,
            unanswered: 0,
            stopped: None,
            leaving: None,
        }
    }

    /// Serves the connection until the command to leave.
    pub(crate) fn run(mut self, events: &Receiver<Event>) {
        let mut ask_at = system_now();
        loop {
            let wait = match &self.leaving {
                Some(leaving) => leaving.deadline - system_now(),
                None => ask_at - system_now(),
            };
            match events.recv_timeout(wait) {
                Ok(Event::Received(received)) => {
                    self.listening_cpu = received.cpu;
                    match received.message {
                        Ok(message) => self.receive(message, received.at),
                        Err(error) => self.lose(&error.to_string()),
                    }
                }
                Ok(Event::Command(command)) => self.execute(command),
                Err(RecvTimeoutError::Timeout) if self.leaving.is_some() => {
                    self.lose("it did not send its final message in time");
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.ask();
                    ask_at = system_now() + ASK_EVERY;
                }
                // No sender of commands is left.
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.is_done() {
                return self.end();
            }
        }
    }

    fn is_done(&self) -> bool {
        let is_lost = self.lost.get().is_some();
        let is_compared = |leaving: &Disconnect| leaving.questions_left == 0;
        self.leaving
            .as_ref()
            .is_some_and(|leaving| is_lost || is_compared(leaving))
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Watch(watch, answer) => {
                self.watching = Some(answer);
                self.say(&FromClient::Watch(watch));
                self.give_up_watching();
            }
            Command::Start {
                started,
                every,
                host,
                take,
            } => {
                self.samples = Some(Samples {
                    started,
                    every,
                    count: 0,
                    host,
                    take,
                    own: (host == Host::Both).then(OwnProcess::default),
                });
                let every_ns = every.as_nanos() as u64;
                self.say(&FromClient::Start { every_ns });
            }
            Command::Leave(answer) => {
                self.leaving = Some(Disconnect {
                    answer,
                    deadline: system_now() + PATIENCE,
                    questions_left: BURST,
                });
                match self.samples {
                    Some(_) => self.say(&FromClient::Stop),
                    None => self.compare_for_the_last_time(),
                }
            }
        }
    }

    fn receive(&mut self, message: FromObserver, at: Instant) {
        if let Some(exchange) = Exchange::ended_by(&message, at) {
            let Some(unanswered) = self.unanswered.checked_sub(1) else {
                return self.lose("it sent the time without a request");
            };
            self.unanswered = unanswered;
            self.clocks.add(exchange);
            // An answer to a ping from before the end counts like one after it.
            if let Some(leaving) = &mut self.leaving
                && (self.stopped.is_some() || self.samples.is_none())
            {
                leaving.deadline = system_now() + PATIENCE;
                leaving.questions_left -= 1;
                if leaving.questions_left > 0 {
                    self.ask();
                }
            }
            return;
        }
        match message {
            FromObserver::Sample {
                begin_ns,
                telemetry,
            } => self.take(begin_ns, *telemetry),
            FromObserver::Watching(watching) => {
                if let Some(answer) = self.watching.take() {
                    // The requester may have given up.
                    let _ = answer.send(Ok(*watching));
                }
            }
            FromObserver::Stopped { changed, collected } => {
                if let Some(leaving) = &mut self.leaving
                    && self.stopped.is_none()
                {
                    leaving.deadline = system_now() + PATIENCE;
                }
                self.stopped = Some((changed, collected));
                self.compare_for_the_last_time();
            }
            FromObserver::Bye { why } | FromObserver::Refused { why, .. } => self.lose(&why),
            other => self.lose(&Problem::turn(&other).to_string()),
        }
    }

    fn compare_for_the_last_time(&mut self) {
        self.clocks.forget();
        self.ask();
    }

    /// Converts a sample to the load's clock.
    fn take(&mut self, begin_ns: u64, mut telemetry: Telemetry) {
        let Some(samples) = &mut self.samples else {
            return;
        };
        samples.count += 1;
        if samples.count > samples.due_at_most(system_now()) {
            return self.lose("it sends more samples than were requested");
        }
        let offset = self.clocks.offset().unwrap_or(self.first);
        let begin_ns = offset.ours_ns(begin_ns);
        let since_start_ns = i128::from(begin_ns) - i128::from(samples.started.as_ns());
        // The first sample starts with the load; a negative time is the uncertainty of the clocks.
        telemetry.t_s = since_start_ns.max(0) as f64 / 1e9;
        telemetry.host = samples.host;
        if let Some(own) = &mut samples.own {
            telemetry.client = own.used();
        }
        if !(samples.take)(telemetry) {
            self.samples = None;
        }
    }

    fn ask(&mut self) {
        let t1_ns = system_now().as_ns();
        self.unanswered = self.unanswered.saturating_add(1);
        self.say(&FromClient::Ping { t1_ns });
    }

    fn say(&mut self, message: &FromClient) {
        let sent = self.output.as_mut().map(|output| output.send(message));
        if let Some(Err(error)) = sent {
            self.lose(&error.to_string());
        }
    }

    /// Only the first reason is kept: the others follow from it.
    fn lose(&mut self, why: &str) {
        if self.lost.get().is_none() {
            let at = system_now();
            self.output = None;
            let told = self.link.why_ended().map(|problem| problem.to_string());
            let why = match told {
                Some(told) if why != told => format!("{why}; {told}"),
                _ => why.to_owned(),
            };
            // Only this thread writes it.
            let _ = self.lost.set((at, why));
            self.link.cut();
        }
        self.give_up_watching();
    }

    /// Reports to the requester that no answer will come.
    fn give_up_watching(&mut self) {
        if let Some((_, why)) = self.lost.get()
            && let Some(answer) = self.watching.take()
        {
            let _ = answer.send(Err(why.clone()));
        }
    }

    fn end(mut self) {
        self.output = None;
        self.link.cut();
        let Some(leaving) = self.leaving else {
            return;
        };
        let (changed, collected) = self.stopped.unzip();
        let offset = self.clocks.offset();
        let host = self.samples.map_or(Host::Server, |samples| samples.host);
        let changed = changed.unwrap_or_default();
        // The requester may have gone.
        let _ = leaving.answer.send(Observed {
            changed: changed
                .into_iter()
                .map(|one| Changed { host, ..one })
                .collect(),
            collected,
            offset,
            drift: offset.and_then(|offset| self.first.drift_to(&offset)),
            receiving_cpu: thread_cpu_time() + self.listening_cpu,
            lost: self.lost.get().cloned(),
        });
    }
}
