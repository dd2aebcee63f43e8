//! The part of the slow query log that a run wrote, summed by fingerprint.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use samples::{Histogram, SlowClass, SlowLog};

use super::{
    fingerprint::fingerprint,
    slow_entry::{SlowEntries, SlowEntry},
    status::to_nano,
};

/// Maximum number of fingerprints in a record.
const CLASSES_AT_MOST: usize = 20;
/// Maximum number of bytes read of the log.
const BYTES_AT_MOST: u64 = 256 << 20;
/// Maximum number of separate fingerprints, since each has a histogram; the statements of others are one class.
const CLASSES_KNOWN: usize = 500;
/// The name of that class.
const OTHERS: &str = "(other statements)";

/// The log's file, and the offset at which the run begins.
#[derive(Debug)]
pub(crate) struct Mark {
    path: PathBuf,
    offset: u64,
}

impl Mark {
    /// The current end of the log, according to the server's variables; the error says in words why it cannot be read.
    pub(crate) fn now(variables: &BTreeMap<String, String>) -> Result<Self, String> {
        let variable = |name: &str| variables.get(name).map_or("", String::as_str);
        if !matches!(variable("slow_query_log"), "ON" | "1") {
            return Err("slow_query_log is off".to_owned());
        }
        if !variable("log_output").contains("FILE") {
            return Err(format!("log_output is {}", variable("log_output")));
        }
        let path = Path::new(variable("datadir")).join(variable("slow_query_log_file"));
        let length = files::open_foreign(&path)
            .and_then(|file| Ok(file.metadata()?.len()))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self {
            path,
            offset: length,
        })
    }

    /// The part written since; the error says in words why it cannot be read.
    pub(crate) fn written_since(&self) -> Result<SlowLog, String> {
        let read = || -> io::Result<SlowLog> {
            let mut file = files::open_foreign(&self.path)?;
            // A log that is shorter than before was started again.
            let from = self.offset.min(file.metadata()?.len());
            file.seek(SeekFrom::Start(if from < self.offset { 0 } else { from }))?;
            digest(BufReader::new(file.take(BYTES_AT_MOST)))
        };
        read().map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

/// The statements of one fingerprint so far.
struct Class {
    count: u64,
    total_s: f64,
    max_s: f64,
    lock_s: f64,
    rows_sent: u64,
    rows_examined: u64,
    times: Histogram,
}

/// Sums the statements of a log.
fn digest(log: impl BufRead) -> io::Result<SlowLog> {
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    for entry in SlowEntries::of(log) {
        add(&mut classes, &entry?);
    }
    Ok(ranked(classes))
}

fn add(classes: &mut BTreeMap<String, Class>, entry: &SlowEntry) {
    let mut name = fingerprint(&entry.text);
    if classes.len() >= CLASSES_KNOWN && !classes.contains_key(&name) {
        name = OTHERS.to_owned();
    }
    let class = classes.entry(name).or_insert_with(|| Class {
        count: 0,
        total_s: 0.0,
        max_s: 0.0,
        lock_s: 0.0,
        rows_sent: 0,
        rows_examined: 0,
        times: Histogram::new(),
    });
    class.count += 1;
    class.total_s += entry.time_s;
    class.max_s = class.max_s.max(entry.time_s);
    class.lock_s += entry.lock_s;
    class.rows_sent = class.rows_sent.saturating_add(entry.rows_sent);
    class.rows_examined = class.rows_examined.saturating_add(entry.rows_examined);
    class.times.record((entry.time_s * 1e9) as u64);
}

fn ranked(classes: BTreeMap<String, Class>) -> SlowLog {
    let mut classes: Vec<SlowClass> = classes
        .into_iter()
        .map(|(fingerprint, class)| {
            let quantile_s = |quantile| {
                let ns = class.times.quantile_ns(quantile);
                ns.map_or(0.0, |ns| (ns as f64 / 1e9).min(class.max_s))
            };
            SlowClass {
                fingerprint,
                count: class.count,
                total_s: to_nano(class.total_s),
                lock_s: to_nano(class.lock_s),
                p50_s: quantile_s(0.5),
                p95_s: quantile_s(0.95),
                max_s: class.max_s,
                rows_examined: class.rows_examined,
                rows_sent: class.rows_sent,
            }
        })
        .collect();
    classes.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
    let statements = classes.iter().map(|class| class.count).sum();
    let left_out = classes.len().saturating_sub(CLASSES_AT_MOST) as u64;
    classes.truncate(CLASSES_AT_MOST);
    SlowLog {
        statements,
        classes,
        left_out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::slow_entry::{STATEMENT_BYTES_AT_MOST, read_line};

    /// Heads in the format of each version.
    const MARIADB: &str = "/usr/sbin/mariadbd, Version: 10.11.19-MariaDB. started with:\nTcp port: 0  Unix socket: /tmp/s\n\
        Time\t\t    Id Command\tArgument\n# Time: 261121 23:50:49\n# User@Host: bench[bench] @ localhost []\n\
        # Thread_id: 5  Schema: test  QC_hit: No\n\
        # Query_time: 0.300412  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 4\n\
        # Rows_affected: 0  Bytes_sent: 64\nuse test;\nSET timestamp=1763769049;\nSELECT c\nFROM t WHERE id = 5;\n\
        # User@Host: bench[bench] @ localhost []\n# Thread_id: 5  Schema: test  QC_hit: No\n\
        # Query_time: 0.100000  Lock_time: 0.000000  Rows_sent: 1  Rows_examined: 2\n\
        # Rows_affected: 0  Bytes_sent: 64\nSET timestamp=1763769049;\nselect c from t where id=7;\n";
    const MYSQL: &str = "# Time: 2026-11-21T23:50:49.123456Z\n# User@Host: bench[bench] @ localhost []  Id:    12\n\
        # Query_time: 1.500000  Lock_time: 0.000001 Rows_sent: 0  Rows_examined: 10\nSET timestamp=1763769049;\n\
        UPDATE t SET a = 'x' WHERE id IN (1,2);\n# Time: 2026-11-21T23:50:50.123456Z\n\
        # User@Host: bench[bench] @ localhost []  Id:    12\n\
        # Query_time: 0.000003  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\nSET timestamp=1763769050;\n\
        # administrator command: Quit;\n";

    #[test]
    fn statements_are_added_up_by_fingerprint() {
        let log = digest(MARIADB.as_bytes()).unwrap();
        assert_eq!(log.statements, 2);
        let [class] = log.classes.as_slice() else {
            panic!("{log:?}")
        };
        assert_eq!(class.fingerprint, "select c from t where id = ?");
        assert_eq!(
            (class.count, class.rows_examined, class.rows_sent),
            (2, 6, 2)
        );
        assert!((class.total_s - 0.400412).abs() < 1e-9);
        assert_eq!(class.max_s, 0.300412);
    }

    #[test]
    fn the_most_expensive_come_first() {
        let log = digest(MYSQL.as_bytes()).unwrap();
        let names: Vec<&str> = log
            .classes
            .iter()
            .map(|class| class.fingerprint.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "update t set a = ? where id in (?+)",
                "administrator command : quit"
            ]
        );
    }

    #[test]
    fn only_what_the_run_wrote_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("slow.log");
        std::fs::write(&path, MYSQL).unwrap();
        let variables = |on: &str| {
            BTreeMap::from(
                [
                    ("slow_query_log", on),
                    ("log_output", "FILE"),
                    ("datadir", directory.path().to_str().unwrap()),
                    ("slow_query_log_file", "slow.log"),
                ]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
            )
        };
        let mark = Mark::now(&variables("ON")).unwrap();
        std::fs::write(&path, format!("{MYSQL}{MARIADB}")).unwrap();
        assert_eq!(mark.written_since().unwrap().statements, 2);
        // The log was started again.
        let (first, _) = MYSQL.split_once("# Time: 2026-11-21T23:50:50").unwrap();
        std::fs::write(&path, first).unwrap();
        assert_eq!(mark.written_since().unwrap().statements, 1);
        assert_eq!(
            Mark::now(&variables("OFF")).unwrap_err(),
            "slow_query_log is off"
        );
    }

    #[test]
    fn a_log_takes_no_more_memory_than_its_limits() {
        let mut log = MYSQL.as_bytes().to_vec();
        log.truncate(log.len() - b"# administrator command: Quit;\n".len());
        log.extend_from_slice(b"SELECT '");
        log.resize(log.len() + (8 << 20), b'x');
        let mut line = Vec::new();
        let long = vec![b'x'; 8 << 20];
        assert_eq!(read_line(&mut &long[..], &mut line).unwrap(), 8 << 20);
        assert_eq!(line.len(), STATEMENT_BYTES_AT_MOST);
        let found = digest(&log[..]).unwrap();
        assert_eq!(found.statements, 2);
        assert!(
            found
                .classes
                .iter()
                .all(|it| it.fingerprint.len() <= STATEMENT_BYTES_AT_MOST)
        );
        let head = "# User@Host: a[a] @ b []\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\n";
        let many: String = (0..CLASSES_KNOWN + 5)
            .map(|number| format!("{head}SELECT c{number} FROM t;\n"))
            .collect();
        let found = digest(many.as_bytes()).unwrap();
        assert_eq!(found.statements, CLASSES_KNOWN as u64 + 5);
        assert_eq!(found.left_out, (CLASSES_KNOWN + 1 - CLASSES_AT_MOST) as u64);
    }

    #[test]
    fn what_is_no_log_has_no_statements() {
        assert_eq!(
            digest(&b"\xff\xfe nothing\n# Que"[..]).unwrap().statements,
            0
        );
    }
}
