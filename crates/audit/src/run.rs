//! One run as the rules read it: the figures of its measured phase.

use figures::RunFigures;
use samples::{
    BlockDevice, Counters, DiskTraffic, Host, Interval, LoadStage, Machine, PlannedAction, Record,
    ServerIdentity, ServerStatus, Storage, StorageDirectory, Telemetry,
};

use crate::{
    finding::{SkipReason, missing, no_subject},
    subject::{AuditedRun, Limit, SearchLimit},
};

/// Why a rule does not apply to a ramp.
pub(crate) const RAMP: &str = "the load of a ramp changes as planned";

#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) record: &'a Record,
    pub(crate) figures: RunFigures,
    pub(crate) limit: Option<&'a Limit>,
    pub(crate) side: Option<&'a str>,
    /// The limit that the run has to keep; `None` if it is not of a search.
    pub(crate) search_limit: Option<&'a SearchLimit>,
    /// The stage that this is the record of; `None` for a whole run.
    pub(crate) stage: Option<&'a LoadStage>,
    /// The records of the other loads of the run, as far as they are there.
    pub(crate) beside: Vec<&'a Record>,
    /// False for the second and further loads of a run.
    pub(crate) is_first_load: bool,
}

impl<'a> Run<'a> {
    pub(crate) fn of(measured: &'a AuditedRun<'a>) -> Self {
        Self {
            record: measured.record,
            figures: RunFigures::of(measured.record),
            limit: measured.limit.as_ref(),
            side: measured.side.as_deref(),
            search_limit: None,
            stage: None,
            beside: Vec::new(),
            is_first_load: true,
        }
    }

    /// A stage or a batch, or a run without any.
    pub(crate) fn of_stage(measured: &'a AuditedRun<'a>) -> Self {
        Self {
            stage: measured.record.stages.first(),
            ..Self::of(measured)
        }
    }

    /// `run 3`, `run 3 (batch)` for one of several loads, `stage 2 of run 3` or `batch 5 of run 3`, with its side if there
    /// are two.
    pub(crate) fn name(&self) -> String {
        let number = self.record.header.number_in_words();
        let run = match (self.stage, self.record.batch) {
            (Some(stage), _) => format!("stage {} of run {number}", stage.number),
            (None, Some(batch)) => format!("batch {batch} of run {number}"),
            (None, None) => format!("run {number}"),
        };
        match self.side {
            Some(side) => format!("{run} of {side}"),
            None => run,
        }
    }

    /// True for a stage that is a ramp, whose figures change with its load.
    pub(crate) fn is_ramp(&self) -> bool {
        self.stage.is_some_and(LoadStage::is_ramp)
    }

    /// Length of the measured phase, seconds.
    pub(crate) fn measured_s(&self) -> Result<f64, SkipReason> {
        match self.figures.measured_s {
            length_s if length_s > 0.0 => Ok(length_s),
            _ => Err(missing("a measured phase")),
        }
    }

    /// Duration of the measured phase in seconds, for a load without a fixed end. Loading a table has a fixed end.
    pub(crate) fn sustained_s(&self) -> Result<f64, SkipReason> {
        let measured_s = self.measured_s()?;
        match self.record.loaded {
            Some(_) => Err(no_subject("loading a table is measured from start to end")),
            None => Ok(measured_s),
        }
    }

    /// Operations per second.
    pub(crate) fn throughput(&self) -> Result<f64, SkipReason> {
        let per_s = self.figures.throughput_per_s;
        per_s
            .filter(|per_s| *per_s > 0.0)
            .ok_or_else(|| missing("operations in the measured phase"))
    }

    /// The records of all loads of the run; an error if one is missing.
    pub(crate) fn loads(&self) -> Result<impl Iterator<Item = &'a Record> + use<'a>, SkipReason> {
        if self.beside.len() < self.record.header.beside.len() {
            return Err(missing("the records of the other loads of the run"));
        }
        Ok([self.record].into_iter().chain(self.beside.clone()))
    }

    /// Operations per second of all loads of the run, to which the server's counters belong.
    pub(crate) fn operations_per_s(&self) -> Result<f64, SkipReason> {
        let mut all = self.throughput()?;
        for other in self.loads()?.skip(1) {
            all += RunFigures::of(other).throughput_per_s.unwrap_or(0.0);
        }
        Ok(all)
    }

    /// Connections of all loads of the run.
    pub(crate) fn connections(&self) -> u32 {
        let others = self.beside.iter().map(|it| it.connections());
        self.record.connections() + others.sum::<u32>()
    }

    /// The intervals of the measured phase.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &'a Interval> + use<'a> {
        self.record.measured_intervals()
    }

    /// The intervals of the measured phase before the first planned event, and all of them without one: what an event
    /// does is no fault of the run.
    pub(crate) fn undisturbed(&self) -> impl Iterator<Item = &'a Interval> + use<'a> {
        self.record.undisturbed_intervals()
    }

    /// True if a planned event restarted the server.
    pub(crate) fn restarted_the_server(&self) -> bool {
        let mut events = self.record.events.iter();
        events.any(|it| it.action == PlannedAction::Server && it.begin_s.is_some())
    }

    /// Operations per second of each undisturbed interval of the measured phase.
    pub(crate) fn course(&self) -> Vec<f64> {
        let full = |interval: &&Interval| interval.length_s > 0.0;
        let per_s = |interval: &Interval| interval.succeeded() as f64 / interval.length_s;
        self.undisturbed().filter(full).map(per_s).collect()
    }

    /// The identity of the server at the start.
    pub(crate) fn server(&self) -> Result<&'a ServerIdentity, SkipReason> {
        let servers = &self.record.servers;
        servers
            .first()
            .ok_or_else(|| missing("the server's variables"))
    }

    /// A server variable at the start; `None` if this server does not have it.
    pub(crate) fn variable(&self, name: &str) -> Option<&'a str> {
        let server = self.record.servers.first()?;
        server.variables.get(name).map(String::as_str)
    }

    /// A server variable as a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.variable(name)?.trim().parse().ok()
    }

    /// A server variable as on or off.
    pub(crate) fn is_on(&self, name: &str) -> Option<bool> {
        let value = self.variable(name)?;
        Some(value == "1" || value.eq_ignore_ascii_case("on"))
    }

    pub(crate) fn is_mariadb(&self) -> bool {
        let server = self.record.servers.first();
        server.is_some_and(|server| server.version.to_lowercase().contains("mariadb"))
    }

    /// Server version as numbers: 10, 11, 19.
    pub(crate) fn version(&self) -> Vec<u32> {
        let version = self.record.servers.first().map(|server| &server.version);
        let plain = version.map_or("", |version| version.split('-').next().unwrap_or(""));
        plain
            .split('.')
            .map_while(|part| part.parse().ok())
            .collect()
    }

    /// Size of the buffer pool, bytes.
    pub(crate) fn buffer_pool_bytes(&self) -> Result<f64, SkipReason> {
        let size = self.number("innodb_buffer_pool_size");
        size.filter(|size| *size > 0.0)
            .ok_or_else(|| missing("the variable innodb_buffer_pool_size"))
    }

    /// Size of data and indexes before the run, bytes: the file sizes if known, otherwise the server's estimate. If
    /// loading a table was measured, that table is included.
    pub(crate) fn data_bytes(&self) -> Result<f64, SkipReason> {
        let measured = self.record.dataset.as_ref();
        let measured = measured
            .and_then(|data| data.disk_bytes)
            .map(|bytes| bytes as f64);
        let estimated = self
            .record
            .table_sizes
            .first()
            .map(|sizes| sizes.all_bytes as f64);
        let brought = match &self.record.loaded {
            Some(loaded) => loaded
                .disk_bytes
                .ok_or_else(|| missing("the size of the loaded table"))?,
            None => 0,
        };
        measured
            .or(estimated)
            .map(|met| met + brought as f64)
            .filter(|bytes| *bytes > 0.0)
            .ok_or_else(|| missing("the data size"))
    }

    /// The machine that the server runs on.
    pub(crate) fn machine(&self) -> Result<&'a Machine, SkipReason> {
        let mut machines = self.record.machines.iter();
        machines
            .find(|machine| machine.host != Host::Client)
            .ok_or_else(|| missing("the server's host (it was not observed)"))
    }

    /// The storage of the server's directories.
    pub(crate) fn storage(&self) -> Result<&'a Storage, SkipReason> {
        let storage = self
            .record
            .storage
            .iter()
            .find(|storage| storage.host != Host::Client);
        storage.ok_or_else(|| missing("the storage of the server's directories"))
    }

    /// The directory that holds this, such as `data`; `None` if it is not recorded.
    pub(crate) fn place_of(&self, what: &str) -> Option<&'a StorageDirectory> {
        let mut places = self.storage().ok()?.places.iter();
        places.find(|place| place.holds.iter().any(|held| held == what))
    }

    /// The telemetry of the server's machine in the measured phase.
    pub(crate) fn samples(&self) -> Result<Vec<&'a Telemetry>, SkipReason> {
        let samples = self
            .record
            .measured()
            .into_iter()
            .flat_map(|it| it.telemetry());
        let samples: Vec<_> = samples.filter(|it| it.host != Host::Client).collect();
        if samples.is_empty() {
            Err(missing("telemetry of the server's host"))
        } else {
            Ok(samples)
        }
    }

    /// The traffic of the machine's disks in these samples, each request once.
    pub(crate) fn disk_traffic(&self, samples: &[&Telemetry]) -> Vec<DiskTraffic> {
        let devices = self.devices();
        let samples = samples.iter();
        samples.flat_map(|it| it.traffic_once(devices)).collect()
    }

    /// The devices below the server's directories; empty if they are not recorded.
    pub(crate) fn devices(&self) -> &'a [BlockDevice] {
        let storage = self.storage().ok();
        storage.map(|it| it.devices.as_slice()).unwrap_or_default()
    }

    /// The readings of the server's status in the measured phase.
    pub(crate) fn status(&self) -> Result<Vec<&'a ServerStatus>, SkipReason> {
        Ok(self.counters()?.readings().to_vec())
    }

    /// The server's counters over the measured phase.
    pub(crate) fn counters(&self) -> Result<Counters<'a>, SkipReason> {
        let counters = self.record.measured().map(|it| it.counters());
        counters
            .filter(|it| !it.readings().is_empty())
            .ok_or_else(|| missing("the server's counters in the measured phase"))
    }

    /// Growth of a server counter per second of the measured phase; 0 if it did not change.
    pub(crate) fn counter_per_s(&self, name: &str) -> Result<f64, SkipReason> {
        let per_s = self.counters()?.growth_per_s(name);
        Ok(per_s.unwrap_or(0.0).max(0.0))
    }

    /// True if each connection waits for an answer before it sends the next request.
    pub(crate) fn is_closed_loop(&self) -> Result<bool, SkipReason> {
        let offered = self.record.offered.as_ref();
        let offered =
            offered.ok_or_else(|| missing("whether the load is a closed loop or has a rate"))?;
        Ok(offered.rate_per_s.is_none())
    }
}
