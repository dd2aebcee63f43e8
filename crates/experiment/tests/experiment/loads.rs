//! Tests of several loads in valid files.

use std::{collections::BTreeMap, fs, time::Duration};

use experiment::{Experiment, Overrides, PlannedRun, Progress, record_file_names, set_aside};
use settings::WarmUp;

use crate::Bench;

/// OLTP, and a batch job in half of the combinations.
const TWO: &str = r#"
format = 1
order = "file"
[matrix]
batch = [0, 2]
[data]
oltp = { tables = 1, table_size = "1k" }
[[load]]
name = "job"
slap = { query = "UPDATE sbtest1 SET k = k + 1" }
connections = "{batch}"
duration = "30s"
[[load]]
name = "oltp"
oltp = { script = "read_write" }
connections = 4
rate = 100
warmup = "10s"
pause = "2s"
"#;

fn names(run: &PlannedRun) -> Vec<String> {
    record_file_names(run).collect()
}

#[test]
fn loads_share_their_times_and_one_without_connections_is_left_out() {
    let experiment = Bench::new().parse(TWO);
    let [alone, both] = experiment.plan().runs.as_slice() else {
        panic!("two runs");
    };
    assert_eq!(names(alone), ["run-0001-oltp.jsonl"]);
    assert_eq!(names(both), ["run-0002-job.jsonl", "run-0002-oltp.jsonl"]);
    let connections = |run: &PlannedRun| -> u32 {
        let loads = run.loads.iter();
        loads.map(|load| load.spec.connections).sum()
    };
    assert_eq!((connections(alone), connections(both)), (4, 6));
    for load in &both.loads {
        assert_eq!(load.spec.duration, Duration::from_secs(30));
        assert_eq!(load.spec.warmup, WarmUp::For(Duration::from_secs(10)));
        assert_eq!(load.spec.pause, Duration::from_secs(2));
    }
    let rates = both.loads.iter().map(|it| it.spec.arrivals.rate_per_s());
    assert_eq!(rates.collect::<Vec<_>>(), [None, Some(100.0)]);
    assert_ne!(both.loads[0].seed, both.loads[1].seed);
    // In both runs the tables are those of OLTP, in its database.
    assert_eq!(alone.data_load.name.as_deref(), Some("oltp"));
    assert_eq!(alone.data_load.name, both.data_load.name);
    assert_eq!(alone.data_set(), both.data_set());
    let levels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()))
            .collect()
    };
    assert_eq!(both.combination, levels(&[("batch", "2")]));
    assert_eq!(
        both.combination_of(&both.loads[0].spec),
        levels(&[("batch", "2"), ("load", "job")])
    );
    let factors = experiment.factors().iter();
    let factors: Vec<_> = factors
        .map(|it| (it.name.as_str(), it.levels.len()))
        .collect();
    assert_eq!(factors, [("batch", 2), ("load", 2)]);
    let plan = experiment.plan().describe();
    assert!(plan.contains("loads   job  oltp\n"), "{plan}");
    // 1 s of a restart, 1 s around it and 42 s of load, for each run; one load of data.
    assert!(plan.contains("about 1 min"), "{plan}");
}

#[test]
fn every_load_is_scaled() {
    let overrides = Overrides {
        scale: Some(0.1),
        ..Overrides::default()
    };
    let scaled = Bench::new().parse_with(TWO, &overrides).unwrap();
    for load in &scaled.plan().runs[1].loads {
        assert_eq!(load.spec.duration, Duration::from_secs(3));
        assert_eq!(load.spec.warmup, WarmUp::For(Duration::from_secs(1)));
        assert_eq!(load.spec.pause, Duration::from_millis(200));
    }
}

#[test]
fn a_verdict_an_answer_and_a_chart_may_use_the_loads() {
    let text = format!(
        "{TWO}[verdict]\nbaseline = {{ batch = 0 }}\n[[answer]]\nname = \"OLTP\"\nwhere = {{ load = \"oltp\" }}\n\
         baseline = {{ batch = 0 }}\n[report]\nchart = {{ x = \"batch\", line = \"load\" }}\n"
    );
    let experiment = Bench::new().parse(&text);
    assert_eq!(experiment.chart().unwrap().line.as_deref(), Some("load"));
    let filter = &experiment.answers()[0].filter;
    assert_eq!(*filter, [("load".to_owned(), vec!["oltp".to_owned()])]);
}

/// Writes a record of a load of a run, complete or broken off.
fn write(bench: &Bench, experiment: &Experiment, run: &PlannedRun, load: usize, complete: bool) {
    let header = format!(
        r#"{{"line":"run","format":1,"dbdyno_version":"0","experiment":"trial","experiment_sha256":"{}","seed":1,"run":{},"block":{},"combination":{{}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":""}}"#,
        experiment.sha256(),
        run.run,
        run.block
    );
    let end = format!(r#"{{"line":"end","t_s":1.0,"complete":{complete},"why":""}}"#);
    let path = bench.path("results").join(&names(run)[load]);
    fs::write(path, format!("{header}\n{end}\n")).unwrap();
}

#[test]
fn a_run_is_done_when_all_of_its_records_are_complete() {
    let bench = Bench::new();
    let experiment = bench.parse(TWO);
    let results = bench.path("results");
    fs::create_dir(&results).unwrap();
    let mut created = files::Created::default();
    let masked = |_: &std::path::Path, _: &[u8]| None;
    experiment.save(&results, &mut created, &masked).unwrap();
    let both = &experiment.plan().runs[1];
    let scan = || Progress::scan(&results, experiment.plan()).unwrap();
    write(&bench, &experiment, both, 0, true);
    assert!(!scan().is_done(both), "the other record is missing");
    write(&bench, &experiment, both, 1, false);
    let kept = scan().set_aside().unwrap();
    let expected = [
        "run-0002-job.incomplete-1.jsonl",
        "run-0002-oltp.incomplete-1.jsonl",
    ];
    assert_eq!(kept, expected.map(|name| results.join(name)));
    for load in [0, 1] {
        write(&bench, &experiment, both, load, true);
    }
    assert!(scan().is_done(both));
    assert_eq!(scan().set_aside().unwrap().len(), 0);
    // All records of an attempt get one number.
    fs::write(results.join("run-0002-oltp.disturbed-1.jsonl"), "").unwrap();
    let kept = set_aside(&results, both, "disturbed").unwrap();
    let expected = [
        "run-0002-job.disturbed-2.jsonl",
        "run-0002-oltp.disturbed-2.jsonl",
    ];
    assert_eq!(kept, expected.map(|name| results.join(name)));
}
