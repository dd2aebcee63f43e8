//! The options of a load of requests on a disk, under `[load] storage`.

use settings::{
    Absent, Conflict, DiskLimits, Kind, LoadKind, OptionSpec, OptionTable, Value, Values,
    limits::NONE, quantity,
};

use crate::fio::ENGINES;

/// The smallest file under `--scale`, and the unit of its size, bytes.
const FILE_AT_LEAST: u64 = 16 << 20;
const FILE_UNIT: u64 = 1 << 20;
/// Calls that make written data durable, and ways to open a file that make every write durable.
const SYNC_CALLS: [&str; 2] = ["fdatasync", "fsync"];
const SYNC_FLAGS: [&str; 2] = ["dsync", "sync"];

/// Options of the requests.
pub struct StorageLoad;

const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "dir",
        Kind::Directory("directory"),
        Absent::Required("dir = \"/mnt/a\""),
        "Directory on the disk to measure; dbdyno creates a directory of its own in it",
    ),
    OptionSpec::without_default(
        "job",
        Kind::File("fio job file"),
        "fio job file that replaces all options except dir and limit; the jobs in it run at the same time",
    ),
    OptionSpec::without_default(
        "access",
        Kind::Choice(&["random", "sequential"]),
        "Whether the requests access random positions of the file or go through it in order [default: random]",
    ),
    OptionSpec::without_default(
        "block",
        Kind::Bytes(512, 64 << 20),
        "Size of a request [default: 16k, InnoDB's page]",
    ),
    OptionSpec::without_default(
        "reads",
        Kind::Count(0, 100),
        "Share of reads, in per cent; all other requests are writes [default: 100]",
    ),
    OptionSpec::without_default(
        "depth",
        Kind::Count(1, 4096),
        "Depth (number of requests in flight) [default: 1]",
    ),
    OptionSpec::without_default(
        "size",
        Kind::Bytes(1 << 20, 1 << 50),
        "Size of the file [default: 1G]",
    ),
    OptionSpec::without_default(
        "engine",
        Kind::Choice(&ENGINES),
        "fio's I/O engine [default: libaio]",
    ),
    OptionSpec::without_default(
        "direct",
        Kind::Flag,
        "Bypass the page cache (O_DIRECT) [default: on]",
    ),
    OptionSpec::without_default(
        "sync",
        Kind::Text,
        "How writes are made durable: a call after each write (fdatasync, fsync) or after every N writes (fsync=N), \
         or a flag with which the file is opened (dsync, sync) [default: none]",
    )
    .of("none|fdatasync[=N]|fsync[=N]|dsync|sync"),
    OptionSpec::without_default(
        "limit",
        Kind::Text,
        "Limits on the disk, set through a control group, such as \"read_iops=1000,write_mb=50\", or \"none\" \
         [default: none]",
    )
    .of("KEY=N,..."),
];

/// Options that a job file says itself.
const OF_A_JOB: [&str; 8] = [
    "access", "block", "reads", "depth", "size", "engine", "direct", "sync",
];

impl OptionTable for StorageLoad {
    fn name(&self) -> &'static str {
        "storage"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn example(&self) -> &'static str {
        "storage = { dir = \"/mnt/a\", block = \"16k\", reads = 70, depth = 16 }"
    }

    fn fault(&self, values: &Values) -> Option<Conflict> {
        let conflict = |option, problem: &str, hint| {
            Some(Conflict {
                option,
                problem: problem.to_owned(),
                hint,
            })
        };
        if let Err(problem) = limits(values) {
            let hint =
                "for example limit = \"read_iops=1000,write_iops=1000\", or limit = \"none\"";
            return conflict("limit", &problem, hint);
        }
        if values.file("job").is_some() {
            let mut given = OF_A_JOB.into_iter();
            let option = given.find(|option| values.get(option).is_some())?;
            let problem = format!("`{option}` has no effect with `job`");
            return conflict(option, &problem, "set it in the job file");
        }
        if let Err(problem) = sync_line(values.text("sync").unwrap_or(NONE)) {
            return conflict("sync", &problem, "for example sync = \"fdatasync\"");
        }
        let block = values.count("block").unwrap_or(BLOCK);
        let is_direct = is_direct(values);
        if is_direct && !block.is_multiple_of(512) {
            let problem = "requests that bypass the page cache must be multiples of 512 bytes";
            return conflict(
                "block",
                problem,
                "for example block = \"4k\", or direct = \"off\"",
            );
        }
        if block > values.count("size").unwrap_or(SIZE) {
            return conflict(
                "block",
                "a request is larger than the file",
                "make `size` larger",
            );
        }
        let depth = values.count("depth").unwrap_or(1);
        if depth > 1 && values.text("engine") == Some("psync") {
            let problem = "the engine psync has one request in flight at any depth";
            return conflict("depth", problem, "choose libaio or io_uring");
        }
        None
    }
}

impl LoadKind for StorageLoad {
    fn meaningless(&self, _values: &Values) -> &'static [&'static str] {
        &[
            "connections",
            "warmup_at_most",
            "precision",
            "rate",
            "arrivals",
            "think_time",
            "loops",
            "spin",
            "on_error",
        ]
    }

    fn needs_server(&self) -> bool {
        false
    }

    fn has_set_times(&self) -> bool {
        true
    }

    fn clients(&self, values: &Values) -> Option<u32> {
        let depth = values.count("depth").unwrap_or(1);
        Some(u32::try_from(depth).unwrap_or(u32::MAX))
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        if values.file("job").is_none() {
            let size = values.count("size").unwrap_or(SIZE);
            let smaller = quantity::smaller(size, scale, FILE_UNIT, FILE_AT_LEAST.min(size));
            values.set("size", Value::Count(smaller));
        }
    }
}

/// InnoDB's page, bytes.
pub(crate) const BLOCK: u64 = 16 << 10;
/// Size of the file, bytes.
pub(crate) const SIZE: u64 = 1 << 30;

/// The limits of the disk of a load that the experiment has checked; `None` without any.
pub fn limits_of(values: &Values) -> Option<DiskLimits> {
    limits(values).expect("the experiment has checked its limits")
}

/// The limits of the disk; `None` without any.
fn limits(values: &Values) -> Result<Option<DiskLimits>, String> {
    let text = values.text("limit").filter(|text| *text != NONE);
    let limits = text.map(DiskLimits::parse).transpose()?;
    Ok(limits.filter(|limits| !limits.is_empty()))
}

/// The line of a job file that makes writes durable in this way; `None` for `none`.
pub(crate) fn sync_line(sync: &str) -> Result<Option<String>, String> {
    if sync == NONE {
        return Ok(None);
    }
    if SYNC_FLAGS.contains(&sync) {
        return Ok(Some(format!("sync={sync}")));
    }
    let (call, every) = sync.split_once('=').unwrap_or((sync, "1"));
    if !SYNC_CALLS.contains(&call) {
        return Err(format!("`{sync}` is not a way to make writes durable"));
    }
    match every.parse::<u32>() {
        Ok(1..) => Ok(Some(format!("{call}={every}"))),
        _ => Err(format!("`{every}` is not a number of writes")),
    }
}

/// Whether requests go past the page cache.
pub(crate) fn is_direct(values: &Values) -> bool {
    !matches!(values.get("direct"), Some(Value::Flag(false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(given: &[(&'static str, Value)]) -> Values {
        let mut values = Values::default();
        for (option, value) in given {
            values.set(option, value.clone());
        }
        values
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        let count = Value::Count;
        for (given, option) in [
            (
                vec![("job", Value::File("a.fio".into())), ("depth", count(4))],
                Some("depth"),
            ),
            (vec![("block", count(1000))], Some("block")),
            (
                vec![("block", count(1000)), ("direct", Value::Flag(false))],
                None,
            ),
            (
                vec![("block", count(4 << 20)), ("size", count(1 << 20))],
                Some("block"),
            ),
            (
                vec![("depth", count(4)), ("engine", Value::Choice("psync"))],
                Some("depth"),
            ),
            (vec![("depth", count(4))], None),
            (vec![("sync", Value::Text("fsync=0".into()))], Some("sync")),
            (vec![("sync", Value::Text("flush".into()))], Some("sync")),
            (vec![("sync", Value::Text("dsync=2".into()))], Some("sync")),
            (vec![("sync", Value::Text("fdatasync=8".into()))], None),
            (vec![("limit", Value::Text("iops=5".into()))], Some("limit")),
            (vec![("limit", Value::Text("none".into()))], None),
        ] {
            let fault = StorageLoad.fault(&values(&given));
            assert_eq!(fault.map(|it| it.option), option, "{given:?}");
        }
    }

    #[test]
    fn scale_makes_the_file_smaller() {
        let mut values = values(&[("size", Value::Count(1 << 30))]);
        StorageLoad.shrink(&mut values, 0.1);
        assert_eq!(values.count("size"), Some(102 << 20));
        StorageLoad.shrink(&mut values, 0.001);
        assert_eq!(values.count("size"), Some(FILE_AT_LEAST));
    }
}
