//! The ways in which a connection comes from one session to the next.

use std::{sync::Arc, time::Duration};

use protocol::{Address, Connection};
use proxy::{
    Account, Backend, BackendKind, Backends, HostOptions, Log, MakerOfThread, Proxy,
    RewriteOptions, RewriteSource, ScriptHost, ScriptOptions, Service, Settings,
};
use reactor::Interrupt;

use crate::{
    kinds::Kind,
    servers::{Server, endpoint},
};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time for what another session may still see at first; half of the limit of a statement, which may wait for ever.
const SEEN_FOR: Duration = Duration::from_secs(10);

/// Shares one connection between all clients: it waits in the pool except during commands.
const SHARE: &str = r#"
function connect_server()
    if proxy.global.backends[1].pool.users[""].cur_idle_connections > 0 then
        proxy.connection.backend_ndx = 1
        return proxy.PROXY_IGNORE_RESULT
    end
end
function read_auth_result(auth)
    if auth.packet:byte() == proxy.MYSQLD_PACKET_OK then proxy.connection.backend_ndx = 0 end
end
function read_query(packet)
    if packet:byte() == proxy.COM_QUIT then
        proxy.response = { type = proxy.MYSQLD_PACKET_OK }
        return proxy.PROXY_SEND_RESULT
    end
    proxy.connection.backend_ndx = 1
    proxy.queries:append(1, packet, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end
function read_query_result() proxy.connection.backend_ndx = 0 end
function disconnect_client() proxy.connection.backend_ndx = 0 end
"#;

/// Sends what begins with a comment to the second backend.
const ROUTE: &str = "[[rule]]\npattern = '^/\\*away\\*/'\nroute = \"read-only\"\n";

/// How a connection comes from one session to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Another user logs in on it after the session has ended.
    LoginAfterEnd,
    /// The same while the session lives.
    LoginBesideIt,
    /// Another session of the user takes it for a command, while the session lives.
    Command,
    /// The first of these for a session with a role by default.
    LoginAfterRole,
    /// The last of these for sessions with a role by default.
    CommandWithRole,
    NoChangeUser,
    /// The proxy logs in by an account of its own.
    Account,
    /// A rule takes it for a statement.
    Rule,
}

impl Mode {
    pub(crate) const ALL: [Self; 8] = [
        Self::LoginAfterEnd,
        Self::LoginBesideIt,
        Self::Command,
        Self::LoginAfterRole,
        Self::CommandWithRole,
        Self::NoChangeUser,
        Self::Account,
        Self::Rule,
    ];

    fn observer(self) -> &'static str {
        match self {
            Self::LoginAfterEnd | Self::LoginBesideIt | Self::LoginAfterRole => "bob",
            other => other.leaver(),
        }
    }

    fn leaver(self) -> &'static str {
        match self {
            Self::LoginAfterRole | Self::CommandWithRole => "dan",
            _ => "ann",
        }
    }

    /// Whether the second session was there before, and does not log in after the first.
    pub(crate) fn is_between_sessions(self) -> bool {
        matches!(self, Self::Command | Self::CommandWithRole)
    }

    fn has_account(self) -> bool {
        matches!(self, Self::Account | Self::Rule)
    }

    /// Whether the kind can be left in this mode: a rule does not share a transaction between statements.
    pub(crate) fn can_leave(self, kind: &Kind) -> bool {
        self != Self::Rule || kind.leave[0] != "BEGIN"
    }

    /// The statement as this mode's clients send it.
    fn text(self, statement: &str) -> String {
        match self {
            Self::Rule => format!("/*away*/{statement}"),
            _ => statement.to_owned(),
        }
    }
}

/// A server, and a way to its connections.
pub(crate) struct Scene<'a> {
    pub(crate) server: &'a Server,
    pub(crate) mode: Mode,
    pub(crate) database: &'a str,
}

/// What the second session saw.
pub(crate) struct Found {
    /// What one on a connection of its own sees.
    pub(crate) fresh: String,
    pub(crate) observed: String,
    /// Whether it had the connection of the first.
    pub(crate) is_shared: bool,
}

impl Scene<'_> {
    /// A session leaves its state, and another one looks for it.
    pub(crate) fn play(&self, kind: &Kind) -> Found {
        let proxy = self.proxy();
        reactor::block_on(async {
            let observer = self.mode.observer();
            let mut alone = open(&self.server.direct(observer, self.database)).await;
            let fresh = said(&mut alone, kind.observe).await;
            drop(alone);
            // A session that was there before, without a login of its own in between.
            let mut second = None;
            if self.mode.is_between_sessions() || self.mode == Mode::NoChangeUser {
                second = Some(open(&self.through(&proxy, observer)).await);
                settled(&proxy).await;
            }
            let mut first = open(&self.through(&proxy, self.mode.leaver())).await;
            let id = "SELECT CONNECTION_ID()";
            let first_id = said(&mut first, &self.mode.text(id)).await;
            for statement in kind.leave {
                said(&mut first, &self.mode.text(statement)).await;
            }
            let lives = self.mode.is_between_sessions() || self.mode == Mode::LoginBesideIt;
            let kept = lives.then_some(first);
            settled(&proxy).await;
            let mut second = match second {
                Some(second) => second,
                None => open(&self.through(&proxy, observer)).await,
            };
            let of_second = self.mode.text(id);
            if kind.is_seen_by_all() && said(&mut second, &of_second).await != first_id {
                // The first session may have its lock as long as it lives.
                drop(kept);
            }
            let mut observed = said(&mut second, &self.mode.text(kind.observe)).await;
            let is_shared = said(&mut second, &of_second).await == first_id;
            let begun = reactor::now();
            while kind.is_seen_by_all() && observed != fresh && reactor::now() - begun < SEEN_FOR {
                observed = said(&mut second, &self.mode.text(kind.observe)).await;
            }
            Found {
                fresh,
                observed,
                is_shared,
            }
        })
        .unwrap()
    }

    /// A client vanishes in a transaction, and others get at its row and its lock without any further client of the proxy.
    pub(crate) fn vanish_in_a_transaction(&self) {
        let proxy = self.proxy();
        reactor::block_on(async {
            let mut client = open(&self.through(&proxy, "ann")).await;
            for statement in [
                "BEGIN",
                "UPDATE shop.t SET a = a WHERE a = 1",
                "DO GET_LOCK('vanished', 0)",
            ] {
                said(&mut client, statement).await;
            }
            let mut other = open(&self.server.direct("bob", "shop")).await;
            let lock = "SELECT IS_FREE_LOCK('vanished')";
            assert_eq!(said(&mut other, lock).await, "0");
            drop(client);
            let begun = reactor::now();
            while said(&mut other, lock).await == "0" {
                assert!(reactor::now() - begun < PATIENCE, "the lock is still held");
                reactor::sleep(Duration::from_millis(5)).await;
            }
            said(&mut other, "SET innodb_lock_wait_timeout = 1").await;
            let row = said(&mut other, "SELECT a FROM shop.t WHERE a = 1 FOR UPDATE").await;
            assert_eq!(row, "1");
        })
        .unwrap();
    }

    pub(crate) fn through(&self, proxy: &Proxy, user: &str) -> protocol::Endpoint {
        let port = proxy.address(0).unwrap().port();
        let host = "127.0.0.1".to_owned();
        endpoint(Address::Tcp { host, port }, user, self.database)
    }

    pub(crate) fn proxy(&self) -> Proxy {
        let backend = |path, kind| Backend::new(proxy::Address::Unix(path), kind);
        let mut backends = vec![backend(self.server.socket(), BackendKind::ReadWrite)];
        if self.mode == Mode::Rule {
            backends.push(backend(self.server.second_socket(), BackendKind::ReadOnly));
        }
        let service = Service {
            address: proxy::Address::Tcp(([127, 0, 0, 1], 0).into()),
            hooks: None,
        };
        let mut settings = Settings::new(vec![service], Arc::new(Backends(backends)));
        settings.connect_timeout = PATIENCE;
        settings.pool_changes_user = self.mode != Mode::NoChangeUser;
        settings.account = self.mode.has_account().then(|| Account {
            user: "ann".to_owned(),
            password: "x".into(),
        });
        settings.services[0].hooks = Some(if self.mode == Mode::Rule {
            self.rule(&settings)
        } else {
            self.script(&settings)
        });
        Proxy::start(settings, Arc::new(Log::silent()), &Interrupt::default()).unwrap()
    }

    fn script(&self, settings: &Settings) -> Arc<MakerOfThread> {
        let path = self.server.directory().join("share.lua");
        std::fs::write(&path, SHARE).unwrap();
        let options = ScriptOptions {
            script: path,
            lua: HostOptions::default(),
        };
        ScriptHost::maker(options, Arc::clone(&settings.backends))
    }

    fn rule(&self, settings: &Settings) -> Arc<MakerOfThread> {
        let path = self.server.directory().join("rules.toml");
        std::fs::write(&path, ROUTE).unwrap();
        let options = RewriteOptions {
            path,
            seed: 1,
            opens_connections: true,
        };
        let (backends, metrics) = (
            Arc::clone(&settings.backends),
            Arc::clone(&settings.metrics),
        );
        RewriteSource::open(options, backends, metrics)
            .unwrap()
            .maker()
    }
}

/// Waits until no connection to a server is on its way into the pool.
async fn settled(proxy: &Proxy) {
    let begun = reactor::now();
    let is_on_its_way = || {
        let clients = proxy.metrics().snapshot().backends;
        clients.iter().any(|backend| backend.clients > 0)
    };
    while is_on_its_way() {
        assert!(
            reactor::now() - begun < PATIENCE,
            "a connection stays in use"
        );
        reactor::sleep(Duration::from_millis(1)).await;
    }
}

pub(crate) async fn open(endpoint: &protocol::Endpoint) -> Connection {
    let opened = reactor::timeout(PATIENCE, Connection::open(endpoint)).await;
    opened.expect("the login takes too long").unwrap()
}

/// The rows of a statement, or its error.
pub(crate) async fn said(connection: &mut Connection, statement: &str) -> String {
    let rows = reactor::timeout(SEEN_FOR * 2, connection.rows(statement)).await;
    let Ok(rows) = rows else {
        return format!("no answer to {statement}");
    };
    match rows {
        Ok(sets) => {
            let rows = sets.iter().flat_map(|set| &set.rows);
            let values = rows.flatten().map(|value| match value {
                Some(text) => String::from_utf8_lossy(text).into_owned(),
                None => "NULL".to_owned(),
            });
            values.collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}
