//! The end of a run of `dbdyno oltp`: by time, by number of events, or with events that never return.

use rustix::process::Signal;

use crate::{
    null_server::null_server,
    scene::{Finished, Scene},
};

/// Runs point selects over two connections of a null server with these options.
fn point_selects(scene: &Scene, server: &[&str], client: &[&str]) -> Finished {
    let (server, socket) = null_server(scene, server);
    let usual = ["oltp", "point_select", "run", "--threads=2", "--socket"];
    let usual = usual.iter().copied().chain([socket.to_str().unwrap()]);
    let finished = scene.dbdyno(usual.chain(client.iter().copied()));
    server.signal(Signal::TERM);
    server.finish().exits(0);
    finished
}

#[test]
fn the_time_or_the_number_of_events_ends_a_run_whichever_comes_first() {
    let scene = Scene::new();
    let csv = "--format=csv";
    let by_number = ["--time=60", "--events=50", csv];
    let report = point_selects(&scene, &[], &by_number).exits(0);
    assert_eq!(events(&report), 50);
    let with_rate = ["--time=60", "--events=50", "--rate=1000", csv];
    let report = point_selects(&scene, &[], &with_rate).has_measured();
    assert_eq!(events(&report), 50);
    // Two connections, 20 ms per statement.
    let by_time = ["--time=1", "--events=1000000", csv];
    let report = point_selects(&scene, &["--delay=20ms"], &by_time).exits(0);
    assert!((1..=100).contains(&events(&report)), "{}", events(&report));
}

/// Events of a report in CSV: `operation,oltp point_select,50,...`
fn events(report: &Finished) -> u64 {
    let text = report.text();
    let mut lines = text.lines();
    let operation = lines.find(|line| line.starts_with("operation,")).unwrap();
    operation.split(',').nth(2).unwrap().parse().unwrap()
}

#[test]
fn a_forced_shutdown_leaves_behind_what_has_not_come_back() {
    let scene = Scene::new();
    let frozen = ["--freeze-at=500ms", "--freeze-for=60s"];
    let options = ["--time=2", "--forced-shutdown=50%", "--format=sysbench"];
    point_selects(&scene, &frozen, &options)
        .exits(3)
        .prints("Forcing shutdown in 3 seconds")
        .prints("Number of unfinished transactions on forced shutdown: 2")
        .says("forced shutdown: 2 operations had not finished");
}

#[test]
fn without_a_forced_shutdown_a_run_waits_for_all() {
    let scene = Scene::new();
    // Longer than the default timeout.
    let frozen = ["--freeze-at=500ms", "--freeze-for=7s"];
    let options = ["--time=1", "--forced-shutdown=off", "--format=sysbench"];
    let report = point_selects(&scene, &frozen, &options).exits(0);
    for absent in ["Forcing shutdown", "unfinished transactions"] {
        assert!(!report.text().contains(absent), "{}", report.text());
    }
}

#[test]
fn a_forced_shutdown_needs_a_time() {
    let scene = Scene::new();
    let options = ["--time=0", "--events=5", "--forced-shutdown"];
    point_selects(&scene, &[], &options)
        .exits(2)
        .says("--forced-shutdown has no effect without a time")
        .hints("--duration");
    point_selects(&scene, &[], &["--forced-shutdown=never"])
        .exits(2)
        .says("off, a time such as 5s");
}
