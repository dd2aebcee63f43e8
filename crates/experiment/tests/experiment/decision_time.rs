//! Tests of the shortest time in which a plan can decide anything.

use std::time::Duration;

use experiment::DecisionTime;

use crate::{Bench, COSTS};

const COMPARISON: &str = r#"
format = 1
repeats = "until decided"
at_most = 20
time_at_most = "2m"
[matrix]
sync = ["0", "1"]
[server]
set = { sync_binlog = "{sync}" }
[data]
smack = "a.smack"
rows = "100k"
[load]
smack = "a.smack"
connections = 4
warmup = "2s"
duration = "10s"
[verdict]
baseline = { sync = "0" }
"#;

/// The shortest time of a plan, and the reason why a budget of this length is too short.
fn needed(text: &str, budget_s: u64) -> (f64, Option<String>) {
    let experiment = Bench::new().parse(text);
    let needed = DecisionTime::of(experiment.plan(), &COSTS);
    let budget = Duration::from_secs(budget_s);
    (needed.least_s, needed.exceeds("time_at_most", budget))
}

#[test]
fn three_blocks_are_needed_the_first_of_which_loads_the_data() {
    // A run takes 12 s, and 2.5 s around them. The first one loads 0.1 GB in 10 s, the others restore it in 1 s: blocks of
    // 2 * 14.5 + 10 + 1 = 40 s, 31 s and 31 s. The third one begins only if there is time for another 40 s.
    let (least_s, reason) = needed(COMPARISON, 110);
    assert!((least_s - 111.0).abs() < 1e-9, "{least_s}");
    assert_eq!(
        reason.unwrap(),
        "time_at_most of 1 min 50 s cannot decide anything: at least 3 runs of each of 2 combinations are needed, and with \
         the preparation of server and data they take about 1 min 51 s"
    );
    assert_eq!(needed(COMPARISON, 112).1, None);
}

#[test]
fn a_warm_up_or_a_measurement_that_can_end_by_itself_counts_as_none() {
    // Blocks of 2 * (10 + 2.5) + 11 = 36 s, 27 s and 27 s.
    let until_steady = COMPARISON.replace("warmup = \"2s\"", "warmup = \"auto\"");
    assert!((needed(&until_steady, 0).0 - 99.0).abs() < 1e-9);
    // Blocks of 2 * (2 + 2.5) + 11 = 20 s, 11 s and 11 s.
    let precise = COMPARISON.replace("duration", "precision = \"5 %\"\nduration");
    assert!((needed(&precise, 0).0 - 51.0).abs() < 1e-9);
}

#[test]
fn a_single_combination_is_not_counted() {
    let search = "format = 1\nrepeats = \"until decided\"\nat_most = 40\ntime_at_most = \"10s\"\n\
                  [server]\naddress = \"db1\"\n[load]\nsmack = \"a.smack\"\nconnections = 4\nduration = \"10s\"\n\
                  find = { p99 = \"20ms\" }\n";
    // Three runs of 10.5 s.
    let (least_s, reason) = needed(search, 10);
    assert!((least_s - 31.5).abs() < 1e-9, "{least_s}");
    let reason = reason.unwrap();
    assert!(
        reason.contains("at least 3 runs are needed, and"),
        "{reason}"
    );
}

#[test]
fn a_session_can_decide_alone() {
    let text = COMPARISON.replace("[matrix]", "design = \"side by side\"\n[matrix]");
    let text = text.replace("\"10s\"", "\"31s\"");
    let (_, reason) = needed(&text, 10);
    let reason = reason.unwrap();
    assert!(
        reason.starts_with("time_at_most of 10 s is too short for one session"),
        "{reason}"
    );
}
