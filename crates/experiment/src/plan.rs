//! The plan: every run of an experiment, in its order.

pub(crate) mod decision_time;
pub(crate) mod equal_levels;
pub(crate) mod estimate;
pub(crate) mod levels;
pub(crate) mod matrix;
pub(crate) mod order;
pub(crate) mod requested_figures;
pub(crate) mod scale;
pub(crate) mod server_bytes;
pub(crate) mod table;
pub(crate) mod zip;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use samples::{LOAD, RATE};
use settings::{Arrivals, Factor};

use crate::{
    file::template::Levels,
    plan::order::Order,
    results::identity::Identity,
    spec::{
        data::DataSpec,
        design::Design,
        event::EventSpec,
        load::LoadSpec,
        proxy::ProxySpec,
        repeats::Repeats,
        server::{ServerSpec, is_option},
    },
};

/// One combination with all parameters of its runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) combination: Levels,
    pub(crate) server: ServerSpec,
    pub(crate) data: Option<DataSpec>,
    /// The loads, which begin and end together, in the file's order; of several, those with 0 connections do not run.
    pub(crate) loads: Vec<LoadSpec>,
    pub(crate) proxy: Option<ProxySpec>,
    pub(crate) events: Vec<EventSpec>,
    pub(crate) change: Vec<String>,
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
}

impl Cell {
    /// True if a run of the other combination measures the same.
    pub(crate) fn measures_same(&self, other: &Self) -> bool {
        let Self {
            combination: _,
            server,
            data,
            loads,
            proxy,
            events,
            change,
            before,
            after,
        } = self;
        let same_setup = *server == other.server && *data == other.data && *proxy == other.proxy;
        let same_load = *loads == other.loads && *events == other.events;
        let same_sql = (change, before, after) == (&other.change, &other.before, &other.after);
        same_setup && same_load && same_sql
    }

    /// The files and directories of data, which are too large to be copied.
    pub(crate) fn data_files(&self) -> impl Iterator<Item = PathBuf> {
        let data = self.data.iter();
        let files = data.flat_map(|data| data.source.values.data_files());
        files.map(Path::to_owned)
    }

    /// The files that influence the results: option files, and those that data, load and proxy name.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let cnf = match &self.server {
            ServerSpec::Private { cnf, .. } => cnf.as_slice(),
            ServerSpec::Given { .. } | ServerSpec::Absent => &[],
        };
        let data = self.data.iter().flat_map(|data| data.source.values.files());
        let cnf = cnf.iter().map(PathBuf::as_path);
        let proxy = self.proxy.iter().flat_map(ProxySpec::files);
        let loads = || self.loads.iter().map(|load| &load.source);
        let of_loads = loads().flat_map(|load| load.values.files());
        let files = cnf.chain(data).chain(of_loads).chain(proxy);
        let of_data = self.data.iter().map(|data| &data.source);
        let named = of_data.flat_map(|data| data.kind.named_files(&data.values));
        let named = named.chain(loads().flat_map(|load| load.kind.named_files(&load.values)));
        files.map(Path::to_owned).chain(named)
    }
}

/// One execution of one combination.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRun {
    /// Position in the plan, starting at 1.
    pub run: u32,
    /// The block that it belongs to, starting at 1.
    pub block: u32,
    /// Level by factor.
    pub combination: BTreeMap<String, String>,
    /// Seed of this run's randomness, except that of its loads.
    pub seed: u64,
    pub server: ServerSpec,
    /// The data; `None` when the run uses the existing data.
    pub data: Option<DataSpec>,
    /// The loads, at least one; several begin and end together.
    pub loads: Vec<PlannedLoad>,
    /// The load that says in which database the data is and in which state: the one for which it is made, or the first in
    /// the file. It is the same in all combinations, so that they share the data, and need not run.
    pub data_load: LoadSpec,
    /// The proxy between clients and server; `None` where the clients connect to the server.
    pub proxy: Option<ProxySpec>,
    /// What is done to the server while the run is measured, in the order of time.
    pub events: Vec<EventSpec>,
    /// That of the plan, for estimates of single runs.
    pub(crate) design: Design,
    /// SQL statements that change the restored data, before a restart of the server.
    pub change: Vec<String>,
    /// SQL statements before the warm-up.
    pub before: Vec<String>,
    /// SQL statements after the measurement.
    pub after: Vec<String>,
}

impl PlannedRun {
    /// The run of a command: one load on the server at this address, with the data that it finds there. The settings of the
    /// command take the place of the levels.
    pub fn of_command(
        settings: BTreeMap<String, String>,
        address: String,
        load: PlannedLoad,
    ) -> Self {
        Self {
            run: 1,
            block: 1,
            combination: settings,
            seed: load.seed,
            server: ServerSpec::at(address),
            data: None,
            data_load: load.spec.clone(),
            loads: vec![load],
            proxy: None,
            events: Vec::new(),
            design: Design::Classical,
            change: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// A name of the data set: two runs with the same name can use one copy of the data. `None` without data.
    ///
    /// For example `mariadb-10.11 smacks/hp-sizing.smack 0.5x innodb_buffer_pool_size=1G`.
    pub fn data_set(&self) -> Option<String> {
        data_set(&self.server, self.data.as_ref(), &self.data_load)
    }

    /// The loads whose benchmark has this name.
    pub fn loads_of(&self, benchmark: &str) -> impl Iterator<Item = &PlannedLoad> {
        let loads = self.loads.iter();
        loads.filter(move |load| load.spec.source.name() == benchmark)
    }

    /// The same run with the next rate of its search, operations per second.
    #[must_use]
    pub fn at_rate(&self, next_per_s: f64) -> Self {
        let mut run = self.clone();
        let searching = run.loads.iter_mut().filter(|load| load.spec.find.is_some());
        for load in searching {
            if let Arrivals::Open { rate_per_s, .. } = &mut load.spec.arrivals {
                *rate_per_s = next_per_s;
            }
        }
        run
    }

    /// The levels under which reports have a load of this run: those of the combination, the load's name as a level of
    /// [`LOAD`] if it has one, and the rate as a level of [`RATE`] if the run belongs to a search.
    pub fn combination_of(&self, load: &LoadSpec) -> BTreeMap<String, String> {
        with_load(&self.combination, load)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlannedLoad {
    /// What the file says.
    pub spec: LoadSpec,
    /// Seed of its randomness; that of the run for a single `[load]`.
    pub seed: u64,
}

impl Cell {
    /// See [`PlannedRun::data_load`].
    pub(crate) fn data_load(&self) -> &LoadSpec {
        let data = self.data.as_ref().map(|data| data.source.name());
        let is_its = |load: &&LoadSpec| Some(load.source.name()) == data;
        let own = self.loads.iter().find(is_its);
        own.unwrap_or(&self.loads[0])
    }

    fn planned_loads(&self, seed: u64, block: u32) -> Vec<PlannedLoad> {
        let running = self.loads.iter().filter(|load| load.connections > 0);
        let planned = running.map(|load| PlannedLoad {
            seed: order::run_seed(seed, block, &in_words(&with_load(&self.combination, load))),
            spec: load.clone(),
        });
        planned.collect()
    }
}

fn with_load(combination: &Levels, load: &LoadSpec) -> Levels {
    let name = load.name.iter().map(|name| (LOAD.to_owned(), name.clone()));
    let rate = load.find.as_ref().and(load.arrivals.rate_per_s());
    let rate = rate.map(|rate| (RATE.to_owned(), rate.to_string()));
    let levels = combination.clone().into_iter();
    levels.chain(name).chain(rate).collect()
}

/// Every run of an experiment, in its order: randomised complete blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The runs; a block holds each combination once.
    pub runs: Vec<PlannedRun>,
    pub(crate) identity: Identity,
    pub(crate) factors: Vec<Factor>,
    /// The names of the loads in the file's order; empty for a single `[load]`.
    pub loads: Vec<String>,
    /// What levels stand for that do not say it themselves, by factor and level.
    pub(crate) meanings: BTreeMap<(String, String), String>,
    /// The levels of baselines that `--only` leaves out, and what takes their place, in words.
    pub(crate) moved_baselines: Vec<String>,
    /// Pairs of levels that measure the same because of `--scale`, in words.
    pub(crate) equal_levels: Vec<String>,
    /// Number of runs per combination; in a plan until decided, the runs are the maximum that its budget allows.
    pub repeats: Repeats,
    /// How the combinations of a block are measured; side by side, a block is a session.
    pub design: Design,
    pub(crate) order: Order,
    pub(crate) seed: u64,
}

impl Plan {
    pub(crate) fn new(
        identity: Identity,
        factors: &[Factor],
        cells: Vec<Cell>,
        repeats: Repeats,
        design: Design,
        order: Order,
        seed: u64,
    ) -> Self {
        let data_sets: Vec<String> = cells
            .iter()
            .map(|cell| {
                data_set(&cell.server, cell.data.as_ref(), cell.data_load()).unwrap_or_default()
            })
            .collect();
        let draw = identity.draw();
        let orders = order::of_blocks(order, draw, seed, repeats.blocks(), &data_sets);
        let in_order = (1..)
            .zip(orders)
            .flat_map(|(block, positions)| positions.into_iter().map(move |at| (block, at)));
        let runs = (1..)
            .zip(in_order)
            .map(|(run, (block, at))| {
                let cell = cells[at].clone();
                PlannedRun {
                    run,
                    block,
                    seed: order::run_seed(seed, block, &in_words(&cell.combination)),
                    loads: cell.planned_loads(seed, block),
                    data_load: cell.data_load().clone(),
                    combination: cell.combination,
                    server: cell.server,
                    data: cell.data,
                    proxy: cell.proxy,
                    events: cell.events,
                    design,
                    change: cell.change,
                    before: cell.before,
                    after: cell.after,
                }
            })
            .collect();
        Self {
            runs,
            identity,
            factors: factors.to_vec(),
            loads: Vec::new(),
            meanings: BTreeMap::new(),
            moved_baselines: Vec::new(),
            equal_levels: Vec::new(),
            repeats,
            design,
            order,
            seed,
        }
    }
}

/// The combination in words, `connections=4 mix=1:0`, factors by name.
pub(crate) fn in_words(combination: &Levels) -> String {
    let levels: Vec<String> = combination
        .iter()
        .map(|(name, level)| format!("{name}={level}"))
        .collect();
    levels.join(" ")
}

fn data_set(server: &ServerSpec, data: Option<&DataSpec>, load: &LoadSpec) -> Option<String> {
    let data = data?;
    let mut words = Vec::new();
    match server {
        ServerSpec::Absent => {}
        ServerSpec::Given { address, .. } => words.push(address.clone()),
        ServerSpec::Private {
            run,
            cnf,
            set,
            datadir,
            ..
        } => {
            words.extend(run.clone());
            words.extend(
                datadir
                    .iter()
                    .map(|directory| directory.display().to_string()),
            );
            // The content of an option file is not known here, so another file is another data set, unless declared.
            let files = cnf.iter().filter(|_| !data.shared);
            words.extend(files.map(|file| file.display().to_string()));
            let by_pool = data.follows_buffer_pool();
            let shapes = |option: &str| {
                mycnf::SHAPING.iter().any(|name| is_option(option, name))
                    || by_pool && is_option(option, "innodb_buffer_pool_size")
            };
            let shaping = set.iter().filter(|(option, _)| shapes(option));
            words.extend(shaping.map(|(option, value)| format!("{option}={value}")));
        }
    }
    words.push(data.source.kind.identity(&data.source.values));
    words.extend(load.source.kind.wants_of_data(&load.source.values));
    Some(words.join(" "))
}
