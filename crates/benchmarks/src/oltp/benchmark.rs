//! sysbench's OLTP workloads in the runs of an experiment.

use std::{sync::Arc, time::Duration};

use blame::Blamed;
use experiment::{DataSpec, LoadSpec, PlannedLoad, PlannedRun};
use load::{Group, Load, Observer, OnError, OnRefusal, Outcome};
use protocol::Endpoint;
use runs::{
    Benchmark, Context, DataMaker, DataSet, Driver, OnServer, PreparedStatements, Stage, Work,
};
use settings::Values;

use crate::oltp::{
    data_set::OltpTables,
    options::{OltpData, OltpLoad},
    plan::{IgnoredErrors, Plan},
    script::Script,
    settings::Settings,
    user::OltpUser,
};

/// The database of the tables, unless another is named.
pub const DATABASE: &str = "sbtest";
/// How its users take an error: a connection that is lost is tried to get back for 2 s.
const ON_ERROR: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(2),
};

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
    fn drive(&self, driver: &Driver<'_>, observer: &mut dyn Observer) -> Result<Outcome, Blamed> {
        let load = Load {
            on_refusal: OnRefusal::Stop,
            on_error: ON_ERROR,
            ..driver.load(group(&self.0, driver.endpoint()))
        };
        driver.drive(load, observer)
    }
}
