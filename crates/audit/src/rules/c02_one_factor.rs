//! Rule C02: more than the declared factor differs.

use std::collections::{BTreeMap, BTreeSet};

use figures::other_work;

use crate::{
    difference::{Condition, ConditionKind, Conditions, Values, conditions, differing},
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    set::{Combination, SIDE, Set},
    words::listed,
};

/// A sentence lists at most this many differences.
const NAMED: usize = 12;

pub(super) const RULE: Rule = Rule {
    id: "C02",
    name: "only the declared factor differs",
    found: "more than the declared factor differs",
    measures: "Differences between the records in server version, server variables, machine, kernel, file system, devices, data, connections and client. Variables that change at every server start are left out (docs/audit-rules.md lists them). Between two sides, the rule also compares which operations were executed. A share of one operation counts as different if it differs by more than 5 percentage points. The length of the measurement counts as different if it differs by more than a tenth, unless the length is the result.",
    threshold: "invalid if two sides differ in anything other than the declared factor. If no factor was declared, invalid if the two sides differ in more than one setting, or if they did not execute the same operations for the same time. In an experiment, invalid if runs of one combination differ in anything. Note if a factor changes several things at once",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 9; a published test of two my.cnf files on an ioDrive (November 2012), which changed about forty variables at once",
    consequence: "The difference in the figures cannot be attributed to any single cause.",
    remedy: "Change one thing at a time, or declare everything that changes as the factor.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    if !set.compares() {
        return Err(no_subject("nothing is compared"));
    }
    if set.has_sides() {
        Ok(between_sides(set))
    } else {
        Ok(within(set))
    }
}

fn between_sides(set: &Set<'_>) -> Finding {
    let mut sides: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for run in set.complete() {
        sides
            .entry(run.side.unwrap_or_default())
            .or_default()
            .push(conditions(run));
    }
    let names: Vec<&str> = sides.keys().copied().collect();
    let groups: Vec<_> = sides.values().cloned().collect();
    let mut found = differing(&groups);
    let declared: Vec<&String> = set
        .declared
        .factors
        .iter()
        .filter(|factor| *factor != SIDE)
        .collect();
    found.retain(|what, _| !declared.contains(&&what.name));
    let mut told: Vec<_> = found
        .iter()
        .map(|(what, values)| {
            let of_sides = names.iter().zip(values);
            let of_sides: Vec<_> = of_sides
                .map(|(name, values)| format!("{} in {name}", shown(values)))
                .collect();
            format!("{}: {}", what.name, of_sides.join(", "))
        })
        .collect();
    let mut work = other_work_of_sides(set, &names);
    work.retain(|(what, _)| !declared.contains(&what));
    // Other work must be declared: it is never varied in silence.
    let most = usize::from(declared.is_empty() && work.is_empty());
    told.extend(work.into_iter().map(|(_, sentence)| sentence));
    let besides = if declared.is_empty() {
        String::new()
    } else {
        let declared: Vec<_> = declared.iter().map(|it| it.as_str()).collect();
        format!(" besides {}", declared.join(", "))
    };
    let (level, evidence) = match told.len() {
        0 => (Level::Pass, format!("nothing differs{besides}")),
        count if count <= most => (Level::Pass, format!("one thing differs: {}", told[0])),
        count => (
            Level::Invalid,
            format!(
                "{}{besides}: {}",
                if count == 1 {
                    "one thing differs".to_owned()
                } else {
                    format!("{count} things differ")
                },
                listed(&told, NAMED)
            ),
        ),
    };
    Finding::new(level, evidence).with("differences", told.len() as f64)
}

/// The differences in the work of the first runs of both sides, each with its name: in each combination that both have,
/// and of all runs if they have none in common.
fn other_work_of_sides(set: &Set<'_>, names: &[&str]) -> BTreeSet<(String, String)> {
    let [a, b] = names else {
        return BTreeSet::new();
    };
    let first = |side: &str, levels: Option<&Combination>| {
        set.complete().find(|run| {
            let combination = &run.record.header.combination;
            run.side == Some(side) && levels.is_none_or(|levels| levels == combination)
        })
    };
    let of_a = set.complete().filter(|run| run.side == Some(*a));
    let places: BTreeSet<&Combination> = of_a.map(|run| &run.record.header.combination).collect();
    let mut pairs: Vec<_> = places
        .into_iter()
        .filter_map(|levels| first(a, Some(levels)).zip(first(b, Some(levels))))
        .collect();
    if pairs.is_empty() {
        pairs.extend(first(a, None).zip(first(b, None)));
    }
    let works = pairs
        .into_iter()
        .map(|(a, b)| other_work((a.record, &a.figures), (b.record, &b.figures)));
    works
        .flatten()
        .map(|(what, [of_a, of_b])| {
            let sentence = format!("{what}: {of_a} in {a}, {of_b} in {b}");
            (what, sentence)
        })
        .collect()
}

/// Within an experiment each condition must depend on the levels only.
fn within(set: &Set<'_>) -> Finding {
    let combinations = set.combinations();
    let of_runs: Vec<(Combination, Vec<Conditions>)> = combinations
        .iter()
        .map(|(levels, runs)| {
            (
                levels.clone(),
                runs.iter().map(|run| conditions(run)).collect(),
            )
        })
        .collect();
    let mut loose: BTreeSet<String> = BTreeSet::new();
    for (_, runs) in &of_runs {
        let each: Vec<_> = runs.iter().map(|run| vec![run.clone()]).collect();
        let different: Values<'_> = differing(&each);
        loose.extend(different.iter().map(|(what, values)| {
            let values: BTreeSet<&str> = values.iter().flatten().copied().collect();
            format!("{}: {}", what.name, shown(&values))
        }));
    }
    if !loose.is_empty() {
        let count = loose.len();
        let told: Vec<_> = loose.into_iter().collect();
        let evidence = format!(
            "differences among runs of one combination ({count}): {}",
            listed(&told, NAMED)
        );
        return Finding::new(Level::Invalid, evidence).with("differences", count as f64);
    }
    let groups: Vec<_> = of_runs.iter().map(|(_, runs)| runs.clone()).collect();
    let found = differing(&groups);
    let mut by_factor: BTreeMap<String, Vec<&Condition>> = BTreeMap::new();
    for (&what, values) in &found {
        let decides = |factor: &&String| {
            let mut by_level: BTreeMap<&str, &BTreeSet<&str>> = BTreeMap::new();
            of_runs.iter().zip(values).all(|((levels, _), values)| {
                let level = levels.get(*factor).map_or("", String::as_str);
                *by_level.entry(level).or_insert(values) == values
            })
        };
        let factor = set.declared.factors.iter().find(decides);
        let factor = factor.map_or("a combination of factors", String::as_str);
        by_factor.entry(factor.to_owned()).or_default().push(what);
    }
    // The number of event loops depends on the number of connections.
    for changed in by_factor.values_mut() {
        let is_with_connections = changed
            .iter()
            .any(|it| it.kind == ConditionKind::Connections);
        if is_with_connections {
            changed.retain(|it| it.kind != ConditionKind::EventLoops);
        }
    }
    let at_once: Vec<_> = by_factor
        .iter()
        .filter(|(_, changed)| changed.len() > 1)
        .collect();
    match at_once.as_slice() {
        [] => {
            let evidence = "all differences follow from the factors, and no factor changes more than one thing";
            Finding::new(Level::Pass, evidence).with("differences", found.len() as f64)
        }
        several => {
            let told: Vec<_> = several
                .iter()
                .map(|(factor, changed)| {
                    let names: Vec<String> = changed.iter().map(|it| it.name.clone()).collect();
                    format!(
                        "{factor} changes {} things at once: {}",
                        changed.len(),
                        listed(&names, NAMED)
                    )
                })
                .collect();
            Finding::new(Level::Note, told.join("; ")).with("differences", found.len() as f64)
        }
    }
}

fn shown(values: &BTreeSet<&str>) -> String {
    let values: Vec<_> = values
        .iter()
        .map(|value| if value.is_empty() { "(empty)" } else { value })
        .collect();
    values.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture::*, subject::Preregistration};

    #[test]
    fn found() {
        let a = [run_of(1, 1, &[]), run_of(2, 2, &[])];
        let mut b = a.clone();
        for run in &mut b {
            set(run, "sync_binlog", "1");
            set(run, "pid_file", "/run/b.pid");
        }
        let outcome = judged_sides(&RULE, &a, &b, Preregistration::default());
        assert_found(
            &outcome,
            Level::Pass,
            "one thing differs: sync_binlog: 0 in A, 1 in B",
        );
        for run in &mut b {
            run.machines[0].kernel = "6.6.0".to_owned();
        }
        let outcome = judged_sides(&RULE, &a, &b, Preregistration::default());
        assert_found(
            &outcome,
            Level::Invalid,
            "kernel of the server's machine: 6.1.0 in A, 6.6.0 in B",
        );
        let declared = Preregistration {
            factors: vec!["sync_binlog".to_owned()],
            ..Preregistration::default()
        };
        let outcome = judged_sides(&RULE, &a, &b, declared);
        assert_found(
            &outcome,
            Level::Invalid,
            "one thing differs besides sync_binlog",
        );
    }

    #[test]
    fn other_operations_and_another_length_are_differences() {
        let a = [run_of(1, 1, &[])];
        let mut b = a.clone();
        for interval in &mut b[0].intervals {
            for operation in &mut interval.operations {
                operation.operation = "update".to_owned();
            }
        }
        let outcome = judged_sides(&RULE, &a, &b, Preregistration::default());
        assert_found(&outcome, Level::Invalid, "one thing differs: operations: ");
        let declared = |factor: &str| Preregistration {
            factors: vec![factor.to_owned()],
            ..Preregistration::default()
        };
        let outcome = judged_sides(&RULE, &a, &b, declared("sync_binlog"));
        assert_found(&outcome, Level::Invalid, "update in B");
        let outcome = judged_sides(&RULE, &a, &b, declared("operations"));
        assert_found(&outcome, Level::Pass, "nothing differs besides operations");
        let mut b = a.clone();
        let half = b[0].intervals.len() / 2;
        b[0].intervals.truncate(half);
        let outcome = judged_sides(&RULE, &a, &b, Preregistration::default());
        assert_found(&outcome, Level::Invalid, "length of the measurement: ");
    }

    #[test]
    fn within_an_experiment_the_levels_decide() {
        let mut runs = blocks_over("mycnf", &["simple", "full"]);
        for run in &mut runs {
            if run.header.combination["mycnf"] == "full" {
                set(run, "sync_binlog", "1");
                set(run, "innodb_io_capacity", "10000");
            }
        }
        let outcome = judged_together(&RULE, &runs, over(&["mycnf"]));
        assert_found(
            &outcome,
            Level::Note,
            "mycnf changes 2 things at once: innodb_io_capacity, sync_binlog",
        );
        runs[2].servers[0].version = "10.11.20-MariaDB".to_owned();
        let outcome = judged_together(&RULE, &runs, over(&["mycnf"]));
        assert_found(
            &outcome,
            Level::Invalid,
            "server version: 10.11.19-MariaDB or 10.11.20-MariaDB",
        );
    }

    #[test]
    fn passes() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for run in &mut runs {
            let level = run.header.combination["flush"].clone();
            set(run, "innodb_flush_log_at_trx_commit", &level);
        }
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_eq!(crate::fixture::level(&outcome), Level::Pass);
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
