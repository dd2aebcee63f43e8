//! What a limit of a target allows, or what would have to be measured to know it.

use stats::Interval;

use crate::{
    cells::Cells,
    cpu_law::NoLaw,
    limit::Limit,
    memory_position::{NoPosition, SHARES_AT_LEAST},
    service_demand::ServiceDemand,
};

/// Multiple of the measured CPUs up to which the law is extrapolated.
const CPUS_AT_MOST: f64 = 4.0;

/// What one limit allows by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum LimitOutcome {
    /// Operations per second.
    Rate {
        per_s: Interval,
        /// Why it may be less; `None` for an estimate.
        at_most_why: Option<String>,
    },
    /// An operation demands nothing of it.
    Unlimited,
    /// What was not measured, and how to measure it.
    NotMeasured(String),
}

impl LimitOutcome {
    /// Why it is only an upper bound; `None` for an estimate, and if it is not known.
    pub fn at_most_why(&self) -> Option<&str> {
        match self {
            Self::Rate { at_most_why, .. } => at_most_why.as_deref(),
            Self::Unlimited | Self::NotMeasured(_) => None,
        }
    }

    /// What was not measured; `None` if it is known.
    pub(crate) fn not_measured(&self) -> Option<&str> {
        match self {
            Self::NotMeasured(why) => Some(why),
            Self::Rate { .. } | Self::Unlimited => None,
        }
    }
}

/// Why the number of CPUs of a target has no prediction; `None` if it has one.
pub(crate) fn cpus_not_measured(cells: &Cells<'_>, cpus: f64) -> Option<String> {
    let has_demand = has(cells, ServiceDemand::Cpu);
    match measured_cpus(cells).filter(|_| has_demand) {
        None => Some(
            "the server's CPU time was not observed in all records; measure on its machine, or with an observer"
                .to_owned(),
        ),
        Some(measured) if cpus > CPUS_AT_MOST * measured => {
            let enough = units::count((cpus / CPUS_AT_MOST).ceil());
            let measured = units::count(measured);
            Some(format!(
                "{} CPUs are more than {CPUS_AT_MOST} times the measured {measured}; measure on {enough} or more",
                units::count(cpus)
            ))
        }
        Some(_) => None,
    }
}

/// The CPUs of the server's machine; `None` if they were not observed in all executions.
pub(crate) fn measured_cpus(cells: &Cells<'_>) -> Option<f64> {
    let all: Option<Vec<f64>> = cells.executions().map(|it| Some(it.cpus?.count)).collect();
    all?.first().copied()
}

/// Why a limit other than the CPUs has no prediction; `None` if it has one.
pub(crate) fn not_measured(limit: Limit, cells: &Cells<'_>) -> Option<String> {
    let demands: &[ServiceDemand] = match limit {
        Limit::Cpus => return None,
        Limit::Reads => &[ServiceDemand::PageReads],
        Limit::Writes => &[ServiceDemand::Writes],
        Limit::Fsyncs => &[ServiceDemand::Fsyncs],
        Limit::Network => &[ServiceDemand::ReceivedBytes, ServiceDemand::SentBytes],
    };
    let mut missing = demands.iter().filter(|demand| !has(cells, **demand));
    let missing = missing.next()?.in_words();
    Some(format!(
        "{missing} were not counted in all records; measure with a user that may read the server's status"
    ))
}

/// Whether all executions measured a demand.
fn has(cells: &Cells<'_>, demand: ServiceDemand) -> bool {
    let mut all = cells.executions();
    all.all(|it| it.demands.get(demand).is_some())
}

/// Where the records do not say how much data and memory they had.
pub(crate) const NO_MEMORY_KNOWN: &str =
    "the records do not contain the sizes of the data and of the buffer pool";

/// What would have to be measured for a memory without a position.
pub(crate) fn memory_not_measured(why: NoPosition, share: f64, shares: &[f64]) -> String {
    let in_words = |share: f64| units::percent(share.min(1.0));
    let wanted = in_words(share);
    let measured: Vec<String> = shares.iter().map(|it| in_words(*it)).collect();
    let measured = measured.join(", ");
    match why {
        NoPosition::FewMeasured => format!(
            "{wanted} of the data in memory were not measured (only {measured}); measure {SHARES_AT_LEAST} or more \
             buffer pools around it"
        ),
        NoPosition::Less => format!(
            "{wanted} of the data in memory is less than measured ({measured}); measure a smaller buffer pool"
        ),
        NoPosition::More => format!(
            "{wanted} of the data in memory is more than measured ({measured}); measure a larger buffer pool"
        ),
    }
}

/// Why there is no scaling model.
pub(crate) fn no_law_in_words(why: NoLaw) -> String {
    match why {
        NoLaw::FewConcurrencies => {
            "four or more numbers of connections are needed, two executions each".to_owned()
        }
        NoLaw::LimitedBy(resource) => {
            format!("the highest measured throughput was limited by: {resource}")
        }
        NoLaw::Residual(residual) => {
            let residual = units::percent(residual);
            format!(
                "the measured throughputs do not follow the scaling model (residual {residual})"
            )
        }
        NoLaw::CpusUsedUp(cpus) => format!(
            "the throughput rose in proportion to the connections until {} CPUs were used up; contention with more \
             CPUs was not measured",
            units::si(cpus)
        ),
    }
}
