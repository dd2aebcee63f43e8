//! `dbdyno size --grow` and `--html` on the records of a small experiment; `crates/sizing/tests/growth.rs` has their
//! figures.

use super::size::RUNS;
use crate::scene::Scene;

/// Two executions each with a small and a large size of the data.
const SMALL_AND_LARGE: [(&str, &str); 4] = [
    (
        "large-1.jsonl",
        include_str!("../../../../audit/fixtures/experiment/run-0001.jsonl"),
    ),
    (
        "large-2.jsonl",
        include_str!("../../../../audit/fixtures/experiment/run-0010.jsonl"),
    ),
    (
        "small-1.jsonl",
        include_str!("../../../../audit/fixtures/experiment/run-0004.jsonl"),
    ),
    (
        "small-2.jsonl",
        include_str!("../../../../audit/fixtures/experiment/run-0011.jsonl"),
    ),
];

/// A scene with these records, and with those of the large data again as if they had had half of the buffer pool.
fn three_memories() -> (Scene, Vec<String>) {
    let scene = Scene::new();
    let mut names = Vec::new();
    let mut add = |name: String, content: &str| {
        scene.file(&name, content);
        names.push(name);
    };
    for (name, content) in SMALL_AND_LARGE {
        add(name.to_owned(), content);
    }
    for (name, content) in &SMALL_AND_LARGE[..2] {
        let halved = content.replace(
            "\"buffer_pool_bytes\":8388608",
            "\"buffer_pool_bytes\":4194304",
        );
        add(format!("half-{name}"), &halved);
    }
    (scene, names)
}

/// The large data with the whole buffer pool.
const GROWING: &str = "read_iops=3000,data=16960K,buffer_pool=8M";

#[test]
fn growing_data_has_an_answer_up_to_the_largest_measured_size() {
    let (scene, names) = three_memories();
    let size = |more: &str| {
        let begin = ["size", "--target", GROWING, "--grow", "10%/month"].map(str::to_owned);
        let more = more.split_whitespace().map(str::to_owned);
        scene.dbdyno(begin.into_iter().chain(names.clone()).chain(more))
    };
    // An operation reads about as many pages in all three.
    let answer = size("");
    let shown = answer.text();
    assert!(shown.lines().count() <= 12, "{shown}");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|columns| columns <= 120), "{shown}");
    answer
        .exits(5)
        .prints("The throughput does not fall to half by 20")
        .prints_sentence("when the data reaches the largest measured data/memory (4.14).")
        .prints_sentence("For a later date, measure a smaller buffer pool.")
        .prints("today        The target can do ")
        .prints("growth       10%/month from 16.6 MiB of data on 20")
        .prints("data/memory  2.07 today; measured from 0.564 to 4.14: the target can do ")
        .prints("cliff        not reached up to data/memory 4.14")
        .prints_sentence("beside other programs (H14): 6 of 6");
    // Two executions have a wide interval.
    size("--tps 1000000000")
        .exits(1)
        .prints("The throughput of the target is below 1.00G operations/s today.");
    size("--format json")
        .exits(5)
        .prints("\"outcome\": \"not_reached\"");
    size("--format csv")
        .exits(5)
        .prints("curve,per_s,")
        .prints("growth,months,");
    let target = "read_iops=3000,data=16960K";
    let few = [
        "size", RUNS, "--target", target, "--grow", "1G/year", "--format", "text",
    ];
    scene
        .dbdyno(few)
        .exits(5)
        .prints_sentence("The date is not known: 3 or more buffer pools");
}

#[test]
fn a_prediction_is_written_as_a_page() {
    let (scene, names) = three_memories();
    let size = |page: &str| {
        let begin = ["size", "--target", GROWING, "--html", page].map(str::to_owned);
        scene.dbdyno(begin.into_iter().chain(names.clone()))
    };
    size("size.html").exits(0).prints("The target can do ");
    let page = std::fs::read_to_string(scene.path().join("size.html")).unwrap();
    for part in [
        "<h1>Sizing: tiny on 10.11.18-MariaDB-0+deb12u1</h1>",
        "The target can do ",
        "data/memory 4.14: ",
        ">today</text>",
        "half-large-2.jsonl",
        "Problems of the records: ",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    size("gone/size.html").exits(2).says("gone/size.html");
    // With a throughput, the answer is the decision, also on the page.
    let with_tps = [
        "size",
        "--target",
        GROWING,
        "--tps",
        "1000000000",
        "--html",
        "size.html",
    ];
    scene
        .dbdyno(with_tps.map(str::to_owned).into_iter().chain(names))
        .exits(1)
        .prints_sentence("No: the target does not carry 1.00G operations/s: ");
    let page = std::fs::read_to_string(scene.path().join("size.html")).unwrap();
    for part in [
        "No: the target does not carry ",
        "The alternatives",
        " reads/s</td>",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}
