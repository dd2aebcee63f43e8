//! The proxy's life as a program.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use reactor::system_now;
use rustix::process::Signal;

use super::{backend, client, end, free_port, listens, text_of};
use crate::{
    mariadb::{MariaDb, PASSWORD},
    scene::{Scene, wait_until},
};

#[test]
fn it_lives_as_a_program_does() {
    let scene = Scene::for_servers();
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
    // Scripts that stop the proxy read it then.
    assert!(pid_file.exists());
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("DOWN") && log.contains("shut down"), "{log}");
}

/// Ends the process whose id is in a file, and waits until the file is gone.
fn end_by_file(pid_file: &Path) {
    let process = fs::read_to_string(pid_file).unwrap();
    let pid = rustix::process::Pid::from_raw(process.trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    // Of a zombie, which has ended, it is empty.
    let command_line = format!("/proc/{}/cmdline", process.trim());
    wait_until("it has ended", || {
        fs::read_to_string(&command_line)
            .unwrap_or_default()
            .is_empty()
    });
    assert!(pid_file.exists());
}

/// A worker that lived for a second did not crash at once.
const LIVES_AT_LEAST: Duration = Duration::from_millis(1500);

#[test]
fn it_runs_in_the_background_and_after_a_crash() {
    let scene = Scene::for_servers();
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
            let begun = system_now();
            wait_until("it has lived for more than a second", || {
                system_now() - begun > LIVES_AT_LEAST
            });
            let crashed = rustix::process::Pid::from_raw(worker).unwrap();
            rustix::process::kill_process(crashed, Signal::KILL).unwrap();
            wait_until("it is started again", || {
                crate::scene::first_child(guard).is_some_and(|other| other != worker)
                    && listens(port)
            });
        }
        end_by_file(&pid_file);
        wait_until("it listens no more", || !listens(port));
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
    let scene = Scene::for_servers();
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
    let scene = Scene::for_servers();
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

#[test]
fn a_socket_left_behind_does_not_block_the_next_start() {
    let scene = Scene::for_servers();
    let server = MariaDb::start(&scene, &[]);
    let socket = scene.path().join("proxy.sock");
    let words = [
        "proxy".to_owned(),
        format!("--proxy-address={}", socket.display()),
        backend(&server),
    ];
    let is_up = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
    let mut running = scene.start(words.clone());
    running.wait_until("it listens", is_up);
    // A second one does not take the place of a running one.
    let refused = scene.called("mysql-proxy", &words[1..]);
    assert_eq!(refused.status.code(), Some(2), "{}", refused.stderr);
    assert!(is_up());
    running.signal(rustix::process::Signal::KILL);
    running.finish();
    assert!(socket.exists());
    let mut running = scene.start(words);
    running.wait_until("it listens again", is_up);
    end(running);
    assert!(!socket.exists());
}
