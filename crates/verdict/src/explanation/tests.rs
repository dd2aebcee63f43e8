//! Tests of each rule with a case in which it holds, and of the order when several hold.

use std::collections::BTreeMap;

use stats::compare_pairs;

use super::{evidence::LostCpu, *};
use crate::{bottleneck::Resource, decision::Decision, measure::Measure, metric::Metric};

mod bytes;
mod settings;

/// A measure with these means; the difference is certain if there is one.
fn compared(measure: Measure, a: f64, b: f64) -> Compared {
    let is_apart = (a - b).abs() > 1e-12;
    let least = |value: f64| value.max(1e-6);
    let pair = (least(a), least(b));
    let decision = match (is_apart, (b > a) == measure.more_is_better()) {
        (false, _) => Decision::Equivalent,
        (true, true) => Decision::Faster,
        (true, false) => Decision::Slower,
    };
    Compared::made(measure, [a, b], decision, compare_pairs(&[pair; 5], 0.95))
}

struct Case {
    costs: Vec<Compared>,
    metrics: Vec<Compared>,
    evidence: fn(&mut Evidence<'_>),
}

impl Case {
    /// Costs that changed, with a worse throughput if the first of them grew or there is none.
    fn of(costs: &[(Cost, f64, f64)]) -> Self {
        let is_better = costs.first().is_some_and(|(_, a, b)| b < a);
        let throughput = if is_better { 200.0 } else { 50.0 };
        let costs = costs
            .iter()
            .map(|(cost, a, b)| compared(Measure::Cost(*cost), *a, *b));
        Self {
            costs: costs.collect(),
            metrics: vec![compared(
                Measure::Metric(Metric::Throughput),
                100.0,
                throughput,
            )],
            evidence: |_| {},
        }
    }

    fn and(mut self, evidence: fn(&mut Evidence<'_>)) -> Self {
        self.evidence = evidence;
        self
    }

    fn causes(&self) -> Vec<Cause> {
        let mut evidence = Evidence {
            costs: self.costs.iter().collect(),
            metrics: self.metrics.iter().collect(),
            ..Evidence::default()
        };
        (self.evidence)(&mut evidence);
        causes(&evidence)
    }

    fn rules(&self) -> Vec<&'static str> {
        self.causes().iter().map(|cause| cause.rule).collect()
    }
}

fn taken_by_others((others, steal): (f64, f64)) -> LostCpu {
    LostCpu { others, steal }
}

#[test]
fn what_others_take_of_both_sides_explains_nothing() {
    let of = |sides: fn(&mut Evidence<'_>)| Case::of(&[]).and(sides).rules();
    let others = |it: &mut Evidence<'_>| {
        it.taken = Some([(0.24, 0.02), (0.26, 0.025)].map(taken_by_others));
    };
    assert_eq!(of(others), [""; 0]);
    // The side that is better had less of the machine.
    let of_better = |it: &mut Evidence<'_>| {
        it.taken = Some([(0.3, 0.0), (0.0, 0.0)].map(taken_by_others));
    };
    assert_eq!(of(of_better), [""; 0]);
}

#[test]
fn nothing_is_named_where_nothing_moved() {
    assert_eq!(
        Case::of(&[(Cost::Fsyncs, 1.0, 1.0), (Cost::ServerCpu, 50.0, 52.0)]).rules(),
        [""; 0]
    );
    let tiny = Case::of(&[(Cost::Misses, 0.0, 0.001)]);
    let mut tiny = tiny;
    tiny.costs[0].negligible = 0.01;
    assert_eq!(tiny.rules(), [""; 0]);
}

#[test]
fn a_cost_moves_only_by_more_than_chance_explains() {
    let wide = [(1.0, 1.0), (1.0, 3.0), (1.0, 0.9)];
    let mut case = Case::of(&[(Cost::Fsyncs, 1.0, 1.4)]);
    case.costs[0].comparison = compare_pairs(&wide, 0.95);
    case.costs[0].decision = Decision::Inconclusive;
    assert_eq!(case.rules(), [""; 0]);
    // An interval of its own is not enough, even if a metric certainly differs: the table calls the cost inconclusive.
    case.costs[0].comparison = compare_pairs(&[(1.0, 1.4); 3], 0.95);
    assert_eq!(case.rules(), [""; 0]);
    case.costs[0].decision = Decision::Slower;
    assert_eq!(case.rules(), ["fsyncs"]);
    case.metrics.clear();
    assert_eq!(case.rules(), ["fsyncs"]);
}

#[test]
fn each_rule_holds_in_its_case() {
    let cases = [
        (Case::of(&[(Cost::RowsRead, 1.0, 1200.0)]), "rows read"),
        (Case::of(&[(Cost::RowLockTime, 0.0, 900.0)]), "row locks"),
        (Case::of(&[(Cost::RowLockWaits, 0.0, 0.4)]), "row locks"),
        (Case::of(&[(Cost::QueryCache, 0.0, 1.0)]), "query cache"),
        (
            Case::of(&[(Cost::Misses, 0.02, 0.81)]),
            "buffer-pool misses",
        ),
        (Case::of(&[(Cost::LogFsyncs, 1.0, 0.01)]), "fsyncs"),
        (Case::of(&[(Cost::Fsyncs, 1.0, 0.01)]), "fsyncs"),
        (
            Case::of(&[(Cost::TmpDiskTables, 0.0, 1.0)]),
            "temporary tables",
        ),
        (Case::of(&[(Cost::TmpTables, 0.0, 1.0)]), "temporary tables"),
        (
            Case::of(&[(Cost::DiskWrittenBytes, 400.0, 16e6)]),
            "bytes written",
        ),
        (Case::of(&[(Cost::BytesSent, 60.0, 9e5)]), "bytes sent"),
        (Case::of(&[(Cost::DiskStall, 10.0, 900.0)]), "slower disk"),
        (Case::of(&[(Cost::ServerCpu, 100.0, 135.0)]), "server CPU"),
        (Case::of(&[(Cost::ClientCpu, 10.0, 15.0)]), "client CPU"),
        (
            Case::of(&[(Cost::ContextSwitches, 1.0, 4.0)]),
            "context switches",
        ),
        (
            Case::of(&[(Cost::WrittenBytes, 0.0, 180.0)])
                .and(|it| _ = it.variables.insert("general_log", ["OFF", "ON"])),
            "statement log",
        ),
        (
            Case::of(&[]).and(|it| _ = it.variables.insert("slow_query_log", ["OFF", "ON"])),
            "statement log",
        ),
        (
            Case::of(&[(Cost::DiskFlushes, 0.5, 1.4)])
                .and(|it| _ = it.variables.insert("sync_binlog", ["0", "1"])),
            "binary log",
        ),
        (
            Case::of(&[(Cost::BinlogBytes, 0.0, 300.0)])
                .and(|it| _ = it.variables.insert("log_bin", ["OFF", "ON"])),
            "binary log",
        ),
        (
            Case::of(&[(Cost::ServerCpu, 100.0, 300.0)])
                .and(|it| it.limits = [vec![None; 3], vec![Some(Resource::CpuQuota); 3]]),
            "CPU limit",
        ),
        (
            Case::of(&[]).and(|it| it.limits = [vec![None; 3], vec![Some(Resource::DiskQuota); 3]]),
            "disk limit",
        ),
        (
            Case::of(&[]).and(|it| it.limits = [vec![None; 3], vec![Some(Resource::Memory); 3]]),
            "memory",
        ),
        (
            Case::of(&[(Cost::ServerCpu, 100.0, 300.0)]).and(|it| {
                it.taken = Some([(0.01, 0.0), (0.24, 0.0)].map(taken_by_others));
            }),
            "other programs",
        ),
        (
            Case::of(&[]).and(|it| it.taken = Some([(0.0, 0.0), (0.0, 0.12)].map(taken_by_others))),
            "steal",
        ),
    ];
    for (case, rule) in &cases {
        let found = case.rules();
        assert_eq!(found.first(), Some(rule), "{found:?}");
    }
    let named: Vec<&str> = cases.iter().map(|(_, rule)| *rule).collect();
    let without: Vec<&str> = RULES
        .iter()
        .map(|rule| rule.name)
        .filter(|name| !named.contains(name) && *name != "round trip")
        .collect();
    assert_eq!(without, [""; 0], "rules without a case");
}

#[test]
fn the_side_that_is_worse_is_so_by_what_it_bears_more_of() {
    let mut case = Case::of(&[(Cost::Fsyncs, 1.0, 0.0), (Cost::ServerCpu, 50.0, 90.0)]);
    assert_eq!(case.rules(), ["fsyncs"], "B is faster");
    case.metrics = vec![compared(Measure::Metric(Metric::Throughput), 100.0, 50.0)];
    assert_eq!(case.rules(), ["server CPU"], "B is slower");
    case.costs
        .push(compared(Measure::Cost(Cost::QueryCache), 1.0, 0.0));
    assert_eq!(
        case.rules(),
        ["query cache"],
        "which may be a gain or a loss"
    );
}

#[test]
fn other_programs_come_behind_a_cost_if_they_cannot_explain_the_difference() {
    let mut case = Case::of(&[(Cost::Fsyncs, 1.0, 0.0)])
        .and(|it| it.taken = Some([(0.1, 0.0), (0.01, 0.0)].map(taken_by_others)));
    assert_eq!(case.rules(), ["fsyncs", "other programs"], "twice as fast");
    case.metrics = vec![compared(Measure::Metric(Metric::Throughput), 100.0, 110.0)];
    assert_eq!(case.rules(), ["other programs", "fsyncs"], "10 % faster");
}

#[test]
fn a_round_trip_makes_every_operation_longer_by_the_same_time() {
    let case = |p50_b: f64, shortest: Option<[f64; 2]>, costs: &[(Cost, f64, f64)]| {
        let mut case = Case::of(costs);
        case.metrics
            .push(compared(Measure::Metric(Metric::P50), 300e3, p50_b));
        let mut evidence = Evidence {
            costs: case.costs.iter().collect(),
            metrics: case.metrics.iter().collect(),
            ..Evidence::default()
        };
        evidence.shortest_us = shortest;
        let found = causes(&evidence);
        found.first().map(|cause| cause.rule)
    };
    let longer = Some([100.0, 1_200.0]);
    assert_eq!(case(1_400e3, longer, &[]), Some("round trip"));
    assert_eq!(
        case(1_400e3, longer, &[(Cost::ServerCpu, 20.0, 60.0)]),
        Some("round trip")
    );
    assert_eq!(
        case(1_400e3, longer, &[(Cost::ServerCpu, 20.0, 900.0)]),
        Some("server CPU")
    );
    assert_eq!(
        case(1_400e3, longer, &[(Cost::Fsyncs, 0.0, 1.0)]),
        Some("fsyncs")
    );
    assert_eq!(
        case(1_400e3, Some([100.0, 110.0]), &[]),
        None,
        "only some operations wait"
    );
    assert_eq!(case(1_400e3, None, &[]), None);
}

#[test]
fn the_cause_comes_before_what_follows_from_it() {
    let scan = Case::of(&[
        (Cost::Misses, 0.0, 300.0),
        (Cost::RowsRead, 1.0, 20_000.0),
        (Cost::ServerCpu, 50.0, 9_000.0),
    ]);
    assert_eq!(scan.rules(), ["rows read", "buffer-pool misses"]);
    let throttled = Case::of(&[(Cost::Fsyncs, 0.5, 1.0), (Cost::Throttled, 0.0, 700.0)])
        .and(|it| it.limits = [vec![None; 3], vec![Some(Resource::CpuQuota); 3]]);
    assert_eq!(throttled.rules(), ["CPU limit", "fsyncs"]);
    assert!(throttled.causes()[0].sentence.contains("700 µs"));
    let flush = Case::of(&[(Cost::Misses, 0.03, 0.01), (Cost::Fsyncs, 1.0, 0.0)]).and(|it| {
        _ = it
            .variables
            .insert("innodb_flush_log_at_trx_commit", ["1", "2"])
    });
    assert_eq!(flush.rules(), ["fsyncs", "buffer-pool misses"]);
    assert_eq!(
        flush.causes()[0].sentence,
        "fsyncs of InnoDB per operation 1.00 → 0: B does not sync its redo log at every commit \
         (innodb_flush_log_at_trx_commit 1 → 2)"
    );
}

#[test]
fn a_cost_is_told_once() {
    let log = Case::of(&[(Cost::WrittenBytes, 0.0, 180.0)])
        .and(|it| _ = it.variables.insert("general_log", ["OFF", "ON"]));
    assert_eq!(log.rules(), ["statement log"], "and not bytes written");
}

#[test]
fn what_other_programs_write_is_no_cause() {
    let mut case = Case::of(&[
        (Cost::DiskWrittenBytes, 8_000.0, 9e6),
        (Cost::WrittenBytes, 900.0, 900.0),
    ]);
    assert_eq!(case.rules(), [""; 0]);
    case.costs.pop();
    assert_eq!(
        case.rules(),
        ["bytes written"],
        "nobody knows whose they are"
    );
}

#[test]
fn a_limit_is_told_with_what_it_cost() {
    let limited = |resource, cost| {
        let mut case = Case::of(&[(cost, 0.0, 700.0)]);
        case.costs
            .push(compared(Measure::Cost(Cost::Misses), 0.0, 1.0));
        let costs: Vec<&Compared> = case.costs.iter().collect();
        let evidence = Evidence {
            costs,
            metrics: case.metrics.iter().collect(),
            limits: [vec![None; 3], vec![Some(resource); 3]],
            ..Evidence::default()
        };
        let found = causes(&evidence).swap_remove(0);
        (found.cost, found.sentence)
    };
    assert_eq!(
        limited(Resource::CpuQuota, Cost::Throttled),
        (
            Some(Cost::Throttled),
            "B was limited by the CPU limit of its server's control group (time held back by the CPU limit per operation \
             0 s → 700 µs)"
                .to_owned()
        )
    );
    assert_eq!(
        limited(Resource::DiskQuota, Cost::DiskStall).0,
        Some(Cost::DiskStall)
    );
    assert_eq!(
        limited(Resource::Memory, Cost::ServerCpu),
        (None, "B was limited by a lack of memory".to_owned())
    );
}

#[test]
fn a_limit_is_named_only_where_it_is_one_sides_alone() {
    let limits = |a, b| {
        let evidence = Evidence {
            limits: [vec![a; 3], vec![b; 3]],
            ..Evidence::default()
        };
        evidence.limited_by(Resource::CpuQuota)
    };
    let quota = Some(Resource::CpuQuota);
    assert_eq!(limits(None, quota), Some(1));
    assert_eq!(limits(quota, None), Some(0));
    assert_eq!(limits(quota, quota), None);
    assert_eq!(limits(None, None), None);
}

#[test]
fn the_page_tells_every_rule_in_its_order() {
    let page = include_str!("../../../../docs/compare.md");
    let told: String = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = 0;
    for rule in &RULES {
        let row = format!("| {} | {} |", rule.name, rule.holds);
        let at = told[from..].find(&row);
        from += at.unwrap_or_else(|| panic!("not told, or not in its place: {row}"));
    }
}

#[test]
fn variables_of_both_sides_stand_beside_each_other() {
    let variables = BTreeMap::from([("sync_binlog", ["0", "1"])]);
    let evidence = Evidence {
        variables,
        ..Evidence::default()
    };
    assert_eq!(
        evidence.settings(&["sync_binlog", "log_bin"]),
        " (sync_binlog 0 → 1)"
    );
    assert_eq!(evidence.settings(&["log_bin"]), "");
}

#[test]
fn a_log_that_is_not_written_is_no_cause() {
    let cases = [
        (
            "slow_query_log",
            (Cost::ServerCpu, 50.0, 90.0),
            &[("long_query_time", "10.000000")][..],
            false,
        ),
        (
            "slow_query_log",
            (Cost::ServerCpu, 50.0, 90.0),
            &[("long_query_time", "0.000000")],
            true,
        ),
        (
            "slow_query_log",
            (Cost::ServerCpu, 50.0, 90.0),
            &[
                ("long_query_time", "10.000000"),
                ("log_queries_not_using_indexes", "ON"),
            ],
            true,
        ),
        (
            "general_log",
            (Cost::ServerCpu, 50.0, 90.0),
            &[("log_output", "FILE,NONE")],
            false,
        ),
        (
            "sync_binlog",
            (Cost::DiskFlushes, 0.1, 2.0),
            &[("log_bin", "OFF")],
            false,
        ),
        (
            "sync_binlog",
            (Cost::DiskFlushes, 0.1, 2.0),
            &[("log_bin", "ON")],
            true,
        ),
    ];
    for (variable, cost, of_both, is_cause) in cases {
        let case = Case::of(&[cost]);
        let of_both = of_both.iter();
        let of_both: BTreeMap<String, String> = of_both
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let values = match variable {
            "sync_binlog" => ["0", "1"],
            _ => ["OFF", "ON"],
        };
        let evidence = Evidence {
            costs: case.costs.iter().collect(),
            metrics: case.metrics.iter().collect(),
            variables: BTreeMap::from([(variable, values)]),
            all_variables: [Some(&of_both); 2],
            longest_s: Some([0.04, 0.05]),
            ..Evidence::default()
        };
        let found = causes(&evidence);
        let is_named = found.iter().any(|it| it.rule.ends_with(" log"));
        assert_eq!(is_named, is_cause, "{variable} {of_both:?}");
    }
}
