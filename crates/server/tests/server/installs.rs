//! Tests of installing servers from files on this machine; from packages only if `DBDYNO_MATRIX` is set.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use server::{
    Error, InstallError, Installation, Installed, Lifetime, Server, Settings, install, installed,
    uninstall,
};

fn settings() -> Settings {
    Settings {
        set: BTreeMap::from([("innodb_buffer_pool_size".to_owned(), "16M".to_owned())]),
        ..Settings::default()
    }
}

fn quietly(root: &Path, name: &str, from: Option<&Path>) -> Result<Installed, Error> {
    install(root, name, from, &mut |_| {})
}

/// Creates a server from an installation, starts it twice and destroys it.
fn lives(root: &Path, installation: &Installation) {
    let mut server = Server::create(&root.join("alive"), installation, &settings()).unwrap();
    for _ in 0..2 {
        server.start(Lifetime::Owned).unwrap();
        server.stop().unwrap();
    }
    server.destroy().unwrap();
}

#[test]
fn a_binary_or_a_directory_is_registered_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("installs");
    let here = Installation::find(None, None).unwrap();
    let one = quietly(&root, "one", Some(&here.mysqld)).unwrap();
    assert_eq!(one.installation, here);
    let two = quietly(&root, "two", here.mysqld.parent()).unwrap();
    assert_eq!(two.installation.mysqld, here.mysqld);
    lives(dir.path(), &one.installation);

    let names: Vec<String> = installed(&root)
        .unwrap()
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["one", "two"]);
    let again = quietly(&root, "one", Some(&here.mysqld)).unwrap_err();
    assert_eq!(again.to_string(), "one: installed already");
    for name in ["one", "two"] {
        uninstall(&root, name, &dir.path().join("servers")).unwrap();
    }
    assert!(here.mysqld.exists(), "only the registration goes");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

/// This machine's server packed as an archive with the directories that it needs.
fn archive_of(here: &Installation, path: &Path) {
    let mut tar = tar::Builder::new(File::create(path).unwrap());
    tar.append_path_with_name(&here.mysqld, "some-1.0/bin/mariadbd")
        .unwrap();
    let share = here.character_sets_dir().unwrap();
    tar.append_dir_all("some-1.0/share", share.parent().unwrap())
        .unwrap();
    tar.finish().unwrap();
}

#[test]
fn an_archive_is_unpacked_and_kept_while_it_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let (root, servers) = (dir.path().join("installs"), dir.path().join("servers"));
    let here = Installation::find(None, None).unwrap();
    let archive = dir.path().join("some-1.0.tar");
    archive_of(&here, &archive);
    // The remains of a dbdyno that was killed while it installed this.
    fs::create_dir_all(root.join(".mine/tree/bin")).unwrap();
    fs::write(root.join(".mine/tree/bin/mariadbd"), "half").unwrap();
    fs::write(root.join(".mine/dbdyno-unfinished"), "").unwrap();
    assert!(installed(&root).unwrap().is_empty());

    let mine = quietly(&root, "mine", Some(&archive)).unwrap();
    assert!(mine.installation.mysqld.starts_with(root.join("mine")));
    assert!(mine.disk_bytes > 1 << 20);
    assert_eq!(
        fs::read_dir(&root).unwrap().count(),
        1,
        "nothing half-done is left"
    );
    fs::remove_file(&archive).unwrap();
    lives(dir.path(), &mine.installation);

    let server = Server::create(&servers.join("user"), &mine.installation, &settings()).unwrap();
    let used = uninstall(&root, "mine", &servers).unwrap_err();
    assert!(
        matches!(used, Error::Install(InstallError::InUse { .. })),
        "{used}"
    );
    server.destroy().unwrap();
    uninstall(&root, "mine", &servers).unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_installed_is_named_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("installs");
    let text = dir.path().join("mysql.tar.gz");
    fs::write(&text, "<html>").unwrap();
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let program = std::env::current_exe().unwrap();
    for (name, from, message) in [
        (
            "oracle-23",
            None,
            "oracle-23: no server of this name can be installed",
        ),
        (
            "../x",
            Some(text.as_path()),
            "\"../x\" is not a valid name for an installed server",
        ),
        (
            "x",
            Some(text.as_path()),
            "cannot unpack: it is neither tar, gzip, xz nor zip",
        ),
        (
            "x",
            Some(empty.as_path()),
            "contains neither mariadbd nor mysqld",
        ),
        ("x", Some(program.as_path()), "not usable as a server"),
        ("x", Some(Path::new("/nonexistent/x")), "No such file"),
    ] {
        let error = quietly(&root, name, from).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        let left = fs::read_dir(&root).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{name} {message}");
    }
    let missing = uninstall(&root, "x", &root).unwrap_err();
    assert_eq!(missing.to_string(), "x: not installed");
}

#[test]
fn packages_become_servers() {
    if std::env::var_os("DBDYNO_MATRIX").is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("installs");
    // One of each kind: npm, Maven and Debian.
    for name in ["mysql-5.6", "mysql-5.7", "mariadb-11.8"] {
        let one = quietly(&root, name, None).unwrap();
        assert_eq!(one.name, name);
        lives(dir.path(), &one.installation);
        uninstall(&root, name, &dir.path().join("servers")).unwrap();
    }
}
