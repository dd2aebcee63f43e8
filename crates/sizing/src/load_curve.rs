//! The load of one system over time.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::Error,
    moment::DAY_S,
    observed_limit::{LimitSource, ObservedLimit},
    resource::{Demand, Resource},
};

/// What one system used in one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Start, seconds since 1970 of the clock that the file has.
    pub(crate) start_s: f64,
    pub(crate) length_s: f64,
    pub(crate) demand: Demand,
    /// Share of the CPUs in use, where the file has no number of CPUs beside it.
    pub(crate) cpu_share: Option<f64>,
}

/// The load of one system over time, of one file or of several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadCurve {
    /// The name of the system.
    pub name: String,
    /// The kinds of its files: `sadf`, `iostat`, `CloudWatch`, `run record`.
    pub(crate) kinds: BTreeSet<&'static str>,
    /// The names of the machines in its files.
    pub(crate) hosts: BTreeSet<String>,
    pub(crate) samples: Vec<Sample>,
    /// What the server itself used and counted, which is not added up over systems; only in run records.
    pub(crate) server_samples: Vec<Sample>,
    /// The limits that its files state.
    pub(crate) limits: BTreeMap<Resource, ObservedLimit>,
    /// The limits of the server itself in its run records, as text.
    pub(crate) server_limits: BTreeSet<String>,
    /// The combinations of levels in its run records, as text.
    pub(crate) combinations: BTreeSet<String>,
    /// Whether its times are in UTC: true and false if its files differ.
    pub(crate) is_utc: BTreeSet<bool>,
    /// Number of CPUs; `None` if the file does not have it.
    pub(crate) cpus: Option<u32>,
    /// Number of samples that tell nothing of a time of day.
    left_out: usize,
    /// What was left out while reading, as text.
    pub(crate) remarks: Vec<String>,
}

impl LoadCurve {
    pub(crate) fn new(name: &str, kind: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            kinds: BTreeSet::from([kind]),
            ..Self::default()
        }
    }

    /// Adds a sample; one without a length, or of more than a day, is left out.
    pub(crate) fn push(&mut self, sample: Sample) {
        let mut values = sample.demand.iter().flatten();
        let has_length = sample.length_s > 0.0 && sample.length_s <= f64::from(DAY_S);
        if has_length && values.all(|value| value.is_finite()) {
            self.samples.push(sample);
        } else {
            self.left_out += 1;
        }
    }

    /// Whether the server's own CPU time is known, because it has a CPU limit of its own: that of other programs on its
    /// machine then does not count.
    pub(crate) fn has_own_cpu_time(&self) -> bool {
        let mut own = self.server_samples.iter();
        own.any(|it| it.demand[Resource::Cpus.index()].is_some())
    }

    pub(crate) fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// The curve of a file that was read to its end.
    pub(crate) fn finished(mut self) -> Result<Self, Error> {
        if self.samples.is_empty() {
            return Err(Error::NoSamples { name: self.name });
        }
        if self.left_out > 0 {
            let samples = units::counted(self.left_out, "sample");
            self.remark(format!(
                "{}: {samples} left out: without a length, or of more than a day",
                self.name
            ));
        }
        if let Some(cpus) = self.cpus {
            self.set_cpus(cpus);
        }
        Ok(self)
    }

    /// States the number of CPUs, which turns shares of them into CPUs.
    pub fn set_cpus(&mut self, cpus: u32) {
        self.cpus = Some(cpus);
        self.multiply_cpu_shares(f64::from(cpus));
    }

    /// Turns shares of the CPUs into CPUs.
    pub(crate) fn multiply_cpu_shares(&mut self, cpus: f64) {
        for sample in &mut self.samples {
            if let Some(share) = sample.cpu_share {
                sample.demand[Resource::Cpus.index()] = Some(share * cpus);
            }
        }
    }

    /// States a limit. If files state several ones, the smallest counts.
    pub(crate) fn state_limit(&mut self, resource: Resource, limit: ObservedLimit) {
        let known = self.limits.entry(resource).or_insert(limit);
        if limit.value < known.value {
            *known = limit;
        }
    }

    /// The limit of a resource that its files state; `None` if there is none.
    pub(crate) fn limit(&self, resource: Resource) -> Option<ObservedLimit> {
        let counted = self.cpus.filter(|_| resource == Resource::Cpus);
        let counted = counted.map(|cpus| ObservedLimit {
            value: f64::from(cpus),
            source: LimitSource::MachineCpus,
        });
        self.limits.get(&resource).copied().or(counted)
    }

    /// The same system with the samples of another of its files.
    pub fn with(mut self, other: Self) -> Self {
        self.kinds.extend(other.kinds);
        self.hosts.extend(other.hosts);
        self.samples.extend(other.samples);
        self.server_samples.extend(other.server_samples);
        for (resource, limit) in other.limits {
            self.state_limit(resource, limit);
        }
        self.server_limits.extend(other.server_limits);
        self.combinations.extend(other.combinations);
        self.is_utc.extend(other.is_utc);
        self.cpus = self.cpus.or(other.cpus);
        for remark in other.remarks {
            self.remark(remark);
        }
        if let Some(cpus) = self.cpus {
            self.set_cpus(cpus);
        }
        self
    }

    pub(crate) fn has(&self, resource: Resource) -> bool {
        let mut samples = self.samples.iter();
        samples.any(|it| it.demand[resource.index()].is_some())
    }

    /// Whether its files have the CPU as a share of all CPUs.
    pub(crate) fn has_cpu_share(&self) -> bool {
        self.samples.iter().any(|it| it.cpu_share.is_some())
    }

    /// Whether its CPU is known only as a share of an unknown number of CPUs.
    pub(crate) fn lacks_cpus(&self) -> bool {
        self.cpus.is_none() && self.has_cpu_share()
    }

    /// The sampling interval: the median length of the samples of the resource with the longest one, seconds.
    pub(crate) fn interval_s(&self) -> f64 {
        let median = |resource: Resource| {
            let samples = self.samples.iter();
            let mut lengths: Vec<f64> = samples
                .filter(|it| it.demand[resource.index()].is_some())
                .map(|it| it.length_s)
                .collect();
            lengths.sort_by(f64::total_cmp);
            lengths.get(lengths.len() / 2).copied().unwrap_or(0.0)
        };
        Resource::ADDED_UP
            .into_iter()
            .map(median)
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_without_a_length_are_left_out_with_a_remark() {
        let mut curve = LoadCurve::new("a", "sadf");
        for length_s in [60.0, 0.0, -60.0, 90_000.0] {
            curve.push(Sample {
                start_s: 0.0,
                length_s,
                demand: [Some(1.0); 8],
                cpu_share: None,
            });
        }
        let curve = curve.finished().unwrap();
        assert_eq!(curve.samples.len(), 1);
        let remark = "a: 3 samples left out: without a length, or of more than a day";
        assert_eq!(curve.remarks, [remark]);
    }

    #[test]
    fn of_several_limits_the_smallest_counts() {
        let with_limit = |value: f64| {
            let mut curve = LoadCurve::new("a", "run record");
            let source = LimitSource::MachineCpus;
            curve.state_limit(Resource::Cpus, ObservedLimit { value, source });
            curve
        };
        let merged = with_limit(8.0).with(with_limit(4.0));
        let limit = merged.with(with_limit(16.0)).limit(Resource::Cpus);
        assert_eq!(limit.map(|it| it.value), Some(4.0));
        let mut counted = LoadCurve::new("a", "sadf");
        counted.set_cpus(2);
        assert_eq!(counted.limit(Resource::Cpus).map(|it| it.value), Some(2.0));
        assert_eq!(counted.limit(Resource::Memory), None);
    }
}
