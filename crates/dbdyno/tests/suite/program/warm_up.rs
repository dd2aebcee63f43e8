//! `warmup = "auto"` against a null server that speeds up: the measurement waits for the steady state, or reports that it
//! did not.

use rustix::process::Signal;
use samples::{Phase, Record};

use crate::{
    null_server::{null_server, write_smack},
    results::record_name,
    scene::{Finished, Scene},
};

/// Runs eight clients whose statements take ten milliseconds, and longer at first: by this time, which falls to 37 % in the
/// second one.
fn run(scene: &Scene, [cold, warm_in]: [&str; 2], load: &str) -> (Finished, Record) {
    let options = ["--delay", "10ms", "--cold", cold, "--warm-in", warm_in];
    let (server, socket) = null_server(scene, &options);
    write_smack(scene, &socket, "select c from t where id = 1");
    let text = format!(
        "format = 1\n[server]\naddress = {:?}\nuser = \"u\"\n[load]\nsmack = \"one.smack\"\nconnections = 8\n\
         warmup = \"auto\"\n{load}\n[disturbed]\nrepeats = \"0 %\"\n",
        socket.to_str().unwrap()
    );
    scene.file("trial.toml", &text);
    let finished = scene.dbdyno(["run", "trial.toml", "--results", "out"]);
    server.signal(Signal::TERM);
    server.finish().exits(0);
    let record = Record::open(&scene.path().join("out").join(record_name(1))).unwrap();
    (finished, record)
}

/// The last phase of this kind: its start, and the reason.
fn last(record: &Record, phase: Phase) -> (f64, &str) {
    let marks = record.phases.iter().rev();
    let mark = marks.into_iter().find(|mark| mark.phase == phase).unwrap();
    (mark.t_s, &mark.why)
}

#[test]
fn the_measurement_waits_until_the_server_is_warm() {
    let scene = Scene::new();
    let limits = "warmup_at_most = \"40s\"\nduration = \"4s\"";
    let (finished, record) = run(&scene, ["90ms", "1s"], limits);
    finished.exits(0);
    let (from_s, why) = last(&record, Phase::Measurement);
    // After two time constants statements still take twice as long.
    assert!(from_s >= 2.0, "{from_s} s: {why}");
    let (first_s, _) = record.measured_window_s().unwrap();
    assert!(first_s > from_s - 0.5, "{first_s} s");
    let quickest = record.steadiness.as_ref().unwrap();
    assert!(quickest.class.is_some() || !quickest.reasons.is_empty());
}

#[test]
fn a_warm_up_that_was_too_short_is_told_everywhere() {
    let scene = Scene::new();
    // Ten intervals of warm-up, too few to judge any course as steady.
    let limits = "warmup_at_most = \"3s\"\nduration = \"6s\"";
    // Statements take 80 ms when it ends and 20 ms at the end: what a busy machine adds to both hides no such change.
    let (finished, record) = run(&scene, ["190ms", "3s"], limits);
    finished.exits(0).prints("page      out/report.html");
    let (from_s, why) = last(&record, Phase::Measurement);
    assert!(from_s >= 2.9, "{from_s} s");
    assert!(why.starts_with("not steady after 3 s: "), "{why}");
    // The class depends on what else the machine does; that every place reports it does not.
    let steadiness = record.steadiness.as_ref().unwrap();
    let class = steadiness.class.as_deref().unwrap_or("undecided");
    assert_ne!(class, "steady");
    let told = class.replace("warming", "still warming");
    let end = &record.end.as_ref().unwrap().why;
    let expected = format!("as planned; not steady: {told}: ");
    assert!(end.starts_with(&expected), "{end} is not {expected}");
    let summary = rusqlite::Connection::open(scene.path().join("out/summary.sqlite")).unwrap();
    let kept: (Option<String>, String) = summary
        .query_row("SELECT class, class_why FROM runs", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(
        kept,
        (steadiness.class.clone(), steadiness.reasons.join("; "))
    );
    let page = std::fs::read_to_string(scene.path().join("out/report.html")).unwrap();
    let shown = match &steadiness.class {
        Some(class) => format!("Not steady: run 1 ({class}: "),
        None => "Undecided because of noise: 1.".to_owned(),
    };
    assert!(page.contains(&shown), "the page has no {shown:?}");
}
