//! The comparisons that are asked for: two combinations with their runs, and the smallest difference that the runs can detect.

use std::collections::BTreeMap;

use stats::{Design, Deviation};

use crate::{
    run::Run,
    set::{Combination, SIDE, Set, in_words},
};

/// Probability of a difference by chance that all comparisons have together.
const ERROR: f64 = 0.05;

/// The baseline and a combination that is compared with it.
#[derive(Debug)]
pub(crate) struct AskedComparison<'s, 'a> {
    /// The levels that the baseline has, of the factors that are compared.
    baseline: Combination,
    /// Those of the other combination.
    levels: Combination,
    /// The levels of the other factors, which both have.
    within: Combination,
    /// The complete runs of the baseline, and those of the other combination.
    runs: [Vec<&'s Run<'a>>; 2],
}

/// What a number of executions can detect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DetectableDifference {
    /// The comparison in words; `None` if it is not one of those that are asked for.
    pub(crate) of: Option<String>,
    /// The standard deviation of one execution, as a share, and its degrees of freedom.
    pub(crate) deviation: (f64, f64),
    pub(crate) design: Design,
    /// Executions of the combination that has fewer.
    pub(crate) executions: usize,
    /// The smallest difference that is detected with 80 % power, as a share; `None` if the executions have no spread.
    pub(crate) smallest: Option<f64>,
    /// True if the difference that was found is at least as large: then there were enough executions for it.
    ///
    /// Source: a difference that is found with little power is exaggerated: A. Gelman and J. Carlin, Beyond power
    /// calculations, Perspectives on Psychological Science 9 (2014). One that is detected with 80 % power is not.
    pub(crate) is_exceeded: bool,
}

impl DetectableDifference {
    pub(crate) fn estimated(&self) -> Deviation {
        let (value, freedom) = self.deviation;
        Deviation::estimated(value, freedom)
    }
}

impl<'s, 'a> AskedComparison<'s, 'a> {
    /// All comparisons with the declared baseline, or with the first of two sides, in the order of the runs. Empty if no
    /// baseline was declared, or if none of its runs is complete.
    pub(crate) fn all(set: &'s Set<'a>) -> Vec<Self> {
        let combinations = set.combinations();
        let asked: Combination = if set.has_sides() {
            let first = combinations.iter().find_map(|(levels, _)| levels.get(SIDE));
            first
                .map(|side| (SIDE.to_owned(), side.clone()))
                .into_iter()
                .collect()
        } else {
            let declared = set.declared.comparison.as_ref();
            declared.map(|it| it.baseline.clone()).unwrap_or_default()
        };
        let split: Vec<[Combination; 2]> = combinations
            .iter()
            .map(|(levels, _)| split(levels, &asked))
            .collect();
        let mut all = Vec::new();
        for ([baseline, within], (_, base)) in split.iter().zip(&combinations) {
            if asked.is_empty() || *baseline != asked {
                continue;
            }
            for ([levels, other_within], (_, other)) in split.iter().zip(&combinations) {
                if other_within == within && levels != baseline {
                    all.push(Self {
                        baseline: baseline.clone(),
                        levels: levels.clone(),
                        within: within.clone(),
                        runs: [base.clone(), other.clone()],
                    });
                }
            }
        }
        all
    }

    /// What the executions of each comparison can detect; all of them together have the usual error. Without those of
    /// which no spread is known.
    pub(crate) fn detectable(all: &[Self]) -> Vec<DetectableDifference> {
        let level = ERROR / all.len().max(1) as f64;
        all.iter().filter_map(|it| it.detects(level)).collect()
    }

    fn detects(&self, level: f64) -> Option<DetectableDifference> {
        let logarithms = |runs: &[&Run<'_>]| -> Option<Vec<(u32, f64)>> {
            runs.iter()
                .map(|run| Some((run.record.header.block, run.throughput().ok()?.ln())))
                .collect()
        };
        let [base, other] = &self.runs;
        let (base, other) = (logarithms(base)?, logarithms(other)?);
        let paired = differences(&base, &other);
        let is_paired = paired.is_some();
        let deviation = match paired {
            // A difference has the variances of two executions.
            Some(differences) => {
                let (variance, freedom) = variance(&differences)?;
                ((variance / 2.0).sqrt(), freedom)
            }
            None => within(&[values(&base), values(&other)])?,
        };
        let design = Design {
            paired: is_paired,
            level,
        };
        let executions = base.len().min(other.len());
        let estimated = Deviation::estimated(deviation.0, deviation.1);
        let smallest = design.smallest_effect(estimated, executions);
        let apart = (mean(&values(&other)) - mean(&values(&base))).abs();
        Some(DetectableDifference {
            of: Some(self.in_words()),
            deviation,
            design,
            executions,
            smallest: smallest.map(f64::exp_m1),
            is_exceeded: smallest.is_some_and(|smallest| apart >= smallest),
        })
    }

    /// `flush=2 against flush=1 (mix=1:1)`
    fn in_words(&self) -> String {
        let differs =
            |(factor, level): &(&String, &String)| self.baseline.get(*factor) != Some(*level);
        let changed = self.levels.iter().filter(differs);
        let levels: Combination = changed.map(owned).collect();
        let other = self.baseline.iter();
        let base: Combination = other
            .filter(|(factor, _)| levels.contains_key(*factor))
            .map(owned)
            .collect();
        let both = format!("{} against {}", in_words(&levels), in_words(&base));
        if self.within.is_empty() {
            both
        } else {
            format!("{both} ({})", in_words(&self.within))
        }
    }
}

fn owned((factor, level): (&String, &String)) -> (String, String) {
    (factor.clone(), level.clone())
}

/// The levels of the factors that are asked for, and those of the others.
fn split(levels: &Combination, asked: &Combination) -> [Combination; 2] {
    let (asked, within) = levels
        .iter()
        .map(owned)
        .partition(|(factor, _)| asked.contains_key(factor));
    [asked, within]
}

/// The differences within blocks, if both ran once in each of the same blocks.
fn differences(base: &[(u32, f64)], other: &[(u32, f64)]) -> Option<Vec<f64>> {
    let by_block = |runs: &[(u32, f64)]| -> Option<BTreeMap<u32, f64>> {
        let blocks: BTreeMap<u32, f64> = runs.iter().copied().collect();
        (blocks.len() == runs.len()).then_some(blocks)
    };
    let (base, other) = (by_block(base)?, by_block(other)?);
    let is_complete = base.len() > 1 && base.keys().eq(other.keys());
    is_complete.then(|| {
        base.values()
            .zip(other.values())
            .map(|(a, b)| b - a)
            .collect()
    })
}

fn values(runs: &[(u32, f64)]) -> Vec<f64> {
    runs.iter().map(|(_, value)| *value).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance with its degrees of freedom; `None` for fewer than two values.
fn variance(values: &[f64]) -> Option<(f64, f64)> {
    let freedom = values.len().checked_sub(2)? + 1;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    Some((squares / freedom as f64, freedom as f64))
}

/// The standard deviation of one value within its group, with its degrees of freedom; `None` if no group has two values.
pub(crate) fn within(groups: &[Vec<f64>]) -> Option<(f64, f64)> {
    let known = groups.iter().filter_map(|values| variance(values));
    let (squares, freedom) = known.fold((0.0, 0.0), |(squares, all), (variance, freedom)| {
        (squares + variance * freedom, all + freedom)
    });
    (freedom > 0.0).then(|| ((squares / freedom).sqrt(), freedom))
}
