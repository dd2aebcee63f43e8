//! The private server that runs take place on: made once, given data, restored and restarted as declared.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use experiment::{Cache, DataSpec, PlannedRun, Restart, Restore, Rows, ServerSpec};
use protocol::{Connection, Endpoint};
use samples::Dataset;
use server::{Installation, Lifetime, Server, Settings};

use super::{
    smack_data::{Loaded, SmackData},
    stage::{Stage, control, variables},
};
use crate::{
    blame::{Blame, Blamed},
    progress::Step,
};

/// Rows that are loaded once to learn how many bytes a row takes on disk.
const ROWS_TO_MEASURE: u64 = 20_000;

/// A data set that was loaded and can be put back.
#[derive(Debug, Clone)]
struct Stored {
    snapshot: PathBuf,
    rows: u64,
    disk_bytes: u64,
    load_s: f64,
}

/// One private server and the data sets that were loaded into it so far.
pub(crate) struct PrivateServer {
    server: Server,
    settings: Settings,
    /// A copy of the data directory as it was made, for loading the next data set.
    pristine: PathBuf,
    /// Data sets by [`PlannedRun::data_set`].
    stored: BTreeMap<String, Stored>,
    /// Bytes that a row of a .smack file takes on disk.
    row_bytes: BTreeMap<PathBuf, f64>,
    /// The data set that the data directory holds now.
    holds: Option<String>,
    /// Block of the last run.
    block: Option<u32>,
}

impl PrivateServer {
    /// Makes a server in `directory`; it goes with this process.
    pub(crate) fn create(
        directory: &Path,
        run: Option<&str>,
        mysqld: Option<&Path>,
        settings: Settings,
    ) -> anyhow::Result<Self> {
        let installation = Installation::find(run, mysqld).map_err(Blamed::from)?;
        let step = Step::spinner(format!(
            "making a private server ({} {})",
            installation.flavour, installation.version
        ));
        let server = Server::create(directory, &installation, &settings).map_err(Blamed::from)?;
        // Inside the server's directory, so that whoever removes the server removes its copies.
        let pristine = directory.join("pristine");
        server.snapshot(&pristine).map_err(Blamed::from)?;
        drop(step);
        Ok(Self {
            server,
            settings,
            pristine,
            stored: BTreeMap::new(),
            row_bytes: BTreeMap::new(),
            holds: None,
            block: None,
        })
    }

    /// Brings the server into the state that `run` asks for and starts it.
    pub(crate) fn prepare(
        &mut self,
        run: &PlannedRun,
        data: Option<(&DataSpec, &SmackData)>,
        database: &str,
    ) -> anyhow::Result<Stage> {
        let ServerSpec::Private { restart, .. } = &run.server else {
            unreachable!("a private server is only prepared for a run on a private server");
        };
        let settings = settings_of(&run.server);
        let new_block = self.block.replace(run.block) != Some(run.block);
        if settings != self.settings
            || *restart == Restart::PerRun
            || (*restart == Restart::PerBlock && new_block)
        {
            self.configure(settings)?;
        }
        let dataset = match data {
            Some((spec, smack)) => {
                let key = run.data_set().expect("a run with data has a data set");
                Some(self.bring(key, spec, smack, new_block, database)?)
            }
            None => None,
        };
        self.start()?;
        Ok(Stage {
            endpoint: self.endpoint(database),
            server_pid: self.server.pid(),
            datadir: Some(self.server.datadir().to_owned()),
            private: true,
            dataset,
        })
    }

    /// Stops the server; its directory stays.
    pub(crate) fn stop(&mut self) -> anyhow::Result<()> {
        if self.server.is_running() {
            self.server.stop().map_err(Blamed::from)?;
        }
        Ok(())
    }

    /// Stops the server and removes everything that it wrote.
    pub(crate) fn destroy(mut self) -> anyhow::Result<()> {
        self.stop()?;
        self.server.destroy().map_err(Blamed::from)?;
        Ok(())
    }

    /// Stops the server and lets it stay; returns its directory.
    pub(crate) fn keep(mut self) -> anyhow::Result<PathBuf> {
        self.stop()?;
        self.server.keep().map_err(Blamed::from)?;
        Ok(self.server.dir().to_owned())
    }

    /// The last lines of the server's log.
    pub(crate) fn log_tail(&self) -> String {
        self.server.log_tail(20)
    }

    fn endpoint(&self, database: &str) -> Endpoint {
        Endpoint {
            database: Some(database.to_owned()),
            ..self.server.endpoint()
        }
    }

    fn start(&mut self) -> anyhow::Result<()> {
        if !self.server.is_running() {
            self.server.start(Lifetime::Owned).map_err(Blamed::from)?;
        }
        Ok(())
    }

    /// Stops the server; it will start with `settings`.
    fn configure(&mut self, settings: Settings) -> anyhow::Result<()> {
        self.stop()?;
        if settings != self.settings {
            self.server.reconfigure(&settings).map_err(Blamed::from)?;
            self.settings = settings;
        }
        Ok(())
    }

    /// Puts the data set in place that a run asks for: kept, restored or loaded.
    fn bring(
        &mut self,
        key: String,
        spec: &DataSpec,
        smack: &SmackData,
        new_block: bool,
        database: &str,
    ) -> anyhow::Result<Dataset> {
        let mut state = "kept";
        if !self.stored.contains_key(&key) {
            self.load(&key, spec, smack, database)?;
            state = "loaded";
        } else if self.holds.as_ref() != Some(&key)
            || spec.restore == Restore::PerRun
            || (spec.restore == Restore::PerBlock && new_block)
        {
            self.stop()?;
            self.server
                .restore(&self.stored[&key].snapshot)
                .map_err(Blamed::from)?;
            self.holds = Some(key.clone());
            state = "restored";
        }
        if spec.cache == Cache::Cold {
            self.stop()?;
            server::evict_page_cache(self.server.datadir()).map_err(Blamed::from)?;
        }
        let buffer_pool_bytes = self.buffer_pool_bytes()?;
        let stored = &self.stored[&key];
        Ok(Dataset {
            source: smack.name(),
            rows: stored.rows,
            disk_bytes: Some(stored.disk_bytes),
            buffer_pool_bytes,
            load_s: (state == "loaded").then_some(stored.load_s),
            state: state.to_owned(),
        })
    }

    /// Loads a data set into a pristine server and keeps a copy of it.
    fn load(
        &mut self,
        key: &str,
        spec: &DataSpec,
        smack: &SmackData,
        database: &str,
    ) -> anyhow::Result<()> {
        let rows = self.rows(spec, smack, database)?;
        let loaded = self.load_pristine(smack, rows, database)?;
        self.stop()?;
        let step = Step::spinner("keeping a copy of the data");
        let snapshot = self
            .server
            .dir()
            .join(format!("data-{}", self.stored.len() + 1));
        self.server.snapshot(&snapshot).map_err(Blamed::from)?;
        drop(step);
        self.holds = Some(key.to_owned());
        let stored = Stored {
            snapshot,
            rows: loaded.rows,
            disk_bytes: smack.disk_bytes(self.server.datadir())?,
            load_s: loaded.took.as_secs_f64(),
        };
        self.stored.insert(key.to_owned(), stored);
        Ok(())
    }

    /// Loads so many rows into an empty server.
    fn load_pristine(
        &mut self,
        smack: &SmackData,
        rows: u64,
        database: &str,
    ) -> anyhow::Result<Loaded> {
        self.stop()?;
        self.server.restore(&self.pristine).map_err(Blamed::from)?;
        self.holds = None;
        self.start()?;
        let admin = self.server.endpoint();
        control(async {
            let mut connection = Connection::open(&admin).await?;
            let sql = format!(
                "create database if not exists `{}`",
                database.replace('`', "``")
            );
            connection.query(sql.as_bytes()).await?;
            connection.close().await
        })?;
        smack.load(&self.endpoint(database), rows)
    }

    /// The number of rows that a data set needs, from the bytes that a row takes on disk if it is a ratio.
    fn rows(&mut self, spec: &DataSpec, smack: &SmackData, database: &str) -> anyhow::Result<u64> {
        let ratio = match spec.rows {
            Rows::Count(rows) => return Ok(rows),
            Rows::TimesBufferPool(ratio) => ratio,
        };
        let row_bytes = match self.row_bytes.get(&spec.smack) {
            Some(bytes) => *bytes,
            None => {
                let loaded = self.load_pristine(smack, ROWS_TO_MEASURE, database)?;
                self.stop()?;
                let disk_bytes = smack.disk_bytes(self.server.datadir())?;
                let bytes = disk_bytes as f64 / loaded.rows as f64;
                self.row_bytes.insert(spec.smack.clone(), bytes);
                bytes
            }
        };
        let pool_bytes = self.buffer_pool_bytes()?.ok_or_else(|| {
            Blamed::new(Blame::Input, "the server has no InnoDB buffer pool")
                .hint("give the rows as a plain count".to_owned())
        })?;
        Ok((ratio * pool_bytes as f64 / row_bytes).ceil() as u64)
    }

    /// Size of the buffer pool with the present settings.
    fn buffer_pool_bytes(&mut self) -> anyhow::Result<Option<u64>> {
        self.start()?;
        let endpoint = self.server.endpoint();
        let variables = control(async {
            let mut connection = Connection::open(&endpoint).await?;
            let variables = variables(&mut connection).await?;
            connection.close().await?;
            Ok(variables)
        })?;
        Ok(variables
            .get("innodb_buffer_pool_size")
            .and_then(|bytes| bytes.parse().ok()))
    }
}

/// The settings that a run asks its private server for.
pub(crate) fn settings_of(server: &ServerSpec) -> Settings {
    match server {
        ServerSpec::Private { cnf, set, .. } => Settings {
            cnf: cnf.clone(),
            set: set.clone(),
            port: None,
        },
        ServerSpec::Given { .. } => Settings::default(),
    }
}
