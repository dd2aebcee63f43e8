//! Tests of what is said about statements whose candidates had no trial.

use super::{
    index_sets::{faster, index},
    *,
};

/// Two proved indexes for statement 2, of which one is enough, and two without a trial for Q1.
fn with_untried() -> Diagnosis {
    let untried = |parts: &str| advice(0, "Q1", parts, Some(Proof::NotTried));
    diagnosis(vec![
        index(1, "2", "i_c", "c", vec![faster("2", [0.002, 0.001])]),
        index(1, "2", "i_c_b", "c, b", vec![faster("2", [0.002, 0.0009])]),
        untried("create index a on t (a)"),
        untried("create index b on t (a, b)"),
    ])
}

#[test]
fn the_most_expensive_statement_whose_candidates_were_not_tried_is_named() {
    let mut all = with_untried();
    let text = shown(&all, true, false);
    let first: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(
        first,
        [
            "2 remedies proved: the best of those tried: create index i_c_b on t (c, b): 2.00 ms to 900 µs",
            "not tried for statement Q1 (125 ms), the most expensive one without a proved remedy: \
             create index a on t (a) and 1 more (--at-most tries more)",
        ]
    );
    assert!(!text.contains("enough"), "{text}");
    assert!(
        text.contains("  proved, alternative to i_c_b: create index i_c on"),
        "{text}"
    );
    assert!(text.ends_with("\n2 not tried (--verbose)\n"), "{text}");
    all.trial = Some(TrialTime {
        budget: Duration::from_secs(60),
        whole: Duration::from_secs(50),
    });
    let json: serde_json::Value = serde_json::from_str(&json(&all, true, None)).unwrap();
    assert_eq!(json["enough_indexes"], serde_json::json!([]));
    let untried = &json["untried_statement"];
    assert_eq!(untried["statement"], "Q1");
    let remedies = ["create index a on t (a)", "create index b on t (a, b)"];
    assert_eq!(untried["remedies"], serde_json::json!(remedies));
}

#[test]
fn a_trial_that_ended_early_suggests_no_more_candidates() {
    let layout = Layout {
        is_tried: true,
        is_verbose: false,
        width: 80,
    };
    let text = text(&with_untried(), layout, Some("interrupted"));
    assert!(
        text.contains(" and 1 more\nincomplete: interrupted\n"),
        "{text}"
    );
}

#[test]
fn proved_indexes_are_enough_if_no_untried_candidate_saves_much() {
    let mut all = with_untried();
    // 5 % of 127 ms are 6.35 ms.
    for it in &mut all.advice {
        it.saving_s = 0.006;
    }
    let start = "2 remedies proved; 1 of the 2 indexes is enough: the best of those tried: create index i_c_b";
    let text = shown(&all, true, false);
    assert!(text.starts_with(start), "{text}");
    assert!(
        text.contains("\nnot tried for statement Q1 (125 ms)"),
        "{text}"
    );
    // What was not tried for a statement with a proved remedy is not needed.
    let mut all = with_untried();
    for it in &mut all.advice {
        it.at = 1;
        "2".clone_into(&mut it.statement);
    }
    let text = shown(&all, true, false);
    assert!(text.starts_with(start), "{text}");
    assert!(!text.contains("not tried for"), "{text}");
}
