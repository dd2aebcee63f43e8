//! Tests of a results directory: saved, read again, refused.

use std::{fs, path::Path};

use benchmarks::VOCABULARY;
use experiment::{Error, Experiment, Overrides, Progress, record_file_names};
use samples::{End, FORMAT, Line, RunHeader};
use settings::Rows;

use crate::Bench;

const TRIAL: &str = r#"
format = 1
repeats = 2
[matrix]
clients = [1, 2]
[load]
smack = "a.smack"
connections = "{clients}"
duration = "1s"
"#;

/// Saves an experiment whose files have no secrets.
fn save(experiment: &Experiment, results_dir: &Path) -> Result<(), Error> {
    experiment.save(results_dir, &mut files::Created::default(), &|_, _| None)
}

struct Results {
    bench: Bench,
    experiment: Experiment,
}

impl Results {
    fn new() -> Self {
        let bench = Bench::new();
        let experiment = bench.parse(TRIAL);
        fs::create_dir(bench.path("results")).unwrap();
        save(&experiment, &bench.path("results")).unwrap();
        Self { bench, experiment }
    }

    fn scan(&self) -> Result<Progress, Error> {
        Progress::scan(&self.bench.path("results"), self.experiment.plan())
    }

    /// Writes the record of a run, complete or truncated.
    fn record(&self, run: u32, end: Option<bool>) {
        let planned = &self.experiment.plan().runs[run as usize - 1];
        let header = Line::Run(RunHeader {
            format: FORMAT,
            dbdyno_version: "0.1.0".to_owned(),
            experiment: self.experiment.name().to_owned(),
            experiment_sha256: self.experiment.sha256(),
            seed: planned.seed,
            run,
            block: planned.block,
            combination: planned.combination.clone(),
            beside: Vec::new(),
            started_at: "2026-11-21T08:00:00Z".to_owned(),
            connections: 1,
            loops: 1,
            io: "epoll".to_owned(),
            transport: "unix socket".to_owned(),
        });
        let end = end.map(|complete| {
            Line::End(End {
                t_s: 1.0,
                complete,
                why: "the server was killed".to_owned(),
            })
        });
        let lines = [Some(header), end].into_iter().flatten();
        let text: String = lines
            .map(|line| serde_json::to_string(&line).unwrap() + "\n")
            .collect();
        let name = record_file_names(planned).next().unwrap();
        fs::write(self.bench.path("results").join(name), text).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.bench.path("results")).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("run-"))
            .collect();
        names.sort();
        names
    }
}

#[test]
fn done_runs_are_found_and_broken_ones_are_kept_aside() {
    let results = Results::new();
    assert_eq!(results.scan().unwrap().done(), 0);
    results.record(1, Some(true));
    results.record(2, Some(false));
    results.record(3, None);
    fs::write(
        results.bench.path("results/run-0004.jsonl"),
        "{\"line\":\"ru",
    )
    .unwrap();
    let mut progress = results.scan().unwrap();
    let done = results
        .experiment
        .plan()
        .runs
        .iter()
        .map(|run| progress.is_done(run));
    assert_eq!(done.collect::<Vec<_>>(), [true, false, false, false]);
    assert_eq!(progress.done(), 1);

    let kept = progress.set_aside().unwrap();
    assert_eq!(
        kept[0],
        results.bench.path("results/run-0002.incomplete-1.jsonl")
    );
    assert_eq!(
        progress.set_aside().unwrap(),
        Vec::<std::path::PathBuf>::new()
    );

    // The second time it is truncated again.
    results.record(2, Some(false));
    results.scan().unwrap().set_aside().unwrap();
    let expected = [
        "run-0001.jsonl",
        "run-0002.incomplete-1.jsonl",
        "run-0002.incomplete-2.jsonl",
        "run-0003.incomplete-1.jsonl",
        "run-0004.incomplete-1.jsonl",
    ];
    assert_eq!(results.names(), expected);
    assert_eq!(results.scan().unwrap().done(), 1);
}

#[test]
fn results_are_not_written_over() {
    let results = Results::new();
    let error = save(&results.experiment, &results.bench.path("results")).unwrap_err();
    assert!(matches!(error, Error::ResultsExist { .. }), "{error}");
    assert_eq!(
        fs::read_to_string(results.bench.path("results/experiment.toml")).unwrap(),
        TRIAL
    );
}

#[test]
fn results_of_another_experiment_are_refused_with_the_difference() {
    let results = Results::new();
    let dir = results.bench.path("results");
    let scaled = Overrides {
        scale: Some(0.5),
        ..Overrides::default()
    };
    let cases = [
        (
            TRIAL.replace("[1, 2]", "[1, 4]"),
            Overrides::default(),
            "line 5 of the experiment: was `clients = [1, 2]`, now it is `clients = [1, 4]`",
        ),
        (
            format!("{TRIAL}loops = 1\n"),
            Overrides::default(),
            "line 10 of the experiment: `loops = 1` is new",
        ),
        (
            TRIAL.to_owned(),
            scaled,
            "they were measured without --scale, this run is with --scale 0.5",
        ),
        (
            TRIAL.to_owned(),
            Overrides {
                simulate: true,
                ..Overrides::default()
            },
            "they were measured without --simulate, this run is with it",
        ),
        (
            TRIAL.to_owned(),
            Overrides {
                only: [("clients".to_owned(), vec!["1".to_owned()])].into(),
                ..Overrides::default()
            },
            "they were measured without --only, this run is with --only clients=1",
        ),
    ];
    for (text, overrides, difference) in cases {
        let other = results.bench.parse_with(&text, &overrides).unwrap();
        let error = Progress::scan(&dir, other.plan()).unwrap_err();
        assert!(error.to_string().ends_with(difference), "{error}");
        assert!(error.hint().is_some());
    }
    // Their copy of the file, edited and given to --resume: text and file agree then.
    let kept = dir.join("experiment.toml");
    let edited = TRIAL.replace("[1, 2]", "[1, 4]");
    fs::write(&kept, &edited).unwrap();
    let error = Progress::scan(&dir, results.bench.parse(&edited).plan()).unwrap_err();
    let difference = "its experiment.toml was edited after the experiment had started";
    assert!(error.to_string().ends_with(difference), "{error}");
    fs::write(&kept, TRIAL).unwrap();
    fs::write(results.bench.path("a.smack"), "// changed\n").unwrap();
    let error = Progress::scan(&dir, results.bench.parse(TRIAL).plan()).unwrap_err();
    assert!(
        error.to_string().ends_with("a.smack has changed since"),
        "{error}"
    );
}

#[test]
fn directories_that_cannot_be_continued() {
    let results = Results::new();
    let error = Progress::scan(results.bench.dir.path(), results.experiment.plan()).unwrap_err();
    assert!(matches!(error, Error::NoResults { .. }), "{error}");
    // Reports and audits of an incomplete copy end with the same error.
    assert!(error.to_string().contains(" has no experiment."), "{error}");
    assert!(
        error
            .hint()
            .unwrap()
            .starts_with("if the results were copied")
    );

    let planned = results.bench.path("results/run-0002.jsonl");
    results.record(1, Some(true));
    fs::rename(results.bench.path("results/run-0001.jsonl"), &planned).unwrap();
    let error = results.scan().unwrap_err();
    assert!(
        error.to_string().ends_with("it is the record of run 1"),
        "{error}"
    );

    let text = fs::read_to_string(&planned).unwrap();
    let foreign = text.replace(&results.experiment.sha256(), "0123");
    fs::write(&planned, foreign).unwrap();
    let error = results.scan().unwrap_err();
    assert!(error.to_string().ends_with("another experiment"), "{error}");

    fs::write(results.bench.path("results/experiment.json"), "{").unwrap();
    assert!(matches!(results.scan().unwrap_err(), Error::Damaged { .. }));
}

/// The results directory of an experiment, written by dbdyno before benchmarks had options of their own.
#[test]
fn results_of_earlier_versions_are_read() {
    let text = "format = 1\n[server]\nrun = \"mariadb-10.11\"\n[data]\nsmack = \"a.smack\"\nrows = \"250k\"\n[load]\nsmack = \"a.smack\"\nmix = \"10:1\"\nconnections = 1\nduration = \"9s\"\n";
    let facts = r#"{
  "format": 1,
  "scale": 0.5,
  "repeats": null,
  "seed": 7,
  "text_sha256": "ada12ea45fdac829c348c7a4eed078732d74b206cfba89afad8c7e1e17d68665",
  "files_sha256": {
    "a.smack": "aa6d71ff7286e9c78ffaa9ec1f15511038ec173e1b6f43739194114994aaec46"
  }
}
"#;
    let bench = Bench::new();
    let results = bench.path("results");
    fs::create_dir_all(results.join("files")).unwrap();
    fs::write(results.join("experiment.toml"), text).unwrap();
    fs::write(results.join("experiment.json"), facts).unwrap();
    fs::write(results.join("files/a.smack"), "# a.smack\n").unwrap();
    let then = std::path::Path::new("/gone/trial.toml");
    let experiment = Experiment::reread(&results, then, &VOCABULARY).unwrap();
    assert_eq!(
        experiment.sha256(),
        "758eea81dc1bc8e454190c601e5b38b5efee0240e90586d720d6a510bbc9949c"
    );
    let run = &experiment.plan().runs[0];
    let data = &run.data.as_ref().unwrap().source;
    assert_eq!(data.values.rows("rows"), Some(Rows::Count(125_000)));
    assert_eq!(
        run.loads[0].spec.source.values.mix("mix"),
        Some(&[10, 1][..])
    );
    assert_eq!(
        Progress::scan(&results, experiment.plan()).unwrap().done(),
        0
    );
}

/// Results from before `delivery` was an option of [load] tpcc keep the behaviour of that time when they are continued.
#[test]
fn results_keep_the_defaults_that_they_began_with() {
    let bench = Bench::new();
    let text = "format = 1\n[data]\ntpcc = { warehouses = 1 }\n[load]\ntpcc = {}\nconnections = 1\nduration = \"1s\"\n";
    let delivery = |experiment: &Experiment| {
        let run = &experiment.plan().runs[0];
        run.loads[0]
            .spec
            .source
            .values
            .text("delivery")
            .unwrap()
            .to_owned()
    };
    let now = bench.parse(text);
    assert_eq!(delivery(&now), "deferred");
    let results = bench.path("results");
    fs::create_dir(&results).unwrap();
    save(&now, &results).unwrap();
    let reread = |results: &Path| {
        let experiment = Experiment::reread(results, &bench.path("trial.toml"), &VOCABULARY);
        experiment.unwrap()
    };
    assert_eq!(delivery(&reread(&results)), "deferred");

    // The format of that time.
    let facts = fs::read_to_string(results.join("experiment.json")).unwrap();
    let former = facts.replace(",\n  \"defaults\": 2", "");
    assert_ne!(former, facts);
    fs::write(results.join("experiment.json"), former).unwrap();
    let then = reread(&results);
    assert_eq!(delivery(&then), "inline");
    // It is the same experiment, and repeated it is still that of the time.
    assert_eq!(then.sha256(), now.sha256());
    now.check(&results).unwrap();
    let again = bench.path("again");
    fs::create_dir(&again).unwrap();
    save(&then, &again).unwrap();
    assert_eq!(delivery(&reread(&again)), "inline");
}

/// Results from before the restriction on the order of the first blocks continue in the order that they began with.
#[test]
fn results_keep_the_order_that_they_began_with() {
    let bench = Bench::new();
    let text = |seed: u32| {
        format!(
            "format = 1\nseed = {seed}\n[matrix]\nside = [1, 2]\n[data]\ntpcc = {{ warehouses = 1 }}\n[load]\ntpcc = {{}}\nconnections = \"{{side}}\"\n\
             duration = \"1s\"\n"
        )
    };
    let sides = |experiment: &Experiment| -> Vec<String> {
        let runs = experiment.plan().runs.iter();
        runs.map(|run| run.combination["side"].clone()).collect()
    };
    let reread = |results: &Path| {
        let experiment = Experiment::reread(results, &bench.path("trial.toml"), &VOCABULARY);
        experiment.unwrap()
    };
    let mut changed = 0;
    for seed in 0..20 {
        let now = bench.parse(&text(seed));
        let results = bench.path(&format!("results-{seed}"));
        fs::create_dir(&results).unwrap();
        save(&now, &results).unwrap();
        assert_eq!(sides(&reread(&results)), sides(&now));
        let facts = fs::read_to_string(results.join("experiment.json")).unwrap();
        let former = facts.replace("\"defaults\": 2", "\"defaults\": 1");
        assert_ne!(former, facts);
        fs::write(results.join("experiment.json"), former).unwrap();
        let then = sides(&reread(&results));
        now.check(&results).unwrap();
        if then != sides(&now) {
            changed += 1;
            assert!(then.chunks(2).all(|block| block == &then[..2]), "{then:?}");
        }
    }
    // A quarter of them alternated strictly.
    assert!((1..=10).contains(&changed), "{changed}");
}
