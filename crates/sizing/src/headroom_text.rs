//! The headroom of a server for people: at most twelve lines on a wide terminal.

use std::collections::BTreeMap;

use crate::{
    answer_line::AnswerLine,
    headroom::Headroom,
    limit::Limit,
    moment::span,
    resource::{Resource, SHARE_WITH_RESERVE},
    resource_headroom::{
        KnownLimit, ObservedUse, Origin, ResourceHeadroom, Times, throughput_limit,
    },
};

/// The answer, without its remarks.
pub fn headroom_lines(headroom: &Headroom) -> Vec<AnswerLine> {
    let mut lines = vec![AnswerLine::new("", answer_in_words(headroom))];
    for resource in &headroom.resources {
        let text = resource_in_words(headroom, resource);
        lines.push(AnswerLine::new(resource.resource.name(), text));
    }
    let origins = origins_in_words(headroom);
    if !origins.is_empty() {
        lines.push(AnswerLine::new("limits", origins));
    }
    let share = units::percent(SHARE_WITH_RESERVE);
    let assumed = format!(
        "use is proportional to the load, except memory (not tested); above {share} of a limit, response times rise"
    );
    lines.push(AnswerLine::new("assumed", assumed));
    lines.push(AnswerLine::new("observed", observed_in_words(headroom)));
    lines
}

/// `At most 1.60 times the present peak load fits (reserve: 20 %); the CPUs limit it. Not known: fsync, net.`
fn answer_in_words(headroom: &Headroom) -> String {
    let (Some(times), Some(limiting)) = (headroom.times, headroom.limiting) else {
        let mut counted = headroom.resources.iter().filter(|it| it.is_counted());
        let why = if counted.any(|it| it.utilisation().is_some()) {
            "no resource with a limit was used"
        } else {
            "no resource has both a limit and an observed use"
        };
        return format!("The headroom is not known, because {why}.");
    };
    let unknown: Vec<&str> = headroom.unknown().map(Resource::name).collect();
    let (at_most, not_known) = match unknown.as_slice() {
        [] => ("", String::new()),
        names => ("At most ", format!(" Not known: {}.", names.join(", "))),
    };
    let verb = match throughput_limit(limiting) {
        Some(Limit::Network) => "limits",
        _ => "limit",
    };
    let limiting = throughput_limit(limiting).map_or(limiting.name(), Limit::in_words);
    let reserve = units::percent(1.0 - SHARE_WITH_RESERVE);
    format!(
        "{at_most}{} the present peak load fits (reserve: {reserve}); {limiting} {verb} it.{not_known}",
        times_in_words(times)
    )
}

/// `1.60 times`, `1.60 (1.60 to 1.92) times`.
fn times_in_words(times: Times) -> String {
    let number = match times.interval {
        Some(ends) => units::si_with_interval(times.estimate, ends),
        None => units::si(times.estimate),
    };
    format!("{number} times")
}

/// `1.60 times: peak 4.00 CPUs (50 %) at 2026-11-20 14:00, p95 0.800; limit 8 CPUs (observed)`
fn resource_in_words(headroom: &Headroom, resource: &ResourceHeadroom) -> String {
    match (&resource.used, resource.limit) {
        (Some(used), Some(limit)) => {
            let share = resource.utilisation().map(units::percent);
            let peak = peak_in_words(resource.resource, used, share);
            let limit = limit_in_words(resource.resource, limit);
            let text = format!("{peak}; {limit}");
            match resource.times() {
                Some(times) => format!("{} times: {text}", units::si(times.estimate)),
                None if resource.is_counted() => text,
                None => format!("not counted: {text}"),
            }
        }
        (Some(used), None) => {
            let peak = peak_in_words(resource.resource, used, None);
            format!("{peak}; {}", limit_not_known(resource.resource))
        }
        (None, limit) => {
            let limit = limit.map(|limit| limit_in_words(resource.resource, limit));
            let limit = limit.map(|limit| format!("; {limit}"));
            let why = not_observed(headroom, resource.resource);
            format!("{why}{}", limit.unwrap_or_default())
        }
    }
}

/// `peak 4.00 CPUs (50 %) at 2026-11-20 14:00, p95 0.800`
fn peak_in_words(resource: Resource, used: &ObservedUse, share: Option<String>) -> String {
    let share = share.map(|share| format!(" ({share})"));
    format!(
        "peak {}{} at {}, p95 {}",
        resource.amount(used.peak),
        share.unwrap_or_default(),
        used.at,
        resource.number(used.p95)
    )
}

/// `limit 8 CPUs (observed)`
fn limit_in_words(resource: Resource, limit: KnownLimit) -> String {
    let amount = match throughput_limit(resource) {
        Some(Limit::Fsyncs) => Limit::Fsyncs.amount(1.0 / limit.value),
        Some(of_throughput) => of_throughput.amount(limit.value),
        None => resource.number(limit.value),
    };
    format!("limit {amount} ({})", limit.origin.name())
}

/// How to get a limit that is not known.
fn limit_not_known(resource: Resource) -> String {
    let storage = match resource {
        Resource::Reads | Resource::Writes | Resource::LogFlushes => "--storage or ",
        _ => "",
    };
    let unit = match resource {
        Resource::LogFlushes => "TIME",
        Resource::Memory => "SIZE",
        Resource::Network => "SPEED",
        _ => "N",
    };
    let name = resource.name();
    format!("limit not known ({storage}--target {name}={unit})")
}

/// How to observe what the files do not have.
fn not_observed(headroom: &Headroom, resource: Resource) -> String {
    let how = match resource {
        Resource::Cpus if headroom.lacks_cpus => {
            return "number of CPUs not in the files (--target cpus=N)".to_owned();
        }
        Resource::LogFlushes | Resource::Network => "only run records of dbdyno contain it",
        _ => "run records and `sadf -d FILE -- -u -r -b` contain it",
    };
    format!("not observed ({how})")
}

/// `observed: CPUs of the machine (cpus); measured: dbdyno storage (read_iops, write_iops)`
fn origins_in_words(headroom: &Headroom) -> String {
    let mut origins: BTreeMap<Origin, Vec<&str>> = BTreeMap::new();
    for resource in &headroom.resources {
        if let Some(limit) = resource.limit {
            let names = origins.entry(limit.origin).or_default();
            names.push(resource.resource.name());
        }
    }
    let origins = origins.iter().map(|(origin, names)| {
        let (name, by) = (origin.name(), origin.by());
        format!("{name}: {by} ({})", names.join(", "))
    });
    origins.collect::<Vec<_>>().join("; ")
}

/// `1 d of shop (sadf) in steps of 1 h; one day: no interval`
fn observed_in_words(headroom: &Headroom) -> String {
    let kinds: Vec<&str> = headroom.kinds.iter().copied().collect();
    format!(
        "{} of {} ({}) in steps of {}; {}",
        span(headroom.observed_s),
        headroom.name,
        kinds.join(", "),
        span(headroom.step_s.into()),
        headroom.intervals
    )
}
