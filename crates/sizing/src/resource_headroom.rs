//! The headroom of one resource of a running server: its use over time, and its limit with the origin.

use crate::{
    day_bootstrap::{PeakInterval, interval_of_days},
    days::Day,
    limit::Limit,
    load_curve::LoadCurve,
    moment::{clock, date},
    observed_limit::LimitSource,
    resource::{Resource, SHARE_WITH_RESERVE},
    target::Target,
};

/// Where the value of a limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The files with the load state it.
    Observed(LimitSource),
    /// `dbdyno storage` measured it.
    Measured,
    /// `--target` names it.
    Assumed,
}

impl Origin {
    /// In one word: `observed`, `measured` or `assumed`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observed(_) => "observed",
            Self::Measured => "measured",
            Self::Assumed => "assumed",
        }
    }

    /// What states, measured or named it.
    pub fn by(self) -> &'static str {
        match self {
            Self::Observed(source) => source.in_words(),
            Self::Measured => "dbdyno storage",
            Self::Assumed => "--target",
        }
    }
}

/// A limit of a resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownLimit {
    /// In the unit of the resource: of the log, flushes per second.
    pub value: f64,
    pub origin: Origin,
}

/// The observed use of a resource. Its values are those of steps of the observed time.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedUse {
    pub peak: f64,
    /// When it was, as text.
    pub at: String,
    /// Value that 95 % of the steps do not exceed.
    pub p95: f64,
    /// Of the peak; `None` for fewer than three days.
    pub interval: Option<PeakInterval>,
}

/// One resource of a running server.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceHeadroom {
    pub resource: Resource,
    /// `None` if the files do not have it.
    pub used: Option<ObservedUse>,
    /// `None` if it is not known.
    pub limit: Option<KnownLimit>,
}

/// How many times a load fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    pub estimate: f64,
    /// Its ends; `None` for fewer than three days.
    pub interval: Option<(f64, f64)>,
}

impl Times {
    /// Utilisation law: a resource that is used to the share U by a load X is used completely by X / U, if use and load
    /// are proportional. With the reserve, it counts as used up earlier. `None` for a resource that is not used.
    ///
    /// Source: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", Computing Surveys
    /// 10, 1978: U = X S.
    pub(crate) fn of(utilisation: f64, ends: Option<PeakInterval>) -> Option<Self> {
        let times = |utilisation: f64| SHARE_WITH_RESERVE / utilisation;
        (utilisation > 0.0).then(|| Self {
            estimate: times(utilisation),
            interval: ends.map(|it| (times(it.high), times(it.low))),
        })
    }
}

impl ResourceHeadroom {
    pub(crate) fn of(
        resource: Resource,
        curve: &LoadCurve,
        days: &[Day],
        step_s: u32,
        limits: &NamedLimits<'_>,
    ) -> Self {
        Self {
            resource,
            used: observed_use(resource, days, step_s),
            limit: limits.of(resource, curve),
        }
    }

    /// Share of the limit that was used at the peak; `None` without a limit or an observed use.
    pub fn utilisation(&self) -> Option<f64> {
        Some(self.used.as_ref()?.peak / self.limit?.value)
    }

    /// How many times the peak fits. `None` if that is not known, without any use, and for memory, which is not
    /// proportional to the load.
    pub fn times(&self) -> Option<Times> {
        let utilisation = self.utilisation().filter(|_| self.is_counted())?;
        let limit = self.limit?.value;
        let interval = self.used.as_ref()?.interval;
        let interval = interval.map(|it| PeakInterval {
            low: it.low / limit,
            high: it.high / limit,
        });
        Times::of(utilisation, interval)
    }

    /// Whether it counts for the headroom of the server.
    pub fn is_counted(&self) -> bool {
        !self.resource.is_level()
    }
}

/// The limits that do not come from the files with the load.
pub(crate) struct NamedLimits<'a> {
    pub(crate) target: &'a Target,
    pub(crate) disk: &'a Target,
}

impl NamedLimits<'_> {
    /// The limit of a resource: a named one before a measured one, and that before one that the files state.
    fn of(&self, resource: Resource, curve: &LoadCurve) -> Option<KnownLimit> {
        let known = |origin: Origin| move |value: f64| KnownLimit { value, origin };
        let named = value(self.target, resource).map(known(Origin::Assumed));
        let measured = value(self.disk, resource).map(known(Origin::Measured));
        let observed = curve.limit(resource);
        let observed = observed.map(|it| known(Origin::Observed(it.source))(it.value));
        named.or(measured).or(observed)
    }
}

/// The limit of a resource that a target names, in the unit of the resource.
fn value(target: &Target, resource: Resource) -> Option<f64> {
    match resource {
        Resource::Memory => target.memory_bytes.map(|bytes| bytes as f64),
        // Flushes of the log happen one after the other.
        Resource::LogFlushes => target.fsync_s.map(|seconds| 1.0 / seconds),
        _ => target.value(throughput_limit(resource)?),
    }
}

/// The limit of a throughput that a resource is; `None` for memory and bytes of a disk.
pub(crate) fn throughput_limit(resource: Resource) -> Option<Limit> {
    match resource {
        Resource::Cpus => Some(Limit::Cpus),
        Resource::Reads => Some(Limit::Reads),
        Resource::Writes => Some(Limit::Writes),
        Resource::LogFlushes => Some(Limit::Fsyncs),
        Resource::Network => Some(Limit::Network),
        Resource::Memory | Resource::ReadBytes | Resource::WrittenBytes => None,
    }
}

fn observed_use(resource: Resource, days: &[Day], step_s: u32) -> Option<ObservedUse> {
    let by_day = days.iter().map(|day| (day.date, values(day, resource)));
    let by_day: Vec<(i64, Vec<(usize, f64)>)> = by_day.collect();
    let all = by_day.iter().flat_map(|(date, values)| {
        values
            .iter()
            .map(move |(step, value)| (*date, *step, *value))
    });
    let (day, step, peak) = all.reduce(|peak, next| if next.2 > peak.2 { next } else { peak })?;
    let daily = by_day.iter().filter_map(|(_, values)| highest(values));
    let daily: Vec<f64> = daily.collect();
    let values = by_day.iter().flat_map(|(_, values)| values);
    Some(ObservedUse {
        peak,
        at: format!("{} {}", date(day), clock(step as u32 * step_s)),
        p95: percentile_95(values.map(|(_, value)| *value).collect()),
        interval: interval_of_days(&daily),
    })
}

/// The steps of a day that have a value.
fn values(day: &Day, resource: Resource) -> Vec<(usize, f64)> {
    let steps = day.steps.iter().enumerate();
    steps
        .filter_map(|(at, step)| Some((at, step[resource.index()]?)))
        .collect()
}

fn highest(values: &[(usize, f64)]) -> Option<f64> {
    values.iter().map(|(_, value)| *value).reduce(f64::max)
}

/// The smallest of these values that at least 95 % of them do not exceed. There is at least one.
///
/// Source: R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996,
/// definition 1.
fn percentile_95(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * 95).div_ceil(100);
    values[rank - 1]
}

/// The highest use of a resource on a day; `None` if the day has none.
pub(crate) fn peak_of_day(day: &Day, resource: Resource) -> Option<f64> {
    highest(&values(day, resource))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_one_of_the_values() {
        let up_to = |count: u32| percentile_95((1..=count).map(f64::from).collect());
        // Ranks: 95 of 100, 23 of 24 (22.8 rounded up), 19 of 20, 1 of 1.
        assert_eq!([100, 24, 20, 1].map(up_to), [95.0, 23.0, 19.0, 1.0]);
    }

    #[test]
    fn the_reserve_is_a_fifth_of_each_limit() {
        // 0.8 / 0.5; the ends 0.8 / 0.5 and 0.8 / 0.4.
        let ends = PeakInterval {
            low: 0.4,
            high: 0.5,
        };
        let times = Times::of(0.5, Some(ends)).unwrap();
        assert_eq!((times.estimate, times.interval), (1.6, Some((1.6, 2.0))));
        assert_eq!(Times::of(0.0, None), None);
    }

    #[test]
    fn a_named_limit_comes_before_a_measured_and_an_observed_one() {
        let mut curve = LoadCurve::new("a", "sadf");
        curve.set_cpus(8);
        let target = crate::target::parse_target("write_iops=100,fsync=2ms").unwrap();
        let disk = crate::target::parse_target("write_iops=300,read_iops=200").unwrap();
        let limits = NamedLimits {
            target: &target,
            disk: &disk,
        };
        let of = |resource| {
            let limit: Option<KnownLimit> = limits.of(resource, &curve);
            limit.map(|it| (it.value, it.origin.name()))
        };
        assert_eq!(of(Resource::Writes), Some((100.0, "assumed")));
        assert_eq!(of(Resource::Reads), Some((200.0, "measured")));
        assert_eq!(of(Resource::Cpus), Some((8.0, "observed")));
        // 1 / 2 ms.
        assert_eq!(of(Resource::LogFlushes), Some((500.0, "assumed")));
        assert_eq!(of(Resource::Network), None);
    }
}
