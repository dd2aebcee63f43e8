//! A measure by which results are compared: a metric, or a cost per operation.

use units::{duration, per_s, seconds, si};

use crate::{
    costs::{Cost, Unit},
    metric::Metric,
    side::Execution,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A property that users see.
    Metric(Metric),
    Cost(Cost),
}

/// The unit and format of a measure's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    PerSecond,
    PerMinute,
    Nanoseconds,
    Seconds,
    PerOperation(Unit),
}

impl Scale {
    /// A number of this scale with its unit: `12.3k/s`, `1.23 ms`, `0.010`.
    pub fn in_words(self, value: f64) -> String {
        match self {
            Self::PerSecond => per_s(value),
            Self::PerMinute => format!("{}/min", si(value)),
            Self::Nanoseconds => duration(value),
            Self::Seconds => seconds(value),
            Self::PerOperation(unit) => unit.in_words(value),
        }
    }
}

impl Measure {
    /// All measures: the metrics, then the costs.
    pub fn all() -> impl Iterator<Item = Self> {
        let metrics = Metric::ALL.into_iter().map(Self::Metric);
        metrics.chain(Cost::all().map(Self::Cost))
    }

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metric(metric) => metric.name(),
            Self::Cost(cost) => cost.spec().name,
        }
    }

    /// Its name in a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Metric(metric) => metric.in_words(),
            Self::Cost(cost) => cost.spec().words,
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|measure| measure.name() == name)
    }

    pub fn more_is_better(self) -> bool {
        match self {
            Self::Metric(metric) => metric.more_is_better(),
            Self::Cost(_) => false,
        }
    }

    pub fn scale(self) -> Scale {
        match self {
            Self::Metric(Metric::Throughput) => Scale::PerSecond,
            Self::Metric(Metric::NewOrders) => Scale::PerMinute,
            Self::Metric(Metric::P50 | Metric::P95 | Metric::P99) => Scale::Nanoseconds,
            Self::Metric(Metric::Elapsed) => Scale::Seconds,
            Self::Cost(cost) => Scale::PerOperation(cost.spec().unit),
        }
    }

    /// An execution's number, in the unit of [`Self::scale`]; `None` if it was not measured.
    pub fn of(self, execution: &Execution<'_>) -> Option<f64> {
        self.of_all(&[execution])?.first().copied()
    }

    /// The numbers of executions that are analysed together; `None` if one was not measured, see [`Metric::of_all`].
    pub fn of_all(self, executions: &[&Execution<'_>]) -> Option<Vec<f64>> {
        let mut all = executions.iter();
        match self {
            // If the duration was set by the user, the elapsed time is not a result.
            Self::Metric(Metric::Elapsed) if !all.all(|it| it.record.ends_by_itself()) => None,
            Self::Metric(metric) => {
                let figures: Vec<_> = executions.iter().map(|it| &it.figures).collect();
                metric.of_all(&figures)
            }
            Self::Cost(cost) => all.map(|it| it.costs.as_ref()?.get(cost)).collect(),
        }
    }

    /// True for a percentile that is marked; see [`Metric::is_thin`].
    pub fn is_thin(self, executions: &[&Execution<'_>]) -> bool {
        let figures: Vec<_> = executions.iter().map(|it| &it.figures).collect();
        matches!(self, Self::Metric(metric) if metric.is_thin(&figures))
    }

    /// An execution's number for comparisons: a cost is at least the smallest distinguishable amount, because zero has
    /// no ratio to other values.
    pub(crate) fn comparable(self, execution: &Execution<'_>, value: f64) -> f64 {
        match (self, &execution.costs) {
            (Self::Cost(cost), Some(costs)) => value.max(costs.least(cost)),
            _ => value,
        }
    }

    /// The largest negligible difference, in the measure's unit; 0 for a metric.
    pub(crate) fn negligible(self, execution: &Execution<'_>) -> f64 {
        match (self, &execution.costs) {
            (Self::Cost(cost), Some(costs)) => costs.negligible(cost),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use samples::{OfferedLoad, Record};

    use super::*;
    use crate::testing::{RecordBuilder, record};

    /// A duration that was asked for is no result.
    #[test]
    fn only_work_that_ends_by_itself_has_an_elapsed_time() {
        let elapsed_s = |record: &Record| {
            let execution = Execution::of(record, 1);
            Measure::Metric(Metric::Elapsed).of(&execution)
        };
        let mut record = record(&RecordBuilder::default());
        assert_eq!(elapsed_s(&record), None);
        let mut offered = OfferedLoad::of_closed_loop(20);
        record.offered = Some(offered.clone());
        assert_eq!(elapsed_s(&record), None);
        offered.ends_by_itself = true;
        record.offered = Some(offered);
        assert!(elapsed_s(&record).is_some_and(|it| it > 0.0));
    }

    #[test]
    fn names_lead_back() {
        for measure in Measure::all() {
            assert_eq!(Measure::named(measure.name()), Some(measure));
        }
        assert_eq!(Measure::named("speed"), None);
    }
}
