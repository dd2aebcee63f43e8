//! Rule M01: too few executions of each combination.

use std::{cmp::Ordering, collections::BTreeMap};

use stats::{Design, Deviation};
use units::{counted, percent};

use crate::{
    asked_comparison::{AskedComparison, DetectableDifference, within},
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
    measures: "The number of complete executions of each combination. If the runs were side by side, each batch of slices counts as one execution. The smallest difference that each comparison with the baseline can detect, given the spread of its own executions.",
    threshold: "fail if a comparison has only one execution of a combination. Warn if a combination has fewer than 5 executions. Warn if the upper end of a combination's 95 % interval is more than twice the lower end. Warn if the smallest difference that can be detected exceeds 20 %, or the experiment's min_effect if it is not the default of 2 %. A comparison whose difference is larger than the smallest that it can detect does not count. Note for a single run without a comparison",
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
    let asked = AskedComparison::all(set);
    let mut detectable = AskedComparison::detectable(&asked);
    if detectable.is_empty() {
        detectable.extend(between_any(&combinations, fewest));
    }
    let declared = set.declared.comparison.as_ref();
    let wanted = declared.and_then(|it| it.min_effect).unwrap_or(LARGE);
    let is_missed = |it: &&DetectableDifference| {
        !it.is_exceeded && it.smallest.is_some_and(|effect| effect > wanted)
    };
    let missed = detectable.iter().filter(is_missed);
    let missed = missed.max_by(|a, b| by_smallest(a, b));
    let shown = missed.or_else(|| detectable.iter().max_by(|a, b| by_smallest(a, b)));
    let smallest = shown.and_then(|it| it.smallest);
    let could_show = match (shown, smallest) {
        (Some(shown), Some(effect)) => {
            let of = shown.of.as_ref().filter(|_| detectable.len() > 1);
            let of = of.map_or(String::new(), |of| format!("for {of}, "));
            let of_blocks = if shown.design.paired {
                " (within blocks)"
            } else {
                ""
            };
            let spread = percent(shown.deviation.0);
            format!("{of}{}", detected(effect, &format!("{spread}{of_blocks}")))
        }
        _ => "the smallest difference that they can detect is unknown".to_owned(),
    };
    let lacks_power = missed.filter(|_| set.compares());
    // With fewer than the usual number of executions, that number comes first.
    let wide = WideInterval::widest(set).filter(|_| fewest >= EXECUTIONS);
    let level = match fewest {
        1 if set.compares() => Level::Fail,
        fewest if fewest < EXECUTIONS => Level::Warn,
        _ if lacks_power.is_some() || wide.is_some() => Level::Warn,
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
    if let Some(missed) = lacks_power.filter(|_| fewest >= EXECUTIONS)
        && let Some(needed) = missed
            .design
            .executions_needed(missed.estimated(), wanted.ln_1p())
    {
        let (needed, wanted) = (counted(needed, noun), percent(wanted));
        evidence = format!("{evidence}; about {needed} would detect a difference of {wanted}");
    }
    if let Some(wide) = wide {
        evidence = format!("{evidence}; {}", wide.in_words());
    }
    let finding = Finding::new(level, evidence).with("executions", fewest as f64);
    Ok(match smallest {
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

fn by_smallest(a: &DetectableDifference, b: &DetectableDifference) -> Ordering {
    let smallest = |it: &DetectableDifference| it.smallest.unwrap_or(0.0);
    smallest(a).total_cmp(&smallest(b))
}

/// What the executions of any combination can detect if it is compared with the first, without a declared baseline;
/// `None` if no combination has a spread.
fn between_any(
    combinations: &[(Combination, Vec<&Run<'_>>)],
    executions: usize,
) -> Option<DetectableDifference> {
    let (deviation, paired) = match in_blocks(combinations) {
        Some(deviation) => (deviation, true),
        None => (of_combinations(combinations)?, false),
    };
    let design = Design {
        paired,
        // The error probability is divided among the comparisons.
        level: 0.05 / (combinations.len() - 1).max(1) as f64,
    };
    let estimated = Deviation::estimated(deviation.0, deviation.1);
    let smallest = design.smallest_effect(estimated, executions);
    Some(DetectableDifference {
        of: None,
        deviation,
        design,
        executions,
        smallest: smallest.map(f64::exp_m1),
        is_exceeded: smallest.is_some_and(|smallest| all_differ_by(smallest, combinations)),
    })
}

/// True if the throughput of each combination differs from that of the first by at least this much, a logarithm.
fn all_differ_by(effect: f64, combinations: &[(Combination, Vec<&Run<'_>>)]) -> bool {
    let level = |runs: &[&Run<'_>]| Some(logarithms(runs)?.iter().sum::<f64>() / runs.len() as f64);
    let levels = combinations.iter().map(|(_, runs)| level(runs));
    let levels: Option<Vec<f64>> = levels.collect();
    let Some([first, others @ ..]) = levels.as_deref() else {
        return false;
    };
    others.iter().all(|other| (other - first).abs() >= effect)
}

/// `None` if a run has no throughput.
fn logarithms(runs: &[&Run<'_>]) -> Option<Vec<f64>> {
    runs.iter()
        .map(|run| Some(run.throughput().ok()?.ln()))
        .collect()
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
fn of_combinations(combinations: &[(Combination, Vec<&Run<'_>>)]) -> Option<(f64, f64)> {
    let runs = combinations.iter();
    let groups: Vec<Vec<f64>> = runs.filter_map(|(_, runs)| logarithms(runs)).collect();
    within(&groups)
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

    /// Five blocks of three levels: the second one is 10 % faster than the first within 1 %, and the third one, which is
    /// this number of times as fast as the first, swings by a factor of four.
    fn with_a_loud_level(times: f64) -> Outcome {
        let mut runs = blocks_over("flush", &["1", "2", "3"]);
        for run in &mut runs {
            let block = f64::from(run.header.block);
            let per_s = match run.header.combination["flush"].as_str() {
                "1" => 1000.0 + block,
                "2" => 1100.0 - block,
                _ => 1000.0 * times * [0.5, 2.0, 0.5, 2.0, 1.0][run.header.block as usize - 1],
            };
            set_throughput(run, per_s);
        }
        judged_together(&RULE, &runs, over(&["flush"]))
    }

    #[test]
    fn a_comparison_has_the_spread_of_its_own_executions() {
        let outcome = with_a_loud_level(1.0);
        assert_found(
            &outcome,
            Level::Warn,
            "5 executions of each combination; for flush=3 against flush=1, with a spread of ",
        );
        // The steady one alone.
        let mut runs = blocks_over("flush", &["1", "2"]);
        for run in &mut runs {
            let block = f64::from(run.header.block);
            let is_faster = run.header.combination["flush"] == "2";
            set_throughput(
                run,
                if is_faster {
                    1100.0 - block
                } else {
                    1000.0 + block
                },
            );
        }
        let alone = judged_together(&RULE, &runs, over(&["flush"])).unwrap();
        assert!(alone.figures["smallest_effect"] < 0.01, "{alone:?}");
        // A loud level does not hide what the others show, if its own difference is large enough.
        let outcome = with_a_loud_level(1000.0).unwrap();
        assert!(!outcome.evidence.contains("would detect"), "{outcome:?}");
    }

    /// The differences of five pairs have a standard deviation of `√2` times that of one execution.
    #[test]
    fn the_spread_of_pairs_is_that_of_their_differences() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        let logarithms = [0.01_f64, -0.02, 0.03, 0.0, -0.02];
        for run in &mut runs {
            let own = logarithms[run.header.block as usize - 1];
            let is_other = run.header.combination["flush"] == "2";
            set_throughput(run, 100_000.0 * if is_other { own.exp() } else { 1.0 });
        }
        // Their squares add up to 0.0018: a variance of 0.00045 of differences, and of 0.000225 of one execution.
        let outcome = judged_together(&RULE, &runs, over(&["flush"])).unwrap();
        assert!(
            outcome
                .evidence
                .contains("with a spread of 1.5 % (within blocks)"),
            "{outcome:?}"
        );
        let design = Design {
            paired: true,
            level: 0.05,
        };
        let by_hand = design.smallest_effect(Deviation::estimated(0.015, 4.0), 5);
        let found = outcome.figures["smallest_effect"];
        assert!((found - by_hand.unwrap().exp_m1()).abs() < 1e-3, "{found}");
    }

    #[test]
    fn comparisons_are_those_of_the_same_other_levels() {
        let mut runs = Vec::new();
        for block in 1..=5 {
            for (flush, mix) in [("1", "1:0"), ("2", "1:0"), ("1", "1:1"), ("2", "1:1")] {
                let run = runs.len() as u32 + 1;
                runs.push(run_of(run, block, &[("flush", flush), ("mix", mix)]));
                let swing = if mix == "1:1" && flush == "2" {
                    f64::from(block)
                } else {
                    1.0
                };
                set_throughput(&mut runs[run as usize - 1], 1000.0 * swing + f64::from(run));
            }
        }
        let mut declared = over(&["flush", "mix"]);
        let asked = &mut declared.comparison.as_mut().unwrap().baseline;
        asked.retain(|factor, _| factor == "flush");
        let outcome = judged_together(&RULE, &runs, declared);
        assert_found(
            &outcome,
            Level::Warn,
            "for flush=2 against flush=1 (mix=1:1), with a ",
        );
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
