//! The private server for runs: created once, loaded with data, restored and restarted as declared.

mod loading;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use blame::Blamed;
use experiment::{Cache, Connect, PlannedRun, Restart, ServerSpec};
use protocol::{Endpoint, SslMode};
use samples::{Dataset, DatasetState};
use server::{Cgroup, Installation, Lifetime, Server, Settings};

use crate::{
    control::{Purpose, control, number, variables},
    data::WantedData,
    limit::{ServerLimits, guard::GuardedGroup},
    listener::{Context, Length},
    named_server,
    prepared_statements::PreparedStatements,
    redo_log, signals,
    stage::{Stage, settings_in_effect::adjusted, shared_server::SharedServer},
};

/// A stored data set that can be restored.
#[derive(Debug, Clone)]
struct Stored {
    snapshot: PathBuf,
    rows: u64,
    disk_bytes: Option<u64>,
    load_s: f64,
}

pub(crate) struct ServerLocation {
    pub directory: PathBuf,
    /// Path among the named servers: the directory itself, or a link to it, so that a sweep finds it.
    pub path: PathBuf,
}

impl ServerLocation {
    fn is_elsewhere(&self) -> bool {
        self.directory != self.path
    }
}

/// A private server with the data sets loaded so far.
pub(crate) struct PrivateServer {
    server: SharedServer,
    /// Link among the named servers, if the server is in another directory.
    link: Option<PathBuf>,
    settings: Settings,
    /// A copy of the new data directory, for loading the next data set.
    pristine: PathBuf,
    /// Data sets by [`PlannedRun::data_set`].
    stored: BTreeMap<String, Stored>,
    /// Bytes per row on disk, by [`WantedData::row_kind`].
    row_bytes: BTreeMap<String, f64>,
    /// The current data set of the data directory.
    holds: Option<String>,
    /// Block of the last run.
    block: Option<u32>,
    context: Context,
    /// Remarks reported about the server's options, each once.
    told: BTreeSet<String>,
    /// The control group in which it runs, where a run limits it.
    group: Option<GuardedGroup>,
    /// Time limit of the experiment for each statement before and after the runs.
    statement_timeout: Option<Duration>,
    /// The prepared statements that it has to allow.
    prepared: PreparedStatements,
}

impl PrivateServer {
    /// Creates a server at this location; it is removed with this process.
    pub(crate) fn create(
        place: &ServerLocation,
        run: Option<&str>,
        mysqld: Option<&Path>,
        settings: Settings,
        context: Context,
        group: Option<Cgroup>,
    ) -> Result<Self, Blamed> {
        let installation = Installation::find(run, mysqld)?;
        let what = format!(
            "creating a private server ({} {})",
            installation.flavour, installation.version
        );
        let step = context.step(&what, Length::Unknown);
        let mut server = Server::create(&place.directory, &installation, &settings)?;
        let link = place.is_elsewhere().then(|| place.path.clone());
        if let Some(link) = &link
            && let Err(error) = named_server::link(link, server.dir())
        {
            server.destroy()?;
            return Err(error);
        }
        // Inside the server's directory, so that removing the server also removes its copies.
        let pristine = place.directory.join("pristine");
        if let Err(error) = server.snapshot(&pristine, None) {
            server.destroy()?;
            return Err(Blamed::from(error));
        }
        drop(step);
        let group = group.map(GuardedGroup::new).transpose()?;
        if let Some(group) = &group {
            server.start_in(group.shared());
        }
        let mut made = Self {
            server: SharedServer::new(server),
            link,
            settings,
            pristine,
            stored: BTreeMap::new(),
            row_bytes: BTreeMap::new(),
            holds: None,
            block: None,
            context,
            told: BTreeSet::new(),
            group,
            statement_timeout: None,
            prepared: PreparedStatements::default(),
        };
        made.tell_of_remarks();
        Ok(made)
    }

    /// Prepares the server for `run` and starts it.
    pub(crate) fn prepare(
        &mut self,
        run: &PlannedRun,
        data: Option<WantedData<'_>>,
        database: &str,
        prepared: PreparedStatements,
    ) -> Result<Stage, Blamed> {
        self.prepared = prepared;
        self.statement_timeout = run.server.access().statement_timeout;
        let limit = self.limit(run)?;
        let settings = settings_of(&run.server);
        let new_block = self.block.replace(run.block) != Some(run.block);
        let restart = match &run.server {
            ServerSpec::Private { restart, .. } => *restart,
            ServerSpec::Given { .. } | ServerSpec::Absent => Restart::Never,
        };
        if settings != self.settings
            || restart == Restart::PerRun
            || (restart == Restart::PerBlock && new_block)
        {
            self.configure(settings)?;
        }
        let dataset = match data {
            Some(data) => Some(self.provide_data(&data, new_block, database)?),
            None => None,
        };
        if !run.change.is_empty() {
            let is_cold = run.data.as_ref().map(|data| data.cache) == Some(Cache::Cold);
            self.change(&run.change, database, is_cold)?;
        }
        self.start()?;
        let variables = control(&self.server.lock().endpoint(), variables)?;
        self.prepared.refuse_by(&variables, to_allow)?;
        let mut settings_changed = self.remarks();
        settings_changed.extend(self.warn_of_adjusted_settings(&variables));
        let mut endpoint = self.endpoint(database);
        let server = self.server.lock();
        if run.server.access().connect == Connect::Tcp {
            endpoint = Endpoint {
                database: Some(database.to_owned()),
                // A loopback connection and a socket cannot be intercepted.
                ssl_mode: SslMode::Disabled,
                statement_timeout: self.statement_timeout,
                ..server.tcp_endpoint()
            };
        }
        Ok(Stage {
            endpoint: Some(endpoint),
            process: Some(self.server.clone()),
            proxy: None,
            directory: None,
            server_pid: server.pid(),
            datadir: Some(server.datadir().to_owned()),
            observation: None,
            private: true,
            is_simulated: false,
            dataset,
            settings_changed,
            limit,
        })
    }

    /// Stops the server; its directory is kept.
    pub(crate) fn stop(&mut self) -> Result<(), Blamed> {
        if self.server.lock().is_running() {
            // Otherwise it would start without its redo log again.
            if self.server.lock().redo_log_is_off() {
                Purpose::Change.control(&self.server.lock().endpoint(), redo_log::bring_back)?;
            }
            self.server.lock().stop()?;
        }
        Ok(())
    }

    /// Stops the server and removes all its files.
    pub(crate) fn destroy(mut self) -> Result<(), Blamed> {
        // Its data is removed anyway: after an interruption there is no need to wait until it is flushed.
        match signals::raised_for() {
            Some(_) if !self.server.lock().redo_log_is_off() => {
                self.server.lock().kill()?;
            }
            _ => self.stop()?,
        }
        self.server.into_server().destroy()?;
        match &self.link {
            Some(link) => Ok(named_server::unlink(link)?),
            None => Ok(()),
        }
    }

    /// Stops the server and keeps it; returns its directory.
    pub(crate) fn keep(mut self) -> Result<PathBuf, Blamed> {
        self.stop()?;
        self.server.lock().keep()?;
        Ok(self.server.lock().dir().to_owned())
    }

    /// Its directory, which holds its data and the copies of it.
    pub(crate) fn directory(&self) -> PathBuf {
        self.server.lock().dir().to_owned()
    }

    /// The size that its buffer pool gets when it is started, bytes.
    pub(crate) fn planned_pool_bytes(&self) -> Result<u64, Blamed> {
        let server = self.server.lock();
        Ok(server.buffer_pool_bytes(&Settings::default())?)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.server.lock().is_running()
    }

    pub(crate) fn log_tail(&self) -> String {
        self.server.lock().log_tail(20)
    }

    fn endpoint(&self, database: &str) -> Endpoint {
        Endpoint {
            database: Some(database.to_owned()),
            ..self.without_database()
        }
    }

    fn without_database(&self) -> Endpoint {
        Endpoint {
            statement_timeout: self.statement_timeout,
            ..self.server.lock().endpoint()
        }
    }

    /// The user's options that a private server cannot have, and the server's remarks about the others.
    fn remarks(&self) -> Vec<String> {
        let server = self.server.lock();
        let replaced = server.replaced().iter().map(ToString::to_string);
        let notes = server.notes().iter().map(ToString::to_string);
        replaced.chain(notes).collect()
    }

    fn tell_of_remarks(&mut self) {
        for line in self.remarks() {
            if self.told.insert(line.clone()) {
                self.context.note(&line);
            }
        }
    }

    /// Reports the settings that differ from the requested ones: a factor over them would be invalid.
    fn warn_of_adjusted_settings(&mut self, variables: &BTreeMap<String, String>) -> Vec<String> {
        let adjusted = adjusted(&self.settings.set, variables);
        for line in &adjusted {
            if self.told.insert(line.clone()) {
                self.context.warn(line);
            }
        }
        adjusted
    }

    /// Sets the limits of a run that hold from the server's start; those of the disk hold during its load.
    fn limit(&mut self, run: &PlannedRun) -> Result<Option<ServerLimits>, Blamed> {
        let Some(group) = &self.group else {
            return Ok(None);
        };
        let limits = run.server.limit();
        group.limit_processes(&limits)?;
        let limit = (!limits.is_empty()).then(|| ServerLimits::new(group.shared(), limits));
        for line in limit.iter().flat_map(ServerLimits::not_limited) {
            if self.told.insert(line.clone()) {
                self.context.note(&line);
            }
        }
        Ok(limit)
    }

    fn start(&mut self) -> Result<(), Blamed> {
        if !self.server.lock().is_running() {
            self.server.lock().start(Lifetime::Owned)?;
        }
        Ok(())
    }

    /// Stops the server, so that the next start uses `settings`.
    fn configure(&mut self, settings: Settings) -> Result<(), Blamed> {
        self.stop()?;
        if settings != self.settings {
            self.server.lock().reconfigure(&settings)?;
            self.settings = settings;
            self.tell_of_remarks();
        }
        Ok(())
    }

    /// Provides the data set of a run: kept, restored or loaded.
    fn provide_data(
        &mut self,
        data: &WantedData<'_>,
        new_block: bool,
        database: &str,
    ) -> Result<Dataset, Blamed> {
        let key = &data.data_set;
        let mut state = DatasetState::Kept;
        if !self.stored.contains_key(key) {
            self.load(data, database)?;
            state = DatasetState::Loaded;
        } else if self.holds.as_ref() != Some(key) || data.is_renewed(new_block) {
            self.stop()?;
            let snapshot = &self.stored[key].snapshot;
            self.server.lock().restore(snapshot)?;
            self.holds = Some(key.clone());
            state = DatasetState::Restored;
        }
        if data.spec.cache == Cache::Cold {
            self.stop()?;
            server::evict_page_cache(self.server.lock().datadir())?;
        }
        let buffer_pool_bytes = self.buffer_pool_bytes()?;
        let stored = &self.stored[key];
        Ok(Dataset {
            source: data.maker.name(),
            rows: stored.rows,
            disk_bytes: stored.disk_bytes,
            buffer_pool_bytes,
            load_s: (state == DatasetState::Loaded).then_some(stored.load_s),
            state,
        })
    }

    /// Executes statements that change the data, and stops the server: what they left in its caches is not part of the
    /// run.
    fn change(
        &mut self,
        statements: &[String],
        database: &str,
        is_cold: bool,
    ) -> Result<(), Blamed> {
        self.start()?;
        Purpose::OfUser.control(&self.endpoint(database), async |connection| {
            for statement in statements {
                connection.query(statement.as_bytes()).await?;
            }
            Ok(())
        })?;
        control(&self.server.lock().endpoint(), async |connection| {
            // The next start is to load the same pages as without the change; an old server has no such list.
            let keep = b"set global innodb_buffer_pool_dump_at_shutdown = off";
            match connection.query(keep).await {
                Err(error) if error.server_error().is_none() => Err(error),
                _ => Ok(()),
            }
        })?;
        self.stop()?;
        if is_cold {
            server::evict_page_cache(self.server.lock().datadir())?;
        }
        Ok(())
    }

    /// Size of the buffer pool with the current settings, bytes.
    fn buffer_pool_bytes(&mut self) -> Result<Option<u64>, Blamed> {
        self.start()?;
        let size = Purpose::Work.control(&self.without_database(), async |connection| {
            number(connection, "select @@innodb_buffer_pool_size").await
        })?;
        Ok(size)
    }
}

/// How to allow this number of prepared statements.
fn to_allow(all: u64) -> String {
    format!("set = {{ max_prepared_stmt_count = {all} }} under [server]")
}

/// The settings that a run requests for its private server.
pub(crate) fn settings_of(server: &ServerSpec) -> Settings {
    match server {
        ServerSpec::Private {
            cnf, set, defaults, ..
        } => Settings {
            cnf: cnf.clone(),
            set: set.clone(),
            defaults,
            port: None,
        },
        ServerSpec::Given { .. } | ServerSpec::Absent => Settings::default(),
    }
}
