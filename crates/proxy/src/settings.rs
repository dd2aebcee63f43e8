//! What a proxy is to do.

use std::{fmt, rc::Rc, sync::Arc, time::Duration};

use protocol::{ClientTls, Password, ServerTls};

use crate::{Address, Backends, Faults, HookMaker, Metrics, ScriptEnvironment};

/// Makes the maker of hooks of one event thread, on that thread; an error says why it cannot.
pub type MakerOfThread =
    dyn Fn(Rc<dyn ScriptEnvironment>) -> Result<Rc<dyn HookMaker>, String> + Send + Sync;

/// A place where clients connect, and what watches their sessions.
#[derive(Clone)]
pub struct Service {
    pub address: Address,
    /// What makes the hooks; `None` relays without hooks.
    pub hooks: Option<Arc<MakerOfThread>>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut service = f.debug_struct("Service");
        service.field("address", &self.address);
        service.field("has_hooks", &self.hooks.is_some()).finish()
    }
}

/// How the connections of clients are protected and packed.
#[derive(Debug, Clone, Default)]
pub struct ClientSide {
    /// The certificate of TLS; `None` offers none.
    pub tls: Option<ServerTls>,
    /// Whether a client on TCP has to use TLS.
    pub requires_tls: bool,
    /// Whether compression is offered.
    pub compresses: bool,
}

/// How the connections to servers are protected and packed.
#[derive(Debug, Clone, Default)]
pub struct ServerSide {
    /// TLS; `None` uses none.
    pub tls: Option<ClientTls>,
    /// Whether to compress where the server offers it.
    pub compresses: bool,
}

/// The account by which clients log in at the proxy, and the proxy at the servers.
#[derive(Debug, Clone)]
pub struct Account {
    pub user: String,
    pub password: Password,
}

/// What a proxy is to do.
#[derive(Debug, Clone)]
pub struct Settings {
    pub services: Vec<Service>,
    pub backends: Arc<Backends>,
    pub connect_timeout: Duration,
    /// Time limit for a client or a server that sends nothing.
    pub read_timeout: Duration,
    /// Time limit for a client or a server that takes nothing.
    pub write_timeout: Duration,
    /// Whether a new client logs in on a connection of the pool, by `COM_CHANGE_USER`; otherwise that connection is closed
    /// and the client logs in on a new one. What the former session left is removed in any case.
    pub pool_changes_user: bool,
    /// Number of event threads, each with hooks of its own.
    pub threads: usize,
    pub metrics: Arc<Metrics>,
    /// Interval at which each backend is checked; `None` leaves it to the clients to find a backend down.
    pub check_interval: Option<Duration>,
    pub faults: Faults,
    pub client_side: ClientSide,
    pub server_side: ServerSide,
    /// The proxy's own account; without one, logins are relayed.
    pub account: Option<Account>,
}

impl Settings {
    /// The usual limits, one thread.
    pub fn new(services: Vec<Service>, backends: Arc<Backends>) -> Self {
        const EIGHT_HOURS: Duration = Duration::from_secs(8 * 3600);
        Self {
            services,
            metrics: Arc::new(Metrics::new(Arc::clone(&backends))),
            check_interval: None,
            backends,
            connect_timeout: Duration::from_secs(2),
            read_timeout: EIGHT_HOURS,
            write_timeout: EIGHT_HOURS,
            pool_changes_user: true,
            threads: 1,
            faults: Faults::default(),
            client_side: ClientSide::default(),
            server_side: ServerSide::default(),
            account: None,
        }
    }
}
