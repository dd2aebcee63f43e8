//! The stage: one private MariaDB with a few tables.

use std::{fs, path::Path};

use protocol::Connection;
use server::{Installation, Lifetime, Server, Settings};
use tempfile::TempDir;

const PASSWORD: &str = "Wh1te rabbit";
const BIG_ROWS: u32 = 60_000;

/// The server, and the directory of all files.
pub(crate) struct Stage {
    directory: TempDir,
    server: Option<Server>,
}

impl Stage {
    /// Creates the server and its tables; `more` are additional options of the server.
    pub(crate) fn set(more: &[(&str, &str)]) -> Self {
        // Sockets are below it, and the path of a socket is limited to 107 bytes.
        let directory = tempfile::Builder::new().prefix("dyno").tempdir().unwrap();
        let options = [
            ("innodb_buffer_pool_size", "16M"),
            ("innodb_log_file_size", "64M"),
            ("innodb_flush_method", "O_DIRECT"),
            ("log_bin", "bin"),
            ("binlog_format", "ROW"),
            ("binlog_row_image", "MINIMAL"),
            ("innodb_log_buffer_size", "2M"),
            ("bind_address", "0.0.0.0"),
            ("skip_name_resolve", "1"),
        ];
        let set = options.iter().chain(more);
        let set = set.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings = Settings {
            set: set.collect(),
            ..Settings::default()
        };
        let installation = Installation::find(Some("mariadb"), None).unwrap();
        let mut server =
            Server::create(&directory.path().join("given"), &installation, &settings).unwrap();
        server.start(Lifetime::Owned).unwrap();
        let password = directory.path().join("password");
        fs::write(&password, PASSWORD).unwrap();
        let stage = Self {
            directory,
            server: Some(server),
        };
        stage.durable(false);
        for sql in [
            &format!("create user trial@'%' identified by '{PASSWORD}'"),
            "grant all on *.* to trial@'%'",
            "create table hot (id int primary key, n bigint, c char(100)) engine=innodb",
            "insert into hot values (1, 0, '')",
            "create table journal (id bigint primary key auto_increment, n int) engine=innodb",
            "create table whole (id int primary key, n int, c char(100)) engine=myisam",
            "insert into whole select seq, seq, 'x' from seq_1_to_20000",
            "create table big (id int primary key, n int, key (n), c char(250), d char(250), e char(250), f char(250)) \
             engine=innodb charset=latin1",
            &format!(
                "insert into big select seq, rand() * 1e9, 'c', 'd', 'e', 'f' from seq_1_to_{BIG_ROWS}"
            ),
        ] {
            stage.run_sql(sql);
        }
        stage
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().expect("only a drop takes it")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server().pid().expect("it runs until the test ends")
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A condition on `id` that selects this many rows of `big`, different ones on each execution.
    pub(crate) fn random_rows(rows: u32) -> String {
        format!(
            "(select 1 + floor(rand() * {BIG_ROWS}) as id from seq_1_to_{rows}) random join big using (id)"
        )
    }

    /// Whether a commit waits until both logs are on disk.
    pub(crate) fn durable(&self, is: bool) {
        let value = u8::from(is);
        self.run_sql(&format!(
            "set global innodb_flush_log_at_trx_commit = {value}"
        ));
        self.run_sql(&format!("set global sync_binlog = {value}"));
    }

    /// Runs a statement in the database `test`.
    #[track_caller]
    pub(crate) fn run_sql(&self, sql: &str) {
        self.run_in_turn(&[sql]);
    }

    /// Runs statements in one session.
    #[track_caller]
    pub(crate) fn run_in_turn(&self, statements: &[&str]) {
        let endpoint = self.server().endpoint();
        let done = reactor::block_on(async {
            let mut connection = Connection::open(&endpoint).await?;
            for sql in statements {
                connection.query(sql.as_bytes()).await?;
            }
            connection.close().await
        });
        done.unwrap()
            .unwrap_or_else(|error| panic!("{statements:?}: {error}"));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            // The directory is removed in any case.
            let _ = server.destroy();
        }
    }
}
