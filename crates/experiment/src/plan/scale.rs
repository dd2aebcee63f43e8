//! `--scale`: the same experiment on a smaller scale: shorter runs, fewer rows, smaller caches and redo log.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use mycnf::{OptionFile, Options};
use settings::{WarmUp, quantity};

use crate::{
    file::problem::Problem,
    spec::{
        data::DataSpec,
        design::{Design, SLICE_AT_LEAST, Slicing},
        event::EventSpec,
        load::LoadSpec,
        server::{ServerSpec, is_option},
    },
};

const DURATION_AT_LEAST: Duration = Duration::from_secs(1);
const WARMUP_AT_LEAST: Duration = Duration::from_millis(500);
const SETTLE_AT_LEAST: Duration = Duration::from_millis(100);

/// Server options that are scaled, with the unit for rounding and their minimum, both in bytes. The caches are scaled
/// with the data, so that the same part of it fits; the redo log is scaled with the time, so that a run still fills the
/// same share of it.
const OPTIONS: &[(&str, u64, u64)] = &[
    ("innodb_buffer_pool_size", 1 << 20, 8 << 20),
    ("innodb_log_file_size", 1 << 20, 8 << 20),
    ("innodb_redo_log_capacity", 1 << 20, 8 << 20),
    ("query_cache_size", 1 << 10, 256 << 10),
];

/// The groups of an option file that every server of its family reads.
const GROUPS: [&str; 4] = ["mysqld", "server", "mariadb", "mariadbd"];

/// The design with reduced times; `scale` is above 0 and at most 1.
pub(crate) fn shrink_design(scale: f64, design: Design) -> Design {
    match design {
        Design::SideBySide(slicing) if scale < 1.0 => Design::SideBySide(Slicing {
            slice: shorter(slicing.slice, scale, SLICE_AT_LEAST),
            settle: shorter(slicing.settle, scale, SETTLE_AT_LEAST),
            ..slicing
        }),
        unscaled => unscaled,
    }
}

/// Reduces the data and the times of one run; `scale` is above 0 and at most 1, and `design` is not scaled.
pub(crate) fn shrink(
    scale: f64,
    design: Design,
    server: &ServerSpec,
    data: Option<&mut DataSpec>,
    loads: &mut [LoadSpec],
) -> Result<(), Problem> {
    let at_least = match shrink_design(scale, design) {
        Design::Classical => DURATION_AT_LEAST,
        Design::SideBySide(slicing) => slicing.shortest().max(DURATION_AT_LEAST),
    };
    for load in loads {
        shrink_load(scale, load, at_least);
    }
    let Some(data) = data else {
        return Ok(());
    };
    data.source.kind.shrink(&mut data.source.values, scale);
    let pool = server.option("innodb_buffer_pool_size");
    if data.follows_buffer_pool() && pool.and_then(quantity::bytes).is_none() {
        return Err(Problem::ScaleNeedsBufferPool);
    }
    Ok(())
}

/// Reduces the times of a load, whose measurement lasts `at_least` this time.
fn shrink_load(scale: f64, load: &mut LoadSpec, at_least: Duration) {
    for stage in &mut load.stages {
        stage.length = shorter(stage.length, scale, DURATION_AT_LEAST);
    }
    load.duration = if load.stages.is_empty() {
        shorter(load.duration, scale, at_least)
    } else {
        load.stages.iter().map(|stage| stage.length).sum()
    };
    load.pause = load.pause.mul_f64(scale);
    load.warmup = match load.warmup {
        WarmUp::None => WarmUp::None,
        WarmUp::UntilSteady { at_most } => WarmUp::UntilSteady {
            at_most: shorter(at_most, scale, WARMUP_AT_LEAST),
        },
        WarmUp::For(fixed) => WarmUp::For(shorter(fixed, scale, WARMUP_AT_LEAST)),
    };
    load.source.kind.shrink(&mut load.source.values, scale);
}

/// Moves the events of one run as its duration is reduced, so that each keeps its place in the measurement.
pub(crate) fn shrink_events(scale: f64, events: &mut [EventSpec]) {
    for event in events {
        event.at = event.at.mul_f64(scale);
    }
}

/// Reduces caches and redo log of a private server. Values that are only in its option files are reduced and set in
/// addition; lines for one version of the server (`[mysqld-5.7]`) are ignored.
pub(crate) fn shrink_options(scale: f64, server: &mut ServerSpec) -> Result<(), Problem> {
    let ServerSpec::Private { cnf, set, .. } = server else {
        return Ok(());
    };
    for (name, value) in in_files(cnf)? {
        if !set.keys().any(|option| is_option(option, &name)) {
            set.insert(name, value);
        }
    }
    for (option, value) in set.iter_mut() {
        let mut options = OPTIONS.iter();
        let known = options.find(|(name, _, _)| is_option(option, name));
        if let (Some((_, unit, at_least)), Some(bytes)) = (known, quantity::bytes(value)) {
            *value = written(quantity::smaller(bytes, scale, *unit, *at_least));
        }
    }
    Ok(())
}

/// The options of the files that are reduced, each with its last value.
fn in_files(files: &[PathBuf]) -> Result<BTreeMap<String, String>, Problem> {
    let mut found = BTreeMap::new();
    for path in files {
        let file = OptionFile::read(path).map_err(|error| Problem::NoFile {
            what: "option file",
            path: path.clone(),
            cause: error.to_string(),
        })?;
        for entry in Options::from_groups(&file, &GROUPS).entries() {
            let mut options = OPTIONS.iter().map(|(name, _, _)| name);
            let known = options.find(|name| entry.name.folded().eq_ignore_ascii_case(name));
            if let (Some(known), Some(value)) = (known, &entry.value) {
                found.retain(|written: &String, _| !is_option(written, known));
                found.insert(entry.name.as_written().to_owned(), value.clone());
            }
        }
    }
    Ok(found)
}

/// A reduced duration of at least `at_least`, but never longer than the original.
fn shorter(duration: Duration, scale: f64, at_least: Duration) -> Duration {
    duration.mul_f64(scale).max(at_least).min(duration)
}

/// Bytes in the format of an option file: `52M`.
fn written(bytes: u64) -> String {
    if bytes > 0 && bytes.is_multiple_of(1 << 20) {
        format!("{}M", bytes >> 20)
    } else {
        bytes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_shrink_to_their_floor_and_never_grow() {
        let cases = [(30_000, 0.05, 1500), (30_000, 0.01, 1000), (400, 0.5, 400)];
        for (millis, scale, expected) in cases {
            let found = shorter(Duration::from_millis(millis), scale, DURATION_AT_LEAST);
            assert_eq!(
                found,
                Duration::from_millis(expected),
                "{millis} at {scale}"
            );
        }
    }

    #[test]
    fn sizes_are_written_as_option_files_have_them() {
        assert_eq!(written(51 << 20), "51M");
        assert_eq!(written(3_355_648), "3355648");
        assert_eq!(written(0), "0");
    }
}
