//! Published benchmarks as their authors ran them: `experiments/*/as-published.toml`, scaled down, with the audit's
//! findings in their records. docs/published-benchmarks.md describes these.

use crate::{
    audited::Audited,
    scene::Scene,
    shipped::{experiments, on_one_disk, run},
};

#[test]
#[ignore = "a long round: make test-all"]
fn sizing_of_2007() {
    let scene = Scene::for_servers();
    experiments(&scene);
    let smaller = [
        "--scale",
        "0.005",
        "--only",
        "connections=16",
        "--only",
        "mix=1:0,1:1",
        "--only",
        "rows=0.5x",
    ];
    run(&scene, "hp-sizing/as-published", &smaller);
    let audit = Audited::of(&scene, &["out"]);
    // Found by the author: the query cache and its lock.
    audit
        .finds_one_of("C06", &["note", "warn"], "the query cache is on")
        .finds("C07", "warn", "answered from the query cache")
        .finds("W02", "note", "the data fits into memory")
        .finds("W05", "pass", "the dictionary word returns")
        .finds("W06", "note", "drawn uniform");
    // Overlooked by the author.
    audit
        .finds("M01", "fail", "1 execution of each combination")
        .finds("C03", "warn", "has only 1 execution; at least 3")
        .finds("C01", "fail", "sync_binlog=0")
        .finds("H11", "warn", "unix socket")
        .finds("C12", "pass", "as requested");
}

/// The setting that the paper's first appendix warns of: most of the keys are never requested.
#[test]
#[ignore = "a long round: make test-all"]
fn dictionary_of_2007() {
    let scene = Scene::for_servers();
    experiments(&scene);
    let smack = scene.path().join("experiments/smacks/hp-sizing.smack");
    let text = std::fs::read_to_string(&smack).unwrap();
    let as_shipped = text.replace("file_size_equiv \"0\"", "file_size_equiv \"45000\"");
    assert_ne!(as_shipped, text);
    std::fs::write(&smack, as_shipped).unwrap();
    let smaller = [
        "--scale",
        "0.005",
        "--only",
        "connections=16",
        "--only",
        "mix=1:0",
        "--only",
        "rows=5x",
        "--only",
        "query_cache=64M",
    ];
    run(&scene, "hp-sizing/as-published", &smaller);
    Audited::of(&scene, &["out"])
        .finds("W05", "fail", "the dictionary word returns")
        .finds("W04", "fail", "draws could have requested");
}

/// Omits one of the article's four combinations: its factors also cross in three, and each combination is loaded and
/// checked twice.
fn leave_one_out(scene: &Scene) {
    let file = (scene.path()).join("experiments/ssd-mycnf/as-published.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let exclude = "\n[[exclude]]\nfs = \"ext4\"\nmycnf = \"full\"\n";
    std::fs::write(&file, text + exclude).unwrap();
}

#[test]
#[ignore = "a long round: make test-all"]
fn my_cnf_of_2012() {
    let scene = Scene::for_servers();
    experiments(&scene);
    on_one_disk(&scene, "ssd-mycnf/as-published");
    leave_one_out(&scene);
    run(&scene, "ssd-mycnf/as-published", &["--scale", "0.0025"]);
    let audit = Audited::of(&scene, &["out"]);
    // Admitted by the author.
    audit.finds("M01", "fail", "1 execution of each combination");
    // Overlooked by the author.
    audit
        .finds(
            "C03",
            "warn",
            "a combination of the 2 factors has only 1 execution",
        )
        .finds("C01", "fail", "sync_binlog=0")
        .finds("C02", "note", "mycnf changes 2 things at once")
        .finds("H08", "warn", "all runs had 10 connections")
        .finds("H11", "warn", "unix socket")
        .finds("M11", "warn", "periods")
        .finds("W02", "pass", "larger than the buffer pool")
        .finds(
            "W11",
            "pass",
            "hold directly after loading and after the run",
        )
        .finds("C10", "note", "the binary log is on");
}

/// On MySQL 8.0.33, if it is installed on the machine.
#[test]
#[ignore = "a long round: make test-all"]
fn redo_log_of_2020() {
    let installs = server::installs_root().expect("HOME is set");
    if !installs.join("mysql-8.0.33").exists() {
        eprintln!("skipped: dbdyno server install mysql-8.0.33");
        return;
    }
    // In memory nothing would last, whatever the redo log does: the audit says that as well.
    let scene = Scene::for_servers_on_disk();
    scene.link_installs();
    experiments(&scene);
    let smaller = [
        "--scale",
        "0.1",
        "--only",
        "version=mysql-8.0.33",
        "--only",
        "keys=primary",
    ];
    run(&scene, "bulk-load/as-published", &smaller);
    Audited::of(&scene, &["out"])
        // Noticed later by the author.
        .finds("C04", "fail", "its default size of 128 MiB")
        // Known to the author, and declared in this experiment.
        .finds(
            "C08",
            "note",
            "the redo log was disabled while lineitem was loaded",
        )
        .finds(
            "C01",
            "note",
            "redo log is disabled, as the experiment declares",
        )
        // Overlooked by the author.
        .finds("M01", "fail", "1 execution of each combination")
        .finds("C09", "warn", "redo log");
}
