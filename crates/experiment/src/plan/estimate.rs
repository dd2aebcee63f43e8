//! The estimated duration of a plan.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use settings::{Rows, Size, quantity};

use crate::{
    plan::{Plan, PlannedRun},
    spec::{
        data::{DataSpec, Restore},
        design::Design,
        server::{Restart, ServerSpec},
    },
};

/// InnoDB's default buffer pool, bytes.
const DEFAULT_BUFFER_POOL_BYTES: u64 = 128 << 20;

/// What passes before a turn while variables are set on an existing server: 40 ms, and the statement.
const SETTING_VARIABLES: Duration = Duration::from_millis(50);

/// Maximum of an estimate: a hundred years, seconds.
const ESTIMATE_S_AT_MOST: f64 = 100.0 * 365.25 * 24.0 * 3600.0;

/// The costs of the steps around a measurement on this machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Stopping and starting a private server, seconds.
    pub restart_s: f64,
    /// What else goes around each run (connecting, the drain, closing the record), seconds.
    pub around_s: f64,
    /// Generating and loading data, seconds per gigabyte (10⁹ bytes) on disk.
    pub load_s_per_gb: f64,
    /// Restoring data, seconds per gigabyte on disk.
    pub restore_s_per_gb: f64,
    /// Bytes on disk per row, if the file contains a plain number of rows.
    pub row_bytes: f64,
}

impl Default for Costs {
    /// The costs of a small machine with a solid-state disk; a guess until a run has been measured.
    fn default() -> Self {
        Self {
            restart_s: 1.0,
            around_s: 1.0,
            load_s_per_gb: 40.0,
            restore_s_per_gb: 3.0,
            row_bytes: 1000.0,
        }
    }
}

/// How long one run takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunTime {
    /// What is not the load: a restart, data, and what else goes around a run.
    pub preparation_s: f64,
    /// Warm-up and measurement; a warm-up that lasts until steady takes its limit. Side by side, the turns of the load,
    /// without those of the others.
    pub load_s: f64,
    /// What the preparation does with the data.
    pub data: DataStep,
}

/// What precedes a run with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataStep {
    /// It is generated and loaded.
    Loaded,
    /// A copy is put back, or a given server's data is loaded again.
    Restored,
    /// It is there, or none is needed.
    Kept,
}

/// How long each of these runs takes, the first of which finds no data.
pub fn run_times<'p>(
    runs: impl IntoIterator<Item = &'p PlannedRun>,
    costs: &Costs,
) -> Vec<RunTime> {
    let mut loaded = BTreeSet::new();
    let mut block = 0;
    let mut prepared = BTreeSet::new();
    let times = runs.into_iter().map(|run| {
        let server = server_of_session(run);
        if run.block != block {
            (block, prepared) = (run.block, BTreeSet::new());
        }
        // Each server of a session is prepared anew.
        let is_first_of_block = prepared.insert(server);
        let data_set = run.data_set();
        let is_first_on_data = data_set.is_some_and(|name| loaded.insert((name, server)));
        let (data, data_s) = data_s(run, is_first_of_block, is_first_on_data, costs);
        RunTime {
            preparation_s: restart_s(run, is_first_of_block, costs) + data_s + costs.around_s,
            load_s: load_s(run, costs),
            data,
        }
    });
    times.collect()
}

impl Plan {
    /// The maximum duration of the plan: one load for each data set, and for each run its preparation, its warm-up (one
    /// that lasts until steady: its limit) and its measurement.
    pub fn estimate(&self, costs: &Costs) -> Duration {
        self.estimate_of_blocks(self.repeats.blocks(), costs)
    }

    /// That of the first blocks, this number of them.
    pub(super) fn estimate_of_blocks(&self, blocks: u32, costs: &Costs) -> Duration {
        let runs = self.runs.iter().filter(|run| run.block <= blocks);
        let times = run_times(runs, costs).into_iter();
        let seconds: f64 = times.map(|it| it.preparation_s + it.load_s).sum();
        // Data of exabytes would take longer than can be expressed.
        Duration::from_secs_f64(seconds.min(ESTIMATE_S_AT_MOST))
    }
}

/// A server of a session, with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ServerOfSession<'p> {
    /// The private one of this combination.
    Private(&'p BTreeMap<String, String>),
    /// The given one at this address, which several combinations may share.
    Given(&'p str),
}

/// The server of a run side by side; `None` for a run of the classical design.
fn server_of_session(run: &PlannedRun) -> Option<ServerOfSession<'_>> {
    match (run.design, &run.server) {
        (Design::Classical, _) => None,
        (Design::SideBySide(_), ServerSpec::Given { address, .. }) => {
            Some(ServerOfSession::Given(address))
        }
        (Design::SideBySide(_), ServerSpec::Private { .. } | ServerSpec::Absent) => {
            Some(ServerOfSession::Private(&run.combination))
        }
    }
}

fn restart_s(run: &PlannedRun, is_first_of_block: bool, costs: &Costs) -> f64 {
    let is_private = matches!(run.server, ServerSpec::Private { .. });
    let is_first = match run.design {
        Design::Classical => run.run == 1,
        Design::SideBySide(_) => run.block == 1,
    };
    let restarts = match run.server.restart() {
        Restart::PerRun => true,
        Restart::PerBlock => is_first_of_block,
        Restart::Never => is_private && is_first,
    };
    if restarts { costs.restart_s } else { 0.0 }
}

fn data_s(
    run: &PlannedRun,
    is_first_of_block: bool,
    is_first: bool,
    costs: &Costs,
) -> (DataStep, f64) {
    let Some(data) = &run.data else {
        return (DataStep::Kept, 0.0);
    };
    let gigabytes = data_bytes(run, data, costs) / 1e9;
    let restores = match data.restore {
        Restore::PerRun => true,
        Restore::PerBlock => is_first_of_block,
        Restore::Never => false,
    };
    match &run.server {
        _ if is_first => (DataStep::Loaded, gigabytes * costs.load_s_per_gb),
        _ if !restores => (DataStep::Kept, 0.0),
        ServerSpec::Private { .. } => (DataStep::Restored, gigabytes * costs.restore_s_per_gb),
        // Only the files of a private server can be copied back: elsewhere the data is loaded again.
        ServerSpec::Given { .. } | ServerSpec::Absent => {
            (DataStep::Restored, gigabytes * costs.load_s_per_gb)
        }
    }
}

fn data_bytes(run: &PlannedRun, data: &DataSpec, costs: &Costs) -> f64 {
    match data.source.kind.size(&data.source.values) {
        Size::Rows(Rows::Count(rows)) => rows as f64 * costs.row_bytes,
        _ => known_data_bytes(run, data).unwrap_or(0.0),
    }
}

/// Size of the data of a run on disk, bytes; `None` of a number of rows, whose length is not known before they are loaded.
pub(super) fn known_data_bytes(run: &PlannedRun, data: &DataSpec) -> Option<f64> {
    match data.source.kind.size(&data.source.values) {
        Size::Bytes(bytes) => Some(bytes),
        Size::Rows(Rows::Count(_)) => None,
        Size::Rows(Rows::TimesBufferPool(ratio)) => {
            let pool = run.server.option("innodb_buffer_pool_size");
            let pool = pool.and_then(quantity::bytes);
            Some(ratio * pool.unwrap_or(DEFAULT_BUFFER_POOL_BYTES) as f64)
        }
    }
}

fn load_s(run: &PlannedRun, costs: &Costs) -> f64 {
    // Several loads have the same times.
    let load = &run.data_load;
    let works_s = match &run.data {
        Some(data) if load.ends_by_itself() => {
            data_bytes(run, data, costs) / 1e9 * costs.load_s_per_gb
        }
        _ => match run.design {
            Design::Classical => load.expected().as_secs_f64(),
            Design::SideBySide(slicing) => {
                let mut turns = slicing.time_of_turns(load.duration);
                if !run.server.set_by_turns().is_empty() {
                    turns += SETTING_VARIABLES * slicing.slices_at_most(load.duration);
                }
                (load.warmup.at_most() + turns).as_secs_f64()
            }
        },
    };
    load.pause.as_secs_f64() + works_s
}
