//! The licence notices in the packages: they must contain the texts of every linked crate.

use std::{collections::BTreeSet, path::Path, process::Command};

/// The target of `make static`.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// Runs a program in the repository; returns its output.
fn output(program: &str, args: &[&str]) -> String {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(program);
    let output = command.args(args).current_dir(repository).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_linked_crate_has_its_notice() {
    let text = output("scripts/notices.sh", &[TARGET, "--crates"]);
    let (list, texts) = text.split_once("\n======== text 1 ========\n").unwrap();
    let mut with_texts = BTreeSet::new();
    let mut name = "";
    for line in list.lines() {
        match line.trim_start().strip_prefix("texts:") {
            Some(numbers) => {
                let lengths = numbers.split_whitespace().map(|number| {
                    let head = format!("\n======== text {number} ========\n\n");
                    let (_, text) = text.split_once(&head).unwrap();
                    let text = text.split("\n======== text ").next().unwrap();
                    text.trim().len()
                });
                // A file that only names the licences does not contain one.
                let longest = lengths.max().unwrap();
                assert!(longest > 500, "{name} has no text: {longest} bytes at most");
                with_texts.insert(name.to_owned());
            }
            None if !line.starts_with(' ') => name = line,
            None => {}
        }
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let args = [
        "metadata",
        "--locked",
        "--offline",
        "--format-version=1",
        "--filter-platform",
        TARGET,
    ];
    let metadata: serde_json::Value = serde_json::from_str(&output(&cargo, &args)).unwrap();
    let linked = linked(&metadata);
    assert!(linked.len() > 150, "{}", linked.len());
    let missing: Vec<&String> = linked.difference(&with_texts).collect();
    // Cargo's graph includes all features of the workspace's tests; the packages are built without these.
    let args = [
        "tree",
        "--locked",
        "--offline",
        "-p",
        "dbdyno",
        "-e",
        "normal",
        "--prefix",
        "none",
        "--target",
        TARGET,
    ];
    let built = output(&cargo, &args);
    let is_built = |it: &&&String| {
        built
            .lines()
            .any(|line| line.replacen(" v", " ", 1).trim_end_matches(" (*)") == ***it)
    };
    let missing: Vec<_> = missing.iter().filter(is_built).collect();
    assert!(missing.is_empty(), "without a notice: {missing:?}");
    for notice in ["blessing", "Bitstream Vera Fonts Copyright", "BoringSSL"] {
        assert!(texts.contains(notice), "{notice}");
    }
}

/// Name and version of dbdyno's dependencies, except build and test dependencies and the workspace's own crates.
fn linked(metadata: &serde_json::Value) -> BTreeSet<String> {
    let packages = metadata["packages"].as_array().unwrap();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let by_id =
        |of: &'_ [serde_json::Value], id: &str| of.iter().position(|it| it["id"] == id).unwrap();
    let root = packages.iter().find(|it| it["name"] == "dbdyno").unwrap();
    let mut open = vec![root["id"].as_str().unwrap()];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        for dep in nodes[by_id(nodes, id)]["deps"].as_array().unwrap() {
            let kinds = dep["dep_kinds"].as_array().unwrap();
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                open.push(dep["pkg"].as_str().unwrap());
            }
        }
    }
    let foreign = seen.iter().map(|id| &packages[by_id(packages, id)]);
    let foreign = foreign.filter(|package| !package["source"].is_null());
    let named = foreign.map(|it| {
        format!(
            "{} {}",
            it["name"].as_str().unwrap(),
            it["version"].as_str().unwrap()
        )
    });
    named.collect()
}
