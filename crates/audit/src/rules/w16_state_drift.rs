//! Rule W16: the runs that are compared started with different data.

use std::collections::BTreeMap;

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    set::{Combination, Set},
};

/// Largest difference between the largest and the smallest, as a share.
const DIFFERENCE: f64 = 0.02;

pub(super) const RULE: Rule = Rule {
    id: "W16",
    name: "the compared runs used the same data",
    found: "the compared runs used different data",
    measures: "The number of rows and the data size at the start of each run. Only runs with the same nominal data size are compared.",
    threshold: "invalid if compared runs differ by more than 2 %. If a factor sets the size, this is only a note. If no comparison was declared, warn if the executions of one combination differ by more than 2 %",
    source: "OLTPBench, issue 267: TPC-C drops from 600 to 60 transactions per second over repeated runs on one database",
    consequence: "Later runs worked on more rows, longer histories and fuller pages. The difference in the figures may come from the order of the runs.",
    remedy: "Restore the data before every run (restore = \"per-run\").",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let runs: Vec<_> = set.complete().collect();
    if runs.len() < 2 {
        return Err(no_subject("there is only one run"));
    }
    let mut worst: Option<(f64, Level, String)> = None;
    let compared = set.compared();
    for (_, group) in set.without(&compared) {
        for (what, size) in [
            ("rows", rows as fn(&Run<'_>) -> Option<f64>),
            ("bytes", bytes),
        ] {
            let sizes: Option<Vec<f64>> = group.iter().map(|run| size(run)).collect();
            let Some(sizes) = sizes else {
                return Err(missing(format!("{what} at the start of each run")));
            };
            let (difference, least, most) = spread(&sizes);
            if difference <= DIFFERENCE
                || worst
                    .as_ref()
                    .is_some_and(|(known, ..)| *known >= difference)
            {
                continue;
            }
            let words = format!(
                "the compared runs started with {least:.0} to {most:.0} {what}, a difference of {}",
                percent(difference)
            );
            // If a factor decides the size, the size is under test, provided that each level keeps its size.
            let is_factor = !set.has_sides() && is_constant_within_levels(set, &group, size);
            let level = match (is_factor, compared.is_empty()) {
                (true, _) => Level::Note,
                (false, true) => Level::Warn,
                (false, false) => Level::Invalid,
            };
            worst = Some((difference, level, words));
        }
    }
    Ok(match worst {
        Some((difference, level, words)) => {
            Finding::new(level, words).with("difference", difference)
        }
        None => Finding::new(
            Level::Pass,
            format!(
                "rows and bytes at the start of the compared runs differ by at most {}",
                percent(DIFFERENCE)
            ),
        ),
    })
}

fn is_constant_within_levels(
    set: &Set<'_>,
    group: &[&Run<'_>],
    size: fn(&Run<'_>) -> Option<f64>,
) -> bool {
    let mut by_levels: BTreeMap<Combination, Vec<f64>> = BTreeMap::new();
    for run in group {
        by_levels
            .entry(set.levels(run))
            .or_default()
            .extend(size(run));
    }
    by_levels.len() > 1
        && by_levels
            .values()
            .all(|sizes| spread(sizes).0 <= DIFFERENCE)
}

/// By how much the largest exceeds the smallest, as a share, and both.
fn spread(sizes: &[f64]) -> (f64, f64, f64) {
    let at = |pick: fn(f64, f64) -> f64| sizes.iter().copied().reduce(pick).unwrap_or(0.0);
    let (least, most) = (at(f64::min), at(f64::max));
    let difference = if least > 0.0 { most / least - 1.0 } else { 0.0 };
    (difference, least, most)
}

fn rows(run: &Run<'_>) -> Option<f64> {
    run.record.dataset.as_ref().map(|data| data.rows as f64)
}

fn bytes(run: &Run<'_>) -> Option<f64> {
    run.data_bytes().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for (at, run) in runs.iter_mut().enumerate() {
            run.dataset.as_mut().unwrap().rows += 10_000 * at as u64;
        }
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(
            &outcome,
            Level::Invalid,
            "started with 1000000 to 1090000 rows",
        );
    }

    #[test]
    fn passes() {
        let runs = blocks_over("flush", &["1", "2"]);
        assert_eq!(
            level(&judged_together(&RULE, &runs, over(&["flush"]))),
            Level::Pass
        );
        // Sizes that are a factor may differ.
        let mut runs = blocks_over("rows", &["1x", "4x"]);
        for run in &mut runs {
            if run.header.combination["rows"] == "4x" {
                run.dataset.as_mut().unwrap().rows *= 4;
            }
        }
        let mut declared = over(&["rows", "flush"]);
        declared.comparison.as_mut().unwrap().factors = vec!["flush".to_owned()];
        assert_eq!(level(&judged_together(&RULE, &runs, declared)), Level::Pass);
        assert_no_subject(&judged(&RULE, |_| {}));
    }

    #[test]
    fn data_of_unknown_size_is_not_evaluated() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[1].dataset = None;
        assert_missing(
            &judged_together(&RULE, &runs, over(&["flush"])),
            "rows at the start",
        );
    }
}
