//! A private MariaDB for one test, stopped and removed when dropped.

use std::{
    env, fs, io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    rc::Rc,
    sync::OnceLock,
    time::Duration,
};

use tempfile::TempDir;

use protocol::{Address, Connection, Endpoint, SslMode};
use reactor::{block_on, system_now};

/// The time between two looks at a server that starts.
const POLL: Duration = Duration::from_millis(20);
/// Ports tried before a test gives up.
const PORTS_TRIED: u32 = 5;
/// What the template and each server have in common; a small redo log, since every server copies it.
const DEFAULTS: [&str; 2] = ["--no-defaults", "--innodb-log-file-size=8M"];

/// A running server in a directory of its own.
pub(crate) struct Server {
    child: Child,
    port: u16,
    dir: Rc<TempDir>,
}

impl Server {
    /// Starts a server with these options; prints the reason and returns `None` if no MariaDB is installed.
    pub(crate) fn start(options: &[&str]) -> Option<Self> {
        let Some((mariadbd, template)) = template() else {
            println!("skipped: mariadbd or mariadb-install-db is not installed");
            return None;
        };
        let dir = Rc::new(tempfile::tempdir().unwrap());
        let copied = Command::new("cp")
            .arg("-r")
            .args([template, &dir.path().join("data")])
            .status();
        assert!(copied.unwrap().success());
        // Another program may take the port before the server does.
        for _ in 0..PORTS_TRIED {
            let port = free_port();
            let child = Command::new(mariadbd)
                .args(DEFAULTS)
                .args([
                    "--bind-address=127.0.0.1",
                    "--innodb-flush-log-at-trx-commit=0",
                ])
                .arg(format!("--user={}", account()))
                // Servers with a common temporary directory interfere with each other.
                .arg(format!("--tmpdir={}", dir.path().display()))
                .arg(format!("--datadir={}", dir.path().join("data").display()))
                .arg(format!("--socket={}", dir.path().join("s").display()))
                .arg(format!("--port={port}"))
                .args(options)
                .stdout(Stdio::null())
                .stderr(fs::File::create(dir.path().join("log")).unwrap())
                .spawn()
                .unwrap();
            let mut server = Self {
                child,
                port,
                dir: dir.clone(),
            };
            if server.answers() {
                return Some(server);
            }
        }
        panic!("{}", fs::read_to_string(dir.path().join("log")).unwrap());
    }

    /// Waits for it; false if its port was taken.
    fn answers(&mut self) -> bool {
        let start = system_now();
        while UnixStream::connect(self.socket()).is_err() {
            let has_ended = self.child.try_wait().unwrap().is_some();
            let log = fs::read_to_string(self.dir.path().join("log")).unwrap();
            if has_ended && log.contains("already in use") {
                return false;
            }
            let is_late = system_now() - start > Duration::from_secs(300);
            assert!(!has_ended && !is_late, "{log}");
            std::thread::sleep(POLL);
        }
        true
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

/// The server's program and an initialised data directory to copy, made at the first use; `None` without a MariaDB.
fn template() -> Option<&'static (PathBuf, PathBuf)> {
    static TEMPLATE: OnceLock<Option<(PathBuf, PathBuf)>> = OnceLock::new();
    let found = || {
        let (mariadbd, install) = (find("mariadbd")?, find("mariadb-install-db")?);
        // Another build of the server makes another one.
        let program = fs::metadata(&mariadbd).unwrap();
        let built = program
            .modified()
            .unwrap()
            .duration_since(std::time::UNIX_EPOCH);
        let name = format!("mariadb-{}-{}", program.len(), built.unwrap().as_secs());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if !path.exists() {
            initialise(&install, &path);
        }
        Some((mariadbd, path))
    };
    TEMPLATE.get_or_init(found).as_ref()
}

/// Initialises a data directory, which is there whole or not at all.
fn initialise(install: &Path, path: &Path) {
    // Cargo makes it when it compiles the tests, and not again after a clean-up.
    fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let output = Command::new(install)
        .args(DEFAULTS)
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
        .arg(format!("--user={}", account()))
        .arg(format!("--tmpdir={}", dir.path().display()))
        .arg(format!("--datadir={}", dir.path().join("data").display()))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    match fs::rename(dir.path().join("data"), path) {
        // Another test run was first.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
        renamed => renamed.unwrap(),
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
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain([Path::new("/usr/sbin").to_owned()])
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}
