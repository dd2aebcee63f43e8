//! A table of all commands that run a load or use tables.

use std::path::Path;

use crate::{
    null_server::write_smack,
    scene::{Finished, Scene},
};

/// Connections, clients, terminals or workers of every load.
const CONNECTIONS: &str = "8";

/// What every answer waits for: loads of a few hundred statements say as much as those of a busy machine.
pub(super) const DELAY: &str = "--delay=20ms";

/// One command that runs a load or uses tables, with the faults that apply to it.
pub(super) struct Door {
    pub(super) name: &'static str,
    /// Runs it against the null server at this socket.
    pub(super) run: fn(&Scene, &str) -> Finished,
    pub(super) kind: Kind,
    /// Number of statements before its load, which the server must answer for the load to begin.
    pub(super) asks_before: u32,
    /// The null server's option for what each of its answers waits for, in tests that name no other.
    pub(super) delay: &'static str,
    /// True if the null server's answers give a clean result; otherwise, or if it takes long, a real server is used in
    /// the tests of that command.
    pub(super) can_be_clean: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A timed load with a record in `record.jsonl`.
    Recorded,
    /// A timed load.
    Timed,
    /// A load that ends with its users, which wait for every answer.
    Counted,
    /// A command that creates or reads tables.
    Tables,
}

impl Door {
    const fn new(name: &'static str, kind: Kind, run: fn(&Scene, &str) -> Finished) -> Self {
        Self {
            name,
            run,
            kind,
            asks_before: 0,
            delay: DELAY,
            can_be_clean: true,
        }
    }

    const fn after(mut self, statements: u32) -> Self {
        self.asks_before = statements;
        self
    }

    /// Its statements have half a megabyte each, so that a few of them fill the machine.
    const fn with_large_statements(mut self) -> Self {
        self.delay = "--delay=1s";
        self
    }

    const fn never_clean(mut self) -> Self {
        self.can_be_clean = false;
        self
    }
}

pub(super) const DOORS: &[Door] = &[
    Door::new("oltp point_select", Kind::Recorded, |scene, socket| {
        oltp(scene, socket, "point_select", &[])
    })
    .after(1),
    Door::new("oltp read_write", Kind::Recorded, |scene, socket| {
        oltp(scene, socket, "read_write", &[])
    })
    .after(1),
    Door::new("oltp insert as text", Kind::Recorded, |scene, socket| {
        oltp(scene, socket, "insert", &["--db-ps-mode=disable"])
    })
    .after(1),
    Door::new("oltp bulk_insert", Kind::Recorded, |scene, socket| {
        oltp(scene, socket, "bulk_insert", &[])
    })
    .after(1)
    .with_large_statements(),
    Door::new("oltp with a rate", Kind::Recorded, |scene, socket| {
        oltp(scene, socket, "update_index", &["--rate=100"])
    })
    .after(1),
    Door::new("tpcc run", Kind::Recorded, |scene, socket| {
        tpcc(scene, socket, "inline", "statements")
    })
    .after(1),
    Door::new(
        "tpcc run with deferred deliveries",
        Kind::Recorded,
        |scene, socket| tpcc(scene, socket, "deferred", "statements"),
    )
    .after(1),
    Door::new("tpcc_start", Kind::Timed, |scene, socket| {
        let line = "-h localhost -d tpcc -u root -p x -w 1 -r 0 -l 1 -i 1 -c";
        let words = line.split(' ').chain([CONNECTIONS]);
        scene.called_with_socket(socket, "tpcc_start", words)
    })
    .after(1),
    Door::new("mysqlslap", Kind::Counted, |scene, socket| {
        slap(scene, socket, "mysqlslap", &[])
    }),
    Door::new(
        "mariadb-slap that counts errors",
        Kind::Counted,
        |scene, socket| slap(scene, socket, "mariadb-slap", &["--on-error=count"]),
    ),
    Door::new(
        "mysqlslap with a time and transactions",
        Kind::Timed,
        |scene, socket| {
            let options = ["--duration=1s", "--commit=1000000000", "--on-error=retry"];
            slap(scene, socket, "mysqlslap", &options)
        },
    ),
    Door::new("super-smack", Kind::Counted, |scene, socket| {
        smack(scene, socket, "stop")
    }),
    Door::new(
        "super-smack that counts errors",
        Kind::Counted,
        |scene, socket| smack(scene, socket, "count"),
    ),
    Door::new(
        "super-smack that retries",
        Kind::Counted,
        |scene, socket| smack(scene, socket, "retry"),
    ),
    Door::new("an experiment", Kind::Timed, |scene, socket| {
        experiment(scene, socket, "stop")
    }),
    Door::new(
        "an experiment that counts errors",
        Kind::Timed,
        |scene, socket| experiment(scene, socket, "count"),
    ),
    Door::new(
        "an experiment that retries",
        Kind::Timed,
        |scene, socket| experiment(scene, socket, "retry"),
    ),
    Door::new("oltp prepare", Kind::Tables, |scene, socket| {
        let words = ["oltp", "read_write", "prepare", "--table-size=1000"];
        scene.dbdyno(words.into_iter().chain(["--socket", socket]))
    })
    // Nothing is there when it is counted, here and below.
    .never_clean(),
    Door::new("oltp prewarm", Kind::Tables, |scene, socket| {
        let words = ["oltp", "read_write", "prewarm", "--table-size=1000"];
        scene.dbdyno(words.into_iter().chain(["--socket", socket]))
    }),
    Door::new("tpch load", Kind::Tables, |scene, socket| {
        let words = ["tpch", "load", "--scale-factor", "0.001", "--database", "h"];
        scene.dbdyno(words.into_iter().chain(["--socket", socket]))
    })
    .never_clean(),
    Door::new(
        "tpcc run with stored procedures",
        Kind::Recorded,
        |scene, socket| tpcc(scene, socket, "inline", "stored"),
    )
    .after(7)
    // The server answers every order alike, also those of an item that must not exist.
    .never_clean(),
    Door::new("quick", Kind::Timed, quick)
        .after(2)
        .never_clean(),
    Door::new("an experiment with oltp", Kind::Timed, |scene, socket| {
        with_data(scene, socket, OLTP)
    })
    .after(1),
    Door::new("an experiment with slap", Kind::Timed, |scene, socket| {
        with_data(scene, socket, SLAP)
    })
    .after(4),
    Door::new("the data of quick", Kind::Tables, quick).never_clean(),
    Door::new(
        "the data of an experiment with oltp",
        Kind::Tables,
        |scene, socket| with_data(scene, socket, OLTP),
    )
    .never_clean(),
    Door::new(
        "the data of an experiment with slap",
        Kind::Tables,
        |scene, socket| with_data(scene, socket, SLAP),
    )
    .never_clean(),
    Door::new("tpcc load", Kind::Tables, |scene, socket| {
        let words = ["tpcc", "load", "--warehouses", "1", "--parallel", "2"];
        scene.dbdyno(words.into_iter().chain(["--socket", socket]))
    })
    .never_clean(),
    Door::new("tpcc_load", Kind::Tables, |scene, socket| {
        let line = "-h localhost -d tpcc -u root -p x -w 1";
        scene.called_with_socket(socket, "tpcc_load", line.split(' '))
    })
    .never_clean(),
    // Generated rows violate every condition.
    Door::new("tpcc check", Kind::Tables, |scene, socket| {
        scene.dbdyno(["tpcc", "check", "--socket", socket])
    })
    .never_clean(),
];

fn oltp(scene: &Scene, socket: &str, benchmark: &str, more: &[&str]) -> Finished {
    let usual = [
        "oltp",
        benchmark,
        "run",
        "--threads",
        CONNECTIONS,
        "--duration=1s",
        "--record=record.jsonl",
        "-v",
        "--socket",
        socket,
    ];
    scene.dbdyno(usual.iter().chain(more))
}

fn tpcc(scene: &Scene, socket: &str, delivery: &str, round_trips: &str) -> Finished {
    let line = "tpcc run -w 1 --warmup 0s --duration 1s --no-check --record record.jsonl -c";
    let options = [
        CONNECTIONS,
        "--delivery",
        delivery,
        "--round-trips",
        round_trips,
        "--socket",
        socket,
    ];
    scene.dbdyno(line.split(' ').chain(options))
}

fn slap(scene: &Scene, socket: &str, program: &str, more: &[&str]) -> Finished {
    let usual = [
        program,
        "--no-defaults",
        "--create-schema=s",
        "--query=insert into t values (1)",
        "--concurrency",
        CONNECTIONS,
        "--socket",
        socket,
    ];
    let limit = ["--number-of-queries=80"];
    let is_timed = more.iter().any(|word| word.starts_with("--duration"));
    let limit = limit.iter().filter(|_| !is_timed);
    scene.dbdyno(usual.iter().chain(limit).chain(more))
}

fn smack(scene: &Scene, socket: &str, on_error: &str) -> Finished {
    write_smack(scene, Path::new(socket), "update t set c = 1");
    let words = ["super-smack", "one.smack", CONNECTIONS, "10"];
    scene.dbdyno(words.into_iter().chain(["--on-error", on_error]))
}

/// Writes an experiment as `trial.toml`.
pub(super) fn write_experiment(scene: &Scene, socket: &str, on_error: &str) {
    write_smack(scene, Path::new(socket), "update t set c = 1");
    scene.file(
        "trial.toml",
        &format!(
            "format = 1\n[server]\naddress = \"{socket}\"\nuser = \"u\"\n[load]\nsmack = \"one.smack\"\n\
             connections = {CONNECTIONS}\nwarmup = \"100ms\"\nduration = \"1s\"\non_error = \"{on_error}\"\n\
             [disturbed]\nrepeats = \"0 %\"\n"
        ),
    );
}

pub(super) fn experiment(scene: &Scene, socket: &str, on_error: &str) -> Finished {
    write_experiment(scene, socket, on_error);
    scene.dbdyno(["run", "trial.toml", "--results", "out"])
}

/// Tables and load of an experiment with few rows, which one or a few statements load.
struct WithData {
    data: &'static str,
    load: &'static str,
}

const OLTP: WithData = WithData {
    data: "oltp = { tables = 1, table_size = \"10\" }",
    load: "oltp = { script = \"read_write\" }",
};
const SLAP: WithData = WithData {
    data: "slap = { auto_generate_sql = true, auto_generate_sql_write_number = 3, engine = \"innodb\" }",
    load: "slap = { auto-generate-sql = true, auto-generate-sql-load-type = \"write\" }",
};

fn with_data(scene: &Scene, socket: &str, parts: WithData) -> Finished {
    let WithData { data, load } = parts;
    scene.file(
        "trial.toml",
        &format!(
            "format = 1\n[server]\naddress = \"{socket}\"\nuser = \"u\"\n[data]\n{data}\n[load]\n{load}\n\
             connections = {CONNECTIONS}\nwarmup = \"100ms\"\nduration = \"1s\"\n[disturbed]\nrepeats = \"0 %\"\n"
        ),
    );
    scene.dbdyno(["run", "trial.toml", "--results", "out"])
}

fn quick(scene: &Scene, socket: &str) -> Finished {
    scene.dbdyno(["quick", "--socket", socket])
}
