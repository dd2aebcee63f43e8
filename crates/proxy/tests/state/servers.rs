//! Real servers, with accounts and tables.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use protocol::{Address, Connection, Endpoint, ServerKey};
use tempfile::TempDir;

/// Longer than a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// The time between two looks at a server that starts.
const POLL: Duration = Duration::from_millis(50);

/// A running server with the accounts `ann`, `bob` and `dan` (password `x`), of which `dan` has a role by default, and the
/// databases `shop` and `other`.
pub(crate) struct Server {
    process: Child,
    directory: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    pub(crate) fn mariadb() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = data_of(&directory);
        let installed = Command::new("mariadb-install-db")
            .args([
                "--no-defaults",
                "--user=root",
                "--auth-root-authentication-method=normal",
            ])
            .args(["--skip-test-db", &data])
            // Several at a time would share files there.
            .arg(format!("--tmpdir={}", directory.path().display()))
            .stdout(Stdio::null())
            .status();
        assert!(
            installed
                .expect("mariadb-install-db is installed")
                .success()
        );
        let mut command = Command::new("mariadbd");
        command.arg("--no-defaults");
        let server = Self::start(command, directory);
        server.prepare(&["SET DEFAULT ROLE d FOR", "CREATE SEQUENCE shop.numbers"]);
        server
    }

    pub(crate) fn mysql() -> Self {
        let words = std::env::var("DBDYNO_MYSQLD").expect("DBDYNO_MYSQLD starts a mysqld");
        let mut words = words.split_whitespace();
        let program = words.next().unwrap();
        let words: Vec<&str> = words.collect();
        let command = || {
            let mut command = Command::new(program);
            command.args(&words);
            command
        };
        let directory = tempfile::tempdir().unwrap();
        let initialized = command()
            .args([
                "--user=root",
                "--secure-file-priv=",
                "--initialize-insecure",
                &data_of(&directory),
            ])
            .stderr(Stdio::null())
            .status();
        assert!(initialized.unwrap().success());
        let server = Self::start(command(), directory);
        server.prepare(&[
            "SET DEFAULT ROLE d TO",
            "CREATE RESOURCE GROUP rg TYPE = USER",
        ]);
        server
    }

    fn start(mut command: Command, directory: TempDir) -> Self {
        let path = |name: &str| directory.path().join(name);
        // Some lack the option of others.
        command.args(["--user=root", &data_of(&directory), "--skip-networking"]);
        command.arg(format!("--socket={}", path("sock").display()));
        command.arg(format!("--pid-file={}", path("pid").display()));
        command.args([
            "--innodb-buffer-pool-size=32M",
            "--loose-mysqlx=OFF",
            "--secure-file-priv=",
        ]);
        command.args(["--character-set-server=utf8mb4"]);
        let process = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn();
        let server = Self {
            process: process.unwrap(),
            directory,
        };
        let begun = reactor::system_now();
        while server.try_run("root", &["SELECT 1".to_owned()]).is_err() {
            assert!(
                reactor::system_now() - begun < PATIENCE,
                "the server does not start"
            );
            thread::sleep(POLL);
        }
        // The same socket by another name is another backend.
        std::os::unix::fs::symlink(server.socket(), server.second_socket()).unwrap();
        server
    }

    fn prepare(&self, own: &[&str; 2]) {
        let mut statements: Vec<String> = [
            "CREATE DATABASE shop",
            "CREATE DATABASE other CHARACTER SET latin1",
            "CREATE TABLE shop.t (a INT PRIMARY KEY) ENGINE = InnoDB",
            "INSERT INTO shop.t VALUES (1), (2), (3)",
            "CREATE TABLE shop.u (a INT)",
            "CREATE TABLE other.only_other (a INT)",
            "CREATE ROLE r",
            "CREATE ROLE d",
        ]
        .map(str::to_owned)
        .to_vec();
        for user in ["ann", "bob", "dan"] {
            statements.push(format!("CREATE USER {user}@localhost IDENTIFIED BY 'x'"));
            statements.push(format!("GRANT ALL ON *.* TO {user}@localhost"));
            statements.push(format!("GRANT r TO {user}@localhost"));
            statements.push(format!("GRANT d TO {user}@localhost"));
        }
        statements.push(format!("{} dan@localhost", own[0]));
        statements.push(own[1].to_owned());
        self.try_run("root", &statements).unwrap();
    }

    fn try_run(&self, user: &str, statements: &[String]) -> Result<(), protocol::Error> {
        reactor::block_on(async {
            let mut connection = Connection::open(&self.direct(user, "")).await?;
            for statement in statements {
                connection.rows(statement).await?;
            }
            connection.close().await
        })
        .unwrap()
    }

    /// The server itself.
    pub(crate) fn direct(&self, user: &str, database: &str) -> Endpoint {
        endpoint(Address::Unix(self.socket()), user, database)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("sock")
    }

    pub(crate) fn second_socket(&self) -> PathBuf {
        self.directory.path().join("second")
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

fn data_of(directory: &TempDir) -> String {
    format!("--datadir={}", directory.path().join("data").display())
}

/// An account, whose password is that of all but root.
pub(crate) fn endpoint(address: Address, user: &str, database: &str) -> Endpoint {
    Endpoint {
        password: (user != "root").then(|| "x".into()),
        database: (!database.is_empty()).then(|| database.to_owned()),
        server_key: ServerKey::Asked,
        ..Endpoint::plain(address, user, Duration::from_secs(20))
    }
}
