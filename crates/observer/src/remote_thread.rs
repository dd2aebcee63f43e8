//! The thread that keeps a connection to an observer: it asks for the time every second and takes the samples.

use std::{
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    time::Duration,
};

use reactor::{Instant, system_now, thread_cpu_time};
use samples::{Changed, ClockDrift, Collected, Host, Telemetry};
use telemetry::OwnProcess;

use crate::{
    clocks::{Clocks, Exchange, Offset},
    error::Problem,
    message::{FromClient, FromObserver, Watch, Watching},
    receiver::Received,
    transport::Link,
    wire::Output,
};

/// How often the other side is asked for the time, which shows as well that both are there.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Samples beyond one for each interval: the last part of an interval, and clocks that drift apart.
const SPARE_SAMPLES: u64 = 10;

/// Questions for the time one after the other, at the start and at the end.
pub(crate) const BURST: u32 = 16;

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

/// What the thread is told and hears.
pub(crate) enum Event {
    Received(Received<FromObserver>),
    Command(Command),
}

/// What the load says.
pub(crate) enum Command {
    /// What to watch, and where the answer goes; an error is why there will be none.
    Watch(Watch, Sender<Result<Watching, String>>),
    /// Samples from now on.
    Start {
        started: Instant,
        every: Duration,
        host: Host,
        take: Take,
    },
    /// No more samples; then the end.
    Leave(Sender<Observed>),
}

/// Takes the samples until it returns false.
pub(crate) type Take = Box<dyn FnMut(Telemetry) -> bool + Send>;

/// The thread's state.
pub(crate) struct RemoteThread {
    /// None when the connection is lost: ssh ends when nobody can say anything to it any more.
    output: Option<Output>,
    link: Link,
    clocks: Clocks,
    first: Offset,
    listening_cpu: Duration,
    lost: Arc<OnceLock<(Instant, String)>>,
    watching: Option<Sender<Result<Watching, String>>>,
    samples: Option<Samples>,
    /// Questions for the time that have no answer yet.
    unanswered: u32,
    /// What the observer said when it was told to stop.
    stopped: Option<(Vec<Changed>, Collected)>,
    /// What compares the clocks for the last time.
    leaving: Option<Disconnect>,
}

/// Where samples go.
struct Samples {
    started: Instant,
    every: Duration,
    /// How many came.
    count: u64,
    host: Host,
    take: Take,
    /// Where both halves of the run share the machine, our own process completes the sample.
    own: Option<OwnProcess>,
}

impl Samples {
    /// The most samples that one who does what it was told can have sent.
    fn due_at_most(&self, now: Instant) -> u64 {
        let passed = (now - self.started).as_nanos() / self.every.as_nanos().max(1);
        u64::try_from(passed)
            .unwrap_or(u64::MAX)
            .saturating_add(SPARE_SAMPLES)
    }
}

/// The end of a connection.
struct Disconnect {
    answer: Sender<Observed>,
    deadline: Instant,
    questions_left: u32,
}

impl RemoteThread {
    /// `lost` is told when nobody answers any more, and why.
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

    /// Keeps the connection until it is told to leave.
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
                Ok(Event::Command(command)) => self.obey(command),
                Err(RecvTimeoutError::Timeout) if self.leaving.is_some() => {
                    self.lose("it did not say its last words in time");
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.ask();
                    ask_at = system_now() + ASK_EVERY;
                }
                // Nobody is left who could say anything.
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

    fn obey(&mut self, command: Command) {
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
                    deadline: system_now() + LAST_WORDS,
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
                return self.lose("it tells the time without having been asked");
            };
            self.unanswered = unanswered;
            self.clocks.add(exchange);
            // An answer to a question of before the end is as good as one after it.
            if let Some(leaving) = &mut self.leaving
                && (self.stopped.is_some() || self.samples.is_none())
            {
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
                    // Who asked may have had enough.
                    let _ = answer.send(Ok(*watching));
                }
            }
            FromObserver::Stopped { changed, collected } => {
                self.stopped = Some((changed, collected));
                self.compare_for_the_last_time();
            }
            FromObserver::Bye { why } | FromObserver::Refused { why } => self.lose(&why),
            other => self.lose(&Problem::turn(&other).to_string()),
        }
    }

    fn compare_for_the_last_time(&mut self) {
        self.clocks.forget();
        self.ask();
    }

    /// Puts a sample onto the load's clock.
    fn take(&mut self, begin_ns: u64, mut telemetry: Telemetry) {
        let Some(samples) = &mut self.samples else {
            return;
        };
        samples.count += 1;
        if samples.count > samples.due_at_most(system_now()) {
            return self.lose("it sends more samples than it was asked for");
        }
        let offset = self.clocks.offset().unwrap_or(self.first);
        let begin_ns = offset.ours_ns(begin_ns);
        let since_start_ns = i128::from(begin_ns) - i128::from(samples.started.as_ns());
        // It began when it was told to; what lies before is the uncertainty of the clocks.
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

    /// The first reason counts: the others follow from it.
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

    /// Nobody answers any more.
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
        // Who asked may be gone.
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
