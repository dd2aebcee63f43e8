//! The cases: each imposes one limit, and gives the name that the report must show.

use std::{
    net::Ipv4Addr,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use crate::{
    long::{
        bottlenecks::load::{Load, Seen},
        staging::{cgroup::Cgroup, detour::Detour, stage::Stage},
    },
    namespace::OtherHost,
};

/// The report's text when no limit was found.
pub(crate) const NONE: &str = "unexplained";

/// One limit imposed on purpose.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The limit that the report must name.
    pub(crate) limit: &'static str,
    /// Imposes the limit and runs dbdyno; an error if this machine does not permit it.
    pub(crate) run: fn(&Stage) -> Result<Seen, String>,
}

pub(crate) const ALL: [Case; 15] = [
    Case {
        name: "the server in a CPU cgroup",
        limit: "CPU quota",
        run: cpu_quota,
    },
    Case {
        name: "the server in an I/O cgroup",
        limit: "disk quota",
        run: disk_quota,
    },
    Case {
        name: "tiny synced transactions",
        limit: "disk flushes",
        run: synced_commits,
    },
    Case {
        name: "all clients update one row",
        limit: "row locks",
        run: hot_row,
    },
    Case {
        name: "all clients update a MyISAM table",
        limit: "table locks",
        run: whole_table,
    },
    Case {
        name: "somebody locks the table",
        limit: "metadata locks",
        run: locked_table,
    },
    Case {
        name: "a lock of the application",
        limit: "user locks",
        run: user_lock,
    },
    Case {
        name: "a small redo log",
        limit: "checkpoint",
        run: small_redo_log,
    },
    Case {
        name: "the client in a CPU cgroup",
        limit: "client",
        run: slow_client,
    },
    Case {
        name: "10 ms between client and server",
        limit: "round trips",
        run: round_trips,
    },
    Case {
        name: "a narrow link",
        limit: "network",
        run: narrow_link,
    },
    Case {
        name: "the CPUs of the machine",
        limit: "CPU",
        run: full_cpus,
    },
    Case {
        name: "one connection",
        limit: "connections",
        run: one_connection,
    },
    Case {
        name: "a low rate",
        limit: "load",
        run: low_rate,
    },
    Case {
        name: "statements that sleep",
        limit: NONE,
        run: sleeping,
    },
];

const POINT: &str = "select n from hot where id = 1";
const HOT: &str = "update hot set n = n + 1 where id = 1";

fn cpu_quota(stage: &Stage) -> Result<Seen, String> {
    let _group = Cgroup::of_cpu(0.25)?.take(stage.pid())?;
    Ok(stage.measure(&Load::of(POINT)))
}

fn disk_quota(stage: &Stage) -> Result<Seen, String> {
    let _group = Cgroup::of_reads(stage.path(), 200)?.take(stage.pid())?;
    let statement = format!("select length(d) from {}", Stage::random_rows(1));
    Ok(stage.measure(&Load::of(&statement)))
}

fn synced_commits(stage: &Stage) -> Result<Seen, String> {
    stage.durable(true);
    let seen = stage.measure(&Load {
        connections: 2,
        ..Load::of("insert into journal (n) values (1)")
    });
    stage.durable(false);
    Ok(seen)
}

fn hot_row(stage: &Stage) -> Result<Seen, String> {
    // With a synced binary log the row stays locked for the duration of the sync.
    stage.durable(true);
    let seen = stage.measure(&Load::of(HOT));
    stage.durable(false);
    Ok(seen)
}

fn whole_table(stage: &Stage) -> Result<Seen, String> {
    Ok(stage.measure(&Load::of("update whole set n = n + 1 where n = 7")))
}

fn locked_table(stage: &Stage) -> Result<Seen, String> {
    let is_over = AtomicBool::new(false);
    Ok(thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                stage.run_in_turn(&["lock tables hot write", "do sleep(0.3)", "unlock tables"]);
                thread::sleep(Duration::from_millis(50));
            }
        });
        let seen = stage.measure(&Load::of(POINT));
        is_over.store(true, Ordering::Relaxed);
        seen
    }))
}

fn user_lock(stage: &Stage) -> Result<Seen, String> {
    let statement = "select get_lock('one', 10) + sleep(0.005) + release_lock('one')";
    Ok(stage.measure(&Load::of(statement)))
}

fn small_redo_log(stage: &Stage) -> Result<Seen, String> {
    stage.run_sql("set global innodb_buffer_pool_size = 256 * 1024 * 1024");
    stage.run_sql("set global innodb_log_file_size = 4 * 1024 * 1024");
    // All data is in memory, so that modifying a page needs no read.
    stage.run_sql("select sum(length(d)) from big");
    let statement = format!("update {} set n = rand() * 1e9", Stage::random_rows(20));
    let seen = stage.measure(&Load {
        connections: 1,
        ..Load::of(&statement)
    });
    stage.run_sql("set global innodb_log_file_size = 64 * 1024 * 1024");
    stage.run_sql("set global innodb_buffer_pool_size = 16 * 1024 * 1024");
    Ok(seen)
}

fn slow_client(stage: &Stage) -> Result<Seen, String> {
    let group = Cgroup::of_cpu(0.2)?;
    Ok(stage.measure(&Load {
        within: group.words(),
        ..Load::of(POINT)
    }))
}

fn round_trips(stage: &Stage) -> Result<Seen, String> {
    let detour = Detour::to(&stage.server().socket(), Duration::from_millis(10));
    Ok(stage.measure(&Load {
        address: Some(detour.address()),
        ..Load::of(POINT)
    }))
}

fn narrow_link(stage: &Stage) -> Result<Seen, String> {
    let host = OtherHost::new()?;
    let shape = format!(
        "qdisc add dev {} root tbf rate 20mbit burst 32kbit latency 200ms",
        host.link
    );
    let output = Command::new("tc").args(shape.split(' ')).output();
    let output = output.map_err(|error| format!("tc: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "tc {shape}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let ours = Ipv4Addr::from(u32::from(host.address) - 1);
    let within = ["ip", "netns", "exec", &host.namespace];
    Ok(stage.measure(&Load {
        address: Some(format!("{ours}:{}", stage.server().port())),
        within: within.map(str::to_owned).to_vec(),
        ..Load::of("select repeat('x', 50000)")
    }))
}

fn full_cpus(stage: &Stage) -> Result<Seen, String> {
    let cpus = thread::available_parallelism().map_err(|error| error.to_string())?;
    Ok(stage.measure(&Load {
        connections: 2 * cpus.get() as u32,
        ..Load::of("select sum(n * length(c)) from whole")
    }))
}

fn one_connection(stage: &Stage) -> Result<Seen, String> {
    Ok(stage.measure(&Load {
        connections: 1,
        ..Load::of(POINT)
    }))
}

fn low_rate(stage: &Stage) -> Result<Seen, String> {
    Ok(stage.measure(&Load {
        pace: "rate = 50",
        ..Load::of(POINT)
    }))
}

fn sleeping(stage: &Stage) -> Result<Seen, String> {
    Ok(stage.measure(&Load::of("select sleep(0.02)")))
}
