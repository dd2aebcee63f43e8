//! TPC-H's tables as an experiment and `dbdyno tpch` use them.

use std::{sync::Arc, time::Duration};

use blame::{Blame, Blamed};
use dataset::{
    KnownTable, Population,
    tpch::{
        LoadPlan, ScaleFactor, Table, TpchLoad, known_tables,
        options::{DataOptions, LoadOptions},
    },
};
use experiment::{DataSpec, LoadSpec, PlannedLoad, PlannedRun};
use load::{Group, LoadListener, Outcome};
use protocol::Endpoint;
use runs::{
    Benchmark, Context, DataMaker, DataSet, Destination, Driver, Length, LoadResult, OnServer,
    PreparedTables, Purpose, Stage, Work, database, disk_bytes,
    population::{self, default_streams},
    redo_log::switched_off::with_redo_log,
    refuse_existing,
};
use samples::Line;
use settings::OptionTable;

use crate::tpch::{
    check::{Compared, check_tables},
    table_load::{TableLoad, TableLoader},
};

/// The database of the tables, unless another is named.
pub const DATABASE: &str = "tpch";

/// What filling the tables took.
#[derive(Debug, Default)]
pub struct Filled {
    /// Rows of all tables.
    pub rows: u64,
    /// Bytes of the rows as text.
    pub bytes: u64,
    /// Until all rows and their indexes were in.
    pub rows_took: Duration,
    /// For the foreign keys afterwards.
    pub foreign_keys_took: Duration,
}

pub struct Tpch;

impl Benchmark for Tpch {
    fn on_server(&self) -> Option<&dyn OnServer> {
        Some(self)
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &TpchLoad
    }

    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        _stage: &mut Stage,
        _context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        Ok(Box::new(MeasuredLoad::of(run, load)))
    }
}

impl OnServer for Tpch {
    fn name(&self, _load: &LoadSpec) -> Result<String, Blamed> {
        Ok(DATABASE.to_owned())
    }

    fn data_maker(&self) -> Option<&dyn DataMaker> {
        Some(self)
    }
}

impl DataMaker for Tpch {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &dataset::tpch::TpchData
    }

    fn data_set(&self, data: &DataSpec, load: &LoadSpec) -> Box<dyn DataSet> {
        Box::new(TpchTables::of(data, load))
    }
}

impl PreparedTables for Tpch {
    fn benchmark(&self) -> &'static str {
        "TPC-H"
    }

    fn known(&self) -> Vec<KnownTable> {
        known_tables()
    }
}

#[derive(Debug, Clone, Copy)]
struct TpchTables {
    plan: LoadPlan,
    /// The table that the run itself loads.
    left_empty: Option<Table>,
}

impl TpchTables {
    /// The tables that a run meets.
    fn of(data: &DataSpec, load: &LoadSpec) -> Self {
        let load = &load.source;
        let is_table_load = load.name() == TpchLoad.name();
        let left_empty = is_table_load.then(|| LoadOptions::of(&load.values).table);
        Self {
            plan: plan(data, false),
            left_empty,
        }
    }
}

impl DataSet for TpchTables {
    /// `TPC-H at scale factor 0.1 without lineitem`
    fn name(&self) -> String {
        let without = self
            .left_empty
            .map_or(String::new(), |table| format!(" without {}", table.name()));
        format!("TPC-H at scale factor {}{without}", self.plan.scale_factor)
    }

    fn tables(&self) -> Vec<KnownTable> {
        known_tables()
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<LoadResult, Blamed> {
        let endpoint = destination.endpoint;
        let streams = default_streams();
        let filled = fill(endpoint, &self.plan, self.left_empty, streams, context)?;
        let tables = Table::ALL.into_iter().map(Table::name);
        Ok(LoadResult {
            rows: filled.rows,
            disk_bytes: disk_bytes(tables, endpoint)?,
            took: filled.rows_took + filled.foreign_keys_took,
        })
    }
}

/// The load of one table, as a run measures it.
struct MeasuredLoad {
    /// What the connections share.
    load: Arc<TableLoad>,
    /// Whether InnoDB's redo log is written meanwhile.
    redo_log: bool,
}

impl MeasuredLoad {
    fn of(run: &PlannedRun, load: &PlannedLoad) -> Self {
        let data = run.data.as_ref();
        let data = data.expect("the experiment has checked that the data is TPC-H's");
        let (values, connections) = (&load.spec.source.values, load.spec.connections);
        let options = LoadOptions::of(values);
        let statements = options.statements.unwrap_or(connections.into());
        let load = TableLoad::new(&plan(data, options.checks), options.table, statements);
        load.warm_up();
        Self {
            load: Arc::new(load),
            redo_log: options.redo_log,
        }
    }
}

impl Work for MeasuredLoad {
    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let (load, endpoint) = (Arc::clone(&self.load), Arc::new(driver.endpoint().clone()));
        let group = Group {
            name: DATABASE.to_owned(),
            operations: load.operations().to_vec(),
            statements: Vec::new(),
            users: driver.users(),
            make: Box::new(move |_| TableLoader::new(Arc::clone(&load), Arc::clone(&endpoint))),
        };
        let load = driver.load(group);
        with_redo_log(self.redo_log, driver.control(), driver.context, || {
            driver.drive(load, observer)
        })
    }

    fn known_after(&self, endpoint: &Endpoint, took_s: f64, _context: &Context) -> Vec<Line> {
        let table = self.load.table();
        let (rows, bytes) = self.load.loaded_totals();
        vec![Line::Loaded(samples::Loaded {
            // A server that died has nothing to say, and the end of the load is reported elsewhere.
            disk_bytes: disk_bytes([table].into_iter(), endpoint).ok().flatten(),
            ..samples::Loaded::new(table, rows, bytes, took_s)
        })]
    }
}

/// Makes the database and its tables, fills them and counts their rows; `redo_log` says whether InnoDB's is written
/// meanwhile.
pub fn prepare(
    endpoint: &Endpoint,
    plan: &LoadPlan,
    streams: u32,
    redo_log: bool,
    context: &Context,
) -> Result<Filled, Blamed> {
    database::create(endpoint)?;
    refuse_existing(&Tpch, "dbdyno tpch cleanup", endpoint)?;
    let filled = with_redo_log(redo_log, endpoint, context, || {
        fill(endpoint, plan, None, streams, context)
    });
    let counted = filled.and_then(|filled| {
        require_rows(endpoint, plan.scale_factor, context)?;
        Ok(filled)
    });
    counted.map_err(|error| error.hint("dbdyno tpch cleanup removes what was loaded".to_owned()))
}

/// An error where a table has not all its rows. Their content is left to `tpch check`, which makes them all again.
fn require_rows(
    endpoint: &Endpoint,
    scale_factor: ScaleFactor,
    context: &Context,
) -> Result<(), Blamed> {
    let mut wrong = None;
    let mut tell = |table: &str, fault: Option<&str>| {
        if let Some(fault) = fault {
            wrong.get_or_insert(format!("right after its load, {table}: {fault}"));
        }
    };
    check_tables(endpoint, scale_factor, Compared::Count, context, &mut tell)?;
    wrong.map_or(Ok(()), |wrong| Err(Blamed::new(Blame::Server, wrong)))
}

/// Makes the tables and fills them, but for one that is perhaps left empty.
fn fill(
    endpoint: &Endpoint,
    plan: &LoadPlan,
    left_empty: Option<Table>,
    streams: u32,
    context: &Context,
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
        let reached = population::fill(&population, &what, context)?;
        filled.rows += reached.rows;
        filled.bytes += reached.bytes;
        filled.rows_took += reached.elapsed;
    }
    let statements = plan.foreign_keys(left_empty);
    if !statements.is_empty() {
        let _step = context.step("adding the foreign keys", Length::Unknown);
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
