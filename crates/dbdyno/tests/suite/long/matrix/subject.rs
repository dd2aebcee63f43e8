//! A server under test, and the vocabulary of the checks.

use std::{
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Stdio},
};

use protocol::{Connection, Endpoint, Error, Password, SslMode};
use server::{Flavour, Lifetime, Server, Settings};
use tempfile::TempDir;

use crate::{
    long::matrix::{certificates::Certificates, versions::Version},
    mariadb,
};

/// A running private server of one version.
pub(crate) struct Subject {
    pub(crate) version: Version,
    /// `None` if the machine cannot create certificates.
    pub(crate) certificates: Option<Certificates>,
    /// Removed by the check that destroys it.
    pub(crate) server: Option<Server>,
    directory: TempDir,
}

impl Subject {
    /// Creates and starts a server, with TLS if possible.
    pub(crate) fn start(version: Version) -> Self {
        // The socket is below it, and the path of a socket is limited to 107 bytes.
        let directory = tempfile::Builder::new().prefix("dyno").tempdir().unwrap();
        let installation = &version.installation;
        let certificates = Certificates::make(&directory.path().join("tls"));
        let mut settings = Settings::default();
        let mut set = |name: &str, value: &str| {
            settings.set.insert(name.to_owned(), value.to_owned());
        };
        set("innodb_buffer_pool_size", "32M");
        // So that 127.0.0.1 is a different host from localhost.
        set("skip_name_resolve", "1");
        if let Some(certificates) = &certificates {
            for (option, file) in certificates.options() {
                set(&option, &file);
            }
            if installation.flavour == Flavour::MariaDb {
                // A private server of version 11.4 or later does not enable TLS on its own.
                set("ssl", "1");
            }
        }
        let mut server =
            Server::create(&directory.path().join("server"), installation, &settings).unwrap();
        server.start(Lifetime::Owned).unwrap();
        Self {
            version,
            certificates,
            server: Some(server),
            directory,
        }
    }

    /// The server; panics after it was destroyed.
    pub(crate) fn server(&mut self) -> &mut Server {
        self.server.as_mut().expect("the last check destroys it")
    }

    /// A directory for files of a check.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Endpoint of the bench account, over the unix socket.
    pub(crate) fn by_socket(&self) -> Endpoint {
        self.server.as_ref().expect("not destroyed yet").endpoint()
    }

    /// Endpoint of the bench account over TCP, encrypted or not.
    pub(crate) fn by_tcp(&self, ssl_mode: SslMode) -> Endpoint {
        let server = self.server.as_ref().expect("not destroyed yet");
        Endpoint {
            ssl_mode,
            ..server.tcp_endpoint()
        }
    }

    pub(crate) fn try_run(&self, sql: &str) -> Result<(), Error> {
        self.try_run_together(&[sql.to_owned()])
    }

    /// Runs statements in one session, until the first failure.
    pub(crate) fn try_run_together(&self, statements: &[String]) -> Result<(), Error> {
        on(&self.by_socket(), async |connection| {
            for sql in statements {
                connection.query(sql.as_bytes()).await?;
            }
            Ok(())
        })
    }

    /// Runs statements that must succeed.
    #[track_caller]
    pub(crate) fn run(&self, statements: &[&str]) {
        for sql in statements {
            if let Err(error) = self.try_run(sql) {
                panic!("{sql}: {error}");
            }
        }
    }

    /// The rows of a statement that must succeed, as text.
    #[track_caller]
    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        rows(&self.by_socket(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub(crate) fn is_mariadb(&self) -> bool {
        self.version.installation.flavour == Flavour::MariaDb
    }

    /// The version number, such as `8.0.33`.
    pub(crate) fn number(&self) -> &str {
        let version = &self.version.installation.version;
        version.split(['-', ' ']).next().unwrap_or(version)
    }

    /// The parts of the version number, such as 8, 0, 33.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        let numbers = self.number().split('.');
        numbers.map_while(|number| number.parse().ok()).collect()
    }

    /// The value of a status counter; empty if it does not exist.
    pub(crate) fn status(&self, name: &str) -> String {
        let mut rows = self.rows(&format!("SHOW STATUS LIKE '{name}'"));
        rows.pop().and_then(|mut row| row.pop()).unwrap_or_default()
    }
}

/// The same endpoint with another account.
pub(crate) fn as_user(endpoint: Endpoint, user: &str, password: &str) -> Endpoint {
    Endpoint {
        user: user.to_owned(),
        password: Some(Password::from(password)),
        database: None,
        ..endpoint
    }
}

/// Executes `what` on a new connection.
pub(crate) fn on<T>(
    endpoint: &Endpoint,
    act: impl AsyncFnOnce(&mut Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    reactor::block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let result = act(&mut connection).await?;
        connection.close().await?;
        Ok(result)
    })
    .unwrap()
}

/// The rows of a statement on a new connection, as text; NULL is `NULL`.
pub(crate) fn rows(endpoint: &Endpoint, sql: &str) -> Result<Vec<Vec<String>>, Error> {
    mariadb::read(endpoint, &[sql])
}

/// dbdyno in a directory that is also its data directory, except for installed servers: a test must not write to the
/// user's own list of results.
pub(crate) fn dbdyno(directory: &Path) -> Command {
    let data = directory.join("data");
    let kept = data.join("dbdyno");
    if !kept.exists() {
        std::fs::create_dir_all(&kept).unwrap();
        if let Some(installs) = server::installs_root().filter(|root| root.exists()) {
            symlink(installs, kept.join("installs")).unwrap();
        }
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_dbdyno"));
    command
        .current_dir(directory)
        .env("XDG_DATA_HOME", data)
        .stdin(Stdio::null());
    command
}
