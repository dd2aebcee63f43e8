//! A .smack file in the runs of an experiment: its tables as data, its clients as load.

use std::{borrow::Cow, sync::Arc};

use blame::Blamed;
use experiment::{DataSpec, LoadSpec, Plan, PlannedLoad, PlannedRun};
use load::{Group, Observer, Outcome};
use runs::{Benchmark, Context, DataMaker, DataSet, Driver, OnServer, Stage, Work};
use samples::{Keys, Line};

use crate::smack::{
    data_set::{SmackTables, find_tables},
    dictionary::ClientIndex,
    options::{SmackClients, SmackData, SmackLoad},
    passwords::without_passwords,
    plan::ClientPlan,
    script::Script,
    smack_file::{SmackFile, SmackFiles, file_of_data},
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

    fn drive(&self, driver: &Driver<'_>, observer: &mut dyn Observer) -> Result<Outcome, Blamed> {
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
