//! The throughput now against the throughput with some parts of the machine, or some levels of factors, changed.

use std::collections::{BTreeMap, BTreeSet};

use stats::Interval;

use crate::{
    capacity::named_part,
    cells::Cells,
    error::Error,
    execution::Executions,
    limit::Limit,
    limit_outcome::measured_cpus,
    measuring_conditions::MeasuringConditions,
    prediction::{PredictionRequest, interval, predict_with_draws},
    target::{Target, parse_target},
};

/// Between the level now and the level then.
const NOW_AND_THEN: &str = "..";

/// The parts of `--what-if`.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// As they were written.
    pub text: String,
    /// The parts of a target.
    target: Target,
    /// Factors and their levels then, or now and then: `1..2`.
    factors: Vec<(String, String)>,
}

/// Levels of factors, by factor.
pub type Levels = BTreeMap<String, String>;

/// Changes in the form `memory=64G,cpus=16,innodb_flush_log_at_trx_commit=2`: the names of a target, and factors.
pub fn parse_changes(text: &str) -> Result<Changes, String> {
    let mut parts: Vec<&str> = Vec::new();
    let mut factors: Vec<(String, String)> = Vec::new();
    for part in text.split(',') {
        let (name, value) = named_part(part)?;
        if Target::has_part(name) {
            parts.push(part);
        } else if factors.iter().any(|(known, _)| known == name) {
            return Err(format!("{name} is given twice"));
        } else {
            factors.push((name.to_owned(), value.to_owned()));
        }
    }
    let target = if parts.is_empty() {
        Target::default()
    } else {
        parse_target(&parts.join(","))?
    };
    Ok(Changes {
        text: text.to_owned(),
        target,
        factors,
    })
}

impl Changes {
    /// Whether levels of factors are changed.
    pub fn has_factors(&self) -> bool {
        !self.factors.is_empty()
    }

    /// The levels of the changed factors now and then; `combinations` are those of the records.
    ///
    /// If the change names one level, the records must have exactly one other level, which is the one now.
    pub fn levels<'r>(
        &self,
        combinations: impl Iterator<Item = &'r Levels>,
    ) -> Result<[Levels; 2], Error> {
        let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (factor, level) in combinations.flatten() {
            known.entry(factor).or_default().insert(level);
        }
        let mut both = [Levels::new(), Levels::new()];
        for (factor, value) in &self.factors {
            let levels = known
                .get(factor.as_str())
                .ok_or_else(|| Error::UnknownChange {
                    name: factor.clone(),
                    factors: known.keys().map(|it| (*it).to_owned()).collect(),
                })?;
            let now_and_then = now_and_then(factor, value, levels)?;
            for (all, level) in both.iter_mut().zip(now_and_then) {
                all.insert(factor.clone(), level);
            }
        }
        Ok(both)
    }
}

/// The levels of a factor now and then.
fn now_and_then(factor: &str, value: &str, levels: &BTreeSet<&str>) -> Result<[String; 2], Error> {
    let owned =
        |levels: &[&str]| -> Vec<String> { levels.iter().map(|it| (*it).to_owned()).collect() };
    let all: Vec<&str> = levels.iter().copied().collect();
    let known = |level: &str| {
        if levels.contains(level) {
            Ok(level.to_owned())
        } else {
            Err(Error::UnknownLevel {
                factor: factor.to_owned(),
                level: level.to_owned(),
                levels: owned(&all),
            })
        }
    };
    // A level may contain the sign itself.
    if let Some((now, then)) = value.split_once(NOW_AND_THEN)
        && !levels.contains(value)
    {
        return Ok([known(now)?, known(then)?]);
    }
    let then = known(value)?;
    let others: Vec<&str> = all.iter().copied().filter(|it| *it != value).collect();
    match others.as_slice() {
        [now] => Ok([(*now).to_owned(), then]),
        _ => Err(Error::OtherLevels {
            factor: factor.to_owned(),
            level: then,
            others: owned(&others),
        }),
    }
}

/// What is compared.
#[derive(Debug, Clone)]
pub struct WhatIfRequest {
    pub changes: Changes,
    /// The machine now; `None` for the measured one.
    pub target: Option<Target>,
    /// Exponent of Zipf's law for the requests of pages; `None` if it is not known.
    pub zipf: Option<f64>,
    /// Number of draws of the executions.
    pub draws: usize,
}

/// The throughput now and then.
#[derive(Debug, Clone)]
pub struct WhatIf {
    /// The load and the server, in words.
    pub subject: String,
    /// The changes, as they were written.
    pub changes: String,
    /// Whether both throughputs were measured, and not predicted.
    pub is_measured: bool,
    pub now: ComparedThroughput,
    pub then: ComparedThroughput,
    /// The throughput then, divided by that now, from the same draws; `None` if one is not known.
    pub ratio: Option<Interval>,
    /// Why there is no scaling model, if a throughput is therefore known only as an upper bound.
    pub no_scaling_model: Option<String>,
    pub executions: usize,
    pub blocks: usize,
    pub conditions: MeasuringConditions,
    /// Notes about the records.
    pub remarks: Vec<String>,
}

/// The throughput now or then.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedThroughput {
    /// Operations per second; `None` if no known limit bounds the load.
    pub per_s: Option<Interval>,
    /// Whether it is known only as an upper bound.
    pub is_at_most: bool,
    /// Connections that reach it, where they are known.
    pub connections: Option<f64>,
    /// The limits that bind, with the share of the draws in which each does; empty for a measured throughput.
    pub binding: Vec<(Limit, f64)>,
    /// What would have to be measured.
    pub not_measured: Vec<(Limit, String)>,
}

impl WhatIf {
    /// Whether the change of the throughput is known, with an interval.
    pub fn is_known(&self) -> bool {
        self.has_ratio() && self.ratio_of_bounds().is_none()
    }

    /// Whether both throughputs are known, each exactly or as an upper bound.
    pub(crate) fn has_ratio(&self) -> bool {
        let mut both = [&self.now, &self.then].into_iter();
        self.ratio.is_some() && both.all(|it| it.not_measured.is_empty())
    }

    /// The upper bound then, divided by that now, if both throughputs are known only as upper bounds. The change of the
    /// throughput itself is then not known, and the draws of the bounds are no interval of it.
    pub fn ratio_of_bounds(&self) -> Option<f64> {
        let are_bounds = self.now.is_at_most && self.then.is_at_most;
        let ratio = self.ratio.filter(|_| are_bounds && self.has_ratio());
        ratio.map(|it| it.estimate)
    }
}

/// A throughput with its draws, in operations per second.
struct Drawn {
    of: ComparedThroughput,
    estimate: f64,
    each: Vec<f64>,
    /// The smallest number of executions of a combination.
    fewest: usize,
    /// As in [`WhatIf`].
    no_scaling_model: Option<String>,
    executions: usize,
    blocks: usize,
    remarks: Vec<String>,
}

/// Compares the throughput with and without changes. `now` and `then` are the executions with the levels of the changed
/// factors, the same twice without factors.
///
/// If only factors change and no target is given, the highest measured throughputs are compared. Otherwise both are
/// predicted; the same draw of blocks gives both throughputs of a ratio.
///
/// An error for a limit whose value now is not known, for other memory or data without a limit of the reads, for
/// executions of different servers or workloads, and as [`crate::predict`].
pub fn what_if(
    now: &Executions,
    then: &Executions,
    request: &WhatIfRequest,
) -> Result<WhatIf, Error> {
    now.check_like(then)?;
    let changes = &request.changes;
    let is_measured = request.target.is_none() && changes.target == Target::default();
    let [now_drawn, then_drawn] = if is_measured {
        [
            measured(now, request.draws)?,
            measured(then, request.draws)?,
        ]
    } else {
        let target = target_now(now, request)?;
        let changed = target.with(&changes.target);
        [
            predicted(now, target, request)?,
            predicted(then, changed, request)?,
        ]
    };
    let are_known = now_drawn.of.per_s.is_some() && then_drawn.of.per_s.is_some();
    let ratios = then_drawn.each.iter().zip(&now_drawn.each);
    let ratios: Vec<f64> = ratios.map(|(then, now)| then / now).collect();
    let fewest = now_drawn.fewest.min(then_drawn.fewest);
    let ratio = interval(then_drawn.estimate / now_drawn.estimate, &ratios, fewest);
    let mut remarks = now_drawn.remarks;
    let new = then_drawn.remarks.into_iter();
    let new: Vec<String> = new.filter(|it| !remarks.contains(it)).collect();
    remarks.extend(new);
    let (executions, conditions) = if changes.has_factors() {
        let both = now_drawn.executions + then_drawn.executions;
        (both, now.conditions.with(&then.conditions))
    } else {
        (now_drawn.executions, now.conditions.clone())
    };
    Ok(WhatIf {
        subject: now.subject.clone(),
        changes: changes.text.clone(),
        is_measured,
        now: now_drawn.of,
        then: then_drawn.of,
        ratio: are_known.then_some(ratio),
        no_scaling_model: then_drawn.no_scaling_model.or(now_drawn.no_scaling_model),
        executions,
        blocks: now_drawn.blocks.max(then_drawn.blocks),
        conditions,
        remarks,
    })
}

/// The machine now: the target, or the measured machine with its CPUs.
fn target_now(now: &Executions, request: &WhatIfRequest) -> Result<Target, Error> {
    let target = match &request.target {
        Some(target) => target.clone(),
        None => Target {
            cpus: measured_cpus(&Cells::of(&now.all)?),
            ..Target::default()
        },
    };
    let mut changed = request.changes.target.limits();
    if let Some((limit, _)) = changed.find(|(limit, _)| target.value(*limit).is_none()) {
        return Err(Error::NoValueNow { name: limit.name() });
    }
    if request.changes.target.names_memory() && target.read_iops.is_none() {
        return Err(Error::NoReadsNow);
    }
    Ok(target)
}

fn predicted(
    executions: &Executions,
    target: Target,
    request: &WhatIfRequest,
) -> Result<Drawn, Error> {
    let prediction_request = PredictionRequest {
        target,
        zipf: request.zipf,
        draws: request.draws,
    };
    let (prediction, draws) = predict_with_draws(executions, &prediction_request)?;
    let limits = prediction.limits.iter();
    let not_measured = limits.filter_map(|(limit, outcome)| {
        let why = outcome.not_measured()?;
        Some((*limit, why.to_owned()))
    });
    let throughput = prediction.throughput.as_ref();
    let why_none = prediction.scaling.as_ref().err();
    let no_scaling_model = why_none.filter(|_| prediction.is_at_most()).cloned();
    Ok(Drawn {
        of: ComparedThroughput {
            per_s: throughput.map(|it| it.per_s),
            is_at_most: prediction.is_at_most(),
            connections: throughput.and_then(|it| it.connections),
            binding: throughput.map_or_else(Vec::new, |it| it.binding.clone()),
            not_measured: not_measured.collect(),
        },
        estimate: 1.0 / draws.all.time_s,
        each: draws.each.iter().map(|it| 1.0 / it.time_s).collect(),
        fewest: draws.executions,
        no_scaling_model,
        executions: prediction.executions,
        blocks: prediction.blocks,
        remarks: prediction.remarks,
    })
}

/// The highest mean throughput of a number of connections, as it was measured.
fn measured(executions: &Executions, draws: usize) -> Result<Drawn, Error> {
    let cells = Cells::of(&executions.all)?;
    let all = cells.all();
    let throughput = |cell: usize| {
        let mean = all.mean(cell, |it| Some(it.throughput_per_s));
        mean.unwrap_or(0.0)
    };
    let fastest = (0..cells.cells.len())
        .max_by(|a, b| throughput(*a).total_cmp(&throughput(*b)))
        .unwrap_or(0);
    let estimate = throughput(fastest);
    let each = cells.draws(draws).into_iter().map(|draw| {
        let mean = draw.mean(fastest, |it| Some(it.throughput_per_s));
        mean.unwrap_or(estimate)
    });
    let each: Vec<f64> = each.collect();
    Ok(Drawn {
        of: ComparedThroughput {
            per_s: Some(interval(estimate, &each, cells.fewest())),
            is_at_most: false,
            connections: Some(f64::from(cells.cells[fastest].concurrency)),
            binding: Vec::new(),
            not_measured: Vec::new(),
        },
        estimate,
        each,
        fewest: cells.fewest(),
        no_scaling_model: None,
        executions: cells.executions().count(),
        blocks: cells.blocks.len(),
        remarks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str) -> Result<[Levels; 2], Error> {
        let combinations = [("0", "1G"), ("1", "2G"), ("2", "2G")].map(|(flush, pool)| {
            let levels = [("flush", flush), ("pool", pool)];
            let owned = levels.map(|(factor, level)| (factor.to_owned(), level.to_owned()));
            Levels::from(owned)
        });
        parse_changes(text).unwrap().levels(combinations.iter())
    }

    #[test]
    fn parts_of_a_target_and_factors_are_told_apart() {
        let changes = parse_changes("memory=64G,flush=2,cpus=16").unwrap();
        assert_eq!(changes.target, parse_target("memory=64G,cpus=16").unwrap());
        assert_eq!(changes.factors, [("flush".to_owned(), "2".to_owned())]);
        assert!(changes.has_factors());
        for (text, problem) in [
            ("", "not of the form"),
            ("memory=64", "memory: 64 has no unit"),
            ("flush=1,flush=2", "flush is given twice"),
            ("cpus=1,cpus=2", "cpus is given twice"),
        ] {
            let refused = parse_changes(text).unwrap_err();
            assert!(refused.contains(problem), "{text}: {refused}");
        }
    }

    #[test]
    fn the_level_now_is_the_other_one_or_named() {
        let both = |text: &str, factor: &str| levels(text).unwrap().map(|it| it[factor].clone());
        assert_eq!(both("pool=2G", "pool"), ["1G", "2G"]);
        assert_eq!(both("flush=1..2", "flush"), ["1", "2"]);
        let refused = |text: &str| levels(text).unwrap_err().to_string();
        assert_eq!(
            refused("flush=2"),
            "--what-if names flush=2, and the records have several other levels: 0, 1"
        );
        assert_eq!(
            refused("flush=1..3"),
            "--what-if names flush=3, and the records have 0, 1, 2"
        );
        assert_eq!(
            refused("durability=D2"),
            "--what-if names durability, which is neither a part of a target nor a factor of the records"
        );
    }

    #[test]
    fn changed_parts_replace_those_of_the_machine_now() {
        let now = parse_target("cpus=8,memory=32G,read_iops=3000").unwrap();
        let change = |text: &str| now.with(&parse_target(text).unwrap());
        let expected = |text: &str| parse_target(text).unwrap();
        assert_eq!(
            change("cpus=16"),
            expected("cpus=16,memory=32G,read_iops=3000")
        );
        assert_eq!(
            change("buffer_pool=48G"),
            expected("cpus=8,buffer_pool=48G,read_iops=3000")
        );
    }
}
