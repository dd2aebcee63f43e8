//! Tests of the messages for each error in an experiment file.

use std::{fmt::Write, fs, path::Path};

use experiment::Overrides;

use crate::Bench;

/// Each case is a file and its message; `GOLDEN=write cargo test -p experiment` writes the file again.
const GOLDEN: &str = "tests/experiment/errors.golden";

#[test]
fn every_fault_names_its_place_and_its_remedy() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    let golden = fs::read_to_string(&path).unwrap();
    let bench = Bench::new();
    let mut said = String::new();
    for case in golden.split("=== ").skip(1) {
        let (name, rest) = case.split_once('\n').unwrap();
        let (text, _) = rest.split_once("---\n").unwrap();
        write!(said, "=== {name}\n{text}---\n{}", told(&bench, text)).unwrap();
    }
    if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
        fs::write(&path, &said).unwrap();
    }
    for (said, golden) in said.split("=== ").zip(golden.split("=== ")) {
        assert_eq!(said, golden);
    }
}

/// Error and hint in the format of a command's output, without the directory's random name.
fn told(bench: &Bench, text: &str) -> String {
    let scale = text.strip_prefix("# --scale ").map(|rest| {
        let (scale, _) = rest.split_once('\n').unwrap();
        scale.parse().unwrap()
    });
    let overrides = Overrides {
        scale,
        ..Overrides::default()
    };
    let error = bench.parse_with(text, &overrides).unwrap_err();
    let mut told = format!("error: {error}\n");
    if let Some(hint) = error.hint() {
        writeln!(told, "hint: {hint}").unwrap();
    }
    told.replace(&format!("{}/", bench.dir.path().display()), "")
}
