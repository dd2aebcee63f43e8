//! Rule C03: two factors interact.

use std::collections::BTreeMap;

use samples::LOAD;
use stats::mean_interval;
use units::{counted, percent};

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    set::Set,
};

/// Executions per combination from which an interaction can be distinguished from chance.
const EXECUTIONS: usize = 3;
const CONFIDENCE: f64 = 0.95;

pub(super) const RULE: Rule = Rule {
    id: "C03",
    name: "effects are not averaged over interacting factors",
    found: "two factors interact",
    measures: "For each pair of factors with two levels each: the effect of the first factor on throughput, at each level of the second factor. The effects are throughput ratios, taken from the blocks that contain all four combinations.",
    threshold: "warn if a combination has fewer than 3 executions. Warn if half the difference between the two effects is at least as large as the mean of the two effects, and the 95 % interval of this half difference does not contain 0",
    source: "a published test of two my.cnf files on an ioDrive (November 2012), which measured +15.7 % on XFS and +0.9 % on ext4 with one execution each, and concluded that there was no big difference; R. A. Fisher, The Design of Experiments (1935)",
    consequence: "A factor's mean effect is wrong for both levels of the other factor.",
    remedy: "State the effect separately for each level of the other factor. Run at least five executions of each combination.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let combinations = set.combinations();
    let mut factors: Vec<(&String, Vec<&str>)> = Vec::new();
    // What a factor does to one load is another question than what it does to the other.
    let declared = set.declared.factors.iter();
    let is_load = |factor: &&String| set.has_several_loads() && *factor == LOAD;
    for factor in declared.filter(|factor| !is_load(factor)) {
        let mut levels: Vec<&str> = Vec::new();
        for (combination, _) in &combinations {
            let level = combination.get(factor).map_or("", String::as_str);
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        if levels.len() > 1 {
            factors.push((factor, levels));
        }
    }
    if factors.len() < 2 {
        return Err(no_subject(
            "fewer than two factors have more than one level",
        ));
    }
    let executions = combinations
        .iter()
        .map(|(_, runs)| runs.len())
        .min()
        .unwrap_or(0);
    if executions < EXECUTIONS {
        let evidence = format!(
            "a combination of the {} factors has only {}; at least {EXECUTIONS} are needed to detect an interaction between the factors",
            factors.len(),
            counted(executions, "execution")
        );
        return Ok(Finding::new(Level::Warn, evidence).with("executions", executions as f64));
    }
    let two: Vec<_> = factors
        .iter()
        .filter(|(_, levels)| levels.len() == 2)
        .collect();
    let mut worst: Option<(f64, String)> = None;
    for load in set.load_names() {
        for (first, second) in pairs(&two) {
            let found = interaction(set, first, second, load.as_deref());
            let is_worst =
                |(share, _): &(f64, String)| worst.as_ref().is_none_or(|(known, _)| share > known);
            if let Some(found) = found.filter(is_worst) {
                worst = Some(found);
            }
        }
    }
    Ok(match worst {
        Some((share, words)) => {
            Finding::new(Level::Warn, words).with("interaction", share.exp_m1())
        }
        None => {
            let evidence = format!(
                "each combination has at least {executions} executions; no interaction was found between factors with two levels"
            );
            Finding::new(Level::Pass, evidence).with("executions", executions as f64)
        }
    })
}

/// A factor with its levels.
type Levels<'f> = (&'f String, Vec<&'f str>);

/// Each of these factors with each other one.
fn pairs<'f>(
    factors: &'f [&'f Levels<'f>],
) -> impl Iterator<Item = (&'f Levels<'f>, &'f Levels<'f>)> {
    let firsts = factors.iter().copied();
    firsts.flat_map(move |first| {
        let others = factors.iter().copied().filter(move |it| it.0 != first.0);
        others.map(move |second| (first, second))
    })
}

/// The size of the interaction of two factors of two levels on the throughput of a load, and the interaction in words;
/// `None` where it is not larger than the effect of the first factor, or not known.
fn interaction(
    set: &Set<'_>,
    (first, of_first): &Levels<'_>,
    (second, of_second): &Levels<'_>,
    load: Option<&str>,
) -> Option<(f64, String)> {
    let load_factor = LOAD.to_owned();
    let at = |a: &str, b: &str| {
        let load = load.map(|load| (&load_factor, load));
        let levels = [(*first, a), (*second, b)];
        by_block(set, &levels.into_iter().chain(load).collect::<Vec<_>>())
    };
    let cells = [
        at(of_first[0], of_second[0]),
        at(of_first[1], of_second[0]),
        at(of_first[0], of_second[1]),
        at(of_first[1], of_second[1]),
    ];
    let (main, interaction, effects) = effects(&cells)?;
    if interaction.low * interaction.high <= 0.0 || interaction.estimate.abs() < main.abs() {
        return None;
    }
    let of_load = load.map_or(String::new(), |load| format!(" of load {load}"));
    let words = format!(
        "changing {first} from {} to {} changes throughput{of_load} by {} with {second} {}, and by {} with {second} {}",
        of_first[0],
        of_first[1],
        percent(effects[0].exp_m1()),
        of_second[0],
        percent(effects[1].exp_m1()),
        of_second[1]
    );
    Some((interaction.estimate.abs(), words))
}

/// Logarithms of throughput by block, over the runs with these levels; the mean where several combinations have them.
fn by_block(set: &Set<'_>, levels: &[(&String, &str)]) -> BTreeMap<u32, f64> {
    let mut found: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in set.complete() {
        let of_run = set.levels(run);
        let is_there = levels
            .iter()
            .all(|(factor, level)| of_run.get(*factor).is_some_and(|it| it == level));
        if let (true, Ok(per_s)) = (is_there, run.throughput()) {
            found
                .entry(run.record.header.block)
                .or_default()
                .push(per_s.ln());
        }
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    found
        .into_iter()
        .map(|(block, values)| (block, mean(values)))
        .collect()
}

/// The main effect of the first factor, half of the difference between its effects with its interval, and both
/// effects; all as logarithms.
fn effects(cells: &[BTreeMap<u32, f64>; 4]) -> Option<(f64, stats::Interval, [f64; 2])> {
    let blocks: Vec<u32> = cells[0].keys().copied().collect();
    let in_all: Vec<[f64; 4]> = blocks
        .iter()
        .filter_map(|block| {
            let value = |cell: usize| cells[cell].get(block).copied();
            Some([value(0)?, value(1)?, value(2)?, value(3)?])
        })
        .collect();
    let effects: Vec<(f64, f64)> = in_all
        .iter()
        .map(|it| (it[1] - it[0], it[3] - it[2]))
        .collect();
    let differences: Vec<f64> = effects
        .iter()
        .map(|(one, other)| (one - other) / 2.0)
        .collect();
    let interaction = mean_interval(&differences, CONFIDENCE)?;
    let count = effects.len() as f64;
    let one = effects.iter().map(|(one, _)| one).sum::<f64>() / count;
    let other = effects.iter().map(|(_, other)| other).sum::<f64>() / count;
    Some(((one + other) / 2.0, interaction, [one, other]))
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::fixture::*;

    fn crossed(blocks: u32, throughputs: [f64; 4]) -> Vec<Record> {
        let mut runs = Vec::new();
        for block in 1..=blocks {
            for (at, per_s) in throughputs.into_iter().enumerate() {
                let levels = [
                    ("fs", ["xfs", "ext4"][at / 2]),
                    ("mycnf", ["simple", "full"][at % 2]),
                ];
                let mut run = run_of(runs.len() as u32 + 1, block, &levels);
                let noise = 1.0 + 0.002 * f64::from((block * 7 + at as u32 * 3) % 5);
                set_throughput(&mut run, per_s * noise);
                runs.push(run);
            }
        }
        runs
    }

    #[test]
    fn found() {
        let article = [25_306.0, 29_288.0, 27_358.0, 27_610.0];
        let outcome = judged_together(&RULE, &crossed(1, article), over(&["fs", "mycnf"]));
        assert_found(
            &outcome,
            Level::Warn,
            "a combination of the 2 factors has only 1 execution; at least 3",
        );
        let opposite = [25_000.0, 29_000.0, 29_000.0, 27_000.0];
        let outcome = judged_together(&RULE, &crossed(5, opposite), over(&["fs", "mycnf"]));
        assert_found(
            &outcome,
            Level::Warn,
            "fs from xfs to ext4 changes throughput by 16 % with mycnf simple, and by -6.9 % with mycnf full",
        );
    }

    #[test]
    fn passes() {
        let parallel = [25_000.0, 29_000.0, 26_000.0, 30_200.0];
        let outcome = judged_together(&RULE, &crossed(5, parallel), over(&["fs", "mycnf"]));
        assert_eq!(level(&outcome), Level::Pass);
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
