//! A private server, shared by its owner and the events of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use server::Server;

/// A private server. Its owner changes it between runs, the events of a run while the load runs, so neither waits for the
/// other; the process is killed when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct SharedServer(Arc<Mutex<Server>>);

impl SharedServer {
    pub(crate) fn new(server: Server) -> Self {
        Self(Arc::new(Mutex::new(server)))
    }

    /// The server itself, once nothing else uses it.
    pub(crate) fn into_server(self) -> Server {
        let alone = Arc::into_inner(self.0);
        let server = alone.expect("events and stages end before their server does");
        server.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server, for one statement.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Server> {
        // A panic leaves the marker on disk, which every call reads again.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
