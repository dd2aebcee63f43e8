//! sysbench's OLTP workloads in the runs of an experiment.

use std::{sync::Arc, time::Duration};

use experiment::{DataSpec, LoadSpec, PlannedRun};
use load::{Group, Load, Observer, OnError, OnRefusal, Outcome, Population};
use protocol::Endpoint;
use workload::{
    KnownTable,
    oltp::{
        Benchmark as Script, IgnoredErrors, OltpUser, Plan, Settings, drop_statement, known_tables,
        tables,
    },
};

use crate::{
    benchmarks::{
        benchmark::{Benchmark, Work},
        smack::files::SmackFiles,
    },
    blame::Blamed,
    control::Purpose,
    data::disk_bytes::disk_bytes,
    data::{
        DataSet, Loaded,
        population::{self, default_streams},
    },
    listener::Context,
    run::driver::Driver,
    stage::Stage,
};

/// The database that sysbench uses.
const DATABASE: &str = "sbtest";
/// How long a connection that is lost is tried to get back.
const RECONNECT_FOR: Duration = Duration::from_secs(2);

/// sysbench's OLTP workloads.
pub struct Oltp;

impl Benchmark for Oltp {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &workload::oltp::OltpData
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &workload::oltp::OltpLoad
    }

    fn single_runs(&self) -> &'static [&'static str] {
        &["oltp"]
    }

    fn database(&self, _load: &LoadSpec, _files: &SmackFiles) -> Result<String, Blamed> {
        Ok(DATABASE.to_owned())
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec, _files: &SmackFiles) -> Box<dyn DataSet> {
        Box::new(OltpTables(Settings::of_data(&data.source.values)))
    }

    fn work(
        &self,
        run: &PlannedRun,
        _files: &SmackFiles,
        _stage: &mut Stage,
        _context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        let data = run.data.as_ref();
        let data = data.expect("the experiment has checked that the tables are sysbench's");
        let (values, connections) = (&run.load.source.values, run.load.connections);
        let settings = Settings::of_data(&data.source.values);
        let list = values.text("mysql_ignore_errors").unwrap_or_default();
        let ignored = IgnoredErrors::of(list).expect("the experiment has checked the list");
        let settings = settings.with_load(values, connections, run.seed);
        let plan = Plan::new(Script::of(values), settings, ignored);
        Ok(Box::new(Connections(Arc::new(plan))))
    }
}

/// The tables.
struct OltpTables(Settings);

impl DataSet for OltpTables {
    /// `sysbench's 4 tables of 250000 rows`
    fn name(&self) -> String {
        let plural = if self.0.tables == 1 { "" } else { "s" };
        format!(
            "sysbench's {} table{plural} of {} rows",
            self.0.tables, self.0.table_size
        )
    }

    fn tables(&self) -> Vec<KnownTable> {
        known_tables(self.0.tables)
    }

    fn load(
        &self,
        endpoint: &Endpoint,
        _rows: Option<u64>,
        context: &Context,
    ) -> Result<Loaded, Blamed> {
        Purpose::Change.control(endpoint, async |connection| {
            for number in 1..=self.0.tables {
                connection.query(drop_statement(number).as_bytes()).await?;
            }
            Ok(())
        })?;
        let population = Population {
            endpoint: endpoint.clone(),
            streams: default_streams(),
            tables: tables(Script::ReadWrite, &self.0),
            session: Vec::new(),
        };
        let what = format!("loading {}", self.name());
        let loaded = population::fill(&population, &what, context)?;
        let names = self.tables();
        Ok(Loaded {
            rows: loaded.rows,
            disk_bytes: disk_bytes(names.iter().map(|table| table.name.as_str()), endpoint)?,
            took: loaded.elapsed,
        })
    }
}

/// The connections of a run.
struct Connections(Arc<Plan>);

impl Work for Connections {
    fn drive(&self, driver: &Driver<'_>, observer: &mut dyn Observer) -> Result<Outcome, Blamed> {
        let (plan, endpoint) = (Arc::clone(&self.0), Arc::new(driver.endpoint.clone()));
        let group = Group {
            name: "oltp".to_owned(),
            operations: plan.operations().to_vec(),
            statements: plan.statements().to_vec(),
            users: driver.users(),
            make: Box::new(move |index| {
                OltpUser::new(Arc::clone(&plan), Arc::clone(&endpoint), index)
            }),
        };
        let load = Load {
            on_refusal: OnRefusal::Stop,
            on_error: OnError::RetryElseStop {
                reconnect_for: RECONNECT_FOR,
            },
            ..driver.load(group)
        };
        driver.drive(load, observer)
    }
}
