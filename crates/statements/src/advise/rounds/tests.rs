//! Tests of the order and the time of rounds, and of pairs of indexes.

use verdict::Decision;

use super::*;
use crate::{
    advise::{
        candidate::{Candidate, SideChange},
        diagnosis::DiagnosedStatement,
        proof::{Effect, Measured, Outcome},
    },
    compare::Verdict,
};

fn advice(remedy: Remedy) -> Advice {
    Advice {
        at: 0,
        statement: "1".to_owned(),
        also_for: Vec::new(),
        candidate: Candidate {
            reason: String::new(),
            remedy,
            saving: 0.5,
        },
        saving_s: 0.5,
        own_saving_s: 0.5,
        proof: None,
        unaffected: 0,
    }
}

fn index(name: &str) -> Advice {
    advice(Remedy::Side(SideChange {
        name: name.to_owned(),
        parts: Parts::Indexes {
            sql: format!("create index {name} on s.t (a)"),
            indexes: NewIndexes {
                schema: "s".to_owned(),
                table: "t".to_owned(),
                names: vec![name.to_owned()],
                columns: vec!["a".to_owned()],
                undone_by: Vec::new(),
                made: vec![name.to_owned()],
            },
        },
        text: None,
    }))
}

fn all() -> Vec<Advice> {
    let set = Parts::Session("set sort_buffer_size = 1".to_owned());
    let set = Remedy::of_parts("sort_buffer", set);
    let pool = Parts::ServerOption {
        name: "innodb_buffer_pool_size",
        value: 5,
    };
    let option = Remedy::of_parts("pool", pool);
    vec![
        advice(Remedy::Statistics(vec!["s.t".to_owned()])),
        index("a"),
        advice(set.clone()),
        advice(Remedy::Author("compare day itself".to_owned())),
        index("b"),
        advice(set),
        advice(option),
    ]
}

#[test]
fn the_best_candidates_are_measured_and_those_of_sessions_together() {
    let all = all();
    let places = chosen(&all, 16);
    assert_eq!(places, [1, 2, 4, 5, 6]);
    assert_eq!(
        rounds(&all, &places),
        [vec![1], vec![2, 5], vec![4], vec![6]]
    );
    assert_eq!(chosen(&all, 2), [1, 2]);
}

#[test]
fn the_baseline_executes_what_a_side_of_its_round_does() {
    let side = |unaffected: &[usize]| Side {
        place: 0,
        variant: Variant::default(),
        changes: None,
        statements: Vec::new(),
        unaffected: unaffected.to_vec(),
        indexes: None,
    };
    let sides = [side(&[0, 2, 3]), side(&[1, 2, 3]), side(&[3, 2])];
    assert_eq!(unaffected_by_all(&sides), [2, 3]);
    assert_eq!(unaffected_by_all(&[side(&[]), side(&[1])]), [0; 0]);
}

#[test]
fn an_error_of_the_baseline_ends_all_rounds() {
    for (blame, is_of_all, ends) in [
        (Blame::Server, true, true),
        (Blame::Interrupted, false, true),
        (Blame::Server, false, false),
    ] {
        let mut diagnosis = Diagnosis {
            advice: all(),
            ..Diagnosis::default()
        };
        let error = Blamed::new(blame, "q.sql:1:1: it ended");
        let ended = not_made(&mut diagnosis, &[1, 4], SideError { error, is_of_all });
        assert_eq!(ended.failure.is_some(), ends, "{blame:?} {is_of_all}");
        for place in [1, 4] {
            assert_eq!(diagnosis.advice[place].proof.is_none(), ends);
        }
    }
}

#[test]
fn the_first_rounds_have_most_of_the_time() {
    let second = Duration::from_secs(1);
    assert_eq!(budget_of_round(60 * second, 8), 30 * second);
    assert_eq!(budget_of_round(10 * second, 1), 10 * second);
}

/// An effect of milliseconds before and after.
fn effect(statement: &str, [before_ms, after_ms]: [f64; 2]) -> Effect {
    let decision = if after_ms < before_ms {
        Decision::Faster
    } else {
        Decision::Slower
    };
    Effect {
        statement: statement.to_owned(),
        verdict: Verdict::OfTime(decision),
        means_s: Some([before_ms / 1e3, after_ms / 1e3]),
        ratio: None,
        emptiness: None,
        why: String::new(),
    }
}

/// An index that was proved for the statement of its first effect.
fn proved_index(name: &str, effects: Vec<Effect>) -> Advice {
    let is_slower = effects.iter().any(|it| it.saved_share() < 0.0);
    Advice {
        statement: effects[0].statement.clone(),
        saving_s: 0.001,
        proof: Some(Proof::Measured(Measured {
            outcome: if is_slower {
                Outcome::ProvedWithCost
            } else {
                Outcome::Proved
            },
            effects,
            undecided: Vec::new(),
            together: None,
            price: None,
        })),
        ..index(name)
    }
}

/// Statements 1, 2 and 4, which take 30 ms, 6 ms and 4 ms.
fn diagnosis_with(advice: Vec<Advice>) -> Diagnosis {
    let statements = [("1", 0.03), ("2", 0.006), ("4", 0.004)];
    let statements = statements.iter().enumerate();
    let statements = statements.map(|(at, (name, time_s))| DiagnosedStatement {
        at,
        name: (*name).to_owned(),
        text: String::new(),
        time_s: *time_s,
        executions: 1.0,
    });
    Diagnosis {
        statements: statements.collect(),
        advice,
        ..Diagnosis::default()
    }
}

/// An index of statement 1 that makes statement 4 slower, a useless partner, and the index for statement 4.
fn with_a_cost() -> Vec<Advice> {
    let of_first = vec![effect("1", [30.0, 0.3]), effect("4", [4.0, 14.6])];
    vec![
        proved_index("a", of_first),
        proved_index("b", vec![effect("2", [6.0, 1.0])]),
        proved_index("c", vec![effect("4", [4.0, 0.4])]),
    ]
}

#[test]
fn an_index_with_a_cost_and_the_index_against_it_become_a_pair() {
    let mut diagnosis = diagnosis_with(with_a_cost());
    assert!(has_pairs(&diagnosis, &[0, 2]));
    let pair = best_pair(&diagnosis).unwrap();
    let Remedy::Side(change) = &pair.advice.candidate.remedy else {
        panic!("it is no index");
    };
    let expected = "create index a on s.t (a); create index c on s.t (a)";
    assert_eq!(change.parts.text(), expected);
    let indexes = change.parts.indexes().unwrap();
    assert_eq!(indexes.names, ["a", "c"]);
    // An update of the price sets each column once.
    assert_eq!(indexes.columns, ["a"]);
    assert_eq!(pair.advice.statements(), ["1", "4"]);
    let why = "the optimizer does not choose all of its indexes";
    assert_eq!(pair.advice.candidate.remedy.why_unused(), why);
    assert_eq!(
        pair.advice.candidate.reason,
        "with the first index alone, statement 4 takes 3.65 times as long; the second index makes it faster"
    );
    // It saves 29.7 ms and 3.6 ms, and the first index alone 10.6 ms less than 29.7 ms.
    assert!((pair.advice.saving_s - 0.0333).abs() < 1e-9);
    assert!(pair.saves_more(&diagnosis, &[1]));
    assert!(!pair.saves_more(&diagnosis, &[1, 2]));
    diagnosis.advice[1].saving_s = 0.015;
    assert!(!pair.saves_more(&diagnosis, &[1]));
    // It is measured once.
    diagnosis.advice.push(pair.advice);
    assert!(best_pair(&diagnosis).is_none());
}

#[test]
fn an_index_whose_costs_outweigh_its_saving_can_be_in_a_pair() {
    for outcome in [Outcome::NotProved, Outcome::Slower, Outcome::AnotherResult] {
        let mut all = with_a_cost();
        let Some(Proof::Measured(measured)) = &mut all[0].proof else {
            panic!("it was measured");
        };
        measured.outcome = outcome;
        let pair = best_pair(&diagnosis_with(all));
        let is_right = outcome != Outcome::AnotherResult;
        assert_eq!(pair.is_some(), is_right, "{outcome:?}");
        if let Some(pair) = pair {
            // It should save 29.7 ms and 3.6 ms.
            assert!((pair.advice.saving_s - 0.0333).abs() < 1e-9);
        }
    }
}

#[test]
fn there_is_no_pair_without_a_proved_remedy_for_the_cost() {
    let without_cost = |all: &mut Vec<Advice>| all[0] = index("a");
    let without_remedy = |all: &mut Vec<Advice>| all[2].proof = Some(Proof::Unused);
    let of_another_table = |all: &mut Vec<Advice>| {
        let Remedy::Side(change) = &mut all[2].candidate.remedy else {
            panic!("it is no index");
        };
        let Parts::Indexes { indexes, .. } = &mut change.parts else {
            panic!("it is no index");
        };
        indexes.table = "u".to_owned();
    };
    let with_a_text = |all: &mut Vec<Advice>| {
        let Remedy::Side(change) = &mut all[2].candidate.remedy else {
            panic!("it is no index");
        };
        change.text = Some("select 1".to_owned());
    };
    let changes: [fn(&mut Vec<Advice>); 4] =
        [without_cost, without_remedy, of_another_table, with_a_text];
    for change in changes {
        let mut all = with_a_cost();
        change(&mut all);
        assert!(best_pair(&diagnosis_with(all)).is_none());
    }
    let mut one_statement = diagnosis_with(with_a_cost());
    assert!(!has_pairs(&one_statement, &[0]));
    one_statement.statements.truncate(1);
    assert!(!has_pairs(&one_statement, &[0, 1, 2]));
}
