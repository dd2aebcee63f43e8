//! A real MariaDB in a scene, for the commands that use an existing server.

use std::path::PathBuf;

use protocol::{Connection, Endpoint};
use server::{Installation, Lifetime, Server, Settings};

use crate::scene::Scene;

/// The password of the account `trial`; no output may contain it.
pub(crate) const PASSWORD: &str = "Wh1te rabbit";

/// A running server with an empty database `test` and an account `trial`; it ends with the test.
pub(crate) struct MariaDb {
    server: Option<Server>,
    password_file: PathBuf,
}

impl MariaDb {
    /// Creates and starts one with these options, in a directory separate from dbdyno's servers in the scene.
    pub(crate) fn start(scene: &Scene, options: &[(&str, &str)]) -> Self {
        let mut server = Self::make(scene, options);
        server.start(Lifetime::Owned).unwrap();
        let create = format!("create user trial@'%' identified by '{PASSWORD}'");
        rows(&server.endpoint(), &create);
        rows(&server.endpoint(), "grant all on *.* to trial@'%'");
        Self {
            password_file: scene.file("password", PASSWORD),
            server: Some(server),
        }
    }

    /// Creates one that does not run.
    pub(crate) fn make(scene: &Scene, options: &[(&str, &str)]) -> Server {
        let small = [("innodb_buffer_pool_size", "16M")];
        let options = small.iter().chain(options);
        let settings = Settings {
            set: options
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Settings::default()
        };
        let installation = Installation::find(Some("mariadb"), None).unwrap();
        Server::create(&scene.path().join("given"), &installation, &settings).unwrap()
    }

    fn server(&self) -> &Server {
        self.server.as_ref().expect("only a drop takes it")
    }

    /// The path of its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.server().socket()
    }

    /// Its TCP port.
    pub(crate) fn port(&self) -> u16 {
        self.server().port()
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        let server = self.server.as_mut().expect("only a drop takes it");
        server.kill().unwrap();
    }

    /// Connection options for its socket.
    pub(crate) fn by_socket(&self) -> Vec<String> {
        self.options(&format!("--socket={}", self.server().socket().display()))
    }

    /// Connection options for TCP.
    pub(crate) fn by_port(&self) -> Vec<String> {
        let mut options = self.options(&format!("--port={}", self.server().port()));
        options.push("--host=127.0.0.1".to_owned());
        options
    }

    fn options(&self, place: &str) -> Vec<String> {
        let password_file = self.password_file.display();
        vec![
            place.to_owned(),
            "--user=trial".to_owned(),
            format!("--password-file={password_file}"),
        ]
    }

    /// Keys of `[server]` for TCP.
    pub(crate) fn as_experiment(&self) -> String {
        format!(
            "address = \"127.0.0.1:{}\"\nuser = \"trial\"\npassword_file = \"{}\"",
            self.server().port(),
            self.password_file.display()
        )
    }

    /// Executes a statement this number of times, over one connection.
    #[track_caller]
    pub(crate) fn ask(&self, sql: &str, times: usize) {
        let asked = reactor::block_on(async {
            let mut connection = Connection::open(&self.server().endpoint()).await?;
            for _ in 0..times {
                connection.rows(sql).await?;
            }
            connection.close().await
        });
        asked.unwrap().unwrap();
    }

    /// Rows of a statement in the database `test`, as text.
    #[track_caller]
    pub(crate) fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        rows(&self.server().endpoint(), sql)
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

/// Rows of a statement, as text; NULL is `NULL`.
#[track_caller]
pub(crate) fn rows(endpoint: &Endpoint, sql: &str) -> Vec<Vec<String>> {
    let sets = reactor::block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let sets = connection.rows(sql).await?;
        connection.close().await?;
        Ok::<_, protocol::Error>(sets)
    });
    let sets = sets
        .unwrap()
        .unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = |value: Option<Vec<u8>>| {
        value.map_or("NULL".to_owned(), |bytes| {
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let rows = sets.into_iter().flat_map(|set| set.rows);
    rows.map(|row| row.into_iter().map(text).collect())
        .collect()
}
