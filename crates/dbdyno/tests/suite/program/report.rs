//! `dbdyno report`: the results of real runs in every format, and refused inputs.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::{experiment::Experiment, scene::Scene};

/// Runs two connection counts against a null server, twice each; results are in `results`.
fn simulated(scene: &Scene, results: &str) {
    let experiment = Experiment {
        top: "seed = 5\nrepeats = 2",
        matrix: "connections = [1, 2]".to_owned(),
        load:
            "mix = \"1:0\"\nconnections = \"{connections}\"\nwarmup = \"200ms\"\nduration = \"2s\""
                .to_owned(),
        ..Experiment::default()
    };
    experiment.write(scene);
    scene
        .dbdyno(["run", "trial.toml", "--simulate", "--results", results])
        .exits(0);
}

fn report(scene: &Scene, args: &[&str]) -> String {
    let all = ["report"].iter().chain(args);
    scene.dbdyno(all).exits(0).text()
}

/// All reports of the same results, which are measured once.
#[test]
fn the_results_of_an_experiment_are_reported() {
    let scene = Scene::new();
    simulated(&scene, "nothing");
    all_results_are_told_in_every_format(&scene);
    several_results_and_single_records_become_one_report(&scene);
    the_charts_of_the_page_are_pictures(&scene);
    what_cannot_be_reported_is_the_input(&scene);
    a_terminal_is_not_spoilt(&scene);
}

fn all_results_are_told_in_every_format(scene: &Scene) {
    let document: Value =
        serde_json::from_str(&report(scene, &["nothing", "--format", "json"])).expect("it is JSON");
    assert_eq!(document["format"], 1);
    assert_eq!(document["complete_runs"], 4);
    assert_eq!(document["combinations"].as_array().unwrap().len(), 2);
    let audit = scene.dbdyno([
        "audit",
        "nothing",
        "--format",
        "json",
        "--fail-if",
        "invalid",
    ]);
    let mut audit: Value = serde_json::from_str(&audit.text()).unwrap();
    audit["subject"] = document["audit"]["subject"].clone();
    assert_eq!(document["audit"], audit, "both say the same");
    let csv = report(scene, &["nothing", "--format", "csv"]);
    assert!(csv.starts_with("experiment,run,block,complete,started_at,connections,load,"));
    let throughputs = csv
        .lines()
        .filter(|line| line.contains(",,,,throughput,per second,"));
    assert_eq!(throughputs.count(), 4);
    let markdown = report(scene, &["nothing", "--format", "markdown"]);
    assert!(markdown.contains("**Audit: "), "{markdown}");
    assert!(
        markdown.contains("| connections | operations/s |"),
        "{markdown}"
    );
    let metrics = report(scene, &["nothing", "--format", "openmetrics"]);
    assert!(metrics.ends_with("# EOF\n"));
    let page = report(scene, &["nothing"]);
    let kept = fs::read_to_string(scene.path().join("nothing/report.html")).unwrap();
    assert_eq!(page, kept, "the page is the one that the run wrote");
    for name in [
        "all.html",
        "all.json",
        "all.csv",
        "all.md",
        "all.prom",
        "all.parquet",
    ] {
        report(scene, &["nothing", "--output", name]);
        assert!(
            fs::metadata(scene.path().join(name)).unwrap().len() > 1000,
            "{name}"
        );
    }
    let parquet = fs::read(scene.path().join("all.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    assert_eq!(
        fs::read_to_string(scene.path().join("all.csv")).unwrap(),
        csv
    );
}

fn several_results_and_single_records_become_one_report(scene: &Scene) {
    simulated(scene, "two");
    let document: Value =
        serde_json::from_str(&report(scene, &["nothing", "two", "--format", "json"])).unwrap();
    assert_eq!(document["factors"][0]["name"], "results");
    assert_eq!(document["factors"][0]["levels"][1], "two");
    assert_eq!(document["complete_runs"], 8);
    assert_eq!(document["runs"][7]["run"], 8);
    assert_eq!(document["combinations"].as_array().unwrap().len(), 4);
    let csv = report(
        scene,
        &[
            "nothing/run-0001.jsonl",
            "two/run-0003.jsonl",
            "--format",
            "csv",
            "--seconds",
        ],
    );
    let header = csv.lines().next().unwrap();
    assert!(
        header.contains(",results,connections,t_s,length_s,phase,"),
        "{header}"
    );
    assert!(csv.contains(",run-0001,") && csv.contains(",run-0003,"));
    let single = report(scene, &["nothing/run-0001.jsonl", "--format", "markdown"]);
    assert!(single.contains("The planned run is complete."), "{single}");
}

fn the_charts_of_the_page_are_pictures(scene: &Scene) {
    let listed = report(scene, &["nothing", "--charts", "pictures"]);
    assert!(
        listed.lines().any(|line| line == "pictures/throughput.svg"),
        "{listed}"
    );
    for file in listed.lines() {
        let svg = fs::read_to_string(scene.path().join(file)).unwrap();
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{file}"
        );
    }
    report(
        scene,
        &["nothing", "--charts", "pictures", "--format", "png"],
    );
    report(
        scene,
        &["nothing", "--chart", "throughput", "--output", "one.png"],
    );
    let one = fs::read(scene.path().join("one.png")).unwrap();
    assert_eq!(
        one,
        fs::read(scene.path().join("pictures/throughput.png")).unwrap()
    );
    let svg = report(scene, &["nothing", "--chart", "throughput"]);
    assert_eq!(
        svg,
        fs::read_to_string(scene.path().join("pictures/throughput.svg")).unwrap()
    );
    let cases: [(&[&str], &str); 4] = [
        (&["nothing", "--chart", "speed"], "no chart \"speed\""),
        (
            &["nothing/run-0001.jsonl", "--format", "svg"],
            "these results have no chart",
        ),
        (
            &["nothing", "--chart", "throughput", "--format", "csv"],
            "a chart cannot be written as csv",
        ),
        (
            &["nothing", "--charts", "p", "--output", "x.svg"],
            "cannot be used with",
        ),
    ];
    for (args, why) in cases {
        let all = ["report"].iter().chain(args);
        scene.dbdyno(all).exits(2).says(why);
    }
}

fn what_cannot_be_reported_is_the_input(scene: &Scene) {
    fs::create_dir(scene.path().join("empty")).unwrap();
    scene.file("torn.jsonl", "{\"line\":\"run\"");
    let cases: [(&[&str], &str); 10] = [
        (&["nowhere"], "nowhere: No such file"),
        (&["empty"], "empty: contains no run record"),
        (&["torn.jsonl"], "torn.jsonl"),
        (&["nothing", "nothing"], "nothing is named twice"),
        (&["nothing", "--format", "pdf"], "invalid value 'pdf'"),
        (
            &["nothing", "--output", "all.pdf"],
            "all.pdf: the file extension does not determine a format",
        ),
        (
            &["nothing", "--output", "no/all.csv"],
            "no/all.csv: No such file",
        ),
        (
            &["nothing", "--format", "markdown", "--seconds"],
            "--seconds: markdown has no values per second",
        ),
        (
            &["nothing", "--seconds"],
            "--seconds: html has no values per second",
        ),
        (&[], "required arguments were not provided"),
    ];
    for (args, why) in cases {
        let all = ["report"].iter().chain(args);
        scene.dbdyno(all).exits(2).says(why);
    }
}

fn a_terminal_is_not_spoilt(scene: &Scene) {
    if !Path::new("/usr/bin/script").exists() {
        eprintln!("skipped: script, which gives a command a terminal, is not installed");
        return;
    }
    for (format, hint) in [("parquet", "FILE.parquet"), ("html", "FILE.html")] {
        let line = format!(
            "{} report nothing --format {format}",
            env!("CARGO_BIN_EXE_dbdyno")
        );
        let output = Command::new("script")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .current_dir(scene.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("is not written to a terminal") && said.contains(hint),
            "{said}"
        );
    }
}
