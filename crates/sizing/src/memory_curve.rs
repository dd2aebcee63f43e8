//! The predicted throughput of a target as a function of data/memory, and its cliff.

use stats::{Interval, interval_of_draws};

use crate::{
    capacity_model::CapacityModel,
    cells::{Cells, is_same_share},
    error::Error,
    execution::Executions,
    fitted_draws::FittedDraws,
    limit::Limit,
    limit_outcome::{NO_MEMORY_KNOWN, cpus_not_measured, not_measured},
    memory_position::{MemoryPosition, SHARES_AT_LEAST, TargetData},
    prediction::{COMPUTED_CONFIDENCE, PredictionRequest, interval, inverse},
    target::Target,
    target_data::target_data,
};

/// Approximate number of steps from the smallest to the largest measured data/memory.
const STEPS: f64 = 30.0;
/// Times of an operation at the cliff, in multiples of that at the smallest measured data/memory.
const CLIFF: f64 = 2.0;

/// The predicted throughput of a target for data of different sizes with the target's buffer pool.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryCurve {
    /// From the smallest to the largest measured data/memory.
    pub points: Vec<CurvePoint>,
    /// Data/memory of the target.
    pub today: f64,
    pub data_bytes: u64,
    pub buffer_pool_bytes: u64,
    /// Where the throughput is half of that at the smallest measured data/memory.
    pub cliff: Crossing,
}

/// The throughput at one data/memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Size of the data divided by the size of the buffer pool.
    pub data_by_memory: f64,
    /// Operations per second.
    pub per_s: Interval,
    /// The limit that binds.
    pub binding: Limit,
    /// Whether demands were measured at this data/memory, and not interpolated.
    pub is_measured: bool,
    /// Time of an operation divided by that at the smallest measured data/memory.
    slowdown: Interval,
}

/// The data/memory at which the throughput falls to a level; `None` where it does not within what was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    pub estimate: Option<f64>,
    /// By the lower end of the throughput's interval; known if the estimate is.
    pub earliest: Option<f64>,
    /// By its upper end; known only if the estimate is.
    pub latest: Option<f64>,
}

/// The curve from the smallest to the largest measured data/memory, or what would have to be measured for it.
///
/// Each point is the prediction for data of this size: the demands at measured points are those of the executions, and
/// between them they are interpolated as for any target. All points have the same draws of the executions, so that the
/// interval of the cliff contains only what differs between its points.
///
/// An error in the cases of [`crate::predict`].
pub fn memory_curve(
    executions: &Executions,
    request: &PredictionRequest,
) -> Result<Result<MemoryCurve, String>, Error> {
    let target = &request.target;
    let limits: Vec<Limit> = target.limits().map(|(limit, _)| limit).collect();
    if limits.is_empty() {
        return Err(Error::NoLimit);
    }
    let cells = Cells::of(&executions.all)?;
    let data = target_data(target, &cells, request.zipf.unwrap_or(0.0))?;
    let Some(data) = data.filter(|_| !cells.shares.is_empty()) else {
        return Ok(Err(NO_MEMORY_KNOWN.to_owned()));
    };
    if let Some(why) = missing(target, &limits, &cells) {
        return Ok(Err(why));
    }
    let mut model = CapacityModel::new(&cells, target, MemoryPosition::At(0), limits);
    let fitted = FittedDraws::of(&model, cells.draws(request.draws), COMPUTED_CONFIDENCE);
    let mut points = Vec::new();
    let mut first: Option<Times> = None;
    for (share, position) in places(&data, &cells.shares) {
        model.position = position;
        let (all, each) = fitted.evaluate(&model);
        let times = Times {
            estimate: all.time_s,
            draws: each.iter().map(|it| it.time_s).collect(),
            executions: cells.fewest(),
        };
        let slowdown = times.relative_to(first.as_ref().unwrap_or(&times));
        let Some(slowdown) = slowdown.filter(|_| times.estimate > 0.0) else {
            return Ok(Err(unbounded(share)));
        };
        points.push(CurvePoint {
            data_by_memory: 1.0 / share,
            per_s: inverse(interval(times.estimate, &times.draws, times.executions)),
            binding: model.limits[all.binding],
            is_measured: matches!(position, MemoryPosition::At(_)),
            slowdown,
        });
        first.get_or_insert(times);
    }
    Ok(Ok(MemoryCurve {
        today: 1.0 / data.share,
        data_bytes: data.bytes,
        buffer_pool_bytes: buffer_pool(&data).round() as u64,
        cliff: crossing(&points, |it| it.slowdown, CLIFF),
        points,
    }))
}

impl MemoryCurve {
    /// Where the throughput falls below a rate, operations per second.
    pub fn below(&self, per_s: f64) -> Crossing {
        crossing(&self.points, |it| inverse(it.per_s), 1.0 / per_s)
    }

    /// The smallest and the largest measured data/memory.
    pub fn ends(&self) -> [CurvePoint; 2] {
        [self.points[0], self.points[self.points.len() - 1]]
    }

    /// Whether the target has more data/memory than was measured.
    pub(crate) fn is_beyond(&self) -> bool {
        let [_, last] = self.ends();
        let is_same = is_same_share(1.0 / self.today, 1.0 / last.data_by_memory);
        self.today > last.data_by_memory && !is_same
    }
}

/// Seconds for one operation, by all executions and by each draw of them.
struct Times {
    estimate: f64,
    draws: Vec<f64>,
    /// The smallest number of executions of a combination.
    executions: usize,
}

impl Times {
    /// The times divided by others of the same draws; `None` if one of those is 0.
    fn relative_to(&self, base: &Self) -> Option<Interval> {
        let pairs = self.draws.iter().zip(&base.draws);
        let ratios: Vec<f64> = pairs.map(|(it, base)| it / base).collect();
        let estimate = self.estimate / base.estimate;
        interval_of_draws(estimate, &ratios, self.executions, COMPUTED_CONFIDENCE)
    }
}

/// What was not measured for the curve of a target; `None` if all was.
fn missing(target: &Target, limits: &[Limit], cells: &Cells<'_>) -> Option<String> {
    let mut limits = limits.iter();
    let of_limit = limits.find_map(|limit| match limit {
        Limit::Cpus => cpus_not_measured(cells, target.cpus?),
        _ => not_measured(*limit, cells),
    });
    of_limit.or_else(|| {
        let measured = cells.shares.len();
        let is_enough = measured >= SHARES_AT_LEAST;
        (!is_enough).then(|| {
            format!(
                "{SHARES_AT_LEAST} or more buffer pools or sizes of the data are needed, and the records have {measured}"
            )
        })
    })
}

fn unbounded(share: f64) -> String {
    format!(
        "the named limits do not bound the throughput at data/memory {}; name another one, for example cpus",
        units::si(1.0 / share)
    )
}

/// Bytes of the target's buffer pool.
fn buffer_pool(data: &TargetData) -> f64 {
    data.share * data.bytes as f64
}

/// Shares of the data in memory from the largest to the smallest measured one, with their positions: the measured ones,
/// and others at equal distances of their logarithms.
fn places(data: &TargetData, shares: &[f64]) -> Vec<(f64, MemoryPosition)> {
    let last = shares.len() - 1;
    let whole = (shares[last] / shares[0]).ln();
    let mut places = Vec::new();
    for lower in (0..last).rev() {
        let (from, to) = (shares[lower + 1], shares[lower]);
        places.push((from, MemoryPosition::At(lower + 1)));
        let steps = (STEPS * (from / to).ln() / whole).round().max(1.0);
        for step in 1..steps as u32 {
            let share = from * (to / from).powf(f64::from(step) / steps);
            let grown = TargetData {
                share,
                bytes: (buffer_pool(data) / share) as u64,
                zipf: data.zipf,
            };
            places.push((share, MemoryPosition::between(&grown, shares, lower)));
        }
    }
    places.push((shares[0], MemoryPosition::At(0)));
    places
}

/// Where the time of an operation reaches a level, by its estimate and by the ends of its interval.
fn crossing(points: &[CurvePoint], time: impl Fn(&CurvePoint) -> Interval, level: f64) -> Crossing {
    let first = |end: fn(Interval) -> f64| {
        let values = points
            .iter()
            .map(|it| (it.data_by_memory, end(time(it))))
            .collect::<Vec<_>>();
        first_reaching(&values, level)
    };
    Crossing {
        estimate: first(|it| it.estimate),
        earliest: first(|it| it.high),
        latest: first(|it| it.low),
    }
}

/// The first data/memory with at least this value; between two points, times are on a straight line over the share of the
/// data in memory, as page reads of uniform requests are.
fn first_reaching(values: &[(f64, f64)], level: f64) -> Option<f64> {
    let reached = values.iter().position(|(_, value)| *value >= level)?;
    let (data_by_memory, value) = values[reached];
    let before = reached.checked_sub(1).map(|at| values[at]);
    let Some((before, below)) = before else {
        return Some(data_by_memory);
    };
    let weight = (level - below) / (value - below);
    let share = 1.0 / before + weight * (1.0 / data_by_memory - 1.0 / before);
    Some(1.0 / share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        execution::Execution,
        service_demand::{Demands, ServiceDemand},
        target::parse_target,
        testing::execution,
    };

    /// Two blocks of executions of 1 GB of data with these shares in memory, which read 1 - share pages each and take 100 µs
    /// of CPU time.
    fn executions(shares: &[f64]) -> Executions {
        let blocks = [1, 2].into_iter();
        let all = blocks.flat_map(|block| shares.iter().map(move |share| (block, *share)));
        let all = all.map(|(block, share)| Execution {
            demands: Demands::from_fn(|demand| match demand {
                ServiceDemand::Cpu => Some(100e-6),
                ServiceDemand::PageReads => Some(1.0 - share),
                _ => None,
            }),
            ..execution(share, 4, block)
        });
        Executions::of("made".to_owned(), all.collect())
    }

    fn curve(target: &str, shares: &[f64]) -> Result<MemoryCurve, String> {
        let request = PredictionRequest {
            target: parse_target(target).unwrap(),
            zipf: None,
            draws: 10,
        };
        memory_curve(&executions(shares), &request).unwrap()
    }

    const SHARES: [f64; 3] = [0.2, 0.5, 0.8];

    fn is_near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-3)
    }

    #[test]
    fn the_cliff_is_where_an_operation_takes_twice_as_long() {
        // 500 reads/s and 0.2 page reads each: 2500 operations/s with 80 % in memory, half of it with 0.4 page reads,
        // which is 60 % in memory, or data/memory 1 / 0.6.
        let curve = curve("buffer_pool=500K,data=1M,read_iops=500", &SHARES).unwrap();
        let [first, last] = curve.ends();
        assert!((first.per_s.estimate - 2500.0).abs() < 1e-6, "{first:?}");
        assert!((last.per_s.estimate - 625.0).abs() < 1e-6, "{last:?}");
        let ends = (first.data_by_memory, last.data_by_memory);
        assert!((ends.0 - 1.25).abs() < 1e-6 && (ends.1 - 5.0).abs() < 1e-6);
        let Crossing {
            estimate,
            earliest,
            latest,
        } = curve.cliff;
        // All executions are the same, so that the interval is the estimate.
        for found in [estimate, earliest, latest] {
            assert!(is_near(found, 1.0 / 0.6), "{:?}", curve.cliff);
        }
        // 1000 operations/s with 0.5 page reads each.
        assert!(is_near(curve.below(1000.0).estimate, 2.0));
        assert_eq!(curve.below(600.0).estimate, None);
        assert!((curve.today - 2.048).abs() < 1e-6, "{}", curve.today);
    }

    #[test]
    fn the_limit_that_binds_changes_along_the_curve() {
        // One CPU does 10,000 operations/s. The reads allow less than that from 1 - 0.3 in memory on: 3000 / 0.3.
        let curve = curve("buffer_pool=500K,data=1M,cpus=1,read_iops=3000", &SHARES).unwrap();
        let bound = |limit: Limit| curve.points.iter().filter(move |it| it.binding == limit);
        assert!(bound(Limit::Cpus).all(|it| it.data_by_memory <= 1.0 / 0.7 + 1e-9));
        assert!(bound(Limit::Reads).all(|it| it.data_by_memory >= 1.0 / 0.7 - 1e-9));
        // Half of 10,000 with 0.6 page reads each.
        assert!(is_near(curve.cliff.estimate, 2.5), "{:?}", curve.cliff);
    }

    #[test]
    fn about_thirty_points_contain_the_measured_ones() {
        let curve = curve("buffer_pool=500K,data=1M,read_iops=500", &SHARES).unwrap();
        let count = curve.points.len();
        assert!((29..=33).contains(&count), "{count}");
        let measured = curve.points.iter().filter(|it| it.is_measured);
        let measured: Vec<String> = measured.map(|it| units::si(it.data_by_memory)).collect();
        assert_eq!(measured, ["1.25", "2.00", "5.00"]);
        let is_rising = |pair: &[CurvePoint]| pair[0].data_by_memory < pair[1].data_by_memory;
        assert!(curve.points.windows(2).all(is_rising));
    }

    #[test]
    fn without_enough_measurements_there_is_no_curve() {
        for (target, shares, why) in [
            (
                "data=1M,buffer_pool=500K,read_iops=500",
                &SHARES[..2],
                "3 or more buffer pools or sizes of the data are needed",
            ),
            (
                "data=1M,buffer_pool=500K,write_iops=500",
                &SHARES[..],
                "writes were not counted",
            ),
            (
                "data=1M,buffer_pool=500K,cpus=9",
                &SHARES[..],
                "more than 4 times",
            ),
            (
                "data=1M,buffer_pool=500K,read_iops=500",
                &[0.2, 0.5, 1.0][..],
                "the named limits do not bound the throughput at data/memory 1.00",
            ),
        ] {
            let found = curve(target, shares).unwrap_err();
            assert!(found.contains(why), "{target}: {found}");
        }
    }

    #[test]
    fn the_interval_of_the_cliff_is_that_of_the_slowdown() {
        let point = |data_by_memory: f64, slowdown: f64| CurvePoint {
            data_by_memory,
            per_s: Interval {
                estimate: 1000.0 / slowdown,
                low: 800.0 / slowdown,
                high: 1250.0 / slowdown,
            },
            binding: Limit::Reads,
            is_measured: true,
            slowdown: Interval {
                estimate: slowdown,
                low: slowdown * 0.8,
                high: slowdown * 1.25,
            },
        };
        let points = [point(1.0, 1.0), point(2.0, 1.8), point(4.0, 2.4)];
        let cliff = crossing(&points, |it| it.slowdown, CLIFF);
        // A third of the way from 1/2 to 1/4: 2 = 1.8 + 0.6 / 3.
        assert!(
            is_near(cliff.estimate, 1.0 / (0.5 - 0.25 / 3.0)),
            "{cliff:?}"
        );
        // 1.25 to 2.25 over 1 to 1/2: three quarters of the way.
        assert!(is_near(cliff.earliest, 1.0 / (1.0 - 0.375)), "{cliff:?}");
        // 0.8 · 2.4 is less than 2.
        assert_eq!(cliff.latest, None);
    }
}
