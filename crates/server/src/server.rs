//! One private server and its properties.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mycnf::{Finding, OptionFile, Options, PrivateOptions, Replaced};
use protocol::{Address, Endpoint, Password, ServerKey, SslMode};

use crate::check::accept;
use crate::configuration::{Settings, configure, host, is_without_tls};
use crate::control_group::Cgroup;
use crate::directory::layout::Layout;
use crate::directory::lock::Lock;
use crate::directory::marker::{Marker, write_private};
use crate::error::Error;
use crate::initialise::accounts::{Access, Accounts, BENCH};
use crate::initialise::make_data;
use crate::installation::Installation;
use crate::lifecycle::own_process;
use crate::process::ProcessId;
use crate::{destroy, directory::socket_dir, process::log, process::port, snapshot::copy};

/// Time limit until a killed server has closed its files.
const ENDING_AT_MOST: Duration = Duration::from_secs(10);

/// Time limit for a client of a private server to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A private server in a directory of its own.
///
/// [`crate::sweep`] removes a new server once the process that created it has ended, unless [`Server::keep`] or a
/// detached start makes it permanent. A server started with [`crate::Lifetime::Owned`] is killed when this is dropped.
pub struct Server {
    pub(crate) layout: Layout,
    pub(crate) marker: Marker,
    pub(crate) accounts: Accounts,
    /// The server process, if this process started it and has to reap it.
    pub(crate) child: Option<Child>,
    pub(crate) dies_with_us: bool,
    /// The control group in which it is started; `None` for that of dbdyno.
    pub(crate) group: Option<Arc<Cgroup>>,
    replaced: Vec<Replaced>,
    notes: Vec<Finding>,
}

impl Server {
    /// Makes a server in a directory that does not exist yet. The server is not started.
    pub fn create(
        dir: &Path,
        installation: &Installation,
        settings: &Settings,
    ) -> Result<Self, Error> {
        Self::create_with(dir, installation, settings, settings, |layout, private| {
            make_data(layout, installation, private.options())
        })
    }

    /// Makes a server whose data directory and accounts come from `fill`. The server's own check of options is asked for
    /// `checked`: it refuses directories that do not exist yet.
    pub(crate) fn create_with(
        dir: &Path,
        installation: &Installation,
        settings: &Settings,
        checked: &Settings,
        fill: impl FnOnce(&Layout, &PrivateOptions) -> Result<Accounts, Error>,
    ) -> Result<Self, Error> {
        let layout = Layout::of(dir)?;
        // Errors in the settings are reported before anything is made.
        let private = configure(&layout, installation, settings)?;
        let notes = accept(installation, checked)?;
        let host = host(private.options());
        let port = match settings.port {
            Some(port) if !port::is_free(&host, port) => {
                return Err(Error::PortTaken { host, port });
            }
            Some(port) => port,
            None => port::free_port(&host)?,
        };
        let own = own_process()?;
        layout.claim()?;
        let mut marker = Marker::new(installation, own, unix_time_s());
        marker.host = host;
        marker.port = port;
        marker.port_is_named = settings.port.is_some();
        let made = marker.write(&layout).and_then(|()| {
            let _lock = Lock::take(&layout)?;
            Self::fill(&layout, marker, &private, fill)
        });
        match made {
            Ok(mut server) => {
                server.notes = notes;
                Ok(server)
            }
            Err(error) => {
                // The directory is ours and contains nothing yet that the error does not show.
                destroy::remove_claimed(&layout)?;
                Err(error)
            }
        }
    }

    /// Makes everything inside a claimed directory.
    fn fill(
        layout: &Layout,
        mut marker: Marker,
        private: &PrivateOptions,
        fill: impl FnOnce(&Layout, &PrivateOptions) -> Result<Accounts, Error>,
    ) -> Result<Self, Error> {
        layout.make_directories()?;
        if !layout.has_room_for_socket() {
            marker.socket_dir = Some(socket_dir::make(layout)?);
            marker.write(layout)?;
        }
        write_private(&layout.option_file, private.to_text().as_bytes())?;
        // A copied data directory writes nothing to the log.
        log::open(&layout.log).map_err(Error::io("open", &layout.log))?;
        let accounts = fill(layout, private)?;
        let server = Self {
            layout: layout.clone(),
            marker,
            accounts,
            child: None,
            dies_with_us: false,
            group: None,
            replaced: private.replaced().to_vec(),
            notes: Vec::new(),
        };
        server.write_client_file(is_without_tls(private.options()))?;
        Ok(server)
    }

    /// Opens a server that was created before; refuses a directory that dbdyno did not make.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let layout = Layout::of(dir)?;
        let marker = Marker::read(&layout)?;
        if marker.is_being_made(&layout) {
            return Err(Error::BeingMade { dir: layout.dir });
        }
        Ok(Self {
            accounts: Accounts::read(&layout)?,
            layout,
            marker,
            child: None,
            dies_with_us: false,
            group: None,
            replaced: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Changes the settings of a stopped server. Options that are fixed in the data directory must not change.
    pub fn reconfigure(&mut self, settings: &Settings) -> Result<(), Error> {
        let _lock = Lock::take(&self.layout)?;
        self.refresh()?;
        self.refuse_if_running()?;
        let private = configure(&self.layout, &self.installation()?, settings)?;
        self.refuse_other_data(private.options())?;
        self.notes = accept(&self.installation()?, settings)?;
        self.marker.host = host(private.options());
        self.marker.port_is_named = settings.port.is_some();
        self.marker.port = settings.port.unwrap_or(self.marker.port);
        write_private(&self.layout.option_file, private.to_text().as_bytes())?;
        self.write_client_file(is_without_tls(private.options()))?;
        self.replaced = private.replaced().to_vec();
        self.marker.write(&self.layout)
    }

    /// Refuses options under which the data directory would have been made in another way.
    pub(crate) fn refuse_other_data(&self, options: &Options) -> Result<(), Error> {
        let was = mycnf::fixed_at_creation(&self.options()?);
        let now = mycnf::fixed_at_creation(options);
        for option in was.keys().chain(now.keys()) {
            if was.get(option) != now.get(option) {
                return Err(Error::FixedAtCreation {
                    option: (*option).to_owned(),
                    was: was.get(option).cloned().flatten(),
                    now: now.get(option).cloned().flatten(),
                });
            }
        }
        Ok(())
    }

    /// Starts the server in this control group from its next start on.
    pub fn start_in(&mut self, group: Arc<Cgroup>) {
        self.group = Some(group);
    }

    /// Keeps the server when this process ends; only [`Server::destroy`] then removes it.
    pub fn keep(&mut self) -> Result<(), Error> {
        self.marker.owner = None;
        self.marker.write(&self.layout)
    }

    /// Lines of the user's option files that are overridden, as of the last change of settings.
    pub fn replaced(&self) -> &[Replaced] {
        &self.replaced
    }

    /// The server's remarks on the user's options at the option check: values that are adjusted, options without
    /// effect.
    pub fn notes(&self) -> &[Finding] {
        &self.notes
    }

    pub fn dir(&self) -> &Path {
        &self.layout.dir
    }

    pub fn datadir(&self) -> &Path {
        &self.layout.data
    }

    /// Disk space of the data directory, bytes; blocks shared with snapshots are counted in full.
    pub fn data_bytes(&self) -> Result<u64, Error> {
        copy::allocated_bytes(&self.layout.data)
    }

    /// The option file that command-line clients use to connect; it holds passwords.
    pub fn client_file(&self) -> &Path {
        &self.layout.client_file
    }

    pub fn log_file(&self) -> &Path {
        &self.layout.log
    }

    pub fn log_tail(&self, lines: usize) -> String {
        log::tail(&self.layout.log, 0, lines)
    }

    /// The installation that the server was created from.
    pub fn installation(&self) -> Result<Installation, Error> {
        let marker = &self.marker;
        Installation::remembered(
            &marker.mysqld,
            &marker.basedir,
            marker.flavour,
            &marker.version,
            &marker.launch,
        )
        .ok_or_else(|| Error::Marker {
            path: self.layout.marker.clone(),
            why: format!("has a version without a number: {}", marker.version),
        })
    }

    pub fn port(&self) -> u16 {
        self.marker.port
    }

    pub fn socket(&self) -> PathBuf {
        let directory = self.marker.socket_dir.as_ref().unwrap_or(&self.layout.run);
        self.layout.socket_in(directory)
    }

    /// Whether it has a data directory; false after an interrupted restore.
    pub fn has_data(&self) -> bool {
        self.layout.data.is_dir()
    }

    /// Whether the server process runs, even if another process started it.
    pub fn is_running(&self) -> bool {
        self.pid().is_some()
    }

    /// The server process, if it runs.
    pub fn pid(&self) -> Option<u32> {
        self.marker.running().map(ProcessId::pid)
    }

    /// The time since the start of the server process; `None` when it is not running.
    pub fn uptime(&self) -> Option<Duration> {
        self.marker.running()?.uptime().ok()
    }

    /// The connection for benchmarks: over the unix socket, with all privileges, in database `test`.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint_at(Address::Unix(self.socket()))
    }

    pub fn tcp_endpoint(&self) -> Endpoint {
        let address = Address::Tcp {
            host: self.marker.host.clone(),
            port: self.marker.port,
        };
        // MySQL creates the file at its first start; MariaDB has none and needs none.
        let key = self.layout.data.join("public_key.pem");
        Endpoint {
            server_key: if key.exists() {
                ServerKey::File(key)
            } else {
                ServerKey::Refused
            },
            ..self.endpoint_at(address)
        }
    }

    fn endpoint_at(&self, address: Address) -> Endpoint {
        Endpoint {
            password: Some(Password::from(self.accounts.bench.as_str())),
            database: Some("test".to_owned()),
            ssl_mode: SslMode::Preferred,
            ..Endpoint::plain(address, BENCH, CONNECT_TIMEOUT)
        }
    }

    /// The options that the server reads at its next start.
    pub(crate) fn options(&self) -> Result<Options, Error> {
        let file = OptionFile::read(&self.layout.option_file)?;
        Ok(Options::from_groups(&file, &["mysqld"]))
    }

    pub(crate) fn write_client_file(&self, without_tls: bool) -> Result<(), Error> {
        self.accounts.write(
            &self.layout,
            &Access {
                socket: &self.socket(),
                port: self.marker.port,
                without_tls: without_tls && self.marker.flavour == crate::Flavour::MariaDb,
            },
        )
    }

    /// Reloads the changes of other processes.
    pub(crate) fn refresh(&mut self) -> Result<(), Error> {
        self.marker = Marker::read(&self.layout)?;
        Ok(())
    }

    pub(crate) fn refuse_if_running(&self) -> Result<(), Error> {
        if let Some(process) = self.marker.running() {
            process
                .wait_if_ending(ENDING_AT_MOST)
                .map_err(Error::io("wait for the server in", &self.layout.dir))?;
        }
        match self.pid() {
            None => Ok(()),
            Some(pid) => Err(Error::Running {
                dir: self.layout.dir.clone(),
                pid,
            }),
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Server")
            .field("dir", &self.layout.dir)
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a date for people; nothing is computed from it"
)]
pub(crate) fn unix_time_s() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
