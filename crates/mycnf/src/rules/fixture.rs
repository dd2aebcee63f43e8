//! The vocabulary of the rules' tests.

use std::path::Path;

use crate::{Machine, OptionFile, Target, rule::Rule, subject::Subject};

/// The remarks of a rule: `level: option: what; fix`.
pub(super) fn remarks(rule: &Rule, machine: &Machine, target: &str, lines: &str) -> Vec<String> {
    let text = if lines.starts_with('[') {
        lines.to_owned()
    } else {
        format!("[mysqld]\n{lines}\n")
    };
    let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
    let target = Target::parse(target).unwrap();
    let found = (rule.check)(&Subject::new(&file, &target, machine));
    let shown = found.into_iter().map(|remark| {
        let fix = remark.fix.map(|fix| format!("; {fix}")).unwrap_or_default();
        format!(
            "{}: {}: {}{fix}",
            remark.level.name(),
            remark.option,
            remark.what
        )
    });
    shown.collect()
}

/// Asserts that a rule makes exactly these remarks, each given by a part of it.
#[track_caller]
pub(super) fn assert_found(rule: &Rule, target: &str, lines: &str, parts: &[&str]) {
    assert_found_on(rule, &Machine::default(), target, lines, parts);
}

/// The same on a machine.
#[track_caller]
pub(super) fn assert_found_on(
    rule: &Rule,
    machine: &Machine,
    target: &str,
    lines: &str,
    parts: &[&str],
) {
    let found = remarks(rule, machine, target, lines);
    let same = found.len() == parts.len()
        && found
            .iter()
            .zip(parts)
            .all(|(remark, part)| remark.contains(part));
    assert!(
        same,
        "{} for {target}: {lines}\nfound {found:#?}\nnot {parts:#?}",
        rule.id
    );
}

/// A machine with this memory and 8 CPUs.
pub(super) fn with_memory(gib: u64) -> Machine {
    Machine {
        memory_bytes: Some(gib << 30),
        cpus: Some(8),
        ..Machine::default()
    }
}
