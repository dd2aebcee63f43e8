//! Tests of the answers.

mod index_sets;
mod prices;
mod untried;

use blame::{Blame, Blamed};
use stats::Interval;

use super::*;
use crate::{
    advise::{
        candidate::{Candidate, Parts, Remedy},
        diagnosis::FailedStatement,
        index_review::{DropReason, NeedlessIndex},
    },
    compare::Verdict,
};

fn statement(at: usize, name: &str, text: &str, time_s: f64) -> DiagnosedStatement {
    DiagnosedStatement {
        at,
        name: name.to_owned(),
        text: text.to_owned(),
        time_s,
        executions: 1.0,
    }
}

fn advice(at: usize, statement: &str, parts: &str, proof: Option<Proof>) -> Advice {
    Advice {
        at,
        statement: statement.to_owned(),
        also_for: Vec::new(),
        candidate: Candidate {
            reason: "t reads 8.00k rows (whole table)".to_owned(),
            remedy: Remedy::of_parts("name", Parts::Session(parts.to_owned())),
            saving: 0.5,
        },
        saving_s: 0.5,
        own_saving_s: 0.5,
        proof,
        unaffected: 0,
    }
}

fn effect(statement: &str, decision: Decision, means_s: [f64; 2]) -> Effect {
    let estimate = means_s[1] / means_s[0];
    Effect {
        statement: statement.to_owned(),
        verdict: Verdict::OfTime(decision),
        means_s: Some(means_s),
        ratio: Some(Interval {
            estimate,
            low: estimate * 0.9,
            high: estimate * 1.1,
        }),
        emptiness: None,
        why: "because rows read 8.00k to 5".to_owned(),
    }
}

fn measured(outcome: Outcome, effects: Vec<Effect>) -> Option<Proof> {
    Some(Proof::Measured(Measured {
        outcome,
        effects,
        undecided: Vec::new(),
        together: None,
        price: None,
    }))
}

fn proof_of(faster: Vec<Effect>) -> Option<Proof> {
    Some(Proof::Measured(Measured {
        outcome: Outcome::Proved,
        effects: faster,
        undecided: Vec::new(),
        together: None,
        price: Some(IndexPrice {
            bytes: Some(163_840.0),
            writes: Err("the table has no primary key".to_owned()),
        }),
    }))
}

fn without_effect(statement: &str) -> Option<Proof> {
    let effect = effect(statement, Decision::Equivalent, [0.125, 0.124]);
    measured(Outcome::NoEffect, vec![effect])
}

fn shown(diagnosis: &Diagnosis, is_tried: bool, is_verbose: bool) -> String {
    let layout = Layout {
        is_tried,
        is_verbose,
        width: 80,
    };
    text(diagnosis, layout, None)
}

fn diagnosis(advice: Vec<Advice>) -> Diagnosis {
    Diagnosis {
        statements: vec![
            statement(0, "Q1", "select count(*) from t where a = 1", 0.125),
            statement(1, "2", "select b from t where c = 1", 0.002),
        ],
        advice,
        ..Diagnosis::default()
    }
}

#[test]
fn the_answer_comes_first_then_what_had_no_effect() {
    let untried = advice(0, "Q1", "create index v on t (z)", Some(Proof::NotTried));
    let of_one = Advice {
        unaffected: 1,
        ..advice(0, "Q1", "create index u on t (b)", without_effect("Q1"))
    };
    let mut all = diagnosis(vec![
        of_one,
        untried,
        advice(0, "Q1", "create index w on t (y)", Some(Proof::Unused)),
        advice(
            0,
            "Q1",
            "create index i on t (a)",
            proof_of(vec![effect("Q1", Decision::Faster, [0.125, 0.0032])]),
        ),
        advice(
            1,
            "2",
            "create index x on t (n)",
            Some(Proof::CannotBeMade("the key is too long".to_owned())),
        ),
    ]);
    all.needless.push(NeedlessIndex {
        table: "s.t".to_owned(),
        index: "c".to_owned(),
        why: DropReason::Unused {
            since: Duration::from_secs(3600),
        },
    });
    assert_eq!(
        shown(&all, true, false),
        "1 remedy proved: create index i on t (a): 125 ms to 3.20 ms\n\
         statement Q1 (125 ms): select count(*) from t where a = 1\n\
         \x20 proved: create index i on t (a)\n\
         \x20   Q1: faster, 125 ms to 3.20 ms, -97.4 % (-97.7 % to -97.2 %) …\n\
         \x20   size of the index: 160 KiB\n\
         \x20   its share of write time was not measured: the table has no primary key\n\
         \x20 without effect: create index u on t (b): 125 ms to 124 ms\n\
         \x20 not used: create index w on t (y)\n\
         statement 2 (2.00 ms): select b from t where c = 1\n\
         \x20 cannot be made: create index x on t (n): the key is too long\n\
         index c of s.t is unused since the server's start (1 h 0 min ago)\n\
         1 not tried (--verbose)\n"
    );
    all.advice[1].also_for.push("2".to_owned());
    let verbose = shown(&all, true, true);
    for part in [
        "  not tried: create index v on t (z)\n    t reads 8.00k rows (whole table)\n    also for: 2\n",
        "    Q1: equivalent, 125 ms to 124 ms, -0.8 % (-10.7 % to +9.1 %); because rows read 8.00k to 5\n",
        "to 5\n    not executed, because unaffected: 1 statement\n",
        "    the optimizer does not choose it for any statement\n",
        "because rows read 8.00k to 5\n    size of the index",
    ] {
        assert!(verbose.contains(part), "{part}: {verbose}");
    }
}

#[test]
fn the_best_of_several_and_the_lack_of_any_are_said_at_once() {
    let first = |advice: Vec<Advice>| {
        let text = shown(&diagnosis(advice), true, false);
        text.lines().next().map(str::to_owned).unwrap_or_default()
    };
    let small = proof_of(vec![effect("2", Decision::Faster, [0.002, 0.001])]);
    let large = proof_of(vec![effect("Q1", Decision::Faster, [0.125, 0.0032])]);
    assert_eq!(
        first(vec![
            advice(1, "2", "create index a on t (c)", small),
            advice(0, "Q1", "create index b on t (a)", large),
        ]),
        "2 remedies proved: the best: create index b on t (a): 125 ms to 3.20 ms"
    );
    assert_eq!(
        first(vec![
            advice(0, "Q1", "create index a on t (c)", without_effect("Q1")),
            advice(0, "Q1", "create index b on t (a)", Some(Proof::Unused)),
            advice(0, "Q1", "create index c on t (b)", Some(Proof::NotTried)),
            advice(
                0,
                "Q1",
                "create index d on t (d)",
                measured(
                    Outcome::Slower,
                    vec![effect("Q1", Decision::Slower, [0.1, 0.2])]
                )
            ),
            advice(
                0,
                "Q1",
                "create index e on t (e)",
                measured(
                    Outcome::Undecided,
                    vec![effect("Q1", Decision::Inconclusive, [0.1, 0.09])]
                )
            ),
        ]),
        "No remedy proved: 2 tried without effect, 1 tried and undecided, 1 slower or with another result, 1 not tried"
    );
}

#[test]
fn what_is_faster_with_a_result_that_cannot_be_compared_is_undecided() {
    let faster = effect("Q1", Decision::Faster, [0.1, 0.01]);
    let faster = measured(Outcome::Undecided, vec![faster]);
    let all = diagnosis(vec![advice(0, "Q1", "create index a on t (c)", faster)]);
    let text = shown(&all, true, false);
    let first = "No remedy proved: 1 tried and undecided";
    assert_eq!(text.lines().next(), Some(first));
}

#[test]
fn candidates_without_a_trial_have_their_reasons() {
    let two = vec![
        advice(0, "Q1", "create index a on t (c)", None),
        advice(1, "2", "create index b on t (a)", None),
    ];
    assert_eq!(
        shown(&diagnosis(two), false, false),
        "2 candidates; according to the plans, this one saves most: create index a on t (c)\n\
         statement Q1 (125 ms): select count(*) from t where a = 1\n\
         \x20 create index a on t (c): t reads 8.00k rows (whole table)\n\
         statement 2 (2.00 ms): select b from t where c = 1\n\
         \x20 create index b on t (a): t reads 8.00k rows (whole table)\n\
         Nothing was tried: --try measures these on copies of a private server.\n"
    );
    let mut statistics = advice(0, "Q1", "", None);
    statistics.candidate.remedy = Remedy::Statistics(vec!["`s`.`t`".to_owned()]);
    let index = advice(0, "Q1", "create index a on t (c)", None);
    let text = shown(&diagnosis(vec![statistics, index]), false, false);
    let first = "2 candidates; first refresh the statistics, which the indexes depend on: \
                 analyze table `s`.`t`";
    assert_eq!(text.lines().next(), Some(first));
    let none = shown(&Diagnosis::default(), false, false);
    assert!(none.starts_with("No candidates"), "{none}");
}

#[test]
fn what_failed_and_a_trial_beyond_its_budget_are_shown_at_once() {
    let index = advice(0, "Q1", "create index a on t (c)", without_effect("Q1"));
    let mut all = diagnosis(vec![index]);
    all.failed.push(FailedStatement {
        at: 2,
        error: Blamed::new(Blame::Server, "q.sql:3:1: error 1525: Incorrect DATE value"),
    });
    all.blocks_took = Duration::from_secs(88);
    let mut with_trial = |whole_s| {
        all.trial = Some(TrialTime {
            budget: Duration::from_secs(90),
            whole: Duration::from_secs(whole_s),
        });
        shown(&all, true, false)
    };
    let text = with_trial(174);
    let lines: Vec<&str> = text.lines().skip(1).take(2).collect();
    assert_eq!(
        lines,
        [
            "failed: q.sql:3:1: error 1525: Incorrect DATE value",
            "time: 2 min 54 s, 1 min 28 s of it timed blocks; --budget (1 min 30 s) limits only these",
        ]
    );
    assert!(!with_trial(90).contains("time:"));
    let json = json(&all, true, None);
    for part in ["\"q.sql:3:1: error 1525", "\"blocks_s\": 88.0"] {
        assert!(json.contains(part), "{json}");
    }
}

#[test]
fn an_answer_has_twelve_lines_at_most() {
    let useless_index = |at: usize| {
        let parts = format!("create index i{at} on t (c)");
        advice(0, "Q1", &parts, without_effect("Q1"))
    };
    let many: Vec<Advice> = (0..20).map(useless_index).collect();
    let none = shown(&diagnosis(many), true, false);
    assert_eq!(none.lines().count(), 12, "{none}");
    assert!(none.starts_with("No remedy proved: 20 tried without effect\nstatement Q1"));
    assert!(none.ends_with("11 lines more (--verbose)\n"), "{none}");
    let mut many: Vec<Advice> = (0..20).map(useless_index).collect();
    let faster = proof_of(vec![effect("2", Decision::Faster, [0.002, 0.001])]);
    many.push(advice(1, "2", "create index b on t (a)", faster));
    assert_eq!(
        shown(&diagnosis(many), true, false),
        "1 remedy proved: create index b on t (a): 2.00 ms to 1.00 ms\n\
         statement 2 (2.00 ms): select b from t where c = 1\n\
         \x20 proved: create index b on t (a): 2.00 ms to 1.00 ms\n\
         20 tried without effect (--verbose)\n"
    );
    // Nothing but what was proved, and too much of it.
    let many = (0..20).map(|at| {
        let parts = format!("create index i{at} on t (c)");
        let faster = proof_of(vec![effect("Q1", Decision::Faster, [0.002, 0.001])]);
        advice(0, "Q1", &parts, faster)
    });
    let text = shown(&diagnosis(many.collect()), true, false);
    assert_eq!(text.lines().count(), 12, "{text}");
    assert!(text.ends_with("11 lines more (--verbose)\n"), "{text}");
}

#[test]
fn what_was_proved_of_several_statements_is_shown_with_its_times() {
    let proved = |at, statement: &str, parts: &str, before_s| {
        let faster = proof_of(vec![effect(statement, Decision::Faster, [before_s, 0.001])]);
        advice(at, statement, parts, faster)
    };
    let all = diagnosis(vec![
        proved(0, "Q1", "create index a on t (a)", 0.125),
        proved(0, "Q1", "create index b on t (a, b)", 0.124),
        proved(1, "2", "create index c on t (c)", 0.002),
        advice(1, "2", "create index d on t (c, b)", without_effect("2")),
        advice(
            1,
            "2",
            "create index e on t (b)",
            measured(
                Outcome::Slower,
                vec![effect("2", Decision::Slower, [0.002, 0.008])],
            ),
        ),
    ]);
    assert_eq!(
        shown(&all, true, false),
        "3 remedies proved: the best: create index a on t (a): 125 ms to 1.00 ms\n\
         statement Q1 (125 ms): select count(*) from t where a = 1\n\
         \x20 proved: create index a on t (a): 125 ms to 1.00 ms\n\
         \x20 proved: create index b on t (a, b): 124 ms to 1.00 ms\n\
         statement 2 (2.00 ms): select b from t where c = 1\n\
         \x20 proved: create index c on t (c): 2.00 ms to 1.00 ms\n\
         \x20 without effect: create index d on t (c, b): 125 ms to 124 ms\n\
         \x20 slower: create index e on t (b): 2.00 ms to 8.00 ms\n"
    );
}

/// An index that makes Q1 faster and statement 2 slower.
fn with_a_cost(outcome: Outcome) -> Advice {
    let effects = vec![
        effect("Q1", Decision::Faster, [0.125, 0.0032]),
        effect("2", Decision::Slower, [0.002, 0.0073]),
    ];
    let proof = Measured {
        outcome,
        effects,
        undecided: Vec::new(),
        together: Some(Box::new(Effect {
            why: String::new(),
            ..effect("together", Decision::Faster, [0.127, 0.0105])
        })),
        price: None,
    };
    let proof = Some(Proof::Measured(proof));
    advice(0, "Q1", "create index a on t (c)", proof)
}

#[test]
fn the_first_line_names_what_the_best_remedy_makes_slower() {
    let mut all = diagnosis(vec![with_a_cost(Outcome::ProvedWithCost)]);
    let first = "1 remedy proved: create index a on t (c): 125 ms to 3.20 ms, \
                 but statement 2 takes 3.65 times as long";
    let text = shown(&all, true, false);
    assert_eq!(text.lines().next(), Some(first));
    let verbose = shown(&all, true, true);
    for part in [
        "  proved with a cost: create index a on t (c)\n",
        "    2: slower, 2.00 ms to 7.30 ms, ",
        "    together: faster, 127 ms to 10.5 ms, ",
    ] {
        assert!(verbose.contains(part), "{part}: {verbose}");
    }
    let json = json(&all, true, None);
    for part in [
        "\"outcome\": \"proved\"",
        "\"verdict\": \"proved with a cost\"",
        "\"statement\": \"together\"",
    ] {
        assert!(json.contains(part), "{part}: {json}");
    }
    all.statements
        .push(statement(2, "3", "select d from t", 0.001));
    if let Some(Proof::Measured(measured)) = &mut all.advice[0].proof {
        let slower = effect("3", Decision::Slower, [0.001, 0.0012]);
        measured.effects.push(slower);
    }
    let text = shown(&all, true, false);
    let first = format!("{first}, and 1 more statement is slower");
    assert_eq!(text.lines().next(), Some(first.as_str()));
}

#[test]
fn what_a_remedy_costs_other_statements_counts_in_the_order() {
    let without_cost = proof_of(vec![effect("Q1", Decision::Faster, [0.125, 0.004])]);
    let all = diagnosis(vec![
        with_a_cost(Outcome::ProvedWithCost),
        advice(0, "Q1", "create index b on t (a)", without_cost),
    ]);
    let text = shown(&all, true, true);
    let first = "2 remedies proved: the best: create index b on t (a): 125 ms to 4.00 ms";
    assert_eq!(text.lines().next(), Some(first));
    let [one, other] = [
        "  proved: create index b",
        "  proved with a cost: create index a",
    ]
    .map(|part| text.find(part).expect("both are shown"));
    assert!(one < other, "{text}");
}

#[test]
fn a_statement_counts_as_many_times_as_it_is_executed() {
    let of_first = proof_of(vec![effect("Q1", Decision::Faster, [0.125, 0.0032])]);
    let of_second = proof_of(vec![effect("2", Decision::Faster, [0.002, 0.001])]);
    let mut all = diagnosis(vec![
        advice(0, "Q1", "create index a on t (c)", of_first),
        advice(1, "2", "create index b on t (a)", of_second),
    ]);
    for (executions, best, title) in [
        (1.0, "index a on t (c)", "statement 2 (2.00 ms): "),
        (
            1000.0,
            "index b on t (a)",
            "statement 2 (2.00 ms, executed 1.00k times): ",
        ),
    ] {
        all.statements[1].executions = executions;
        let text = shown(&all, true, false);
        let start = format!("2 remedies proved: the best: create {best}: ");
        assert!(text.starts_with(&start), "{text}");
        assert!(text.contains(title), "{text}");
    }
}

#[test]
fn a_remedy_whose_saving_is_not_certain_is_shown_with_its_cost() {
    let all = diagnosis(vec![with_a_cost(Outcome::NotProved)]);
    assert_eq!(
        shown(&all, true, false),
        "No remedy proved: 1 faster and slower without a certain saving\n\
         statement Q1 (125 ms): select count(*) from t where a = 1\n\
         \x20 not proved: create index a on t (c): 125 ms to 3.20 ms; slower: 2 2.00 ms to 7.30 ms\n"
    );
    let json = json(&all, true, None);
    assert!(json.contains("\"verdict\": \"not proved\""), "{json}");
}

#[test]
fn statements_that_are_undecided_are_shown_below_a_proved_remedy() {
    let mut proved = with_a_cost(Outcome::ProvedWithCost);
    let Some(Proof::Measured(measured)) = &mut proved.proof else {
        panic!("it was measured");
    };
    let undecided = effect("3", Decision::Inconclusive, [0.004, 0.0042]);
    measured.undecided.push(undecided);
    let end = "; slower: 2 2.00 ms to 7.30 ms; undecided: 3";
    let times = times_in_short(&diagnosis(Vec::new()), measured);
    assert!(times.ends_with(end), "{times}");
    let all = diagnosis(vec![proved]);
    let sentence = "3: inconclusive, 4.00 ms to 4.20 ms, ";
    for is_verbose in [false, true] {
        let text = shown(&all, true, is_verbose);
        assert!(text.contains(&format!("\n    {sentence}")), "{text}");
    }
    let json = json(&all, true, None);
    assert!(json.contains(&format!("\"{sentence}")), "{json}");
}

#[test]
fn a_remedy_of_a_statement_without_rows_says_so() {
    let empty = Effect {
        emptiness: Some("returned no rows"),
        ..effect("Q1", Decision::Faster, [0.125, 0.0032])
    };
    let proof = proof_of(vec![empty]);
    let all = diagnosis(vec![advice(0, "Q1", "create index a on t (c)", proof)]);
    let first = "1 remedy proved: create index a on t (c): 125 ms to 3.20 ms (returned no rows)";
    let text = shown(&all, true, false);
    assert_eq!(text.lines().next(), Some(first));
    let sentence = "    Q1: faster, 125 ms to 3.20 ms (returned no rows)";
    for is_verbose in [false, true] {
        let text = shown(&all, true, is_verbose);
        assert!(text.contains(sentence), "{text}");
    }
    let json = json(&all, true, None);
    assert!(json.contains("\"has_no_rows\": true"), "{json}");
}
