//! The throughput of a target, predicted from the demands of measured executions.

use stats::{Interval, Scalability, interval_of_draws};

use crate::{
    capacity_model::{CapacityModel, Evaluation, reads_of_memories},
    cells::Cells,
    cpu_law::NoLaw,
    drift::{Drift, drifts},
    error::Error,
    execution::Executions,
    fitted_draws::FittedDraws,
    limit::Limit,
    limit_outcome::{
        LimitOutcome, NO_MEMORY_KNOWN, cpus_not_measured, measured_cpus, memory_not_measured,
        no_law_in_words, not_measured,
    },
    measuring_conditions::MeasuringConditions,
    memory_position::{MemoryPosition, NoPosition},
    service_demand::ServiceDemand,
    target::{BufferPool, Target},
    target_data::{remarks_on_records, target_data},
    validation::Validation,
};

/// Confidence of all intervals, at least.
pub(crate) const CONFIDENCE: f64 = 0.9;
/// Confidence with which they are computed: the smallest of several limits and the law's extrapolation make them a little too
/// narrow, and at least 90 % of simulated cases are to hold the truth (`tests/prediction.rs`).
pub(crate) const COMPUTED_CONFIDENCE: f64 = 0.95;

/// What is predicted.
#[derive(Debug, Clone)]
pub struct PredictionRequest {
    pub target: Target,
    /// Exponent of Zipf's law for the requests of pages; `None` if it is not known.
    pub zipf: Option<f64>,
    /// Number of draws of the executions.
    pub draws: usize,
}

impl PredictionRequest {
    /// Draws that keep the ends of an interval stable.
    pub const DRAWS: usize = 1_000;
}

/// The predicted throughput with the limits of a target.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The load and the server, in words.
    pub subject: String,
    pub target: Target,
    /// `None` if no known limit bounds the load.
    pub throughput: Option<Throughput>,
    /// The limits that the target names.
    pub limits: Vec<(Limit, LimitOutcome)>,
    /// Demands of one operation on the target, each in its unit.
    pub demands: Vec<(ServiceDemand, Interval)>,
    /// The demands that drift from block to block.
    pub drifts: Vec<Drift>,
    pub memory: Option<TargetMemory>,
    /// CPUs of the measured server; `None` if they were not observed.
    pub measured_cpus: Option<f64>,
    /// The CPUs that the measured server used up without contention; `None` if it did not, or if that is not known.
    pub cpus_without_contention: Option<f64>,
    /// The scaling model of the measured server, or why there is none.
    pub scaling: Result<Scalability, String>,
    pub executions: usize,
    pub blocks: usize,
    pub conditions: MeasuringConditions,
    /// The test on an emulated target; `None` if it was not tested.
    pub validation: Option<Validation>,
    /// Notes about the records.
    pub remarks: Vec<String>,
}

/// The throughput that the known limits allow together.
#[derive(Debug, Clone, PartialEq)]
pub struct Throughput {
    /// Operations per second.
    pub per_s: Interval,
    /// Connections that reach it; `None` without a scaling model of the CPUs, which the target must name.
    pub connections: Option<f64>,
    /// The limits that bind, with the share of the draws in which each does, most frequent first.
    pub binding: Vec<(Limit, f64)>,
}

/// The memory of the target and its place between the measured ones.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetMemory {
    /// `None` for that of the records.
    pub buffer_pool: Option<BufferPool>,
    pub data_bytes: u64,
    /// Share of the data that the buffer pool can hold; above 1 if it is larger.
    pub share: f64,
    /// Measured shares, rising.
    pub measured_shares: Vec<f64>,
    /// Whether demands are interpolated between measured shares.
    pub is_interpolated: bool,
}

impl Prediction {
    /// Whether all limits of the target are known.
    pub fn is_known(&self) -> bool {
        self.limits_not_measured().is_empty()
    }

    /// The limits that were not measured.
    pub(crate) fn limits_not_measured(&self) -> Vec<Limit> {
        self.limits_with(|outcome| outcome.not_measured().is_some())
    }

    /// The limits that are known only as an upper bound.
    pub(crate) fn upper_bounds(&self) -> Vec<Limit> {
        self.limits_with(|outcome| outcome.at_most_why().is_some())
    }

    fn limits_with(&self, is_wanted: impl Fn(&LimitOutcome) -> bool) -> Vec<Limit> {
        let wanted = self.limits.iter();
        let wanted = wanted.filter(|(_, outcome)| is_wanted(outcome));
        wanted.map(|(limit, _)| *limit).collect()
    }

    /// Whether the limit that binds is known only as an upper bound.
    pub fn is_at_most(&self) -> bool {
        let throughput = self.throughput.as_ref();
        let binding = throughput.and_then(|it| it.binding.first());
        binding.is_some_and(|(limit, _)| self.upper_bounds().contains(limit))
    }

    /// Whether a throughput keeps no more CPUs busy than the measured server used up without contention.
    pub(crate) fn is_without_contention(&self, per_s: f64) -> bool {
        let mut demands = self.demands.iter();
        let cpu = demands.find(|(demand, _)| *demand == ServiceDemand::Cpu);
        match (cpu, self.cpus_without_contention) {
            (Some((_, cpu_s)), Some(cpus)) => per_s * cpu_s.high <= cpus,
            _ => false,
        }
    }

    /// Whether the target has more CPUs than were measured.
    pub fn is_extrapolated(&self) -> bool {
        match (self.target.cpus, self.measured_cpus) {
            (Some(cpus), Some(measured)) => cpus > measured,
            _ => false,
        }
    }
}

/// Predicts the throughput of a target.
///
/// By the bottleneck law, the throughput is at most 1 / max(Dᵢ / Cᵢ), where one operation demands Dᵢ of a limit Cᵢ. All
/// demands come from the same draw of the executions, so that their common variation stays common. The interval is that of
/// the mean over executions (Monte Carlo over whole blocks, [`interval_of_draws`]).
///
/// An error if the target names no limit, if all combinations have only one execution, and if the target lacks the memory or
/// the size of the data where the records have several.
///
/// Source: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", Computing Surveys 10
/// (1978), bottleneck analysis.
pub fn predict(executions: &Executions, request: &PredictionRequest) -> Result<Prediction, Error> {
    predict_with_draws(executions, request).map(|(prediction, _)| prediction)
}

/// The same, with the draws that it was computed from.
pub(crate) fn predict_with_draws(
    executions: &Executions,
    request: &PredictionRequest,
) -> Result<(Prediction, Draws), Error> {
    let target = &request.target;
    if target.limits().next().is_none() {
        return Err(Error::NoLimit);
    }
    let cells = Cells::of(&executions.all)?;
    let data = target_data(target, &cells, request.zipf.unwrap_or(0.0))?;
    let data = data.filter(|_| !cells.shares.is_empty());
    let place = match &data {
        Some(data) => MemoryPosition::of(data, &cells.shares, &reads_of_memories(&cells)),
        None => Ok(MemoryPosition::At(0)),
    };
    let unknown = |limit: Limit| {
        let of_memory = || {
            if !matches!(limit, Limit::Reads | Limit::Writes) {
                return None;
            }
            match &data {
                None => target.names_memory().then(|| NO_MEMORY_KNOWN.to_owned()),
                Some(data) => {
                    let why = place.err()?;
                    Some(memory_not_measured(why, data.share, &cells.shares))
                }
            }
        };
        match limit {
            Limit::Cpus => cpus_not_measured(&cells, target.cpus?),
            _ => not_measured(limit, &cells).or_else(of_memory),
        }
    };
    let named: Vec<(Limit, Option<String>)> = target
        .limits()
        .map(|(limit, _)| (limit, unknown(limit)))
        .collect();
    let known = named.iter().filter(|(_, unknown)| unknown.is_none());
    let known: Vec<Limit> = known.map(|(limit, _)| *limit).collect();
    let position = match (place, &data) {
        (Err(_), Some(data)) => MemoryPosition::nearest(data.share, &cells.shares),
        (place, _) => place.unwrap_or(MemoryPosition::At(0)),
    };
    let model = CapacityModel::new(&cells, target, position, known);
    let draws = Draws::of(&model, request.draws);
    let no_law = model.series.as_ref().err().copied();
    let limits = named.into_iter().map(|(limit, unknown)| {
        let at_most = no_law.filter(|it| {
            let cpus = target.cpus.unwrap_or(0.0);
            limit == Limit::Cpus && it.hides_contention(cpus)
        });
        let at_most_why = at_most.map(no_law_in_words);
        let outcome = match unknown {
            Some(why) => LimitOutcome::NotMeasured(why),
            None => draws.outcome(&model, limit, at_most_why),
        };
        (limit, outcome)
    });
    let prediction = Prediction {
        subject: executions.subject.clone(),
        target: target.clone(),
        throughput: draws.throughput(&model),
        limits: limits.collect(),
        demands: draws.demands(),
        drifts: drifts(&cells),
        memory: data.map(|data| TargetMemory {
            buffer_pool: target.buffer_pool(),
            data_bytes: data.bytes,
            share: data.share,
            measured_shares: cells.shares.clone(),
            is_interpolated: matches!(position, MemoryPosition::Between { .. }),
        }),
        measured_cpus: measured_cpus(&cells),
        cpus_without_contention: match no_law {
            Some(NoLaw::CpusUsedUp(cpus)) => Some(cpus),
            _ => None,
        },
        scaling: draws
            .scaling
            .clone()
            .ok_or_else(|| no_law.map(no_law_in_words).unwrap_or_default()),
        executions: cells.executions().count(),
        blocks: cells.blocks.len(),
        conditions: executions.conditions.clone(),
        validation: None,
        remarks: remarks(target, &cells, place),
    };
    Ok((prediction, draws))
}

fn remarks(
    target: &Target,
    cells: &Cells<'_>,
    place: Result<MemoryPosition, NoPosition>,
) -> Vec<String> {
    let nearest = place.is_err().then(|| {
        "memory of the target not measured: CPU time is that of the nearest measured memory"
            .to_owned()
    });
    let mut remarks = remarks_on_records(target, cells);
    remarks.extend(nearest);
    remarks
}

/// The capacity by all executions and by each draw of them.
pub(crate) struct Draws {
    /// By all executions.
    pub(crate) all: Evaluation,
    pub(crate) each: Vec<Evaluation>,
    scaling: Option<Scalability>,
    /// The smallest number of executions of a combination.
    pub(crate) executions: usize,
}

impl Draws {
    fn of(model: &CapacityModel<'_>, count: usize) -> Self {
        let fitted = FittedDraws::of(model, model.cells.draws(count), COMPUTED_CONFIDENCE);
        let (all, each) = fitted.evaluate(model);
        Self {
            all,
            each,
            scaling: fitted.scaling,
            executions: model.cells.fewest(),
        }
    }

    fn interval(&self, estimate: f64, of: impl Fn(&Evaluation) -> f64) -> Interval {
        let draws: Vec<f64> = self.each.iter().map(of).collect();
        interval(estimate, &draws, self.executions)
    }

    /// What one limit allows by itself; it must be one of the model.
    fn outcome(
        &self,
        model: &CapacityModel<'_>,
        limit: Limit,
        at_most_why: Option<String>,
    ) -> LimitOutcome {
        let index = model.limits.iter().position(|it| *it == limit);
        let time_s = |it: &Evaluation| index.map_or(0.0, |at| it.limit_times_s[at]);
        let estimate = time_s(&self.all);
        if estimate <= 0.0 {
            return LimitOutcome::Unlimited;
        }
        LimitOutcome::Rate {
            per_s: inverse(self.interval(estimate, time_s)),
            at_most_why,
        }
    }

    fn throughput(&self, model: &CapacityModel<'_>) -> Option<Throughput> {
        if self.all.time_s <= 0.0 {
            return None;
        }
        let share = |index: usize| {
            let binds = self.each.iter().filter(|it| it.binding == index);
            binds.count() as f64 / self.each.len() as f64
        };
        let limits = model.limits.iter().enumerate();
        let mut binding: Vec<(Limit, f64)> = limits
            .map(|(index, limit)| (*limit, share(index)))
            .filter(|(limit, share)| *share > 0.0 || *limit == model.limits[self.all.binding])
            .collect();
        // Among equals the one by all executions is first.
        let is_other = |limit: Limit| limit != model.limits[self.all.binding];
        binding.sort_by(|a, b| b.1.total_cmp(&a.1).then(is_other(a.0).cmp(&is_other(b.0))));
        let has_law = self.scaling.is_some() && model.limits.contains(&Limit::Cpus);
        Some(Throughput {
            per_s: inverse(self.interval(self.all.time_s, |it| it.time_s)),
            connections: has_law.then_some(self.all.concurrency),
            binding,
        })
    }

    fn demands(&self) -> Vec<(ServiceDemand, Interval)> {
        let all = ServiceDemand::ALL.into_iter();
        all.filter_map(|demand| {
            let estimate = self.all.demands.get(demand)?;
            let of = |it: &Evaluation| it.demands.get(demand).unwrap_or(estimate);
            Some((demand, self.interval(estimate, of)))
        })
        .collect()
    }
}

/// The interval of an estimate by the draws; the estimate itself if there is none.
pub(crate) fn interval(estimate: f64, draws: &[f64], executions: usize) -> Interval {
    let point = Interval {
        estimate,
        low: estimate,
        high: estimate,
    };
    interval_of_draws(estimate, draws, executions, COMPUTED_CONFIDENCE).unwrap_or(point)
}

/// Operations per second from seconds for one operation; no upper end if no time is certain.
pub(crate) fn inverse(time_s: Interval) -> Interval {
    Interval {
        estimate: 1.0 / time_s.estimate,
        low: 1.0 / time_s.high,
        high: 1.0 / time_s.low,
    }
}
