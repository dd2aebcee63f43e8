//! Scripts of the user's own in the runs of an experiment.

use std::{sync::Arc, time::Duration};

use blame::{Blame, Blamed};
use dataset::own_data::OwnData;
use experiment::{DataSpec, LoadSpec, PlannedLoad, PlannedRun};
use load::{Group, Load, LoadListener, OnError, OnRefusal, Outcome};
use protocol::Endpoint;
use runs::{
    Benchmark, Context, DataMaker, DataSet, Driver, OnServer, PreparedStatements, Purpose, Stage,
    Work,
};
use settings::OptionTable;

use crate::{
    own_data::{self, OwnTables},
    script::{
        list::ListRows,
        options::ScriptLoad,
        plan::{Plan, Settings},
        scripts::Scripts,
        user::ScriptUser,
    },
};

/// The database of the connections, unless another is named.
pub const DATABASE: &str = "test";
/// Deadlocks, lock waits and lost connections are tried again, reconnecting for up to this time; any other error ends
/// the run.
const ON_ERROR: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(2),
};

pub(crate) struct Script;

impl Benchmark for Script {
    fn on_server(&self) -> Option<&dyn OnServer> {
        Some(self)
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &ScriptLoad
    }

    fn check(&self, run: &PlannedRun) -> Result<(), Blamed> {
        for load in run.loads_of(ScriptLoad.name()) {
            scripts(&load.spec)?;
        }
        match &run.data {
            Some(data) if data.source.name() == OwnData.name() => {
                own_data::check(data, &run.server)
            }
            _ => Ok(()),
        }
    }

    fn prepared_statements(
        &self,
        _run: &PlannedRun,
        load: &PlannedLoad,
    ) -> Result<PreparedStatements, Blamed> {
        Ok(prepared_statements(&scripts(&load.spec)?, load))
    }

    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        stage: &mut Stage,
        context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        let scripts = scripts(&load.spec)?;
        // The first block has every combination once.
        if run.block == 1 {
            for warning in scripts.warnings() {
                context.warn(&warning);
            }
        }
        if stage.is_simulated && scripts.queries().next().is_some() {
            let message = "a list from a query cannot be read from a simulated server";
            let hint = "a list from a CSV file works in a simulation".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
        Ok(Box::new(Connections::new(scripts, load, stage.server())?))
    }
}

impl OnServer for Script {
    fn name(&self, _load: &LoadSpec) -> Result<String, Blamed> {
        Ok(DATABASE.to_owned())
    }

    fn data_maker(&self) -> Option<&dyn DataMaker> {
        Some(self)
    }
}

/// Scripts run over data of the user's own.
impl DataMaker for Script {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &OwnData
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec) -> Box<dyn DataSet> {
        Box::new(OwnTables::of(data))
    }
}

/// The scripts of a load, read and compiled.
pub fn scripts(load: &LoadSpec) -> Result<Scripts, Blamed> {
    let values = &load.source.values;
    let scripts = Scripts::read(&ScriptLoad::files(values), &ScriptLoad::defined(values));
    Ok(scripts?)
}

/// The prepared statements that the connections of a load of these scripts keep.
pub fn prepared_statements(scripts: &Scripts, load: &PlannedLoad) -> PreparedStatements {
    let each = settings(load)
        .mode
        .prepared_statements(scripts.statements());
    PreparedStatements::of(load.spec.connections, each)
}

fn settings(load: &PlannedLoad) -> Settings {
    ScriptLoad::settings(&load.spec.source.values, load.spec.connections, load.seed)
}

/// The plan of compiled scripts; runs the queries of their lists on the server.
fn plan(scripts: Scripts, settings: Settings, endpoint: &Endpoint) -> Result<Plan, Blamed> {
    let queries: Vec<String> = scripts.queries().map(str::to_owned).collect();
    let answers = if queries.is_empty() {
        Ok(Vec::new())
    } else {
        Purpose::OfUser.control(endpoint, async |connection| {
            let mut answers = Vec::new();
            for (index, query) in queries.iter().enumerate() {
                let sets = match connection.rows(query).await {
                    Ok(sets) => sets,
                    Err(error) if error.server_number().is_some() => {
                        return Ok(Err((index, error)));
                    }
                    Err(error) => return Err(error),
                };
                let set = sets.into_iter().next().unwrap_or_default();
                answers.push(ListRows {
                    columns: set.columns,
                    rows: set.rows,
                });
            }
            Ok(Ok(answers))
        })?
    };
    let answers = answers.map_err(|(query, error)| {
        let fault = scripts.query_fault(query, &error);
        match error.server_number() {
            // A syntax error is the script's.
            Some(protocol::PARSE_ERROR) => fault.into(),
            _ => Blamed::new(Blame::Server, fault),
        }
    })?;
    Ok(Plan::new(scripts, answers, settings)?)
}

fn group(plan: &Arc<Plan>, endpoint: &Endpoint) -> Group<ScriptUser> {
    let (of_users, endpoint) = (Arc::clone(plan), Arc::new(endpoint.clone()));
    Group {
        name: ScriptLoad.name().to_owned(),
        operations: plan.operations().to_vec(),
        statements: plan.statements().to_vec(),
        users: plan.connections(),
        make: Box::new(move |index| {
            ScriptUser::new(Arc::clone(&of_users), Arc::clone(&endpoint), index)
        }),
    }
}

/// The connections of a run.
pub struct Connections(Arc<Plan>);

impl Connections {
    /// Those of a load of these scripts; runs the queries of their lists on the server.
    pub fn new(scripts: Scripts, load: &PlannedLoad, endpoint: &Endpoint) -> Result<Self, Blamed> {
        let plan = plan(scripts, settings(load), endpoint)?;
        Ok(Self(Arc::new(plan)))
    }

    /// What they run.
    pub fn plan(&self) -> &Plan {
        &self.0
    }
}

impl Work for Connections {
    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let load = driver.load(group(&self.0, driver.endpoint()));
        let load = match load.on_error {
            OnError::Stop => Load {
                on_refusal: OnRefusal::Stop,
                on_error: ON_ERROR,
                ..load
            },
            _ => load,
        };
        driver.drive(load, observer)
    }
}
