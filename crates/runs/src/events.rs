//! The planned events of a run: a thread of its own carries them out while the load is measured, and records them.

mod command;
mod cut_off;
mod event_result;
pub mod guard;
mod private_server;
mod sql;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use experiment::{EventAction, EventSpec, PlannedRun, ServerAction};
use load::ToleratedFailures;
use protocol::Endpoint;
use reactor::{Instant, Interrupt};
use samples::{EventOutcome, Line, PlannedAction, PlannedEvent, RunWriter, WriteError};

use crate::{
    events::{command::Command, cut_off::CutOff, event_result::EventResult},
    listener::Context,
    stage::shared_server::SharedServer,
};

/// Errors of statements that a shutdown of the server interrupts.
const OF_A_SHUTDOWN: &[u16] = &[1317];
/// Errors after which a connection is lost: those of the client, shutdown, killed.
const OF_A_LOST_CONNECTION: &[u16] = &[0, 1053, 1927];
/// Errors of transactions that wait for the lock of a table that is changed (lock wait, deadlock), of those whose table was
/// changed since they began, and of prepared statements on it.
const OF_A_CHANGED_TABLE: &[u16] = &[1205, 1213, 1412, 1615];
/// The same together.
const OF_BOTH: &[u16] = &[1205, 1213, 1317, 1412, 1615];

/// The events of a run, before and while they are carried out.
pub(crate) struct Events {
    specs: Vec<EventSpec>,
    subject: Subject,
    /// Planned length of the measurement.
    measured: Duration,
    state: Arc<State>,
    /// `Some` from the start of the measurement.
    thread: Option<JoinHandle<EventsOutcome>>,
}

/// What events act on.
#[derive(Clone)]
struct Subject {
    /// The server, with the account of the clients.
    endpoint: Endpoint,
    /// The server, if dbdyno started it.
    server: Option<SharedServer>,
}

/// What the thread says and hears while it works.
struct State {
    /// Raised at the end of the load, and by an interruption.
    end: Interrupt,
    /// Process id of a server that was started again; 0 without one.
    server_pid: AtomicU32,
    /// Name of the event that runs.
    running: Mutex<Option<String>>,
}

/// What became of the events.
#[derive(Default)]
pub(crate) struct EventsOutcome {
    /// Begin of the first one, seconds since the start of the load.
    pub(crate) first_s: Option<f64>,
    /// The line that could not be written.
    pub(crate) failed: Option<WriteError>,
}

/// What a load has to bear because of the events of its run.
pub(crate) fn tolerated(run: &PlannedRun) -> ToleratedFailures {
    let has = |is: fn(&EventAction) -> bool| run.events.iter().any(|event| is(&event.action));
    let server = has(|action| matches!(action, EventAction::Server(_)));
    let sql = has(|action| matches!(action, EventAction::Sql(_)));
    ToleratedFailures {
        // A server that starts after a crash may need minutes; the end of the run ends the attempts.
        reconnect_for: server.then_some(run.data_load.duration),
        numbers: match (server, sql) {
            (true, true) => OF_BOTH,
            (true, false) => OF_A_SHUTDOWN,
            (false, true) => OF_A_CHANGED_TABLE,
            (false, false) => &[],
        },
    }
}

/// True for an error that the events of a run cause: it is counted and shown, and no fault of the run.
pub(crate) fn is_caused(events: &[PlannedEvent], number: u16) -> bool {
    let mut begun = events.iter().filter(|event| event.begin_s.is_some());
    begun.any(|event| match event.action {
        PlannedAction::Server => {
            OF_A_SHUTDOWN.contains(&number) || OF_A_LOST_CONNECTION.contains(&number)
        }
        PlannedAction::Sql => OF_A_CHANGED_TABLE.contains(&number),
        PlannedAction::Command => false,
    })
}

impl Events {
    /// The events of a run on the server at `endpoint`; `None` for a run without events.
    pub(crate) fn of(
        run: &PlannedRun,
        endpoint: &Endpoint,
        server: Option<&SharedServer>,
        interrupt: &Interrupt,
    ) -> Option<Self> {
        (!run.events.is_empty()).then(|| Self {
            specs: run.events.clone(),
            subject: Subject {
                endpoint: endpoint.clone(),
                server: server.cloned(),
            },
            measured: run.data_load.duration,
            state: Arc::new(State {
                end: interrupt.child(),
                server_pid: AtomicU32::default(),
                running: Mutex::default(),
            }),
            thread: None,
        })
    }

    /// True if the server is stopped and started.
    pub(crate) fn restart_the_server(&self) -> bool {
        let mut actions = self.specs.iter().map(|event| &event.action);
        actions.any(|action| matches!(action, EventAction::Server(_)))
    }

    /// The measurement began at `begin`, `begin_s` seconds after the start of the load.
    pub(crate) fn measured_from(
        &mut self,
        begin: Instant,
        begin_s: f64,
        writer: RunWriter,
        context: &Context,
    ) {
        let work = Work {
            specs: std::mem::take(&mut self.specs),
            subject: self.subject.clone(),
            measured: self.measured,
            begin,
            begin_s,
            writer,
            context: context.clone(),
            state: Arc::clone(&self.state),
        };
        self.thread = Some(std::thread::spawn(move || work.carry_out()));
    }

    pub(crate) fn running(&self) -> Option<String> {
        self.state.running().clone()
    }

    /// The process of a server that was started again since the last call.
    pub(crate) fn new_server_pid(&self) -> Option<u32> {
        let pid = self.state.server_pid.swap(0, Ordering::Relaxed);
        Some(pid).filter(|pid| *pid > 0)
    }

    /// Ends the events after the load: a statement or a command that still runs is ended, a start of the server is waited
    /// for.
    pub(crate) fn finish(mut self) -> EventsOutcome {
        self.state.end.raise();
        match self.thread.take().map(JoinHandle::join) {
            None => EventsOutcome::default(),
            Some(Ok(carried)) => carried,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl State {
    fn running(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's inputs.
struct Work {
    specs: Vec<EventSpec>,
    subject: Subject,
    measured: Duration,
    /// Start of the measurement.
    begin: Instant,
    /// The same in seconds since the start of the load.
    begin_s: f64,
    writer: RunWriter,
    context: Context,
    state: Arc<State>,
}

impl Work {
    /// One event after the other: one whose time comes while another one runs begins after that.
    fn carry_out(self) -> EventsOutcome {
        let mut carried = EventsOutcome::default();
        for (number, spec) in (1..).zip(&self.specs) {
            match self.one(number, spec) {
                Ok(begun_s) => carried.first_s = carried.first_s.or(begun_s),
                Err(error) => {
                    carried.failed = Some(error);
                    break;
                }
            }
        }
        carried
    }

    /// Carries out one event; returns its begin in seconds since the start of the load, `None` if it did not begin.
    fn one(&self, number: u32, spec: &EventSpec) -> Result<Option<f64>, WriteError> {
        let at_s = spec.at.as_secs_f64();
        let mut event = PlannedEvent {
            number,
            name: spec.name.clone(),
            action: spec.action.kind(),
            what: spec.action.in_words(),
            at_s,
            t_s: self.begin_s + at_s,
            outcome: EventOutcome::NotBegun,
            ..PlannedEvent::default()
        };
        if !self.wait_until(spec.at) {
            event.message = "the load ended before it could begin".to_owned();
            self.say(&event);
            self.write(event)?;
            return Ok(None);
        }
        let begin_s = self.elapsed_s();
        event.begin_s = Some(begin_s);
        event.t_s = self.begin_s + begin_s;
        event.outcome = EventOutcome::Running;
        let begun_s = event.t_s;
        self.write(event.clone())?;
        *self.state.running() = Some(spec.name.clone());
        let performed = self
            .perform(spec)
            .without(self.subject.endpoint.password.as_ref());
        *self.state.running() = None;
        let event = PlannedEvent {
            end_s: Some(self.elapsed_s()),
            outcome: performed.outcome,
            message: performed.message,
            rows_affected: performed.rows_affected,
            warnings: performed.warnings,
            output: performed.output,
            ..event
        };
        self.say(&event);
        self.write(event)?;
        Ok(Some(begun_s))
    }

    fn perform(&self, spec: &EventSpec) -> EventResult {
        let cut_off = CutOff {
            limit: spec
                .timeout
                .map(|limit| (limit, reactor::system_now() + limit)),
            interrupt: self.interrupt(),
            end: &self.state.end,
        };
        let subject = &self.subject;
        match &spec.action {
            EventAction::Sql(statements) => sql::execute(&subject.endpoint, statements, &cut_off),
            EventAction::Server(action) => self.act_on_server(*action),
            EventAction::Command { program, arguments } => Command {
                program,
                arguments,
                event: &spec.name,
                endpoint: &subject.endpoint,
                server: subject.server.as_ref(),
            }
            .run(&cut_off),
        }
    }

    fn act_on_server(&self, action: ServerAction) -> EventResult {
        let Some(server) = &self.subject.server else {
            return EventResult::failed("the server was not started by dbdyno".to_owned());
        };
        match private_server::act(server, action, &self.subject.endpoint.address) {
            Ok(pid) => {
                let pid = pid.unwrap_or_default();
                self.state.server_pid.store(pid, Ordering::Relaxed);
                EventResult::done()
            }
            Err(why) => EventResult::failed(why),
        }
    }

    /// Waits until this time of the measurement; false if the load is over by then.
    fn wait_until(&self, at: Duration) -> bool {
        loop {
            let elapsed = reactor::system_now() - self.begin;
            if self.state.end.is_raised() || elapsed >= self.measured {
                return false;
            }
            let left = at.saturating_sub(elapsed);
            if left.is_zero() {
                return true;
            }
            self.state.end.wait(left.min(self.measured - elapsed));
        }
    }

    fn interrupt(&self) -> &Interrupt {
        &self.context.interrupt
    }

    fn elapsed_s(&self) -> f64 {
        (reactor::system_now() - self.begin).as_secs_f64()
    }

    /// A failed event does not end the run, so it is said at once.
    fn say(&self, event: &PlannedEvent) {
        if event.has_failed() && !self.interrupt().is_raised() {
            self.context.warn(&format!(
                "event {} ({}) {}: {}",
                event.number,
                event.name,
                event.outcome.word(),
                event.message
            ));
        }
    }

    fn write(&self, event: PlannedEvent) -> Result<(), WriteError> {
        self.writer.append(&Line::Event(Box::new(event)))
    }
}
