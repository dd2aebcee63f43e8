//! The figures of one run as a list: each with its name and unit, the same in every format for programs.
//!
//! Names and units of metrics and costs are those of `dbdyno compare`; docs/report-formats.md documents them all.

use figures::{OperationFigures, Percentile, QUANTILES, RunFigures, StatementFigures, Times};
use samples::CpuUse;
use serde::Serialize;
use verdict::{Execution, Measure, Metric};

use crate::tables::unit::unit;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Value {
    /// The measure, for example `throughput`.
    pub(crate) measure: &'static str,
    /// Its unit, for example `per second`.
    pub(crate) unit: &'static str,
    pub(crate) value: f64,
    /// Only of a percentile: the operations that it is based on.
    #[serde(skip)]
    pub(crate) percentile: Option<Percentile>,
    /// Only of a percentile that is based on few operations.
    #[serde(flatten)]
    pub(crate) thin: Option<PercentileBounds>,
}

/// The mark of a percentile that is based on few operations, with its 95 % interval inside the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct PercentileBounds {
    thin: bool,
    /// Nanoseconds; `None` if it lies beyond all operations.
    low: Option<u64>,
    high: Option<u64>,
}

impl PercentileBounds {
    fn of(percentile: &Percentile) -> Option<Self> {
        let (low, high) = percentile.interval_ns;
        let thin = percentile.is_thin();
        thin.then_some(Self { thin, low, high })
    }
}

/// All figures of one run; missing ones are left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunValues {
    /// Figures of the run as a whole.
    pub(crate) whole: Vec<Value>,
    /// The figures of its operations and statements.
    pub(crate) parts: Vec<BreakdownRow>,
}

/// An operation or a statement of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BreakdownRow {
    pub(crate) load: String,
    pub(crate) kind: BreakdownKind,
    pub(crate) name: String,
    pub(crate) values: Vec<Value>,
}

/// The kind of a part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BreakdownKind {
    Operation,
    Statement,
}

impl RunValues {
    pub(crate) fn of(execution: &Execution<'_>) -> Self {
        let figures = execution.figures();
        let operations = figures.operations.iter().map(operation);
        let statements = figures.statements.iter().map(statement);
        Self {
            whole: whole(execution),
            parts: operations.chain(statements).collect(),
        }
    }

    /// A figure of the whole run by its name.
    pub(crate) fn get(&self, measure: &str) -> Option<&Value> {
        self.whole.iter().find(|value| value.measure == measure)
    }
}

/// A list that leaves out missing values.
#[derive(Default)]
struct List(Vec<Value>);

impl List {
    fn push(&mut self, measure: &'static str, unit: &'static str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.0.push(Value {
                measure,
                unit,
                value,
                percentile: None,
                thin: None,
            });
        }
    }

    /// Times of one kind: their names in the order of mean, minimum, the percentiles and maximum.
    fn push_times(&mut self, names: &TimeNames, times: Option<&Times>) {
        let Some(times) = times else {
            return;
        };
        let [mean, min, percentiles @ .., max] = names;
        self.push(mean, "ns", Some(times.mean_ns));
        self.push(min, "ns", Some(times.min_ns as f64));
        for (name, quantile) in percentiles.iter().zip(QUANTILES) {
            let percentile = times.percentile(quantile);
            let value = percentile.and_then(|percentile| {
                Some(Value {
                    measure: name,
                    unit: "ns",
                    value: percentile.measured_ns()? as f64,
                    percentile: Some(*percentile),
                    thin: PercentileBounds::of(percentile),
                })
            });
            self.0.extend(value);
        }
        self.push(max, "ns", Some(times.max_ns as f64));
    }
}

type TimeNames = [&'static str; 7];

const RESPONSE: TimeNames = ["mean", "min", "p50", "p95", "p99", "p999", "max"];
const SERVICE: TimeNames = [
    "service_mean",
    "service_min",
    "service_p50",
    "service_p95",
    "service_p99",
    "service_p999",
    "service_max",
];
const SEND_LAG: TimeNames = [
    "send_lag_mean",
    "send_lag_min",
    "send_lag_p50",
    "send_lag_p95",
    "send_lag_p99",
    "send_lag_p999",
    "send_lag_max",
];

/// Selects times of one kind in the figures of a run.
type Kind = fn(&RunFigures) -> Option<&Times>;

/// The times of a run as a whole, with their names.
const KINDS: [(&TimeNames, Kind); 3] = [
    (&RESPONSE, |run| run.response.as_ref()),
    (&SERVICE, |run| run.service.as_ref()),
    (&SEND_LAG, |run| run.send_lag.as_ref()),
];

/// Selects a share of the CPU use.
type Share = fn(&CpuUse) -> Option<f64>;

/// The shares of the CPU of the server's machine, by name.
const CPU: [(&str, Share); 8] = [
    ("cpu_busy", |cpu| Some(cpu.busy())),
    ("cpu_server", |cpu| cpu.server),
    ("cpu_client", |cpu| cpu.client),
    ("cpu_proxy", |cpu| cpu.proxy),
    ("cpu_rest", |cpu| Some(cpu.rest)),
    ("cpu_iowait", |cpu| Some(cpu.iowait)),
    ("cpu_steal", |cpu| Some(cpu.steal)),
    ("cpu_idle", |cpu| Some(cpu.idle)),
];

fn whole(execution: &Execution<'_>) -> Vec<Value> {
    let mut list = List::default();
    let (record, figures) = (execution.record, execution.figures());
    list.push("operations", "count", Some(figures.count as f64));
    list.push("errors", "count", Some(figures.errors as f64));
    list.push("measured", "s", Some(figures.measured_s));
    list.push("offered", "per second", figures.offered_per_s);
    for measure in Measure::all() {
        // The percentiles of the response time follow together.
        let is_percentile = RESPONSE.contains(&measure.name());
        let is_cost = matches!(measure, Measure::Cost(_));
        if !is_percentile && !is_cost {
            let value = match measure {
                // A throughput of zero cannot be compared, but it is still a figure.
                Measure::Metric(Metric::Throughput) => figures.throughput_per_s,
                _ => measure.of(execution),
            };
            list.push(measure.name(), unit(measure.scale()), value);
        }
    }
    for (names, of) in KINDS {
        list.push_times(names, of(figures));
    }
    if let Some(loaded) = &record.loaded {
        list.push("rows_loaded", "count", Some(loaded.rows as f64));
        list.push("rows_loaded_rate", "per second", Some(loaded.rows_per_s));
    }
    for (name, share) in CPU {
        list.push(name, "share", figures.server_cpu.as_ref().and_then(share));
    }
    let ceiling = record.ceiling.as_ref();
    list.push(
        "client_ceiling_used",
        "share",
        ceiling.and_then(|ceiling| ceiling.share),
    );
    for measure in Measure::all().filter(|measure| matches!(measure, Measure::Cost(_))) {
        list.push(measure.name(), unit(measure.scale()), measure.of(execution));
    }
    list.0
}

fn operation(operation: &OperationFigures) -> BreakdownRow {
    let mut list = List::default();
    list.push("operations", "count", Some(operation.count as f64));
    list.push("errors", "count", Some(operation.errors as f64));
    list.push("throughput", "per second", operation.throughput_per_s);
    list.push_times(&RESPONSE, operation.response.as_ref());
    list.push_times(&SERVICE, operation.service.as_ref());
    BreakdownRow {
        load: operation.load.clone(),
        kind: BreakdownKind::Operation,
        name: operation.operation.clone(),
        values: list.0,
    }
}

fn statement(statement: &StatementFigures) -> BreakdownRow {
    let mut list = List::default();
    for (name, count) in [
        ("reads", statement.classes.reads),
        ("writes", statement.classes.writes),
        ("others", statement.classes.others),
    ] {
        list.push(name, "count", Some(count as f64));
    }
    list.push("throughput", "per second", statement.throughput_per_s);
    list.push_times(&RESPONSE, statement.times.as_ref());
    BreakdownRow {
        load: statement.load.clone(),
        kind: BreakdownKind::Statement,
        name: statement.statement.clone(),
        values: list.0,
    }
}
