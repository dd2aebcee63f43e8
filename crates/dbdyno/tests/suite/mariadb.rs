//! A real MariaDB for the commands that use an existing server: of a test's own, or shared by the tests that leave it as
//! it is.

use std::{
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use protocol::{Connection, Endpoint, Error};
use server::{Installation, Lifetime, Server, Settings};

use crate::{
    room,
    scene::{Scene, in_memory},
};

/// The password of the account `trial`; no output may contain it.
pub(crate) const PASSWORD: &str = "Wh1te rabbit";

/// A running server with a database and an account for the test, which both have the name `trial` or, on a shared
/// server, one that no other test has. One of the test's own ends with it.
pub(crate) struct MariaDb {
    /// `None` for a shared one.
    server: Option<Server>,
    socket: PathBuf,
    port: u16,
    /// The administrator's.
    endpoint: Endpoint,
    account: String,
    database: String,
    password_file: PathBuf,
}

/// The server that tests share, once it runs; what waits for the end of this process and then removes its directory.
struct Shared {
    server: Server,
    _until_the_end: Child,
}

static SHARED: OnceLock<Shared> = OnceLock::new();

impl Shared {
    fn start() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("dyno")
            .tempdir_in(in_memory())
            .expect("the temporary directory is writable");
        let mut server = make(directory.path().join("shared"), &mariadb(), &[]);
        server.start(Lifetime::Owned).unwrap();
        let pid = server.pid().expect("it was started");
        // The kernel ends the server with this process, whose end closes the pipe; its files stay for what waits for that.
        let remover = Command::new("sh")
            .args([
                "-c",
                "cat; while kill -0 $0 2>/dev/null; do sleep 0.05; done; rm -rf \"$1\"",
            ])
            .arg(pid.to_string())
            .arg(directory.keep())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            // Ctrl-C ends this process, not what waits for its end.
            .process_group(0)
            .spawn()
            .expect("there is a shell");
        Self {
            server,
            _until_the_end: remover,
        }
    }
}

impl MariaDb {
    /// Creates and starts one with these options, in a directory separate from dbdyno's servers in the scene.
    pub(crate) fn start(scene: &Scene, options: &[(&str, &str)]) -> Self {
        Self::started(scene, Self::make(scene, options))
    }

    /// The same of another installation, such as a MySQL, in which the tests use nothing that is MariaDB's own.
    pub(crate) fn start_installed(scene: &Scene, installation: &Installation) -> Self {
        scene.take_room(room::OF_A_SERVER);
        let directory = scene.path().join("given");
        Self::started(scene, make(directory, installation, &[]))
    }

    fn started(scene: &Scene, mut server: Server) -> Self {
        server.start(Lifetime::Owned).unwrap();
        let mut this = Self::on(scene, &server, "trial", "test");
        this.server = Some(server);
        this
    }

    /// One that other tests use at the same time, with a database of the test's own: for tests that change no global
    /// variable, read no counter of the whole server and do not stop it.
    pub(crate) fn shared(scene: &Scene) -> Self {
        static TESTS: AtomicU32 = AtomicU32::new(1);
        let name = format!("trial_{}", TESTS.fetch_add(1, Ordering::Relaxed));
        let shared = SHARED.get_or_init(Shared::start);
        rows(
            &shared.server.endpoint(),
            &format!("create database {name}"),
        );
        Self::on(scene, &shared.server, &name, &name)
    }

    fn on(scene: &Scene, server: &Server, account: &str, database: &str) -> Self {
        let endpoint = Endpoint {
            database: Some(database.to_owned()),
            ..server.endpoint()
        };
        let create = format!("create user {account}@'%' identified by '{PASSWORD}'");
        rows(&endpoint, &create);
        rows(&endpoint, &format!("grant all on *.* to {account}@'%'"));
        Self {
            server: None,
            socket: server.socket(),
            port: server.port(),
            endpoint,
            account: account.to_owned(),
            database: database.to_owned(),
            password_file: scene.file("password", PASSWORD),
        }
    }

    /// Creates one that does not run.
    pub(crate) fn make(scene: &Scene, options: &[(&str, &str)]) -> Server {
        scene.take_room(room::OF_A_SERVER);
        make(scene.path().join("given"), &mariadb(), options)
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.socket.clone()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        let server = self.server.as_mut().expect("nobody else uses it");
        server.kill().unwrap();
    }

    /// Connection options for its socket.
    pub(crate) fn by_socket(&self) -> Vec<String> {
        self.options(&format!("--socket={}", self.socket.display()))
    }

    /// Connection options for TCP.
    pub(crate) fn by_port(&self) -> Vec<String> {
        let mut options = self.options(&format!("--port={}", self.port));
        options.push("--host=127.0.0.1".to_owned());
        options
    }

    fn options(&self, place: &str) -> Vec<String> {
        vec![
            place.to_owned(),
            format!("--user={}", self.account),
            format!("--password-file={}", self.password_file.display()),
        ]
    }

    /// Keys of `[server]` for TCP.
    pub(crate) fn as_experiment(&self) -> String {
        format!(
            "address = \"127.0.0.1:{}\"\nuser = \"{}\"\npassword_file = \"{}\"",
            self.port,
            self.account,
            self.password_file.display()
        )
    }

    /// Executes a statement this number of times, over one connection.
    #[track_caller]
    pub(crate) fn ask(&self, sql: &str, times: usize) {
        let asked = reactor::block_on(async {
            let mut connection = Connection::open(&self.endpoint).await?;
            for _ in 0..times {
                connection.rows(sql).await?;
            }
            connection.close().await
        });
        asked.unwrap().unwrap();
    }

    /// Rows of a statement in the test's database, as text.
    #[track_caller]
    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        rows(&self.endpoint, sql)
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            // The scene's directory is removed in any case; a failing test must not abort here.
            let _ = server.destroy();
        }
    }
}

/// The machine's own.
fn mariadb() -> Installation {
    Installation::find(Some("mariadb"), None).unwrap()
}

/// A small server with these options, which does not run.
fn make(directory: PathBuf, installation: &Installation, options: &[(&str, &str)]) -> Server {
    let small = [("innodb_buffer_pool_size", "16M")];
    let options = small.iter().chain(options);
    let settings = Settings {
        set: options
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Settings::default()
    };
    Server::create(&directory, installation, &settings).unwrap()
}

/// Rows of a statement, as text; NULL is `NULL`.
#[track_caller]
pub(crate) fn rows(endpoint: &Endpoint, sql: &str) -> Vec<Vec<String>> {
    read(endpoint, &[sql]).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The same of several statements over one connection, until one fails.
pub(crate) fn read(endpoint: &Endpoint, statements: &[&str]) -> Result<Vec<Vec<String>>, Error> {
    let sets = reactor::block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let mut sets = Vec::new();
        for statement in statements {
            sets.extend(connection.rows(statement).await?);
        }
        connection.close().await?;
        Ok::<_, Error>(sets)
    });
    let text = |value: Option<Vec<u8>>| {
        value.map_or("NULL".to_owned(), |bytes| {
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let rows = sets.unwrap()?.into_iter().flat_map(|set| set.rows);
    let rows = rows.map(|row| row.into_iter().map(text).collect());
    Ok(rows.collect())
}
