//! TPC-H's tables as an experiment and `dbdyno tpch` use them.

use std::{sync::Arc, thread::available_parallelism, time::Duration};

use experiment::{DataSpec, LoadSpec, PlannedRun};
use load::{Interrupt, Population};
use protocol::Endpoint;
use settings::OptionTable;
use workload::tpch::{
    LoadPlan, Table, TableLoad, TpchLoad,
    options::{DataOptions, LoadOptions},
};

use super::{
    control::Purpose,
    population,
    table_load::{Loaded, disk_bytes},
};
use crate::{blame::Blamed, progress::Step};

/// The database of the tables, unless another is named.
pub(crate) const DATABASE: &str = "tpch";

/// What filling the tables took.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    pub(crate) rows: u64,
    /// Bytes of the rows as text.
    pub(crate) bytes: u64,
    /// Until all rows and their indexes were in.
    pub(crate) rows_took: Duration,
    /// For the foreign keys afterwards.
    pub(crate) foreign_keys_took: Duration,
}

/// The tables of an experiment's data set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TpchTables {
    plan: LoadPlan,
    /// The table that the run itself loads.
    left_empty: Option<Table>,
}

impl TpchTables {
    /// The tables that a run meets.
    pub(crate) fn of(data: &DataSpec, load: &LoadSpec) -> Self {
        let load = &load.source;
        let is_table_load = load.name() == TpchLoad.name();
        let left_empty = is_table_load.then(|| LoadOptions::of(&load.values).table);
        Self {
            plan: plan(data, false),
            left_empty,
        }
    }

    /// As the record calls them: `TPC-H at scale factor 0.1 without lineitem`.
    pub(crate) fn name(&self) -> String {
        let without = self
            .left_empty
            .map_or(String::new(), |table| format!(" without {}", table.name()));
        format!("TPC-H at scale factor {}{without}", self.plan.scale_factor)
    }

    /// Makes and fills them.
    pub(crate) fn load(
        &self,
        endpoint: &Endpoint,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Loaded> {
        let streams = default_streams();
        let filled = fill(endpoint, &self.plan, self.left_empty, streams, interrupt)?;
        let tables = Table::ALL.into_iter().map(Table::name);
        Ok(Loaded {
            rows: filled.rows,
            disk_bytes: disk_bytes(tables, endpoint)?,
            took: filled.rows_took + filled.foreign_keys_took,
        })
    }
}

/// What a run does that loads a table.
pub(crate) fn table_load(run: &PlannedRun) -> Result<Arc<TableLoad>, Blamed> {
    let data = run.data.as_ref();
    let data = data.expect("the experiment has checked that the data is TPC-H's");
    let load = LoadOptions::of(&run.load.source.values);
    let statements = load.statements.unwrap_or(run.load.connections.into());
    let load = TableLoad::new(&plan(data, load.checks), load.table, statements);
    load.warm_up();
    Ok(Arc::new(load))
}

/// As many connections as there are CPUs.
pub(crate) fn default_streams() -> u32 {
    available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX))
}

/// Makes the tables and fills them, but for one that is perhaps left empty.
pub(crate) fn fill(
    endpoint: &Endpoint,
    plan: &LoadPlan,
    left_empty: Option<Table>,
    streams: u32,
    interrupt: &Interrupt,
) -> Result<Filled, Blamed> {
    let what = format!("loading TPC-H at scale factor {}", plan.scale_factor);
    let mut filled = Filled::default();
    for stage in plan.stages(left_empty) {
        let population = Population {
            endpoint: endpoint.clone(),
            tables: stage.tables,
            streams,
            session: plan.session(),
        };
        let reached = population::fill(&population, &what, interrupt)?;
        filled.rows += reached.rows;
        filled.bytes += reached.bytes;
        filled.rows_took += reached.elapsed;
    }
    let statements = plan.foreign_keys(left_empty);
    if !statements.is_empty() {
        let _step = Step::spinner("adding the foreign keys");
        let begin = reactor::system_now();
        Purpose::Change.control(endpoint, async |connection| {
            // The rows are known to be right, and `tpch check` looks; checking would copy each table.
            connection.query(b"set foreign_key_checks = 0").await?;
            for sql in &statements {
                connection.query(sql.as_bytes()).await?;
            }
            Ok(())
        })?;
        filled.foreign_keys_took = reactor::system_now() - begin;
    }
    Ok(filled)
}

fn plan(data: &DataSpec, checks: bool) -> LoadPlan {
    let data = DataOptions::of(&data.source.values);
    LoadPlan {
        scale_factor: data.scale_factor,
        keys: data.keys,
        key_time: data.key_time,
        checks,
    }
}
