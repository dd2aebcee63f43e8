//! Extreme times and rates: refused with the allowed range, in every option.

use std::process::Command;

use crate::{experiment::Experiment, null_server::null_server, scene::Scene};

/// Around 2^64 seconds, milliseconds and nanoseconds, and beyond.
const TIMES: [&str; 5] = [
    "18446744073709551615s",
    "18446744073709551616s",
    "9223372036854775807s",
    "18446744073709551615ms",
    "600000000000y",
];

#[test]
fn no_time_is_too_long_to_be_refused() {
    let scene = Scene::new();
    let null_server = ["null-server", "--socket=n.sock"];
    let oltp = [
        "oltp",
        "point_select",
        "run",
        "--no-defaults",
        "--socket=n.sock",
    ];
    let tpcc = ["tpcc", "run", "--no-defaults", "--socket=n.sock"];
    let cases: [(&[&str], &str, &[&str]); 12] = [
        (&oltp, "--warmup", &[]),
        (&oltp, "--duration", &[]),
        (&oltp, "--forced-shutdown", &[]),
        (&oltp, "--sample-every", &[]),
        (&tpcc, "--warmup", &[]),
        (&tpcc, "--duration", &[]),
        (&["calibrate"], "--duration", &[]),
        (&null_server, "--delay", &[]),
        (&null_server, "--cold", &["--warm-in=1s"]),
        (&null_server, "--stall-every", &["--stall-for=1s"]),
        (&null_server, "--freeze-for", &["--freeze-at=1s"]),
        (&null_server, "--read-delay", &[]),
    ];
    for (command, option, more) in cases {
        for time in TIMES {
            let option = format!("{option}={time}");
            let words = command.iter().copied().chain([option.as_str()]);
            let refused = scene.dbdyno(words.chain(more.iter().copied())).exits(2);
            refused.says("invalid value");
        }
    }
    let delay = [
        "null-server",
        "--socket=n.sock",
        "--delay=exponential:600000000000y",
    ];
    scene.dbdyno(delay).exits(2).says("at most 30days");
    // Options in plain seconds.
    let warmup = oltp
        .iter()
        .copied()
        .chain(["--warmup=18446744073709551615"]);
    scene.dbdyno(warmup).exits(2).says("at most 30days");
    let duration = [
        "mysqlslap",
        "--no-defaults",
        "--query=x",
        "--duration=18446744073709551615",
    ];
    scene.dbdyno(duration).exits(2).says("at most 30days");
    let ramp = ["tpcc_start", "-r", "4294967295"];
    scene.dbdyno(ramp).exits(2).says("at most 2592000 seconds");
}

/// The largest of 32 and of 63 bits.
const COUNTS: [&str; 2] = ["4294967295", "9223372036854775807"];
/// Memory that a command gets, bytes: more than one takes that allocates nothing for its counts.
const MEMORY: &str = "--as=4294967296";

/// No server is there: what is not refused as a count has nothing to connect to.
#[test]
fn no_count_becomes_an_allocation_before_it_is_checked() {
    let scene = Scene::new();
    scene.file("p.sql", "SELECT 1;\n");
    let cases: [(&str, &str); 15] = [
        (
            "oltp read_write run",
            "--tables --table-size --range-size --point-selects --connections --loops --rand-spec-iter",
        ),
        ("oltp select_random_points run", "--random-points"),
        ("oltp select_random_ranges run", "--number-of-ranges"),
        ("oltp bulk_insert prepare", "--connections"),
        ("oltp read_write cleanup", "--tables"),
        ("tpcc run", "--warehouses --connections --loops"),
        ("tpcc prepare", "--warehouses --parallel"),
        ("tpch prepare", "--scale-factor --parallel"),
        ("wiki prepare", "--pages"),
        ("script run p.sql", "--scale --connections --loops"),
        (
            "mysqlslap --auto-generate-sql",
            "--auto-generate-sql-secondary-indexes --auto-generate-sql-unique-write-number \
             --auto-generate-sql-unique-query-number --number-int-cols --number-char-cols --concurrency --commit",
        ),
        (
            "mariadb-slap --auto-generate-sql",
            "--number-int-cols --number-char-cols --concurrency --detach",
        ),
        ("sql time -e select", "--repeats --runs --cold"),
        ("null-server", "--rows --row-bytes --max-connections"),
        ("calibrate", "--connections --loops"),
    ];
    let none = "--socket=none.sock";
    for (command, options) in cases {
        let socket = (command != "calibrate").then_some(none);
        for option in options.split_whitespace() {
            for count in COUNTS {
                let option = format!("{option}={count}");
                let mut limited = Command::new("prlimit");
                limited.args([MEMORY, env!("CARGO_BIN_EXE_dbdyno")]);
                let words = command.split(' ').chain(socket).chain([option.as_str()]);
                let ended = scene.launch(limited, words).finish();
                // No panic, and no signal.
                assert!(matches!(ended.code(), Some(1..=4)), "{}", ended.shown());
            }
        }
    }
}

#[test]
fn no_rate_is_too_high_to_be_refused() {
    let scene = Scene::new();
    for rate in ["1e308", "inf", "NaN", "18446744073709551616", "-1"] {
        let rate = format!("--rate={rate}");
        let words = [
            "oltp",
            "point_select",
            "run",
            "--no-defaults",
            "--socket=n.sock",
            &rate,
        ];
        scene.dbdyno(words).exits(2).says("1000000");
        let words = [
            "null-server",
            "--socket=n.sock",
            &rate.replace("--rate", "--error-rate"),
        ];
        scene.dbdyno(words).exits(2).says("--error-rate");
    }
}

#[test]
fn an_experiments_times_have_the_same_limits() {
    let scene = Scene::new();
    Experiment::default().write(&scene);
    let text = std::fs::read_to_string(scene.path().join("trial.toml")).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("duration"))
        .unwrap();
    for time in TIMES {
        let longer = text.replace(line, &format!("duration = \"{time}\""));
        scene.file("trial.toml", &longer);
        let refused = scene.dbdyno(["run", "trial.toml", "--plan"]).exits(2);
        refused.says("duration").says("at most 30days");
    }
}

#[test]
fn no_count_is_more_than_memory_holds() {
    let scene = Scene::new();
    let door = ["mysqlslap", "--no-defaults", "--only-print", "-a"];
    for option in [
        "--auto-generate-sql-unique-query-number=9223372036854775807",
        "--auto-generate-sql-unique-write-number=9223372036854775807",
        "--auto-generate-sql-unique-query-number=18446744073709551615",
    ] {
        let words = door.iter().copied().chain([option]);
        let refused = scene.dbdyno(words).exits(2);
        refused.says("different statements").says("1 GiB");
    }
    let wide = "--number-char-cols=4096";
    let words = door
        .iter()
        .copied()
        .chain([wide, "--auto-generate-sql-unique-query-number=100000"]);
    scene.dbdyno(words).exits(2).says("1 GiB");
    scene.file(
        "trial.toml",
        "format = 1\n[data]\nslap = { auto_generate_sql = true, number_char_cols = \"4096\" }\n\
         [load]\nslap = { auto_generate_sql = true, auto_generate_sql_unique_query_number = 1000000 }\n\
         connections = 1\nduration = \"1s\"\n",
    );
    let planned = scene.dbdyno(["run", "trial.toml", "--plan"]).exits(2);
    planned.says("different statements").says("1 GiB");
}

#[test]
fn a_pause_that_no_clock_knows_is_the_scripts_mistake() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &[]);
    for (value, said) in [
        ("sqrt(-1.0)", "NaN"),
        ("0.0/0.0", "NaN"),
        ("1.0/0.0", "inf"),
    ] {
        let script = format!("SELECT 1;\n\\set pause {value}\n\\sleep :pause ms\n");
        scene.file("a.sql", &script);
        let socket = format!("--socket={}", socket.display());
        let words = ["script", "run", "a.sql", "--no-defaults", "--user=u"];
        let rest = ["--connections=1", "--duration=10s", "--warmup=none"];
        let words = words.into_iter().chain(rest).chain([socket.as_str()]);
        scene.dbdyno(words).exits(2).says(&format!(
            "error: a.sql, line 3, column 1: a pause cannot last {said}"
        ));
    }
}
