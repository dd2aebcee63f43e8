//! A .smack file in the runs of an experiment: its tables as data, its clients as load.

use std::{borrow::Cow, sync::Arc};

use blame::{Blame, Blamed};
use dataset::{KnownTable, own_session::open_settled};
use experiment::{DataSpec, LoadSpec, Plan, PlannedLoad, PlannedRun};
use load::{Group, LoadListener, Outcome};
use protocol::Endpoint;
use runs::{
    Benchmark, Context, DataMaker, DataSet, Destination, Driver, Length, LoadResult, OnServer,
    Purpose, Stage, Step, Work, control, disk_bytes, number, wait,
};
use samples::{Dataset, DatasetState, Keys, Line};

use crate::smack::{
    dictionary::ClientIndex,
    error::Error,
    options::{SmackClients, SmackData, SmackLoad},
    passwords::without_passwords,
    plan::ClientPlan,
    script::Script,
    smack_file::{SmackFile, SmackFiles, file_of_data},
    table::{Existing, TablePlan},
    table_event::TableEvent,
    user::SmackUser,
};

/// Super Smack.
pub(crate) struct Smack {
    files: SmackFiles,
}

impl Smack {
    /// As the registry has it, which knows no plan.
    pub(crate) const WITHOUT_FILES: Self = Self {
        files: SmackFiles::NONE,
    };

    /// The file that a load names.
    fn file_of(&self, load: &LoadSpec) -> Arc<SmackFile> {
        self.files.at(SmackClients::of(&load.source.values).file)
    }
}

impl Benchmark for Smack {
    fn on_server(&self) -> Option<&dyn OnServer> {
        Some(self)
    }

    fn load_options(&self) -> &'static dyn settings::LoadKind {
        &SmackLoad
    }

    fn with_files(
        &self,
        plan: &Plan,
        context: &Context,
    ) -> Result<Option<Box<dyn Benchmark>>, Blamed> {
        let files = SmackFiles::read(plan, context)?;
        Ok(Some(Box::new(Self { files })))
    }

    fn without_passwords<'f>(&self, file: &'f [u8]) -> Option<Cow<'f, [u8]>> {
        Script::parse("", file).ok()?;
        Some(without_passwords(file).map_or(Cow::Borrowed(file), Cow::Owned))
    }

    fn work(
        &self,
        run: &PlannedRun,
        load: &PlannedLoad,
        stage: &mut Stage,
        _context: &Context,
    ) -> Result<Box<dyn Work>, Blamed> {
        let smack = self.file_of(&load.spec);
        if run.data.is_none() && !stage.is_simulated {
            stage.dataset = find_tables(&smack, stage.server())?;
        }
        let mut data = run.data.iter();
        let is_own = data.all(|data| file_of_data(data).is_some());
        let rows = stage.dataset.as_ref().map(|data| data.rows);
        let rows = rows.filter(|_| is_own);
        Ok(Box::new(Clients {
            client: smack.client(&load.spec)?,
            first: ClientIndex {
                index: 0,
                of: load.spec.connections.into(),
            },
            plan: smack.plan(&load.spec, rows)?,
            keys: smack.keys(&load.spec, rows)?,
        }))
    }
}

impl OnServer for Smack {
    fn name(&self, load: &LoadSpec) -> Result<String, Blamed> {
        self.file_of(load).database(load)
    }

    fn data_maker(&self) -> Option<&dyn DataMaker> {
        Some(self)
    }
}

impl DataMaker for Smack {
    fn data_options(&self) -> &'static dyn settings::DataKind {
        &SmackData
    }

    fn data_set(&self, data: &DataSpec, _load: &LoadSpec) -> Box<dyn DataSet> {
        let file = file_of_data(data).expect("the data is a .smack file's");
        Box::new(SmackTables(self.files.at(file)))
    }
}

/// The tables of a .smack file.
struct SmackTables(Arc<SmackFile>);

impl DataSet for SmackTables {
    fn name(&self) -> String {
        self.0.name()
    }

    fn tables(&self) -> Vec<KnownTable> {
        self.0.known_tables()
    }

    fn load(
        &self,
        destination: &Destination<'_>,
        rows: Option<u64>,
        context: &Context,
    ) -> Result<LoadResult, Blamed> {
        let rows = rows.expect("the tables of a .smack file have a number of rows");
        load_tables(&self.0, destination.endpoint, rows, context)
    }
}

/// Creates every table of a .smack file with this number of rows; a table that exists is replaced.
fn load_tables(
    smack: &SmackFile,
    endpoint: &Endpoint,
    rows: u64,
    context: &Context,
) -> Result<LoadResult, Blamed> {
    let script = smack.with_rows(Some(rows));
    let plans = TablePlan::all(&script, &smack.files());
    let step = context.step(
        &format!("loading {rows} rows of {}", smack.name()),
        Length::Even(rows),
    );
    let begin = reactor::system_now();
    let loaded = wait(async {
        let mut connection = open_settled(endpoint, Purpose::Work.limit())
            .await
            .map_err(|error| error.blamed(&endpoint.address))?;
        for plan in &plans {
            let watch = &mut |event: TableEvent<'_>| show(&*step, &event);
            let made = plan.make_ready(&mut connection, Existing::Replace, watch);
            match context.interrupt.unless_raised(made).await {
                Some(Ok(_)) => {}
                Some(Err(Error::Statement { source, .. })) if source.is_connection_lost() => {
                    return Err(source.blamed(&endpoint.address));
                }
                Some(Err(error)) => return Err(Blamed::from(error)),
                None => return Err(Blamed::new(Blame::Interrupted, "interrupted while loading")),
            }
        }
        Ok(())
    });
    loaded??;
    let took = reactor::system_now() - begin;
    Ok(LoadResult {
        rows,
        disk_bytes: disk_bytes(smack.tables(), endpoint)?,
        took,
    })
}

/// The tables of a .smack file as they are there, for a run that takes what it finds; `None` when gen-data makes
/// none of them, so that nothing is known about their keys.
fn find_tables(smack: &SmackFile, endpoint: &Endpoint) -> Result<Option<Dataset>, Blamed> {
    let mut found: Option<u64> = None;
    for table in smack.generated_tables() {
        let count = format!("select count(*) from {table}");
        let rows = Purpose::Work
            .control(endpoint, async |connection| {
                number(connection, &count).await
            })
            .map_err(|error| {
                error.hint("a [data] table creates the tables of a .smack file".to_owned())
            })?
            .unwrap_or(0);
        if rows == 0 || found.is_some_and(|other| other != rows) {
            let message =
                format!("table {table} has {rows} rows: its keys are not those of gen-data");
            return Err(
                Blamed::new(Blame::Input, message).hint("a [data] table reloads it".to_owned())
            );
        }
        found = Some(rows);
    }
    let Some(rows) = found else {
        return Ok(None);
    };
    let pool = control(endpoint, async |connection| {
        number(connection, "select @@innodb_buffer_pool_size").await
    })?;
    Ok(Some(Dataset {
        source: smack.name(),
        rows,
        disk_bytes: disk_bytes(smack.tables(), endpoint)?,
        buffer_pool_bytes: pool,
        load_s: None,
        state: DatasetState::Found,
    }))
}

fn show(step: &dyn Step, event: &TableEvent<'_>) {
    match event {
        TableEvent::Sent { rows, .. } => step.reach(*rows),
        TableEvent::ByInsert { reason } => {
            step.note(&format!("loading with INSERT, because of this: {reason}"));
        }
        TableEvent::Adjusted { warnings, first } => {
            step.note(&format!(
                "the server adjusted values ({warnings} warnings): {first}"
            ));
        }
        TableEvent::TooFewRows
        | TableEvent::Creating
        | TableEvent::Populating { .. }
        | TableEvent::Loading { .. }
        | TableEvent::Ready => {}
    }
}

pub struct Clients {
    /// The client type that runs.
    pub client: String,
    /// Index of the first of them.
    pub first: ClientIndex,
    /// What every client fires.
    pub plan: Arc<ClientPlan>,
    pub keys: Vec<Keys>,
}

impl Work for Clients {
    fn known_before(&self) -> Vec<Line> {
        self.keys.iter().cloned().map(Line::Keys).collect()
    }

    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let (plan, endpoint) = (Arc::clone(&self.plan), Arc::new(driver.endpoint().clone()));
        let (first, seed) = (self.first, driver.seed());
        let group = Group {
            name: self.client.clone(),
            operations: plan.operations().to_vec(),
            statements: Vec::new(),
            users: driver.users(),
            make: Box::new(move |index| {
                let index = first.index + u64::from(index);
                let client_index = ClientIndex {
                    index,
                    of: first.of.max(index + 1),
                };
                SmackUser::new(Arc::clone(&plan), Arc::clone(&endpoint), client_index, seed)
            }),
        };
        driver.drive(driver.load(group), observer)
    }
}
