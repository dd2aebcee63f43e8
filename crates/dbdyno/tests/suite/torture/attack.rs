//! The commands that connect to a server, as victims of a hostile one.

use std::time::Duration;

use crate::torture::{
    ground::{Ground, Place},
    packets::Reply,
    trial::{PASSWORD, Trial},
};

/// The real server behind the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Null,
    MariaDb,
}

/// A command line to attack.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) backend: Backend,
    /// Only in long rounds: it takes many seconds on its own.
    pub(crate) is_long: bool,
    /// Arguments before those of the connection.
    args: &'static [&'static str],
    connection: ConnectionWords,
    /// It ends after a number of statements or readings and not after a time, so that a silent server blocks it until
    /// Ctrl-C.
    pub(crate) is_counted: bool,
    /// The total of the limits in docs/limits.md that can apply one after the other.
    pub(crate) time_max: Duration,
    /// Maximum memory that it needs without an attack, MiB.
    pub(crate) mib_max: u64,
    /// Kinds of replies that its real server sends.
    pub(crate) meets: &'static [Reply],
    /// Makes its tables, unless they have been made.
    pub(crate) prepare: fn(&Ground),
}

/// The form in which a command receives its server's address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionWords {
    Dbdyno,
    Mysqlslap,
    /// In an experiment file.
    File,
}

const LOGIN: [Reply; 2] = [Reply::Greeting, Reply::LoginOk];
const ROWS: [Reply; 4] = [
    Reply::ColumnCount,
    Reply::Column,
    Reply::TextRow,
    Reply::EndOfRows,
];
const TEXT: &[Reply] = &[
    LOGIN[0],
    LOGIN[1],
    ROWS[0],
    ROWS[1],
    ROWS[2],
    ROWS[3],
    Reply::Ok,
    Reply::EndOfColumns,
];
const PREPARED: &[Reply] = &[
    LOGIN[0],
    LOGIN[1],
    ROWS[0],
    ROWS[1],
    ROWS[2],
    ROWS[3],
    Reply::Ok,
    Reply::PrepareOk,
    Reply::BinaryRow,
];
const LOADING: &[Reply] = &[
    LOGIN[0],
    LOGIN[1],
    ROWS[0],
    ROWS[1],
    ROWS[2],
    ROWS[3],
    Reply::Ok,
    Reply::FileRequest,
];

/// Time limit with it: connecting, two statements, the drain and the last readings, on a busy machine.
const LIMITED: Duration = Duration::from_secs(75);
/// Time limit without it, when a query may take 60 s.
const PURPOSES: Duration = Duration::from_secs(200);
/// Time limit of the commands that make tables, beside other cases.
const PREPARED_WITHIN: Duration = Duration::from_secs(300);
/// Limit that a careful user sets, so that a silent server costs only seconds.
const STATEMENT_LIMIT: &str = "--statement-timeout=5s";
const OLTP: [&str; 8] = [
    "--warmup=100ms",
    "--duration=300ms",
    "--connections=2",
    "--database=test",
    "--table-size=200",
    "--tables=1",
    "--record=record.jsonl",
    STATEMENT_LIMIT,
];

pub(crate) const ATTACKS: &[Attack] = &[
    Attack {
        name: "oltp prepare",
        backend: Backend::Null,
        is_long: false,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "oltp",
            "read_write",
            "prepare",
            "--table-size=300",
            STATEMENT_LIMIT,
        ],
        connection: ConnectionWords::Dbdyno,
        meets: LOADING,
        prepare: nothing,
    },
    Attack {
        name: "oltp run",
        backend: Backend::MariaDb,
        is_long: false,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "oltp",
            "read_write",
            "run",
            OLTP[0],
            OLTP[1],
            OLTP[2],
            OLTP[3],
            OLTP[4],
            OLTP[5],
            OLTP[6],
            OLTP[7],
        ],
        connection: ConnectionWords::Dbdyno,
        meets: PREPARED,
        prepare: oltp_table,
    },
    Attack {
        name: "oltp run, text protocol",
        backend: Backend::Null,
        is_long: false,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "oltp",
            "point_select",
            "run",
            "--db-ps-mode=disable",
            OLTP[0],
            OLTP[1],
            OLTP[2],
            OLTP[3],
            OLTP[4],
            OLTP[6],
            OLTP[7],
        ],
        connection: ConnectionWords::Dbdyno,
        meets: TEXT,
        prepare: nothing,
    },
    Attack {
        name: "oltp bulk_insert",
        backend: Backend::Null,
        is_long: false,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "oltp",
            "bulk_insert",
            "run",
            OLTP[0],
            OLTP[1],
            OLTP[2],
            OLTP[6],
            OLTP[7],
        ],
        connection: ConnectionWords::Dbdyno,
        meets: TEXT,
        prepare: nothing,
    },
    Attack {
        name: "tpcc run",
        backend: Backend::MariaDb,
        is_long: false,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "tpcc",
            "run",
            "--connections=2",
            "--duration=500ms",
            "--warmup=100ms",
            "--no-check",
            "--pacing=none",
            OLTP[6],
            STATEMENT_LIMIT,
        ],
        connection: ConnectionWords::Dbdyno,
        meets: PREPARED,
        prepare: tpcc_tables,
    },
    Attack {
        name: "tpcc check",
        backend: Backend::MariaDb,
        is_long: true,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &["tpcc", "check", STATEMENT_LIMIT],
        connection: ConnectionWords::Dbdyno,
        meets: TEXT,
        prepare: tpcc_tables,
    },
    Attack {
        name: "tables",
        backend: Backend::MariaDb,
        is_long: false,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &["tables", STATEMENT_LIMIT],
        connection: ConnectionWords::Dbdyno,
        meets: TEXT,
        prepare: nothing,
    },
    Attack {
        name: "top --plain",
        backend: Backend::MariaDb,
        is_long: false,
        is_counted: true,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "top",
            "--plain",
            "--count=2",
            "--every=200ms",
            STATEMENT_LIMIT,
        ],
        connection: ConnectionWords::Dbdyno,
        meets: TEXT,
        prepare: nothing,
    },
    Attack {
        name: "tpch load",
        backend: Backend::Null,
        is_long: false,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 700,
        args: &["tpch", "load", "--scale-factor=0.001", STATEMENT_LIMIT],
        connection: ConnectionWords::Dbdyno,
        meets: LOADING,
        prepare: nothing,
    },
    Attack {
        name: "mysqlslap -a",
        backend: Backend::Null,
        is_long: false,
        is_counted: true,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "mysqlslap",
            "--no-defaults",
            "-a",
            "-c2",
            "-i1",
            "--number-of-queries=20",
        ],
        connection: ConnectionWords::Mysqlslap,
        meets: TEXT,
        prepare: nothing,
    },
    Attack {
        name: "mysqlslap -q",
        backend: Backend::MariaDb,
        is_long: false,
        is_counted: true,
        time_max: LIMITED,
        mib_max: 256,
        args: &[
            "mysqlslap",
            "--no-defaults",
            "--query=select * from information_schema.engines",
            "--create-schema=test",
            "-c2",
            "-i2",
        ],
        connection: ConnectionWords::Mysqlslap,
        meets: TEXT,
        prepare: nothing,
    },
    Attack {
        name: "super-smack",
        backend: Backend::MariaDb,
        is_long: false,
        is_counted: true,
        time_max: LIMITED,
        mib_max: 256,
        args: &["super-smack", "-d", "mysql", "trial.smack", "2", "20"],
        connection: ConnectionWords::Dbdyno,
        meets: TEXT,
        prepare: smack_table,
    },
    Attack {
        name: "run",
        backend: Backend::MariaDb,
        is_long: false,
        is_counted: false,
        time_max: PURPOSES,
        mib_max: 256,
        args: &["run", "trial.toml", "--results", "out"],
        connection: ConnectionWords::File,
        meets: PREPARED,
        prepare: smack_table,
    },
    Attack {
        name: "quick --host",
        backend: Backend::Null,
        is_long: true,
        is_counted: false,
        time_max: LIMITED,
        mib_max: 256,
        args: &["quick", "--results", "out", STATEMENT_LIMIT],
        connection: ConnectionWords::Dbdyno,
        meets: LOADING,
        prepare: nothing,
    },
];

pub(crate) const SMACK: &str = include_str!("../../../../../experiments/smacks/hp-sizing.smack");

impl Attack {
    /// The trial of the command with a server on this port.
    pub(crate) fn trial(&self, place: &Place, port: u16) -> Trial {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let mut args = words(self.args);
        match self.connection {
            ConnectionWords::Dbdyno => {
                args.extend(words(&[
                    "--no-defaults",
                    "--host=127.0.0.1",
                    "--user=trial",
                    "--password-file=password",
                ]));
                args.push(format!("--port={port}"));
                place.file("trial.smack", small_smack());
            }
            ConnectionWords::Mysqlslap => {
                args.extend(words(&["-h127.0.0.1", "-utrial"]));
                args.push(format!("-p{PASSWORD}"));
                args.push(format!("-P{port}"));
            }
            ConnectionWords::File => {
                place.file("trial.smack", small_smack());
                place.file("trial.toml", experiment(port));
            }
        }
        place.trial(args)
    }
}

/// HP's tables and queries, with few rows.
pub(crate) fn small_smack() -> String {
    SMACK.replace("1000000", "300")
}

fn experiment(port: u16) -> String {
    format!(
        "format = 1\nseed = 3\nrepeats = 1\n[server]\naddress = \"127.0.0.1:{port}\"\nuser = \"trial\"\n\
         password_file = \"password\"\nstatement_timeout = \"5s\"\n[load]\nsmack = \"trial.smack\"\nmix = \"1:1\"\nconnections = 2\n\
         warmup = \"100ms\"\nduration = \"500ms\"\n[disturbed]\nrepeats = \"0 %\"\n"
    )
}

fn nothing(_: &Ground) {}

/// Runs dbdyno directly against the MariaDB.
fn prepared(ground: &Ground, args: &[&str]) {
    let Some(server) = ground.mariadb() else {
        return;
    };
    let place = ground.place();
    let port = format!("--port={}", server.port());
    let connection = [
        "--no-defaults",
        "--host=127.0.0.1",
        "--user=trial",
        "--password-file=password",
    ];
    place.file("trial.smack", small_smack());
    let args = args
        .iter()
        .chain(&connection)
        .copied()
        .chain([port.as_str()]);
    let ended = place.trial(args).within(PREPARED_WITHIN).run();
    assert_eq!(ended.code, Some(0), "{}: {}", ended.line, ended.stderr);
}

fn oltp_table(ground: &Ground) {
    let prepare = [
        "oltp",
        "read_write",
        "prepare",
        "--database=test",
        "--table-size=200",
    ];
    ground.make_tables_once("oltp", || prepared(ground, &prepare));
}

fn tpcc_tables(ground: &Ground) {
    let load = ["tpcc", "load", "--warehouses=1"];
    ground.make_tables_once("tpcc", || prepared(ground, &load));
}

fn smack_table(ground: &Ground) {
    oltp_table(ground);
    let fill = ["super-smack", "-d", "mysql", "trial.smack", "1", "1"];
    ground.make_tables_once("smack", || prepared(ground, &fill));
}
