//! Loads of data into a private server, and the copies that are kept of it.

use blame::{Blame, Blamed};
use server::Settings;
use settings::Rows;

use super::{PrivateServer, Stored, to_allow};
use crate::{
    control::{Purpose, backticked},
    data::{Destination, LoadResult, WantedData},
    listener::Length,
};

/// Rows loaded once to measure the bytes per row on disk.
const ROWS_TO_MEASURE: u64 = 20_000;
/// Maximum relative error of the data's ratio to the buffer pool; beyond it the data is loaded again.
const RATIO_OFF_AT_MOST: f64 = 0.1;
/// Maximum loads to reach the ratio: small tables grow in steps.
const LOADS_AT_MOST: u32 = 3;

impl PrivateServer {
    /// Loads a data set into a pristine server and stores a copy of it.
    pub(super) fn load(&mut self, data: &WantedData<'_>, database: &str) -> Result<(), Blamed> {
        let loaded = self.load_with_its_settings(data, database)?;
        let step = (self.context).step("keeping a copy of the data", Length::Unknown);
        let snapshot = self
            .server
            .lock()
            .dir()
            .join(format!("data-{}", self.stored.len() + 1));
        self.server.lock().snapshot(&snapshot, None)?;
        drop(step);
        self.holds = Some(data.data_set.clone());
        let stored = Stored {
            snapshot,
            rows: loaded.rows,
            disk_bytes: loaded.disk_bytes,
            load_s: loaded.took.as_secs_f64(),
        };
        self.stored.insert(data.data_set.clone(), stored);
        Ok(())
    }

    /// Loads a data set into a server with the settings that it has for its load only; they are taken back.
    fn load_with_its_settings(
        &mut self,
        data: &WantedData<'_>,
        database: &str,
    ) -> Result<LoadResult, Blamed> {
        let settings = with_those_of_load(&self.settings, data.maker.settings_of_load());
        let is_other = settings != self.settings;
        if is_other {
            self.stop()?;
            self.server.lock().reconfigure(&settings)?;
        }
        let loaded = match data.rows() {
            None => self.load_rows(data, None, database)?,
            Some(Rows::Count(rows)) => self.load_rows(data, Some(rows), database)?,
            Some(Rows::TimesBufferPool(ratio)) => self.load_ratio(data, ratio, database)?,
        };
        self.stop()?;
        if is_other {
            self.server.lock().reconfigure(&self.settings)?;
        }
        Ok(loaded)
    }

    /// Loads a data set into an empty server, with `rows` rows where the number is variable.
    fn load_rows(
        &mut self,
        data: &WantedData<'_>,
        rows: Option<u64>,
        database: &str,
    ) -> Result<LoadResult, Blamed> {
        self.begin_anew(database)?;
        let directory = self.server.lock().dir().to_owned();
        let destination = Destination {
            endpoint: &self.endpoint(database),
            directory: Some(&directory),
        };
        (data.maker).load(&destination, rows, &self.context)
    }

    /// Starts the pristine server and creates the database.
    fn begin_anew(&mut self, database: &str) -> Result<(), Blamed> {
        self.stop()?;
        self.server.lock().restore(&self.pristine)?;
        self.holds = None;
        self.start()?;
        self.prepared
            .refuse_on(&self.without_database(), to_allow)?;
        let create = format!("create database if not exists {}", backticked(database));
        Purpose::Work.control(&self.without_database(), async |connection| {
            connection.query(create.as_bytes()).await
        })?;
        Ok(())
    }

    /// Loads the number of rows that gives the data this ratio to the buffer pool.
    fn load_ratio(
        &mut self,
        data: &WantedData<'_>,
        ratio: f64,
        database: &str,
    ) -> Result<LoadResult, Blamed> {
        let wanted_bytes = match self.buffer_pool_bytes()? {
            Some(bytes) => ratio * bytes as f64,
            None => return Err(needs_count("the server has no InnoDB buffer pool")),
        };
        let mut row_bytes = self.row_bytes.get(&data.row_kind()).copied();
        let mut loads = 0;
        loop {
            let rows = match row_bytes {
                Some(row_bytes) => (wanted_bytes / row_bytes).ceil().max(1.0) as u64,
                None => ROWS_TO_MEASURE,
            };
            let loaded = self.load_rows(data, Some(rows), database)?;
            loads += 1;
            let Some(bytes) = loaded.disk_bytes.filter(|bytes| *bytes > 0) else {
                return Err(needs_count(
                    "the server does not report the size of its tables",
                ));
            };
            let off = (bytes as f64 / wanted_bytes - 1.0).abs();
            row_bytes = Some(bytes as f64 / rows as f64);
            self.row_bytes
                .insert(data.row_kind(), bytes as f64 / rows as f64);
            if off <= RATIO_OFF_AT_MOST || loads == LOADS_AT_MOST {
                return Ok(loaded);
            }
        }
    }
}

/// These settings with those of a load, which win.
fn with_those_of_load(settings: &Settings, of_load: &[(&str, &str)]) -> Settings {
    let of_load = of_load.iter();
    let of_load = of_load.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings {
        set: settings.set.clone().into_iter().chain(of_load).collect(),
        ..settings.clone()
    }
}

/// The error for a ratio that cannot be measured.
fn needs_count(why: &str) -> Blamed {
    Blamed::new(Blame::Input, why)
        .hint("give the rows as a plain count, such as rows = \"1M\"".to_owned())
}
