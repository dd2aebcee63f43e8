//! Memory limits: dbdyno in a control group that kills a process with larger use.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crate::torture::{
    chance::Chance,
    figures::{Case, Kind},
    ground::{Ground, Place},
    judgement,
    trial::Trial,
};

const ROOT: &str = "/sys/fs/cgroup";
/// Of a whole dbdyno, including the page cache of the files it reads, which the kernel can reclaim.
const LIMIT_BYTES: u64 = 160 << 20;
/// Size of a record that is much larger than the memory limit.
const RECORD_BYTES: usize = 200 << 20;

/// The kind `memory`: commands in a control group with a memory limit.
pub(crate) struct Memory<'a> {
    ground: &'a Ground,
    record: PathBuf,
    _home: Place,
}

impl<'a> Memory<'a> {
    /// An error if the machine does not permit it.
    pub(crate) fn new(ground: &'a Ground, record_bytes: usize) -> Result<Self, String> {
        Group::make(LIMIT_BYTES)?;
        let home = ground.place();
        let record = home.path().join("large.jsonl");
        write_large_record(&record, record_bytes.min(RECORD_BYTES));
        Ok(Self {
            ground,
            record,
            _home: home,
        })
    }
}

impl Kind for Memory<'_> {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn workers(&self) -> usize {
        1
    }

    fn case(&self, number: u64, _: Chance) -> Case {
        let group = Group::make(LIMIT_BYTES).expect("another was made");
        let place = self.ground.place();
        let record = self.record.to_string_lossy().into_owned();
        let port = format!("--port={}", self.ground.null_server().port());
        let load = format!(
            "oltp read_only run --no-defaults --host=127.0.0.1 --user=trial --password-file=password {port} \
             --connections=64 --duration=300ms --warmup=100ms --record=record.jsonl"
        );
        let prepare = format!(
            "oltp read_write prepare --no-defaults --host=127.0.0.1 --user=trial --password-file=password \
             {port} --table-size=200k"
        );
        let commands = [
            ("a load of 64 connections", load),
            ("a prepare", prepare),
            (
                "a large record: top",
                format!("top --plain --count=5 {record}"),
            ),
            ("a large record: audit", format!("audit {record}")),
            (
                "a large record: csv",
                format!("report {record} --format=csv --output=out.csv"),
            ),
        ];
        let (name, line) = &commands[number as usize % commands.len()];
        let trial = Trial {
            inside: group.words(),
            time_max: Duration::from_secs(300),
            // The group itself is the limit.
            bytes_max: 2 * LIMIT_BYTES,
            ..place.trial(line.split_whitespace())
        };
        let ended = trial.run();
        let mut faults = judgement::faults(&ended);
        if !matches!(ended.code, Some(0 | 1)) {
            faults.push(format!("does not end well with {} MiB", LIMIT_BYTES >> 20));
        }
        Case::of((*name).to_owned(), "in a control group", &ended, faults)
    }
}

/// Writes a valid record with repeated intervals up to this size.
fn write_large_record(path: &Path, bytes: usize) {
    const RECORD: &str = include_str!("../../../../audit/fixtures/mariadb-read-write.jsonl");
    let lines: Vec<&str> = RECORD.lines().collect();
    let is_interval = |line: &&str| line.starts_with("{\"line\":\"interval\"");
    let last = lines.iter().rposition(is_interval);
    let (head, tail) = lines.split_at(last.expect("it has intervals") + 1);
    let model = head[head.len() - 1];
    let rest = model
        .split_once("\"length_s\"")
        .expect("every interval has a length")
        .1;
    let mut file = std::io::BufWriter::new(fs::File::create(path).expect("the scene is writable"));
    let mut write = |line: &str| writeln!(file, "{line}").expect("the disk has space");
    head.iter().for_each(|line| write(line));
    for second in 0..bytes / model.len() {
        let at = 1000 + second;
        write(&format!(
            "{{\"line\":\"interval\",\"t_s\":{at}.0,\"length_s\"{rest}"
        ));
    }
    tail.iter().for_each(|line| write(line));
}

/// A control group of version 1 or 2; removed when dropped.
struct Group {
    directory: PathBuf,
}

impl Group {
    fn make(bytes: u64) -> Result<Self, String> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let of_version_1 = Path::new(ROOT).join("memory");
        let (root, file) = if of_version_1.join("cgroup.procs").exists() {
            (of_version_1, "memory.limit_in_bytes")
        } else {
            (PathBuf::from(ROOT), "memory.max")
        };
        let failed =
            |error: std::io::Error| format!("no control group below {}: {error}", root.display());
        if file == "memory.max" {
            fs::write(root.join("cgroup.subtree_control"), "+memory").map_err(failed)?;
        }
        let directory = root.join(format!("dbdyno-torture-{}-{number}", std::process::id()));
        fs::create_dir(&directory).map_err(failed)?;
        let group = Self { directory };
        fs::write(group.directory.join(file), bytes.to_string()).map_err(failed)?;
        Ok(group)
    }

    /// Command-line words that run a program in the group.
    fn words(&self) -> Vec<String> {
        let processes = self.directory.join("cgroup.procs");
        let script = format!("echo $$ > {} && exec \"$0\" \"$@\"", processes.display());
        ["sh", "-c", &script].map(str::to_owned).into()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Ended processes may remain in the group for a moment.
        for _ in 0..50 {
            if fs::remove_dir(&self.directory).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
