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

/// On a busy machine, the flushes themselves may not differ for certain.
#[test]
fn a_disk_is_not_slower_if_one_side_flushes_more_often() {
    let stalls = || Case::of(&[(Cost::DiskStall, 65.0, 2.5)]);
    let told = |case: Case| case.causes()[0].sentence.clone();
    assert!(told(stalls()).ends_with(": on A, the disk is slower, or other programs use it"));
    let flushes = stalls().and(|it| {
        _ = it
            .variables
            .insert("innodb_flush_log_at_trx_commit", ["1", "2"])
    });
    assert!(
        told(flushes)
            .ends_with(": A waits longer for the disk (innodb_flush_log_at_trx_commit 1 → 2)")
    );
}

#[test]
fn a_setting_alone_is_no_cause() {
    let with = |costs: &[(Cost, f64, f64)], variable: fn(&mut Evidence<'_>)| {
        let mut case = Case::of(costs).and(variable);
        case.metrics = vec![compared(Measure::Metric(Metric::Throughput), 1e5, 5e4)];
        case.rules()
    };
    let logs = |it: &mut Evidence<'_>| _ = it.variables.insert("general_log", ["OFF", "ON"]);
    let still = [
        (Cost::WrittenBytes, 900.0, 900.0),
        (Cost::ServerCpu, 50.0, 50.0),
    ];
    assert_eq!(with(&still, logs), [""; 0], "observed, and nothing moved");
    let pages = [
        (Cost::WrittenBytes, 100.0, 33_000.0),
        (Cost::InnodbWrites, 0.0, 2.0),
    ];
    assert_eq!(with(&pages, logs), ["bytes written"], "pages of InnoDB");
    let log_and_pages = [
        (Cost::WrittenBytes, 100.0, 90_000.0),
        (Cost::InnodbWrites, 0.0, 2.0),
    ];
    assert_eq!(with(&log_and_pages, logs)[0], "statement log");
    let saved = [(Cost::WrittenBytes, 300.0, 100.0)];
    assert_eq!(
        with(&saved, logs),
        [""; 0],
        "the side that logs writes less"
    );

    let syncs = |it: &mut Evidence<'_>| _ = it.variables.insert("sync_binlog", ["0", "1"]);
    let still = [(Cost::DiskFlushes, 1.0, 1.0)];
    assert_eq!(with(&still, syncs), [""; 0]);
    let of_redo_log = [(Cost::DiskFlushes, 0.1, 1.1), (Cost::Fsyncs, 0.0, 1.0)];
    assert_eq!(with(&of_redo_log, syncs), ["fsyncs"]);
    let of_both = [(Cost::DiskFlushes, 0.1, 4.1), (Cost::Fsyncs, 0.0, 1.0)];
    assert_eq!(with(&of_both, syncs), ["binary log", "fsyncs"]);
    let fewer = [(Cost::DiskFlushes, 2.0, 1.0)];
    assert_eq!(with(&fewer, syncs), [""; 0]);
    // Not observed: it is reported as a guess.
    let guess = Case::of(&[]).and(syncs).causes();
    assert_eq!(
        guess[0].sentence,
        "B syncs its binary log more often (sync_binlog 0 → 1); the cost of this setting was not observed"
    );
}
