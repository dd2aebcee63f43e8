//! The servers behind the proxy, with what all event threads know of them.

use std::sync::{
    Mutex,
    atomic::{AtomicU8, AtomicU32, Ordering::Relaxed},
};

use crate::Address;

/// What a backend may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// Reads and writes.
    ReadWrite,
    /// Reads only.
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
    /// Where it listens.
    pub address: Address,
    /// What it may be asked.
    pub kind: BackendKind,
    state: AtomicU8,
    /// Clients whose session uses it now.
    pub connected_clients: AtomicU32,
    /// A name that a script gave it; empty without one.
    pub uuid: Mutex<Vec<u8>>,
    /// Idle connections that a script wants at least; only scripts read it.
    pub min_idle: AtomicU32,
    /// Idle connections that a script wants at most; only scripts read it.
    pub max_idle: AtomicU32,
}

impl Backend {
    /// A backend of which nothing is known yet.
    pub fn new(address: Address, kind: BackendKind) -> Self {
        Self {
            address,
            kind,
            state: AtomicU8::new(BackendState::Unknown as u8),
            connected_clients: AtomicU32::new(0),
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

    /// Says whether it can be reached.
    pub fn set_state(&self, state: BackendState) {
        self.state.store(state as u8, Relaxed);
    }
}

/// All servers behind the proxy: those for reads and writes first, in the order of the command line.
#[derive(Debug, Default)]
pub struct Backends(pub Vec<Backend>);
