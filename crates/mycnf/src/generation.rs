//! A short option file for a version, a machine and a purpose: only lines that differ from the default, each with its
//! reason.

use std::fmt::Write as _;

use units::bytes;

use crate::assignment::is_same;
use crate::catalogue::Family;
use crate::durability::DurabilityClass;
use crate::file::OptionFile;
use crate::machine::Machine;
use crate::rename::size;
use crate::rules::memory_sum::PER_CONNECTION;
use crate::subject::Subject;
use crate::target::Target;

/// The purpose of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Many short transactions.
    Oltp,
    /// Loads and long statements.
    Bulk,
    /// Both.
    Mixed,
}

/// What a file is made from.
#[derive(Debug, Clone)]
pub struct Wish {
    /// The version.
    pub target: Target,
    /// The server's memory, bytes.
    pub memory_bytes: u64,
    /// The server's CPUs, if known.
    pub cpus: Option<u64>,
    /// Durable random writes per second of the disk, if measured.
    pub disk_iops: Option<u64>,
    /// The purpose.
    pub purpose: Purpose,
    /// The durability class.
    pub class: DurabilityClass,
    /// The number of clients at once.
    pub connections: u64,
}

/// A line to be: option, value, reason.
type Line = (&'static str, String, String);

/// Memory below which the server's own default is the choice, bytes.
const SMALL_BYTES: u64 = 1 << 30;
/// Memory from which the larger share goes to the buffer pool, bytes.
const LARGE_BYTES: u64 = 4 << 30;
/// The step of the buffer pool, bytes.
const STEP_BYTES: u64 = 128 << 20;
/// Requests per second from which a disk is taken for one without moving parts.
const SOLID_STATE_IOPS: u64 = 1_000;
/// Largest rate of background writing by default of a formula; more is for measurements.
const IO_CAPACITY_MAX: u64 = 20_000;

/// The text of the file.
pub fn generate(wish: &Wish) -> String {
    let (empty, machine) = (OptionFile::default(), Machine::default());
    let subject = Subject::new(&empty, &wish.target, &machine);
    let mut lines = memory(wish, &subject);
    lines.extend(redo(wish, &subject, &lines));
    lines.extend(parts(wish, &subject));
    lines.extend(writing(wish, &subject));
    lines.extend(durability(wish, &subject));
    lines.extend(clients(wish, &subject));
    lines.extend(base(&subject));
    let note = wish.target.catalogue_note();
    let note = note
        .map(|note| format!("# Note: {note}.\n"))
        .unwrap_or_default();
    let mut text = format!(
        "# For {} with {} of memory and {} connections; durability {}: {}.\n\
         # Only lines that differ from the defaults of {}. Made by dbdyno config generate.\n\
         {note}[mysqld]\n",
        wish.target,
        bytes(wish.memory_bytes),
        wish.connections,
        wish.class.name(),
        wish.class.in_words(),
        Target::of_catalogue(&subject.catalogue),
    );
    for (option, value, reason) in lines {
        if differs(&subject, option, &value) {
            write!(text, "# {reason}\n{option} = {value}\n")
                .expect("writing to a String cannot fail");
        }
    }
    text
}

/// Whether the version has the option, with another default.
fn differs(subject: &Subject<'_>, option: &str, value: &str) -> bool {
    if !subject.has(option) {
        return false;
    }
    let number = crate::judge::parse_number(value).map(|number| number.to_string());
    let value = number.as_deref().unwrap_or(value);
    subject
        .catalogue
        .default_value(option)
        .is_none_or(|default| !is_same(default, value))
}

/// Buffers that one connection can allocate by default, bytes.
fn connection_bytes(subject: &Subject<'_>) -> u64 {
    let sizes = PER_CONNECTION
        .iter()
        .filter_map(|name| u64::try_from(subject.number(name)?).ok());
    sizes.sum()
}

fn pool_bytes(wish: &Wish, subject: &Subject<'_>) -> Option<u64> {
    if wish.memory_bytes < SMALL_BYTES {
        return None;
    }
    // A half of small machines, three quarters of large ones, and never what connections and other caches may take.
    let share = if wish.memory_bytes < LARGE_BYTES {
        wish.memory_bytes / 2
    } else {
        wish.memory_bytes / 4 * 3
    };
    let others = [
        "key_buffer_size",
        "aria_pagecache_buffer_size",
        "innodb_log_buffer_size",
        "query_cache_size",
    ];
    let others = others
        .iter()
        .filter_map(|name| u64::try_from(subject.number(name)?).ok());
    let others: u64 = others.sum();
    let left = wish.memory_bytes / 20 * 19;
    let left = left
        .saturating_sub(others)
        .saturating_sub(wish.connections.saturating_mul(connection_bytes(subject)));
    let pool = share.min(left) / STEP_BYTES * STEP_BYTES;
    Some(pool.max(STEP_BYTES))
}

fn memory(wish: &Wish, subject: &Subject<'_>) -> Vec<Line> {
    let Some(pool) = pool_bytes(wish, subject) else {
        return Vec::new();
    };
    let share = if wish.memory_bytes < LARGE_BYTES {
        "a half"
    } else {
        "three quarters"
    };
    let reason = format!(
        "At most {share} of {}, less what {} connections can take at once. Enough when Innodb_buffer_pool_reads \
         per query is near 0.",
        bytes(wish.memory_bytes),
        wish.connections
    );
    let mut lines = vec![("innodb_buffer_pool_size", size(i128::from(pool)), reason)];
    for option in [
        "innodb_buffer_pool_dump_at_shutdown",
        "innodb_buffer_pool_load_at_startup",
    ] {
        lines.push((
            option,
            "ON".to_owned(),
            "Warm after a restart; later versions have it on.".to_owned(),
        ));
    }
    lines
}

/// Caches that many CPUs share are split, where the version does not do it by itself.
fn parts(wish: &Wish, subject: &Subject<'_>) -> Vec<Line> {
    const PARTS_MAX: u64 = 16;
    let Some(cpus) = wish.cpus.filter(|cpus| *cpus >= 4) else {
        return Vec::new();
    };
    let reason = format!("{cpus} CPUs share it: each part has a mutex of its own.");
    let mut lines = Vec::new();
    if subject.number("table_open_cache_instances") == Some(1) {
        let parts = cpus.min(PARTS_MAX).to_string();
        lines.push(("table_open_cache_instances", parts, reason.clone()));
    }
    // From 5.6 on the server splits the pool itself.
    if subject.target.numbers().starts_with(&[5, 5]) {
        let gib = pool_bytes(wish, subject).unwrap_or(0) >> 30;
        let parts = cpus.min(gib).min(PARTS_MAX / 2);
        if parts > 1 {
            lines.push(("innodb_buffer_pool_instances", parts.to_string(), reason));
        }
    }
    lines
}

fn redo(wish: &Wish, subject: &Subject<'_>, so_far: &[Line]) -> Vec<Line> {
    if so_far.is_empty() {
        return Vec::new();
    }
    let pool = pool_bytes(wish, subject).unwrap_or(STEP_BYTES);
    let (divisor, most, purpose) = match wish.purpose {
        Purpose::Oltp => (8, 4_u64 << 30, "short transactions"),
        Purpose::Mixed => (4, 4 << 30, "transactions and loads"),
        Purpose::Bulk => (2, 8 << 30, "loads"),
    };
    let wanted = (pool / divisor).clamp(STEP_BYTES, most) / STEP_BYTES * STEP_BYTES;
    let reason = format!(
        "For {purpose}: 1/{divisor} of the buffer pool, at most {}. A larger log delays flushing, and recovery \
            takes longer.",
        bytes(most)
    );
    if subject.has("innodb_redo_log_capacity") {
        return vec![("innodb_redo_log_capacity", size(i128::from(wanted)), reason)];
    }
    let files = subject
        .number("innodb_log_files_in_group")
        .and_then(|files| u64::try_from(files).ok());
    let mut each = wanted / files.unwrap_or(1).max(1);
    if subject.target.numbers().starts_with(&[5, 5]) {
        // All files together must stay below 4 GB.
        each = each.min(1 << 30);
    }
    vec![("innodb_log_file_size", size(i128::from(each)), reason)]
}

fn writing(wish: &Wish, subject: &Subject<'_>) -> Vec<Line> {
    let mut lines = vec![];
    // 11.8 deprecates the option, and has this by default.
    if !subject.target.is_at_least(Family::MariaDb, &[11, 8]) {
        let reason = "Pages are held once, in the buffer pool, and not in the kernel's cache, too.";
        lines.push((
            "innodb_flush_method",
            "O_DIRECT".to_owned(),
            reason.to_owned(),
        ));
    }
    let Some(iops) = wish.disk_iops else {
        return lines;
    };
    let max = iops.clamp(100, IO_CAPACITY_MAX);
    let normal = (max / 2).max(100);
    let reason = format!(
        "Half of {iops} durable writes per second, so that background writing leaves room for the rest."
    );
    lines.push(("innodb_io_capacity", normal.to_string(), reason));
    let reason = format!(
        "What the disk can do: {iops} durable writes per second, at most {IO_CAPACITY_MAX} here."
    );
    lines.push(("innodb_io_capacity_max", max.to_string(), reason));
    if iops >= SOLID_STATE_IOPS {
        let reason =
            "The disk has no moving parts: neighbours of a page are not cheaper to write with it.";
        lines.push(("innodb_flush_neighbors", "0".to_owned(), reason.to_owned()));
    }
    lines
}

fn durability(wish: &Wish, subject: &Subject<'_>) -> Vec<Line> {
    let class = wish.class;
    let flush = match class {
        DurabilityClass::D4 | DurabilityClass::D3 => "1",
        DurabilityClass::D2 => "2",
        DurabilityClass::D1 | DurabilityClass::D0 => "0",
    };
    let reason = format!("{}: {}.", class.name(), class.in_words());
    let mut lines = vec![(
        "innodb_flush_log_at_trx_commit",
        flush.to_owned(),
        reason.clone(),
    )];
    if subject.has_binary_log() {
        let sync = if class == DurabilityClass::D4 {
            "1"
        } else {
            "0"
        };
        lines.push(("sync_binlog", sync.to_owned(), reason.clone()));
    }
    if class == DurabilityClass::D0 {
        lines.push(("innodb_doublewrite", "0".to_owned(), reason));
    }
    lines
}

fn clients(wish: &Wish, subject: &Subject<'_>) -> Vec<Line> {
    let each = bytes(connection_bytes(subject));
    let mut lines = vec![(
        "max_connections",
        wish.connections.to_string(),
        format!("As asked for; one can take up to {each} in its buffers."),
    )];
    if subject.number("thread_cache_size") == Some(0) {
        let kept = wish.connections.min(100);
        lines.push((
            "thread_cache_size",
            kept.to_string(),
            "Threads are kept for new connections.".to_owned(),
        ));
    }
    if wish.purpose != Purpose::Oltp
        && subject
            .number("max_allowed_packet")
            .is_some_and(|size| size < 64 << 20)
    {
        let reason = "Loads have long statements and rows; later versions have this size.";
        lines.push(("max_allowed_packet", "64M".to_owned(), reason.to_owned()));
    }
    lines
}

/// What later versions have by default, and what every server needs to be understood.
fn base(subject: &Subject<'_>) -> Vec<Line> {
    let line = |option, value: &str, reason: &str| (option, value.to_owned(), reason.to_owned());
    let mut lines = vec![
        line(
            "character_set_server",
            "utf8mb4",
            "All characters; later versions have it by default.",
        ),
        line(
            "innodb_file_per_table",
            "1",
            "Space of dropped tables comes back.",
        ),
        line("slow_query_log", "1", "Says which statements to improve."),
        line(
            "long_query_time",
            "1",
            "From one second on a statement is slow.",
        ),
    ];
    if subject.is_one_of("innodb_checksum_algorithm", &["innodb"]) {
        let reason = "Cheaper than the default, which later versions changed to this.";
        lines.push(line("innodb_checksum_algorithm", "crc32", reason));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::lint;
    use crate::rule::Level;
    use std::path::Path;

    fn wish(target: Target, memory_gib: u64, class: DurabilityClass) -> Wish {
        Wish {
            target,
            memory_bytes: memory_gib << 30,
            cpus: Some(8),
            disk_iops: Some(4_000),
            purpose: Purpose::Mixed,
            class,
            connections: 200,
        }
    }

    #[test]
    fn a_generated_file_has_no_findings_in_any_version() {
        for target in Target::all() {
            for memory_gib in [1, 2, 8, 256] {
                let text = generate(&wish(target.clone(), memory_gib, DurabilityClass::D4));
                let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
                let machine = Machine {
                    memory_bytes: Some(memory_gib << 30),
                    cpus: Some(8),
                    disk_bytes: Some(64 << 30),
                    file_system: Some("ext4".to_owned()),
                };
                let found = lint(&file, &target, &machine);
                assert!(
                    found.advice.is_empty(),
                    "{target}: {:#?}\n{text}",
                    found.advice
                );
                assert_eq!(found.durability.class, DurabilityClass::D4, "{target}");
                assert!(file.entries().len() <= 18, "{target}: {text}");
            }
        }
    }

    #[test]
    fn each_class_is_the_one_that_was_asked_for() {
        for target in Target::all() {
            for class in DurabilityClass::ALL {
                let text = generate(&wish(target.clone(), 8, class));
                let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
                let found = lint(&file, &target, &Machine::default());
                // Without a binary log there is nothing between D3 and D4.
                let has_log = Subject::new(&file, &target, &Machine::default()).has_binary_log();
                let expected = if class == DurabilityClass::D3 && !has_log {
                    DurabilityClass::D4
                } else {
                    class
                };
                assert_eq!(found.durability.class, expected, "{target}\n{text}");
                assert_eq!(found.count(Level::Refused), 0, "{target}\n{text}");
            }
        }
    }

    #[test]
    fn a_file_says_where_its_options_are_from() {
        for (target, note) in [
            ("mysql-8.0", ""),
            (
                "percona-8.0",
                "\n# Note: options of Percona Server 8.0 as documented, not read from a server.\n[mysqld]\n",
            ),
            (
                "mariadb-10.3",
                "\n# Note: no catalogue of mariadb-10.3; the nearest is used: mariadb-10.2;",
            ),
        ] {
            let text = generate(&wish(
                Target::parse(target).unwrap(),
                8,
                DurabilityClass::D4,
            ));
            assert!(text.contains(note), "{text}");
            assert_eq!(text.contains("# Note"), !note.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_small_machine_keeps_the_default_buffer_pool() {
        let mut wish = wish(Target::parse("mysql-5.6").unwrap(), 1, DurabilityClass::D4);
        wish.memory_bytes = 512 << 20;
        wish.disk_iops = None;
        let text = generate(&wish);
        assert!(
            !text.contains("buffer_pool") && !text.contains("io_capacity"),
            "{text}"
        );
        assert!(text.contains("\nmax_connections = 200\n"), "{text}");
    }
}
