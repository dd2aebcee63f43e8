//! The least amount of each limit that carries a throughput, from the executions of a draw.

use crate::{
    capacity_model::{CapacityModel, FittedDraw},
    cpu_law::CpuLaw,
    limit::Limit,
    service_demand::ServiceDemand,
};

/// A throughput that is lower by this share is the same.
const SAME_RATE: f64 = 1e-9;
/// CPUs from which on more of them change nothing; also as a multiple of those that are busy at a throughput.
const CPUS_SEARCHED: f64 = 1e6;
/// Halvings of the number of CPUs' logarithm.
const STEPS: usize = 60;

/// What a throughput needs on one memory, by the executions of one draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Amounts {
    /// Infinite if no number of CPUs carries it.
    pub(crate) cpus: f64,
    pub(crate) read_iops: f64,
    pub(crate) write_iops: f64,
    /// The longest time of a flush that carries it, seconds; infinite if it needs no flush.
    pub(crate) fsync_s: f64,
    pub(crate) net_bytes_per_s: f64,
    /// The number of connections at which it needs the fewest CPUs, and of several the one with the fewest flushes.
    pub(crate) connections: f64,
}

impl Amounts {
    pub(crate) fn get(&self, limit: Limit) -> f64 {
        match limit {
            Limit::Cpus => self.cpus,
            Limit::Reads => self.read_iops,
            Limit::Writes => self.write_iops,
            Limit::Fsyncs => self.fsync_s,
            Limit::Network => self.net_bytes_per_s,
        }
    }
}

/// The connections and the laws with which amounts are searched.
struct CpuSearch<'m> {
    model: &'m CapacityModel<'m>,
    fitted: &'m FittedDraw<'m>,
    /// Measured numbers of connections, rising.
    measured: Vec<f64>,
    peak_is_known: bool,
}

/// The amounts with which a model carries a throughput.
///
/// The bottleneck law solved for the capacities: Cᵢ ≥ X Dᵢ, and for flushes one after the other L ≤ 1 / (X f(N)). The
/// CPUs are the smallest number whose law allows X at any of the connections that a prediction considers. They are
/// searched by bisection, because the law rises with the CPUs.
///
/// Source: as for [`crate::predict`].
pub(crate) fn amounts(
    model: &CapacityModel<'_>,
    fitted: &FittedDraw<'_>,
    per_s: f64,
    peak_is_known: bool,
) -> Amounts {
    let search = CpuSearch {
        model,
        fitted,
        measured: model.concurrencies(None),
        peak_is_known,
    };
    let flushes = model.flush_curve(&fitted.draw);
    let flushes_at = |connections: f64| flushes.as_ref().map_or(0.0, |it| it.at(connections));
    let (cpus, mut reaching) = search.fewest(per_s);
    reaching.sort_by(|a, b| {
        let fewer = flushes_at(*a).total_cmp(&flushes_at(*b));
        fewer.then(a.total_cmp(b))
    });
    let connections = reaching.first().copied().unwrap_or(1.0);
    let amount = |limit| per_s * model.amount(limit, &fitted.draw);
    Amounts {
        cpus,
        read_iops: amount(Limit::Reads),
        write_iops: amount(Limit::Writes),
        // Infinite without flushes.
        fsync_s: 1.0 / (per_s * flushes_at(connections)),
        net_bytes_per_s: amount(Limit::Network),
        connections,
    }
}

/// The highest throughput that any number of CPUs allows; `None` without a scaling model.
pub(crate) fn highest_per_s(
    model: &CapacityModel<'_>,
    fitted: &FittedDraw<'_>,
    peak_is_known: bool,
) -> Option<f64> {
    let search = CpuSearch {
        model,
        fitted,
        measured: model.concurrencies(None),
        peak_is_known,
    };
    let law = model.cpu_law(fitted, CPUS_SEARCHED)?;
    law.model?;
    let all = search.connections(&law).into_iter();
    Some(all.map(|it| law.at(it)).fold(0.0, f64::max))
}

impl CpuSearch<'_> {
    /// The smallest number of CPUs that carries a throughput, and the connections at which it does: infinite and all
    /// connections if none does, 0 and all connections if no CPU time is demanded.
    fn fewest(&self, per_s: f64) -> (f64, Vec<f64>) {
        let demand_s = self
            .model
            .demand(ServiceDemand::Cpu, &self.fitted.draw)
            .filter(|it| *it > 0.0);
        let Some(demand_s) = demand_s else {
            return (0.0, self.measured.clone());
        };
        // Utilisation law: this many CPUs are busy.
        let busy = per_s * demand_s;
        let at_least = self.reaching(busy, per_s);
        if !at_least.is_empty() {
            return (busy, at_least);
        }
        let (mut low, mut high) = (busy.ln(), (busy * CPUS_SEARCHED).ln());
        if self.reaching(high.exp(), per_s).is_empty() {
            return (f64::INFINITY, self.measured.clone());
        }
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if self.reaching(middle.exp(), per_s).is_empty() {
                low = middle;
            } else {
                high = middle;
            }
        }
        let cpus = high.exp();
        (cpus, self.reaching(cpus, per_s))
    }

    /// The connections at which this number of CPUs carries a throughput.
    fn reaching(&self, cpus: f64, per_s: f64) -> Vec<f64> {
        let Some(law) = self.model.cpu_law(self.fitted, cpus) else {
            return self.measured.clone();
        };
        let mut all = self.connections(&law);
        all.retain(|it| law.at(*it) >= per_s * (1.0 - SAME_RATE));
        all
    }

    /// The measured connections, and those of the peak of a law if it is known.
    fn connections(&self, law: &CpuLaw) -> Vec<f64> {
        let model = law.model.filter(|_| self.peak_is_known);
        let peak = model.map(|it| it.peak());
        self.measured.iter().copied().chain(peak).collect()
    }
}
