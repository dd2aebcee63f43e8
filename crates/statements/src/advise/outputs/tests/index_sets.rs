//! Tests of what is said about several proved indexes.

use super::*;
use crate::compare::NewIndexes;

/// A proved index that was proposed for a statement.
pub(super) fn index(
    at: usize,
    statement: &str,
    name: &str,
    columns: &str,
    faster: Vec<Effect>,
) -> Advice {
    let mut advice = advice(at, statement, "", proof_of(faster));
    let indexes = NewIndexes {
        schema: "s".to_owned(),
        table: "t".to_owned(),
        names: vec![name.to_owned()],
        columns: columns.split(", ").map(str::to_owned).collect(),
        undone_by: Vec::new(),
        made: vec![name.to_owned()],
    };
    let sql = format!("create index {name} on t ({columns})");
    advice.candidate.remedy = Remedy::of_parts(name, Parts::Indexes { sql, indexes });
    advice
}

pub(super) fn faster(statement: &str, means_s: [f64; 2]) -> Effect {
    effect(statement, Decision::Faster, means_s)
}

#[test]
fn an_index_for_what_another_one_makes_as_fast_is_an_alternative() {
    let all = diagnosis(vec![
        index(0, "Q1", "i_a", "a", vec![faster("Q1", [0.125, 0.003])]),
        index(
            0,
            "Q1",
            "i_a_b",
            "a, b",
            vec![faster("Q1", [0.125, 0.002]), faster("2", [0.002, 0.001])],
        ),
        index(1, "2", "i_c", "c", vec![faster("2", [0.002, 0.0001])]),
    ]);
    assert_eq!(
        shown(&all, true, false),
        "3 remedies proved; 2 of the 3 indexes are enough: the best: create index i_a_b on t (a, b): 125 ms to 2.00 ms\n\
         enough: i_a_b, i_c; each index was measured alone\n\
         statement Q1 (125 ms): select count(*) from t where a = 1\n\
         \x20 proved: create index i_a_b on t (a, b): 125 ms to 2.00 ms\n\
         \x20 proved, alternative to i_a_b: create index i_a on t (a): 125 ms to 3.00 ms\n\
         statement 2 (2.00 ms): select b from t where c = 1\n\
         \x20 proved: create index i_c on t (c): 2.00 ms to 100 µs\n"
    );
    let json: serde_json::Value = serde_json::from_str(&json(&all, true, None)).unwrap();
    assert_eq!(json["enough_indexes"], serde_json::json!(["i_a_b", "i_c"]));
    let alternatives = [0, 1, 2].map(|at| json["candidates"][at]["alternative_to"].clone());
    assert_eq!(
        serde_json::json!(alternatives),
        serde_json::json!([["i_a_b"], [], []])
    );
}

/// The intervals of a busy machine: 9 ms and 600 µs are not told apart by them.
#[test]
fn an_index_that_leaves_many_times_as_much_is_not_as_fast() {
    let uncertain = |means_s: [f64; 2]| {
        let estimate = means_s[1] / means_s[0];
        Effect {
            ratio: Some(Interval {
                estimate,
                low: estimate / 10.0,
                high: estimate * 10.0,
            }),
            ..faster("Q1", means_s)
        }
    };
    let with = |left_s: f64| {
        let of_both = vec![uncertain([0.125, left_s]), faster("2", [0.05, 0.02])];
        let mut all = diagnosis(vec![
            index(0, "Q1", "i_a", "a", of_both),
            index(0, "Q1", "i_b_a", "b, a", vec![uncertain([0.125, 0.0006])]),
        ]);
        all.statements[1].time_s = 0.05;
        shown(&all, true, false)
    };
    let each_is_needed = with(0.009);
    assert!(!each_is_needed.contains("enough"), "{each_is_needed}");
    let one_is_needed = with(0.001);
    let start =
        "2 remedies proved; 1 of the 2 indexes is enough: the best: create index i_a on t (a)";
    assert!(one_is_needed.starts_with(start), "{one_is_needed}");
}

#[test]
fn indexes_of_which_each_is_needed_have_no_alternatives() {
    let all = diagnosis(vec![
        index(0, "Q1", "i_a", "a", vec![faster("Q1", [0.125, 0.003])]),
        index(1, "2", "i_c", "c", vec![faster("2", [0.002, 0.001])]),
    ]);
    let text = shown(&all, true, false);
    assert!(
        text.starts_with("2 remedies proved: the best: create index i_a"),
        "{text}"
    );
    for word in ["enough", "alternative"] {
        assert!(!text.contains(word), "{text}");
    }
}

#[test]
fn several_indexes_can_make_one_needless_together() {
    let of_two = |name: &str, statements: [&str; 2]| {
        let effects = statements.map(|it| faster(it, [0.002, 0.001]));
        index(1, "2", name, name, effects.to_vec())
    };
    let mut all = diagnosis(vec![
        index(0, "Q1", "i_a", "a", vec![faster("Q1", [0.125, 0.003])]),
        of_two("i_b", ["2", "3"]),
        of_two("i_c", ["2", "4"]),
        of_two("i_d", ["3", "5"]),
        index(1, "2", "i_e", "e", vec![faster("2", [0.002, 0.001])]),
    ]);
    for (at, name, time_s) in [(2, "3", 0.002), (3, "4", 0.001), (4, "5", 0.001)] {
        all.statements
            .push(statement(at, name, "select d from t", time_s));
    }
    let verbose = shown(&all, true, true);
    for part in [
        "5 remedies proved; 3 of the 5 indexes are enough: the best: create index i_a",
        "enough: i_a, i_c, i_d; each index",
        "  proved, alternative to i_c and i_d together: create index i_b",
        // One of several that serve its statement suffices.
        "  proved, alternative to i_c: create index i_e",
    ] {
        assert!(verbose.contains(part), "{part}: {verbose}");
    }
}

#[test]
fn an_index_that_needs_another_text_is_named_with_it() {
    let saving = || vec![faster("Q1", [0.125, 0.003])];
    let mut with_text = index(0, "Q1", "i_a", "a", saving());
    if let Remedy::Side(change) = &mut with_text.candidate.remedy {
        change.text = Some("select count(*) from t where a = '1'".to_owned());
    }
    let all = diagnosis(vec![with_text, index(0, "Q1", "i_b", "b", saving())]);
    let verbose = shown(&all, true, true);
    for part in [
        "2 remedies proved; 1 of the 2 indexes is enough: the best: create index i_a",
        "enough: i_a with another text of statement Q1; each index",
        "  proved, alternative to i_a with another text of statement Q1: create index i_b",
    ] {
        assert!(verbose.contains(part), "{part}: {verbose}");
    }
}

#[test]
fn the_reason_for_an_index_names_the_statement_that_it_is_true_of() {
    let saving = vec![faster("2", [0.002, 0.001])];
    let all = diagnosis(vec![index(0, "Q1", "i_a", "a", saving)]);
    let verbose = shown(&all, true, true);
    let reason =
        "  proved: create index i_a on t (a)\n    proposed for statement Q1: t reads 8.00k rows";
    assert!(verbose.contains(reason), "{verbose}");
}

#[test]
fn a_line_about_a_redundant_index_is_not_cut() {
    let mut all = diagnosis(Vec::new());
    all.needless.push(NeedlessIndex {
        table: "shop.customers".to_owned(),
        index: "k_country".to_owned(),
        why: DropReason::Shorter {
            of: "k_country_created".to_owned(),
        },
    });
    let end = "unless a statement needs MIN, MAX or ORDER BY of the primary key: index k_country_created begins with its \
               columns\n";
    let text = shown(&all, false, false);
    assert!(text.ends_with(end), "{text}");
}
