//! Tests of the HTML page: a snapshot of a small one, and content that no page may contain.

use proptest::prelude::*;
use report::{Chart, Factor, Results, html};
use samples::Host;

use crate::{
    observed::observed,
    synthetic::{asked, disturbed, drained, quickstart, sizing, two_hosts},
};

/// The page without styles, scripts and data, so that a snapshot stays readable.
pub(super) fn markup(page: &str) -> String {
    without(&without(page, "style"), "script").replace("><", ">\n<")
}

fn without(page: &str, element: &str) -> String {
    let (open, close) = (format!("<{element}"), format!("</{element}>"));
    let mut parts = page.split(&open);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| {
        kept + part
            .split_once(&close)
            .expect("every element of the page is closed")
            .1
    })
}

#[test]
fn small_page() {
    let mut results = quickstart(Host::Both);
    // One block is enough to show the shape of every part.
    results.runs.truncate(8);
    results.planned_runs = 8;
    let page = html(&results);
    // The part after the run list depends on whether the chart library was built in.
    let page = markup(&page);
    let (before, after) = page.split_once("aria-labelledby=\"runs\"").unwrap();
    let (_, after) = after.split_once("aria-labelledby=\"environment\"").unwrap();
    insta::assert_snapshot!(format!("{before}\n[the run list]\n{after}"));
}

#[test]
fn verdict_stands_first_and_its_blocks_follow() {
    let page = markup(&html(&asked()));
    let (_, after) = page.split_once("<main>").unwrap();
    let (verdict, _) = after.split_once("aria-labelledby=\"throughput\"").unwrap();
    insta::assert_snapshot!(verdict);
}

/// Sections in the order of a reader's interest.
#[test]
fn parts_stand_in_their_order() {
    let page = html(&asked());
    let parts = [
        "<h1>",
        "\"verdict\"",
        "\"differences\"",
        "\"throughput\"",
        "\"latency\"",
        "\"runs\"",
        "\"blocks\"",
        "\"time\"",
        "\"cpu\"",
        "\"environment\"",
        "\"reproduce\"",
    ];
    let places = parts.map(|part| {
        if part.starts_with('<') {
            page.find(part)
        } else {
            page.find(&format!("aria-labelledby={part}"))
        }
    });
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
}

#[test]
fn page_asks_nothing_of_a_network() {
    let page = html(&quickstart(Host::Both));
    assert!(page.contains("default-src 'none'"));
    for fetching in ["src=\"http", "href=\"http", "@import", "url(http", "<link"] {
        assert!(!page.contains(fetching), "{fetching}");
    }
}

#[test]
fn a_served_page_has_no_script_of_its_own_and_frames_what_happens_now() {
    let mut results = quickstart(Host::Both);
    results.planned_runs = 100;
    let page = report::served_html(&results, "7");
    assert!(page.contains("data-version=\"7\""));
    assert!(page.contains("<iframe src=\"/now\""));
    let complete = results.runs.iter().filter(|it| it.is_complete()).count();
    assert!(page.contains(&format!("{complete} of 100 runs")));
    // The policy comes as a header, and allows scripts of the server only.
    assert!(!page.contains("Content-Security-Policy"));
    let scripts = page.split("<script").skip(1);
    for script in scripts {
        let own = script.strip_prefix(" src=\"");
        match own.and_then(|it| it.split('"').next()) {
            Some(path) => assert!(report::served_script(path).is_some(), "{path}"),
            None => assert!(script.starts_with(" type=\"application/json\"")),
        }
    }
    assert_eq!(report::served_script("/nothing.js"), None);
}

/// With all that a server on an observed machine tells: what is shown of it has to be thinned, or left out, in the page.
#[test]
#[ignore = "a long round: make test-all"]
fn a_hundred_runs_of_a_minute_stay_below_three_megabytes() {
    let mut results = sizing(60, 100);
    results.planned_runs = 100;
    results.runs = results.runs.into_iter().map(observed).collect();
    let page = html(&results);
    for shown in [
        "for a disk",
        "checkpoint age",
        "history list",
        "Statements by time",
        "variable_599",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(page.len() < 3_000_000, "{}", page.len());
}

/// An hour of a few runs is no larger than a minute of many, and the page says how the seconds were combined.
#[test]
fn long_runs_are_thinned_and_say_so() {
    let page = |seconds: u32| html(&sizing(seconds, 1));
    let (short, long) = (page(600), page(3_600));
    assert!(!short.contains("Each point represents"));
    assert!(long.contains("Each point represents 4 values"));
    assert!(
        long.len() < short.len() * 2,
        "{} {}",
        long.len(),
        short.len()
    );
}

#[test]
fn client_machine_is_never_drawn_as_the_servers() {
    let page = html(&quickstart(Host::Client));
    assert!(page.contains("server host not observed"));
    assert!(html(&quickstart(Host::Both)).contains("id=\"cpu-0-0-t\""));
    assert!(!page.contains("id=\"cpu-0-0-t\""), "a CPU chart");
}

#[test]
fn two_hosts_are_told_apart() {
    let page = html(&two_hosts());
    assert!(!page.contains("Not observed: "));
    for shown in [
        "CPU of the server's machine",
        "CPU of the client's machine (not the server's)",
        "The server's host was observed through ssh://dba@db1 in 24 runs. Its time of day was 400 ms ahead of the \
         client's (± 81.0 µs); times in charts and record are the client's. The two clocks drifted apart by at most \
         3.1 ppm (known to ± 5.4 ppm).",
        "Run 24: server host not observed from ",
        "on: the connection was closed.",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(
        page.contains("id=\"cpu-0-0-t\""),
        "the chart of the server's CPU"
    );
}

#[test]
fn the_clients_cpus_are_counted_on_its_own_machine() {
    let mut record = two_hosts().runs.remove(0);
    record.machines[1].cpus = 10 * record.machines[0].cpus;
    let report = report::RunReport::of(&record, &[]);
    let alone = report::RunReport::of(&quickstart(Host::Client).runs[0], &[]);
    assert_eq!(report.client_cpus, alone.client_cpus);
    assert!(report.client_cpus.is_some() && report.server_cpus.unwrap() > 10.0);
    assert!(
        report
            .server_host
            .unwrap()
            .starts_with("observed through ssh://dba@db1, its time of day ")
    );
    assert_eq!(alone.server_cpus, None);
}

#[test]
fn only_what_the_author_asks_for_is_drawn() {
    let mut results = sizing(4, 140);
    let mut chart = results.chart.clone().unwrap();
    chart.y = vec!["p95".into()];
    results.chart = Some(chart);
    let page = html(&results);
    assert!(page.contains("Response time against connections"));
    assert!(!page.contains("Throughput against connections"));
    assert!(!page.contains("CPU of the server's machine against"));
}

#[test]
fn a_chart_with_a_scale_of_its_own_is_not_said_to_share_one() {
    let mut results = sizing(4, 140);
    results.runs.retain(|run| {
        let levels = &run.header.combination;
        levels["connections"] == "64" && levels["query_cache"] == "64M"
    });
    for factor in &mut results.factors {
        match factor.name.as_str() {
            "connections" => factor.levels = vec!["64".into()],
            "query_cache" => factor.levels = vec!["64M".into()],
            _ => {}
        }
    }
    results.chart = Some(Chart {
        x: "mix".into(),
        line: Some("rows".into()),
        facet: Vec::new(),
        y: Vec::new(),
    });
    let own = "Charts whose bars would be too short to read have their own scale";
    assert!(html(&results).contains(own), "4x is an eighth of 0.5x");
    results
        .runs
        .retain(|run| run.header.combination["rows"] != "4x");
    assert!(!html(&results).contains(own));
}

#[test]
fn the_drain_is_in_no_course_over_time() {
    let whole = quickstart(Host::Both);
    let with_drain = Results {
        runs: whole.runs.iter().cloned().map(drained).collect(),
        ..whole.clone()
    };
    // Not `assert_eq`: it would print two pages.
    assert!(html(&with_drain) == html(&whole));
}

#[test]
fn other_work_on_the_machine_is_said_once() {
    let mut results = quickstart(Host::Both);
    assert!(!html(&results).contains("Other programs used"));
    results.runs = results
        .runs
        .into_iter()
        .map(|record| disturbed(record, 0.2))
        .collect();
    assert_eq!(
        html(&results)
            .matches("Other programs used on average up to 23\u{a0}%")
            .count(),
        1
    );
}

#[test]
fn parts_of_the_cpu_are_said_to_make_100_percent() {
    let page = html(&quickstart(Host::Both));
    assert!(page.contains("server + client + rest + iowait + steal + idle add up to 100\u{a0}%"));
}

#[test]
fn response_times_stand_on_a_logarithmic_axis_that_says_so() {
    let mut results = quickstart(Host::Both);
    assert_eq!(
        html(&results)
            .matches(">response time, log scale</text>")
            .count(),
        2
    );
    results.chart = Some(Chart {
        x: "connections".into(),
        line: Some("mix".into()),
        facet: Vec::new(),
        y: vec!["p95".into()],
    });
    let page = html(&results);
    assert!(page.contains(">p95, log scale</text>"));
    for tick in ["500 µs", "1 ms", "2 ms", "5 ms"] {
        assert!(page.contains(&format!(">{tick}</text>")), "{tick}");
    }
}

/// Every string of the results set to `text`.
fn poisoned(text: &str) -> Results {
    let mut results = quickstart(Host::Both);
    results.runs.truncate(2);
    results.runs[1] = crate::synthetic::interrupted(results.runs[1].clone(), 5, text);
    results.name = text.into();
    results.question = text.into();
    results.experiment_text = text.into();
    results.factors = vec![
        Factor {
            name: text.into(),
            levels: vec!["a".into(), text.into()],
        },
        Factor {
            name: "connections".into(),
            levels: vec!["1".into(), "2".into()],
        },
    ];
    for (index, record) in results.runs.iter_mut().enumerate() {
        let level = if index == 0 { "a" } else { text };
        record.header.combination.insert(text.into(), level.into());
        record.header.transport = text.into();
        record.header.started_at = text.into();
        record.machines[0].name = text.into();
        record.machines[0].not_observed = vec![text.into()];
        record.servers[0].version = text.into();
        record.servers[0].variables.insert(text.into(), text.into());
        if let Some(data) = &mut record.dataset {
            data.source = text.into();
        }
        for error in &mut record.errors {
            error.message = text.into();
            error.load = text.into();
        }
    }
    results
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_string_of_the_results_becomes_markup(
        prefix in "[ -~]{0,6}",
        markup in prop::sample::select(vec![
            "<script>alert(1)</script>", "</script><b>", "\"><img src=x onerror=y>", "'><svg onload=z>", "<!--", "</style><i>",
        ]),
    ) {
        let page = html(&poisoned(&format!("{prefix}{markup}")));
        for broken in ["<script>alert", "</script><b>", "<img", "<svg onload", "<!--", "</style><i>"] {
            prop_assert!(!page.contains(broken), "{} from {:?}", broken, markup);
        }
        // An unescaped quote would end an attribute.
        prop_assert!(!page.contains("\"\"><img"));
    }
}
