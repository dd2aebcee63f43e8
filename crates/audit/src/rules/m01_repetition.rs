//! Rule M01: too few executions of each combination.

use std::collections::BTreeMap;

use stats::{Design, Deviation};
use units::{counted, percent};

use crate::{
    asked_comparison::AskedComparison,
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
    measures: "The number of complete executions of each combination. If the runs were side by side, each batch of slices counts as one execution. The smallest difference that the executions of a comparison with the baseline can detect, by the interval of its answer; if the experiment asks no question, by the spread of all executions.",
    threshold: "fail if a comparison has only one execution of a combination. Warn if a combination has fewer than 5 executions. Warn if the upper end of a combination's 95 % interval is more than twice the lower end. Warn if the smallest difference that can be detected exceeds 20 %, or the experiment's min_effect if it is not the default of 2 %. A decided comparison does not count. Note if a combination has 2 to 4 executions and every comparison is decided. Note for a single run without a comparison",
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
    let declared = set.declared.comparison.as_ref();
    let wanted = declared.and_then(|it| it.min_effect).unwrap_or(LARGE);
    let power = if set.comparisons.is_empty() {
        between_any(&combinations, fewest, wanted)
    } else {
        of_comparisons(set.comparisons, wanted)
    };
    let lacks_power = power.is_lacking && set.compares();
    // With fewer than the usual number of executions, that number comes first.
    let wide = WideInterval::widest(set).filter(|_| fewest >= EXECUTIONS);
    let level = match fewest {
        1 if set.compares() => Level::Fail,
        fewest if fewest < EXECUTIONS && power.is_decided => Level::Note,
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
    let mut evidence = format!("{executions}; {}", power.words);
    if let Some((needed, effect)) = power.needed
        && lacks_power
        && fewest >= EXECUTIONS
    {
        let (needed, effect) = (counted(needed, noun), percent(effect));
        evidence = format!("{evidence}; about {needed} would detect a difference of {effect}");
    }
    if let Some(wide) = wide {
        evidence = format!("{evidence}; {}", wide.in_words());
    }
    let finding = Finding::new(level, evidence).with("executions", fewest as f64);
    Ok(match power.smallest {
        Some(effect) => finding.with("smallest_effect", effect),
        None => finding,
    })
}

/// What the executions can detect.
struct Power {
    /// In words.
    words: String,
    /// The smallest difference that is detected with 80 % power, as a share; `None` if it is not known.
    smallest: Option<f64>,
    /// True if it exceeds the difference that should be detected.
    is_lacking: bool,
    /// True if every comparison is decided.
    is_decided: bool,
    /// Executions that would detect a difference, and that difference as a share.
    needed: Option<(usize, f64)>,
}

/// The smallest difference that the executions detect, in words.
fn detected(smallest: Option<f64>) -> String {
    match smallest {
        None => "the smallest difference that they can detect is unknown".to_owned(),
        Some(effect) if effect > TENFOLD => {
            "even a tenfold difference is detected with less than 80 % power".to_owned()
        }
        Some(effect) => {
            let effect = percent(effect);
            format!("differences below {effect} are detected with less than 80 % power")
        }
    }
}

/// The power of the open comparison that detects least. One that is decided needs no more power: it found its difference, or
/// excluded any that matters.
fn of_comparisons(comparisons: &[AskedComparison], wanted: f64) -> Power {
    let smallest = |it: &AskedComparison| it.smallest_effect.unwrap_or(0.0);
    let open = comparisons.iter().filter(|it| !it.is_decided);
    let Some(worst) = open.max_by(|a, b| smallest(a).total_cmp(&smallest(b))) else {
        let words = match comparisons {
            [_] => "the comparison is decided",
            _ => "all comparisons are decided",
        };
        let known = comparisons.iter().filter_map(|it| it.smallest_effect);
        return Power {
            words: words.to_owned(),
            smallest: known.max_by(f64::total_cmp),
            is_lacking: false,
            is_decided: true,
            needed: None,
        };
    };
    let detected = detected(worst.smallest_effect);
    Power {
        words: match comparisons {
            [_] => detected,
            _ => format!("for {}, {detected}", worst.words),
        },
        smallest: worst.smallest_effect,
        is_lacking: worst.smallest_effect.is_some_and(|effect| effect > wanted),
        is_decided: false,
        needed: worst.needed,
    }
}

/// The power of comparisons of any combination with the first, if no question was answered.
fn between_any(
    combinations: &[(Combination, Vec<&Run<'_>>)],
    executions: usize,
    wanted: f64,
) -> Power {
    let in_blocks = in_blocks(combinations);
    let design = Design {
        paired: in_blocks.is_some(),
        // The error probability is divided among the comparisons.
        level: 0.05 / (combinations.len() - 1).max(1) as f64,
    };
    let spread = in_blocks.or_else(|| of_combinations(combinations));
    let estimated = spread.map(|(deviation, freedom)| Deviation::estimated(deviation, freedom));
    let smallest = estimated.and_then(|it| design.smallest_effect(it, executions));
    let detected = detected(smallest.map(f64::exp_m1));
    let is_lacking = smallest.is_some_and(|smallest| {
        smallest.exp_m1() > wanted && !all_differ_by(smallest, combinations)
    });
    Power {
        words: match spread {
            Some((deviation, _)) if smallest.is_some() => {
                let of_blocks = if design.paired {
                    " (within blocks)"
                } else {
                    ""
                };
                let deviation = percent(deviation);
                format!("with a spread of {deviation}{of_blocks}, {detected}")
            }
            _ => detected,
        },
        smallest: smallest.map(f64::exp_m1),
        is_lacking,
        is_decided: false,
        // Searched for among up to a million executions.
        needed: estimated
            .filter(|_| is_lacking)
            .and_then(|it| design.executions_needed(it, wanted.ln_1p()))
            .map(|needed| (needed, wanted)),
    }
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
    let groups = runs.filter_map(|(_, runs)| logarithms(runs));
    let known = groups.filter_map(|values| {
        let freedom = values.len().checked_sub(1).filter(|it| *it > 0)? as f64;
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
        Some((squares, freedom))
    });
    let (squares, freedom) = known.fold((0.0, 0.0), |(squares, all), (own, freedom)| {
        (squares + own, all + freedom)
    });
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

    /// A comparison that detects differences from this one on.
    fn comparison(words: &str, is_decided: bool, smallest_effect: f64) -> AskedComparison {
        AskedComparison {
            words: words.to_owned(),
            is_decided,
            smallest_effect: Some(smallest_effect),
            needed: (!is_decided).then_some((41, 0.02)),
        }
    }

    /// This number of runs of two levels, whose comparisons were answered.
    fn answered(runs: usize, comparisons: &[AskedComparison]) -> Outcome {
        let all = blocks_over("flush", &["1", "2"]);
        judged_answered(&RULE, &all[..runs], over(&["flush"]), comparisons)
    }

    #[test]
    fn a_decided_comparison_never_lacks_power() {
        let decided = comparison("flush 2 against 1", true, 0.36);
        let outcome = answered(10, std::slice::from_ref(&decided));
        assert_found(&outcome, Level::Pass, "; the comparison is decided");
        assert_eq!(outcome.unwrap().figures.get("smallest_effect"), Some(&0.36));
        let open = comparison("flush 3 against 1", false, 0.1);
        let outcome = answered(10, &[decided.clone(), open]);
        let part = "; for flush 3 against 1, differences below 10 % are detected with less than 80 % power";
        assert_found(&outcome, Level::Pass, part);
        let outcome = answered(10, &[decided.clone(), decided]);
        assert_found(&outcome, Level::Pass, "; all comparisons are decided");
    }

    #[test]
    fn the_worst_open_comparison_is_named() {
        let comparisons = [
            comparison("flush 2 against 1", false, 0.3),
            comparison("flush 3 against 1", false, 0.36),
            comparison("flush 4 against 1", true, 0.5),
        ];
        let outcome = answered(10, &comparisons);
        let part = "; for flush 3 against 1, differences below 36 % are detected with less than 80 % power; \
                    about 41 executions would detect a difference of 2 %";
        assert_found(&outcome, Level::Warn, part);
        let outcome = answered(10, &comparisons[..1]);
        let part = "5 executions of each combination; differences below 30 % are detected";
        assert_found(&outcome, Level::Warn, part);
        let unknown = AskedComparison {
            smallest_effect: None,
            ..comparisons[0].clone()
        };
        assert_found(&answered(10, &[unknown]), Level::Pass, "is unknown");
    }

    #[test]
    fn few_executions_that_decide_are_enough() {
        let decided = comparison("flush 2 against 1", true, 0.36);
        let open = comparison("flush 3 against 1", false, 0.1);
        let both = [decided, open];
        let part = "3 executions of each combination";
        assert_found(&answered(6, &both[..1]), Level::Note, part);
        assert_found(&answered(6, &both), Level::Warn, part);
        let part = "1 execution of each combination";
        assert_found(&answered(2, &both[..1]), Level::Fail, part);
    }

    /// The residuals of two combinations in five blocks are half the deviations of their differences.
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
