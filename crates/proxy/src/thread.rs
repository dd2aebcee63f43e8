//! One event thread: what its sessions share.

use std::{cell::Cell, io::Write, rc::Rc, sync::Arc};

use crate::{HookMaker, Level, Log, Settings, Surroundings, pool::Pool, stop::Stop, watch::Waits};

/// What the sessions of one event thread share.
pub(crate) struct EventThread {
    pub(crate) settings: Arc<Settings>,
    pub(crate) log: Arc<Log>,
    pub(crate) pool: Rc<Pool>,
    pub(crate) waits: Rc<Waits>,
    makers: Vec<Option<Rc<dyn HookMaker>>>,
    last_number: Cell<u64>,
}

impl EventThread {
    /// The thread, with makers of hooks of its own.
    pub(crate) fn new(settings: Arc<Settings>, log: Arc<Log>, stop: Arc<Stop>) -> Rc<Self> {
        let pool = Rc::new(Pool::default());
        let surroundings: Rc<dyn Surroundings> = Rc::new(Outside {
            log: Arc::clone(&log),
            pool: Rc::clone(&pool),
            stop,
        });
        let makers = settings.services.iter().map(|service| {
            let make = service.hooks.as_ref()?;
            Some(make(Rc::clone(&surroundings)))
        });
        let makers = makers.collect();
        Rc::new(Self {
            waits: Waits::new(settings.read_timeout, settings.write_timeout),
            settings,
            log,
            pool,
            makers,
            last_number: Cell::new(0),
        })
    }

    /// What makes the hooks of a service's sessions.
    pub(crate) fn maker(&self, service: usize) -> Option<&Rc<dyn HookMaker>> {
        self.makers.get(service)?.as_ref()
    }

    /// The number of a new session.
    pub(crate) fn next_number(&self) -> u64 {
        let number = self.last_number.get() + 1;
        self.last_number.set(number);
        number
    }
}

struct Outside {
    log: Arc<Log>,
    pool: Rc<Pool>,
    stop: Arc<Stop>,
}

impl Surroundings for Outside {
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

    fn shut_down(&self) {
        self.stop.stop();
    }
}
