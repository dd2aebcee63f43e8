//! sysbench's OLTP workloads in the runs of an experiment.

pub mod check;
pub mod layout;
pub mod table_statements;
pub mod tables;

use std::{sync::Arc, time::Duration};

use blame::Blamed;
use experiment::{DataSpec, LoadSpec, PlannedLoad, PlannedRun};
use load::{Group, Load, Observer, OnError, OnRefusal, Outcome};
use protocol::Endpoint;
use workload::oltp::{Benchmark as Script, IgnoredErrors, OltpUser, Plan, Settings};

use runs::{
    Benchmark, Context, DataMaker, DataSet, Driver, OnServer, PreparedStatements, Stage, Work,
};

use crate::oltp::tables::OltpTables;

/// The database of the tables, unless another is named.
pub const DATABASE: &str = "sbtest";
/// How its users take an error: a connection that is lost is tried to get back for 2 s.
pub const ON_ERROR: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(2),
};

/// sysbench's OLTP workloads.
pub struct Oltp;

impl Benchmark for Oltp {
    fn on_server(&self) -> Option<&dyn OnServer> {
        Some(self)
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &workload::oltp::OltpLoad
    }

    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        _stage: &mut Stage,
        _context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        Ok(Box::new(Connections(Arc::new(plan(run, load)))))
    }

    fn prepared_statements(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
    ) -> Result<PreparedStatements, Blamed> {
        let each = plan(run, load).prepared_statements();
        Ok(PreparedStatements::of(load.spec.connections, each))
    }
}

fn plan(run: &PlannedRun, load: &PlannedLoad) -> Plan {
    let data = run.data.as_ref();
    let data = data.expect("the experiment has checked that the tables are sysbench's");
    let (values, connections) = (&load.spec.source.values, load.spec.connections);
    let settings = Settings::of_data(&data.source.values);
    let list = values.text("mysql_ignore_errors").unwrap_or_default();
    let ignored = IgnoredErrors::of(list).expect("the experiment has checked the list");
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
        &workload::oltp::OltpData
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec) -> Box<dyn DataSet> {
        Box::new(OltpTables {
            script: Script::ReadWrite,
            settings: Settings::of_data(&data.source.values),
        })
    }
}

/// The users of a plan.
pub fn group(plan: &Arc<Plan>, endpoint: &Endpoint) -> Group<OltpUser> {
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
struct Connections(Arc<Plan>);

impl Work for Connections {
    fn drive(&self, driver: &Driver<'_>, observer: &mut dyn Observer) -> Result<Outcome, Blamed> {
        let load = Load {
            on_refusal: OnRefusal::Stop,
            on_error: ON_ERROR,
            ..driver.load(group(&self.0, driver.endpoint()))
        };
        driver.drive(load, observer)
    }
}
