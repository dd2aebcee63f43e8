//! One execution of a load, with the demands that it measured.

use std::collections::BTreeMap;

use figures::RunFigures;
use samples::{CpuUse, Record, STAGE, Staged};
use verdict::{Bottleneck, Costs, MaxRate, Resource, bottleneck};

use crate::{
    error::Error,
    likeness::{MayDiffer, Reference},
    measuring_conditions::MeasuringConditions,
    searched_rate::SearchedRate,
    server_machine::{cpu_limit, machine_of_server},
    service_demand::{Demands, ServiceDemand},
};

/// The factor of an experiment that tells executions under the limits of a target from those that measure demands.
pub const EMULATED: &str = "emulated";
/// Its levels: executions that measure demands, and those that emulate a target.
pub const EMULATED_LEVELS: [&str; 2] = ["no", "yes"];

/// One execution of a load at one concurrency: a run, or a stage of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// Its record, for messages.
    pub name: String,
    /// The results in which its block is counted.
    pub results: usize,
    pub block: u32,
    /// Levels of the experiment's factors.
    pub levels: BTreeMap<String, String>,
    /// Connections.
    pub concurrency: u32,
    pub throughput_per_s: f64,
    pub demands: Demands,
    /// `None` if the size of the data or of the buffer pool is not known.
    pub memory: Option<MemoryUse>,
    /// `None` if the server's machine was not observed.
    pub cpus: Option<ServerCpus>,
    /// What limited it, if that is no property of the server: a disk, the client, the network.
    pub limited_by: Option<&'static str>,
}

/// The data of an execution and the memory for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    pub data_bytes: u64,
    pub buffer_pool_bytes: u64,
}

impl MemoryUse {
    /// Share of the data that the buffer pool can hold; above 1 if it is larger than the data.
    pub(crate) fn share(&self) -> f64 {
        self.buffer_pool_bytes as f64 / self.data_bytes as f64
    }
}

/// The CPUs of an execution's server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerCpus {
    /// CPUs of its machine, or its limit.
    pub count: f64,
    /// Of them, those that neither the client nor other programs nor the hypervisor used.
    pub available: f64,
}

/// An execution under limits of the kernel, which emulate a target. It tests a prediction and is no part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct EmulatedExecution {
    /// Its CPUs are those of its limit.
    pub execution: Execution,
    /// Reads of the disk per second; `None` without a limit.
    pub read_iops: Option<f64>,
    /// Writes of the disk per second; `None` without a limit.
    pub write_iops: Option<f64>,
}

/// The executions of one load on one server.
#[derive(Debug, Default)]
pub struct Executions {
    /// The load and the server, in words.
    pub(crate) subject: String,
    pub(crate) all: Vec<Execution>,
    pub(crate) emulated: Vec<EmulatedExecution>,
    /// Searches for the highest rate that keeps a limit, of the same load on the same server.
    pub(crate) searches: Vec<SearchedRate>,
    /// Of those that measure demands.
    pub(crate) conditions: MeasuringConditions,
    first: Option<Reference>,
    first_emulated: Option<Reference>,
}

impl Executions {
    /// Executions that were not read from records.
    pub fn of(subject: String, all: Vec<Execution>) -> Self {
        Self {
            subject,
            all,
            ..Self::default()
        }
    }

    /// The same with executions that emulate a target.
    #[must_use]
    pub fn with_emulated(self, emulated: Vec<EmulatedExecution>) -> Self {
        Self { emulated, ..self }
    }

    /// The records, in their order.
    pub fn records(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.all.iter().map(|it| it.name.as_str()).collect();
        // The stages of a record follow each other.
        names.dedup();
        names
    }

    /// Adds the execution of a record, or its stages without ramps; `results` numbers the results whose blocks the
    /// record's belongs to. Records with the second level of [`EMULATED`] only test a prediction.
    ///
    /// An error for an incomplete record, a load of several or at a fixed rate, a record without a server or without
    /// operations, and for another server or workload than that of the first record.
    pub fn add(&mut self, name: &str, results: usize, record: &Record) -> Result<(), Error> {
        check(name, record)?;
        let staged = Staged::of(std::slice::from_ref(record));
        let parts = staged.compared(std::slice::from_ref(record));
        let mut is_measured = false;
        for part in parts.iter().filter(|part| part.has_one_level()) {
            let figures = RunFigures::of(part);
            let Some(execution) = execution(name, results, part, &figures) else {
                continue;
            };
            is_measured = true;
            if is_emulated(record) {
                self.add_emulated(name, part, figures, execution)?;
                continue;
            }
            match &self.first {
                Some(first) => first.check(name, part, &figures, MayDiffer::Nothing)?,
                None => {
                    self.subject = subject(part);
                    self.first = Some(Reference::new(name, part, figures));
                }
            }
            self.conditions.add(part);
            self.all.push(execution);
        }
        if is_measured {
            Ok(())
        } else {
            Err(Error::NothingMeasured {
                name: name.to_owned(),
            })
        }
    }

    /// Adds an execution under the limits of a target. They are compared among themselves, because the limits of the
    /// others differ.
    fn add_emulated(
        &mut self,
        name: &str,
        record: &Record,
        figures: RunFigures,
        execution: Execution,
    ) -> Result<(), Error> {
        // Several targets may have been emulated.
        let unlimited = without_cpu_limit(record);
        match &self.first_emulated {
            Some(first) => first.check(name, &unlimited, &figures, MayDiffer::Nothing)?,
            None => self.first_emulated = Some(Reference::new(name, &unlimited, figures)),
        }
        let disk = record.limit.as_ref().and_then(|it| it.disk.as_ref());
        let per_s = |limit: Option<u64>| limit.map(|it| it as f64);
        self.emulated.push(EmulatedExecution {
            execution,
            read_iops: disk.and_then(|it| per_s(it.read_iops)),
            write_iops: disk.and_then(|it| per_s(it.write_iops)),
        });
        Ok(())
    }

    /// Adds the answer of a search for the highest rate that keeps a limit, from these runs of its results. They may hold
    /// runs of other combinations, and `name` is that of the results.
    ///
    /// An error before any execution was added, without runs, and for another server or workload than that of the
    /// executions. Their experiments have different names.
    pub fn add_search(
        &mut self,
        name: &str,
        found: &MaxRate,
        runs: &[Record],
    ) -> Result<(), Error> {
        let named = || name.to_owned();
        let first = self.first.as_ref();
        let first = first.ok_or_else(|| Error::NoClosedLoop { name: named() })?;
        // All runs are of one experiment, and the first ones are not overloaded.
        let mut own = runs.iter();
        let run = own.find(|run| run.is_complete() && found.question.has(run));
        let run = run.ok_or_else(|| Error::NothingMeasured { name: named() })?;
        first.check(name, run, &RunFigures::of(run), MayDiffer::Experiment)?;
        let share = memory(run).map(|it| it.share());
        let searched = SearchedRate::of(found, share);
        self.searches.push(searched);
        Ok(())
    }

    /// An error if other executions are of another server or workload; their settings may differ.
    pub(crate) fn check_like(&self, other: &Self) -> Result<(), Error> {
        match (&self.first, &other.first) {
            (Some(ours), Some(theirs)) => ours.check_other(theirs),
            _ => Ok(()),
        }
    }
}

/// Whether a record is of an emulated target, which only tests a prediction.
pub fn is_emulated(record: &Record) -> bool {
    let level = record.header.combination.get(EMULATED);
    level.is_some_and(|level| level == EMULATED_LEVELS[1])
}

fn without_cpu_limit(record: &Record) -> Record {
    let mut record = record.clone();
    record.limit = None;
    for group in record.machines.iter_mut().flat_map(|it| &mut it.cgroups) {
        group.cpu_limit = None;
        group.cpus = None;
    }
    record
}

/// `shop on 10.11.18-MariaDB`
fn subject(record: &Record) -> String {
    let version = record.servers.first().map(|it| it.version.as_str());
    let version = version.unwrap_or("an unknown server");
    format!("{} on {version}", record.header.experiment)
}

/// Why a record cannot be used.
fn check(name: &str, record: &Record) -> Result<(), Error> {
    let name = || name.to_owned();
    if let Some(why) = record.incomplete_why() {
        let why = why.to_owned();
        return Err(Error::Incomplete { name: name(), why });
    }
    if record.servers.is_empty() {
        return Err(Error::NoServer { name: name() });
    }
    if !record.header.beside.is_empty() {
        return Err(Error::SeveralLoads { name: name() });
    }
    let offered = record.offered.as_ref();
    if offered.is_some_and(|it| it.rate_per_s.is_some()) {
        return Err(Error::FixedRate { name: name() });
    }
    Ok(())
}

/// The execution of a record; `None` without operations in the measurement.
fn execution(
    name: &str,
    results: usize,
    record: &Record,
    figures: &RunFigures,
) -> Option<Execution> {
    let costs = Costs::of(record, figures)?;
    Some(Execution {
        name: name.to_owned(),
        results,
        block: record.header.block,
        levels: levels(record),
        concurrency: record.connections(),
        throughput_per_s: figures.throughput_per_s?,
        demands: Demands::from_fn(|demand: ServiceDemand| demand.of(&costs)),
        memory: memory(record),
        cpus: cpus(record),
        limited_by: bottleneck(record).as_ref().and_then(foreign_limit),
    })
}

/// The levels without the stage, because several stages may have the same number of connections, and without that of
/// emulation.
fn levels(record: &Record) -> BTreeMap<String, String> {
    let mut levels = record.header.combination.clone();
    levels.remove(STAGE);
    levels.remove(EMULATED);
    levels
}

fn memory(record: &Record) -> Option<MemoryUse> {
    let dataset = record.dataset.as_ref();
    let tables = record.table_sizes.first().map(|it| it.all_bytes);
    let data_bytes = dataset.and_then(|it| it.disk_bytes).or(tables)?;
    let variable = || {
        let variables = &record.servers.first()?.variables;
        variables.get("innodb_buffer_pool_size")?.parse().ok()
    };
    let buffer_pool_bytes = dataset
        .and_then(|it| it.buffer_pool_bytes)
        .or_else(variable)?;
    let memory = MemoryUse {
        data_bytes,
        buffer_pool_bytes,
    };
    (data_bytes > 0 && buffer_pool_bytes > 0).then_some(memory)
}

fn cpus(record: &Record) -> Option<ServerCpus> {
    let cpus = f64::from(machine_of_server(record)?.cpus);
    let used = CpuUse::of_server(record)?;
    used.server?;
    let others = used.client.unwrap_or(0.0) + used.proxy.unwrap_or(0.0) + used.rest + used.steal;
    let free = cpus * (1.0 - others).max(0.0);
    let limit = cpu_limit(record).unwrap_or(cpus).min(cpus);
    let available = free.min(limit);
    (available > 0.0).then_some(ServerCpus {
        count: limit,
        available,
    })
}

/// The name of a limit that a change of the server's CPUs does not change. Locks are no such limit: the scaling model
/// describes them.
fn foreign_limit(bottleneck: &Bottleneck) -> Option<&'static str> {
    let resource = bottleneck.limiting.as_ref()?.resource;
    let is_foreign = matches!(
        resource,
        Resource::Memory
            | Resource::DiskQuota
            | Resource::Client
            | Resource::Steal
            | Resource::Checkpoint
            | Resource::DiskFlushes
            | Resource::Disk
            | Resource::Network
            | Resource::ConnectionLimit
    );
    is_foreign.then(|| resource.name())
}
