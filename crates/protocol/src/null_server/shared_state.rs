//! The state shared by all connections of a null server.

use std::{cell::RefCell, rc::Rc, time::Duration};

use reactor::Instant;

use super::{
    behaviour::{BehaviourState, StatementOutcome},
    log::{Entry, Log},
    result::{CachedResults, Format, Packets},
    variables::{Counters, Identity},
};
use crate::{error::ServerError, outgoing_greeting::OutgoingGreeting, payloads::AUTOCOMMIT};

/// Largest number of prepared statements over all connections: the highest limit of real servers.
pub(super) const PREPARED_MAX: usize = 1 << 20;

pub(super) struct SharedState {
    pub(super) identity: Identity,
    pub(super) hello: OutgoingGreeting,
    pub(super) canned: CachedResults,
    pub(super) read_delay: Duration,
    pub(super) conduct: BehaviourState,
    pub(super) error: ServerError,
    pub(super) user_connections: Option<u32>,
    pub(super) log: Option<Log>,
    pub(super) counters: Counters,
    pub(super) last_connection_id: u32,
    pub(super) prepared: usize,
}

impl SharedState {
    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(super) fn identity_mut(&mut self) -> &mut Identity {
        &mut self.identity
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    pub(super) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(super) fn hello(&self) -> &OutgoingGreeting {
        &self.hello
    }

    pub(super) fn read_delay(&self) -> Duration {
        self.read_delay
    }

    pub(super) fn error(&self) -> &ServerError {
        &self.error
    }

    /// The error if a client is refused after its login: its user has too many connections.
    pub(super) fn refusal(&mut self, user: &[u8]) -> Option<ServerError> {
        let limit = self.user_connections?;
        if self.counters.connected <= u64::from(limit) {
            return None;
        }
        self.counters.refused += 1;
        let user = String::from_utf8_lossy(user);
        Some(ServerError {
            number: 1226,
            sqlstate: "42000".to_owned(),
            message: format!(
                "User '{user}' has exceeded the 'max_user_connections' resource (current value: {limit})"
            ),
        })
    }

    /// Whether statements are delayed, counted by a law, failed, dropped or logged, so that their times are needed.
    pub(super) fn is_watched(&self) -> bool {
        self.log.is_some() || !self.conduct.is_plain()
    }

    /// The time of the answer to a statement received at this time, and its outcome.
    pub(super) fn decide(&mut self, received: Instant) -> (Instant, StatementOutcome) {
        let (at, fate) = self.conduct.decide(received);
        self.counters.page_reads = self.conduct.page_reads();
        match fate {
            StatementOutcome::Answer => {}
            StatementOutcome::Error => self.counters.errors += 1,
            StatementOutcome::Drop => self.counters.drops += 1,
        }
        (at, fate)
    }

    pub(super) fn log(&mut self, entry: &Entry) {
        if let Some(log) = &mut self.log {
            log.append(entry);
        }
    }

    /// Maximum length of a value, bytes, for characters of four bytes.
    pub(super) fn column_length(&self) -> u32 {
        self.canned.rows().row_bytes.saturating_mul(4)
    }

    /// Appends generated rows; false if they exceed the limits.
    pub(super) fn push_rows(
        &mut self,
        columns: u16,
        format: Format,
        status: u16,
        packets: &mut Packets<'_>,
    ) -> bool {
        let rows = self.canned.rows();
        if !rows.fit(columns) {
            return false;
        }
        let is_usual = packets.sequence == 1 && status == AUTOCOMMIT;
        match self.canned.result(columns, format, packets.deprecate_eof) {
            Some(result) if is_usual => packets.out.extend_from_slice(result),
            _ => rows.push(columns, format, status, packets),
        }
        true
    }

    /// Counts a newly prepared statement; false if there are too many.
    pub(super) fn prepared_one(&mut self) -> bool {
        let may = self.prepared < PREPARED_MAX;
        if may {
            self.prepared += 1;
            self.counters.prepares += 1;
        }
        may
    }

    /// Counts `count` statements as closed.
    pub(super) fn closed_statements(&mut self, count: usize) {
        self.prepared -= count;
    }
}

/// An accepted client; it is counted as connected until this value is dropped.
pub(super) struct ClientSlot {
    pub(super) shared: Rc<RefCell<SharedState>>,
    pub(super) connection_id: u32,
}

impl ClientSlot {
    pub(super) fn enter(shared: &Rc<RefCell<SharedState>>) -> Option<Self> {
        let mut all = shared.borrow_mut();
        if all.counters.connected >= u64::from(all.identity.max_connections) {
            all.counters.refused += 1;
            return None;
        }
        all.counters.connections += 1;
        all.counters.connected += 1;
        all.counters.most_connected = all.counters.most_connected.max(all.counters.connected);
        all.last_connection_id = all.last_connection_id.wrapping_add(1);
        Some(Self {
            shared: Rc::clone(shared),
            connection_id: all.last_connection_id,
        })
    }
}

impl Drop for ClientSlot {
    fn drop(&mut self) {
        self.shared.borrow_mut().counters.connected -= 1;
    }
}
