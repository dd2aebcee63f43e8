//! One event thread: what its sessions share.

use std::{
    io::Write,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use reactor::Interrupt;

use crate::{
    HookMaker, Level, Log, Peer, ScriptEnvironment, Settings, faults::FaultInjector,
    metrics::ThreadMetrics, pool::Pool, watch::Waits,
};

/// What the sessions of one event thread share.
pub(crate) struct EventThread {
    pub(crate) settings: Arc<Settings>,
    pub(crate) log: Arc<Log>,
    pub(crate) pool: Rc<Pool>,
    pub(crate) waits: Rc<Waits>,
    pub(crate) trouble: Option<Arc<FaultInjector>>,
    pub(crate) metrics: Arc<ThreadMetrics>,
    makers: Vec<Option<Rc<dyn HookMaker>>>,
    /// Sessions of all threads so far.
    sessions: Arc<AtomicU64>,
}

impl EventThread {
    /// The thread, with makers of hooks of its own, which may raise `end`.
    pub(crate) fn new(
        settings: Arc<Settings>,
        log: Arc<Log>,
        end: Interrupt,
        sessions: Arc<AtomicU64>,
        trouble: Option<Arc<FaultInjector>>,
    ) -> Result<Rc<Self>, String> {
        let pool = Rc::new(Pool::new(settings.connect_timeout, Arc::clone(&log)));
        let metrics = settings.metrics.thread();
        let environment: Rc<dyn ScriptEnvironment> = Rc::new(Outside {
            log: Arc::clone(&log),
            pool: Rc::clone(&pool),
            end,
            metrics: Arc::clone(&metrics),
        });
        let makers = settings.services.iter().map(|service| {
            let make = service.hooks.as_ref();
            make.map(|make| make(Rc::clone(&environment))).transpose()
        });
        let makers = makers.collect::<Result<_, _>>()?;
        Ok(Rc::new(Self {
            waits: Waits::new(settings.read_timeout, settings.write_timeout),
            settings,
            log,
            pool,
            makers,
            trouble,
            metrics,
            sessions,
        }))
    }

    /// What makes the hooks of a service's sessions.
    pub(crate) fn maker(&self, service: usize) -> Option<&Rc<dyn HookMaker>> {
        self.makers.get(service)?.as_ref()
    }

    pub(crate) fn idle_max(&self, place: usize) -> usize {
        match self.settings.backends.0[place].max_idle.load(Relaxed) {
            0 => usize::MAX,
            most => usize::try_from(most).unwrap_or(usize::MAX),
        }
    }

    /// The number of a new session, from 1.
    pub(crate) fn next_number(&self) -> u64 {
        self.sessions.fetch_add(1, Relaxed) + 1
    }
}

struct Outside {
    log: Arc<Log>,
    pool: Rc<Pool>,
    end: Interrupt,
    metrics: Arc<ThreadMetrics>,
}

impl ScriptEnvironment for Outside {
    fn log(&self, level: Level, text: &str) {
        self.log.write(level, text);
    }

    fn print(&self, text: &[u8]) {
        let mut out = std::io::stdout().lock();
        // A closed stdout must not end sessions.
        let _ = out.write_all(text).and_then(|()| out.write_all(b"\n"));
    }

    fn idle_connections(&self, backend: usize, user: &[u8]) -> usize {
        self.pool.count(backend, user)
    }

    fn idle_server(&self, backend: usize) -> Option<Peer> {
        self.pool.preview(backend)
    }

    fn shut_down(&self) {
        self.end.raise();
    }

    fn hook_called(&self, name: &str, took: Duration, is_error: bool) {
        self.metrics.hook_called(name, took, is_error);
    }
}
