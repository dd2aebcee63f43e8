//! A .smack file as an experiment uses it: its tables, its words, its clients' plans.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use blame::{Blame, Blamed};
use dataset::KnownTable;
use experiment::{DataSpec, LoadSpec, Plan};
use runs::Context;
use samples::{KeyOrder, Keys};
use settings::OptionTable;

use crate::smack::{
    dictionary::{DataFiles, Dictionary},
    options::{SmackClients, SmackData, SmackLoad},
    plan::{BarrelOptions, ClientPlan},
    script::{Generator, Order, Script},
};

/// Database of clients that name none, as private servers have it.
const DATABASE: &str = "test";

/// Longest .smack file.
pub const SCRIPT_BYTES_MAX: u64 = 16 << 20;

/// A .smack file and the words of its dictionaries, by number of rows.
pub(super) struct SmackFile {
    path: PathBuf,
    script: Script,
    words: Mutex<BTreeMap<Option<u64>, Arc<[Dictionary]>>>,
}

/// The .smack files of a plan, each read once.
pub(super) struct SmackFiles(BTreeMap<PathBuf, Arc<SmackFile>>);

/// The .smack file that makes the tables, if one does.
pub(super) fn file_of_data(data: &DataSpec) -> Option<&Path> {
    let is_smack = data.source.name() == SmackData.name();
    is_smack.then(|| SmackData::of(&data.source.values).0)
}

/// The .smack file that runs, if one does.
fn file_of_load(load: &LoadSpec) -> Option<&Path> {
    let is_smack = load.source.name() == SmackLoad.name();
    is_smack.then(|| SmackClients::of(&load.source.values).file)
}

/// The keys that the clients of a plan draw from these words.
pub fn keys_of(
    script: &Script,
    client: &str,
    plan: &ClientPlan,
    words: &[Dictionary],
) -> Vec<Keys> {
    let drawn_from = plan.drawn_from().into_iter();
    let keys = drawn_from.map(|index| {
        let section = &script.dictionaries[index];
        let coverage = words[index].coverage();
        Keys {
            load: client.to_owned(),
            dictionary: section.name.clone(),
            drawn: match section.order {
                Order::Random => KeyOrder::Random,
                Order::Sequential => KeyOrder::Sequential,
                Order::Unique => KeyOrder::Unique,
            },
            used: coverage.map(|(used, _)| used),
            offered: coverage.map(|(_, offered)| offered),
        }
    });
    keys.collect()
}

impl SmackFiles {
    /// Those of no plan.
    pub(super) const NONE: Self = Self(BTreeMap::new());

    /// Reads every .smack file and checks that the runs can be what they say; starts and writes nothing.
    pub(super) fn read(plan: &Plan, context: &Context) -> Result<Self, Blamed> {
        let mut files = BTreeMap::new();
        for run in &plan.runs {
            let data = run.data.iter().filter_map(file_of_data);
            let loads = || {
                run.loads
                    .iter()
                    .map(|load| &load.spec)
                    .chain([&run.data_load])
            };
            for path in data.chain(loads().filter_map(file_of_load)) {
                if !files.contains_key(path) {
                    files.insert(path.to_owned(), Arc::new(SmackFile::open(path, context)?));
                }
            }
            for load in loads() {
                if let Some(path) = file_of_load(load) {
                    files[path].check(load)?;
                }
            }
        }
        Ok(Self(files))
    }

    /// One of the plan's files.
    pub(super) fn at(&self, path: &Path) -> Arc<SmackFile> {
        Arc::clone(&self.0[path])
    }
}

impl SmackFile {
    /// Reads and checks the file.
    fn open(path: &Path, context: &Context) -> Result<Self, Blamed> {
        let text = files::read_handed_over(path, SCRIPT_BYTES_MAX)
            .map_err(Blamed::io(Blame::Input, path))?;
        let script = Script::parse(&path.display().to_string(), &text).map_err(Blamed::from)?;
        for warning in &script.warnings {
            context.warn(&warning.to_string());
        }
        Ok(Self {
            path: path.to_owned(),
            script,
            words: Mutex::default(),
        })
    }

    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The client type that a load runs: the named one, or the only one that main starts.
    pub(super) fn client(&self, load: &LoadSpec) -> Result<String, Blamed> {
        if let Some(client) = SmackClients::of(&load.source.values).client {
            return Ok(client.to_owned());
        }
        let clients = &self.script.clients;
        let mut started = self
            .script
            .programs
            .iter()
            .map(|program| &clients[program.client].name);
        match (started.next(), started.next()) {
            (Some(only), None) => Ok(only.clone()),
            (None, _) => Err(self.fault("main starts no client")),
            (Some(_), Some(_)) => Err(self.fault("main starts more than one client type")),
        }
    }

    fn fault(&self, what: &str) -> Blamed {
        Blamed::new(Blame::Input, format!("{}: {what}", self.path.display()))
            .hint("name one in the experiment: client = \"...\" under [load]".to_owned())
    }

    /// The database that the clients of a load use.
    pub(super) fn database(&self, load: &LoadSpec) -> Result<String, Blamed> {
        let client = self.client(load)?;
        let index = self.script.client(&client);
        let database = index.and_then(|index| self.script.clients[index].database.clone());
        Ok(database.unwrap_or_else(|| DATABASE.to_owned()))
    }

    /// What every client of a load does, with the words of a data set of `rows` rows (`None`: the file's own).
    pub(super) fn plan(
        &self,
        load: &LoadSpec,
        rows: Option<u64>,
    ) -> Result<Arc<ClientPlan>, Blamed> {
        self.plan_with(load, self.words(rows)?)
    }

    /// The keys that the clients of a load draw, with the words of a data set of `rows` rows.
    pub(super) fn keys(&self, load: &LoadSpec, rows: Option<u64>) -> Result<Vec<Keys>, Blamed> {
        let words = self.words(rows)?;
        let client = self.client(load)?;
        let plan = self.plan_with(load, Arc::clone(&words))?;
        Ok(keys_of(&self.script, &client, &plan, &words))
    }

    fn plan_with(
        &self,
        load: &LoadSpec,
        words: Arc<[Dictionary]>,
    ) -> Result<Arc<ClientPlan>, Blamed> {
        let mix = SmackClients::of(&load.source.values).mix.map(|counts| {
            let counts: Vec<_> = counts.iter().map(u64::to_string).collect();
            counts.join(":")
        });
        let firing = BarrelOptions {
            mix: mix.as_deref(),
            stages: None,
        };
        let plan = ClientPlan::new(&self.script, words, &self.client(load)?, firing);
        Ok(Arc::new(plan.map_err(Blamed::from)?))
    }

    /// An error where the file cannot do what a load asks for; looks at no data.
    fn check(&self, load: &LoadSpec) -> Result<(), Blamed> {
        self.plan_with(load, Arc::from([])).map(drop)
    }

    fn words(&self, rows: Option<u64>) -> Result<Arc<[Dictionary]>, Blamed> {
        let mut known = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(words) = known.get(&rows) {
            return Ok(Arc::clone(words));
        }
        let words = Dictionary::load_all(&self.with_rows(rows), &self.files());
        let words: Arc<[Dictionary]> = words.map_err(Blamed::from)?.into();
        known.insert(rows, Arc::clone(&words));
        Ok(words)
    }

    /// The script with `rows` rows in each table that gen-data fills (`None`: the file's own).
    pub(super) fn with_rows(&self, rows: Option<u64>) -> Script {
        let mut script = self.script.clone();
        if let Some(rows) = rows {
            script.set_rows(rows);
        }
        script
    }

    /// Rows come straight from their generator: no file is written.
    pub(super) fn files(&self) -> DataFiles {
        DataFiles {
            data_dir: None,
            smack_dir: self.path.parent().unwrap_or(Path::new("")).to_owned(),
        }
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &str> {
        self.script.tables.iter().map(|table| table.name.as_str())
    }

    /// The tables, as their CREATE statements make them.
    pub(super) fn known_tables(&self) -> Vec<KnownTable> {
        let tables = self.script.tables.iter();
        let known = tables.map(|table| KnownTable::created_by(&table.name, &table.create));
        known.collect()
    }

    /// Names of the tables that gen-data fills.
    pub(super) fn generated_tables(&self) -> impl Iterator<Item = &str> {
        let tables = self.script.tables.iter();
        let generated =
            tables.filter(|table| matches!(table.generator, Some(Generator::GenData(_))));
        generated.map(|table| table.name.as_str())
    }
}
