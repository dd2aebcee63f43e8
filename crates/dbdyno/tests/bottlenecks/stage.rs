//! The stage: one private MariaDB with a few tables, and dbdyno run against it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use protocol::Connection;
use samples::{Disturbance, Record};
use server::{Installation, Lifetime, Server, Settings};
use tempfile::TempDir;

const PASSWORD: &str = "Wh1te rabbit";
/// How long each run is measured; the states of the server's threads are looked at once a second.
const MEASURED: Duration = Duration::from_secs(3);
/// Shares of the CPUs that others may have before a round counts as disturbed: user time, and the hypervisor's.
const DISTURBED: (f64, f64) = (0.1, 0.05);
const BIG_ROWS: u32 = 60_000;

/// The server and the directory that everything is in.
pub(crate) struct Stage {
    directory: TempDir,
    server: Option<Server>,
}

/// One run: which statement, by how many connections, and through what.
pub(crate) struct Load<'a> {
    pub(crate) statement: &'a str,
    pub(crate) connections: u32,
    /// Further lines of `[load]`.
    pub(crate) pace: &'a str,
    /// Host and port instead of the server's socket.
    pub(crate) address: Option<String>,
    /// Words before those that run dbdyno.
    pub(crate) within: Vec<String>,
}

impl<'a> Load<'a> {
    /// Eight connections in a closed loop over the unix socket.
    pub(crate) fn of(statement: &'a str) -> Self {
        Self {
            statement,
            connections: 8,
            pace: "",
            address: None,
            within: Vec::new(),
        }
    }
}

/// What the program said of a run.
pub(crate) struct Seen {
    /// The limit.
    pub(crate) named: String,
    /// All that it said of it.
    pub(crate) words: String,
    disturbance: Option<Disturbance>,
}

impl Seen {
    /// How much other programs used the machine, where that was too much.
    pub(crate) fn disturbed(&self) -> Option<String> {
        let disturbance = self.disturbance?;
        disturbance.is_above(DISTURBED.0, DISTURBED.1).then(|| {
            format!(
                "other programs used {:.0} % of the CPUs, the hypervisor took {:.0} %; named was {}",
                disturbance.others * 100.0,
                disturbance.steal * 100.0,
                self.named
            )
        })
    }
}

impl Stage {
    /// Makes the server and its tables.
    pub(crate) fn set() -> Self {
        // Sockets live below it, and the path of a socket is limited to 107 bytes.
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
        let set = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = Settings {
            set: set.into_iter().collect(),
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

    /// A condition on `id` that is true of this many rows of `big`, other ones at each time.
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

    /// Runs dbdyno, and reads what it says.
    #[track_caller]
    pub(crate) fn measure(&self, load: &Load<'_>) -> Seen {
        let results = self.write(load);
        // What the run before has left.
        let _ = fs::remove_dir_all(&results);
        let program = env!("CARGO_BIN_EXE_dbdyno").to_owned();
        let mut words = load.within.iter().chain([&program]);
        let first = words.next().expect("there is the program");
        let output = Command::new(first)
            .args(words)
            .args([
                "run",
                "trial.toml",
                "--results",
                "out",
                "--sample-every",
                "250ms",
            ])
            .current_dir(self.path())
            .env("HOME", self.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{}: {}\n{text}\n{}",
            load.statement,
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        let words = text
            .split_once("What limited it: ")
            .and_then(|(_, rest)| rest.split("\n\n").next())
            .unwrap_or_else(|| panic!("nothing is said of the limit:\n{text}"));
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let record = Record::open(&results.join("run-0001.jsonl")).unwrap();
        Seen {
            named: words.split(':').next().unwrap_or_default().to_owned(),
            disturbance: Disturbance::of(&record),
            words,
        }
    }

    /// Writes the experiment; where its results will be.
    fn write(&self, load: &Load<'_>) -> PathBuf {
        let put = |name: &str, text: &str| fs::write(self.path().join(name), text).unwrap();
        let has_rows = match load.statement.starts_with("select") {
            true => "y",
            false => "n",
        };
        put(
            "one.smack",
            &format!(
                "client \"one\" {{ user \"trial\"; host \"localhost\"; db \"test\"; query_barrel \"1 it\"; }}\n\
                 query \"it\" {{ query \"{}\"; type \"it\"; has_result_set \"{has_rows}\"; parsed \"n\"; }}\n\
                 main {{ one.init(); one.set_num_rounds($2); one.create_threads($1); one.connect(); \
                 one.unload_query_barrel(); one.collect_threads(); one.disconnect(); }}\n",
                load.statement
            ),
        );
        let socket = self.server().socket();
        let address = load.address.clone();
        let address = address.unwrap_or_else(|| socket.to_string_lossy().into_owned());
        put(
            "trial.toml",
            &format!(
                "format = 1\n[server]\naddress = \"{address}\"\nuser = \"trial\"\npassword_file = \"password\"\n\
                 database = \"test\"\n[load]\nsmack = \"one.smack\"\nconnections = {}\nwarmup = \"500ms\"\n\
                 duration = \"{}s\"\non_error = \"retry\"\n{}\n[disturbed]\nrepeats = \"0 %\"\n",
                load.connections,
                MEASURED.as_secs(),
                load.pace
            ),
        );
        self.path().join("out")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            // Its directory goes away in any case.
            let _ = server.destroy();
        }
    }
}
