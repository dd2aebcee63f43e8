//! The time that each limit of a target needs for one operation, from the executions of a draw.

use std::collections::BTreeSet;

use stats::{Scalability, UslModel};

use crate::{
    cells::{Cells, Draw, mean},
    cpu_law::{CpuLaw, CpuShare, NoLaw, Series},
    flush_curve::FlushCurve,
    limit::Limit,
    memory_position::MemoryPosition,
    service_demand::{Demands, ServiceDemand},
    target::Target,
};

/// A larger time is no other one: of concurrencies that do the same the smallest is named.
const SAME_TIME: f64 = 1e-9;

/// What all draws have in common.
pub(crate) struct CapacityModel<'e> {
    pub(crate) cells: &'e Cells<'e>,
    pub(crate) target: &'e Target,
    pub(crate) position: MemoryPosition,
    /// The limits that can be computed, each with a value in the target.
    pub(crate) limits: Vec<Limit>,
    pub(crate) series: Result<Series, NoLaw>,
    /// The cell with the highest throughput of each memory.
    fastest: Vec<Option<usize>>,
}

/// A draw with the scaling model of its executions.
pub(crate) struct FittedDraw<'e> {
    pub(crate) draw: Draw<'e>,
    pub(crate) law: Option<UslModel>,
}

/// The capacity by the executions of one draw.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluation {
    /// Seconds of each limit for one operation, at the concurrency that suits it best.
    pub(crate) limit_times_s: Vec<f64>,
    /// Seconds of the binding limit for one operation, at the concurrency that suits all limits together best.
    pub(crate) time_s: f64,
    /// Index of the binding limit.
    pub(crate) binding: usize,
    /// That concurrency.
    pub(crate) concurrency: f64,
    /// The demands of one operation on the target.
    pub(crate) demands: Demands,
}

impl<'e> CapacityModel<'e> {
    /// The model; the series is left out if it does not follow the scaling model.
    pub(crate) fn new(
        cells: &'e Cells<'e>,
        target: &'e Target,
        position: MemoryPosition,
        limits: Vec<Limit>,
    ) -> Self {
        let series = Series::of(cells).and_then(|series| {
            series.fit(&cells.all(), None)?;
            Ok(series)
        });
        let memories = cells.shares.len().max(1);
        Self {
            cells,
            target,
            position,
            limits,
            series,
            fastest: (0..memories).map(|memory| cells.fastest(memory)).collect(),
        }
    }

    /// A draw with its scaling model, searched from that of all executions.
    pub(crate) fn fitted(&self, draw: Draw<'e>, near: Option<&UslModel>) -> FittedDraw<'e> {
        let series = self.series.as_ref().ok();
        FittedDraw {
            law: series.and_then(|series| series.fit(&draw, near).ok()),
            draw,
        }
    }

    /// The scaling model with the spread of the draws; `None` without a series.
    pub(crate) fn scaling(
        &self,
        all: &FittedDraw<'_>,
        draws: &[FittedDraw<'_>],
        confidence: f64,
    ) -> Option<Scalability> {
        let measured_up_to = self.series.as_ref().ok()?.measured_up_to;
        let laws: Option<Vec<UslModel>> = draws.iter().map(|it| it.law).collect();
        Scalability::of_draws(all.law?, laws?, measured_up_to, confidence)
    }

    /// The capacity by one draw. Unless the peak of the series is known, only measured concurrencies count.
    pub(crate) fn evaluate(&self, fitted: &FittedDraw<'_>, peak_is_known: bool) -> Evaluation {
        let draw = &fitted.draw;
        let cpus = self.target.cpus.and_then(|it| self.cpu_law(fitted, it));
        let flushes = self.flush_curve(draw);
        let constant = self.limits.iter().map(|limit| self.time_s(*limit, draw));
        let constant: Vec<f64> = constant.collect();
        let times_at = |concurrency: f64| -> Vec<f64> {
            let limits = self.limits.iter().zip(&constant);
            limits
                .map(|(limit, constant_s)| match limit {
                    Limit::Cpus => cpus.map_or(0.0, |law| 1.0 / law.at(concurrency)),
                    Limit::Fsyncs => {
                        let flushes = flushes.as_ref().map_or(0.0, |it| it.at(concurrency));
                        flushes * self.target.fsync_s.unwrap_or(0.0)
                    }
                    Limit::Reads | Limit::Writes | Limit::Network => *constant_s,
                })
                .collect()
        };
        let model = cpus.and_then(|it| it.model);
        let candidates = self.concurrencies(model.filter(|_| peak_is_known));
        let mut best: Option<(f64, f64, usize)> = None;
        let mut limit_times_s = vec![f64::INFINITY; self.limits.len()];
        for concurrency in candidates {
            let times = times_at(concurrency);
            for (least, time) in limit_times_s.iter_mut().zip(&times) {
                *least = least.min(*time);
            }
            let longest = times.iter().copied().enumerate();
            let Some((binding, time_s)) = longest.max_by(|a, b| a.1.total_cmp(&b.1)) else {
                continue;
            };
            if best.is_none_or(|(least_s, ..)| time_s < least_s * (1.0 - SAME_TIME)) {
                best = Some((time_s, concurrency, binding));
            }
        }
        let (time_s, concurrency, binding) = best.unwrap_or((0.0, 1.0, 0));
        Evaluation {
            limit_times_s,
            time_s,
            binding,
            concurrency,
            demands: Demands::from_fn(|demand| match demand {
                ServiceDemand::Fsyncs => flushes.as_ref().map(|it| it.at(concurrency)),
                _ => self.demand(demand, draw),
            }),
        }
    }

    /// The measured concurrencies, rising, and that of the peak of a model.
    pub(crate) fn concurrencies(&self, model: Option<UslModel>) -> Vec<f64> {
        let cells = self.cells.cells.iter();
        let measured: BTreeSet<u32> = cells.map(|cell| cell.concurrency).collect();
        let mut all: Vec<f64> = measured.into_iter().map(f64::from).collect();
        all.extend(model.map(|law| law.peak()));
        all.sort_by(f64::total_cmp);
        all
    }

    /// The law of this number of CPUs; `None` if they are no limit.
    pub(crate) fn cpu_law(&self, fitted: &FittedDraw<'_>, cpus: f64) -> Option<CpuLaw> {
        let demand_s = self.demand(ServiceDemand::Cpu, &fitted.draw);
        let target = CpuShare {
            demand_s: demand_s.filter(|it| *it > 0.0)?,
            cpus,
        };
        let series = self.series.as_ref().ok();
        let share = series.and_then(|series| series.cpu_share(&fitted.draw));
        Some(CpuLaw::on(target, fitted.law.zip(share)))
    }

    /// Flushes by concurrency; `None` if they were not counted.
    pub(crate) fn flush_curve(&self, draw: &Draw<'_>) -> Option<FlushCurve> {
        let cells = self.cells.cells.iter().enumerate();
        let measured: BTreeSet<u32> = cells.clone().map(|(_, it)| it.concurrency).collect();
        let points = measured.into_iter().filter_map(|concurrency| {
            let own = cells
                .clone()
                .filter(|(_, it)| it.concurrency == concurrency);
            let flushes = own.filter_map(|(at, _)| draw.demand(at, ServiceDemand::Fsyncs));
            Some((f64::from(concurrency), mean(flushes)?))
        });
        FlushCurve::new(points.collect())
    }

    /// Seconds of a limit that does not depend on the concurrency.
    fn time_s(&self, limit: Limit, draw: &Draw<'_>) -> f64 {
        let value = self.target.value(limit);
        value.map_or(0.0, |value| self.amount(limit, draw) / value)
    }

    /// What one operation demands of a limit that does not depend on the concurrency, in the limit's unit.
    pub(crate) fn amount(&self, limit: Limit, draw: &Draw<'_>) -> f64 {
        let demand = |it| self.demand(it, draw).unwrap_or(0.0);
        match limit {
            Limit::Cpus | Limit::Fsyncs => 0.0,
            Limit::Reads => demand(ServiceDemand::PageReads),
            Limit::Writes => demand(ServiceDemand::Writes),
            // A network has its speed in each direction.
            Limit::Network => {
                demand(ServiceDemand::ReceivedBytes).max(demand(ServiceDemand::SentBytes))
            }
        }
    }

    /// A demand of one operation on the target.
    ///
    /// Bytes do not depend on memory and concurrency: their mean is over all cells. CPU time and locks are those of the
    /// concurrency with the highest throughput, and reads and writes the means of all concurrencies, of each memory.
    pub(crate) fn demand(&self, demand: ServiceDemand, draw: &Draw<'_>) -> Option<f64> {
        let all_cells = 0..self.cells.cells.len();
        if matches!(
            demand,
            ServiceDemand::ReceivedBytes | ServiceDemand::SentBytes
        ) {
            return mean(all_cells.filter_map(|at| draw.demand(at, demand)));
        }
        let of_memory = |memory: usize| match demand {
            ServiceDemand::Cpu | ServiceDemand::LockWaits | ServiceDemand::LockTime => {
                draw.demand(self.fastest[memory]?, demand)
            }
            _ => {
                let own = all_cells.clone();
                let own = own.filter(|at| self.cells.cells[*at].memory == memory);
                mean(own.filter_map(|at| draw.demand(at, demand)))
            }
        };
        let memories: Vec<Option<f64>> = (0..self.fastest.len()).map(of_memory).collect();
        let is_reads = demand == ServiceDemand::PageReads;
        self.position.interpolate(&memories, is_reads)
    }
}

/// Page reads of each memory, over all its executions.
pub(crate) fn reads_of_memories(cells: &Cells<'_>) -> Vec<Option<f64>> {
    let all = cells.all();
    let memories = 0..cells.shares.len().max(1);
    let of_memory = |memory: usize| {
        let own = cells.cells.iter().enumerate();
        let own = own.filter(|(_, cell)| cell.memory == memory);
        mean(own.filter_map(|(at, _)| all.demand(at, ServiceDemand::PageReads)))
    };
    memories.map(of_memory).collect()
}
