//! The stage of one run: a server that answers, with its data; or a directory of a disk.

pub(crate) mod created_tables;
pub(crate) mod disk_room;
pub(crate) mod given_server;
pub(crate) mod null_process;
pub(crate) mod private_server;
mod proxy_metrics;
pub(crate) mod proxy_process;
pub(crate) mod settings_in_effect;
pub(crate) mod shared_server;
pub(crate) mod test_directory;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use blame::{Blame, Blamed};
use experiment::Observe;
use protocol::{Address, Connection, Endpoint};
use reactor::Interrupt;
use samples::{Dataset, DatasetState, Edge, Host, ServerIdentity, Transport};
use settings::Rows;
use telemetry::{Targets, WatchedServer};

use crate::{
    control::{control, variables},
    data::WantedData,
    limit::ServerLimits,
    listener::Context,
    prepared_statements::PreparedStatements,
    record::server_host::Observation,
    stage::{
        null_process::NullProcess, proxy_process::ProxyProcess, shared_server::SharedServer,
        test_directory::TestDirectory,
    },
};

/// Rows per buffer pool in a simulation, which has no buffer pool.
const SIMULATED_ROWS: f64 = 100_000.0;

/// The stage of one run: a server that answers, with its data; or a directory of a disk.
pub struct Stage {
    /// Endpoint of the clients, with their account; `None` for a load without a server.
    pub endpoint: Option<Endpoint>,
    /// The server, if dbdyno started it for the runs.
    pub(crate) process: Option<SharedServer>,
    /// The proxy between the clients and the server; `None` without one.
    pub(crate) proxy: Option<ProxyProcess>,
    /// The directory of a load without a server.
    pub directory: Option<Arc<TestDirectory>>,
    /// The server's process, if it is on this machine and known.
    pub server_pid: Option<u32>,
    /// The server's data directory, if it is on this machine and known.
    pub datadir: Option<PathBuf>,
    /// Observer of the server's machine, if it is another one.
    pub observation: Option<Rc<Observation>>,
    /// True for a server started by dbdyno.
    pub private: bool,
    /// True for a null server.
    pub is_simulated: bool,
    pub dataset: Option<Dataset>,
    /// Settings that differ from the requested ones, one sentence each.
    pub settings_changed: Vec<String>,
    /// What the kernel limits a private server to; `None` without a limit.
    pub limit: Option<ServerLimits>,
}

impl Stage {
    /// The server at an endpoint, with its existing data and the observer of its machine.
    pub fn of(
        endpoint: Endpoint,
        observe: Option<Observe>,
        context: &Context,
    ) -> Result<Self, Blamed> {
        Self::of_load(
            endpoint,
            observe,
            PreparedStatements::default(),
            "",
            context,
        )
    }

    /// The same for a load whose connections prepare statements; an error if the server does not allow as many. `fewer` is
    /// the option with which they prepare fewer.
    pub fn of_load(
        endpoint: Endpoint,
        observe: Option<Observe>,
        prepared: PreparedStatements,
        fewer: &str,
        context: &Context,
    ) -> Result<Self, Blamed> {
        let variables = control(&endpoint, variables)?;
        prepared.refuse_by(&variables, |all| {
            format!("SET GLOBAL max_prepared_stmt_count={all}, or {fewer}")
        })?;
        let server_pid = local_pid(&endpoint.address, &variables);
        let observation = observe
            .map(|observe| Observation::new(observe, &*context.listener))
            .transpose()?;
        if observation.is_some() {
            refuse_local(server_pid)?;
        }
        let datadir = variables.get("datadir").map(PathBuf::from);
        Ok(Self {
            endpoint: Some(endpoint),
            process: None,
            proxy: None,
            directory: None,
            server_pid,
            // The same path on another machine is a different directory.
            datadir: datadir.filter(|_| server_pid.is_some()),
            observation,
            private: false,
            is_simulated: false,
            settings_changed: Vec::new(),
            limit: None,
            dataset: None,
        })
    }

    /// A null server in place of the one that a run requests, with its data simulated.
    pub fn simulated(data: Option<&WantedData<'_>>, null: &NullProcess, database: String) -> Self {
        let rows = data.and_then(|data| Some((data.maker.name(), data.rows()?)));
        let dataset = rows.map(|(source, rows)| Dataset {
            source,
            rows: match rows {
                Rows::Count(rows) => rows,
                Rows::TimesBufferPool(ratio) => (ratio * SIMULATED_ROWS).ceil() as u64,
            },
            disk_bytes: None,
            buffer_pool_bytes: None,
            load_s: None,
            state: DatasetState::Simulated,
        });
        Self {
            endpoint: Some(Endpoint {
                database: Some(database),
                ..null.endpoint(true)
            }),
            process: None,
            proxy: None,
            directory: None,
            observation: None,
            server_pid: Some(null.pid()),
            datadir: None,
            private: true,
            is_simulated: true,
            settings_changed: Vec::new(),
            limit: None,
            dataset,
        }
    }

    /// A directory of a disk, without a server.
    pub(crate) fn without_server(directory: Arc<TestDirectory>) -> Self {
        Self {
            endpoint: None,
            process: None,
            datadir: Some(directory.path().to_owned()),
            proxy: None,
            directory: Some(directory),
            server_pid: None,
            observation: None,
            private: false,
            is_simulated: false,
            dataset: None,
            settings_changed: Vec::new(),
            limit: None,
        }
    }

    /// Endpoint of the clients of a load on a server; a load without one must not ask for it.
    pub fn server(&self) -> &Endpoint {
        let endpoint = self.endpoint.as_ref();
        endpoint.expect("a load on a server has a server")
    }

    /// The role of this machine in the run.
    pub fn host(&self) -> Host {
        if self.server_pid.is_some() || self.directory.is_some() {
            Host::Both
        } else {
            Host::Client
        }
    }

    /// The role of this machine, and the server's process and data directory on it, for sampling.
    pub fn targets(&self) -> Targets {
        Targets {
            host: self.host(),
            server_pid: self.server_pid,
            datadir: self.datadir.clone(),
        }
    }

    /// The parameters for sampling the server every `every` during a load with this number of connections, which may
    /// restart it; `None` without a server.
    pub fn watched(
        &self,
        connections: u32,
        every: Duration,
        comes_back: bool,
        interrupt: &Interrupt,
    ) -> Option<WatchedServer> {
        Some(WatchedServer {
            endpoint: self.endpoint.clone()?,
            is_local: self.server_pid.is_some(),
            connections,
            every,
            comes_back,
            interrupt: interrupt.clone(),
        })
    }

    /// The transport between the clients and the server; `None` without a server.
    pub fn transport(&self) -> Option<Transport> {
        Some(match &self.endpoint.as_ref()?.address {
            Address::Unix(_) => Transport::UnixSocket,
            Address::Tcp { host, .. } if is_loopback(host) => Transport::TcpLoopback,
            Address::Tcp { .. } => Transport::TcpRemote,
        })
    }

    /// Reads the server's identity.
    pub async fn identify(
        &self,
        connection: &mut Connection,
        at: Edge,
    ) -> Result<ServerIdentity, protocol::Error> {
        let variables = variables(connection).await?;
        Ok(ServerIdentity {
            at,
            version: version(&variables, connection.server_version()),
            version_comment: variables
                .get("version_comment")
                .cloned()
                .unwrap_or_default(),
            address: self.server().address.to_string(),
            private: self.private,
            variables,
            settings_changed: self.settings_changed.clone(),
        })
    }
}

/// The server's version: a proxy in front of it may greet with another one, but its variable is the server's own.
fn version(variables: &BTreeMap<String, String>, greeted: &str) -> String {
    let own = variables.get("version").map(String::as_str);
    own.unwrap_or(greeted).to_owned()
}

/// The current time in the format of records: UTC, RFC 3339, whole seconds.
pub fn utc_now() -> String {
    let now = jiff::Timestamp::try_from(reactor::wall_now());
    now.map(|now| now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}

/// A time in seconds since 1970 in the format of records; `None` for one beyond the calendar.
pub fn utc_of(unix_s: i64) -> Option<String> {
    let time = jiff::Timestamp::from_second(unix_s).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// An error if the server's process is on this machine, where no observer is needed.
pub fn refuse_local(server_pid: Option<u32>) -> Result<(), Blamed> {
    match server_pid {
        None => Ok(()),
        Some(_) => {
            let message = "the server is on this machine, which is observed anyway";
            let hint = "leave out observe, or --observe";
            Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
        }
    }
}

/// The server's process, if it is on this machine.
pub fn local_pid(address: &Address, variables: &BTreeMap<String, String>) -> Option<u32> {
    let datadir = Path::new(variables.get("datadir")?);
    let pid = telemetry::pid_in_file(&datadir.join(variables.get("pid_file")?)).ok()?;
    // A process id from another machine has no meaning here.
    let is_local = match address {
        Address::Unix(_) => true,
        // A tunnel, or the port of a container, is also behind a loopback address. A server reports the name that the
        // host had when it started.
        Address::Tcp { host, port } => {
            is_loopback(host)
                && (is_on_this_host(variables) || telemetry::is_server_of(pid, datadir, *port))
        }
    };
    let is_running = Path::new("/proc").join(pid.to_string()).exists();
    (is_local && is_running).then_some(pid)
}

/// Whether the server has the name of this host, or either name is unknown.
fn is_on_this_host(variables: &BTreeMap<String, String>) -> bool {
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let of_server = variables.get("hostname");
    of_server
        .zip(own)
        .is_none_or(|(of_server, own)| of_server.as_str() == own.trim())
}

/// True for an address that cannot be on another machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_of_this_machine_is_the_servers() {
        let datadir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        std::fs::write(datadir.path().join("own.pid"), format!("{own}\n")).unwrap();
        std::fs::write(datadir.path().join("gone.pid"), "4194999\n").unwrap();
        let variables = |pid_file: &str| {
            let datadir = datadir.path().display().to_string();
            let pairs = [("datadir", datadir), ("pid_file", pid_file.to_owned())];
            BTreeMap::from(pairs.map(|(name, value)| (name.to_owned(), value)))
        };
        let tcp = |host: &str| Address::Tcp {
            host: host.to_owned(),
            port: 3306,
        };
        let socket = || Address::Unix("/run/x.sock".into());
        for (address, pid_file, pid) in [
            (socket(), "own.pid", Some(own)),
            (tcp("localhost"), "own.pid", Some(own)),
            (tcp("127.8.0.1"), "own.pid", Some(own)),
            (tcp("::1"), "own.pid", Some(own)),
            (tcp("192.0.2.1"), "own.pid", None),
            (tcp("db1"), "own.pid", None),
            (socket(), "gone.pid", None),
            (socket(), "none.pid", None),
        ] {
            let found = local_pid(&address, &variables(pid_file));
            assert_eq!(found, pid, "{address} {pid_file}");
        }
        let elsewhere = |address: &Address| {
            let mut variables = variables("own.pid");
            variables.insert("hostname".to_owned(), "another host".to_owned());
            local_pid(address, &variables)
        };
        assert_eq!(elsewhere(&tcp("localhost")), None, "behind a tunnel");
        assert_eq!(elsewhere(&socket()), Some(own));
        assert_eq!(local_pid(&socket(), &BTreeMap::new()), None);
        assert!(refuse_local(None).is_ok());
        assert_eq!(refuse_local(Some(own)).unwrap_err().blame, Blame::Input);
    }

    #[test]
    fn the_version_is_the_servers_own() {
        let of_server = BTreeMap::from([("version".to_owned(), "8.0.36".to_owned())]);
        assert_eq!(version(&of_server, "8.0.11 (ProxySQL)"), "8.0.36");
        assert_eq!(
            version(&BTreeMap::new(), "10.11.19-MariaDB"),
            "10.11.19-MariaDB"
        );
    }
}
