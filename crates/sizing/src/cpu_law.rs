//! The throughput that a number of CPUs allows: the scaling model of the concurrency series, and the CPU time of an
//! operation.

use std::collections::BTreeSet;

use stats::{Point, UslModel, curve_residual};

use crate::{
    cells::{Cells, Draw},
    execution::Execution,
    service_demand::ServiceDemand,
};

/// Concurrencies from which the scaling model is fitted.
const CONCURRENCIES_AT_LEAST: usize = 4;
/// Largest residual of a usable model, as the root mean square of the logarithms.
const RESIDUAL_AT_MOST: f64 = 0.25;
/// Share of the CPUs from which on they count as used up; a limit of a run is reached from the same share on.
const USED_UP_FROM: f64 = 0.9;
/// Bounds whose residual is larger than that of the scaling model by no more than this describe a series as well, with
/// fewer parameters. They are off by more where contention is waiting for CPUs (`tests/queue_for_cpus.rs`).
const SAME_RESIDUAL: f64 = 0.05;

/// Why there is no scaling model of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NoLaw {
    /// Fewer than four concurrencies of one memory.
    FewConcurrencies,
    /// The highest throughput was limited by this resource, which is no property of the server.
    LimitedBy(&'static str),
    /// The points do not follow the model.
    Residual(f64),
    /// The throughput rose in proportion to the concurrency until this number of CPUs was used up: more CPUs may have
    /// contention that the series does not show.
    CpusUsedUp(f64),
}

impl NoLaw {
    /// Whether contention that was not measured may keep this number of CPUs from being used up.
    pub(crate) fn hides_contention(self, cpus: f64) -> bool {
        match self {
            Self::CpusUsedUp(used) => USED_UP_FROM * cpus > used,
            Self::FewConcurrencies | Self::LimitedBy(_) | Self::Residual(_) => true,
        }
    }
}

/// The executions of one memory at several concurrencies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// By rising concurrency.
    cells: Vec<usize>,
    /// The cell with the highest throughput.
    fastest: usize,
    pub(crate) measured_up_to: f64,
}

impl Series {
    /// The series with the most memory that has enough concurrencies: the one that waits least for its disk.
    pub(crate) fn of(cells: &Cells<'_>) -> Result<Self, NoLaw> {
        let memories: BTreeSet<usize> = cells.cells.iter().map(|it| it.memory).collect();
        let mut series = memories.into_iter().rev().filter_map(|memory| {
            let all = cells.cells.iter().enumerate();
            let own = all.filter(|(_, cell)| cell.memory == memory);
            let own: Vec<usize> = own.map(|(at, _)| at).collect();
            let is_enough = own.len() >= CONCURRENCIES_AT_LEAST;
            let fastest = cells.fastest(memory).filter(|_| is_enough)?;
            let concurrency = |at: &usize| f64::from(cells.cells[*at].concurrency);
            Some(Self {
                measured_up_to: own.iter().map(concurrency).fold(0.0, f64::max),
                cells: own,
                fastest,
            })
        });
        let series = series.next().ok_or(NoLaw::FewConcurrencies)?;
        let all = cells.all();
        let limits: Vec<_> = all
            .of_cell(series.fastest)
            .map(|it| it.limited_by)
            .collect();
        let foreign: Vec<&'static str> = limits.iter().copied().flatten().collect();
        match foreign.first().copied() {
            Some(name) if 2 * foreign.len() > limits.len() => Err(NoLaw::LimitedBy(name)),
            _ => Ok(series),
        }
    }

    /// The model of the executions of a draw, searched from the model of all; an error if it does not describe them.
    ///
    /// Source: least squares of logarithms, [`stats::scalability`].
    pub(crate) fn fit(&self, draw: &Draw<'_>, near: Option<&UslModel>) -> Result<UslModel, NoLaw> {
        let executions = self.cells.iter().flat_map(|cell| draw.of_cell(*cell));
        let points: Vec<Point> = executions
            .map(|it| Point {
                concurrency: f64::from(it.concurrency),
                throughput_per_s: it.throughput_per_s,
            })
            .collect();
        let law = stats::usl_fit(&points, near).ok_or(NoLaw::FewConcurrencies)?;
        // Draws may repeat a bad execution; the model of all decides.
        if near.is_none() {
            let residual = law.residual(&points);
            if let Some(used) = self.used_up_cpus(draw, &points, residual) {
                return Err(NoLaw::CpusUsedUp(used));
            }
            if residual > RESIDUAL_AT_MOST {
                return Err(NoLaw::Residual(residual));
            }
        }
        Ok(law)
    }

    /// The CPUs that were used up without contention: the asymptotic bounds min(N / S, m / D) describe the points as
    /// well as a scaling model with this residual. `None` if they do not, or if CPUs were left.
    ///
    /// A scaling model of such points is wrong for more CPUs: it takes the knee for coherency, which would stay.
    ///
    /// Source: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", Computing Surveys
    /// 10 (1978), asymptotic bounds.
    fn used_up_cpus(&self, draw: &Draw<'_>, points: &[Point], residual: f64) -> Option<f64> {
        let share = self.cpu_share(draw)?;
        let highest_per_s = draw.mean(self.fastest, |it| Some(it.throughput_per_s))?;
        let used = (highest_per_s * share.demand_s).min(share.cpus);
        let of_one = |it: &Execution| Some(it.throughput_per_s / f64::from(it.concurrency));
        let of_one_per_s = draw.mean(*self.cells.first()?, of_one)?;
        // The measured m / D: its error is no part of the shape.
        let bounds = |concurrency: f64| (of_one_per_s * concurrency).min(highest_per_s);
        let is_as_good = curve_residual(points, bounds) <= residual + SAME_RESIDUAL;
        (is_as_good && used >= USED_UP_FROM * share.cpus).then_some(used)
    }

    /// The share of contention that is waiting for the measured CPUs; `None` if they were not observed.
    pub(crate) fn cpu_share(&self, draw: &Draw<'_>) -> Option<CpuShare> {
        let demand_s = draw.demand(self.fastest, ServiceDemand::Cpu);
        Some(CpuShare {
            demand_s: demand_s.filter(|it| *it > 0.0)?,
            cpus: draw.mean(self.fastest, |it| Some(it.cpus?.available))?,
        })
    }
}

/// CPU time of an operation, and CPUs for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuShare {
    /// CPU time of one operation, seconds.
    pub(crate) demand_s: f64,
    pub(crate) cpus: f64,
}

/// The throughput on the CPUs of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuLaw {
    /// The scaling model on the target; `None` if contention is not known.
    pub(crate) model: Option<UslModel>,
    /// Operations per second that use all CPUs.
    pub(crate) all_used_per_s: f64,
}

impl CpuLaw {
    /// The law on the target's CPUs, from a model and the CPUs of its series.
    ///
    /// Never more operations than their CPU time allows (utilisation law: X ≤ cpus / D). Of the measured contention σ,
    /// the part λD / cpus is waiting for CPUs: a closed system whose only queue is for a resource with service time S has
    /// the throughput λN / (1 + λS (N - 1)) of the scaling model with σ = λS and κ = 0 (synchronous repairman), and
    /// S = D / cpus. On the target this part is λD' / cpus', and the rest of σ, λ and κ stay as measured. If σ is
    /// smaller than λD / cpus, as below the knee of a queue, all of it is waiting for CPUs, and changes by this factor.
    ///
    /// Source: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", Computing Surveys 10
    /// (1978), for the utilisation law; N. J. Gunther, "Guerrilla Capacity Planning" (2007), chapters 4 and 6 and appendix
    /// A, for the synchronous repairman.
    pub(crate) fn on(target: CpuShare, measured: Option<(UslModel, CpuShare)>) -> Self {
        let model = measured.map(|(law, measured)| {
            let service_s = |share: CpuShare| share.demand_s / share.cpus;
            let waiting = (law.single_per_s * service_s(measured)).min(law.contention);
            let change = waiting * (service_s(target) / service_s(measured) - 1.0);
            UslModel {
                contention: (law.contention + change).clamp(0.0, 1.0),
                ..law
            }
        });
        Self {
            model,
            all_used_per_s: target.cpus / target.demand_s,
        }
    }

    /// Operations per second at a concurrency.
    pub(crate) fn at(&self, concurrency: f64) -> f64 {
        let by_model = self.model.map(|law| law.at(concurrency));
        by_model.map_or(self.all_used_per_s, |it| it.min(self.all_used_per_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{execution::ServerCpus, service_demand::Demands, testing::execution};

    const LAW: UslModel = UslModel {
        single_per_s: 1000.0,
        contention: 0.03,
        coherency: 0.0008,
    };

    fn executions(up_to: u32) -> Vec<Execution> {
        let blocks = (1..=2).flat_map(|block| (0..=up_to).map(move |power| (block, 1 << power)));
        blocks
            .map(|(block, concurrency)| Execution {
                throughput_per_s: LAW.at(f64::from(concurrency)),
                ..execution(0.5, concurrency, block)
            })
            .collect()
    }

    #[test]
    fn more_cpus_take_their_part_of_the_contention_away() {
        // λD / cpus = 1000 · 60 µs / 2 = 0.03: all of the contention is waiting for the two CPUs.
        let share = |cpus| CpuShare {
            demand_s: 60e-6,
            cpus,
        };
        let on = |cpus| CpuLaw::on(share(cpus), Some((LAW, share(2.0))));
        assert!((on(2.0).at(16.0) - LAW.at(16.0)).abs() < 1e-9);
        let eight = on(8.0).model.unwrap();
        // 0.03 · 2 / 8; the peak is at √(0.9925 / 0.0008).
        assert!((eight.contention - 0.0075).abs() < 1e-12);
        assert!((eight.peak() - 35.2225).abs() < 1e-3);
        // 1000 · 35.2225 / (1 + 0.0075 · 34.2225 + 0.0008 · 35.2225 · 34.2225).
        assert!((on(8.0).at(eight.peak()) - 15_858.9).abs() < 1.0);
        // 8 / 60 µs.
        assert!((on(8.0).all_used_per_s - 133_333.3).abs() < 0.1);
        // On half a CPU it is 0.12, and no more than 0.5 / 60 µs.
        assert!((on(0.5).model.unwrap().contention - 0.12).abs() < 1e-12);
        assert!((on(0.01).at(64.0) - 166.6667).abs() < 1e-3);
        let bound = CpuLaw::on(share(8.0), None);
        assert_eq!(bound.at(1.0), bound.all_used_per_s);
    }

    #[test]
    fn contention_for_locks_stays() {
        // Only 0.003 of 0.03 are the CPUs'.
        let share = |cpus| CpuShare {
            demand_s: 6e-6,
            cpus,
        };
        let eight = CpuLaw::on(share(8.0), Some((LAW, share(2.0))));
        assert!((eight.model.unwrap().contention - 0.02775).abs() < 1e-12);
    }

    #[test]
    fn below_the_knee_of_a_queue_no_contention_is_added() {
        // S = 1 ms, of which 500 µs are CPU time: λD / cpus = 0.125 is no contention that was measured.
        let line = UslModel {
            single_per_s: 1000.0,
            contention: 0.0,
            coherency: 1e-12,
        };
        let share = |cpus| CpuShare {
            demand_s: 500e-6,
            cpus,
        };
        let two = CpuLaw::on(share(2.0), Some((line, share(4.0))));
        // N / S, and 2 / 500 µs from 4 connections on.
        for (connections, per_s) in [(1.0, 1000.0), (3.0, 3000.0), (6.0, 4000.0)] {
            assert!((two.at(connections) - per_s).abs() < 1e-3, "{connections}");
        }
    }

    /// The queue of 4 CPUs where an operation takes 1 ms, `share` of it CPU time: min(N / 1 ms, 4 / D).
    fn queue(share: f64, concurrencies: &[u32]) -> Vec<Execution> {
        let demand_s = share * 1e-3;
        let blocks = (1..=2).flat_map(|block| concurrencies.iter().map(move |it| (block, *it)));
        blocks
            .map(|(block, concurrency)| Execution {
                throughput_per_s: (f64::from(concurrency) * 1e3).min(4.0 / demand_s),
                demands: Demands::from_fn(|_| Some(demand_s)),
                cpus: Some(ServerCpus {
                    count: 4.0,
                    available: 4.0,
                }),
                ..execution(0.5, concurrency, block)
            })
            .collect()
    }

    fn fitted(executions: &[Execution]) -> Result<UslModel, NoLaw> {
        let cells = Cells::of(executions).unwrap();
        Series::of(&cells).and_then(|it| it.fit(&cells.all(), None))
    }

    #[test]
    fn a_queue_that_used_up_the_cpus_shows_no_contention() {
        for share in [0.1, 0.3, 0.5, 0.7, 0.9, 1.0] {
            let Err(NoLaw::CpusUsedUp(used)) = fitted(&queue(share, &[1, 4, 16, 64])) else {
                panic!("{share}");
            };
            assert!((used - 4.0).abs() < 1e-9, "{share}: {used}");
        }
        let used_up = NoLaw::CpusUsedUp(4.0);
        // 90 % of 4.4 CPUs are 3.96.
        let hides = [1.0, 4.0, 4.4, 8.0].map(|cpus| used_up.hides_contention(cpus));
        assert_eq!(hides, [false, false, false, true]);
        assert!(NoLaw::FewConcurrencies.hides_contention(1.0));
        // Up to 16 connections, 16 · 10 % of the 4 CPUs are busy: a straight line.
        let line = fitted(&queue(0.1, &[1, 2, 4, 8, 16])).unwrap();
        assert!(line.contention < 1e-4 && line.coherency < 1e-4, "{line:?}");
    }

    #[test]
    fn the_series_gives_the_law_back() {
        let executions = executions(6);
        let cells = Cells::of(&executions).unwrap();
        let series = Series::of(&cells).unwrap();
        assert_eq!(series.measured_up_to, 64.0);
        let law = series.fit(&cells.all(), None).unwrap();
        assert!((law.contention - LAW.contention).abs() < 1e-4, "{law:?}");
        assert!((law.coherency - LAW.coherency).abs() < 1e-6);
        let share = series.cpu_share(&cells.all()).unwrap();
        assert_eq!((share.demand_s, share.cpus), (1.0, 2.0));
    }

    #[test]
    fn a_series_that_says_nothing_of_the_cpus_is_refused() {
        let refused = |executions: &[Execution]| fitted(executions).unwrap_err();
        assert_eq!(refused(&executions(2)), NoLaw::FewConcurrencies);
        let mut limited = executions(6);
        limited
            .iter_mut()
            .for_each(|it| it.limited_by = Some("disk"));
        assert_eq!(refused(&limited), NoLaw::LimitedBy("disk"));
        let mut saw = executions(6);
        for it in &mut saw {
            if it.concurrency.ilog2() % 2 == 1 {
                it.throughput_per_s /= 20.0;
            }
        }
        assert!(matches!(refused(&saw), NoLaw::Residual(share) if share > 0.25));
    }
}
