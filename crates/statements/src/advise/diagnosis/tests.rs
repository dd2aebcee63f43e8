//! Tests of the ranking of candidates, and of what is said meanwhile.

use sqltext::statements_of;

use super::*;
use crate::advise::candidate::Parts;

fn candidate(remedy: Remedy, saving: f64) -> Candidate {
    Candidate {
        reason: "why".to_owned(),
        remedy,
        saving,
    }
}

fn statistics(tables: &[&str]) -> Remedy {
    Remedy::Statistics(tables.iter().map(|it| (*it).to_owned()).collect())
}

fn words(diagnosis: &Diagnosis) -> Vec<String> {
    let all = diagnosis.advice.iter();
    all.map(|it| it.candidate.remedy.words()).collect()
}

#[test]
fn statistics_come_first_and_then_what_saves_most_of_all_statements() {
    let mut diagnosis = Diagnosis::default();
    let author = |what: &str| Remedy::Author(what.to_owned());
    diagnosis.add(0, "1", candidate(author("a"), 0.9), 1.0);
    diagnosis.add(0, "1", candidate(author("b"), 0.5), 1.0);
    diagnosis.add(0, "1", candidate(statistics(&["s.t"]), 0.1), 1.0);
    diagnosis.add(1, "2", candidate(author("b"), 0.5), 2.0);
    diagnosis.add(1, "2", candidate(statistics(&["s.t", "s.u"]), 1.0), 1.0);
    diagnosis.rank();
    assert_eq!(words(&diagnosis), ["analyze table s.t, s.u", "b", "a"]);
    assert_eq!(diagnosis.advice[1].statement, "2");
    assert_eq!(diagnosis.advice[1].also_for, ["1"]);
    let statistics = &diagnosis.advice[0];
    assert_eq!(statistics.statements(), ["2", "1"]);
    assert_eq!(statistics.candidate.reason, "why; why");
}

#[test]
fn further_candidates_for_one_statement_count_less() {
    let mut diagnosis = Diagnosis::default();
    let index = |name: &str| Remedy::of_parts(name, Parts::Session(format!("create index {name}")));
    // Statement 1 takes 100 ms and has three candidates; statements 2 and 3 take 40 ms and 20 ms.
    for name in ["a", "b", "c"] {
        diagnosis.add(0, "1", candidate(index(name), 0.9), 0.1);
    }
    diagnosis.add(1, "2", candidate(index("d"), 0.9), 0.04);
    diagnosis.add(2, "3", candidate(index("e"), 0.9), 0.02);
    // Of 90 ms the second candidate counts 45 ms and the third one 22.5 ms; the others count 36 ms and 18 ms.
    diagnosis.rank();
    let expected = ["a", "b", "d", "c", "e"].map(|it| format!("create index {it}"));
    assert_eq!(words(&diagnosis), expected);
}

#[test]
fn what_failed_is_left_out_and_its_first_error_is_that_of_the_command() {
    let statements = b"set @a = 1; select 1; select 2; select 3".to_vec();
    let statements = statements_of("q.sql", statements).unwrap();
    let failed = [1, 3].map(|at| {
        let error = Blamed::new(Blame::Server, statements[at].place());
        FailedStatement { at, error }
    });
    let diagnosis = Diagnosis {
        failed: failed.into(),
        ..Diagnosis::default()
    };
    let left = diagnosis.without_failed(&statements);
    let texts: Vec<_> = left.iter().map(SqlStatement::text).collect();
    assert_eq!(texts, [&b"set @a = 1"[..], b"select 2"]);
    let failure = diagnosis.into_failure().unwrap();
    assert_eq!(failure.message, "q.sql:1:13");
}

#[test]
fn a_statement_in_progress_is_named_with_its_number() {
    let text = b"set @a = 1;\nselect 1;\nselect /* Q2 */ 2".to_vec();
    let statements = statements_of("q.sql", text).unwrap();
    let words = [1, 2].map(|at| statement_in_words(&statements[at], &statements));
    assert_eq!(
        words,
        [
            "q.sql:2:1, statement 1 of 2",
            "q.sql:3:1 (Q2), statement 2 of 2"
        ]
    );
}

#[test]
fn fresh_candidates_replace_those_by_old_statistics() {
    let mut diagnosis = Diagnosis::default();
    let mut fresh = Diagnosis::default();
    let option = Remedy::of_parts(
        "buffer_pool",
        Parts::ServerOption {
            name: "innodb_buffer_pool_size",
            value: 5,
        },
    );
    let index = |name: &str| Remedy::of_parts(name, Parts::Session(format!("create index {name}")));
    for remedy in [statistics(&["s.t"]), index("old"), option] {
        diagnosis.add(0, "1", candidate(remedy, 0.5), 1.0);
    }
    fresh.add(0, "1", candidate(index("new"), 0.9), 1.0);
    diagnosis.renew(fresh);
    assert_eq!(
        words(&diagnosis),
        [
            "analyze table s.t",
            "create index new",
            "option innodb_buffer_pool_size = 5"
        ]
    );
}
