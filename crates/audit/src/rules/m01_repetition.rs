//! Rule M01: too few executions of each combination.

use std::collections::BTreeMap;

use stats::{Design, Deviation};
use units::{counted, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    intervals::WideInterval,
    rule::{Judge, Rule},
    run::Run,
    set::{Combination, Set},
};

/// Required executions of a combination.
const EXECUTIONS: usize = 5;
/// A difference larger than this, as a share, is not worth a figure.
const TENFOLD: f64 = 9.0;
/// A difference, as a share, that executions should detect if the experiment does not set another one.
const LARGE: f64 = 0.2;

const SEARCH: &str = "each run of a search has another rate, and the interval of the answer shows whether they were enough";

pub(super) const RULE: Rule = Rule {
    id: "M01",
    name: "each combination was executed often enough",
    found: "too few executions of each combination",
    measures: "The number of complete executions of each combination. If the runs were side by side, each batch of slices counts as one execution. The smallest difference that can be detected, given the spread of the executions.",
    threshold: "fail if a comparison has only one execution of a combination. Warn if a combination has fewer than 5 executions. Warn if the upper end of a combination's 95 % interval is more than twice the lower end. Warn if the smallest difference that can be detected exceeds 20 %, or the experiment's min_effect if it is not the default of 2 %. Combinations that differ from the first one by more than the smallest detectable difference do not count. Note for a single run without a comparison",
    source: "Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013; our own measurements on two shared cores: two runs of the same combination differed by a median of 18 %, and by 59 % or more in one case of ten; the bound of 20 % is proposed here",
    consequence: "A difference between single runs may be chance. The next pair of runs may show the opposite difference.",
    remedy: "In an experiment file, set repeats = 5 or more, or repeats = \"until decided\". With `dbdyno ab`, set a larger --budget.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    if set.declared.is_search {
        return Err(no_subject(SEARCH));
    }
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
            let of_blocks = if paired { " (within blocks)" } else { "" };
            detected(effect, &format!("{}{of_blocks}", percent(deviation)))
        },
    );
    let declared = set.declared.comparison.as_ref();
    let wanted = declared.and_then(|it| it.min_effect).unwrap_or(LARGE);
    let would_miss = |effect: f64| effect > wanted && !all_differ_by(effect, &combinations);
    let lacks_power = set.compares() && shown.is_some_and(would_miss);
    // With fewer than the usual number of executions, that number comes first.
    let wide = WideInterval::widest(set).filter(|_| fewest >= EXECUTIONS);
    let level = match fewest {
        1 if set.compares() => Level::Fail,
        fewest if fewest < EXECUTIONS => Level::Warn,
        _ if lacks_power || wide.is_some() => Level::Warn,
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
    let mut evidence = format!("{executions}; {could_show}");
    if lacks_power
        && fewest >= EXECUTIONS
        && let Some(needed) = design.executions_needed(estimated, wanted.ln_1p())
    {
        let (needed, wanted) = (counted(needed, noun), percent(wanted));
        evidence = format!("{evidence}; about {needed} would detect a difference of {wanted}");
    }
    if let Some(wide) = wide {
        evidence = format!("{evidence}; {}", wide.in_words());
    }
    let finding = Finding::new(level, evidence).with("executions", fewest as f64);
    Ok(match shown {
        Some(effect) => finding.with("smallest_effect", effect),
        None => finding,
    })
}

/// The smallest difference that the executions detect, in words.
fn detected(effect: f64, spread: &str) -> String {
    let differences = if effect > TENFOLD {
        "even a tenfold difference is".to_owned()
    } else {
        format!("differences below {} are", percent(effect))
    };
    format!("with a spread of {spread}, {differences} detected with less than 80 % power")
}

/// True if the throughput of each combination differs from that of the first by at least this share: then the executions
/// were enough for the differences that there are.
///
/// Source: a difference that is found with little power is exaggerated: A. Gelman and J. Carlin, Beyond power calculations,
/// Perspectives on Psychological Science 9 (2014). One above the smallest that is detected with 80 % power is not.
fn all_differ_by(effect: f64, combinations: &[(Combination, Vec<&Run<'_>>)]) -> bool {
    let level = |(_, runs): &(Combination, Vec<&Run<'_>>)| {
        let logarithms = runs.iter().map(|run| Some(run.throughput().ok()?.ln()));
        let sum: f64 = logarithms.sum::<Option<f64>>()?;
        Some(sum / runs.len() as f64)
    };
    let levels: Option<Vec<f64>> = combinations.iter().map(level).collect();
    let Some([first, others @ ..]) = levels.as_deref() else {
        return false;
    };
    let apart = |other: &f64| (other - first).abs() >= effect.ln_1p();
    others.iter().all(apart)
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
    use crate::{fixture::*, subject::Preregistration};

    #[test]
    fn a_search_has_one_run_at_each_rate() {
        let declared = Preregistration {
            is_search: true,
            ..over(&["rate"])
        };
        let runs = blocks_over("rate", &["100", "200"]);
        assert_no_subject(&judged_together(&RULE, &runs[..2], declared));
    }

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

    /// Five pairs with a spread of 19 % within their blocks, of which one side is this number of times as fast, in an
    /// experiment that asks for this smallest difference.
    fn noisy(times: f64, min_effect: Option<f64>) -> Outcome {
        let mut runs = blocks_over("flush", &["1", "2"]);
        let noise = [1.0, 0.7, 1.3, 1.0, 0.8, 1.2, 1.1, 0.9, 1.0, 1.3];
        for (run, noise) in runs.iter_mut().zip(noise) {
            let is_faster = run.header.combination["flush"] == "2";
            let times = if is_faster { times } else { 1.0 };
            set_throughput(run, 1000.0 * noise * times);
        }
        let mut declared = over(&["flush"]);
        declared.comparison.as_mut().unwrap().min_effect = min_effect;
        judged_together(&RULE, &runs, declared)
    }

    #[test]
    fn executions_that_would_miss_a_large_difference_are_too_few() {
        let outcome = noisy(1.0, None);
        assert_found(&outcome, Level::Warn, "5 executions of each combination");
        let part = " executions would detect a difference of 20 %";
        assert_found(&outcome, Level::Warn, part);
        let part = " executions would detect a difference of 5 %";
        assert_found(&noisy(1.0, Some(0.05)), Level::Warn, part);
        let outcome = noisy(1.0, Some(1.0));
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }

    #[test]
    fn executions_that_show_a_difference_are_enough() {
        let outcome = noisy(3.0, None);
        assert_found(&outcome, Level::Pass, "detected with less than 80 % power");
        assert!(!outcome.unwrap().evidence.contains("would detect"));
    }

    /// The blocks of one combination, with a throughput between these two in turns.
    fn swinging(between: [f64; 2]) -> Outcome {
        let mut runs = blocks_over("flush", &["1"]);
        for (at, run) in runs.iter_mut().enumerate() {
            set_throughput(run, between[at % 2]);
        }
        judged_together(&RULE, &runs, over(&["flush"]))
    }

    #[test]
    fn an_interval_that_is_as_wide_as_its_figure_is_found_in_any_number_of_executions() {
        let part = "the 95 % interval of flush=1 is ";
        assert_found(&swinging([500.0, 5000.0]), Level::Warn, part);
        assert_eq!(level(&swinging([1000.0, 1300.0])), Level::Pass);
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
