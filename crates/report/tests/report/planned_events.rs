//! Tests of the answer about planned events: on the page, in the summary, in the tables and in Markdown.

use std::path::Path;

use report::{Chart, Factor, Results, html, markdown, summary, table};
use samples::{EventOutcome, Host};

use crate::{
    page::markup,
    slumps::{Slump, even, with_event},
    synthetic::{Plan, quickstart},
};

const REBUILD: Slump = Slump {
    name: "ALTER TABLE",
    at_s: 10,
    took_s: 6,
    share: 0.2,
    back_s: 4,
    outcome: EventOutcome::Done,
};
const INSTANT: Slump = Slump {
    took_s: 1,
    share: 1.2,
    back_s: 0,
    ..REBUILD
};
const COPY: Slump = Slump {
    took_s: 12,
    share: 0.0,
    back_s: 60,
    ..REBUILD
};
const REFUSED: Slump = Slump {
    took_s: 1,
    share: 0.9,
    back_s: 0,
    outcome: EventOutcome::Failed,
    ..REBUILD
};
const CRASH: Slump = Slump {
    name: "crash",
    at_s: 30,
    took_s: 3,
    share: 0.0,
    back_s: 1,
    outcome: EventOutcome::Done,
};

/// A run of a combination with its events.
fn run(
    number: u32,
    block: u32,
    combination: &[(&'static str, &str)],
    events: &[Slump],
) -> samples::Record {
    let plan = Plan {
        run: number,
        block,
        combination: combination
            .iter()
            .map(|(name, level)| (*name, (*level).to_owned()))
            .collect(),
        connections: 8,
        limit_per_s: 1_400.0,
        measured_s: 40,
        host: Host::Both,
    };
    events.iter().fold(even(&plan), |record, event| {
        with_event(record, &plan, event)
    })
}

fn results(factors: &[(&str, &[&str])], runs: Vec<samples::Record>) -> Results {
    let factors = factors.iter().map(|(name, levels)| Factor {
        name: (*name).to_owned(),
        levels: levels.iter().map(|level| (*level).to_owned()).collect(),
    });
    Results {
        name: "alter".into(),
        question: "What does an ALTER TABLE cost the load that runs meanwhile?".into(),
        factors: factors.collect(),
        planned_runs: runs.len() as u32,
        runs,
        ..quickstart(Host::Both)
    }
}

const CHANGES: [&str; 3] = ["instantly", "in place", "by copy"];
const VERSIONS: [&str; 2] = ["mysql-5.6", "mysql-8.0"];

/// Two executions of three changes on two versions, of which one combination is left out, one is refused by the server, one
/// is refused in one execution, and one does not recover.
fn grid() -> Results {
    let mut runs = Vec::new();
    for block in 1..=2 {
        for (change, version, event) in [
            ("by copy", "mysql-5.6", COPY),
            ("instantly", "mysql-8.0", INSTANT),
            ("in place", "mysql-5.6", REFUSED),
            ("in place", "mysql-8.0", REBUILD),
            (
                "by copy",
                "mysql-8.0",
                if block == 1 { REBUILD } else { REFUSED },
            ),
        ] {
            let combination = [("change", change), ("version", version)];
            runs.push(run(runs.len() as u32 + 1, block, &combination, &[event]));
        }
    }
    let mut results = results(&[("version", &VERSIONS), ("change", &CHANGES)], runs);
    results.chart = Some(Chart {
        x: "version".into(),
        line: Some("change".into()),
        facet: Vec::new(),
        y: Vec::new(),
    });
    results
}

/// One combination with two events.
fn alone() -> Results {
    results(&[], vec![run(1, 1, &[], &[REBUILD, CRASH])])
}

/// Two events in each of three combinations.
fn several() -> Results {
    let runs = CHANGES.iter().zip([INSTANT, REBUILD, REFUSED]);
    let runs = runs
        .zip(1..)
        .map(|((change, event), number)| run(number, 1, &[("change", change)], &[event, CRASH]));
    results(&[("change", &CHANGES)], runs.collect())
}

/// An event whose name is its statement, which differs between the combinations.
fn unnamed() -> Results {
    let runs = CHANGES.iter().zip([
        "ALTER TABLE t ADD c",
        "ALTER TABLE t FORCE",
        "ALTER TABLE t DROP d",
    ]);
    let runs = runs.zip(1..).map(|((change, name), number)| {
        run(
            number,
            1,
            &[("change", change)],
            &[Slump { name, ..REBUILD }],
        )
    });
    results(&[("change", &CHANGES)], runs.collect())
}

/// The grid at two sizes, each a facet.
fn facets() -> Results {
    let mut results = grid();
    let small = results.runs.clone();
    for record in &mut results.runs {
        record.header.combination.insert("rows".into(), "4x".into());
        record.header.run += 10;
    }
    results.runs.extend(small.into_iter().map(|mut record| {
        record.header.combination.insert("rows".into(), "1x".into());
        record
    }));
    results.factors.push(Factor {
        name: "rows".into(),
        levels: vec!["1x".into(), "4x".into()],
    });
    results.planned_runs = 20;
    results
}

/// The grid of an author who asks for a comparison.
fn asked() -> Results {
    Results {
        verdict: Some(verdict::Question {
            metric: verdict::Metric::Throughput,
            baseline: vec![("change".into(), "in place".into())],
            min_effect: 0.05,
            until_decided: None,
        }),
        ..grid()
    }
}

fn summarised(results: &Results, width: u16) -> String {
    summary(results, Path::new("results/alter-1"), width, &|_| None)
}

/// The verdict of the page, and its section of the events.
fn answered(results: &Results) -> String {
    let page = markup(&html(results));
    let (_, after) = page.split_once("<main>").unwrap();
    let end = after
        .find("aria-labelledby=\"throughput\"")
        .or_else(|| after.find("aria-labelledby=\"runs\""));
    after[..end.unwrap()].to_owned()
}

#[test]
fn the_answer_is_the_range_of_the_costs_and_a_table() {
    insta::assert_snapshot!(answered(&grid()));
}

#[test]
fn the_summary_has_a_table_that_fits() {
    let widths = [60, 80, 120].map(|width| summarised(&grid(), width));
    insta::assert_snapshot!(widths.join("\n"));
}

#[test]
fn a_table_of_one_factor_has_a_row_for_each_level() {
    insta::assert_snapshot!(summarised(&unnamed(), 80));
}

#[test]
fn without_room_for_a_table_the_highest_and_the_lowest_cost_are_named() {
    insta::assert_snapshot!([summarised(&facets(), 80), summarised(&several(), 80)].join("\n"));
}

#[test]
fn the_answer_of_one_combination_is_a_sentence_for_each_event() {
    let results = alone();
    insta::assert_snapshot!(answered(&results));
    insta::assert_snapshot!(summarised(&results, 80));
}

#[test]
fn events_of_several_combinations_have_a_table_each() {
    let page = answered(&several());
    assert_eq!(page.matches("<table class=\"event-costs\">").count(), 2);
    insta::assert_snapshot!(page);
}

#[test]
fn a_name_that_differs_stands_with_its_combination() {
    let page = answered(&unnamed());
    assert!(page.contains("ALTER TABLE t … at 10 s: from"), "{page}");
    assert!(
        page.contains("<small>ALTER TABLE t FORCE</small>"),
        "{page}"
    );
}

#[test]
fn facets_are_groups_of_rows() {
    let page = answered(&facets());
    assert_eq!(page.matches("<table class=\"event-costs\">").count(), 1);
    assert!(
        page.contains("<th class=\"group\" scope=\"rowgroup\" colspan=\"3\">rows 4x</th>"),
        "{page}"
    );
}

#[test]
fn in_markdown_the_costs_stand_first() {
    insta::assert_snapshot!(markdown(&grid()));
}

#[test]
fn all_tables_begin_with_the_range_and_have_a_sentence_for_each_combination() {
    let text = table(&grid(), 100).replace('\n', " ");
    let range = text.find("ALTER TABLE at 10 s: from").unwrap();
    let single = text
        .find("change in place, version mysql-8.0: event ALTER TABLE at 10 s took 6 s")
        .unwrap();
    assert!(range < single, "{text}");
    assert_eq!(
        text.matches("event ALTER TABLE at 10 s took").count(),
        5,
        "{text}"
    );
}

#[test]
fn the_mark_of_a_percentile_is_explained_whatever_else_there_is_to_say() {
    let mut results = alone();
    let mut broken = run(2, 2, &[], &[]);
    broken.end = None;
    results.runs.push(broken);
    results.planned_runs = 2;
    for width in [60, 80, 120] {
        let text = summarised(&results, width);
        assert!(text.contains("missing   run 2 is incomplete"), "{text}");
        assert!(text.contains(" ~, p99"), "{text}");
        assert!(
            text.contains("\n~: fewer than ten independent operations beyond it\n"),
            "{text}"
        );
        assert!(text.lines().count() < 12, "{text}");
    }
}

/// The comparison leads; what the events cost is evidence beside it.
#[test]
fn a_question_of_the_author_stands_before_events() {
    let results = asked();
    let page = answered(&results);
    assert!(
        page.contains("<p class=\"lead\">Compared with change in place"),
        "{page}"
    );
    assert!(!page.contains("event-costs"), "{page}");
    assert!(page.contains("<table class=\"peaks\">"), "{page}");
    assert!(page.contains("Planned events and their cost"), "{page}");
    let summary = summarised(&results, 80);
    assert!(!summary.contains("ALTER TABLE at 10 s  "), "{summary}");
    assert!(!markdown(&results).contains("| ALTER TABLE at 10 s |"));
}

#[test]
fn an_event_that_succeeds_nowhere_says_so() {
    let runs = CHANGES.iter().zip(1..);
    let runs = runs.map(|(change, number)| run(number, 1, &[("change", change)], &[REFUSED]));
    let results = results(&[("change", &CHANGES)], runs.collect());
    let page = answered(&results);
    assert!(
        page.contains(
            "ALTER TABLE at 10 s: it succeeded in no run. It did not succeed in 3 of 3 runs, the first of them run 1"
        ),
        "{page}"
    );
    assert!(summarised(&results, 80).contains("failed     failed    failed"));
}

#[test]
fn a_combination_without_a_complete_run_has_no_cost() {
    let mut results = grid();
    for record in results
        .runs
        .iter_mut()
        .filter(|it| it.header.combination["version"] == "mysql-5.6")
    {
        record.end = None;
    }
    let summary = summarised(&results, 100);
    assert!(summary.contains("by copy              –"), "{summary}");
}

#[test]
fn the_summary_never_has_more_than_a_dozen_lines() {
    for results in [grid(), alone(), several(), unnamed(), facets(), asked()] {
        for width in [60, 80, 120, 200] {
            let text = summarised(&results, width);
            assert!(text.lines().count() < 12, "{text}");
            for line in text.lines() {
                assert!(
                    line.chars().count() <= usize::from(width),
                    "{width}: {line}"
                );
            }
        }
    }
}
