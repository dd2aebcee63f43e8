//! The servers behind the proxy, with what all event threads know of them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use reactor::Instant;

use crate::Address;

/// Time after which an unreachable backend is tried again.
const DOWN_FOR: Duration = Duration::from_secs(4);

/// No time of being unreachable has begun.
const NOT_YET: u64 = u64::MAX;

/// What a backend may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    ReadWrite,
    ReadOnly,
}

/// Whether a backend can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum BackendState {
    /// No connection was tried, or the last failure was some time ago.
    Unknown = 0,
    /// The last connection was opened.
    Up = 1,
    /// The last connection could not be opened.
    Down = 2,
}

/// A server behind the proxy.
#[derive(Debug)]
pub struct Backend {
    pub address: Address,
    pub kind: BackendKind,
    /// The name of its host, which its certificate may have to be for; `None` is its address.
    pub host: Option<String>,
    state: AtomicU8,
    /// When it was last found unreachable, on the reactors' clock.
    down_since_ns: AtomicU64,
    /// Clients whose session uses it now.
    pub connected_clients: AtomicU32,
    /// Connections that could not be opened.
    pub(crate) failures: AtomicU64,
    /// Its connections in the pools of all event threads.
    pub(crate) idle_connections: AtomicU32,
    /// A name that a script gave it; empty without one.
    pub uuid: Mutex<Vec<u8>>,
    /// Idle connections that a script wants at least; only scripts read it.
    pub min_idle: AtomicU32,
    /// Idle connections of an event thread at most; 0 is no limit.
    pub max_idle: AtomicU32,
}

impl Backend {
    /// A backend of which nothing is known yet.
    pub fn new(address: Address, kind: BackendKind) -> Self {
        Self {
            address,
            kind,
            host: None,
            state: AtomicU8::new(BackendState::Unknown as u8),
            down_since_ns: AtomicU64::new(0),
            connected_clients: AtomicU32::new(0),
            failures: AtomicU64::new(0),
            idle_connections: AtomicU32::new(0),
            uuid: Mutex::default(),
            min_idle: AtomicU32::new(0),
            max_idle: AtomicU32::new(0),
        }
    }

    /// Whether it can be reached, as far as is known.
    pub fn state(&self) -> BackendState {
        match self.state.load(Relaxed) {
            1 => BackendState::Up,
            2 => BackendState::Down,
            _ => BackendState::Unknown,
        }
    }

    /// Says whether it can be reached; the time of an unreachable one begins when it is next looked at.
    pub fn set_state(&self, state: BackendState) {
        self.down_since_ns.store(NOT_YET, Relaxed);
        self.state.store(state as u8, Relaxed);
    }

    /// The address by which TLS knows it.
    pub(crate) fn endpoint(&self) -> protocol::Address {
        match &self.address {
            Address::Tcp(address) => protocol::Address::Tcp {
                host: (self.host.clone()).unwrap_or_else(|| address.ip().to_string()),
                port: address.port(),
            },
            Address::Unix(path) => protocol::Address::Unix(path.clone()),
        }
    }

    /// Notes that it could not be reached.
    pub(crate) fn failed(&self, now: Instant) {
        self.failures.fetch_add(1, Relaxed);
        self.set_state(BackendState::Down);
        self.down_since_ns.store(now.as_ns(), Relaxed);
    }

    /// Whether a connection may be tried; an unreachable backend may after some seconds.
    pub(crate) fn may_be_tried(&self, now: Instant) -> bool {
        if self.state() != BackendState::Down {
            return true;
        }
        // Said by a script: the time begins now.
        let begun = self
            .down_since_ns
            .compare_exchange(NOT_YET, now.as_ns(), Relaxed, Relaxed);
        let since = Instant::from_ns(begun.err().unwrap_or(now.as_ns()));
        let is_over = now - since > DOWN_FOR;
        if is_over {
            self.set_state(BackendState::Unknown);
        }
        is_over
    }
}

/// All servers behind the proxy: those for reads and writes first, in the order of the command line.
#[derive(Debug, Default)]
pub struct Backends(pub Vec<Backend>);

impl Backends {
    /// The backend for a new session that tried these in vain: reads and writes, not unreachable, the fewest clients; the
    /// first of several.
    pub(crate) fn least_used(&self, now: Instant, tried: &[usize]) -> Option<usize> {
        self.least_used_of(BackendKind::ReadWrite, now, tried)
    }

    /// The backend for a statement that only reads: reads only, not unreachable, the fewest clients; the first of several.
    pub(crate) fn least_used_for_reads(&self, now: Instant) -> Option<usize> {
        self.least_used_of(BackendKind::ReadOnly, now, &[])
    }

    fn least_used_of(&self, kind: BackendKind, now: Instant, tried: &[usize]) -> Option<usize> {
        let candidates = self.0.iter().enumerate().filter(|(place, backend)| {
            backend.kind == kind && !tried.contains(place) && backend.may_be_tried(now)
        });
        candidates
            .min_by_key(|(_, backend)| backend.connected_clients.load(Relaxed))
            .map(|(place, _)| place)
    }
}

/// An idle connection to a backend, which is counted while this value lives.
#[derive(Debug)]
pub(crate) struct Idleness {
    backends: Arc<Backends>,
    place: usize,
}

impl Idleness {
    /// Begins with the end of a use.
    pub(crate) fn after(used: &Use) -> Self {
        used.backend().idle_connections.fetch_add(1, Relaxed);
        Self {
            backends: Arc::clone(&used.backends),
            place: used.place,
        }
    }
}

impl Drop for Idleness {
    fn drop(&mut self) {
        let backend = &self.backends.0[self.place];
        backend.idle_connections.fetch_sub(1, Relaxed);
    }
}

/// One session's use of a backend, which counts among its clients while this value lives.
#[derive(Debug)]
pub(crate) struct Use {
    backends: Arc<Backends>,
    place: usize,
}

impl Use {
    /// Begins a use; `None` if there is no backend at this place.
    pub(crate) fn begin(backends: &Arc<Backends>, place: usize) -> Option<Self> {
        let backend = backends.0.get(place)?;
        backend.connected_clients.fetch_add(1, Relaxed);
        Some(Self {
            backends: Arc::clone(backends),
            place,
        })
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.backends.0[self.place]
    }

    pub(crate) fn place(&self) -> usize {
        self.place
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.backend().connected_clients.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Arc<Backends> {
        let backend =
            |port: u16, kind| Backend::new(Address::Tcp(([127, 0, 0, 1], port).into()), kind);
        Arc::new(Backends(vec![
            backend(1, BackendKind::ReadWrite),
            backend(2, BackendKind::ReadWrite),
            backend(3, BackendKind::ReadOnly),
        ]))
    }

    #[test]
    fn the_fewest_clients_decide_among_those_for_writes() {
        let backends = three();
        let now = Instant::from_ns(0);
        assert_eq!(backends.least_used(now, &[]), Some(0));
        let first = Use::begin(&backends, 0);
        assert_eq!(backends.least_used(now, &[]), Some(1));
        assert_eq!(backends.least_used(now, &[1]), Some(0));
        let _second = Use::begin(&backends, 1);
        assert_eq!(backends.least_used(now, &[]), Some(0));
        drop(first);
        assert_eq!(backends.0[0].connected_clients.load(Relaxed), 0);
        assert!(Use::begin(&backends, 3).is_none());
    }

    #[test]
    fn an_unreachable_backend_is_tried_again_after_more_than_four_seconds() {
        let backends = three();
        let at = |seconds| Instant::from_ns(0) + Duration::from_secs(seconds);
        backends.0[0].failed(at(10));
        backends.0[1].failed(at(10));
        assert_eq!(backends.least_used(at(14), &[]), None);
        assert_eq!(backends.0[0].state(), BackendState::Down);
        assert_eq!(backends.least_used(at(15), &[]), Some(0));
        assert_eq!(backends.0[0].state(), BackendState::Unknown);
    }

    #[test]
    fn a_backend_that_a_script_calls_unreachable_is_tried_again_after_the_same_time() {
        let backends = three();
        let at = |seconds| Instant::from_ns(0) + Duration::from_secs(seconds);
        backends.0[1].failed(at(1000));
        backends.0[0].set_state(BackendState::Down);
        assert_eq!(backends.least_used(at(100), &[]), None);
        assert_eq!(backends.least_used(at(104), &[]), None);
        assert_eq!(backends.least_used(at(105), &[]), Some(0));
    }
}
