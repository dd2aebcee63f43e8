//! The headroom of a running server: how many times its present peak load fits before the first limit.

use std::collections::BTreeSet;

use crate::{
    day_bootstrap::{days_in_words, interval_of_days},
    days::{Day, days, step_s},
    error::Error,
    load_curve::LoadCurve,
    resource::Resource,
    resource_headroom::{NamedLimits, ResourceHeadroom, Times, peak_of_day},
    target::Target,
};

/// The resources of a server, in the order of the answer.
const RESOURCES: [Resource; 6] = [
    Resource::Cpus,
    Resource::Reads,
    Resource::Writes,
    Resource::LogFlushes,
    Resource::Network,
    Resource::Memory,
];

/// What is known about the server besides its load.
#[derive(Debug, Clone, Default)]
pub struct HeadroomRequest {
    /// The limits that `--target` names.
    pub target: Target,
    /// The limits of its disk that `dbdyno storage` measured; none without a record.
    pub disk: Target,
    /// Length of the steps, seconds; `None` for the coarsest sampling interval.
    pub step_s: Option<u32>,
}

/// The headroom of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Headroom {
    /// The name of the server.
    pub name: String,
    /// The kinds of its files.
    pub kinds: BTreeSet<&'static str>,
    pub step_s: u32,
    /// Time with values, seconds.
    pub observed_s: u64,
    /// Number of days with values.
    pub days: usize,
    pub resources: Vec<ResourceHeadroom>,
    /// How many times the peak load fits; `None` if no resource has both a use and a limit.
    pub times: Option<Times>,
    /// The most used resource, of those that count.
    pub limiting: Option<Resource>,
    /// Whether the CPU is only known as a share of an unknown number of CPUs.
    pub lacks_cpus: bool,
    /// How the intervals were made, or why there are none.
    pub intervals: String,
    /// What a reader must know besides.
    pub remarks: Vec<String>,
}

impl Headroom {
    /// The resources that count and have no limit or no observed use: because of them, the load may fit fewer times.
    pub fn unknown(&self) -> impl Iterator<Item = Resource> {
        let counted = self.resources.iter().filter(|it| it.is_counted());
        let unknown = counted.filter(|it| it.utilisation().is_none());
        unknown.map(|it| it.resource)
    }
}

/// The headroom of the server with this load.
///
/// Of each resource i with the peak use x_i and the limit C_i, the utilisation is U_i = x_i / C_i. If the use of each
/// resource is proportional to the load, the peak load fits 0.8 / max_i U_i times with a reserve of 20 %.
pub fn headroom(mut curve: LoadCurve, request: &HeadroomRequest) -> Result<Headroom, Error> {
    check(&curve, &request.target)?;
    let lacks_cpus = curve.lacks_cpus();
    if let Some(cpus) = request.target.cpus.filter(|_| lacks_cpus) {
        curve.multiply_cpu_shares(cpus);
    }
    let curves = [with_server_samples(curve)];
    let step_s = step_s(&curves, request.step_s)?;
    let days = days(&curves, step_s)?.pop().unwrap_or_default();
    if days.is_empty() {
        return Err(Error::NoCoveredStep { step_s });
    }
    let [curve] = curves;
    let limits = NamedLimits {
        target: &request.target,
        disk: &request.disk,
    };
    let resources = RESOURCES.map(|it| ResourceHeadroom::of(it, &curve, &days, step_s, &limits));
    let (times, limiting) = of_server(&resources, &days);
    let steps = days.iter().flat_map(|day| &day.steps);
    let observed = steps
        .filter(|step| step.iter().any(Option::is_some))
        .count();
    Ok(Headroom {
        step_s,
        observed_s: observed as u64 * u64::from(step_s),
        days: days.len(),
        times,
        limiting,
        lacks_cpus: lacks_cpus && request.target.cpus.is_none(),
        intervals: days_in_words(days.len()),
        remarks: remarks(&curve, &resources, &days, times),
        resources: Vec::from(resources),
        name: curve.name,
        kinds: curve.kinds,
    })
}

/// Refuses files of several machines and runs with different limits, whose peaks belong to other limits, and a target that
/// names what has no effect here.
fn check(curve: &LoadCurve, target: &Target) -> Result<(), Error> {
    if curve.hosts.len() > 1 {
        let hosts: Vec<&str> = curve.hosts.iter().map(String::as_str).collect();
        let hosts = hosts.join(", ");
        return Err(Error::SeveralHosts { hosts });
    }
    if curve.server_limits.len() > 1 {
        let limits: Vec<&str> = curve.server_limits.iter().map(String::as_str).collect();
        let limits = limits.join("; ");
        return Err(Error::SeveralLimits { limits });
    }
    let named = [
        ("buffer_pool", target.buffer_pool_bytes),
        ("data", target.data_bytes),
    ];
    let mut named = named.into_iter().filter(|(_, bytes)| bytes.is_some());
    match named.next() {
        Some((name, _)) => Err(Error::NoLimitOfServer { name }),
        None => Ok(()),
    }
}

/// The curve with what the server itself counted.
fn with_server_samples(mut curve: LoadCurve) -> LoadCurve {
    if curve.has_own_cpu_time() {
        for sample in &mut curve.samples {
            sample.demand[Resource::Cpus.index()] = None;
        }
    }
    let own = std::mem::take(&mut curve.server_samples);
    curve.samples.extend(own);
    curve
}

/// How many times the load fits, and the resource that limits it.
fn of_server(resources: &[ResourceHeadroom], days: &[Day]) -> (Option<Times>, Option<Resource>) {
    let counted: Vec<(&ResourceHeadroom, f64)> = resources
        .iter()
        .filter(|it| it.is_counted())
        .filter_map(|it| Some((it, it.utilisation()?)))
        .collect();
    let most = counted
        .iter()
        .max_by(|one, other| one.1.total_cmp(&other.1));
    let Some((limiting, utilisation)) = most.filter(|(_, utilisation)| *utilisation > 0.0) else {
        return (None, None);
    };
    // On a drawn day, another resource may be the most used one.
    let of_day = |day: &Day| {
        let shares = counted.iter().filter_map(|(it, _)| {
            let peak = peak_of_day(day, it.resource)?;
            Some(peak / it.limit?.value)
        });
        shares.reduce(f64::max)
    };
    let daily: Vec<f64> = days.iter().filter_map(of_day).collect();
    let times = Times::of(*utilisation, interval_of_days(&daily));
    (times, Some(limiting.resource))
}

fn remarks(
    curve: &LoadCurve,
    resources: &[ResourceHeadroom],
    days: &[Day],
    times: Option<Times>,
) -> Vec<String> {
    let mut remarks = curve.remarks.clone();
    if curve.is_utc.len() > 1 {
        remarks.push(
            "times are compared as they are written: some files are in UTC, others without a time zone"
                .to_owned(),
        );
    }
    let combinations = curve.combinations.len();
    if combinations > 1 {
        remarks.push(format!(
            "the runs have {combinations} combinations of levels; each peak is that of the combination that used most"
        ));
    }
    for resource in resources {
        if let Some(utilisation) = resource.utilisation().filter(|it| *it > 1.0) {
            remarks.push(format!(
                "{}: the peak is {} of the limit, so check the limit",
                resource.resource.name(),
                units::percent(utilisation)
            ));
        }
    }
    let together = disk_together(resources, days).and_then(|it| Some((it, Times::of(it, None)?)));
    if let Some((share, fits)) = together {
        let is_less = times.is_some_and(|times| fits.estimate < times.estimate);
        if is_less {
            remarks.push(format!(
                "if one limit of the disk counts reads and writes together, {} of it is used at the peak, and only {} \
                 times the peak load fits",
                units::percent(share),
                units::si(fits.estimate)
            ));
        }
    }
    remarks
}

/// The highest utilisation of a disk whose limit counts reads and writes together: the sum of the utilisations by both
/// at the same time (utilisation law with two classes). `None` if one of them is not known.
fn disk_together(resources: &[ResourceHeadroom], days: &[Day]) -> Option<f64> {
    let limit = |resource: Resource| {
        let mut all = resources.iter();
        let found = all.find(|it| it.resource == resource)?;
        Some(found.limit?.value)
    };
    let (reads, writes) = (limit(Resource::Reads)?, limit(Resource::Writes)?);
    let steps = days.iter().flat_map(|day| &day.steps);
    let sums = steps.filter_map(|step| {
        let of_reads = step[Resource::Reads.index()]? / reads;
        Some(of_reads + step[Resource::Writes.index()]? / writes)
    });
    sums.reduce(f64::max)
}
