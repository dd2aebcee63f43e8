//! Tests of searches for the highest rate that keeps a limit, in valid files and beside what they exclude.

use std::time::Duration;

use experiment::{Overrides, PlannedRun, Repeats};
use settings::{Arrivals, Process};

use crate::Bench;

const SEARCH: &str = r#"
format = 1
order = "file"
repeats = "until decided"
at_most = 40
[matrix]
limit = ["20ms", "50ms"]
[load]
smack = "a.smack"
connections = 4
warmup = "1s"
duration = "10s"
find = { p99 = "{limit}", to = 5000 }
"#;

#[test]
fn each_combination_has_its_limit_and_each_run_its_rate() {
    let experiment = Bench::new().parse(SEARCH);
    let plan = experiment.plan();
    assert!(matches!(
        plan.repeats,
        Repeats::UntilDecided { at_most: 40, .. }
    ));
    assert_eq!(plan.runs.len(), 80);
    let find = plan.runs[1].loads[0].spec.find.as_ref().unwrap();
    assert_eq!((find.percentile, find.quantile), ("p99", 0.99));
    assert_eq!(find.limit, Duration::from_millis(50));
    assert_eq!((find.from_per_s, find.to_per_s), (None, Some(5_000.0)));
    assert_eq!(
        (find.precision, find.in_words()),
        (0.05, "p99 < 50 ms".to_owned())
    );
    let run = plan.runs[1].at_rate(411.5);
    let load = &run.loads[0].spec;
    let open = Arrivals::Open {
        rate_per_s: 411.5,
        process: Process::Poisson,
    };
    assert_eq!(load.arrivals, open);
    let levels = |run: &PlannedRun| -> Vec<(String, String)> {
        run.combination_of(&run.loads[0].spec).into_iter().collect()
    };
    let pair = |name: &str, level: &str| (name.to_owned(), level.to_owned());
    assert_eq!(levels(&run), [pair("limit", "50ms"), pair("rate", "411.5")]);
    // The combination itself has no rate: all runs of it belong to one search.
    assert_eq!(run.combination, plan.runs[1].combination);
    assert!(!run.combination.contains_key("rate"));
}

#[test]
fn the_plan_names_the_limits() {
    let text = Bench::new().parse(SEARCH).plan().describe();
    for expected in [
        "2 combinations x at most 40 repeats, until decided = at most 80 runs",
        "\nfind    the highest rate with p99 < 20 ms or p99 < 50 ms\n",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn the_plan_tells_how_long_a_search_usually_takes() {
    let usual = |text: &str| {
        let text = Bench::new().parse(text).plan().describe();
        let line = text.lines().find_map(|line| line.strip_prefix("usual   "));
        line.map(str::to_owned)
    };
    // Each block has two runs of 1 s + 10 s, and 1 s around each of them; a given server is not restarted.
    let given = SEARCH.replace("[load]", "[server]\naddress = \"db1\"\n[load]");
    let words = "20 to 40 runs of each combination, about";
    assert_eq!(
        usual(&given),
        Some(format!("{words} 8 min 0 s to 16 min 0 s"))
    );
    let budget = given.replace("at_most = 40", "at_most = 40\ntime_at_most = \"10m\"");
    assert_eq!(
        usual(&budget),
        Some(format!("{words} 8 min 0 s to 10 min 0 s"))
    );
    assert_eq!(usual(&given.replace("at_most = 40", "at_most = 20")), None);
}

#[test]
fn a_chart_shows_the_rates() {
    let chart = "[report]\nchart = { x = \"rate\", line = \"limit\" }\n";
    let experiment = Bench::new().parse(&format!("{SEARCH}{chart}"));
    assert_eq!(experiment.chart().unwrap().x, "rate");
    assert_eq!(experiment.factors().len(), 1);
    let without = "[report]\nchart = { x = \"limit\" }\n";
    let text = format!("{SEARCH}{without}");
    let error = Bench::new().parse_with(&text, &Overrides::default());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the chart leaves factor `rate` out"),
        "{error}"
    );
}

#[test]
fn runs_with_different_rates_are_neither_compared_nor_checked() {
    for (table, key) in [
        ("[verdict]\nbaseline = { limit = \"20ms\" }\n", "verdict"),
        ("[[answer]]\nname = \"highest\"\n", "answer"),
        ("[expect]\np99 = \"< 5ms\"\n", "expect"),
    ] {
        let text = format!("{SEARCH}{table}");
        let error = Bench::new().parse_with(&text, &Overrides::default());
        let error = error.unwrap_err().to_string();
        let expected = format!("`{key}` has no effect with `find` of [load]");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn events_and_a_fixed_number_of_runs_are_refused() {
    let event = "[[event]]\nat = \"5s\"\nsql = \"SELECT 1\"\n";
    let text = format!("{SEARCH}{event}");
    let error = Bench::new().parse_with(&text, &Overrides::default());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("`event` has no effect with `find`"),
        "{error}"
    );
    let overrides = Overrides {
        repeats: Some(5),
        ..Overrides::default()
    };
    let error = Bench::new().parse_with(SEARCH, &overrides).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("--repeats fixes the number of runs"),
        "{error}"
    );
}
