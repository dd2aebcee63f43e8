//! Rule M01: too few executions of each combination.

use std::collections::BTreeMap;

use stats::{Design, Deviation};
use units::{counted, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    set::{Combination, Set},
};

/// Required executions of a combination.
const EXECUTIONS: usize = 5;
/// A difference larger than this, as a share, is not worth a figure.
const TENFOLD: f64 = 9.0;

pub(super) const RULE: Rule = Rule {
    id: "M01",
    name: "each combination was executed often enough",
    found: "too few executions of each combination",
    measures: "The number of complete executions of each combination. If the runs were side by side, each batch of slices counts as one execution. The smallest difference that can be detected, given the spread of the executions.",
    threshold: "fail if a comparison has only one execution of a combination. Warn if a combination has fewer than 5 executions. Note for a single run without a comparison",
    source: "Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013; our own measurements on two shared cores: two runs of the same combination differed by a median of 18 %, and by 59 % or more in one case of ten",
    consequence: "A difference between single runs may be chance. The next pair of runs may show the opposite difference.",
    remedy: "Set repeats = 5 or more, or repeats = \"until decided\".",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let combinations = set.combinations();
    let executions = || combinations.iter().map(|(_, runs)| runs.len());
    let (fewest, most) = (executions().min(), executions().max());
    let fewest = fewest.ok_or_else(|| missing("complete runs"))?;
    if !set.compares() && fewest == 1 {
        let evidence = "one execution without a comparison gives only a first impression";
        return Ok(Finding::new(Level::Note, evidence).with("executions", 1.0));
    }
    let found = in_blocks(&combinations)
        .map(|deviation| (deviation, true))
        .or_else(|| Some((within(&combinations)?, false)));
    let ((deviation, freedom), paired) = found.unwrap_or_default();
    let design = Design {
        paired,
        // Each combination is compared with the first: the error probability is divided among the comparisons.
        level: 0.05 / (combinations.len() - 1).max(1) as f64,
    };
    let estimated = Deviation::estimated(deviation, freedom);
    let shown = design.smallest_effect(estimated, fewest).map(f64::exp_m1);
    let could_show = shown.map_or(
        "the smallest difference that they can detect is unknown".to_owned(),
        |effect| {
            let differences = if effect > TENFOLD {
                "even a tenfold difference is".to_owned()
            } else {
                format!("differences below {} are", percent(effect))
            };
            format!(
                "with a spread of {}{}, {differences} detected with less than 80 % power",
                percent(deviation),
                if paired { " (within blocks)" } else { "" },
            )
        },
    );
    let level = match fewest {
        1 if set.compares() => Level::Fail,
        fewest if fewest < EXECUTIONS => Level::Warn,
        _ => Level::Pass,
    };
    let noun = if set.has_batches() {
        "batch"
    } else {
        "execution"
    };
    let executions = counted(fewest, noun);
    let executions = if !set.compares() {
        format!("{executions} of the only combination")
    } else if most == Some(fewest) {
        format!("{executions} of each combination")
    } else {
        format!("{executions} of some combinations, more of others")
    };
    let evidence = format!("{executions}; {could_show}");
    let finding = Finding::new(level, evidence).with("executions", fewest as f64);
    Ok(match shown {
        Some(effect) => finding.with("smallest_effect", effect),
        None => finding,
    })
}

/// The standard deviation of one execution within its block, as a share, and its degrees of freedom, if every
/// combination ran once in each of the same blocks: a deviation that a whole block has in common cancels when pairs are
/// compared.
///
/// Source: the residuals of a two-way table without interaction: R. A. Fisher, The Design of Experiments (1935).
fn in_blocks(combinations: &[(Combination, Vec<&Run<'_>>)]) -> Option<(f64, f64)> {
    let by_block = combinations.iter().map(|(_, runs)| {
        let of_block =
            |run: &&Run<'_>| Some((run.record.header.block, run.throughput().ok()?.ln()));
        runs.iter()
            .map(of_block)
            .collect::<Option<BTreeMap<u32, f64>>>()
    });
    let by_block: Vec<BTreeMap<u32, f64>> = by_block.collect::<Option<_>>()?;
    let first = by_block.first()?;
    let is_complete = by_block.iter().all(|it| it.keys().eq(first.keys()))
        && combinations
            .iter()
            .all(|(_, runs)| runs.len() == first.len());
    let (rows, columns) = (by_block.len() as f64, first.len() as f64);
    if !is_complete || rows < 2.0 || columns < 2.0 {
        return None;
    }
    let of_row = |row: &BTreeMap<u32, f64>| row.values().sum::<f64>() / columns;
    let of_block = |block: &u32| by_block.iter().map(|row| row[block]).sum::<f64>() / rows;
    let mean = by_block.iter().map(of_row).sum::<f64>() / rows;
    let residuals = by_block.iter().flat_map(|row| {
        let own = of_row(row);
        row.iter()
            .map(move |(block, value)| value - own - of_block(block) + mean)
    });
    let squares: f64 = residuals.map(|it| it * it).sum();
    let freedom = (rows - 1.0) * (columns - 1.0);
    Some(((squares / freedom).sqrt(), freedom))
}

/// The standard deviation of one execution within its combination, as a share, with its degrees of freedom; `None` if no
/// combination ran twice.
fn within(combinations: &[(Combination, Vec<&Run<'_>>)]) -> Option<(f64, f64)> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for (_, runs) in combinations {
        let logarithms: Vec<f64> = runs
            .iter()
            .filter_map(|run| run.throughput().ok())
            .map(f64::ln)
            .collect();
        let count = logarithms.len() as f64;
        if count < 2.0 {
            continue;
        }
        let mean = logarithms.iter().sum::<f64>() / count;
        squares += logarithms
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
        freedom += count - 1.0;
    }
    (freedom > 0.0).then(|| ((squares / freedom).sqrt(), freedom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for (at, run) in runs.iter_mut().enumerate() {
            set_throughput(run, 1000.0 + 20.0 * (at % 3) as f64);
        }
        let outcome = judged_together(&RULE, &runs[..2], over(&["flush"]));
        assert_found(&outcome, Level::Fail, "1 execution of each combination");
        let outcome = judged_together(&RULE, &runs[..6], over(&["flush"]));
        assert_found(
            &outcome,
            Level::Warn,
            "3 executions of each combination; with a spread",
        );
        let outcome = judged_together(&RULE, &runs[..5], over(&["flush"]));
        assert_found(
            &outcome,
            Level::Warn,
            "2 executions of some combinations, more of others",
        );
        assert_found(&judged(&RULE, |_| {}), Level::Note, "one execution");
    }

    /// Blocks that differ by a factor of five, with 1.5 % within them: only the 1.5 % counts for pairs.
    #[test]
    fn what_blocks_have_in_common_is_no_noise() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for (at, run) in runs.iter_mut().enumerate() {
            let block = f64::from(run.header.block);
            set_throughput(run, 500.0 * block * (1.0 + 0.015 * (at % 3) as f64));
        }
        let outcome = judged_together(&RULE, &runs, over(&["flush"])).unwrap();
        let found = outcome.figures["smallest_effect"];
        assert!((0.01..0.06).contains(&found), "{outcome:?}");
        assert!(outcome.evidence.contains("within blocks"), "{outcome:?}");
    }

    #[test]
    fn what_two_executions_could_never_show_has_no_figure() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for (run, per_s) in runs.iter_mut().zip([1000.0, 2000.0, 3000.0, 1000.0]) {
            set_throughput(run, per_s);
        }
        let outcome = judged_together(&RULE, &runs[..4], over(&["flush"]));
        assert_found(
            &outcome,
            Level::Warn,
            "even a tenfold difference is detected with less",
        );
    }

    #[test]
    fn passes() {
        let runs = blocks_over("flush", &["1", "2"]);
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(&outcome, Level::Pass, "5 executions");
    }

    #[test]
    fn batches_of_runs_side_by_side_are_executions() {
        let runs = ["1", "2"].map(|level| {
            let mut record = run_of(1, 1, &[("flush", level)]);
            in_turns(&mut record);
            record
        });
        let outcome = judged_batches(&RULE, &runs, over(&["flush"]));
        assert_found(&outcome, Level::Pass, "12 batches of each combination");
    }

    #[test]
    fn runs_that_broke_off_are_not_evaluated() {
        assert_missing(&judged(&RULE, |record| record.end = None), "complete runs");
    }
}
