//! Tests of the experiments that are shipped with dbdyno.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use benchmarks::VOCABULARY;
use experiment::{Costs, Experiment, Overrides, PlannedRun, ServerSpec};
use settings::Rows;

fn shipped(name: &str, scale: Option<f64>) -> Experiment {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../experiments")
        .join(name);
    let text = fs::read_to_string(&path).unwrap();
    parsed(&path, &text, scale)
}

fn parsed(path: &Path, text: &str, scale: Option<f64>) -> Experiment {
    let overrides = Overrides {
        scale,
        ..Overrides::default()
    };
    match Experiment::parse(path, text, &overrides, &VOCABULARY) {
        Ok(experiment) => experiment,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn hp_sizing_is_the_papers_grid() {
    let experiment = shipped("hp-sizing.toml", None);
    let runs = &experiment.plan().runs;
    assert_eq!(runs.len(), 140);
    let without_cache = runs
        .iter()
        .filter(|run| run.combination["query_cache"] == "0");
    assert_eq!(without_cache.clone().count(), 35);
    assert!(
        without_cache
            .into_iter()
            .all(|run| run.combination["rows"] == "0.5x")
    );
    let data_sets: BTreeSet<_> = runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(
        data_sets.len(),
        3,
        "the query cache needs no data of its own"
    );
    assert!(runs.iter().all(|run| {
        let source = run.data.as_ref().map(|data| &data.source);
        let rows = source.and_then(|source| source.values.rows("rows"));
        matches!(rows, Some(Rows::TimesBufferPool(_)))
    }));
}

#[test]
fn hp_sizing_shrinks_to_a_quarter_of_an_hour() {
    let experiment = shipped("hp-sizing.toml", Some(0.03));
    let plan = experiment.plan();
    assert_eq!(plan.runs.len(), 140);
    let ServerSpec::Private { set, .. } = &plan.runs[0].server else {
        panic!("private")
    };
    assert_eq!(set["innodb_buffer_pool_size"], "31M");
    let estimate = plan.estimate(&Costs::default());
    assert!(estimate < Duration::from_secs(15 * 60), "{estimate:?}");
}

#[test]
fn the_quickstart_takes_less_than_three_minutes() {
    let experiment = shipped("quickstart.toml", None);
    let plan = experiment.plan();
    assert_eq!(plan.runs.len(), 24);
    let estimate = plan.estimate(&Costs::default());
    assert!(estimate < Duration::from_secs(3 * 60), "{estimate:?}");
}

#[test]
fn the_plan_as_text() {
    let text = shipped("quickstart.toml", None).plan().describe();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..7],
        [
            "factor  mix          1:0  1:1",
            "factor  connections  1  2  8  32",
            "plan    8 combinations x 3 repeats = 24 runs, order random, seed 1",
            "time    about 2 min 26 s",
            "",
            "run  block  mix  connections",
            "  1      1  1:0            2",
        ],
        "{text}"
    );
    let text = shipped("hp-sizing.toml", Some(0.03)).plan().describe();
    assert!(text.contains("scale   0.03\n"), "{text}");
    assert!(text.ends_with("and 120 more\n"), "{text}");
}

#[test]
fn bulk_load_measures_one_table_on_data_of_its_own() {
    let experiment = shipped("bulk-load.toml", Some(0.1));
    let runs = &experiment.plan().runs;
    assert_eq!(runs.len(), 9 * 5);
    assert!(runs.iter().all(|run| run.loads[0].spec.ends_by_itself()));
    let data_sets: BTreeSet<_> = runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(data_sets.len(), 6, "one for each version and kind of keys");
    assert!(experiment.verdict().is_some());
}

#[test]
fn iops_limits_use_one_data_set_under_all_limits() {
    let experiment = shipped("iops-limits.toml", None);
    let runs = &experiment.plan().runs;
    assert_eq!(runs.len(), 4 * 3);
    let limits = runs.iter().map(|run| run.server.limit().disk.read_iops);
    let expected = [None, Some(1000), Some(3000), Some(10_000)];
    assert_eq!(limits.collect::<BTreeSet<_>>(), BTreeSet::from(expected));
    let data_sets: BTreeSet<_> = runs.iter().map(|run| run.data_set()).collect();
    assert_eq!(data_sets.len(), 1);
}

#[test]
fn ways_to_write_are_measured_with_a_limit_and_without() {
    let experiment = shipped("direct-buffered.toml", Some(0.1));
    let runs = &experiment.plan().runs;
    assert_eq!(runs.len(), 2 * (2 + 3) * 3);
    let sizes = runs
        .iter()
        .map(|run| run.loads[0].spec.source.values.count("size"));
    assert_eq!(
        sizes.collect::<BTreeSet<_>>(),
        BTreeSet::from([Some(102 << 20)])
    );
}

#[test]
fn the_burst_grid_pauses_before_each_of_its_cells() {
    let experiment = shipped("burst-grid.toml", None);
    let plan = experiment.plan();
    assert_eq!(plan.runs.len(), 4 * 4);
    let (pause, duration) = (Duration::from_secs(30), Duration::from_secs(180));
    let loads = plan.runs.iter().map(|run| &run.loads[0].spec);
    assert!(
        loads
            .clone()
            .all(|load| (load.pause, load.duration) == (pause, duration))
    );
    assert_eq!(
        plan.estimate(&Costs::default()),
        16 * (pause + Duration::from_secs(2) + duration),
        "an hour"
    );
}

#[test]
fn ssd_mycnf_asks_for_new_orders_on_two_file_systems() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/ssd-mycnf.toml");
    // Its file systems are made by root; any two directories are sufficient here.
    let mounts = tempfile::tempdir().unwrap();
    for fs in ["xfs", "ext4"] {
        fs::create_dir(mounts.path().join(format!("dbdyno-{fs}"))).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("/mnt/", &format!("{}/", mounts.path().display()));
    let experiment = parsed(&path, &text, Some(0.1));
    let runs = &experiment.plan().runs;
    assert_eq!(runs.len(), 4 * 5);
    assert_eq!(experiment.verdict().unwrap().metric, "new_orders_per_min");
    for run in runs {
        let ServerSpec::Private { set, .. } = &run.server else {
            panic!("private")
        };
        assert_eq!(set["innodb_buffer_pool_size"], "140M");
        let source = &run.data.as_ref().unwrap().source;
        assert_eq!(source.values.count("warehouses"), Some(2));
    }
}

#[test]
fn a_report_and_a_job_run_beside_oltp_in_turn() {
    let experiment = shipped("batch-beside-oltp.toml", None);
    let names = |run: &PlannedRun| -> Vec<String> {
        let loads = run.loads.iter().map(|load| load.spec.name.clone());
        loads.flatten().collect()
    };
    let runs = experiment.plan().runs.iter();
    let beside: BTreeSet<_> = runs
        .map(|run| (run.combination["beside"].clone(), names(run)))
        .collect();
    let expected = [
        ("job", vec!["oltp", "job"]),
        ("nothing", vec!["oltp"]),
        ("report", vec!["oltp", "report"]),
    ]
    .map(|(level, loads)| {
        (
            level.to_owned(),
            loads.into_iter().map(str::to_owned).collect(),
        )
    });
    assert_eq!(beside, BTreeSet::from(expected));
}

#[test]
fn the_contest_goes_directly_and_through_each_script() {
    let experiment = shipped("tuningathon-proxy.toml", None);
    let runs = &experiment.plan().runs;
    assert_eq!(runs.len(), 2 * 2 * (5 + 3) * 3);
    let ways = runs.iter().map(|run| match &run.proxy {
        None => "direct".to_owned(),
        Some(proxy) => match &proxy.script {
            None => "none".to_owned(),
            Some(script) => script.file_name().unwrap().to_string_lossy().into_owned(),
        },
    });
    let expected = ["direct", "none", "q0.lua", "q0q1.lua", "q0q1q2.lua"];
    assert_eq!(
        ways.collect::<BTreeSet<_>>(),
        expected.map(str::to_owned).into_iter().collect()
    );
    let cold = shipped("tuningathon-proxy-cold.toml", None);
    assert_eq!(cold.plan().runs.len(), 2 * 2 * 2 * 3);
}
