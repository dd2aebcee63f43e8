//! `dbdyno completions` and `dbdyno man`: generated for every command, and accepted by the programs that read them.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::scene::Scene;

/// The commands that `dbdyno help` lists.
fn commands(scene: &Scene) -> BTreeSet<String> {
    let help = scene.dbdyno(["--help"]).exits(0).text();
    let listed = help.lines().take_while(|line| *line != "Options:");
    // The description of a command may continue in an indented line.
    let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let listed = listed.filter(|line| !line.starts_with("  Example:"));
    let names = listed.filter_map(|line| line.split_whitespace().next());
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    assert!(names.len() > 15 && names.contains("run"), "{names:?}");
    names
}

/// Checks a file with a program, if it is installed; the program must report no error.
fn is_taken_by(program: &str, args: &[&str], file: &Path) {
    let mut command = Command::new(program);
    command.args(args).arg(file).stdin(Stdio::null());
    let Ok(output) = command.output() else {
        eprintln!("skipped: {program} is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {}: {said}",
        file.display()
    );
    assert!(said.is_empty(), "{program} {}: {said}", file.display());
}

/// bash's completions for the last of these words.
fn offered(scene: &Scene, words: &[&str]) -> Vec<String> {
    let mut dbdyno = Command::new(env!("CARGO_BIN_EXE_dbdyno"));
    dbdyno.env("DBDYNO_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    dbdyno.env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
    let words = ["--"].iter().chain(words);
    let text = scene.launch(dbdyno, words).finish().exits(0).text();
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[test]
fn every_shell_takes_its_completions() {
    let scene = Scene::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = scene.dbdyno(["completions", shell]).exits(0).text();
        assert!(script.contains("DBDYNO_COMPLETE"), "{shell}: {script}");
        let file = scene.file(shell, &script);
        is_taken_by(shell, &["-n"], &file);
    }
    scene.dbdyno(["completions", "tcsh"]).exits(2);
}

#[test]
fn a_shell_is_offered_commands_options_and_what_dbdyno_knows() {
    let scene = Scene::new();
    let all = offered(&scene, &["dbdyno", ""]);
    for name in commands(&scene) {
        assert!(all.contains(&name), "{name}: {all:?}");
    }
    scene.file("scan.toml", "format = 1\n[matrix]\nconnections = [1, 16]\n[server]\nrun = \"mariadb\"\n\
        [data]\noltp = { tables = 1 }\n[load]\noltp = { script = \"read_only\" }\nconnections = \"{connections}\"\nduration = \"1s\"\n");
    std::fs::create_dir_all(scene.path().join("results/quick-7")).unwrap();
    let asked: [(&[&str], &str); 9] = [
        (&["dbdyno", "server", "sn"], "snapshot"),
        // A front door with its own options, and one of another family.
        (&["dbdyno", "oltp", "--rand-sp"], "--rand-spec-iter"),
        (
            &["dbdyno", "mysqlslap", "--auto-generate-sql-l"],
            "--auto-generate-sql-load-type",
        ),
        (&["dbdyno", "server", "install", "mysql-5"], "mysql-5.6"),
        (&["dbdyno", "audit", "res"], "results/quick-7"),
        (
            &["dbdyno", "compare", "results/quick-7", "results/q"],
            "results/quick-7",
        ),
        (&["dbdyno", "audit", "--explain", "H1"], "H14"),
        (
            &["dbdyno", "run", "scan.toml", "--only", "conn"],
            "connections=16",
        ),
        (&["dbdyno", "oltp", "read_o"], "read_only"),
    ];
    for (words, wanted) in asked {
        let found = offered(&scene, words);
        assert!(found.iter().any(|it| it == wanted), "{words:?}: {found:?}");
    }
}

#[test]
fn every_command_has_a_man_page() {
    let scene = Scene::new();
    scene.dbdyno(["man", "man1"]).exits(0);
    let directory = scene.path().join("man1");
    for name in commands(&scene).iter().filter(|name| *name != "help") {
        let file = directory.join(format!("dbdyno-{name}.1"));
        assert!(file.exists(), "{}", file.display());
    }
    for name in ["dbdyno.1", "dbdyno-server-create.1", "dbdyno-tpcc-run.1"] {
        assert!(directory.join(name).exists(), "{name}");
    }
    for internal in [
        "event-guard",
        "group-guard",
        "redo-log-guard",
        "variables-guard",
    ] {
        assert!(!directory.join(format!("dbdyno-{internal}.1")).exists());
    }
    for entry in fs::read_dir(&directory).unwrap() {
        let file = entry.unwrap().path();
        // Errors only: long lines and other style faults come from the generator.
        is_taken_by("mandoc", &["-T", "lint", "-W", "error"], &file);
    }
    let page = directory.join("dbdyno-report.1");
    is_taken_by("man", &["--warnings", "-l"], &page);
    scene.file("taken", "");
    scene.dbdyno(["man", "taken"]).exits(2).says("taken: ");
}
