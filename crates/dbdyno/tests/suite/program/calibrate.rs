//! `dbdyno calibrate`: its output, its stored file, and its use in a run's record.

use serde_json::Value;

use crate::scene::Scene;

/// Lengths of the measurements of one attempt after another.
const DURATIONS: [&str; 4] = ["200ms", "1s", "5s", "20s"];

#[test]
fn it_measures_and_keeps_what_it_found() {
    let scene = Scene::new();
    // In a short time a busy machine may complete nothing.
    let mut documents = DURATIONS.into_iter().map(|duration| {
        let options = ["--connections", "1,4", "--duration", duration];
        let arguments = [&["calibrate", "--format", "json"], &options[..]].concat();
        let finished = scene
            .dbdyno(arguments)
            .exits(0)
            .says("saved for run records");
        serde_json::from_str::<Value>(&finished.text()).unwrap()
    });
    let is_measured = |it: &Value| {
        it["queries_per_s"].as_f64().unwrap() > 0.0
            && it["client_cpu_us_per_query"].is_f64()
            && it["server_cpu_us_per_query"].is_f64()
    };
    let are_measured = |it: &Value| {
        it["measurements"]
            .as_array()
            .unwrap()
            .iter()
            .all(is_measured)
    };
    let document = documents.find(are_measured);
    let document = document.expect("a measurement without figures in each attempt");
    let measurements = document["measurements"].as_array().unwrap();
    // Two transports, two kinds of statements, two numbers of connections; and the open loop.
    assert_eq!(measurements.len(), 9);
    for measurement in measurements {
        assert!(measurement["p50_us"].as_f64() <= measurement["p99_us"].as_f64());
    }
    assert!(measurements[8]["send_lag_p50_us"].as_f64().unwrap() > 0.0);
    let kept = scene.path().join(".local/share/dbdyno/calibration.json");
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
    let reached = kept["reached"].as_array().unwrap();
    assert_eq!(reached.len(), 8);
    for transport in ["unix socket", "tcp loopback"] {
        let over_it = reached.iter().filter(|it| it["transport"] == transport);
        assert_eq!(over_it.count(), 4, "{transport}: {kept}");
    }

    scene
        .dbdyno(["calibrate", "--connections", "1", "--duration", "200ms"])
        .exits(0)
        .prints("unix socket")
        .prints("of 5.00k queries/s; sent ");
    for (options, says) in [
        (["--connections", "0"], "--connections"),
        (["--duration", "1ms"], "--duration"),
    ] {
        scene
            .dbdyno(["calibrate", options[0], options[1]])
            .exits(2)
            .says(says);
    }
}
