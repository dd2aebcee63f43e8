//! Tests that many life cycles of servers, sequential and parallel, leave nothing behind.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use server::{Installation, Lifetime, Server, Settings, installed, installs_root};

/// Cycles of an ordinary test run; `DBDYNO_MATRIX` runs more.
const CYCLES: usize = 4;
const CYCLES_OF_MATRIX: usize = 200;

fn settings() -> Settings {
    Settings {
        set: BTreeMap::from([("innodb_buffer_pool_size".to_owned(), "16M".to_owned())]),
        ..Settings::default()
    }
}

fn is_matrix() -> bool {
    std::env::var_os("DBDYNO_MATRIX").is_some()
}

/// The processes with a path in their command line.
fn processes_of(path: &Path) -> Vec<String> {
    let words = path.as_os_str().as_encoded_bytes();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            line.windows(words.len()).any(|part| part == words)
        })
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .collect()
}

/// One full life cycle with a crash in it; afterwards the port is free and the directory removed.
fn cycle(dir: &Path, installation: &Installation) {
    let mut server = Server::create(dir, installation, &settings()).unwrap();
    server.start(Lifetime::Owned).unwrap();
    server.kill().unwrap();
    assert!(!server.is_running());
    server.start(Lifetime::Owned).unwrap();
    let (port, socket) = (server.port(), server.socket());
    server.destroy().unwrap();
    assert!(!dir.exists() && !socket.exists());
    TcpListener::bind(("127.0.0.1", port)).unwrap();
}

#[test]
fn many_lives_leave_nothing() {
    // Too long for a socket: each cycle makes a directory elsewhere for it, which has to be removed as well.
    let root = tempfile::tempdir().unwrap();
    let long = root.path().join("a-directory-with-a-long-name-".repeat(4));
    fs::create_dir(&long).unwrap();
    let installation = Installation::find(None, None).unwrap();
    let cycles = if is_matrix() {
        CYCLES_OF_MATRIX
    } else {
        CYCLES
    };
    let mut sockets: Vec<PathBuf> = Vec::new();
    for number in 0..cycles {
        let dir = match number % 2 {
            0 => root.path().join("short"),
            _ => long.join("deep"),
        };
        let before = socket_directories();
        cycle(&dir, &installation);
        sockets.extend(socket_directories().into_iter().filter(|dir| {
            let owner = fs::read(dir.join("dbdyno-socket-of")).unwrap_or_default();
            !before.contains(dir) && owner.starts_with(root.path().as_os_str().as_encoded_bytes())
        }));
    }
    assert!(sockets.is_empty(), "{sockets:?}");
    assert_eq!(processes_of(root.path()), [] as [String; 0]);
    assert_eq!(fs::read_dir(&long).unwrap().count(), 0);
}

/// The socket directories in other locations, of any dbdyno process.
fn socket_directories() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let parent = runtime
        .filter(|dir| dir.is_dir())
        .unwrap_or_else(std::env::temp_dir);
    let entries = fs::read_dir(parent)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    entries
        .filter(|path| path.join("dbdyno-socket-of").exists())
        .collect()
}

#[test]
fn lives_side_by_side_do_not_disturb_each_other() {
    let root = tempfile::tempdir().unwrap();
    let installation = Installation::find(None, None).unwrap();
    std::thread::scope(|scope| {
        for name in ["one", "two", "three"] {
            let dir = root.path().join(name);
            let installation = &installation;
            scope.spawn(move || (0..2).for_each(|_| cycle(&dir, installation)));
        }
    });
    assert_eq!(processes_of(root.path()), [] as [String; 0]);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn every_installed_version_survives_a_crash() {
    let root = tempfile::tempdir().unwrap();
    let installed = match installs_root().filter(|_| is_matrix()) {
        Some(root) => installed(&root).unwrap(),
        None => Vec::new(),
    };
    for one in installed {
        cycle(&root.path().join(&one.name), &one.installation);
    }
}
