//! Tests of what a setting explains, and what it does not.

use super::*;

fn sentences(cost: (Cost, f64, f64), evidence: fn(&mut Evidence<'_>)) -> Vec<String> {
    let causes = Case::of(&[cost]).and(evidence).causes();
    causes.into_iter().map(|cause| cause.sentence).collect()
}

#[test]
fn each_log_is_judged_by_itself() {
    // A writes a general log and does less, so that the slow log of B is the cause.
    let said = sentences((Cost::ServerCpu, 50.0, 90.0), |it| {
        it.variables.insert("general_log", ["ON", "OFF"]);
        it.variables.insert("slow_query_log", ["OFF", "ON"]);
    });
    let of_slow_log = "B writes statements to a log (slow_query_log OFF → ON)";
    assert!(said[0].ends_with(of_slow_log), "{said:?}");
}

#[test]
fn a_setting_that_cannot_explain_the_direction_is_not_named() {
    let named = |said: &[String]| said[0].contains("innodb_flush_log_at_trx_commit");
    let cost = (Cost::Fsyncs, 2.0, 1.0);
    let fewer_by_3 = sentences(cost, |it| {
        let values = ["1", "3"];
        _ = it
            .variables
            .insert("innodb_flush_log_at_trx_commit", values);
    });
    assert!(!named(&fewer_by_3), "{fewer_by_3:?}");
    assert!(fewer_by_3[0].ends_with("B makes fewer syncs per operation"));
    let fewer_by_1 = sentences(cost, |it| {
        let values = ["3", "1"];
        _ = it
            .variables
            .insert("innodb_flush_log_at_trx_commit", values);
    });
    assert!(named(&fewer_by_1), "{fewer_by_1:?}");
    assert!(fewer_by_1[0].contains("B syncs its redo log less often"));
}
