//! A private MariaDB for one test, stopped and removed when dropped.

use std::{
    fs,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use protocol::{Address, Connection, Endpoint, SslMode};
use reactor::{block_on, system_now};

/// A running server in a directory of its own.
pub(crate) struct Server {
    child: Child,
    port: u16,
    dir: tempfile::TempDir,
}

impl Server {
    /// Starts a server with these options; prints the reason and returns `None` if no MariaDB is installed.
    pub(crate) fn start(options: &[&str]) -> Option<Self> {
        let (Some(mariadbd), Some(install)) = (find("mariadbd"), find("mariadb-install-db")) else {
            println!("skipped: mariadbd or mariadb-install-db is not installed");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        let datadir = dir.path().join("data");
        let run_as = format!("--user={}", account());
        // Servers with a common temporary directory interfere with each other.
        let tmpdir = format!("--tmpdir={}", dir.path().display());
        let output = Command::new(install)
            .args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                &run_as,
                &tmpdir,
            ])
            .arg(format!("--datadir={}", datadir.display()))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let port = free_port();
        let child = Command::new(mariadbd)
            .args([
                "--no-defaults",
                "--bind-address=127.0.0.1",
                "--innodb-flush-log-at-trx-commit=0",
                &run_as,
                &tmpdir,
            ])
            .arg(format!("--datadir={}", datadir.display()))
            .arg(format!("--socket={}", dir.path().join("s").display()))
            .arg(format!("--port={port}"))
            .args(options)
            .stdout(Stdio::null())
            .stderr(fs::File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut server = Self { child, port, dir };
        server.wait_until_it_answers();
        Some(server)
    }

    fn wait_until_it_answers(&mut self) {
        let start = system_now();
        while UnixStream::connect(self.socket()).is_err() {
            let over = self.child.try_wait().unwrap().is_some()
                || system_now() - start > Duration::from_secs(60);
            assert!(
                !over,
                "{}",
                fs::read_to_string(self.dir.path().join("log")).unwrap()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    /// The endpoint of root over the unix socket, without a password.
    pub(crate) fn root(&self) -> Endpoint {
        Endpoint {
            ssl_mode: SslMode::Preferred,
            ..Endpoint::plain(
                Address::Unix(self.socket()),
                "root",
                Duration::from_secs(20),
            )
        }
    }

    /// The endpoint of this account over the unix socket.
    pub(crate) fn account(&self, user: &str, password: &str) -> Endpoint {
        Endpoint {
            user: user.into(),
            password: Some(password.into()),
            ..self.root()
        }
    }

    /// The same endpoint over TCP.
    pub(crate) fn over_tcp(&self, endpoint: Endpoint) -> Endpoint {
        let address = Address::Tcp {
            host: "127.0.0.1".into(),
            port: self.port,
        };
        Endpoint {
            address,
            ..endpoint
        }
    }

    /// Executes statements as root, each of which must succeed.
    pub(crate) fn run(&self, statements: &[&str]) {
        block_on(async {
            let mut connection = Connection::open(&self.root()).await.unwrap();
            for statement in statements {
                connection.query(statement.as_bytes()).await.unwrap();
            }
            connection.close().await.unwrap();
        })
        .unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The operating system's name of the account that runs this test.
pub(crate) fn account() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([Path::new("/usr/sbin").to_owned()])
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}
