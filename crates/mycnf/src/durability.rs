//! The durability class of a file: which commits its settings lose in a crash or a power cut.

use crate::subject::Subject;

/// What survives a crash of the server and a power cut, as far as settings decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DurabilityClass {
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

impl DurabilityClass {
    /// All classes, the lowest first.
    pub const ALL: [Self; 5] = [Self::D0, Self::D1, Self::D2, Self::D3, Self::D4];

    /// `D0` to `D4`.
    pub fn name(self) -> &'static str {
        match self {
            Self::D0 => "D0",
            Self::D1 => "D1",
            Self::D2 => "D2",
            Self::D3 => "D3",
            Self::D4 => "D4",
        }
    }

    /// The class of this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|class| class.name().eq_ignore_ascii_case(name))
    }

    /// What is lost, as text.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::D0 => "nothing is promised after a power cut",
            Self::D1 => "a crash of the server takes the last second of commits",
            Self::D2 => "a power cut takes the last second of commits",
            Self::D3 => {
                "a power cut takes no commit, but the binary log may lack some, and replicas differ"
            }
            Self::D4 => "a power cut takes no commit, as far as settings decide",
        }
    }
}

/// A setting that keeps a file below D4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingGuarantee {
    /// The class that it allows at most.
    pub class: DurabilityClass,
    /// The option.
    pub option: &'static str,
    /// Whether the file sets it; otherwise it is the version's default.
    pub is_set: bool,
    /// What to write instead.
    pub remedy: &'static str,
}

/// The class of a file, and what keeps it below D4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Durability {
    /// The class: the worst of all settings.
    pub class: DurabilityClass,
    /// The settings below D4, the worst first.
    pub lacks: Vec<MissingGuarantee>,
}

/// The durability class of a file for a version.
///
/// Source: MySQL Reference Manual, "InnoDB and the ACID Model"; our own power cuts, see the audit's rule C01, which
/// judges a run by the same classes.
pub(crate) fn durability(subject: &Subject<'_>) -> Durability {
    use DurabilityClass::{D0, D1, D2, D3};
    let mut lacks = Vec::new();
    let mut lack = |class, option: &'static str, remedy| {
        let is_set = subject.set(option).is_some();
        lacks.push(MissingGuarantee {
            class,
            option,
            is_set,
            remedy,
        });
    };
    let flush = "innodb_flush_log_at_trx_commit";
    match subject.number(flush) {
        Some(0) => lack(D1, flush, "write 1"),
        Some(2) => lack(D2, flush, "write 1"),
        _ => {}
    }
    if subject.has_binary_log() && subject.number("sync_binlog").is_some_and(|sync| sync != 1) {
        lack(D3, "sync_binlog", "write sync_binlog = 1");
    }
    if subject.is_one_of("innodb_doublewrite", &["OFF", "0", "FALSE", "DETECT_ONLY"]) {
        let file_system = subject.machine.file_system.as_deref();
        if !matches!(file_system, Some("zfs" | "btrfs")) {
            lack(D0, "innodb_doublewrite", "leave it on");
        }
    }
    if subject.is_one_of("innodb_flush_method", &["nosync", "littlesync"]) {
        lack(D0, "innodb_flush_method", "write O_DIRECT, or fsync");
    }
    lacks.sort_by_key(|lack| lack.class);
    Durability {
        class: lacks.first().map_or(DurabilityClass::D4, |lack| lack.class),
        lacks,
    }
}
