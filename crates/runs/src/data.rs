//! The data that runs meet: what a benchmark makes, and in which state a run wants it.

pub mod database;
pub(crate) mod disk_bytes;
pub mod known_tables;
pub mod population;
pub(crate) mod prepared_tables;

use std::time::Duration;

use experiment::{DataSpec, PlannedRun, Restore};
use protocol::Endpoint;
use settings::{Rows, Size};
use workload::KnownTable;

use crate::{blame::Blamed, listener::Context};

/// Tables with rows that a benchmark makes.
pub trait DataSet {
    /// As the record calls it: `sysbench's 4 tables of 250000 rows`.
    fn name(&self) -> String;

    /// Its tables, as they can be told from those of somebody else.
    fn tables(&self) -> Vec<KnownTable>;

    /// Makes and fills the tables, with so many rows where that can be chosen; a table that exists is replaced.
    fn load(
        &self,
        endpoint: &Endpoint,
        rows: Option<u64>,
        context: &Context,
    ) -> Result<Loaded, Blamed>;
}

/// What a load brought.
#[derive(Debug, Clone, Copy)]
pub struct Loaded {
    /// Rows in each table where their number can be chosen; of other data, in all tables.
    pub rows: u64,
    /// Bytes of all tables and their indexes, as the server counts its pages; `None` where it does not say.
    pub disk_bytes: Option<u64>,
    /// Time that loading took.
    pub took: Duration,
}

/// The data that a run asks for.
pub struct WantedData<'a> {
    /// Name of the data set: runs with the same name can use one copy.
    pub data_set: String,
    /// In which state the run meets it.
    pub spec: &'a DataSpec,
    /// What makes it.
    pub maker: Box<dyn DataSet>,
}

impl<'a> WantedData<'a> {
    /// The data that `run` asks for, made so; `None` when it takes what it finds.
    pub fn of(run: &'a PlannedRun, maker: Box<dyn DataSet>) -> Option<Self> {
        Some(Self {
            data_set: run.data_set()?,
            spec: run.data.as_ref()?,
            maker,
        })
    }

    /// How many rows it has, where that can be chosen.
    pub fn rows(&self) -> Option<Rows> {
        let source = &self.spec.source;
        match source.kind.size(&source.values) {
            Size::Rows(rows) => Some(rows),
            Size::Bytes(_) => None,
        }
    }

    /// Names what decides how many bytes a row takes.
    pub fn row_kind(&self) -> String {
        let source = &self.spec.source;
        let files: Vec<_> = source.values.files().collect();
        format!("{} {files:?}", source.name())
    }

    /// True when the data must be put back before a run.
    pub fn is_renewed(&self, new_block: bool) -> bool {
        match self.spec.restore {
            Restore::PerRun => true,
            Restore::PerBlock => new_block,
            Restore::Never => false,
        }
    }
}
