//! The report of a real run in a real browser: charts of the measured values, zoom and selection, dark mode and
//! keyboard use, and no request to the network.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde::Deserialize;

use crate::{experiment::Experiment, scene::Scene};

/// The output of `reader.mjs`.
#[derive(Debug, Deserialize)]
struct Seen {
    complaints: Vec<String>,
    requests: Vec<String>,
    broken: Broken,
    /// Tooltips of the points of all static charts.
    hints: Vec<String>,
    /// Static charts without title or description.
    unnamed: usize,
    landmarks: Vec<String>,
    headings: Vec<u8>,
    /// Duplicate identifiers.
    twice: Vec<String>,
    /// References to missing elements.
    dangling: Vec<String>,
    /// Tables with a heading that lacks its scope.
    headless: usize,
    unlabelled: usize,
    first_stop: String,
    faint: Faint,
    zoomable: bool,
    #[serde(default)]
    courses: Vec<Course>,
    /// Before any part was unfolded.
    #[serde(default)]
    canvases_at_first: usize,
    #[serde(default)]
    canvases: usize,
    #[serde(default)]
    named_canvases: usize,
    zoom: Option<Zoom>,
    chosen: Option<Chosen>,
    #[serde(default)]
    sorted: Vec<u32>,
    #[serde(default)]
    numbers: usize,
    light: String,
    dark: String,
    print: String,
    /// Pixels of horizontal scrolling in a narrow window.
    beyond: i32,
    /// Length of the page on a phone, in screens of 390 by 844.
    screens: f64,
    /// Charts that are cut off on a phone.
    cut: usize,
    /// Whether a link opened the folded part of its target.
    opened: bool,
}

/// What the copy of the page with errors complains of.
#[derive(Debug, Deserialize)]
struct Broken {
    complaints: Vec<String>,
}

/// Text with too little contrast.
#[derive(Debug, Deserialize)]
struct Faint {
    light: Vec<String>,
    dark: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Course {
    drawn_per_s: f64,
    listed_per_s: f64,
    charts: Vec<String>,
}

/// The displayed range according to the page, and the number of charts that changed.
#[derive(Debug, Deserialize)]
struct Zoom {
    whole: String,
    button: String,
    changed: usize,
    back: String,
    drag: String,
    dragged: usize,
    home: String,
    key: String,
}

#[derive(Debug, Deserialize)]
struct Chosen {
    second: String,
    pressed: Vec<u32>,
    changed: bool,
    first: String,
}

/// The browser automation library, as installed by `make assets`.
fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/assets/node_modules/playwright-core")
}

/// Reads a page, and what a copy of it with errors complains of; `None` without a browser or the automation library.
fn read(page: &Path, broken: &Path) -> Option<Seen> {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/servers/page/reader.mjs");
    let browser = Command::new("chromium").arg("--version").output();
    if !library().exists() || browser.is_err() {
        eprintln!(
            "skipped: chromium or playwright-core is not installed; `make test` installs both"
        );
        return None;
    }
    let output = Command::new("timeout")
        .args(["--kill-after=5", "300", "node"])
        .args([&reader, &library(), page, broken])
        // Directory for screenshots, to check the page by eye.
        .args(std::env::var_os("DBDYNO_SCREENSHOTS"))
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {log}", output.status);
    let seen = String::from_utf8_lossy(&output.stdout);
    Some(serde_json::from_str(&seen).unwrap_or_else(|error| panic!("{error}: {seen}")))
}

/// Checks that apply to every page.
fn assert_sound(seen: &Seen) {
    assert_eq!((&seen.complaints, &seen.requests), (&vec![], &vec![]));
    assert_eq!(seen.unnamed, 0, "charts without words");
    assert_eq!(seen.landmarks, ["header", "nav", "main", "footer"]);
    assert!(seen.headings.starts_with(&[1, 2]), "{:?}", seen.headings);
    let steps = seen.headings.windows(2);
    assert!(steps.into_iter().all(|pair| pair[1] <= pair[0] + 1));
    assert_eq!((&seen.twice, &seen.dangling), (&vec![], &vec![]));
    assert_eq!((seen.headless, seen.unlabelled), (0, 0), "tables");
    assert_eq!(seen.first_stop, "Skip to the verdict");
    assert_eq!((&seen.faint.light, &seen.faint.dark), (&vec![], &vec![]));
    assert_eq!(
        (&*seen.light, &*seen.print),
        ("rgb(255, 255, 255)", "rgb(255, 255, 255)")
    );
    assert_ne!(seen.dark, seen.light);
    assert_eq!(seen.beyond, 0, "a narrow window must not scroll sideways");
    assert_eq!(seen.cut, 0, "charts that a phone cuts off");
    assert!(seen.screens < 6.0, "{} screens on a phone", seen.screens);
    assert!(seen.opened, "a link must open the part that it goes to");
}

#[test]
fn the_report_draws_what_was_measured_and_can_be_read() {
    let scene = Scene::for_servers();
    Experiment {
        matrix: "connections = [1, 2, 3, 4]".to_owned(),
        load: "connections = \"{connections}\"\nwarmup = \"500ms\"\nduration = \"2s\"\n\
               [report]\nchart = { x = \"connections\" }"
            .to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    let report = scene.path().join("out/report.html");
    let html = std::fs::read_to_string(&report).unwrap();
    let errors =
        "<script src=\"https://elsewhere.invalid/x.js\"></script><script>missing()</script></body>";
    let broken = scene.file("broken.html", &html.replace("</body>", errors));
    let Some(seen) = read(&report, &broken) else {
        return;
    };
    assert_sound(&seen);
    for connections in 1..=4 {
        let point = format!("connections {connections}, all runs: ");
        assert!(
            seen.hints.iter().any(|hint| hint.starts_with(&point)),
            "{:?}",
            seen.hints
        );
    }
    if seen.zoomable {
        assert_drawn(&seen);
    } else {
        eprintln!("partly skipped: built without the library of zoomable charts");
    }

    // The same reader detects a script's error and a request to the network.
    let complaints = &seen.broken.complaints;
    let said = |text: &str| complaints.iter().any(|line| line.contains(text));
    assert!(
        said("elsewhere.invalid") && said("missing is not defined"),
        "{complaints:?}"
    );
}

/// Checks the course of each run: drawn from its record, zoomed and selected.
fn assert_drawn(seen: &Seen) {
    assert_eq!(seen.courses.len(), 4);
    for course in &seen.courses {
        let ratio = course.drawn_per_s / course.listed_per_s;
        assert!((0.9..1.1).contains(&ratio), "{course:?}");
        assert!(course.charts.len() >= 3, "{course:?}");
    }
    assert!(
        seen.canvases_at_first == 2 && seen.canvases >= 3 && seen.named_canvases == seen.canvases,
        "{seen:?}"
    );
    let zoom = seen.zoom.as_ref().unwrap();
    assert_eq!([&zoom.whole, &zoom.back, &zoom.home], ["Whole run"; 3]);
    for part in [&zoom.button, &zoom.drag, &zoom.key] {
        assert!(part.starts_with("Seconds "), "{zoom:?}");
    }
    // A chart of one point does not change with the zoom.
    assert!(zoom.changed >= 3 && zoom.dragged >= 3, "{zoom:?}");
    let chosen = seen.chosen.as_ref().unwrap();
    assert!(
        chosen.second.starts_with("Run 2: ") && chosen.first.starts_with("Run 1: "),
        "{chosen:?}"
    );
    assert_eq!((&*chosen.pressed, chosen.changed), (&[2][..], true));
    assert_eq!(seen.sorted, [4, 3, 2, 1]);
    assert!(seen.numbers >= 3);
}
