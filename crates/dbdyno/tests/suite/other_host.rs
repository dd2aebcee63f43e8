//! A server on another host, and programs that run there.

use std::{
    fs::{self, File, Permissions},
    net::{SocketAddr, TcpStream},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::PathBuf,
    process::{Child, Command},
    time::Duration,
};

use server::Server;

use crate::{
    mariadb::{MariaDb, PASSWORD, rows},
    namespace::OtherHost,
    scene::{Scene, wait_until},
};

/// Port of a server that is alone on its host.
pub(crate) const PORT: u16 = 3306;

/// Lead of the other machine's monotonic clock, seconds.
pub(crate) const AHEAD_S: f64 = 1000.0;

impl OtherHost {
    /// A script in the scene that runs its arguments on this host and simulates another machine: its kernel reports
    /// a different boot time. `None` if this is not possible.
    pub(crate) fn machine(&self, scene: &Scene) -> Option<PathBuf> {
        self.machine_with(scene, "machine.sh", "")
    }

    /// A script as of `machine`, with a monotonic clock that is [`AHEAD_S`] ahead.
    pub(crate) fn machine_ahead(&self, scene: &Scene) -> Option<PathBuf> {
        let clock = format!("unshare --time --monotonic {AHEAD_S} --fork --kill-child ");
        self.machine_with(scene, "machine-ahead.sh", &clock)
    }

    fn machine_with(&self, scene: &Scene, name: &str, words: &str) -> Option<PathBuf> {
        let boot_id = scene.file("boot_id", "01234567-89ab-cdef-0123-456789abcdef\n");
        let kernel = format!(
            "mount --bind {} /proc/sys/kernel/random/boot_id",
            boot_id.display()
        );
        let words = format!("sh -c '{kernel} && exec {words}\"$0\" \"$@\"'");
        let script = self.script(scene, name, &words);
        match Command::new(&script).arg("true").output() {
            Ok(output) if output.status.success() => Some(script),
            other => {
                eprintln!("skipped: no second machine: {other:?}");
                None
            }
        }
    }

    /// A script in the scene that runs its arguments on this host, after these additional words.
    pub(crate) fn script(&self, scene: &Scene, name: &str, words: &str) -> PathBuf {
        let namespace = &self.namespace;
        let text = format!("#!/bin/sh\nexec ip netns exec {namespace} {words} \"$@\"\n");
        let script = scene.file(name, &text);
        fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
        script
    }
}

/// A server on another host, with an account `trial`. It is also reachable through its socket: both hosts have
/// the same file system.
pub(crate) struct RemoteServer {
    process: Child,
    server: Server,
    pub(crate) host: OtherHost,
}

impl RemoteServer {
    /// Starts a server; `None` if another host is not possible.
    pub(crate) fn start(scene: &Scene) -> Option<Self> {
        let host = match OtherHost::new() {
            Ok(host) => host,
            Err(reason) => {
                eprintln!("skipped: no network namespace: {reason}");
                return None;
            }
        };
        let server = MariaDb::make(scene, &[]);
        let log = File::create(scene.path().join("remote.log")).unwrap();
        // The first word ends it together with this test, even if the test is killed.
        let process = Command::new("setpriv")
            .args([
                "--pdeathsig",
                "KILL",
                "ip",
                "netns",
                "exec",
                &host.namespace,
            ])
            .arg(server.installation().unwrap().mysqld)
            .arg(format!(
                "--defaults-file={}",
                server.dir().join("my.cnf").display()
            ))
            .arg(format!("--socket={}", server.socket().display()))
            .arg(format!("--port={PORT}"))
            .arg(format!("--bind-address={}", host.address))
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let remote = Self {
            process,
            server,
            host,
        };
        let address = SocketAddr::from((remote.host.address, PORT));
        // The server opens its port before its socket.
        wait_until("the remote server listens", || {
            TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
                && UnixStream::connect(remote.server.socket()).is_ok()
        });
        remote.rows(&format!("create user trial@'%' identified by '{PASSWORD}'"));
        remote.rows("grant all on *.* to trial@'%'");
        scene.file("password", PASSWORD);
        Some(remote)
    }

    #[track_caller]
    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        rows(&self.server.endpoint(), sql)
    }

    pub(crate) fn address(&self) -> String {
        self.host.address.to_string()
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        // Both calls fail for a process that has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
