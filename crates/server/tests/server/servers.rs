//! Tests of private servers with the installed MariaDB: creation, start, stop, crash and removal.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use blame::Blame;
use protocol::{Address, Endpoint};
use server::{Error, Installation, Lifetime, Server, Settings, destroy, list, sweep};

fn installation() -> Installation {
    Installation::find(None, None).unwrap()
}

fn settings(set: &[(&str, &str)]) -> Settings {
    let set = set
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings {
        // Small, so that many servers at once do no harm.
        set: BTreeMap::from([("innodb_buffer_pool_size".to_owned(), "16M".to_owned())])
            .into_iter()
            .chain(set)
            .collect(),
        ..Settings::default()
    }
}

fn create(dir: &Path) -> Server {
    Server::create(dir, &installation(), &settings(&[])).unwrap()
}

fn read_version(mut stream: impl Read) -> String {
    let mut greeting = [0; 200];
    let read = stream.read(&mut greeting).unwrap();
    let text = greeting[5..read].split(|&byte| byte == 0).next().unwrap();
    String::from_utf8(text.to_vec()).unwrap()
}

/// The version in the greeting, over an endpoint.
fn greeted(endpoint: &Endpoint) -> String {
    match &endpoint.address {
        Address::Unix(path) => read_version(UnixStream::connect(path).unwrap()),
        Address::Tcp { host, port } => {
            read_version(TcpStream::connect((host.as_str(), *port)).unwrap())
        }
    }
}

/// Runs SQL with the command-line client and client.cnf.
fn client(server: &Server, group_suffix: &str, sql: &str, more: &[&str]) -> String {
    let output = Command::new("mariadb")
        .arg(format!(
            "--defaults-file={}",
            server.client_file().display()
        ))
        .arg(format!("--defaults-group-suffix={group_suffix}"))
        .args(more)
        .args(["-BN", "-e", sql])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// The time between two looks at a condition, and how many looks are enough on the busiest machine.
const POLL: Duration = Duration::from_millis(20);
const LOOKS: u32 = 15_000;

fn wait_until_gone(pid: u32) {
    for _ in 0..LOOKS {
        if is_gone(pid) {
            return;
        }
        std::thread::sleep(POLL);
    }
    panic!("process {pid} still runs");
}

/// A field of /proc/PID/stat, counted from 3 (the state) as proc(5) does.
fn stat_field(pid: u32, number: usize) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit_once(") ").unwrap().1;
    rest.split(' ').nth(number - 3).unwrap().to_owned()
}

/// The scheduler shares the processor between sessions: the same server must not be slower for how it was started.
#[test]
fn a_server_has_a_session_of_its_own_whatever_its_lifetime() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"));
    for lifetime in [Lifetime::Owned, Lifetime::Detached] {
        server.start(lifetime).unwrap();
        let pid = server.pid().unwrap();
        assert_eq!(stat_field(pid, 6), pid.to_string(), "{lifetime:?}");
        assert_eq!(stat_field(pid, 5), pid.to_string(), "{lifetime:?}");
        let autogroup = |pid: u32| fs::read_to_string(format!("/proc/{pid}/autogroup")).ok();
        let ours = autogroup(std::process::id());
        // Without the feature there is no such file.
        assert!(ours.is_none() || autogroup(pid) != ours, "{lifetime:?}");
        server.stop().unwrap();
    }
    server.destroy().unwrap();
}

#[test]
fn a_server_lives_and_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("one");
    let mut server = create(&dir);
    assert!(!server.is_running());
    assert!(matches!(server.stop(), Err(Error::NotRunning { .. })));

    server.start(Lifetime::Owned).unwrap();
    let version = server.installation().unwrap().version;
    assert!(greeted(&server.endpoint()).ends_with(&version));
    assert!(greeted(&server.tcp_endpoint()).ends_with(&version));
    assert!(matches!(
        server.start(Lifetime::Owned),
        Err(Error::Running { .. })
    ));
    assert!(server.uptime().unwrap() < Duration::from_secs(60));
    assert!(server.data_bytes().unwrap() > 1 << 20);

    let pid = server.pid().unwrap();
    server.stop().unwrap();
    assert!(is_gone(pid) && !server.is_running());
    server.start(Lifetime::Owned).unwrap();
    let pid = server.pid().unwrap();
    let port = server.port();
    server.destroy().unwrap();
    assert!(is_gone(pid) && !dir.exists());
    TcpListener::bind(("127.0.0.1", port)).unwrap();
}

#[test]
fn accounts_are_bench_and_root_only() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"));
    server.start(Lifetime::Owned).unwrap();
    let sql = "SELECT CURRENT_USER(), DATABASE()";
    let tcp = ["--protocol=tcp", "--host=127.0.0.1", "--database=test"];
    assert_eq!(
        client(&server, "", sql, &["--database=test"]),
        "bench@%\ttest\n"
    );
    assert_eq!(client(&server, "", sql, &tcp), "bench@%\ttest\n");
    assert_eq!(client(&server, "-root", sql, &[]), "root@localhost\tNULL\n");
    let accounts = "SELECT user, host FROM mysql.user WHERE user <> 'mariadb.sys' AND is_role = 'N' ORDER BY 1";
    assert_eq!(
        client(&server, "", accounts, &[]),
        "bench\t%\nroot\tlocalhost\n"
    );

    let passwords: Vec<String> = fs::read_to_string(server.client_file())
        .unwrap()
        .lines()
        .filter_map(|line| Some(line.strip_prefix("password = ")?.to_owned()))
        .collect();
    assert_eq!(passwords.len(), 2);
    let arguments = fs::read(format!("/proc/{}/cmdline", server.pid().unwrap())).unwrap();
    let seen = String::from_utf8_lossy(&arguments).into_owned() + &server.log_tail(10_000);
    assert!(passwords.iter().all(|password| !seen.contains(password)));
}

#[test]
fn database_test_follows_the_servers_character_set() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("one");
    let wanted = settings(&[("character_set_server", "utf8mb4")]);
    let mut server = Server::create(&dir, &installation(), &wanted).unwrap();
    for character_set in ["utf8mb4", "latin1"] {
        server
            .reconfigure(&settings(&[("character-set-server", character_set)]))
            .unwrap();
        server.start(Lifetime::Owned).unwrap();
        let shown = client(
            &server,
            "",
            "SELECT @@character_set_database",
            &["--database=test"],
        );
        assert_eq!(shown.trim(), character_set);
        server.stop().unwrap();
    }
}

#[test]
fn an_unknown_option_is_refused_before_anything_is_made() {
    let root = tempfile::tempdir().unwrap();
    let cnf = root.path().join("my.cnf");
    fs::write(&cnf, "[mysqld]\nno_such_variable = 1\n").unwrap();
    let wanted = Settings {
        cnf: vec![cnf],
        ..settings(&[])
    };
    let directory = root.path().join("one");
    let Err(error) = Server::create(&directory, &installation(), &wanted) else {
        panic!("no version knows this option");
    };
    assert!(matches!(error, Error::Rejected { .. }), "{error}");
    assert!(error.to_string().contains("no_such_variable"), "{error}");
    assert_eq!(error.blame(), Blame::Input);
    assert!(!directory.exists());
}

#[test]
fn a_server_that_dies_at_start_shows_its_log() {
    let root = tempfile::tempdir().unwrap();
    let wanted = settings(&[("ssl_ca", "/nowhere/ca.pem")]);
    let mut server = Server::create(&root.path().join("one"), &installation(), &wanted).unwrap();
    let error = server.start(Lifetime::Owned).unwrap_err();
    assert!(matches!(error, Error::DiedAtStart { .. }), "{error}");
    assert!(error.to_string().contains("SSL"), "{error}");
    assert_eq!(error.blame(), Blame::Server);
    assert!(!server.is_running());

    server.reconfigure(&settings(&[])).unwrap();
    server.start(Lifetime::Owned).unwrap();
}

#[test]
fn a_production_file_touches_nothing_of_productions() {
    let root = tempfile::tempdir().unwrap();
    let cnf = root.path().join("my.cnf");
    let production = root.path().join("production");
    fs::create_dir(&production).unwrap();
    let text = "[client]\nport=3306\n[mysqld]\ndatadir=P\nsocket=P/mysql.sock\nlog-bin=P/bin\n\
                innodb_log_group_home_dir=P\nskip-networking\nuser=mysql\nquery_cache_size=8M\n";
    fs::write(&cnf, text.replace('P', &production.display().to_string())).unwrap();
    let wanted = Settings {
        cnf: vec![cnf],
        ..settings(&[])
    };
    let mut server = Server::create(&root.path().join("one"), &installation(), &wanted).unwrap();
    assert_eq!(server.replaced().len(), 6, "{:?}", server.replaced());
    server.start(Lifetime::Owned).unwrap();
    greeted(&server.tcp_endpoint());
    let shown = client(&server, "", "SELECT @@query_cache_size, @@log_bin", &[]);
    assert_eq!(shown, "8388608\t1\n");
    assert_eq!(fs::read_dir(&production).unwrap().count(), 0);
}

#[test]
fn a_directory_of_somebody_else_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let foreign = root.path().join("data");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("ibdata1"), "precious").unwrap();
    let refused = [
        Server::create(&foreign, &installation(), &settings(&[])).unwrap_err(),
        Server::open(&foreign).unwrap_err(),
        destroy(&foreign).unwrap_err(),
    ];
    for error in refused {
        assert!(matches!(error, Error::Foreign { .. }), "{error}");
        assert_eq!(error.blame(), Blame::Input);
    }
    assert!(matches!(
        Server::open(&root.path().join("none")),
        Err(Error::Missing { .. })
    ));
    assert_eq!(sweep(root.path()).unwrap(), [] as [PathBuf; 0]);
    assert_eq!(fs::read(foreign.join("ibdata1")).unwrap(), b"precious");
}

#[test]
fn of_two_creators_one_has_the_name() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("one");
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| Server::create(&dir, &installation(), &settings(&[]))))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let errors: Vec<_> = results
        .iter()
        .filter_map(|result| result.as_ref().err())
        .collect();
    assert!(
        matches!(
            errors[..],
            [Error::NameTaken { .. } | Error::Foreign { .. }]
        ),
        "{errors:?}"
    );
    results
        .into_iter()
        .flatten()
        .next()
        .unwrap()
        .start(Lifetime::Owned)
        .unwrap();
}

#[test]
fn a_named_port_must_be_free_and_another_one_is_found_anew() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"));
    let first = server.port();
    let listener = TcpListener::bind(("127.0.0.1", first)).unwrap();
    server.start(Lifetime::Owned).unwrap();
    assert_ne!(server.port(), first);
    greeted(&server.tcp_endpoint());
    let again = Server::open(server.dir()).unwrap();
    assert_eq!((again.port(), again.pid()), (server.port(), server.pid()));
    assert!(
        fs::read_to_string(server.client_file())
            .unwrap()
            .contains(&format!("port = {}", server.port()))
    );
    server.stop().unwrap();

    let named = Settings {
        port: Some(first),
        ..settings(&[])
    };
    let error = Server::create(&root.path().join("two"), &installation(), &named).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("port {first} on 127.0.0.1: already in use")
    );
    assert!(!root.path().join("two").exists());
    server.reconfigure(&named).unwrap();
    assert!(matches!(
        server.start(Lifetime::Owned),
        Err(Error::PortTaken { .. })
    ));
    drop(listener);
    // A process that another test is starting has a copy of the listener until it executes its program.
    let mut started = server.start(Lifetime::Owned);
    for _ in 0..LOOKS {
        if !matches!(started, Err(Error::PortTaken { .. })) {
            break;
        }
        std::thread::sleep(POLL);
        started = server.start(Lifetime::Owned);
    }
    started.unwrap();
    assert_eq!(server.port(), first);
}

#[test]
fn settings_change_but_not_what_the_data_depends_on() {
    let root = tempfile::tempdir().unwrap();
    let small = settings(&[("innodb_page_size", "4k")]);
    let mut server = Server::create(&root.path().join("one"), &installation(), &small).unwrap();
    let error = server.reconfigure(&settings(&[])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "option innodb_page_size: 4k when the data directory was created, the default now"
    );
    server
        .reconfigure(&settings(&[
            ("innodb-page-size", "4k"),
            ("max_connections", "33"),
        ]))
        .unwrap();
    server.start(Lifetime::Owned).unwrap();
    let shown = client(
        &server,
        "",
        "SELECT @@innodb_page_size, @@max_connections",
        &[],
    );
    assert_eq!(shown, "4096\t33\n");
    assert!(matches!(
        server.reconfigure(&small),
        Err(Error::Running { .. })
    ));
}

#[test]
fn a_path_too_long_for_a_socket_gets_a_short_one() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("a long name ".repeat(12).trim());
    let mut server = create(&dir);
    server.start(Lifetime::Owned).unwrap();
    let socket = server.socket();
    assert!(
        !socket.starts_with(&dir) && socket.as_os_str().len() <= 107,
        "{socket:?}"
    );
    greeted(&server.endpoint());
    server.stop().unwrap();
    // As at a boot.
    fs::remove_dir_all(socket.parent().unwrap()).unwrap();
    server.start(Lifetime::Owned).unwrap();
    let socket = server.socket();
    assert_eq!(client(&server, "", "SELECT 1", &[]), "1\n");
    server.destroy().unwrap();
    assert!(!socket.parent().unwrap().exists());
}

#[test]
fn a_snapshot_comes_back_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let mut server = create(&root.path().join("one"));
    let (good, other) = (root.path().join("snapshot"), root.path().join("other"));
    server.start(Lifetime::Owned).unwrap();
    client(
        &server,
        "",
        "CREATE TABLE test.t (a INT); INSERT INTO test.t VALUES (1), (2)",
        &[],
    );
    assert!(matches!(
        server.snapshot(&good, None),
        Err(Error::Running { .. })
    ));
    server.stop().unwrap();
    server.snapshot(&good, None).unwrap();
    assert!(
        matches!(
            server.snapshot(&good, None),
            Err(Error::SnapshotExists { .. })
        ),
        "it exists already"
    );

    server.start(Lifetime::Owned).unwrap();
    client(
        &server,
        "",
        "INSERT INTO test.t SELECT a + 2 FROM test.t; DROP USER root@localhost",
        &[],
    );
    server.kill().unwrap();
    assert!(matches!(
        server.snapshot(&other, None),
        Err(Error::NotStoppedCleanly { .. })
    ));
    server.restore(&good).unwrap();
    server.start(Lifetime::Owned).unwrap();
    assert_eq!(
        client(&server, "-root", "SELECT SUM(a) FROM test.t", &[]),
        "3\n"
    );
    server.stop().unwrap();

    let manifest = good.join("dbdyno-snapshot.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("10.", "11.")).unwrap();
    let error = server.restore(&good).unwrap_err();
    assert!(matches!(error, Error::SnapshotMismatch { .. }), "{error}");
    server.start(Lifetime::Owned).unwrap();
}

#[test]
fn many_lives_leave_no_process_socket_port_or_file() {
    let root = tempfile::tempdir().unwrap();
    let mut pids = Vec::new();
    let mut server = create(&root.path().join("one"));
    let files = || fs::read_dir(root.path().join("one")).unwrap().count();
    let before = files();
    for round in 0..4 {
        server.start(Lifetime::Owned).unwrap();
        pids.extend(server.pid());
        match round % 2 {
            0 => server.stop().unwrap(),
            _ => server.kill().unwrap(),
        }
    }
    assert_eq!((pids.len(), files()), (4, before));
    assert!(pids.into_iter().all(is_gone));
    assert!(UnixStream::connect(server.socket()).is_err());
    TcpListener::bind(("127.0.0.1", server.port())).unwrap();
    server.destroy().unwrap();
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

/// The environment variable with the task of [`child_process`] in the other process: `create` or `keep`.
const TASK: &str = "DBDYNO_TEST_TASK";
/// The environment variable with the directory of its server.
const DIR: &str = "DBDYNO_TEST_DIR";

/// Not a test of its own: the other process of the tests below. It starts a server, prints a line and waits.
#[test]
fn child_process() {
    let (Some(task), Some(dir)) = (std::env::var_os(TASK), std::env::var_os(DIR)) else {
        return;
    };
    let mut server = create(Path::new(&dir));
    if task == "keep" {
        server.start(Lifetime::Detached).unwrap();
        return;
    }
    server.start(Lifetime::Owned).unwrap();
    greeted(&server.endpoint());
    println!("started");
    // Until it is killed.
    loop {
        std::thread::park();
    }
}

fn spawn_child_process(mut command: Command, task: &str, dir: &Path) -> Child {
    command
        .args(["--exact", "servers::child_process", "--nocapture"])
        .env(TASK, task)
        .env(DIR, dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn this_test() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

fn wait_until_started(child: &mut Child) {
    use std::io::{BufRead, BufReader};
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let said: Vec<String> = lines
        .map_while(|line| line.ok().filter(|line| !line.contains("started")))
        .collect();
    assert!(child.try_wait().unwrap().is_none(), "{said:?}");
}

#[test]
fn a_killed_owner_takes_its_server_along_and_sweeping_removes_the_rest() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("one");
    let kept = create(&root.path().join("two"));
    let mut owner = spawn_child_process(this_test(), "own", &dir);
    wait_until_started(&mut owner);
    let server = Server::open(&dir).unwrap();
    let pid = server.pid().unwrap();
    assert_eq!(
        sweep(root.path()).unwrap(),
        [] as [PathBuf; 0],
        "its owner lives"
    );

    owner.kill().unwrap();
    owner.wait().unwrap();
    wait_until_gone(pid);
    assert_eq!(list(root.path()).unwrap().len(), 2);
    assert_eq!(
        sweep(root.path()).unwrap(),
        [dir.canonicalize().unwrap_or(dir.clone())]
    );
    assert!(!dir.exists() && kept.dir().exists());
}

#[test]
fn a_detached_server_survives_and_is_found_again() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("one");
    let mut other = spawn_child_process(this_test(), "keep", &dir);
    assert!(other.wait().unwrap().success());
    assert_eq!(
        sweep(root.path()).unwrap(),
        [] as [PathBuf; 0],
        "it is kept"
    );
    let mut server = Server::open(&dir).unwrap();
    let pid = server.pid().unwrap();
    assert_eq!(client(&server, "", "SELECT 1", &[]), "1\n");
    server.stop().unwrap();
    wait_until_gone(pid);
    server.start(Lifetime::Detached).unwrap();
    let pid = server.pid().unwrap();
    drop(server);
    assert!(!is_gone(pid), "dropping it does not end it");
    destroy(&dir).unwrap();
    wait_until_gone(pid);
    assert!(!dir.exists());
}

#[test]
fn a_plain_user_needs_no_rights() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: all of these tests run as a plain user already");
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let nobody = 65534;
    std::os::unix::fs::chown(root.path(), Some(nobody), Some(nobody)).unwrap();
    let copy = root.path().join("test");
    // Started in a separate process: a child that another test forks meanwhile would hold the copy open for writing,
    // and a file that is open for writing cannot be executed.
    let original = std::env::current_exe().unwrap();
    let copied = Command::new("cp").arg(original).arg(&copy).status();
    assert!(copied.unwrap().success());
    let mut command = Command::new(&copy);
    command.uid(nobody).gid(nobody).current_dir(root.path());
    command
        .env("PATH", "/usr/bin:/bin")
        .env_remove("HOME")
        .env_remove("XDG_RUNTIME_DIR");
    let mut child = spawn_child_process(command, "own", &root.path().join("one"));
    wait_until_started(&mut child);
    let pid = Server::open(&root.path().join("one"))
        .unwrap()
        .pid()
        .unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.contains("Uid:\t65534\t65534"), "{status}");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until_gone(pid);
}

#[test]
fn a_missing_server_is_an_error_that_lists_what_there_is() {
    let error = Installation::find(Some("mysql-1.0"), None).unwrap_err();
    let found = installation();
    assert!(error.to_string().contains(&found.version), "{error}");
    assert!(
        error
            .hint()
            .unwrap()
            .contains("apt-get install mariadb-server-core")
    );
    assert_eq!(error.blame(), Blame::Input);
    assert!(matches!(
        Installation::find(Some("oracle"), None),
        Err(Error::UnknownVersion { .. })
    ));

    let name = found.flavour.to_string();
    assert_eq!(
        Installation::find(Some(&name), Some(&found.mysqld)).unwrap(),
        found
    );
    let error = Installation::find(None, Some(Path::new("/bin/true"))).unwrap_err();
    assert!(matches!(error, Error::Binary { .. }), "{error}");
}
