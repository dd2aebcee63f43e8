//! Tests of experiments side by side in valid files: their plans, their estimates and their results.

use std::{fs, path::Path, time::Duration};

use experiment::{
    Design, Error, Experiment, Overrides, Progress, Repeats, Restore, Slicing, record_file_names,
    server_bytes_at_least,
};
use settings::WarmUp;

use crate::{Bench, COSTS};

const S: Duration = Duration::from_secs(1);

/// Two combinations with their own settings and data, in two sessions.
const PAIR: &str = r#"
format = 1
repeats = 2
design = "side by side"
[matrix]
rows = ["1M", "2M"]
[server]
set = { max_connections = "{rows}" }
[data]
smack = "a.smack"
rows = "{rows}"
[load]
smack = "a.smack"
connections = 4
warmup = "5s"
duration = "31s"
"#;

fn slicing(experiment: &Experiment) -> Slicing {
    match experiment.plan().design {
        Design::SideBySide(slicing) => slicing,
        Design::Classical => panic!("classical"),
    }
}

#[test]
fn the_times_of_the_turns_have_defaults() {
    let bench = Bench::new();
    assert_eq!(slicing(&bench.parse(PAIR)), Slicing::default());
    let text = PAIR.replace(
        "[matrix]",
        "slice = \"1s\"\nsettle = \"0s\"\nquiet = true\n[matrix]",
    );
    let expected = Slicing {
        slice: S,
        settle: Duration::ZERO,
        quiet: true,
    };
    assert_eq!(slicing(&bench.parse(&text)), expected);
    let classical = PAIR.replace("side by side", "classical");
    assert_eq!(bench.parse(&classical).plan().design, Design::Classical);
}

#[test]
fn a_server_needs_room_for_its_redo_log_and_for_data_of_known_size() {
    let bench = Bench::new();
    let log = "innodb_log_file_size = \"1G\", innodb_log_files_in_group = \"2\", max_connections";
    for (text, mib) in [
        // The length of a row is not known.
        (PAIR.to_owned(), 16 + 96),
        // Half of the default buffer pool.
        (
            PAIR.replace("rows = \"{rows}\"", "rows = \"0.5x\""),
            16 + 96 + 64,
        ),
        (PAIR.replace("max_connections", log), 16 + 1024),
        (
            PAIR.replace("max_connections", log)
                .replace("[server]", "[server]\nrun = \"mysql-5.7\""),
            16 + 2048,
        ),
        // Its log and its buffer pool may be smaller than the default.
        (
            PAIR.replace("[server]", "[server]\ncnf = [\"small.cnf\"]")
                .replace("rows = \"{rows}\"", "rows = \"0.5x\""),
            16,
        ),
        (
            PAIR.replace(
                "max_connections = \"{rows}\"",
                "innodb-redo-log-capacity = \"{rows}\"",
            ),
            16 + 1,
        ),
    ] {
        let experiment = bench.parse(&text);
        let mut runs = experiment.plan().runs.iter();
        let run = runs.find(|run| run.combination["rows"] == "1M").unwrap();
        assert_eq!(server_bytes_at_least(run), mib << 20, "{text}");
    }
}

#[test]
fn the_state_decides_when_the_warm_up_ends() {
    let bench = Bench::new();
    let until_steady = |seconds| WarmUp::UntilSteady {
        at_most: seconds * S,
    };
    for (keys, expected) in [
        ("", until_steady(60)),
        ("state = \"steady\"", until_steady(60)),
        (
            "state = \"steady\"\nwarmup = \"auto\"\nwarmup_at_most = \"2m\"",
            until_steady(120),
        ),
        ("state = \"fresh\"", WarmUp::None),
        ("state = \"fresh\"\nwarmup = \"7s\"", WarmUp::For(7 * S)),
        ("warmup = \"7s\"", WarmUp::For(7 * S)),
    ] {
        let text = PAIR.replace("warmup = \"5s\"", keys);
        let experiment = bench.parse(&text);
        let runs = experiment.plan().runs.iter();
        let warm_ups: Vec<WarmUp> = runs.map(|it| it.loads[0].spec.warmup).collect();
        assert_eq!(warm_ups, [expected; 4], "{keys}");
    }
}

#[test]
fn a_session_may_decide_alone() {
    let decided = "repeats = \"until decided\"\nat_most = 1\n";
    let text = PAIR.replace("repeats = 2\n", decided);
    let text = format!("{text}[verdict]\nbaseline = {{ rows = \"1M\" }}\n");
    let expected = Repeats::UntilDecided {
        at_most: 1,
        time: None,
    };
    assert_eq!(Bench::new().parse(&text).plan().repeats, expected);
}

#[test]
fn the_plan_as_text() {
    let text = Bench::new().parse(PAIR).plan().describe();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "factor  rows  1M  2M",
            "plan    2 combinations x 2 sessions = 4 runs, order random, seed 1",
            "design  side by side, at most 60 slices of 500 ms per combination and session, 100 ms to settle before each",
            "time    about 5 min 1 s",
        ],
        "{text}"
    );
    assert!(text.contains("\nrun  session  rows\n"), "{text}");
    let quiet = PAIR.replace("[matrix]", "quiet = true\n[matrix]");
    let text = Bench::new().parse(&quiet).plan().describe();
    let pause = "100 ms to settle before each, a pause of at most 2 s after each until its server is quiet\n";
    assert!(text.contains(pause), "{text}");
}

#[test]
fn the_estimate_has_a_server_for_each_combination() {
    let estimate = |text: &str| Bench::new().parse(text).plan().estimate(&COSTS);
    // Two combinations, each in two sessions: 12 batches of 5 turns of 600 ms, behind 5 s of warm-up.
    let loads_s = 4.0 * (5.0 + 36.0);
    let data_s = 100.0 + 200.0 + 10.0 + 20.0;
    let whole = loads_s + data_s + 4.0 * (2.0 + 0.5);
    assert_eq!(estimate(PAIR), Duration::from_secs_f64(whole));
    // The same data is loaded into each of the servers, and a server can keep its settings.
    let same = PAIR.replace("rows = \"{rows}\"", "rows = \"1M\"");
    for (restart, times) in [("per-run", 4.0), ("per-block", 4.0), ("never", 2.0)] {
        let server = format!("[server]\nrestart = \"{restart}\"\n");
        let text = same.replace("[server]\n", &server);
        let restores = times - 2.0;
        let data_s = 2.0 * 100.0 + restores * 10.0;
        let whole = loads_s + data_s + times * 2.0 + 4.0 * 0.5;
        assert_eq!(estimate(&text), Duration::from_secs_f64(whole), "{restart}");
    }
}

#[test]
fn existing_servers_take_turns_and_loads_may_share_one() {
    let given = r#"
format = 1
repeats = 2
design = "side by side"
[matrix]
server = ["db1", "/run/b.sock"]
n = [1, 2]
[server]
address = "{server}"
compress = true
[data]
smack = "a.smack"
rows = "1M"
restore = "never"
[each]
before = ["SET GLOBAL long_query_time = 1"]
[load]
smack = "a.smack"
connections = "{n}"
warmup = "0s"
duration = "30s"
"#;
    let bench = Bench::new();
    let estimate = |text: &str| bench.parse(text).plan().estimate(&COSTS);
    // Each of the two servers is loaded once, and none is restarted.
    let others_s = 8.0 * (36.0 + 0.5);
    let seconds = Duration::from_secs_f64;
    assert_eq!(estimate(given), seconds(2.0 * 100.0 + others_s));
    // The combinations of a server share its data, which is loaded again for each session.
    for restore in ["per-run", "per-block"] {
        let text = given.replace("never", restore);
        assert_eq!(
            estimate(&text),
            seconds(4.0 * 100.0 + others_s),
            "{restore}"
        );
        let experiment = bench.parse(&text);
        let mut runs = experiment.plan().runs.iter();
        assert!(runs.all(|run| run.data.as_ref().unwrap().restore == Restore::PerBlock));
    }
    // Also the clients' access to one server may differ.
    let access = given.replace("compress = true", "round_trip = \"{n}ms\"");
    let access = access.replace("connections = \"{n}\"", "connections = 4");
    assert_eq!(bench.parse(&access).plan().runs.len(), 8);
}

#[test]
fn values_may_take_turns_on_one_existing_server() {
    let given = r#"
format = 1
design = "side by side"
[matrix]
flush = [1, 2]
[server]
address = "db1"
on_this_server = true
set = { innodb_flush_log_at_trx_commit = "{flush}" }
[data]
smack = "a.smack"
rows = "1M"
[load]
smack = "a.smack"
connections = 4
duration = "30s"
"#;
    let experiment = Bench::new().parse(given);
    // Each of 60 turns begins 50 ms after the one before it: in between, the values are set.
    let loads_s = 2.0 * (60.0 + 36.0 + 3.0 + 0.5);
    let estimate = experiment.plan().estimate(&COSTS);
    assert_eq!(estimate, Duration::from_secs_f64(100.0 + loads_s));
    for run in &experiment.plan().runs {
        let set = run.server.set_by_turns();
        let value = set.get("innodb_flush_log_at_trx_commit");
        assert_eq!(value, run.combination.get("flush"));
        // They share the server and its data.
        assert!(run.server.starts_like(&experiment.plan().runs[0].server));
        assert_eq!(run.data_set(), experiment.plan().runs[0].data_set());
    }
}

#[test]
fn a_smaller_scale_keeps_the_batches_that_decide() {
    let scaled = |scale| {
        let overrides = Overrides {
            scale: Some(scale),
            ..Overrides::default()
        };
        let text = PAIR.replace("[matrix]", "slice = \"1s\"\nsettle = \"200ms\"\n[matrix]");
        let experiment = Bench::new().parse_with(&text, &overrides).unwrap();
        let load = experiment.plan().runs[0].loads[0].spec.clone();
        (slicing(&experiment), load.duration, load.warmup)
    };
    let ms = Duration::from_millis;
    let times = |slice, settle| Slicing {
        slice: ms(slice),
        settle: ms(settle),
        quiet: false,
    };
    let warm_up = |time| WarmUp::For(ms(time));
    for (scale, expected) in [
        (0.5, (times(500, 100), ms(15_500), warm_up(2500))),
        (0.1, (times(100, 100), ms(3100), warm_up(500))),
        // The shortest slices, of which there are as many as six batches have.
        (0.01, (times(100, 100), ms(3000), warm_up(500))),
    ] {
        assert_eq!(scaled(scale), expected, "{scale}");
    }
}

#[test]
fn what_the_command_line_overrides_is_checked_too() {
    let bench = Bench::new();
    let error = |overrides: &Overrides| {
        let error = bench.parse_with(PAIR, overrides).unwrap_err();
        assert!(matches!(error, Error::Override { .. }), "{error}");
        error.to_string()
    };
    let short = Overrides {
        duration: Some("5s".to_owned()),
        ..Overrides::default()
    };
    assert_eq!(
        error(&short),
        "--duration is 5s; expected at least 15s: 6 batches of 5 slices of 500ms, which design = \"side by side\" needs"
    );
    let alone = Overrides {
        only: [("rows".to_owned(), vec!["2M".to_owned()])].into(),
        ..Overrides::default()
    };
    assert_eq!(
        error(&alone),
        "--only is rows=2M; expected at least two combinations, which design = \"side by side\" compares"
    );
    // Of nine combinations, some can be chosen.
    let levels = (1..=9).map(|rows| format!("\"{rows}M\""));
    let nine = levels.collect::<Vec<_>>().join(", ");
    let text = PAIR.replace("\"1M\", \"2M\"", &nine);
    let some = Overrides {
        only: [("rows".to_owned(), vec!["2M".to_owned(), "9M".to_owned()])].into(),
        ..Overrides::default()
    };
    assert!(bench.parse_with(&text, &Overrides::default()).is_err());
    let some = bench.parse_with(&text, &some).unwrap();
    assert_eq!(some.plan().runs.len(), 4);
}

/// The results directory of an experiment, new.
fn saved(bench: &Bench, experiment: &Experiment) -> std::path::PathBuf {
    let results = bench.path("results");
    fs::create_dir(&results).unwrap();
    let masked = |_: &Path, _: &[u8]| None;
    let mut created = files::Created::default();
    experiment.save(&results, &mut created, &masked).unwrap();
    results
}

/// Writes the record of a run, complete or broken off.
fn write(results: &Path, experiment: &Experiment, run: usize, complete: bool) {
    let planned = &experiment.plan().runs[run - 1];
    let header = format!(
        r#"{{"line":"run","format":1,"dbdyno_version":"0","experiment":"trial","experiment_sha256":"{}","seed":1,"run":{run},"block":{},"combination":{{}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":""}}"#,
        experiment.sha256(),
        planned.block
    );
    let end = format!(r#"{{"line":"end","t_s":1.0,"complete":{complete},"why":""}}"#);
    let name = record_file_names(planned).next().unwrap();
    fs::write(results.join(name), format!("{header}\n{end}\n")).unwrap();
}

#[test]
fn a_session_is_done_as_a_whole() {
    let bench = Bench::new();
    let experiment = bench.parse(PAIR);
    let results = saved(&bench, &experiment);
    let scan = || Progress::scan(&results, experiment.plan()).unwrap();
    for (run, complete) in [(1, true), (2, true), (3, true), (4, false)] {
        write(&results, &experiment, run, complete);
    }
    let mut progress = scan();
    let done = experiment.plan().runs.iter();
    let done = done.map(|run| progress.is_done(run)).collect::<Vec<_>>();
    assert_eq!(done, [true, true, false, false]);
    let kept = progress.set_aside().unwrap();
    let expected = ["run-0003.incomplete-1.jsonl", "run-0004.incomplete-1.jsonl"];
    assert_eq!(kept, expected.map(|name| results.join(name)));
    // Also if the other record does not exist.
    write(&results, &experiment, 4, true);
    assert_eq!(scan().done(), 2);
    write(&results, &experiment, 3, true);
    assert_eq!(scan().done(), 4);
}

#[test]
fn results_of_another_design_are_refused() {
    let bench = Bench::new();
    let results = saved(&bench, &bench.parse(PAIR));
    for (from, to, line) in [
        (
            "design = \"side by side\"",
            "design = \"classical\"",
            "line 4 of the experiment: was `design = \"side by side\"`, now it is `design = \"classical\"`",
        ),
        (
            "[matrix]",
            "slice = \"1s\"\n[matrix]",
            "line 5 of the experiment: was `[matrix]`, now it is `slice = \"1s\"`",
        ),
    ] {
        let other = bench.parse(&PAIR.replace(from, to));
        let error = Progress::scan(&results, other.plan()).unwrap_err();
        assert!(error.to_string().ends_with(line), "{error}");
    }
}
