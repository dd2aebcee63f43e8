//! Invalid input: seeded mutations of valid files and options, for every command that reads them.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::torture::{
    attack::small_smack,
    chance::Chance,
    figures::{Case, Kind},
    ground::{Ground, Place, contents, harmed},
    judgement,
    mutation::{mutated, mutated_word},
    trial::Ended,
};

const TIME_MAX: Duration = Duration::from_secs(60);
const LIST: &str = ".local/share/dbdyno/history.jsonl";
/// For a debug build of dbdyno and files of a megabyte at most.
const BYTES_MAX: u64 = 400 << 20;

/// The kind `inputs`: mutated texts of the repository.
pub(crate) struct Inputs<'a> {
    ground: &'a Ground,
    experiments: Vec<(String, Vec<u8>)>,
    smacks: Vec<(String, Vec<u8>)>,
    records: Vec<(String, Vec<u8>)>,
    /// Results of a run, with all their files.
    results: Place,
}

/// The mutated input of a case, and the command that reads it.
const SORTS: [&str; 12] = [
    "experiment: run --plan",
    ".smack: run --plan",
    ".smack: super-smack",
    "my.cnf: server check",
    "my.cnf: tables",
    "record: report, audit, top",
    "record: compare",
    "results: report, audit, compare, rerun",
    "results: run --resume",
    "list of results: history",
    "options",
    "gen-data",
];

impl<'a> Inputs<'a> {
    pub(crate) fn new(ground: &'a Ground) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let results = ground.place();
        results.file("trial.smack", small_smack());
        results.file("trial.toml", simulated());
        let ended = results
            .trial(["run", "trial.toml", "--simulate", "--results", "out"])
            .run();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        Self {
            ground,
            experiments: texts(&root.join("experiments"), "toml"),
            smacks: texts(&root.join("experiments/smacks"), "smack"),
            records: texts(&root.join("crates/audit/fixtures"), "jsonl"),
            results,
        }
    }

    /// Creates the input of a sort; returns the command that reads it.
    fn make(&self, sort: &str, place: &Place, chance: &mut Chance) -> Vec<String> {
        match sort {
            "experiment: run --plan" => self.experiment(place, chance),
            ".smack: run --plan" => self.planned_smack(place, chance),
            ".smack: super-smack" => self.smack(place, chance),
            "my.cnf: server check" => self.server_options(place, chance),
            "my.cnf: tables" => self.client_options(place, chance),
            "record: report, audit, top" => self.record(place, chance),
            "record: compare" => self.compared(place, chance),
            "results: report, audit, compare, rerun" => self.directory(place, chance),
            "results: run --resume" => self.resumed(place, chance),
            "list of results: history" => self.history(place, chance),
            "options" => self.options(place, chance),
            "gen-data" => self.gen_data(place, chance),
            other => panic!("there is no sort {other:?}"),
        }
    }

    fn experiment(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        for (name, text) in &self.smacks {
            place.file(&format!("smacks/{name}"), text);
        }
        let (_, text) = chance.one_of(&self.experiments);
        place.file("trial.toml", mutated(text, chance));
        words(&["run", "trial.toml", "--plan"])
    }

    fn planned_smack(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        let (_, text) = chance.one_of(&self.smacks);
        place.file("trial.smack", mutated(text, chance));
        place.file("trial.toml", simulated());
        words(&["run", "trial.toml", "--plan"])
    }

    fn smack(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        let (_, text) = chance.one_of(&self.smacks);
        place.file("trial.smack", mutated(text, chance));
        // No server listens there: input that is still valid ends with that error.
        words(&[
            "super-smack",
            "--host=127.0.0.1",
            "--port=1",
            "trial.smack",
            "2",
            "5",
        ])
    }

    fn server_options(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        const GOOD: &[u8] = b"# mine\n[mysqld]\ninnodb_buffer_pool_size = 64M\nmax_connections=77\n\
            innodb-flush-log-at-trx-commit = 2\nskip_name_resolve\nsql_mode = \"STRICT_ALL_TABLES\"\n\
            [mysqld-10.11]\nsort_buffer_size=1M\n[client]\nport=1\n";
        place.file("my.cnf", mutated(GOOD, chance));
        words(&["server", "check", "--run=mariadb", "--cnf=my.cnf"])
    }

    fn client_options(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        const GOOD: &[u8] = b"[client]\nhost = 127.0.0.1\nport = 1\nuser=\"a b\"\n\
            password = 'x#y\\s' # no\nssl-mode=disabled\ndefault-character-set=utf8mb4\n\
            connect_timeout = 2\n[mysql]\ndatabase=test\n";
        place.file("my.cnf", mutated(GOOD, chance));
        // Whatever the file contains, the command line selects a port without a server.
        words(&[
            "tables",
            "--defaults-file=my.cnf",
            "--host=127.0.0.1",
            "--port=1",
        ])
    }

    fn record(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        let (_, text) = chance.one_of(&self.records);
        place.file("record.jsonl", mutated(text, chance));
        const READERS: &[&[&str]] = &[
            &["report", "record.jsonl", "--format=json"],
            &["report", "record.jsonl", "--format=json", "--seconds"],
            &["report", "record.jsonl", "--format=csv"],
            &["report", "record.jsonl", "--format=markdown"],
            &["report", "record.jsonl", "--format=openmetrics"],
            &["report", "record.jsonl", "--format=svg"],
            &["report", "record.jsonl", "--output=../page.html"],
            &["report", "record.jsonl", "--output=../page.parquet"],
            &["report", "record.jsonl", "--output=../page.png"],
            &["audit", "record.jsonl"],
            &["audit", "record.jsonl", "--format=json"],
            &["top", "--plain", "record.jsonl"],
        ];
        words(chance.one_of::<&[&str]>(READERS))
    }

    fn compared(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        let (_, text) = chance.one_of(&self.records);
        place.file("a.jsonl", text);
        place.file("b.jsonl", mutated(text, chance));
        let formats = ["--format=text", "--format=json", "--format=markdown"];
        let mut args = words(&["compare", "a.jsonl", "b.jsonl", "--anyway"]);
        args.push((*chance.one_of(&formats)).to_owned());
        args
    }

    /// Copies valid results, and mutates or removes one file.
    fn spoil_results(&self, place: &Place, chance: &mut Chance) {
        let from = self.results.path().join("out");
        let found = contents(&from);
        let files: Vec<_> = found.keys().filter(|path| path.is_file()).collect();
        let victim = (*chance.one_of(&files)).clone();
        for path in files {
            let name = path.strip_prefix(&from).expect("it is below it");
            let name = Path::new("out").join(name);
            let name = name.to_str().expect("dbdyno names its files plainly");
            let content = fs::read(path).expect("it was listed");
            match *path == victim {
                true if chance.one_in(8) => {}
                true => drop(place.file(name, mutated(&content, chance))),
                false => drop(place.file(name, &content)),
            }
        }
    }

    fn directory(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        self.spoil_results(place, chance);
        const READERS: &[&[&str]] = &[
            &["report", "out", "--format=json"],
            &["report", "out", "--format=markdown"],
            &["report", "out", "--output=../page.html"],
            &["report", "out", "--charts=../pictures", "--format=svg"],
            &["audit", "out"],
            &["compare", "out", "out", "--anyway"],
            &["top", "--plain", "out"],
            &["history", "--dir=out"],
            &[
                "rerun",
                "out",
                "--results=../again",
                "--mysqld=/nonexistent/mysqld",
            ],
        ];
        words(chance.one_of::<&[&str]>(READERS))
    }

    fn resumed(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        self.spoil_results(place, chance);
        place.file("trial.smack", small_smack());
        place.file("trial.toml", simulated());
        words(&[
            "run",
            "trial.toml",
            "--simulate",
            "--results=out",
            "--resume",
        ])
    }

    fn history(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        let list = self.results.path().join(LIST);
        let list = fs::read(list).expect("a run is listed");
        place.file(LIST, mutated(&list, chance));
        words(chance.one_of::<&[&str]>(&[&["history"][..], &["history", "--of=trial"]]))
    }

    fn options(&self, place: &Place, chance: &mut Chance) -> Vec<String> {
        place.file("trial.smack", small_smack());
        place.file("trial.toml", simulated());
        place.file("a.jsonl", &self.records[0].1);
        const GOOD: &[&[&str]] = &[
            &[
                "run",
                "trial.toml",
                "--plan",
                "--scale=0.5",
                "--repeats=3",
                "--seed=1",
            ],
            &[
                "run",
                "trial.toml",
                "--plan",
                "--only=connections=1",
                "--sample-every=500ms",
            ],
            &[
                "oltp",
                "read_write",
                "run",
                "--port=1",
                "--host=127.0.0.1",
                "--duration=5s",
                "--warmup=1s",
            ],
            &[
                "oltp",
                "read_only",
                "run",
                "--port=1",
                "--host=127.0.0.1",
                "--rate=100",
                "--tables=4",
            ],
            &[
                "oltp",
                "insert",
                "prepare",
                "--port=1",
                "--host=127.0.0.1",
                "--table-size=10k",
                "--threads=2",
            ],
            &[
                "tpcc",
                "run",
                "--port=1",
                "--host=127.0.0.1",
                "--connections=2",
                "--duration=5s",
            ],
            &[
                "tpcc",
                "load",
                "--port=1",
                "--host=127.0.0.1",
                "--warehouses=1",
                "--parallel=2",
            ],
            &[
                "tpch",
                "load",
                "--port=1",
                "--host=127.0.0.1",
                "--scale-factor=0.01",
            ],
            &[
                "mysqlslap",
                "--no-defaults",
                "-h127.0.0.1",
                "-P1",
                "-c2,4",
                "-i2",
                "--number-of-queries=10",
            ],
            &[
                "top",
                "--plain",
                "a.jsonl",
                "--speed=2",
                "--count=3",
                "--every=1s",
            ],
            &[
                "compare",
                "a.jsonl",
                "a.jsonl",
                "--margin=2",
                "--fail-if=p99 +5%",
            ],
            &["history", "--last=20", "--metric=p99"],
            &["audit", "a.jsonl", "--rule=C01", "--level=warn"],
            &["report", "a.jsonl", "--format=svg", "--chart=throughput"],
            &[
                "tpcc_start",
                "-h127.0.0.1",
                "-P1",
                "-dtpcc",
                "-utrial",
                "-w1",
                "-c1",
                "-r1",
                "-l1",
            ],
        ];
        let mut args = words(chance.one_of::<&[&str]>(GOOD));
        for _ in 0..1 + chance.below(2) {
            let at = 1 + chance.below(args.len() - 1);
            args[at] = mutated_word(&args[at], chance);
        }
        // The port is named last, so that no case connects to a server of this machine.
        if args.iter().any(|arg| arg == "--host=127.0.0.1") {
            args.push("--port=1".to_owned());
        }
        args.retain(|arg| !arg.contains('\0'));
        args
    }

    fn gen_data(&self, _: &Place, chance: &mut Chance) -> Vec<String> {
        let format = mutated_word("%12-12s%n,%25-25s,%3-5s,%n,%d,%%", chance);
        let format = format.replace('\0', "0");
        words(&["gen-data", "-n", "50", "-f", &format])
    }
}

impl Kind for Inputs<'_> {
    fn name(&self) -> &'static str {
        "inputs"
    }

    fn workers(&self) -> usize {
        3
    }

    fn case(&self, number: u64, mut chance: Chance) -> Case {
        let name = SORTS[number as usize % SORTS.len()];
        let place = self.ground.place();
        let inner = place.inner("in");
        let args = self.make(name, &inner, &mut chance);
        let before = contents(place.path());
        let list = fs::read(inner.path().join(LIST)).unwrap_or_default();
        let ended = inner.trial(args).within(TIME_MAX).below(BYTES_MAX).run();
        let mut faults = judgement::faults(&ended);
        faults.extend(wrong_code(&ended));
        // A resumed run changes the directory; a list may grow.
        match name {
            "results: run --resume" => {}
            "list of results: history" => faults.extend(lost_lines(&list, &inner)),
            _ => faults.extend(harmed(&before, place.path())),
        }
        faults.extend(left_in(&inner.path().join("tmp")));
        Case::of(
            name.to_owned(),
            &place.path().display().to_string(),
            &ended,
            faults,
        )
    }
}

/// A fault if the list of results was changed other than by appended lines.
fn lost_lines(before: &[u8], place: &Place) -> Option<String> {
    let now = fs::read(place.path().join(LIST)).unwrap_or_default();
    (!now.starts_with(before)).then(|| "the list of results lost lines".to_owned())
}

/// Invalid input must have exit code 2; harmless input has that of the command's answer.
fn wrong_code(ended: &Ended) -> Option<String> {
    // Input that is still valid leads to a port without a server, or to an unused address.
    let is_tried = ["cannot connect", "not logged in after"]
        .iter()
        .any(|word| ended.stderr.contains(word));
    match ended.code {
        Some(3) if is_tried => None,
        Some(code @ (3 | 4 | 130)) => Some(format!("exit code {code} of bad input")),
        _ => None,
    }
}

/// The content of a temporary directory that should be empty.
pub(crate) fn left_in(temporary: &Path) -> Option<String> {
    let left: Vec<PathBuf> = contents(temporary).into_keys().collect();
    (!left.is_empty()).then(|| format!("left in the temporary directory: {left:?}"))
}

/// An experiment of two short runs against a null server.
pub(crate) fn simulated() -> String {
    "format = 1\nquestion = \"Is it survived?\"\nseed = 3\n[matrix]\nconnections = [1, 2]\n[server]\n\
     [data]\nsmack = \"trial.smack\"\nrows = \"300\"\n[load]\nsmack = \"trial.smack\"\nmix = \"1:1\"\n\
     connections = \"{connections}\"\nthink_time = \"1ms\"\nwarmup = \"100ms\"\nduration = \"400ms\"\n\
     [disturbed]\nrepeats = \"0 %\"\n"
        .to_owned()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Names and texts of the files of a directory with this extension.
fn texts(directory: &Path, ending: &str) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| {
        panic!("{}: {error}", directory.display());
    });
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    paths.sort();
    let text = |path: &PathBuf| {
        let name = path
            .file_name()
            .expect("it was listed")
            .to_string_lossy()
            .into_owned();
        (name, fs::read(path).expect("it was listed"))
    };
    paths.iter().map(text).collect()
}
