//! Puts systems together: the peak of the sum against the sum of the peaks, and which of them share a machine best.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    alignment::{AlignedDays, Alignment},
    capacity::Capacity,
    day_bootstrap::{PeakInterval, interval_in_words, peak_interval},
    days::{Day, days, step_s},
    error::Error,
    joint_load::JointLoad,
    load_curve::LoadCurve,
    moment::{DAY_S, date},
    partition::{Search, Shape, best_partition},
    resource::{Demand, Resource},
};

/// What is asked of the curves.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Step of the comparison, seconds; `None` for the coarsest sampling interval.
    pub step_s: Option<u32>,
    /// Number of groups; `None` for pairs.
    pub groups: Option<usize>,
    /// What one machine has; empty to weigh each resource by the sum of its peaks.
    pub capacity: Capacity,
    /// Numbers of CPUs of systems whose files lack them.
    pub cpus: Vec<(String, u32)>,
}

/// A system that was put together with others.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemSummary {
    pub name: String,
    /// The kinds of its files.
    pub kinds: BTreeSet<&'static str>,
    /// Number of days with values.
    pub days: usize,
    pub interval_s: f64,
}

/// One resource over all systems.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceSum {
    pub resource: Resource,
    /// The highest sum of all systems at the same time.
    pub peak: f64,
    /// When it was, as text.
    pub at: String,
    /// `None` for fewer than three days.
    pub interval: Option<PeakInterval>,
    /// The highest use of each system by itself, in the order of the systems.
    pub peaks: Vec<f64>,
}

impl ResourceSum {
    pub fn sum_of_peaks(&self) -> f64 {
        self.peaks.iter().sum()
    }

    /// By which share the peak of the sum is below the sum of the peaks; `None` for a resource that was not used.
    pub fn saving(&self) -> Option<f64> {
        saving(self.peak, self.sum_of_peaks())
    }
}

pub(crate) fn saving(peak: f64, sum_of_peaks: f64) -> Option<f64> {
    // Sums in another order differ in the last digits.
    (sum_of_peaks > 0.0).then(|| (1.0 - peak / sum_of_peaks).max(0.0))
}

/// Systems on one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLoad {
    /// Their places in [`Consolidation::systems`].
    pub systems: Vec<usize>,
    /// The largest share of a capacity, or of a sum of peaks, that a peak of the group needs.
    pub share: f64,
    /// The resource that needs it.
    pub resource: Resource,
    /// The peak of the group in this resource, and when it was.
    pub peak: f64,
    pub at: String,
    /// The sum of the peaks of its systems in this resource.
    pub sum_of_peaks: f64,
    /// The peak of the group in each resource of [`Consolidation::resources`].
    pub peaks: Vec<f64>,
}

/// Several systems put together.
#[derive(Debug, Clone, PartialEq)]
pub struct Consolidation {
    pub systems: Vec<SystemSummary>,
    pub step_s: u32,
    pub alignment: Alignment,
    /// Share of the aligned days in which all systems have values, 0 to 1.
    pub compared_share: f64,
    /// The resources that were measured in all systems.
    pub resources: Vec<ResourceSum>,
    /// The others, and why.
    pub left_out: Vec<(Resource, String)>,
    /// The partition with the smallest largest share.
    pub groups: Vec<GroupLoad>,
    pub search: Search,
    /// Number of groups that was asked for; `None` for pairs.
    pub groups_wanted: Option<usize>,
    /// The pair with the largest share; `None` for two systems.
    pub worst_pair: Option<GroupLoad>,
    pub capacity: Capacity,
    /// How the intervals were made, or why there are none.
    pub intervals: String,
    /// What a reader must know besides.
    pub remarks: Vec<String>,
}

impl Consolidation {
    /// Whether each group stays within the capacity; `None` without one.
    pub fn fits(&self) -> Option<bool> {
        let has_capacity = !self.capacity.is_empty();
        has_capacity.then(|| self.groups.iter().all(|group| group.share <= 1.0))
    }

    /// The names of some systems: `a + b`.
    pub(crate) fn names(&self, systems: &[usize]) -> String {
        let names = systems.iter().map(|it| self.systems[*it].name.as_str());
        names.collect::<Vec<_>>().join(" + ")
    }
}

/// Puts systems together.
///
/// For systems i with the use x_i(t) of a resource in the step t: the peak of the sum is max_t Σ_i x_i(t), the sum of
/// the peaks Σ_i max_t x_i(t). Of a group of systems the share is the largest one, over the resources, of its peak in
/// the capacity or (without one) in the sum of the peaks of all systems.
pub fn consolidate(mut curves: Vec<LoadCurve>, request: &Request) -> Result<Consolidation, Error> {
    check(&mut curves, request)?;
    let step_s = step_s(&curves, request.step_s)?;
    let by_system = days(&curves, step_s)?;
    let summaries = curves
        .iter()
        .zip(&by_system)
        .map(|(curve, days)| SystemSummary {
            name: curve.name.clone(),
            kinds: curve.kinds.clone(),
            days: days.len(),
            interval_s: curve.interval_s(),
        });
    let systems: Vec<SystemSummary> = summaries.collect();
    let highest: Vec<Demand> = by_system.iter().map(|days| highest(days)).collect();
    let covered = covered(&systems, &by_system);
    let aligned = AlignedDays::of(by_system, (DAY_S / step_s) as usize, step_s);
    let joint = Resource::ADDED_UP
        .into_iter()
        .filter_map(|it| JointLoad::of(it, &aligned));
    let joint: Vec<JointLoad> = joint.collect();
    let slots = joint.iter().map(|it| it.slots.len()).max();
    let Some(slots) = slots else {
        return Err(nothing_in_common(&curves, aligned.alignment, covered));
    };
    let mut wanted = request.capacity.iter().map(|(it, _)| *it);
    let unmeasured = wanted.find(|it| joint.iter().all(|joint| joint.resource != *it));
    if let Some(resource) = unmeasured {
        let resource = resource.name();
        return Err(Error::CapacityNotMeasured { resource });
    }
    let resources: Vec<ResourceSum> = joint.iter().map(|it| resource_sum(it, &aligned)).collect();
    let scale = Scale {
        yardsticks: yardsticks(&resources, &request.capacity),
        joint: &joint,
        days: &aligned,
    };
    let (groups, search) = best_partition(
        systems.len(),
        shape(systems.len(), request.groups),
        |group| scale.share(group).0,
    );
    Ok(Consolidation {
        step_s,
        alignment: aligned.alignment,
        compared_share: slots as f64 / aligned.slots() as f64,
        left_out: left_out(&curves, &joint),
        groups: groups.iter().map(|it| scale.load_of(it)).collect(),
        search,
        groups_wanted: request.groups,
        worst_pair: worst_pair(systems.len(), &scale),
        capacity: request.capacity.clone(),
        intervals: interval_in_words(&aligned, &joint),
        remarks: remarks(&curves, &systems, &highest, &resources, &aligned),
        resources,
        systems,
    })
}

/// Refuses what cannot be put together, and completes the curves with the numbers of CPUs.
fn check(curves: &mut [LoadCurve], request: &Request) -> Result<(), Error> {
    if let [] | [_] = curves {
        let name = curves.first().map(|it| it.name.clone());
        return Err(Error::OneSystem {
            name: name.unwrap_or_default(),
        });
    }
    let mut names = BTreeSet::new();
    for curve in curves.iter() {
        if !names.insert(curve.name.as_str()) {
            let name = curve.name.clone();
            return Err(Error::SameName { name });
        }
    }
    for (name, cpus) in &request.cpus {
        match curves.iter_mut().find(|it| it.name == *name) {
            Some(curve) if curve.has_cpu_share() => curve.set_cpus(*cpus),
            Some(_) => return Err(Error::NoCpuShare { name: name.clone() }),
            None => return Err(Error::UnknownSystem { name: name.clone() }),
        }
    }
    let systems = curves.len();
    match request.groups {
        Some(groups) if groups == 0 || groups > systems => Err(Error::Groups { groups, systems }),
        _ => Ok(()),
    }
}

/// Why no resource can be added up. The CPU of a system whose number of CPUs is unknown is no reason if all systems have
/// another resource.
fn nothing_in_common(curves: &[LoadCurve], alignment: Alignment, covered: String) -> Error {
    let is_in_all = |it: &Resource| curves.iter().all(|curve| curve.has(*it));
    let lacking = curves.iter().filter(|it| it.lacks_cpus());
    let names: Vec<String> = lacking.map(|it| it.name.clone()).collect();
    if !names.is_empty() && !Resource::ALL.iter().any(is_in_all) {
        return Error::UnknownCpus { names };
    }
    let times = match alignment {
        Alignment::Weekday => "weekdays and times",
        Alignment::Date => "dates and times",
        Alignment::TimeOfDay => "times of day",
    };
    Error::NoOverlap { times, covered }
}

fn shape(systems: usize, groups: Option<usize>) -> Shape {
    match groups {
        Some(groups) => Shape {
            groups,
            size_at_most: systems,
        },
        None => Shape {
            groups: systems.div_ceil(2),
            size_at_most: 2,
        },
    }
}

/// The highest use of each resource over all days of a system.
fn highest(days: &[Day]) -> Demand {
    let mut highest = Demand::default();
    for step in days.iter().flat_map(|day| &day.steps) {
        for (highest, value) in highest.iter_mut().zip(step) {
            if let Some(value) = value {
                *highest = Some(highest.map_or(*value, |it| it.max(*value)));
            }
        }
    }
    highest
}

/// The dates of each system, for the error that they have nothing in common.
fn covered(systems: &[SystemSummary], days: &[Vec<Day>]) -> String {
    let of_system = |(system, days): (&SystemSummary, &Vec<Day>)| match days.as_slice() {
        [] => format!("{} has no step with values", system.name),
        [day] => format!("{} has {}", system.name, date(day.date)),
        [first, .., last] => {
            let (first, last) = (date(first.date), date(last.date));
            format!("{} has {first} to {last}", system.name)
        }
    };
    let all: Vec<String> = systems.iter().zip(days).map(of_system).collect();
    all.join("; ")
}

fn resource_sum(joint: &JointLoad, days: &AlignedDays) -> ResourceSum {
    let all: Vec<usize> = (0..days.systems()).collect();
    let peak = joint.peak(&all);
    ResourceSum {
        resource: joint.resource,
        peak: peak.value,
        at: days.time(peak.slot),
        interval: peak_interval(days, joint),
        peaks: all.iter().map(|it| joint.peak(&[*it]).value).collect(),
    }
}

/// What a peak of each resource is divided by: the capacity, else the sum of the peaks. Resources without one do not
/// count.
fn yardsticks(resources: &[ResourceSum], capacity: &[(Resource, f64)]) -> Vec<Option<f64>> {
    let given: BTreeMap<Resource, f64> = capacity.iter().copied().collect();
    let yardstick = |sum: &ResourceSum| {
        if given.is_empty() {
            Some(sum.sum_of_peaks()).filter(|it| *it > 0.0)
        } else {
            given.get(&sum.resource).copied()
        }
    };
    resources.iter().map(yardstick).collect()
}

/// Weighs the peaks of groups.
struct Scale<'a> {
    /// By joint load.
    yardsticks: Vec<Option<f64>>,
    joint: &'a [JointLoad],
    days: &'a AlignedDays,
}

impl Scale<'_> {
    /// The largest share of a group, and the place of its resource.
    fn share(&self, group: &[usize]) -> (f64, usize) {
        let mut largest = (0.0, 0);
        for (at, (joint, yardstick)) in self.joint.iter().zip(&self.yardsticks).enumerate() {
            let Some(yardstick) = yardstick else {
                continue;
            };
            let share = joint.peak(group).value / yardstick;
            if share > largest.0 {
                largest = (share, at);
            }
        }
        largest
    }

    fn load_of(&self, group: &[usize]) -> GroupLoad {
        let (share, at) = self.share(group);
        let joint = &self.joint[at];
        let peak = joint.peak(group);
        GroupLoad {
            systems: group.to_vec(),
            share,
            resource: joint.resource,
            peak: peak.value,
            at: self.days.time(peak.slot),
            sum_of_peaks: joint.sum_of_peaks(group),
            peaks: self.joint.iter().map(|it| it.peak(group).value).collect(),
        }
    }
}

/// The pair with the largest share.
fn worst_pair(systems: usize, scale: &Scale) -> Option<GroupLoad> {
    if systems < 3 {
        return None;
    }
    let pairs = (0..systems).flat_map(|one| (one + 1..systems).map(move |other| [one, other]));
    let shares = pairs.map(|pair| (scale.share(&pair).0, pair));
    let worst = shares.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    worst.map(|(_, pair)| scale.load_of(&pair))
}

/// The resources that were not measured in all systems, and why.
fn left_out(curves: &[LoadCurve], joint: &[JointLoad]) -> Vec<(Resource, String)> {
    let is_left_out = |it: &Resource| joint.iter().all(|joint| joint.resource != *it);
    let why = |resource: Resource| {
        let lacking = curves.iter().filter(|curve| !curve.has(resource));
        let lacking: Vec<&LoadCurve> = lacking.collect();
        if lacking.is_empty() {
            return "not at the same time".to_owned();
        }
        let unknown = lacking.iter().find(|it| it.lacks_cpus());
        if let Some(curve) = unknown.filter(|_| resource == Resource::Cpus) {
            return format!("{0}: number of CPUs unknown, --cpus {0}=N", curve.name);
        }
        if lacking.len() == curves.len() {
            return "in no file".to_owned();
        }
        let names: Vec<&str> = lacking.iter().map(|it| it.name.as_str()).collect();
        format!("not in {}", names.join(", "))
    };
    let left_out = Resource::ADDED_UP.into_iter().filter(is_left_out);
    left_out.map(|it| (it, why(it))).collect()
}

fn remarks(
    curves: &[LoadCurve],
    systems: &[SystemSummary],
    highest: &[Demand],
    resources: &[ResourceSum],
    aligned: &AlignedDays,
) -> Vec<String> {
    let mut remarks: Vec<String> = curves.iter().flat_map(|it| it.remarks.clone()).collect();
    let clocks: BTreeSet<bool> = curves.iter().flat_map(|it| it.is_utc.clone()).collect();
    if clocks.len() > 1 {
        let in_utc = curves.iter().filter(|it| it.is_utc.contains(&true));
        let names: Vec<&str> = in_utc.map(|it| it.name.as_str()).collect();
        remarks.push(format!(
            "times are compared as they are written: in UTC in {}, without a time zone in others",
            names.join(", ")
        ));
    }
    for (at, system) in systems.iter().enumerate() {
        let aligned: usize = aligned.days_of(at).iter().map(Vec::len).sum();
        let alone = system.days.saturating_sub(aligned);
        if alone > 0 {
            remarks.push(format!(
                "{}: {} without the other systems left out",
                system.name,
                units::counted(alone, "day")
            ));
        }
        for sum in resources {
            let everywhere = highest[at][sum.resource.index()].unwrap_or(0.0);
            if everywhere > sum.peaks[at] {
                remarks.push(format!(
                    "{}: its peak of {} is at a time without values of all systems",
                    system.name,
                    sum.resource.amount(everywhere)
                ));
            }
        }
    }
    remarks
}
