//! What a proxy counts: sessions, commands, hooks, rules, backends, and what it changed.

mod changes;
mod counter;
mod snapshot;
mod thread_metrics;

use std::sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed};

use reactor::Instant;

use crate::{BackendKind, BackendState, Backends};
pub(crate) use changes::Change;
pub use counter::RuleCounter;
pub(crate) use counter::RuleCounters;
pub use snapshot::{
    BackendFigures, ChangeFigures, HookFigures, RuleFigures, SessionFigures, Snapshot,
};
pub(crate) use thread_metrics::ThreadMetrics;

/// What a proxy counts. Each event thread writes counters of its own, so that no command waits for another thread.
#[derive(Debug)]
pub struct Metrics {
    started: Instant,
    backends: Arc<Backends>,
    rules: RuleCounters,
    threads: Mutex<Vec<Arc<ThreadMetrics>>>,
}

impl Metrics {
    /// Counters of a proxy that starts now, all zero.
    pub fn new(backends: Arc<Backends>) -> Self {
        Self {
            started: reactor::system_now(),
            backends,
            rules: RuleCounters::default(),
            threads: Mutex::default(),
        }
    }

    pub(crate) fn rules(&self) -> &RuleCounters {
        &self.rules
    }

    /// The counter of the rule with this name, for hooks of another kind than a file's.
    pub fn rule(&self, name: &str) -> Arc<RuleCounter> {
        self.rules.of(name)
    }

    /// The counters of a new event thread.
    pub(crate) fn thread(&self) -> Arc<ThreadMetrics> {
        let thread = Arc::new(ThreadMetrics::new(self.backends.0.len()));
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.push(Arc::clone(&thread));
        thread
    }

    pub fn snapshot(&self) -> Snapshot {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: &dyn Fn(&ThreadMetrics) -> u64| threads.iter().map(|it| of(it)).sum::<u64>();
        let closed = sum(&|it| it.sessions_closed.value());
        let opened = sum(&|it| it.sessions_opened.value());
        let backends = self.backends.0.iter().enumerate();
        Snapshot {
            uptime_s: (reactor::system_now() - self.started).as_secs_f64(),
            cpu_s: reactor::process_cpu_time().as_secs_f64(),
            sessions: SessionFigures {
                open: opened.saturating_sub(closed),
                total: opened,
            },
            commands: sum(&|it| it.commands.value()),
            hooks: thread_metrics::hooks(&threads),
            rules: self.rules.figures(),
            changes: changes::figures(threads.iter().map(|it| &it.changes)),
            backends: backends
                .map(|(place, backend)| BackendFigures {
                    address: backend.address.to_string(),
                    kind: match backend.kind {
                        BackendKind::ReadWrite => "rw",
                        BackendKind::ReadOnly => "ro",
                    }
                    .to_owned(),
                    state: match backend.state() {
                        BackendState::Unknown => "unknown",
                        BackendState::Up => "up",
                        BackendState::Down => "down",
                    }
                    .to_owned(),
                    clients: backend.connected_clients.load(Relaxed).into(),
                    commands: sum(&|it| it.backend_commands(place)),
                    failures: backend.failures.load(Relaxed),
                    idle: backend.idle_connections.load(Relaxed).into(),
                })
                .collect(),
        }
    }
}
