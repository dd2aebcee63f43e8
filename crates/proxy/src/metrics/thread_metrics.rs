//! What one event thread counts.

use std::{sync::Arc, time::Duration};

use super::{changes::Changes, counter::Counter, snapshot::HookFigures};

/// The hooks, in the order of their calls.
const HOOKS: [&str; 7] = [
    "connect_server",
    "read_handshake",
    "read_auth",
    "read_auth_result",
    "read_query",
    "read_query_result",
    "disconnect_client",
];

/// What one event thread counts.
#[derive(Debug)]
pub(crate) struct ThreadMetrics {
    pub(crate) sessions_opened: Counter,
    pub(crate) sessions_closed: Counter,
    /// Commands of clients.
    pub(crate) commands: Counter,
    pub(crate) changes: Changes,
    /// Commands sent to each backend.
    backends: Vec<Counter>,
    hooks: [HookCounter; HOOKS.len()],
}

#[derive(Debug, Default)]
struct HookCounter {
    calls: Counter,
    errors: Counter,
    ns: Counter,
}

impl ThreadMetrics {
    pub(super) fn new(backends: usize) -> Self {
        Self {
            sessions_opened: Counter::default(),
            sessions_closed: Counter::default(),
            commands: Counter::default(),
            changes: Changes::default(),
            backends: (0..backends).map(|_| Counter::default()).collect(),
            hooks: Default::default(),
        }
    }

    /// A command is sent to the backend at this place.
    pub(crate) fn sent_to(&self, place: usize) {
        if let Some(backend) = self.backends.get(place) {
            backend.add(1);
        }
    }

    pub(super) fn backend_commands(&self, place: usize) -> u64 {
        self.backends.get(place).map_or(0, Counter::value)
    }

    pub(crate) fn hook_called(&self, name: &str, took: Duration, is_error: bool) {
        let Some(at) = HOOKS.iter().position(|hook| *hook == name) else {
            return;
        };
        let hook = &self.hooks[at];
        hook.calls.add(1);
        hook.errors.add(u64::from(is_error));
        hook.ns
            .add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// The hooks that were called, of all threads.
pub(super) fn hooks(threads: &[Arc<ThreadMetrics>]) -> Vec<HookFigures> {
    let figures = HOOKS.iter().enumerate().map(|(at, name)| {
        let sum = |of: fn(&HookCounter) -> &Counter| -> u64 {
            threads.iter().map(|it| of(&it.hooks[at]).value()).sum()
        };
        HookFigures {
            hook: (*name).to_owned(),
            calls: sum(|it| &it.calls),
            errors: sum(|it| &it.errors),
            seconds: sum(|it| &it.ns) as f64 / 1e9,
        }
    });
    figures.filter(|hook| hook.calls > 0).collect()
}
