//! Tests of the terminal tables, as snapshots.

use std::path::Path;

use audit::Subject;
use figures::RunFigures;
use report::{NextStep, Results, summary, table};
use samples::{Disturbance, ErrorCount, Host, MeasuredState, ServerState};

use crate::synthetic::{Plan, asked, disturbed, interrupted, quickstart, record, sizing};

#[test]
fn small_experiment_shows_everything() {
    insta::assert_snapshot!(table(&quickstart(Host::Both), 110));
}

/// The summary of all fabricated results of this file is never longer than promised, at any width.
#[test]
fn the_answer_has_a_dozen_lines() {
    let all = [
        quickstart(Host::Both),
        quickstart(Host::Client),
        sizing(4, 140),
        asked(),
    ];
    for results in all {
        for width in [60, 80, 120, 200] {
            let text = summary(&results, Path::new("results/made-1"), width, &|_| None);
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

#[test]
fn the_answer_is_the_peak_of_each_line_and_what_limits_it() {
    let text = summary(
        &quickstart(Host::Both),
        Path::new("results/made-1"),
        120,
        &|_| None,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn the_answer_to_a_comparison_is_its_verdict() {
    let text = summary(&asked(), Path::new("results/made-1"), 120, &|_| None);
    insta::assert_snapshot!(text);
}

/// On a busy machine each sentence is longer, and so is what is said below the answer.
#[test]
fn every_comparison_stands_before_the_limit() {
    let mut results = asked();
    let mixes = [("1:0", 21_000.0), ("5:1", 13_500.0), ("1:1", 8_000.0)];
    let planned = (1..=3).flat_map(|block| mixes.map(|mix| (block, mix)));
    let runs = planned.zip(1..).map(|((block, (mix, limit_per_s)), run)| {
        let quiet = record(&Plan {
            run,
            block,
            combination: vec![("mix", mix.into())],
            connections: 8,
            limit_per_s,
            measured_s: 4,
            host: Host::Both,
        });
        disturbed(quiet, 0.35)
    });
    results.runs = runs.collect();
    results.planned_runs = 12;
    results.factors.truncate(1);
    results.factors[0].levels.push("1:1".into());
    results.audit = Some(audit::audit(&Subject::of_run(&results.runs[0], None)));
    for width in [60, 80, 120] {
        let text = summary(&results, Path::new("results/made-1"), width, &|_| None);
        let words: Vec<&str> = text.split_whitespace().collect();
        let said = words.join(" ");
        for subject in ["mix 5:1 against 1:0: ", "mix 1:1 against 1:0: "] {
            assert!(said.contains(subject), "{width}: {text}");
        }
        assert!(text.lines().count() < 12, "{width}: {text}");
    }
}

#[test]
fn the_cause_is_that_of_a_comparison_of_one_factor() {
    let mut results = asked();
    if let Some(question) = &mut results.verdict {
        let clients = ("connections".to_owned(), "1".to_owned());
        question.baseline.push(clients);
    }
    let text = summary(&results, Path::new("results/made-1"), 1000, &|_| None);
    let why = text.lines().find(|line| line.starts_with("why "));
    let why = why.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(why.matches(" against ").count(), 1, "{why}");
    let sides = "; A is mix 1:0, connections 1; B is mix ";
    assert!(why.contains(sides), "{why}");
}

#[test]
fn the_answer_says_that_disturbed_runs_were_repeated() {
    let mut results = asked();
    results.disturbances.set_aside = vec![(3, Disturbance::default())];
    let text = summary(&results, Path::new("results/made-1"), 120, &|_| None);
    let measured = "measured  24 of 24 runs of 4 s (1 disturbed run repeated): ";
    assert!(text.contains(measured), "{text}");
}

#[test]
fn the_answer_names_the_state_of_servers_side_by_side() {
    let mut results = asked();
    for run in &mut results.runs {
        run.measured_state = Some(MeasuredState {
            state: ServerState::Steady,
            not_reached: None,
        });
    }
    let state = "Measured on steady servers.";
    let text = summary(&results, Path::new("results/made-1"), 1000, &|_| None);
    let expected = format!("over all comparisons. {state}");
    assert!(text.contains(&expected), "{text}");
    let text = table(&results, 1000);
    assert_eq!(text.matches(state).count(), 1, "{text}");
}

/// As `dbdyno compare`, which refuses such runs.
#[test]
fn a_decision_about_failed_operations_is_doubtful() {
    let mut results = asked();
    results.runs[0].errors.push(ErrorCount {
        number: 1213,
        count: 1_000_000,
        in_measurement: 1_000_000,
        ..ErrorCount::default()
    });
    let text = summary(&results, Path::new("results/made-1"), 1000, &|_| None);
    let short = " 1 is doubtful because operations failed (W10).";
    assert!(text.contains(short), "{text}");
    let text = table(&results, 1000);
    let long = "This is doubtful, because operations failed (W10).";
    assert_eq!(text.matches(long).count(), 1, "{text}");
    let json = report::json(&results, report::Detail::Runs);
    let doubt = r#""doubt": "operations failed (W10)""#;
    assert_eq!(json.matches(doubt).count(), 1, "{json}");
}

#[test]
fn an_undecided_answer_beside_other_programs_is_measured_again_without_them() {
    let next = |is_disturbed: &dyn Fn(usize) -> bool,
                [command, side_by_side]: [Option<&str>; 2]| {
        let mut results = asked();
        // Two executions decide nothing.
        results.runs.retain(|run| run.header.block < 3);
        let runs = results.runs.iter_mut().enumerate();
        for (_, run) in runs.filter(|(at, _)| is_disturbed(*at)) {
            for sample in &mut run.telemetry {
                sample.machine.as_mut().unwrap().steal_s = 0.4;
            }
        }
        let again = |step: NextStep| match step {
            NextStep::Again => command.map(str::to_owned),
            NextStep::SideBySide => side_by_side.map(str::to_owned),
            _ => None,
        };
        let text = summary(&results, Path::new("results/made-1"), 120, &again);
        let line = text.lines().find_map(|it| it.strip_prefix("next"));
        line.unwrap().trim().to_owned()
    };
    let command = Some("dbdyno run a.toml");
    assert_eq!(
        next(&|_| true, [command, None]),
        "measure without other programs (H14): dbdyno run a.toml"
    );
    assert_eq!(
        next(&|_| true, [command, Some("dbdyno ab oltp")]),
        "measure without other programs (H14) and side by side: dbdyno ab oltp"
    );
    let audit = "dbdyno audit results/made-1";
    assert_eq!(
        next(&|_| true, [None, None]),
        format!("measure without other programs (H14), see {audit}")
    );
    assert_eq!(next(&|at| at == 0, [command, None]), audit);
}

#[test]
fn narrow_terminal_gets_the_columns_in_several_tables() {
    let text = table(&quickstart(Host::Both), 72);
    for line in text.lines() {
        assert!(line.chars().count() <= 72, "{line:?}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_command_of_the_next_step_has_the_whole_path() {
    let dir = format!("/srv/{}/results", "a".repeat(200));
    let text = summary(&asked(), Path::new(&dir), 80, &|_| None);
    let line = format!("\nnext      dbdyno audit {dir}\n");
    assert!(text.contains(&line), "{text}");
}

#[test]
fn large_grid_shows_throughput_per_facet() {
    insta::assert_snapshot!(table(&sizing(4, 140), 100));
}

#[test]
fn client_machine_is_never_shown_as_the_servers() {
    let text = table(&quickstart(Host::Client), 200);
    assert!(text.contains("server host not observed"), "{text}");
    assert!(!text.contains("busy"), "{text}");
}

#[test]
fn one_run_has_no_interval_and_an_incomplete_one_no_figures() {
    let all = quickstart(Host::Both);
    let first = all.runs[0].clone();
    let one = Results {
        runs: vec![first.clone()],
        planned_runs: 1,
        ..all.clone()
    };
    let text = table(&one, 100);
    assert!(text.contains("1 run: no interval"), "{text}");
    assert!(!text.contains('±'), "{text}");

    let broken = interrupted(first, 4, "the disk was full");
    let none = Results {
        runs: vec![broken],
        planned_runs: 1,
        ..all
    };
    let text = table(&none, 100);
    assert!(text.contains("no complete run, 1 incomplete"), "{text}");
    assert!(
        text.contains("run 1 is incomplete: the disk was full"),
        "{text}"
    );
}

#[test]
fn nothing_measured_is_said() {
    let none = Results {
        runs: Vec::new(),
        ..quickstart(Host::Both)
    };
    assert!(table(&none, 80).contains("0 of 24 planned runs are complete."));
}

#[test]
fn other_work_on_the_machine_is_said_once() {
    let mut results = quickstart(Host::Both);
    assert!(!table(&results, 200).contains("Other programs used"));
    for (share, run) in [(0.25, 0), (0.3, 1)] {
        // The same combination in each of the three blocks: figures are means over executions.
        for block in 0..3 {
            let record = &mut results.runs[block * 8 + run];
            *record = disturbed(record.clone(), share);
        }
    }
    let text = table(&results, 200);
    let said = "Other programs used on average up to 33 % of the CPU of the server's machine during a combination's runs, and more than 20 % in 2 of 8 combinations: the machine was not quiet.";
    assert_eq!(text.matches(said).count(), 1, "{text}");
}

#[test]
fn the_limit_is_that_of_the_best_combination_and_not_of_a_lucky_run() {
    let mut results = quickstart(Host::Both);
    // One run of four connections is the fastest of all, and has another limit.
    let lucky = record(&Plan {
        run: 3,
        block: 1,
        combination: vec![("mix", "1:0".into()), ("connections", "4".to_owned())],
        connections: 4,
        limit_per_s: 28_000.0,
        measured_s: 4,
        host: Host::Both,
    });
    results.runs[2] = disturbed(lucky, 0.6);
    let per_s: Vec<_> = results
        .runs
        .iter()
        .map(|run| RunFigures::of(run).throughput_per_s)
        .collect();
    assert!(per_s.iter().all(|other| *other <= per_s[2]), "{per_s:?}");
    let said = |results: &Results| {
        let text = table(results, 1000);
        let line = text.lines().find(|line| line.starts_with("What limited"));
        line.unwrap_or_default().to_owned()
    };
    let best = "What limited the fastest combination (mix 1:0, connections 8), in ";
    let agreed = said(&results);
    assert!(
        agreed.starts_with(&format!(
            "{best}3 of 3 runs (figures of the fastest one): unexplained: "
        )),
        "{agreed}"
    );
    for run in [3, 11] {
        results.runs[run] = disturbed(results.runs[run].clone(), 0.4);
    }
    let most = said(&results);
    assert!(
        most.starts_with(&format!(
            "{best}2 of 3 runs (figures of the fastest one): CPU: "
        )),
        "{most}"
    );
    assert!(most.ends_with(" In the other runs: unexplained."), "{most}");
}

#[test]
fn verdict_stands_before_the_figures() {
    let text = table(&asked(), 100);
    let verdict = text.find("mix 5:1 against 1:0").expect("the verdict");
    assert!(
        verdict < text.find("throughput").unwrap_or(usize::MAX),
        "{text}"
    );
    insta::assert_snapshot!(text);
}
