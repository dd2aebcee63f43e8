//! What runs need of a benchmark: its tables of options, its data sets, and what its clients do.

use std::{borrow::Cow, path::PathBuf};

use blame::Blamed;
use experiment::{DataSpec, LoadSpec, Plan, PlannedLoad, PlannedRun};
use load::{Observer, Outcome};
use protocol::Endpoint;
use samples::{Line, RunHeader};
use settings::{DataKind, DiskLimits, LoadKind};

use crate::{
    data::DataSet, listener::Context, prepared_statements::PreparedStatements, run::driver::Driver,
    stage::Stage,
};

/// A benchmark in the runs of an experiment.
pub trait Benchmark: Send + Sync {
    /// Its table below `[load]`, of the same name.
    fn load_options(&self) -> &'static dyn LoadKind;

    /// An error where the data or the loads of a run cannot be what they say, if they are its own; starts and writes
    /// nothing.
    fn check(&self, _run: &PlannedRun) -> Result<(), Blamed> {
        Ok(())
    }

    /// This benchmark with what it has read of a plan's files, each once; `None` for one that keeps none.
    fn with_files(
        &self,
        _plan: &Plan,
        _context: &Context,
    ) -> Result<Option<Box<dyn Benchmark>>, Blamed> {
        Ok(None)
    }

    /// The content of a file in the benchmark's own language without its passwords; `None` for any other file.
    fn without_passwords<'f>(&self, _file: &'f [u8]) -> Option<Cow<'f, [u8]>> {
        None
    }

    /// What it has on a server; `None` for one that uses none.
    fn on_server(&self) -> Option<&dyn OnServer>;

    /// The prepared statements that the connections of a load keep.
    fn prepared_statements(
        &self,
        _run: &PlannedRun,
        _load: &PlannedLoad,
    ) -> Result<PreparedStatements, Blamed> {
        Ok(PreparedStatements::default())
    }

    /// The directory that a load without a server uses.
    fn directory(&self, _load: &LoadSpec) -> Option<PathBuf> {
        None
    }

    /// The limits that such a load sets on the disk of that directory.
    fn disk_limits(&self, _load: &LoadSpec) -> Option<DiskLimits> {
        None
    }

    /// What the clients of a load of a run do on its stage; finds existing tables if the plan creates none.
    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        stage: &mut Stage,
        context: &Context,
    ) -> Result<Box<dyn Work>, Blamed>;
}

/// What a benchmark has on a server.
pub trait OnServer {
    /// Name of the database that its clients use.
    fn name(&self, load: &LoadSpec) -> Result<String, Blamed>;

    /// The data that it makes; `None` for one that uses what is there, or another's.
    fn data_maker(&self) -> Option<&dyn DataMaker>;
}

/// The data that a benchmark makes.
pub trait DataMaker: Sync {
    /// Its table below `[data]`.
    fn data_options(&self) -> &'static dyn DataKind;

    /// The data set that a run meets.
    fn data_set(&self, data: &DataSpec, load: &LoadSpec) -> Box<dyn DataSet>;
}

/// What the clients of a load do.
pub trait Work: Send {
    /// Corrects what the record's first line says of the clients, where other clients than dbdyno's own do it.
    fn identify(&self, _header: &mut RunHeader) {}

    /// What the record says of it before it begins.
    fn known_before(&self) -> Vec<Line> {
        Vec::new()
    }

    fn drive(&self, driver: &Driver<'_>, observer: &mut dyn Observer) -> Result<Outcome, Blamed>;

    /// Lines of the record after its end, given its duration in seconds, whether it succeeded or not.
    fn known_after(&self, _endpoint: &Endpoint, _took_s: f64, _context: &Context) -> Vec<Line> {
        Vec::new()
    }

    /// An error when it did what its rules forbid; `tell` hears what was found.
    fn check(
        &self,
        _endpoint: &Endpoint,
        _context: &Context,
        _tell: &mut dyn FnMut(Line),
    ) -> Result<(), Blamed> {
        Ok(())
    }
}
