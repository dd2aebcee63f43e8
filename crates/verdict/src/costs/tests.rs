//! Tests of the costs of records with known content.

use samples::{Cgroup, Machine, Peer};

use super::*;
use crate::testing::{RecordBuilder, record};

fn costs(made: &RecordBuilder) -> Costs {
    let record = record(made);
    Costs::of(&record, &RunFigures::of(&record)).unwrap()
}

#[test]
fn the_table_is_in_the_order_of_the_costs() {
    for (index, spec) in SPECS.iter().enumerate() {
        assert_eq!(spec.cost as usize, index, "{}", spec.name);
    }
}

#[test]
fn a_cost_is_what_was_used_by_the_operations_of_the_measurement() {
    let made = RecordBuilder {
        per_s: 100,
        server_cpu_s: 0.02,
        counters: vec![("Innodb_data_fsyncs", 50.0), ("Rows_read", 300.0)],
        ..RecordBuilder::default()
    };
    let costs = costs(&made);
    let close = |cost, expected: f64| {
        let value = costs.get(cost).unwrap();
        assert!((value - expected).abs() < 1e-9, "{cost:?}: {value}");
    };
    close(Cost::ServerCpu, 200.0);
    close(Cost::Fsyncs, 0.5);
    close(Cost::RowsRead, 3.0);
}

#[test]
fn what_stood_still_is_zero_and_what_nobody_looked_at_is_nothing() {
    let made = RecordBuilder {
        counters: vec![("Innodb_buffer_pool_reads", 0.0)],
        ..RecordBuilder::default()
    };
    let costs = costs(&made);
    assert_eq!(costs.get(Cost::Misses), Some(0.0));
    assert!(costs.get(Cost::Misses).unwrap().is_sign_positive());
    assert_eq!(costs.get(Cost::LogFsyncs), None, "no such counter");
    assert_eq!(costs.get(Cost::DiskReads), None, "no disk was observed");
    assert_eq!(costs.get(Cost::Throttled), None, "no control group");
    // Half of one in 100 operations a second over 4 seconds.
    assert_eq!(costs.least(Cost::Misses), 0.5 / 400.0);
}

#[test]
fn a_server_without_a_cpu_limit_is_never_held_back() {
    let throttled = |cgroups: &[Option<f64>]| {
        let groups = cgroups.iter().map(|cpu_limit| Cgroup {
            of: Peer::Server,
            cpu_limit: *cpu_limit,
            ..Cgroup::default()
        });
        let mut record = record(&RecordBuilder::default());
        record.machines.push(Machine {
            cgroups: groups.collect(),
            ..Machine::default()
        });
        let costs = Costs::of(&record, &RunFigures::of(&record)).unwrap();
        costs.get(Cost::Throttled)
    };
    assert_eq!(throttled(&[]), Some(0.0), "in no group but the machine's");
    assert_eq!(throttled(&[None]), Some(0.0));
    assert_eq!(
        throttled(&[Some(0.5)]),
        None,
        "nobody looked at its counters"
    );
}

#[test]
fn looking_at_the_server_is_no_cost_of_an_operation() {
    let slow = costs(&RecordBuilder {
        per_s: 1,
        ..RecordBuilder::default()
    });
    // One reading per second.
    assert_eq!(slow.negligible(Cost::BytesSent), 60_000.0);
    assert_eq!(slow.negligible(Cost::Fsyncs), 0.01);
}

#[test]
fn the_page_tells_every_cost() {
    let page = include_str!("../../../../docs/compare.md");
    for spec in &SPECS {
        let row = format!("| `{}` | {} |", spec.name, spec.words);
        assert!(page.contains(&row), "not told: {row}");
    }
}
