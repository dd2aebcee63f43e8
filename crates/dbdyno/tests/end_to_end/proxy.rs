//! `mysql-proxy`: real clients and a real server with it in between, and its life as a program.

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output, Stdio},
};

use rustix::process::Signal;

use crate::{
    mariadb::{MariaDb, PASSWORD},
    scene::{Running, Scene},
};

/// A port that was free just now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// A proxy that listens; the arguments complete the address.
pub(crate) fn proxy(scene: &Scene, arguments: &[String]) -> (Running, u16) {
    let port = free_port();
    let mut words = vec![
        "proxy".to_owned(),
        format!("--proxy-address=127.0.0.1:{port}"),
        "--log-level=message".to_owned(),
    ];
    words.extend_from_slice(arguments);
    let mut running = scene.start(words);
    running.wait_until("it listens", || listens(port));
    (running, port)
}

pub(crate) fn backend(server: &MariaDb) -> String {
    format!("--proxy-backend-addresses={}", server.socket().display())
}

/// The command line client, logged in through the proxy.
pub(crate) fn client(scene: &Scene, port: u16, arguments: &[&str]) -> Command {
    let mut command = Command::new("mariadb");
    command
        .args([
            "--no-defaults",
            "--skip-ssl",
            "-h127.0.0.1",
            "-utrial",
            "-N",
        ])
        .arg(format!("-P{port}"))
        .args(arguments)
        .env("MYSQL_PWD", PASSWORD)
        .current_dir(scene.path());
    command
}

#[track_caller]
pub(crate) fn text_of(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[track_caller]
pub(crate) fn ask(scene: &Scene, port: u16, sql: &str) -> String {
    text_of(client(scene, port, &["test", "-e", sql]).output().unwrap())
}

/// Ends a proxy as a user does.
#[track_caller]
pub(crate) fn end(running: Running) {
    running.signal(Signal::TERM);
    let finished = running.finish();
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
}

#[test]
fn the_command_line_client_works_through_it() {
    let scene = Scene::new();
    let server = MariaDb::start(
        &scene,
        &[("max_allowed_packet", "64M"), ("local_infile", "ON")],
    );
    let (running, port) = proxy(&scene, &[backend(&server)]);
    assert_eq!(ask(&scene, port, "select 1; select 2, null"), "1\n2\tNULL");
    ask(
        &scene,
        port,
        "create table t (a int primary key, b longtext)",
    );
    scene.file("rows", "1\tone\n2\ttwo\n3\tthree\n");
    let load = "load data local infile 'rows' into table t";
    let output = client(&scene, port, &["--local-infile=1", "test", "-e", load]).output();
    text_of(output.unwrap());
    assert_eq!(
        ask(&scene, port, "select count(*), max(b) from t"),
        "3\ttwo"
    );
    let prepared = "prepare s from 'select b from t where a = ?'; set @a = 2; execute s using @a";
    assert_eq!(ask(&scene, port, prepared), "two");
    // A database that the client changes, columns for completion, an error, a procedure with results.
    assert_eq!(ask(&scene, port, "use mysql; select database()"), "mysql");
    let wrong = client(&scene, port, &["test", "-e", "select nothing"])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("ERROR 1054"),
        "{wrong:?}"
    );
    ask(&scene, port, "create procedure p() select 1");
    assert_eq!(ask(&scene, port, "call p(); select 3"), "1\n3");
    let completed = client(&scene, port, &["--auto-rehash", "test", "-e", "select 5"]).output();
    assert_eq!(text_of(completed.unwrap()), "5");
    // 17 MB to the server and back.
    let long = scene.file(
        "long.sql",
        &format!("select '{}';\n", "x".repeat(17_000_000)),
    );
    let output = client(&scene, port, &["--max-allowed-packet=64M", "test"])
        .stdin(Stdio::from(File::open(long).unwrap()))
        .output();
    assert_eq!(text_of(output.unwrap()).len(), 17_000_000);
    // A result of many rows, and one whose reader leaves before its end.
    let many = "select seq, repeat('y', 200) from seq_1_to_200000";
    assert_eq!(ask(&scene, port, many).lines().count(), 200_000);
    let mut reader = client(&scene, port, &["--quick", "test", "-e", many])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(reader.stdout.take());
    let _ = reader.kill();
    reader.wait().unwrap();
    // A wrong password is the server's matter.
    let mut refused = client(&scene, port, &["-e", "select 1"]);
    let refused = refused.env("MYSQL_PWD", "wrong").output().unwrap();
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("ERROR 1045"),
        "{refused:?}"
    );
    end(running);
    assert!(!listens(port));
}

#[test]
fn loads_work_through_it() {
    let scene = Scene::new();
    let server = MariaDb::start(&scene, &[]);
    let arguments = [backend(&server), "--event-threads=2".to_owned()];
    let (running, port) = proxy(&scene, &arguments);
    let slap = Command::new("mariadb-slap")
        .args([
            "--no-defaults",
            "--skip-ssl",
            "-h127.0.0.1",
            "-utrial",
            "-a",
        ])
        .args([
            "-c8",
            "--number-of-queries=400",
            "--auto-generate-sql-load-type=mixed",
        ])
        .arg(format!("-P{port}"))
        .env("MYSQL_PWD", PASSWORD)
        .output();
    assert!(text_of(slap.unwrap()).contains("Average number of seconds"));
    // Our own load, with prepared statements.
    let password_file = scene.path().join("password");
    let oltp = |workload: &str, command: &str, more: &[&str]| {
        let mut words: Vec<String> = ["oltp", workload, command].map(str::to_owned).to_vec();
        words.extend([
            "--host=127.0.0.1".to_owned(),
            format!("--port={port}"),
            "--user=trial".to_owned(),
            format!("--password-file={}", password_file.display()),
            "--database=test".to_owned(),
            "--tables=1".to_owned(),
            "--table-size=1000".to_owned(),
        ]);
        words.extend(more.iter().map(|it| (*it).to_owned()));
        let finished = scene.dbdyno(words);
        assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    };
    oltp("oltp_read_write", "prepare", &[]);
    oltp("oltp_read_write", "run", &["--threads=4", "--time=2"]);
    let _ = server.rows("select 1");
    end(running);
}

#[test]
fn a_killed_backend_is_replaced_by_another() {
    let (one, two) = (Scene::new(), Scene::new());
    let mut first = MariaDb::start(&one, &[]);
    let second = MariaDb::start(&two, &[]);
    let (running, port) = proxy(&one, &[backend(&first), backend(&second)]);
    let port_of = |port| ask(&one, port, "select @@port");
    assert_eq!(port_of(port), first.port().to_string());
    first.kill();
    for _ in 0..3 {
        assert_eq!(port_of(port), second.port().to_string());
    }
    end(running);
}

#[test]
fn it_lives_as_a_program_does() {
    let scene = Scene::new();
    let port = free_port();
    let pid_file = scene.path().join("proxy.pid");
    let log = scene.path().join("proxy.log");
    let defaults = scene.file(
        "proxy.cnf",
        &format!(
            "[mysql-proxy]\nproxy-address=127.0.0.1:{port}\npid-file={}\nlog-file={}\nlog-level=message\n\
             proxy-backend-addresses=127.0.0.1:{}\n",
            pid_file.display(),
            log.display(),
            free_port()
        ),
    );
    let words = [format!("--defaults-file={}", defaults.display())];
    let refused = scene.called("mysql-proxy", &words);
    assert!(refused.stderr.contains("0660"), "{}", refused.stderr);
    fs::set_permissions(&defaults, fs::Permissions::from_mode(0o600)).unwrap();
    let mut running = scene.start(["proxy".to_owned(), words[0].clone()]);
    running.wait_until("it listens", || listens(port));
    running.wait_until("it has written its id", || {
        fs::read_to_string(&pid_file).is_ok_and(|text| text.ends_with('\n'))
    });
    let pid = fs::read_to_string(&pid_file).unwrap();
    assert_eq!(pid.trim(), running.pid().to_string());
    // Its port is taken.
    let second = scene.called("mysql-proxy", [format!("--proxy-address=127.0.0.1:{port}")]);
    assert_eq!(second.status.code(), Some(2));
    assert!(
        second.stderr.contains(&format!("127.0.0.1:{port}")),
        "{}",
        second.stderr
    );
    // No server is behind it.
    let down = client(&scene, port, &["-e", "select 1"]).output().unwrap();
    let down = String::from_utf8_lossy(&down.stderr).into_owned();
    assert!(down.contains("(proxy) all backends are down"), "{down}");
    running.signal(Signal::INT);
    assert_eq!(running.finish().status.code(), Some(0));
    assert!(!pid_file.exists());
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("DOWN") && log.contains("shut down"), "{log}");
}

/// Ends the process whose id is in a file, and waits until the file is gone.
fn end_by_file(scene: &Scene, pid_file: &Path) {
    let pid = fs::read_to_string(pid_file).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    scene.wait_until("the file with the id is removed", || !pid_file.exists());
}

#[test]
fn it_runs_in_the_background_and_after_a_crash() {
    let scene = Scene::new();
    for keepalive in [false, true] {
        let port = free_port();
        let pid_file = scene.path().join("proxy.pid");
        let mut words = vec![
            format!("--proxy-address=127.0.0.1:{port}"),
            format!("--pid-file={}", pid_file.display()),
            "--daemon".to_owned(),
        ];
        words.extend(keepalive.then(|| "--keepalive".to_owned()));
        let started = scene.called("mysql-proxy", &words);
        assert_eq!(started.status.code(), Some(0), "{}", started.stderr);
        assert!(listens(port));
        if keepalive {
            let guard = fs::read_to_string(&pid_file)
                .unwrap()
                .trim()
                .parse()
                .unwrap();
            let worker = crate::scene::first_child(guard).unwrap();
            // One that crashes at once is not started again.
            std::thread::sleep(std::time::Duration::from_millis(1500));
            let crashed = rustix::process::Pid::from_raw(worker).unwrap();
            rustix::process::kill_process(crashed, Signal::KILL).unwrap();
            scene.wait_until("it is started again", || {
                crate::scene::first_child(guard).is_some_and(|other| other != worker)
                    && listens(port)
            });
        }
        end_by_file(&scene, &pid_file);
        scene.wait_until("it listens no more", || !listens(port));
    }
    // What goes wrong at the start is said before the terminal is left.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let words = [format!("--proxy-address={address}"), "--daemon".to_owned()];
    let failed = scene.called("mysql-proxy", words);
    assert_eq!(failed.status.code(), Some(2));
    assert!(
        failed.stderr.contains(&address.to_string()),
        "{}",
        failed.stderr
    );
}

#[test]
fn the_admin_interface_has_a_password_that_nobody_sees() {
    let scene = Scene::new();
    let (proxy, admin) = (free_port(), free_port());
    let mut running = scene.start([
        "proxy".to_owned(),
        "--plugins=proxy".to_owned(),
        "--plugins=admin".to_owned(),
        format!("--proxy-address=127.0.0.1:{proxy}"),
        format!("--admin-address=127.0.0.1:{admin}"),
        "--admin-username=trial".to_owned(),
        format!("--admin-password={PASSWORD}"),
    ]);
    running.wait_until("it listens", || listens(admin) && listens(proxy));
    let words = fs::read(format!("/proc/{}/cmdline", running.pid())).unwrap();
    assert!(
        !words
            .windows(PASSWORD.len())
            .any(|part| part == PASSWORD.as_bytes())
    );
    let user = client(&scene, admin, &["-e", "select USER()"])
        .output()
        .unwrap();
    assert_eq!(text_of(user), "trial");
    let unknown = client(&scene, admin, &["-e", "select 1"]).output().unwrap();
    let unknown = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        unknown.contains("(admin-server) query not known"),
        "{unknown}"
    );
    end(running);
    let incomplete = scene.called("mysql-proxy", ["--plugins=admin", "--admin-username=x"]);
    assert!(
        incomplete.stderr.contains("--admin-password"),
        "{}",
        incomplete.stderr
    );
}

#[test]
fn what_is_not_there_is_an_error() {
    let scene = Scene::new();
    for option in [
        "--log-use-syslog",
        "--proxy-skip-profiling",
        "--lua-cpath=x",
    ] {
        let refused = scene.called("mysql-proxy", [option]);
        assert_eq!(refused.status.code(), Some(2), "{option}");
        assert!(refused.stderr.contains(option.split('=').next().unwrap()));
    }
    let version = scene.called("mysql-proxy", ["-V"]);
    assert!(
        version.text().starts_with("mysql-proxy "),
        "{}",
        version.text()
    );
    let help = scene.called("mysql-proxy", ["--help-all"]).text();
    assert!(help.contains("--proxy-backend-addresses"), "{help}");
}

/// Counters of the server, by their names.
fn status(server: &MariaDb, name: &str) -> u64 {
    let rows = server.rows(&format!("show global status like '{name}'"));
    rows[0][1].parse().unwrap()
}

#[test]
fn a_script_keeps_the_query_cache_and_begins_transactions() {
    let scene = Scene::new();
    let server = MariaDb::start(
        &scene,
        &[("query_cache_type", "ON"), ("query_cache_size", "16M")],
    );
    let script = scene.file(
        "cache.lua",
        r#"
        local com_query = string.char(proxy.COM_QUERY)
        function read_query(packet)
            if packet == com_query .. "RESET QUERY CACHE" then
                proxy.queries:reset()
                proxy.queries:append(1, com_query .. "FLUSH QUERY CACHE")
                return proxy.PROXY_SEND_QUERY
            elseif packet == com_query .. "SELECT COUNT(*) FROM t" then
                proxy.queries:append(2, com_query .. "START TRANSACTION", { resultset_is_needed = true })
                proxy.queries:append(3, packet, { resultset_is_needed = true })
                return proxy.PROXY_SEND_QUERY
            end
        end
        function read_query_result(inj)
            if inj.id == 2 then
                return proxy.PROXY_IGNORE_RESULT
            end
        end
        "#,
    );
    let arguments = [
        backend(&server),
        format!("--proxy-lua-script={}", script.display()),
    ];
    let (running, port) = proxy(&scene, &arguments);
    ask(
        &scene,
        port,
        "create table t (a int); insert into t values (1), (2)",
    );
    let names = ["Qcache_hits", "Com_flush", "Com_reset", "Com_begin"];
    let before = names.map(|name| status(&server, name));
    let statements =
        "SELECT MAX(a) FROM t; RESET QUERY CACHE; SELECT MAX(a) FROM t; SELECT COUNT(*) FROM t";
    assert_eq!(ask(&scene, port, statements), "2\n2\n2");
    let after = names.map(|name| status(&server, name));
    let changes: Vec<u64> = after
        .iter()
        .zip(before)
        .map(|(after, before)| after - before)
        .collect();
    assert_eq!(changes, [1, 1, 0, 1], "{names:?}");
    end(running);
}
