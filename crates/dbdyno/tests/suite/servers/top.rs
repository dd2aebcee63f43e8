//! `dbdyno top`: on a virtual terminal and in plain lines, for a real server and for records.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use rustix::process::Signal;

use crate::{
    mariadb::MariaDb,
    results::Record,
    scene::{Scene, wait_until},
    terminal::Terminal,
};

const WIDE: (u16, u16) = (120, 40);

/// A record of a finished run.
fn record(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../audit/fixtures")
        .join(name)
}

/// A script that stores the terminal's settings before and after `top` with these arguments, and its exit code.
fn script(arguments: &str) -> String {
    format!(
        "stty -a > before; \"$DBDYNO\" top {arguments}; echo \"ended with $?\"; stty -a > after; read wait"
    )
}

/// Checks the exit code of `top`, and that the terminal's settings are unchanged.
#[track_caller]
fn is_left_as_it_was(scene: &Scene, terminal: &Terminal, code: i32) {
    terminal.shows(&format!("ended with {code}"));
    wait_until("the terminal was looked at again", || {
        fs::read_to_string(scene.path().join("after")).is_ok_and(|text| text.contains("echo"))
    });
    let state = |name: &str| fs::read_to_string(scene.path().join(name)).unwrap();
    assert_eq!(state("before"), state("after"));
    assert!(terminal.is_left_alone(), "{}", terminal.text());
}

#[test]
fn a_server_is_shown_in_any_size_until_q() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[("performance_schema", "ON")]);
    let arguments = server.by_socket().join(" ");
    let mut terminal = Terminal::run(&scene, &script(&arguments), WIDE);
    terminal.shows("queries/s").shows("10.").shows("every 1 s");
    terminal.is_taken();
    terminal.resize(80, 24);
    terminal.shows_what("the last row of a smaller terminal", |text| {
        text.lines().count() == 24
            && text
                .lines()
                .last()
                .is_some_and(|it| it.starts_with("q quit"))
    });
    terminal.resize(30, 8);
    terminal.shows("30 x 8 is too small");
    terminal.resize(WIDE.0, WIDE.1);
    terminal.shows("dirty pages").shows("Disk");
    terminal.types("p");
    terminal.shows("PAUSED");
    terminal.types("p");
    terminal.shows("every 1 s");
    terminal.types("+");
    terminal.shows("every 2 s");
    terminal.types("2");
    terminal
        .shows("Statements in the server, by time")
        .shows("SHOW GLOBAL STATUS");
    terminal.types("\t");
    terminal.shows("Connection activity");
    terminal.types("?");
    terminal.shows("pause; again: continue");
    terminal.types("q");
    is_left_as_it_was(&scene, &terminal, 0);
}

#[test]
fn a_restarted_server_is_told_and_its_counters_begin_anew() {
    let scene = Scene::for_servers();
    scene.dbdyno(["server", "create", "s"]).exits(0);
    let terminal = Terminal::run(&scene, &script("--server s"), WIDE);
    terminal.shows("queries/s");
    scene.dbdyno(["server", "stop", "s"]).exits(0);
    terminal.shows("SERVER AWAY");
    scene.dbdyno(["server", "start", "s"]).exits(0);
    terminal
        .shows("every 1 s")
        .shows_what("figures of the new process", |text| {
            figure(text, "queries/s").is_some_and(|value| value.parse::<f64>().is_ok())
        });
    // Only `top` itself sends queries: a difference of two processes' counters would be larger, or negative.
    let text = terminal.text();
    let queries: f64 = figure(&text, "queries/s").unwrap().parse().unwrap();
    assert!((0.0..100.0).contains(&queries), "{text}");
    scene.dbdyno(["server", "destroy", "s"]).exits(0);
}

/// The value after a label.
fn figure(text: &str, label: &str) -> Option<String> {
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with(label))?;
    Some(line.split_whitespace().nth(1)?.to_owned())
}

#[test]
fn however_it_ends_the_terminal_is_as_it_was() {
    let scene = Scene::for_servers();
    let path = record("mariadb-open-loop.jsonl");
    let arguments = path.display().to_string();
    let mut by_key = Terminal::run(&scene, &script(&arguments), WIDE);
    by_key.shows("replay x1");
    by_key.is_taken();
    by_key.types("\x03");
    is_left_as_it_was(&scene, &by_key, 0);

    let by_signal = Terminal::run(&scene, &script(&arguments), WIDE);
    by_signal.shows("replay x1");
    by_signal.signals(Signal::TERM);
    is_left_as_it_was(&scene, &by_signal, 0);

    // A record that is damaged while `top` follows it.
    let text = fs::read_to_string(&path).unwrap();
    let (unended, _end) = text.trim_end().rsplit_once('\n').unwrap();
    let growing = scene.file("growing.jsonl", &format!("{unended}\n"));
    // Locked as by dbdyno during a run.
    let held = fs::File::open(&growing).unwrap();
    held.lock().unwrap();
    let by_error = Terminal::run(&scene, &script("growing.jsonl"), WIDE);
    by_error.shows("running");
    let mut file = OpenOptions::new().append(true).open(growing).unwrap();
    writeln!(file, "nonsense").unwrap();
    is_left_as_it_was(&scene, &by_error, 2);
    by_error.shows("error: growing.jsonl: run record line");
}

#[test]
fn a_terminal_that_is_closed_is_its_end() {
    let scene = Scene::new();
    let record = record("mariadb-open-loop.jsonl");
    // Not even a program that SIGHUP does not end reads on and on.
    for input in ["/dev/tty", "/dev/null"] {
        let script = format!(
            "trap '' HUP; (\"$DBDYNO\" top {} < {input}; echo $? > ended.new; mv ended.new ended) & wait",
            record.display()
        );
        let terminal = Terminal::run(&scene, &script, WIDE);
        terminal.shows("replay x1");
        terminal.is_taken();
        terminal.close();
        let ended = scene.path().join("ended");
        wait_until("it has ended", || ended.exists());
        assert_eq!(fs::read_to_string(&ended).unwrap(), "0\n");
        fs::remove_file(ended).unwrap();
    }
}

#[test]
fn a_replay_is_gone_through_by_keys() {
    let scene = Scene::for_servers();
    let arguments = format!(
        "--speed 0.125 {}",
        record("mariadb-read-write.jsonl").display()
    );
    let mut terminal = Terminal::run(&scene, &script(&arguments), (80, 24));
    terminal
        .shows("replay x0.12")
        .shows("Response times at the client");
    terminal.types(" ");
    terminal.shows("PAUSED 1 s of 14 s");
    terminal.types("\x1b[C\x1b[C");
    terminal.shows("PAUSED 3 s of 14 s");
    terminal.types("\x1b[6~");
    terminal.shows("PAUSED 13 s of 14 s");
    terminal.types("\x1b[D");
    terminal.shows("PAUSED 12 s of 14 s");
    terminal.types(" \x1b[F");
    terminal.shows("end 14 s of 14 s");
    terminal.types("q");
    is_left_as_it_was(&scene, &terminal, 0);
}

#[test]
fn colours_are_off_where_nobody_wants_them() {
    let scene = Scene::for_servers();
    let path = record("mariadb-tpcc.jsonl");
    let has_colours = |before: &str, option: &str| {
        let script = format!(
            "{before} \"$DBDYNO\" top {option} {}; echo left; read wait",
            path.display()
        );
        let mut terminal = Terminal::run(&scene, &script, WIDE);
        terminal.shows("Throughput");
        terminal.types("q");
        terminal.shows("left");
        let written = terminal.written();
        written.split("\x1b[").skip(1).any(sets_foreground)
    };
    assert!(has_colours("", ""));
    assert!(!has_colours("NO_COLOR=1", ""));
    assert!(!has_colours("TERM=dumb", ""));
    assert!(!has_colours("", "--color never"));
}

/// Whether an escape sequence sets a colour: 30 to 37, 90 to 97, or 38 followed by a number.
fn sets_foreground(sequence: &str) -> bool {
    let is_parameter = |it: char| it.is_ascii_digit() || it == ';';
    let parameters = sequence.trim_start_matches(is_parameter);
    let first = sequence.split([';', 'm']).next().unwrap_or_default();
    parameters.starts_with('m')
        && first
            .parse::<u32>()
            .is_ok_and(|code| matches!(code, 30..=38 | 90..=97))
}

#[test]
fn plain_lines_agree_with_the_servers_counters() {
    const STATEMENTS: usize = 2000;
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    let arguments = server.by_socket().join(" ");
    let script = script(&format!("--plain {arguments}"));
    let terminal = Terminal::run(&scene, &script, (250, 50));
    let lines = |terminal: &Terminal| figures(&terminal.written());
    let looks = |terminal: &Terminal| lines(terminal).len();
    wait_until("the first line", || looks(&terminal) >= 1);
    let before = looks(&terminal);
    server.ask("select 1", STATEMENTS);
    let during = looks(&terminal);
    wait_until("what came after", || looks(&terminal) >= during + 2);
    terminal.signals(Signal::INT);
    terminal.shows("ended with 0");
    let lines = lines(&terminal);
    let mut counted = 0.0;
    for pair in lines[before - 1..].windows(2) {
        let length_s = number(&pair[1][0]) - number(&pair[0][0]);
        counted += number(&pair[1][1]) * length_s;
    }
    // The queries of `top` itself, and the rounding to three digits of the rate and two of the time.
    let own = (lines.len() * 10) as f64;
    let (least, most) = (STATEMENTS as f64 * 0.96, STATEMENTS as f64 * 1.04 + own);
    assert!((least..most).contains(&counted), "{counted}: {lines:?}");
}

/// The lines with figures, split into cells.
fn figures(text: &str) -> Vec<Vec<String>> {
    let is_figure = |line: &&str| {
        line.trim_start()
            .starts_with(|it: char| it.is_ascii_digit())
    };
    // The last line may be incomplete.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.lines().filter(is_figure);
    let cells = lines.map(|line| line.split_whitespace().map(str::to_owned).collect());
    cells.collect()
}

/// The value of a figure with its prefix.
fn number(text: &str) -> f64 {
    match text.strip_suffix('k') {
        Some(thousands) => thousands.parse::<f64>().unwrap() * 1000.0,
        None => text.parse().unwrap(),
    }
}

#[test]
fn a_run_that_goes_on_is_followed_and_then_replayed() {
    let scene = Scene::for_servers();
    let server = MariaDb::shared(&scene);
    let database = format!("--database={}", server.database());
    let run = |command: &str, more: &[&str]| {
        let mut args = vec![
            "oltp",
            "point_select",
            command,
            "--tables=1",
            "--table-size=500",
        ];
        args.push(&database);
        args.extend(more);
        let connection = server.by_socket();
        let args = args.into_iter().map(str::to_owned).chain(connection);
        scene.start(args.collect::<Vec<_>>())
    };
    run("prepare", &[]).finish().exits(0);
    let load = [
        "--connections=2",
        "--rate=100",
        "--duration=10m",
        "--record=runs/record.jsonl",
    ];
    fs::create_dir(scene.path().join("runs")).unwrap();
    let mut running = run("run", &load);
    let file = scene.path().join("runs/record.jsonl");
    wait_until("the record is begun", || file.exists());
    let terminal = Terminal::run(&scene, &script("runs"), WIDE);
    terminal.shows("operations/s").shows("running,");
    running.wait_until("some seconds are recorded", || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        Record::parse(&text).measured_s() >= 3.0
    });
    running.signal(Signal::INT);
    running.finish().exits(130);
    terminal.shows("end ");
    // All lines at once, if the output is not a terminal.
    let plain = scene.dbdyno(["top", "runs/record.jsonl"]).exits(0);
    assert!(figures(&plain.text()).len() >= 2, "{}", plain.text());
    scene
        .dbdyno(["top", "runs", "--count", "2"])
        .exits(0)
        .prints("# measurement from");
}

#[test]
fn no_run_is_waited_for_where_no_experiment_goes_on() {
    let scene = Scene::for_servers();
    fs::create_dir(scene.path().join("results")).unwrap();
    scene.file("results/experiment.toml", "");
    scene.file("results/report.html", "");
    // Newer than the page, as after a kill between two runs, or if the page was not written again.
    let text = fs::read_to_string(record("mariadb-tpcc.jsonl")).unwrap();
    scene.file("results/1.jsonl", &text);
    scene
        .dbdyno(["top", "--plain", "results"])
        .exits(0)
        .prints("# measurement from");
}

#[test]
fn what_cannot_be_shown_is_the_users_mistake() {
    let scene = Scene::for_servers();
    fs::create_dir(scene.path().join("empty")).unwrap();
    scene.file("text.jsonl", "hello\n");
    scene.file("unended.jsonl", "hello");
    let end = r#"{"line":"end","t_s":2.0,"complete":true,"why":"as planned"}"#;
    scene.file("headless.jsonl", &format!("\n{end}\n"));
    let path = record("mariadb-tpcc.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let header = text.lines().next().unwrap();
    scene.file("unmeasured.jsonl", &format!("{header}\n{end}\n"));
    scene.file("begun.jsonl", &format!("{header}\n"));
    scene.file("blank.jsonl", "");
    let ended = record("mariadb-tpcc.jsonl").display().to_string();
    for (args, said) in [
        (vec!["none.jsonl"], "none.jsonl"),
        (vec!["empty"], "contains no run record"),
        (vec!["text.jsonl"], "text.jsonl: run record line 1"),
        (
            vec!["--plain", "unended.jsonl"],
            "unended.jsonl: run record line 1",
        ),
        (vec!["headless.jsonl"], "headless.jsonl: "),
        (
            vec!["unmeasured.jsonl"],
            "unmeasured.jsonl: nothing was measured",
        ),
        (vec!["begun.jsonl"], "begun.jsonl: nothing was measured"),
        (vec!["blank.jsonl"], "blank.jsonl: nothing was measured"),
        (
            vec![&ended, "--server", "s"],
            "is replayed without a server",
        ),
        (vec![&ended, "--speed", "0"], "from 0.125 to 512"),
        (vec![&ended, "--every", "1s"], "cannot be used with"),
        (vec!["--speed", "2"], "required"),
        (vec!["--every", "1ms"], "from 100ms to 60s"),
        (vec!["--count", "0"], "--count"),
        (vec!["--server", "nobody"], "nobody"),
    ] {
        let args = ["top"].into_iter().chain(args);
        scene.dbdyno(args).exits(2).prints_nothing().says(said);
    }
}

#[test]
fn a_killed_run_is_not_waited_for() {
    let scene = Scene::for_servers();
    let path = record("mariadb-read-write.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let (unended, _end) = text.trim_end().rsplit_once('\n').unwrap();
    fs::create_dir(scene.path().join("results")).unwrap();
    // The state after an experiment was killed: without an end and without a report.
    scene.file("results/experiment.toml", "");
    scene.file("results/run-0001.jsonl", &format!("{unended}\n"));
    for place in ["results", "results/run-0001.jsonl"] {
        let finished = scene.dbdyno(["top", "--plain", place]).exits(0);
        let finished = finished.says("the dbdyno that wrote it has ended");
        assert!(figures(&finished.text()).len() > 8);
    }
}
