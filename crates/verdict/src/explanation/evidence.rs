//! The evidence for the rules: the costs that changed, the settings that differ, the limits of both sides.

use std::collections::BTreeMap;

use samples::{Disturbance, Transport};

use crate::{
    bottleneck::{Resource, bottleneck},
    costs::Cost,
    decision::Decision,
    measure::Measure,
    measure_comparison::Compared,
    metric::Metric,
    side::Execution,
};

/// Minimum ratio of a cost's change: a smaller one explains nothing.
const MOVED_BY_AT_LEAST: f64 = 1.1;

/// The evidence for the rules.
#[derive(Debug, Default)]
pub(super) struct Evidence<'a> {
    pub(super) costs: Vec<&'a Compared>,
    pub(super) metrics: Vec<&'a Compared>,
    /// Variables that differ, with the values of A and B.
    pub(super) variables: BTreeMap<&'a str, [&'a str; 2]>,
    /// All variables of A and of B; `None` where they were not read.
    pub(super) all_variables: [Option<&'a BTreeMap<String, String>>; 2],
    /// The limit of each execution of A and of B; `None` for an unexplained one.
    pub(super) limits: [Vec<Option<Resource>>; 2],
    /// Mean of the shortest response times of A and B, microseconds.
    pub(super) shortest_us: Option<[f64; 2]>,
    /// The longest response time of all executions of A and of B, seconds.
    pub(super) longest_s: Option<[f64; 2]>,
    /// Shares of the CPUs that other programs and the hypervisor took, means of A and B; `None` where that was not observed.
    pub(super) taken: Option<[LostCpu; 2]>,
    /// Whether the bytes of both sides stayed within a machine.
    pub(super) is_within_machine: bool,
}

/// Shares of a machine's CPUs that were taken from server and client.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LostCpu {
    pub(super) others: f64,
    pub(super) steal: f64,
}

/// A cost that changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct CostChange {
    pub(super) cost: Cost,
    pub(super) a: f64,
    pub(super) b: f64,
}

impl CostChange {
    /// The side on which it is higher: 0 for A.
    pub(super) fn higher(&self) -> usize {
        usize::from(self.by() > 0.0)
    }

    /// The change in the cost's unit.
    pub(super) fn by(&self) -> f64 {
        self.b - self.a
    }

    /// `fsyncs of InnoDB per operation 1.00 → 0.01`.
    pub(super) fn in_words(&self) -> String {
        let spec = self.cost.spec();
        format!(
            "{} per operation {} → {}",
            spec.words,
            spec.unit.in_words(self.a),
            spec.unit.in_words(self.b)
        )
    }
}

impl<'a> Evidence<'a> {
    pub(super) fn of(
        metrics: &'a [Compared],
        costs: &'a [Compared],
        a: &[&'a Execution<'a>],
        b: &[&'a Execution<'a>],
    ) -> Self {
        Self {
            costs: costs.iter().collect(),
            metrics: metrics.iter().collect(),
            variables: variables(a, b),
            all_variables: [all_variables(a), all_variables(b)],
            limits: [limits(a), limits(b)],
            taken: taken(a).zip(taken(b)).map(|(a, b)| [a, b]),
            shortest_us: shortest_us(a).zip(shortest_us(b)).map(|(a, b)| [a, b]),
            longest_s: longest_s(a).zip(longest_s(b)).map(|(a, b)| [a, b]),
            is_within_machine: is_within_machine(a) && is_within_machine(b),
        }
    }

    /// A cost that changed by more than chance explains and by enough to matter. The decision is that of the table of
    /// costs: a cost that is inconclusive there is no cause, even if an interval that ignores the other costs excludes
    /// equality. Among 28 costs, one does so by chance.
    pub(super) fn moved(&self, cost: Cost) -> Option<CostChange> {
        let compared = self
            .costs
            .iter()
            .find(|it| it.measure == Measure::Cost(cost))?;
        let ratio = compared.comparison?.ratio;
        let size = ratio.estimate.max(1.0 / ratio.estimate);
        let is_large = size >= MOVED_BY_AT_LEAST && compared.shift().abs() >= compared.negligible;
        (compared.decision.is_different() && is_large).then(|| CostChange {
            cost,
            a: compared.means[0],
            b: compared.means[1],
        })
    }

    /// True if both sides have a cost, changed or not.
    pub(super) fn is_observed(&self, cost: Cost) -> bool {
        let measure = Measure::Cost(cost);
        self.costs.iter().any(|it| it.measure == measure)
    }

    /// True if a metric certainly differs.
    pub(super) fn is_decided(&self) -> bool {
        self.metrics
            .iter()
            .any(|metric| metric.decision.is_different())
    }

    /// The side that is certainly worse in a metric: 0 for A. The metric that decides is the first of all.
    pub(super) fn worse(&self) -> Option<usize> {
        const BY: [Metric; 6] = [
            Metric::NewOrders,
            Metric::Elapsed,
            Metric::Throughput,
            Metric::P50,
            Metric::P95,
            Metric::P99,
        ];
        let deciding = self.metrics.first().copied();
        let others = BY.iter().filter_map(|metric| self.metric(*metric));
        let mut all = deciding.into_iter().chain(others);
        all.find_map(|metric| match metric.decision {
            Decision::Faster => Some(0),
            Decision::Slower => Some(1),
            Decision::Equivalent | Decision::Inconclusive => None,
        })
    }

    /// A metric, if both sides have it.
    pub(super) fn metric(&self, metric: Metric) -> Option<&'a Compared> {
        let measure = Measure::Metric(metric);
        self.metrics
            .iter()
            .copied()
            .find(|it| it.measure == measure)
    }

    /// The time per operation by which the sides certainly differ, microseconds: of all connections together, or of the
    /// median operation if the throughput does not differ. `None` if neither does.
    pub(super) fn delay_us(&self) -> Option<f64> {
        let decided = |metric| {
            let compared = self.metric(metric)?;
            compared.decision.is_different().then_some(compared)
        };
        let per_operation_us = |throughput_per_s: f64| 1e6 / throughput_per_s;
        if let Some(throughput) = decided(Metric::Throughput) {
            let [a, b] = throughput.means.map(per_operation_us);
            return Some((b - a).abs());
        }
        Some(decided(Metric::P50)?.shift().abs() / 1e3)
    }

    /// True if one side is MariaDB and the other is not.
    pub(super) fn is_between_products(&self) -> bool {
        let is_mariadb = |version: &str| version.contains("MariaDB");
        self.variable("version")
            .is_some_and(|[a, b]| is_mariadb(a) != is_mariadb(b))
    }

    /// The values of A and B of a variable that differs.
    pub(super) fn variable(&self, name: &str) -> Option<[&'a str; 2]> {
        self.variables.get(name).copied()
    }

    /// The value of a variable on a side; `None` if it was not read.
    pub(super) fn value(&self, side: usize, name: &str) -> Option<&'a str> {
        self.all_variables[side]?.get(name).map(String::as_str)
    }

    /// Whether statements of a side can be long enough for its slow log, or be logged because they use no index; true if
    /// that is unknown.
    pub(super) fn reaches_slow_log(&self, side: usize) -> bool {
        let limit = self.value(side, "long_query_time");
        let limit_s = limit.and_then(|limit| limit.parse::<f64>().ok());
        let logs_scans = self.value(side, "log_queries_not_using_indexes") == Some("ON");
        let known = limit_s.zip(self.longest_s);
        logs_scans || known.is_none_or(|(limit_s, longest_s)| longest_s[side] >= limit_s)
    }

    /// ` (sync_binlog 0 → 1)` for those variables that differ; empty if none does.
    pub(super) fn settings(&self, names: &[&str]) -> String {
        let told: Vec<String> = names
            .iter()
            .filter_map(|name| {
                let [a, b] = self.variable(name)?;
                Some(format!("{name} {a} → {b}"))
            })
            .collect();
        if told.is_empty() {
            String::new()
        } else {
            format!(" ({})", told.join(", "))
        }
    }

    /// The side whose executions were mostly limited by this resource, if the other's never were: 0 for A.
    pub(super) fn limited_by(&self, resource: Resource) -> Option<usize> {
        let times = |side: &Vec<Option<Resource>>| {
            side.iter()
                .filter(|limit| **limit == Some(resource))
                .count()
        };
        let is_mostly = |side: &Vec<Option<Resource>>| times(side) * 2 > side.len();
        let [a, b] = &self.limits;
        match (is_mostly(a), is_mostly(b)) {
            (true, _) if times(b) == 0 => Some(0),
            (_, true) if times(a) == 0 => Some(1),
            _ => None,
        }
    }
}

fn all_variables<'a>(side: &[&'a Execution<'a>]) -> Option<&'a BTreeMap<String, String>> {
    Some(&side.first()?.record.servers.first()?.variables)
}

fn variables<'a>(
    a: &[&'a Execution<'a>],
    b: &[&'a Execution<'a>],
) -> BTreeMap<&'a str, [&'a str; 2]> {
    let (Some(a), Some(b)) = (all_variables(a), all_variables(b)) else {
        return BTreeMap::new();
    };
    let both = a
        .iter()
        .filter_map(|(name, a)| Some((name, a, b.get(name)?)));
    both.filter(|(_, a, b)| a != b)
        .map(|(name, a, b)| (name.as_str(), [a.as_str(), b.as_str()]))
        .collect()
}

/// The means of a side; `None` if an execution lacks them.
fn taken(side: &[&Execution<'_>]) -> Option<LostCpu> {
    let of = |execution: &&Execution<'_>| Disturbance::of(execution.record);
    let of_side: Vec<Disturbance> = side.iter().map(of).collect::<Option<_>>()?;
    let mean = |share: fn(&Disturbance) -> f64| {
        of_side.iter().map(share).sum::<f64>() / of_side.len() as f64
    };
    (!of_side.is_empty()).then(|| LostCpu {
        others: mean(|it| it.others),
        steal: mean(|it| it.steal),
    })
}

fn limits(side: &[&Execution<'_>]) -> Vec<Option<Resource>> {
    let limit = |execution: &&Execution<'_>| Some(bottleneck(execution.record)?.limiting?.resource);
    side.iter().map(limit).collect()
}

fn shortest_us(side: &[&Execution<'_>]) -> Option<f64> {
    let shortest = side
        .iter()
        .map(|it| Some(it.figures.response.as_ref()?.min_ns as f64 / 1e3));
    let shortest = shortest.collect::<Option<Vec<f64>>>()?;
    (!shortest.is_empty()).then(|| shortest.iter().sum::<f64>() / shortest.len() as f64)
}

fn is_within_machine(side: &[&Execution<'_>]) -> bool {
    side.iter().all(|execution| {
        let transport = Transport::of(&execution.record.header.transport);
        transport.is_some_and(|it| it != Transport::TcpRemote)
    })
}

fn longest_s(side: &[&Execution<'_>]) -> Option<f64> {
    let longest = side
        .iter()
        .map(|it| Some(it.figures.response.as_ref()?.max_ns as f64 / 1e9));
    let longest = longest.collect::<Option<Vec<f64>>>()?;
    longest.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_side_is_that_of_the_metric_that_decides() {
        let made =
            |metric, decision| Compared::made(Measure::Metric(metric), [1.0, 2.0], decision, None);
        let more = made(Metric::Throughput, Decision::Faster);
        let later = made(Metric::P99, Decision::Slower);
        let unknown = made(Metric::P99, Decision::Inconclusive);
        for (metrics, worse) in [
            (vec![&later, &more], Some(1)),
            (vec![&more, &later], Some(0)),
            (vec![&unknown, &more], Some(0)),
            (vec![&unknown], None),
        ] {
            let evidence = Evidence {
                metrics,
                ..Evidence::default()
            };
            assert_eq!(evidence.worse(), worse);
        }
    }
}
