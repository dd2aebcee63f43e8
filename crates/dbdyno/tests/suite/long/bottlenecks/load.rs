//! One run of dbdyno on the stage, and the limit that it reports.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use samples::Record;

use crate::long::staging::{disturbance::disturbance, stage::Stage};

/// Measured duration of each run; the states of the server's threads are sampled once a second.
const MEASURED: Duration = Duration::from_secs(3);

/// Parameters of one run: its statement, connections and route.
pub(crate) struct Load<'a> {
    pub(crate) statement: &'a str,
    pub(crate) connections: u32,
    /// Additional lines of `[load]`.
    pub(crate) pace: &'a str,
    /// Host and port, in place of the server's socket.
    pub(crate) address: Option<String>,
    /// Command-line words before dbdyno.
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

/// The program's report of a run.
pub(crate) struct Seen {
    /// The reported limit.
    pub(crate) named: String,
    /// The full text about the limit.
    pub(crate) words: String,
    disturbance: Option<String>,
}

impl Seen {
    /// The CPU share of other programs, if it was too large.
    pub(crate) fn disturbed(&self) -> Option<String> {
        let disturbance = self.disturbance.as_ref()?;
        Some(format!("{disturbance}; named was {}", self.named))
    }
}

impl Stage {
    /// Runs dbdyno and parses its report.
    #[track_caller]
    pub(crate) fn measure(&self, load: &Load<'_>) -> Seen {
        let results = self.write(load);
        // Results of the previous run.
        let _ = fs::remove_dir_all(&results);
        let program = env!("CARGO_BIN_EXE_dbdyno").to_owned();
        let mut words = load.within.iter().chain([&program]);
        let first = words.next().expect("there is the program");
        let output = Command::new(first)
            .args(words)
            .args([
                "run",
                "-v",
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
            disturbance: disturbance(&record),
            words,
        }
    }

    /// Writes the experiment; returns the path of its results.
    fn write(&self, load: &Load<'_>) -> PathBuf {
        let put = |name: &str, text: &str| fs::write(self.path().join(name), text).unwrap();
        let has_rows = if load.statement.starts_with("select") {
            "y"
        } else {
            "n"
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
