//! The report of a real run in a real browser: it draws, complains of nothing and asks the network for nothing.

use std::{path::Path, process::Command};

use crate::{experiment::Experiment, scene::Scene};

/// Debian's name of the browser, and what it needs to stay alone and to run as root.
const CHROMIUM: [&str; 13] = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    // Every name is unknown: what a page may ask the network for at all fails, and the console says so.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    // Timers of the page run at once, up to this many milliseconds of its time.
    "--virtual-time-budget=5000",
    "--dump-dom",
];

/// What a reader of the page would do: choose another run, sort the list; then what is painted is counted.
const READER: &str = r##"<script>
document.querySelectorAll("#run-table tbody tr")[1]?.click();
document.querySelector("#run-table [data-sort]")?.click();
setTimeout(() => {
  const canvases = [...document.querySelectorAll("canvas")];
  const pixels = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const painted = canvases.filter((canvas) => pixels(canvas).some((value) => value > 0)).length;
  document.title = `painted ${painted} of ${canvases.length}`;
}, 1000);
</script>"##;

/// A page as the browser shows it.
struct Shown {
    document: String,
    /// What stood on the browser's console.
    complaints: Vec<String>,
}

/// Opens a page; `None` without a browser.
fn open(scene: &Scene, page: &Path) -> Option<Shown> {
    let output = Command::new("timeout")
        .args(["--kill-after=5", "120"])
        .args(CHROMIUM)
        .arg(format!(
            "--user-data-dir={}",
            scene.path().join("browser").display()
        ))
        .arg(format!("file://{}", page.display()))
        .env("HOME", scene.path())
        .output()
        .unwrap();
    if output.status.code() == Some(127) {
        eprintln!("skipped: chromium is not installed");
        return None;
    }
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {log}", output.status);
    Some(Shown {
        document: String::from_utf8_lossy(&output.stdout).into_owned(),
        complaints: log
            .lines()
            .filter(|line| line.contains("CONSOLE"))
            .map(str::to_owned)
            .collect(),
    })
}

#[test]
fn the_report_draws_without_complaint() {
    let scene = Scene::new();
    Experiment {
        matrix: "connections = [1, 2]".to_owned(),
        load: "connections = \"{connections}\"\nwarmup = \"500ms\"\nduration = \"1s\"\n\
               [report]\nchart = { x = \"connections\" }"
            .to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    let report = scene.path().join("out/report.html");
    let Some(shown) = open(&scene, &report) else {
        return;
    };
    assert_eq!(shown.complaints, [""; 0]);
    assert!(
        shown.document.matches("<svg").count() >= 3,
        "static charts of throughput, CPU and latency"
    );

    let html = std::fs::read_to_string(&report).unwrap();
    if html.contains("id=\"run-data\"") {
        let read = scene.file(
            "read.html",
            &html.replace("</body>", &format!("{READER}</body>")),
        );
        let shown = open(&scene, &read).expect("it was there a moment ago");
        assert_eq!(shown.complaints, [""; 0]);
        let title = shown.document.split("<title>").nth(1).unwrap();
        let title = title.split("</title>").next().unwrap();
        let numbers: Vec<_> = title
            .split(' ')
            .filter_map(|word| word.parse::<u32>().ok())
            .collect();
        assert!(
            numbers.len() == 2 && numbers[0] > 0 && numbers[0] == numbers[1],
            "{title}"
        );
        assert!(
            shown.document.contains(">Run 2: "),
            "the second run is chosen"
        );
    } else {
        eprintln!("partly skipped: built without the library of zoomable charts");
    }

    // The same check finds a script's error and a request to the network.
    let broken =
        "<script src=\"https://elsewhere.invalid/x.js\"></script><script>missing()</script></body>";
    let page = scene.file("broken.html", &html.replace("</body>", broken));
    let shown = open(&scene, &page).expect("it was there a moment ago");
    let said = |text: &str| shown.complaints.iter().any(|line| line.contains(text));
    assert!(
        said("elsewhere.invalid") && said("missing is not defined"),
        "{:?}",
        shown.complaints
    );
}
