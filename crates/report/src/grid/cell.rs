//! One combination of levels: the figures over its executions.

use std::collections::{BTreeMap, BTreeSet};

use figures::{RunFigures, throughput_of};
use samples::CpuUse;
use stats::{ExecutionMean, execution_mean};
use units::counted;
use verdict::{Cost, Execution, Measure, Metric};

/// Confidence of every interval in the report.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A mean over executions, see [`execution_mean`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub(crate) mean: f64,
    /// Bounds of the interval; `None` with fewer than two executions.
    pub(crate) interval: Option<(f64, f64)>,
    /// True for a percentile that is based on few operations.
    pub(crate) is_thin: bool,
}

impl Figure {
    /// The mean of one value per execution; `None` without any.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        execution_mean(values, CONFIDENCE).map(Self::of_mean)
    }

    fn of_mean(found: ExecutionMean) -> Self {
        Self {
            mean: found.mean,
            interval: found.bounds,
            is_thin: false,
        }
    }

    /// The arithmetic mean of differences, which may be negative; `None` without any.
    pub(crate) fn of_differences(values: &[f64]) -> Option<Self> {
        let interval = stats::mean_interval(values, CONFIDENCE);
        (!values.is_empty()).then(|| Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            interval: interval.map(|it| (it.low, it.high)),
            is_thin: false,
        })
    }
}

/// A percentile that the report shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Percentile {
    P50,
    P95,
    P99,
}

impl Percentile {
    pub(crate) const ALL: [Self; 3] = [Self::P50, Self::P95, Self::P99];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
        }
    }

    /// The corresponding metric, in nanoseconds.
    pub(crate) fn metric(self) -> Metric {
        match self {
            Self::P50 => Metric::P50,
            Self::P95 => Metric::P95,
            Self::P99 => Metric::P99,
        }
    }
}

/// The figures of one combination over its complete runs.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    /// What its executions are called: `run`, or `batch` of slices.
    pub(crate) noun: &'static str,
    /// Its runs, as indices into the results.
    pub(crate) runs: Vec<usize>,
    /// Number of complete runs.
    pub(crate) complete: usize,
    /// Number of incomplete runs, whose figures are left out.
    pub(crate) incomplete: usize,
    /// Operations per second.
    pub(crate) throughput: Option<Figure>,
    /// The throughput of each complete run that has one.
    pub(crate) throughputs_per_s: Vec<f64>,
    /// New-Orders per minute; `None` if the load has none.
    pub(crate) new_orders_per_min: Option<Figure>,
    /// Nanoseconds, in the order of [`Percentile::ALL`].
    percentiles_ns: [Option<Figure>; 3],
    /// CPU use of the server's machine; `None` when that machine was not observed.
    pub(crate) cpu: Option<CpuUse>,
    /// The costs of one operation, without those that one of the runs did not observe.
    costs: BTreeMap<Cost, Figure>,
    /// Failed operations of all runs, including the incomplete ones: no error is hidden.
    pub(crate) errors: u64,
    /// The names of its operations: throughputs of other ones say nothing about which is higher.
    pub(crate) work: BTreeSet<String>,
}

impl Cell {
    /// The figures of `runs`, all of the same combination, each with its index in the results.
    pub(crate) fn of(runs: &[(usize, &Execution<'_>)]) -> Self {
        let complete: Vec<&Execution<'_>> = runs
            .iter()
            .map(|(_, execution)| *execution)
            .filter(|execution| execution.record.is_complete())
            .collect();
        let over = |value: fn(&RunFigures) -> Option<f64>| {
            // A mean over only those runs that have the value would be of a different set than the other figures.
            let values: Option<Vec<f64>> = complete.iter().map(|it| value(it.figures())).collect();
            values.as_deref().and_then(Figure::of)
        };
        let figures: Vec<&RunFigures> = complete.iter().map(|it| it.figures()).collect();
        let cpu: Vec<CpuUse> = figures.iter().filter_map(|it| it.server_cpu).collect();
        let has_batches = runs.iter().any(|(_, it)| it.record.batch.is_some());
        Self {
            noun: if has_batches { "batch" } else { "run" },
            runs: runs.iter().map(|(index, _)| *index).collect(),
            complete: complete.len(),
            incomplete: runs.len() - complete.len(),
            throughput: throughput_of(figures.iter().copied()).map(Figure::of_mean),
            throughputs_per_s: figures
                .iter()
                .filter_map(|it| it.throughput_per_s)
                .collect(),
            new_orders_per_min: over(|run| run.new_orders_per_min),
            percentiles_ns: Percentile::ALL.map(|percentile| {
                let metric = percentile.metric();
                Some(Figure {
                    is_thin: metric.is_thin(&figures),
                    ..Figure::of(&metric.of_all(&figures)?)?
                })
            }),
            cpu: mean_cpu(&cpu),
            costs: mean_costs(&complete),
            errors: runs.iter().map(|(_, it)| it.figures().errors).sum(),
            work: runs.iter().flat_map(|(_, it)| work_of(it)).collect(),
        }
    }

    /// True if a percentile is based on few operations.
    pub(crate) fn has_thin_percentiles(&self) -> bool {
        self.percentiles_ns.iter().flatten().any(|it| it.is_thin)
    }

    /// A percentile of the response time, nanoseconds; `None` also if no operation lies beyond it.
    pub(crate) fn percentile_ns(&self, percentile: Percentile) -> Option<Figure> {
        self.percentiles_ns[percentile as usize]
    }

    /// The cost of one operation, in the cost's unit.
    pub(crate) fn cost(&self, cost: Cost) -> Option<Figure> {
        self.costs.get(&cost).copied()
    }

    /// The number of executions behind the figures, in words.
    pub(crate) fn runs_in_words(&self) -> String {
        let complete = match self.complete {
            0 => format!("no complete {}", self.noun),
            1 => format!("1 {}: no interval", self.noun),
            n => counted(n, self.noun),
        };
        match self.incomplete {
            0 => complete,
            n => format!("{complete}, {n} incomplete"),
        }
    }
}

fn mean_costs(runs: &[&Execution<'_>]) -> BTreeMap<Cost, Figure> {
    let of = |cost: Cost| Figure::of(&Measure::Cost(cost).of_all(runs)?);
    let figures = Cost::all().filter_map(|cost| Some((cost, of(cost)?)));
    figures.collect()
}

/// The names of an execution's operations.
pub(super) fn work_of(execution: &Execution<'_>) -> BTreeSet<String> {
    let operations = execution.figures().operations.iter();
    operations.map(|it| it.operation.clone()).collect()
}

fn mean_cpu(uses: &[CpuUse]) -> Option<CpuUse> {
    if uses.is_empty() {
        return None;
    }
    let mean = |part: fn(&CpuUse) -> f64| uses.iter().map(part).sum::<f64>() / uses.len() as f64;
    // A process that one run did not observe would lower the mean: then the value is unknown.
    let known = |part: fn(&CpuUse) -> Option<f64>| {
        let parts: Option<Vec<f64>> = uses.iter().map(part).collect();
        parts.map(|parts| parts.iter().sum::<f64>() / parts.len() as f64)
    };
    Some(CpuUse {
        server: known(|cpu| cpu.server),
        client: known(|cpu| cpu.client),
        proxy: known(|cpu| cpu.proxy),
        rest: mean(|cpu| cpu.rest),
        iowait: mean(|cpu| cpu.iowait),
        steal: mean(|cpu| cpu.steal),
        idle: mean(|cpu| cpu.idle),
        user: mean(|cpu| cpu.user),
        system: mean(|cpu| cpu.system),
    })
}
