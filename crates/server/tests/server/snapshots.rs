//! Tests of snapshots of private servers: named ones, damaged ones, and those of a running server.

use std::fs;
use std::path::Path;

use server::{Error, Installation, Lifetime, Method, Server, Settings};

fn create(dir: &Path, set: &[(&str, &str)]) -> Server {
    let settings = Settings {
        // Small, so that many servers at once do no harm.
        set: [("innodb_buffer_pool_size", "16M")]
            .iter()
            .chain(set)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Settings::default()
    };
    Server::create(dir, &Installation::find(None, None).unwrap(), &settings).unwrap()
}

/// Names of the files at the top of a snapshot's data.
fn names(snapshot: &Path) -> Vec<String> {
    let entries = fs::read_dir(snapshot.join("data")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn named_ones_are_listed_and_removed_and_have_no_binary_log() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"), &[("log_bin", "events")]);
    server.start(Lifetime::Owned).unwrap();
    server.stop().unwrap();
    assert!(server.datadir().join("events.000001").exists());
    assert!(server.snapshots().unwrap().is_empty());
    // The remains of a killed dbdyno.
    let left_behind = server.named_snapshot(".half.partial");
    fs::create_dir_all(&left_behind).unwrap();
    fs::write(left_behind.join("dbdyno-unfinished"), "").unwrap();
    // A directory of another program with such a name.
    let theirs = server.named_snapshot(".theirs.partial");
    fs::create_dir_all(theirs.join("thesis")).unwrap();
    for name in ["first", "second"] {
        server
            .snapshot(&server.named_snapshot(name), Some(3))
            .unwrap();
    }
    let listed = server.snapshots().unwrap();
    let found: Vec<&str> = listed.iter().map(|named| named.name.as_str()).collect();
    assert_eq!(found, ["first", "second"]);
    assert!(!left_behind.exists());
    assert!(theirs.join("thesis").exists());
    let first = listed[0].snapshot.as_ref().unwrap();
    assert_eq!(first.tables(), Some(3));
    assert!(matches!(
        first.method(),
        Method::Copy | Method::SharedBlocks
    ));
    assert!(first.bytes() > 1 << 20 && first.files() > 10);
    let of_a_log = |name: &String| name.starts_with("events");
    assert!(!names(first.path()).iter().any(of_a_log));

    server.remove_snapshot("first").unwrap();
    assert_eq!(server.snapshots().unwrap().len(), 1);
    let Err(Error::NoSnapshot { there, .. }) = server.remove_snapshot("first") else {
        panic!("it was removed already");
    };
    assert_eq!(there, ["second"]);

    // A server without its binary log begins a new one.
    server.restore(&server.named_snapshot("second")).unwrap();
    assert!(!server.datadir().join("events.000001").exists());
    server.start(Lifetime::Owned).unwrap();
    assert!(server.datadir().join("events.000001").exists());
}

#[test]
fn a_damaged_one_is_found_while_the_present_data_is_still_there() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"), &[]);
    let good = server.named_snapshot("good");
    server.snapshot(&good, None).unwrap();
    let file = good.join("data/ibdata1");
    let before = fs::read(&file).unwrap();
    let mut other = before.clone();
    other[0] ^= 1;
    for (damaged, told) in [
        (Some(&before[..before.len() / 2]), "ibdata1 has "),
        (Some(&other[..]), "ibdata1 has other content"),
        (None, "ibdata1 is missing"),
    ] {
        match damaged {
            Some(bytes) => fs::write(&file, bytes).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let error = server.restore(&good).unwrap_err();
        assert!(matches!(error, Error::SnapshotDamaged { .. }), "{error}");
        assert!(error.to_string().contains(told), "{error}");
        assert!(server.datadir().join("ibdata1").exists());
    }
    fs::write(&file, &before).unwrap();
    server.restore(&good).unwrap();
}

#[test]
fn a_draft_that_is_given_up_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let server = create(&root.path().join("one"), &[]);
    let to = server.named_snapshot("one");
    let draft = server.draft_snapshot(&to).unwrap();
    fs::create_dir(draft.data()).unwrap();
    assert!(
        matches!(server.draft_snapshot(&to), Err(Error::Busy { .. })),
        "one at a time"
    );
    drop(draft);
    let left = fs::read_dir(to.parent().unwrap()).unwrap().count();
    assert_eq!(left, 0);
}

/// Skipped if mariadb-backup is not installed; the script that installs the tests' packages names it.
#[test]
fn a_running_server_is_backed_up() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"), &[]);
    server.start(Lifetime::Owned).unwrap();
    let online = server.named_snapshot("online");
    let draft = server.draft_snapshot(&online).unwrap();
    match server.back_up(&draft) {
        Err(Error::NoBackup { .. }) => return,
        backed_up => backed_up.unwrap(),
    }
    let snapshot = draft.finish(Method::MariadbBackup, Some(0)).unwrap();
    assert!(server.is_running());
    let notes = |name: &String| name.contains("backup");
    assert!(
        !names(snapshot.path()).iter().any(notes),
        "{:?}",
        names(snapshot.path())
    );
    server.stop().unwrap();
    server.restore(&online).unwrap();
    server.start(Lifetime::Owned).unwrap();
}

#[test]
fn a_duplicate_has_the_data_and_leaves_the_original_alone() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"), &[]);
    let copy = root.path().join("copy");
    let wider = Settings {
        set: [("innodb_buffer_pool_size".to_owned(), "32M".to_owned())].into(),
        ..Settings::default()
    };
    server.start(Lifetime::Owned).unwrap();
    assert!(matches!(
        server.duplicate(&copy, &wider),
        Err(Error::Running { .. })
    ));
    assert!(!copy.exists());
    server.stop().unwrap();
    let other = Settings {
        set: [("innodb_page_size".to_owned(), "8K".to_owned())].into(),
        ..Settings::default()
    };
    assert!(matches!(
        server.duplicate(&copy, &other),
        Err(Error::FixedAtCreation { .. })
    ));
    fs::create_dir(server.datadir().join("shop")).unwrap();
    let mut duplicate = server.duplicate(&copy, &wider).unwrap();
    assert!(duplicate.datadir().join("shop").is_dir());
    let options = fs::read_to_string(copy.join("my.cnf")).unwrap();
    assert!(
        options.contains("32M") && !options.contains("16M"),
        "{options}"
    );
    // Comments name the lines that were replaced.
    let original = root.path().join("one");
    let mut set = options.lines().filter(|line| !line.starts_with('#'));
    assert!(
        !set.any(|line| line.contains(original.to_str().unwrap())),
        "{options}"
    );
    // The accounts of the original are in the data, and both run side by side.
    duplicate.start(Lifetime::Owned).unwrap();
    server.start(Lifetime::Owned).unwrap();
    assert!(duplicate.port() != server.port() && duplicate.is_running() && server.is_running());
    duplicate.destroy().unwrap();
    assert!(!copy.exists() && server.is_running());
}
