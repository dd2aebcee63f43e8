//! Tests of the order and the time of rounds.

use super::*;
use crate::advise::candidate::{Candidate, SideChange};

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
