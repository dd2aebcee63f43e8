//! Helpers for the tests of counter rules: a MariaDB 10.11 server with counters of one day.

use std::collections::BTreeMap;

use crate::{
    Counters, Machine, OptionFile, RunningServer, Target,
    counter_rule::{CounterRule, RuleOutcome},
    subject::Subject,
};

const DAY_S: u64 = 86_400;

fn judged(
    rule: &CounterRule,
    machine: &Machine,
    variables: &[(&str, &str)],
    counters: &[(&str, u64)],
) -> RuleOutcome {
    let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let mut status: BTreeMap<String, String> = counters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.to_string()))
        .collect();
    status.insert("Uptime".to_owned(), DAY_S.to_string());
    let server = RunningServer {
        variables: text(variables),
        counters: Counters::of_status(&status),
    };
    let (file, target) = (
        OptionFile::default(),
        Target::parse("mariadb-10.11").unwrap(),
    );
    let subject = Subject::of_server(&file, &target, machine, &server);
    rule.judge(&subject, server.counters.as_ref().unwrap())
}

/// Asserts that the rule makes a remark that contains this: `level: option: what; fix`.
#[track_caller]
pub(super) fn assert_counted(
    rule: &CounterRule,
    variables: &[(&str, &str)],
    counters: &[(&str, u64)],
    part: &str,
) {
    assert_counted_on(rule, &Machine::default(), variables, counters, part);
}

/// The same on a machine.
#[track_caller]
pub(super) fn assert_counted_on(
    rule: &CounterRule,
    machine: &Machine,
    variables: &[(&str, &str)],
    counters: &[(&str, u64)],
    part: &str,
) {
    let RuleOutcome::Found(Some(remark)) = judged(rule, machine, variables, counters) else {
        panic!("{}: no remark", rule.rule.id);
    };
    let level = remark.level.name();
    let fix = remark.fix.map(|fix| fix.to_string()).unwrap_or_default();
    let text = format!("{level}: {}: {}; {fix}", remark.option, remark.what);
    assert!(text.contains(part), "{text}\nhas no {part}");
}

/// Asserts that the rule judges and finds nothing.
#[track_caller]
pub(super) fn assert_silent(
    rule: &CounterRule,
    variables: &[(&str, &str)],
    counters: &[(&str, u64)],
) {
    let found = judged(rule, &Machine::default(), variables, counters);
    assert_eq!(found, RuleOutcome::Found(None), "{}", rule.rule.id);
}

/// Asserts that the rule does not judge, because there are too few events.
#[track_caller]
pub(super) fn assert_too_early(rule: &CounterRule, counters: &[(&str, u64)]) {
    let found = judged(rule, &Machine::default(), &[], counters);
    assert_eq!(found, RuleOutcome::TooEarly, "{}", rule.rule.id);
}

pub(super) fn with_memory(gib: u64) -> Machine {
    Machine {
        memory_bytes: Some(gib << 30),
        ..Machine::default()
    }
}
