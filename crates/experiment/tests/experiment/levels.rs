//! Tests of levels: labels, ranges, and factors that belong together.

use experiment::{Overrides, ServerSpec};

use crate::Bench;

const PAIRED: &str = r#"
format = 1
zip = ["size", "cnf"]
[matrix]
connections = "1..8 x2"
size = [{ label = "small pool", value = "64M" }, { label = "large pool", value = "1G" }]
cnf = ["small.cnf", "large.cnf"]
[[exclude]]
size = "small pool"
connections = [4, 8]
[server]
run = "mariadb-10.11"
cnf = ["{cnf}"]
set = { innodb_buffer_pool_size = "{size}" }
[data]
smack = "a.smack"
rows = 1000
[load]
smack = "a.smack"
connections = "{connections}"
duration = "10s"
[report]
chart = { x = "connections", line = "size" }
[verdict]
baseline = { size = "small pool" }
"#;

#[test]
fn paired_factors_are_one_with_labels() {
    let bench = Bench::new();
    let experiment = bench.parse(PAIRED);
    let factors = experiment.factors();
    assert_eq!(factors.len(), 2);
    assert_eq!(factors[0].levels, ["1", "2", "4", "8"]);
    assert_eq!(factors[1].levels, ["small pool", "large pool"]);
    let runs = &experiment.plan().runs;
    assert_eq!(runs.len(), 6);
    for run in runs {
        let ServerSpec::Private { cnf, set, .. } = &run.server else {
            panic!("{:?}", run.server);
        };
        let size = run.combination["size"].as_str();
        let (file, pool) = match size {
            "small pool" => ("small.cnf", "64M"),
            _ => ("large.cnf", "1G"),
        };
        assert_eq!(*cnf, [bench.path(file)]);
        assert_eq!(
            *set,
            [("innodb_buffer_pool_size".to_owned(), pool.to_owned())].into()
        );
        assert_eq!(run.combination.len(), 2);
        assert_eq!(
            run.loads[0].spec.connections.to_string(),
            run.combination["connections"]
        );
    }
    let plan = experiment.plan().describe();
    assert!(
        plan.contains(
            "factor  size         small pool (64M, small.cnf)  large pool (1G, large.cnf)"
        ),
        "{plan}"
    );
    let only = Overrides {
        only: [("size".to_owned(), vec!["large pool".to_owned()])].into(),
        ..Overrides::default()
    };
    assert_eq!(
        bench.parse_with(PAIRED, &only).unwrap().plan().runs.len(),
        4
    );
}

#[test]
fn ranges_stand_beside_levels() {
    let bench = Bench::new();
    let text = "format = 1\n[matrix]\nconnections = [\"1..10 +4\", 12]\nmix = [\"1..2\", \"1:0\"]\n\
                [each]\nbefore = [\"SELECT '{mix}'\"]\n[load]\nsmack = \"a.smack\"\n\
                connections = \"{connections}\"\nduration = \"1s\"\n";
    let experiment = bench.parse(text);
    assert_eq!(experiment.factors()[0].levels, ["1", "5", "9", "12"]);
    // Without a step it is a level.
    assert_eq!(experiment.factors()[1].levels, ["1..2", "1:0"]);
}

#[test]
fn several_groups_are_paired() {
    let bench = Bench::new();
    let text = "format = 1\nzip = [[\"a\", \"b\", \"c\"], [\"d\", \"e\"]]\n[matrix]\na = [1, 2]\nb = [3, 4]\n\
                c = [5, 6]\nd = [7, 8, 9]\ne = [1, 2, 3]\n[each]\nbefore = [\"SELECT {a} {b} {c} {d} {e}\"]\n\
                [load]\nsmack = \"a.smack\"\nconnections = 1\nduration = \"1s\"\n";
    let experiment = bench.parse(text);
    let mut said: Vec<String> = (experiment.plan().runs.iter())
        .map(|run| run.before[0].clone())
        .collect();
    said.sort();
    assert_eq!(
        said,
        [
            "SELECT 1 3 5 7 1",
            "SELECT 1 3 5 8 2",
            "SELECT 1 3 5 9 3",
            "SELECT 2 4 6 7 1",
            "SELECT 2 4 6 8 2",
            "SELECT 2 4 6 9 3"
        ]
    );
}

#[test]
fn levels_that_a_scale_makes_equal_are_reported() {
    let bench = Bench::new();
    let text = "format = 1\n[matrix]\nrows = [\"4k\", \"4000\", \"3k\", \"100k\"]\nconnections = [1, 2]\n\
                [data]\nsmack = \"a.smack\"\nrows = \"{rows}\"\n\
                [load]\nsmack = \"a.smack\"\nconnections = \"{connections}\"\nduration = \"10s\"\n";
    let equal = |scale| {
        let overrides = Overrides {
            scale: Some(scale),
            ..Overrides::default()
        };
        let experiment = bench.parse_with(text, &overrides).unwrap();
        let plan = experiment.plan();
        (plan.equal_levels().to_vec(), plan.describe())
    };
    // No fewer than 1000 rows: 400 and 300 become 1000. The author wrote 4k and 4000, which are equal without a scale.
    let (found, plan) = equal(0.1);
    assert_eq!(found, ["rows 4k and 3k measure the same with this scale"]);
    assert!(
        plan.contains("\nequal   rows 4k and 3k measure the same with this scale\n"),
        "{plan}"
    );
    // 2000 and 1500.
    let (found, plan) = equal(0.5);
    assert!(found.is_empty() && !plan.contains("equal"), "{plan}");
}
