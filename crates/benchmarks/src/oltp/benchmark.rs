//! sysbench's OLTP workloads in the runs of an experiment: their tables as data, their connections as load.

use std::{sync::Arc, thread, time::Duration};

use blame::Blamed;
use dataset::{KnownTable, PopulateEvent, Population, Progress};
use experiment::{DataSpec, LoadSpec, PlannedLoad, PlannedRun};
use load::{Group, Load, LoadListener, OnError, OnRefusal, Outcome};
use protocol::Endpoint;
use runs::{
    Benchmark, Context, DataMaker, DataSet, Destination, Driver, LoadResult, OnServer,
    PreparedStatements, PreparedTables, Purpose, Stage, Work, disk_bytes,
    population::{default_streams, fill_and_tell},
};
use settings::Values;

use crate::oltp::{
    options::{OltpData, OltpLoad},
    plan::{IgnoredErrors, Plan},
    script::Script,
    settings::Settings,
    table::{drop_statement, expected_tables, known_tables, tables},
    user::OltpUser,
};

/// The database of the tables, unless another is named.
pub const DATABASE: &str = "sbtest";
/// How its users take an error: a connection that is lost is tried to get back for 2 s.
const ON_ERROR: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(2),
};

/// Connections that fill tables: one for each CPU keeps the server busy, more wait for each other.
const STREAMS_MIN: usize = 2;
const STREAMS_MAX: usize = 16;

/// sysbench's OLTP workloads.
pub(crate) struct Oltp;

impl Benchmark for Oltp {
    fn on_server(&self) -> Option<&dyn OnServer> {
        Some(self)
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &OltpLoad
    }

    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        _stage: &mut Stage,
        _context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        Ok(Box::new(Connections::new(Arc::new(plan_of(run, load)))))
    }

    fn prepared_statements(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
    ) -> Result<PreparedStatements, Blamed> {
        Ok(prepared_statements(&plan_of(run, load)))
    }
}

/// The prepared statements that the connections of a plan keep.
pub fn prepared_statements(plan: &Plan) -> PreparedStatements {
    PreparedStatements::of(plan.settings().connections, plan.prepared_statements())
}

fn plan_of(run: &PlannedRun, load: &PlannedLoad) -> Plan {
    let data = run.data.as_ref();
    let data = data.expect("the experiment has checked that the tables are sysbench's");
    plan(&data.source.values, load)
}

/// The plan of a load, whose values have no fault, on the tables that these values describe.
pub fn plan(tables: &Values, load: &PlannedLoad) -> Plan {
    let (values, connections) = (&load.spec.source.values, load.spec.connections);
    let settings = Settings::of_data(tables);
    let list = values.text("mysql_ignore_errors").unwrap_or_default();
    let ignored = IgnoredErrors::of(list).expect("the list was checked with the other values");
    let settings = settings.with_load(values, connections, load.seed);
    Plan::new(Script::of(values), settings, ignored)
}

impl OnServer for Oltp {
    fn name(&self, _load: &LoadSpec) -> Result<String, Blamed> {
        Ok(DATABASE.to_owned())
    }

    fn data_maker(&self) -> Option<&dyn DataMaker> {
        Some(self)
    }
}

impl DataMaker for Oltp {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &OltpData
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec) -> Box<dyn DataSet> {
        Box::new(OltpTables {
            script: Script::ReadWrite,
            settings: Settings::of_data(&data.source.values),
        })
    }
}

/// Number of connections that fill tables: those of the load, at least one for each CPU.
pub fn streams(connections: u32) -> u32 {
    let cpus = thread::available_parallelism().map_or(STREAMS_MIN, usize::from);
    connections.max(cpus.min(STREAMS_MAX) as u32)
}

/// sysbench's tables: made, filled, and found again.
pub struct OltpTables {
    /// The workload.
    pub script: Script,
    pub settings: Settings,
}

impl OltpTables {
    pub fn count(&self) -> u32 {
        match self.script {
            Script::BulkInsert => self.settings.connections,
            _ => self.settings.tables,
        }
    }

    /// Rows that `prepare` gives each of them.
    pub fn rows_each(&self) -> u64 {
        let expected = expected_tables(self.script, &self.settings);
        expected.first().map_or(0, |table| table.rows)
    }

    /// BLACKHOLE keeps no row.
    pub fn keep_rows(&self) -> bool {
        !self.settings.engine.eq_ignore_ascii_case("blackhole")
    }

    /// Makes and fills them over a number of connections; `also` hears of every event.
    pub fn prepare(
        &self,
        endpoint: &Endpoint,
        streams: u32,
        context: &Context,
        also: &mut dyn FnMut(&PopulateEvent),
    ) -> Result<Progress, Blamed> {
        let tables = tables(self.script, &self.settings);
        let rows = tables.iter().filter_map(|table| table.rows.as_ref());
        let rows: u64 = rows.map(|rows| rows.units()).sum();
        let population = Population {
            endpoint: endpoint.clone(),
            streams,
            tables,
            session: vec!["SET foreign_key_checks=0".to_owned()],
        };
        let what = format!("loading {rows} rows");
        fill_and_tell(&population, &what, context, also)
    }
}

impl PreparedTables for OltpTables {
    fn benchmark(&self) -> &'static str {
        "sysbench"
    }

    fn known(&self) -> Vec<KnownTable> {
        known_tables(self.count())
    }
}

impl DataSet for OltpTables {
    /// `sysbench's 4 tables of 250000 rows`
    fn name(&self) -> String {
        let (count, rows) = (self.count(), self.settings.table_size);
        let plural = if count == 1 { "" } else { "s" };
        format!("sysbench's {count} table{plural} of {rows} rows")
    }

    fn tables(&self) -> Vec<KnownTable> {
        self.known()
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<LoadResult, Blamed> {
        let endpoint = destination.endpoint;
        Purpose::Change.control(endpoint, async |connection| {
            for number in 1..=self.count() {
                connection.query(drop_statement(number).as_bytes()).await?;
            }
            Ok(())
        })?;
        let loaded = self.prepare(endpoint, default_streams(), context, &mut |_| {})?;
        let names = self.known();
        Ok(LoadResult {
            rows: loaded.rows,
            disk_bytes: disk_bytes(names.iter().map(|table| table.name.as_str()), endpoint)?,
            took: loaded.elapsed,
        })
    }
}

pub(crate) fn group(plan: &Arc<Plan>, endpoint: &Endpoint) -> Group<OltpUser> {
    let (of_users, endpoint) = (Arc::clone(plan), Arc::new(endpoint.clone()));
    Group {
        name: "oltp".to_owned(),
        operations: plan.operations().to_vec(),
        statements: plan.statements().to_vec(),
        users: plan.settings().connections,
        make: Box::new(move |index| {
            OltpUser::new(Arc::clone(&of_users), Arc::clone(&endpoint), index)
        }),
    }
}

/// The connections of a run.
pub struct Connections(Arc<Plan>);

impl Connections {
    /// Those of a plan.
    pub fn new(plan: Arc<Plan>) -> Self {
        Self(plan)
    }
}

impl Work for Connections {
    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let load = Load {
            on_refusal: OnRefusal::Stop,
            on_error: ON_ERROR,
            ..driver.load(group(&self.0, driver.endpoint()))
        };
        driver.drive(load, observer)
    }
}
