//! Extreme times and rates: refused with the allowed range, in every option.

use crate::{experiment::Experiment, scene::Scene};

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
