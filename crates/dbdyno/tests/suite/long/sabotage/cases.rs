//! The sabotages: each changes one thing, with the finding expected from a comparison.

use std::{cell::OnceCell, fs, time::Duration};

use crate::long::{
    sabotage::{answer::Answer, trial::Trial},
    staging::{cgroup::Cgroup, detour::Detour, stage::Stage},
};

/// One deliberate change.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Allowed decisions about B; several if a difference must not be found.
    decisions: &'static [&'static str],
    /// The rule that must be named first; empty if there is nothing to explain.
    pub(crate) rule: &'static str,
    /// Whether it runs by default.
    pub(crate) is_quick: bool,
    /// Prepares the experiment and its limit; an error if this machine does not permit it.
    make: fn(&Ground) -> Result<Staged, String>,
}

/// An experiment with the limit that is active during its runs.
struct Staged {
    trial: Trial,
    /// Dropped with the experiment.
    _limit: Option<Cgroup>,
}

/// The servers, each created at its first use.
pub(crate) struct Ground {
    /// Duration of each run's measurement, seconds.
    seconds: u32,
    first: OnceCell<Stage>,
    second: OnceCell<Stage>,
}

const SLOWER: &[&str] = &["slower"];
const FASTER: &[&str] = &["faster"];
const SAME: &[&str] = &["equivalent", "inconclusive"];

/// All sabotages; the first one changes nothing.
pub(crate) const ALL: [Case; 12] = [
    Case {
        name: "two identical my.cnf",
        decisions: SAME,
        rule: "",
        is_quick: true,
        make: identical,
    },
    Case {
        name: "flush_log_at_trx_commit 1, 2",
        decisions: FASTER,
        rule: "fsyncs",
        is_quick: true,
        make: flush_log,
    },
    Case {
        name: "flush_log_at_trx_commit 1, 0",
        decisions: FASTER,
        rule: "fsyncs",
        is_quick: false,
        make: log_left_to_the_server,
    },
    Case {
        name: "a dropped index",
        decisions: SLOWER,
        rule: "rows read",
        is_quick: true,
        make: dropped_index,
    },
    Case {
        name: "sync_binlog 0, 1",
        decisions: SLOWER,
        rule: "binary log",
        is_quick: false,
        make: sync_binlog,
    },
    Case {
        name: "half the buffer pool",
        decisions: SLOWER,
        rule: "buffer-pool misses",
        is_quick: false,
        make: buffer_pool,
    },
    Case {
        name: "a CPU limit",
        decisions: SLOWER,
        rule: "CPU limit",
        is_quick: false,
        make: cpu_limit,
    },
    Case {
        name: "an I/O limit",
        decisions: SLOWER,
        rule: "disk limit",
        is_quick: false,
        make: io_limit,
    },
    Case {
        name: "query cache on",
        decisions: SLOWER,
        rule: "query cache",
        is_quick: false,
        make: cache,
    },
    Case {
        name: "4 ms on the way and back",
        decisions: SLOWER,
        rule: "round trip",
        is_quick: false,
        make: round_trip,
    },
    Case {
        name: "all clients update one row",
        decisions: SLOWER,
        rule: "row locks",
        is_quick: false,
        make: hot_row,
    },
    Case {
        name: "general log on",
        decisions: SLOWER,
        rule: "statement log",
        is_quick: false,
        make: general_log,
    },
];

impl Case {
    /// Whether nothing is changed.
    pub(crate) fn is_of_the_same(&self) -> bool {
        self.decisions == SAME
    }

    /// Whether this decision about B is allowed.
    pub(crate) fn is_right(&self, decision: &str) -> bool {
        self.decisions.contains(&decision)
    }
}

impl Ground {
    pub(crate) fn new(seconds: u32) -> Self {
        Self {
            seconds,
            first: OnceCell::new(),
            second: OnceCell::new(),
        }
    }

    /// Prepares a case, and compares its levels.
    pub(crate) fn try_out(&self, case: &Case, seed: u64) -> Result<Answer, String> {
        self.put_back();
        let staged = (case.make)(self)?;
        Ok(staged.trial.run(self.first().path(), seed, self.seconds))
    }

    /// Resets all settings of an earlier case.
    fn put_back(&self) {
        let first = self.first();
        first.durable(false);
        for sql in [
            "set global innodb_buffer_pool_size = 16 * 1024 * 1024",
            "set global innodb_log_file_buffering = OFF",
            "set global query_cache_size = 0",
            "set global general_log = OFF",
            "set global log_output = 'FILE'",
        ] {
            first.run_sql(sql);
        }
    }

    /// The server whose settings are changed.
    fn first(&self) -> &Stage {
        self.first.get_or_init(stage)
    }

    /// A second identical server, for changes that cannot be made by a statement.
    fn second(&self) -> &Stage {
        self.second.get_or_init(stage)
    }
}

/// A server whose query cache can be enabled, with two more tables.
fn stage() -> Stage {
    let stage = Stage::set(&[
        ("query_cache_type", "ON"),
        ("query_cache_size", "0"),
        // Number of pages kept free; the default exceeds the pages of a small pool.
        ("innodb_lru_scan_depth", "128"),
    ]);
    for sql in [
        "insert into hot select seq, 0, '' from seq_2_to_1000",
        "create table keyed (id int primary key, n int, c char(100)) engine=innodb",
        "insert into keyed select seq, seq, 'x' from seq_1_to_5000",
    ] {
        stage.run_sql(sql);
    }
    stage
}

const INSERT: &str = "insert into journal (n) values (1)";
/// Otherwise every commit writes to the disk, synced or not, and on a disk with fast syncs a sync adds little.
const BUFFERED_LOG: &str = "set global innodb_log_file_buffering = ON";
const POINT: &str = "select n from hot where id = 1";

impl From<Trial> for Staged {
    fn from(trial: Trial) -> Self {
        Self {
            trial,
            _limit: None,
        }
    }
}

/// `[server]` with the server at an address, which may contain the factor.
fn at(address: &str) -> String {
    format!(
        "address = \"{address}\"\nuser = \"trial\"\npassword_file = \"password\"\ndatabase = \"test\""
    )
}

/// `[server]` with the first server's socket.
fn on(ground: &Ground) -> String {
    at(&ground.first().server().socket().to_string_lossy())
}

fn identical(ground: &Ground) -> Result<Staged, String> {
    let options = "[mysqld]\ninnodb_buffer_pool_size = 16M\ninnodb_lru_scan_depth = 128\n";
    for side in ["a", "b"] {
        let path = ground.first().path().join(format!("{side}.cnf"));
        fs::write(path, options).unwrap();
    }
    Ok(Trial::of("side", ["a", "b"], INSERT)
        .server("cnf = [\"{side}.cnf\"]\nrestart = \"per-run\"".to_owned())
        .before("create database if not exists test")
        .before("create table if not exists test.journal (id bigint primary key auto_increment, n int) engine=innodb")
        .into())
}

fn flush_log(ground: &Ground) -> Result<Staged, String> {
    Ok(less_durable(ground, "2"))
}

fn log_left_to_the_server(ground: &Ground) -> Result<Staged, String> {
    Ok(less_durable(ground, "0"))
}

fn less_durable(ground: &Ground, flush_log: &str) -> Staged {
    Trial::of("flush_log", ["1", flush_log], INSERT)
        .server(on(ground))
        .connections(1)
        .before(BUFFERED_LOG)
        .before("set global sync_binlog = 0")
        .before("set global innodb_flush_log_at_trx_commit = {flush_log}")
        .into()
}

fn dropped_index(ground: &Ground) -> Result<Staged, String> {
    let levels = ["create index n on keyed (n)", "do 0"];
    let statement = "select c from keyed where n = 1 + connection_id() % 5000";
    Ok(Trial::of("index", levels, statement)
        .server(on(ground))
        .before("alter table keyed drop index if exists n")
        .before("{index}")
        .into())
}

fn sync_binlog(ground: &Ground) -> Result<Staged, String> {
    Ok(Trial::of("sync_binlog", ["0", "1"], INSERT)
        .server(on(ground))
        .connections(1)
        .before(BUFFERED_LOG)
        .before("set global innodb_flush_log_at_trx_commit = 2")
        .before("set global sync_binlog = {sync_binlog}")
        .into())
}

fn buffer_pool(ground: &Ground) -> Result<Staged, String> {
    let statement = format!("select sum(length(d)) from {}", Stage::random_rows(10));
    let trial = Trial::of("pool", ["48", "24"], &statement);
    Ok(trial
        .server(on(ground))
        .before("set global innodb_buffer_pool_size = {pool} * 1024 * 1024")
        // The pool is resized in the background, and filled again.
        .before("do sleep(1)")
        .before("select sum(length(d)) from big")
        .into())
}

/// The first server against the second, on which the limit is imposed.
fn limited(ground: &Ground, statement: &str, limit: Cgroup) -> Result<Staged, String> {
    let limit = limit.take(ground.second().pid())?;
    let address = |stage: &Stage| stage.server().socket().to_string_lossy().into_owned();
    let levels = [address(ground.first()), address(ground.second())];
    let trial = Trial {
        levels,
        ..Trial::of("address", ["", ""], statement)
    };
    Ok(Staged {
        trial: trial.server(at("{address}")).connections(8),
        _limit: Some(limit),
    })
}

fn cpu_limit(ground: &Ground) -> Result<Staged, String> {
    limited(ground, POINT, Cgroup::of_cpu(0.25)?)
}

fn io_limit(ground: &Ground) -> Result<Staged, String> {
    let limit = Cgroup::of_reads(ground.second().path(), 200)?;
    let statement = format!("select length(d) from {}", Stage::random_rows(1));
    limited(ground, &statement, limit)
}

fn cache(ground: &Ground) -> Result<Staged, String> {
    // Every result is stored and none is reused: no two statements are equal, and updates invalidate all results.
    let select = "select n from keyed where id = 1 + $n % 5000";
    let update = "update keyed set c = '$n' where id = 1 + $n % 5000";
    let statements = [&[select; 9][..], &[update]].concat();
    let statements = statements.into_iter().map(str::to_owned).collect();
    let trial = Trial {
        smacks: vec![("one".to_owned(), statements)],
        repeats: 8,
        again: "100 %",
        ..Trial::of("query_cache", ["0", "2"], "")
    };
    Ok(trial
        .server(on(ground))
        .before("set global query_cache_size = {query_cache} * 1024 * 1024")
        .into())
}

fn round_trip(ground: &Ground) -> Result<Staged, String> {
    let server = ground.first().server();
    let detour = Detour::to(&server.socket(), Duration::from_millis(2));
    let direct = Detour::to(&server.socket(), Duration::ZERO);
    let trial = Trial {
        levels: [direct.address(), detour.address()],
        ..Trial::of("address", ["", ""], POINT)
    };
    Ok(trial.server(at("{address}")).into())
}

fn hot_row(ground: &Ground) -> Result<Staged, String> {
    let update = |row: &str| vec![format!("update hot set n = n + 1 where id = {row}")];
    let trial = Trial {
        smacks: vec![
            ("spread".to_owned(), update("1 + connection_id() % 1000")),
            ("one".to_owned(), update("1")),
        ],
        smack: "{rows}".to_owned(),
        repeats: 8,
        ..Trial::of("rows", ["spread", "one"], "")
    };
    Ok(trial
        .server(on(ground))
        .before("set global innodb_flush_log_at_trx_commit = 1")
        .before("set global sync_binlog = 1")
        .connections(8)
        .into())
}

fn general_log(ground: &Ground) -> Result<Staged, String> {
    // Into a table: a line in a file costs so little that no feasible number of runs would show the difference.
    Ok(Trial::of("general_log", ["OFF", "ON"], POINT)
        .server(on(ground))
        .connections(32)
        .before("set global log_output = 'TABLE'")
        .before("set global general_log = {general_log}")
        .into())
}
