//! The buffer pool of an emulated target.

use experiment::{PlannedRun, written};
use settings::quantity;
use sizing::{EMULATED_LEVELS, Target};
use toml_edit::DocumentMut;

use super::experiment_file::{
    add_factor, add_level, buffer_pool_in, factor_in, is_zipped, leader_of, set_buffer_pool,
};
use crate::commands::size::{
    emulating_machine::EmulatingMachine,
    experiment_check::{buffer_pool_bytes, follows_buffer_pool},
};

/// The factor of a buffer pool that is the same in all runs of the experiment.
const FACTOR: &str = "emulated_buffer_pool";

/// The buffer pool of the combinations that emulate a target.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EmulatedPool {
    /// That of the experiment.
    Unchanged,
    /// A level of the experiment's factor.
    Level(PoolLevel),
    /// In the place of the experiment's only buffer pool: both, as an option has them.
    Instead([String; 2]),
}

/// A level of the factor that is the buffer pool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PoolLevel {
    pub(super) factor: String,
    pub(super) label: String,
    /// True if the experiment does not have it.
    pub(super) is_new: bool,
}

impl EmulatedPool {
    /// The pool of a target, or the experiment's nearest one; `missing` gets the reason why it is not emulated.
    pub(super) fn of(
        file: &DocumentMut,
        runs: &[&PlannedRun],
        target: &Target,
        machine: EmulatingMachine,
        missing: &mut Vec<String>,
    ) -> Self {
        let wanted = target.buffer_pool().map(|pool| pool.bytes);
        let setting = buffer_pool_in(file);
        let factor = setting.as_deref().and_then(|it| only_factor(file, it));
        let is_own = factor.as_deref().is_some_and(|it| !is_zipped(file, it));
        let factor = factor.map(|it| leader_of(file, &it));
        let measured: Vec<(u64, &PlannedRun)> = runs
            .iter()
            .filter_map(|run| Some((buffer_pool_bytes(run)?, *run)))
            .collect();
        let is_measured = |bytes: u64| measured.iter().any(|(pool, _)| *pool == bytes);
        let possible = wanted.filter(|bytes| {
            let is_new = !is_measured(*bytes);
            // A level of the experiment has whatever varies together with it.
            let why = if is_new || factor.is_none() {
                why_not_set(setting.as_deref(), is_own)
            } else {
                None
            };
            let here = || is_new.then(|| why_not_here(*bytes, runs, machine));
            let why = why.or_else(|| here().flatten());
            missing.extend(why.iter().map(|why| format!("buffer_pool ({why})")));
            why.is_none()
        });
        let Some(factor) = factor else {
            let other = possible.filter(|bytes| !is_measured(*bytes));
            return match (setting, other) {
                (Some(setting), Some(bytes)) => Self::Instead([setting, size(bytes)]),
                _ => Self::Unchanged,
            };
        };
        if let Some(bytes) = possible.filter(|bytes| !is_measured(*bytes)) {
            let label = size(bytes);
            return Self::Level(PoolLevel {
                factor,
                label,
                is_new: true,
            });
        }
        let distance = |pool: u64| wanted.map_or(0, |wanted| pool.abs_diff(wanted));
        let nearest = measured.iter().min_by_key(|(pool, _)| distance(*pool));
        let label = nearest.and_then(|(_, run)| run.combination.get(&factor));
        match label.cloned() {
            None => Self::Unchanged,
            Some(label) => Self::Level(PoolLevel {
                factor,
                label,
                is_new: false,
            }),
        }
    }

    pub(super) fn has_factor(&self, name: &str) -> bool {
        matches!(self, Self::Level(level) if level.factor == name)
    }

    /// Adds what the experiment does not have; returns the name of a factor that belongs to the levels of emulation.
    pub(super) fn add(&self, file: &mut DocumentMut) -> Option<String> {
        match self {
            Self::Level(level) if level.is_new => {
                add_level(file, &level.factor, &level.label);
                None
            }
            Self::Unchanged | Self::Level(_) => None,
            Self::Instead(pools) => {
                add_factor(file, FACTOR, &EMULATED_LEVELS, pools);
                set_buffer_pool(file, written::string(&format!("{{{FACTOR}}}")));
                Some(FACTOR.to_owned())
            }
        }
    }
}

/// The factor that alone is the buffer pool: `pool` for `"{pool}"`.
fn only_factor(file: &DocumentMut, setting: &str) -> Option<String> {
    let name = setting.strip_prefix('{')?.strip_suffix('}')?;
    factor_in(file, name).map(|_| name.to_owned())
}

/// Why no other buffer pool can be set; `None` if it can. `is_own` if it is a factor of its own.
fn why_not_set(setting: Option<&str>, is_own: bool) -> Option<String> {
    match setting {
        None => Some("[server] set has no innodb_buffer_pool_size".to_owned()),
        Some(setting) if !is_own && quantity::bytes(setting).is_none() => {
            Some("it varies together with other settings".to_owned())
        }
        Some(_) => None,
    }
}

/// Why these runs on this machine cannot have another buffer pool; `None` if they can.
fn why_not_here(bytes: u64, runs: &[&PlannedRun], machine: EmulatingMachine) -> Option<String> {
    if runs.iter().any(|run| follows_buffer_pool(run)) {
        return Some("the size of the data depends on it".to_owned());
    }
    // The server and the kernel need the rest.
    let memory = machine
        .memory_bytes
        .filter(|memory| bytes > memory / 4 * 3)?;
    let [bytes, memory] = [bytes, memory].map(units::bytes);
    Some(format!("{bytes}, and this machine has {memory} of memory"))
}

/// Bytes as an option has them: `192M`.
fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{}M", bytes >> 20)
    } else {
        bytes.to_string()
    }
}
