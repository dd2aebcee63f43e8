//! The workload of a run, its number of clients, and its duration: `[load]`, or several `[[load]]` tables, which begin and
//! end together.

use std::{collections::BTreeSet, time::Duration};

use samples::LOAD;
use settings::{
    Arrivals, Chosen, Factor, LoadKind, OnError, PlannedStage, Process, ThinkTime, WarmUp,
    mean_rate, quantity,
};

use crate::{
    error::Error,
    file::{
        problem::Problem,
        section::Section,
        template::{self, Levels},
    },
    keys,
    spec::{
        find::FindSpec,
        load_quantity::{
            CONNECTIONS, CONNECTIONS_OR_NONE, DURATION, RATE, connections, connections_or_none,
        },
        load_stages, selected_table,
        shared_times::SharedTimes,
        warm_up,
    },
};

/// The table, or the array of tables.
const KEY: &str = "load";
/// What a table is called in errors.
const ONE: &str = "[load]";
const SEVERAL: &str = "[[load]]";

/// Maximum number of loads of a run.
const LOADS_MAX: usize = 16;
/// Maximum length of a load's name, which is a part of file names.
const NAME_CHARS_MAX: usize = 40;

/// The key of one of several loads.
const NAME: &str = "name";
const NAME_FORM: &str =
    "a name of letters, digits, `_` and `-` that begins with a letter, at most 40 characters";
const NAME_EXAMPLE: &str = "name = \"batch\"";

const CONNECTIONS_EXAMPLE: &str = "connections = 16";

/// A load of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadSpec {
    /// The name of one of several `[[load]]` tables; `None` for `[load]`.
    pub name: Option<String>,
    /// The workload.
    pub source: Chosen<dyn LoadKind>,
    /// Virtual clients, each with a connection of its own; with stages, the largest number that one of them needs. At
    /// least one in every load of a run.
    pub connections: u32,
    /// The levels of the measurement, one after the other; empty if it has one.
    pub stages: Vec<PlannedStage>,
    /// Time without a load before the warm-up, in which a disk or a server recovers from the run before.
    pub pause: Duration,
    pub warmup: WarmUp,
    /// Length of the measurement, with stages of all together; the maximum if `precision` is set.
    pub duration: Duration,
    /// Measure until the 99th percentile is known within this share of it.
    pub precision: Option<f64>,
    /// The limit for which the highest rate is searched; each run then has a rate of its own.
    pub find: Option<FindSpec>,
    /// When operations start.
    pub arrivals: Arrivals,
    /// Event loops; `None` for what the machine suggests.
    pub loops: Option<u32>,
    /// Event loops keep their CPU busy before a timer is due, so that operations start on time.
    pub spin: bool,
    /// The policy for a failed statement.
    pub on_error: OnError,
}

impl LoadSpec {
    /// Reads `[load]` for one combination.
    pub(crate) fn read(
        section: &Section<'_>,
        kinds: &[&'static dyn LoadKind],
    ) -> Result<Self, Error> {
        if section.value(NAME).is_some() {
            let other = "a single [load]".to_owned();
            return Err(section.error_at(NAME, Problem::NoMeaning { key: NAME, other }));
        }
        section.allow(&[selected_table::keys(kinds), keys::LOAD.to_vec()].concat())?;
        let source = source(section, kinds)?;
        let ends_by_itself = source.kind.ends_by_itself(&source.values);
        let find = FindSpec::read(section, &source)?;
        let stages = load_stages::read(section, &source)?;
        let most = stages.iter().map(|stage| stage.connections.max()).max();
        let connections = match source.kind.clients(&source.values).or(most) {
            Some(clients) => clients,
            None => {
                let written = section.parsed("connections", CONNECTIONS, connections)?;
                section.required("connections", written, CONNECTIONS_EXAMPLE)?
            }
        };
        let duration = section.parsed("duration", DURATION, quantity::duration)?;
        let duration = if ends_by_itself {
            // Its duration is the result.
            Duration::ZERO
        } else if !stages.is_empty() {
            stages.iter().map(|stage| stage.length).sum()
        } else {
            section.required("duration", duration, "duration = \"30s\"")?
        };
        let warmup = if ends_by_itself {
            WarmUp::None
        } else if !stages.is_empty() {
            load_stages::warm_up(section)?
        } else {
            warm_up::read(section, source.kind.has_set_times())?
        };
        let pause = section.parsed("pause", DURATION, quantity::duration)?;
        Ok(Self {
            pause: pause.unwrap_or_default(),
            precision: section.parsed(
                "precision",
                "a share such as \"5 %\", above 0 and at most 100 %",
                quantity::share,
            )?,
            ..Self::timed(
                section,
                source,
                connections,
                (warmup, duration),
                stages,
                find,
            )?
        })
    }

    /// Reads one of several `[[load]]` tables for one combination; its times are those of all of them. With no
    /// connections it is left out of the run.
    pub(crate) fn read_named(
        section: &Section<'_>,
        kinds: &[&'static dyn LoadKind],
        name: String,
        times: SharedTimes,
    ) -> Result<Self, Error> {
        section.allow(&[selected_table::keys(kinds), keys::LOAD.to_vec(), vec![NAME]].concat())?;
        let source = source(section, kinds)?;
        let connections =
            section.parsed("connections", CONNECTIONS_OR_NONE, connections_or_none)?;
        let connections = match source.kind.clients(&source.values) {
            Some(clients) => clients,
            None => section.required("connections", connections, CONNECTIONS_EXAMPLE)?,
        };
        let (warmup, duration) = (times.warm_up(), times.duration);
        Ok(Self {
            name: Some(name),
            pause: times.pause,
            ..Self::timed(
                section,
                source,
                connections,
                (warmup, duration),
                Vec::new(),
                None,
            )?
        })
    }

    /// A load with these times, and what every load has.
    fn timed(
        section: &Section<'_>,
        source: Chosen<dyn LoadKind>,
        connections: u32,
        (warmup, duration): (WarmUp, Duration),
        stages: Vec<PlannedStage>,
        find: Option<FindSpec>,
    ) -> Result<Self, Error> {
        let on_error = section.choice(
            "on_error",
            &[
                ("stop", OnError::Stop),
                ("count", OnError::Count),
                ("retry", OnError::RETRY),
            ],
        )?;
        let searched = find.as_ref().map(FindSpec::planned_per_s);
        Ok(Self {
            arrivals: arrivals(section, mean_rate(&stages).or(searched))?,
            find,
            stages,
            warmup,
            loops: section.parsed("loops", "a count from 1 to 1024", |text| {
                text.parse().ok().filter(|loops| (1..=1024).contains(loops))
            })?,
            spin: section.flag("spin")?.unwrap_or(false),
            on_error: on_error.unwrap_or(OnError::Stop),
            ..Self::closed(source, connections, duration)
        })
    }

    /// A single closed loop without a warm-up or a pause, which the first error ends.
    pub fn closed(source: Chosen<dyn LoadKind>, connections: u32, duration: Duration) -> Self {
        Self {
            name: None,
            source,
            connections,
            stages: Vec::new(),
            pause: Duration::ZERO,
            warmup: WarmUp::None,
            duration,
            precision: None,
            find: None,
            arrivals: Arrivals::Closed,
            loops: None,
            spin: false,
            on_error: OnError::Stop,
        }
    }

    /// How long a run may take at most, connecting excluded: warm-up and measurement.
    pub fn expected(&self) -> Duration {
        self.warmup.at_most() + self.duration
    }

    /// True for work that is done once and is then over; its [`Self::duration`] is none, and there is no warm-up.
    pub fn ends_by_itself(&self) -> bool {
        self.source.kind.ends_by_itself(&self.source.values)
    }
}

/// A load with its table, for errors.
pub(crate) struct ReadLoad<'a> {
    pub(crate) section: Section<'a>,
    pub(crate) spec: LoadSpec,
}

/// Reads the loads for one combination; of several, those without connections are included.
pub(crate) fn read_all<'a>(
    top: &Section<'a>,
    values: &'a Levels,
    kinds: &[&'static dyn LoadKind],
) -> Result<Vec<ReadLoad<'a>>, Error> {
    if !are_several(top) {
        let section = top.section(KEY, ONE)?.with_levels(values);
        let spec = LoadSpec::read(&section, kinds)?;
        return Ok(vec![ReadLoad { section, spec }]);
    }
    let names = names(top)?;
    let sections = top.sections(KEY, SEVERAL)?.into_iter();
    let sections: Vec<_> = sections.map(|it| it.with_levels(values)).collect();
    for section in &sections {
        refuse_stages(section)?;
    }
    let times = SharedTimes::read(&sections)?;
    let mut loads = Vec::new();
    for (section, name) in sections.into_iter().zip(names) {
        let spec = LoadSpec::read_named(&section, kinds, name, times)?;
        refuse_alone(&section, &spec.source)?;
        loads.push(ReadLoad { section, spec });
    }
    if loads.iter().all(|it| it.spec.connections == 0) {
        let problem = "every [[load]] of a combination has 0 connections".to_owned();
        let hint = "0 connections leave a load out; [[exclude]] leaves out a combination";
        let first = &loads[0].section;
        return Err(first.error_at("connections", Problem::Conflict { problem, hint }));
    }
    Ok(loads)
}

/// True for `[[load]]`, even with one table only.
pub(crate) fn are_several(top: &Section<'_>) -> bool {
    top.value(KEY).is_some_and(|it| it.get_ref().is_array())
}

/// The names of the loads, which are levels of the factor [`LOAD`]; none for `[load]`.
pub(crate) fn names(top: &Section<'_>) -> Result<Vec<String>, Error> {
    if !are_several(top) {
        return Ok(Vec::new());
    }
    let sections = top.sections(KEY, SEVERAL)?;
    if sections.is_empty() {
        let problem = "`load` is an empty list".to_owned();
        let hint = "write a [[load]] table for each load, or [load] for a single one";
        return Err(top.error_at(KEY, Problem::Conflict { problem, hint }));
    }
    if let Some(beyond) = sections.get(LOADS_MAX) {
        let problem = format!("a run has at most {LOADS_MAX} loads");
        let hint = "one load can have several scripts, each with a weight";
        return Err(beyond.error(Problem::Conflict { problem, hint }));
    }
    let mut names = BTreeSet::new();
    let read = sections.iter().map(|section| {
        let name = section.parsed(NAME, NAME_FORM, |text| {
            let is_name = template::is_factor_name(text) && text.len() <= NAME_CHARS_MAX;
            is_name.then(|| text.to_owned())
        })?;
        let name = section.required(NAME, name, NAME_EXAMPLE)?;
        if !names.insert(name.clone()) {
            let problem = format!("two [[load]] tables have the name {name:?}");
            let hint = "records and reports distinguish the loads of a run by their names";
            return Err(section.error_at(NAME, Problem::Conflict { problem, hint }));
        }
        Ok(name)
    });
    read.collect()
}

/// The table of a load that has this key, for errors about all combinations; otherwise the first one.
pub(crate) fn place<'a>(top: &Section<'a>, key: &str) -> Result<Section<'a>, Error> {
    if !are_several(top) {
        return top.section(KEY, ONE);
    }
    let mut sections = top.sections(KEY, SEVERAL)?;
    let at = sections.iter().position(|it| it.value(key).is_some());
    Ok(sections.swap_remove(at.unwrap_or(0)))
}

/// Refuses what several loads cannot have beside them: events, whose cost is that of one load, and a factor with the
/// name under which reports have the loads.
pub(crate) fn check_beside(
    top: &Section<'_>,
    events: &[Section<'_>],
    levels: &Levels,
) -> Result<(), Error> {
    if !are_several(top) {
        return Ok(());
    }
    if let Some(event) = events.first() {
        let problem = "[[event]] cannot be used with [[load]]".to_owned();
        let hint = "the cost of an event is measured on a single [load]";
        return Err(event.error(Problem::Conflict { problem, hint }));
    }
    if levels.contains_key(LOAD) {
        let problem =
            "there is a factor `load`, but reports use this name for the loads of a run".to_owned();
        let hint = "rename the factor";
        return Err(top.error_at(KEY, Problem::Conflict { problem, hint }));
    }
    Ok(())
}

/// A verdict compares runs of the same load: a baseline cannot name loads.
pub(crate) fn refuse_in_baseline(top: &Section<'_>, baseline: &Section<'_>) -> Result<(), Error> {
    if !are_several(top) || baseline.value(LOAD).is_none() {
        return Ok(());
    }
    let problem = "each load is compared only with itself, not with other loads".to_owned();
    let hint = "name a factor of [matrix]; every load has a verdict of its own";
    Err(baseline.error_at(LOAD, Problem::Conflict { problem, hint }))
}

/// An error for the state of the servers, where they are not measured side by side.
pub(crate) fn refuse_state(top: &Section<'_>) -> Result<(), Error> {
    let key = warm_up::STATE;
    let section = place(top, key)?;
    if section.value(key).is_none() {
        return Ok(());
    }
    let problem = format!("`{key}` applies only to design = \"side by side\"");
    let hint = "use `warmup`: \"auto\" measures a steady server, and a fixed time a fresh one";
    Err(section.error_at(key, Problem::Conflict { problem, hint }))
}

fn refuse_stages(section: &Section<'_>) -> Result<(), Error> {
    let hint = "only a single [load] can have it";
    for (key, why) in [
        ("stages", "each load of a run has one level"),
        ("precision", "the loads of a run end together"),
        ("find", "it searches for the rate of a load that runs alone"),
    ] {
        if section.value(key).is_some() {
            let problem = format!("`{key}` cannot be in [[load]]: {why}");
            return Err(section.error_at(key, Problem::Conflict { problem, hint }));
        }
    }
    Ok(())
}

/// Refuses loads that cannot run beside another one.
fn refuse_alone(section: &Section<'_>, source: &Chosen<dyn LoadKind>) -> Result<(), Error> {
    let (problem, hint) = if !source.kind.needs_server() {
        (
            format!("the load `{}` needs no server", source.name()),
            "the loads of [[load]] share one server; write [load] for this one",
        )
    } else if source.kind.ends_by_itself(&source.values) {
        (
            format!(
                "the load `{}` ends by itself, and the loads of [[load]] end together",
                source.name()
            ),
            "remove its number of statements, or write [load] for this one",
        )
    } else {
        return Ok(());
    };
    Err(section.error_at(source.name(), Problem::Conflict { problem, hint }))
}

/// The factors, and the loads as one.
pub(crate) fn with_factor(factors: &[Factor], loads: &[String]) -> Vec<Factor> {
    let of_loads = (!loads.is_empty()).then(|| Factor {
        name: LOAD.to_owned(),
        levels: loads.to_vec(),
    });
    factors.iter().cloned().chain(of_loads).collect()
}

/// The combinations, each with every load.
pub(crate) fn with_each(combinations: &[Levels], loads: &[String]) -> Vec<Levels> {
    if loads.is_empty() {
        return combinations.to_vec();
    }
    let with = |levels: &Levels, load: &String| {
        let mut levels = levels.clone();
        levels.insert(LOAD.to_owned(), load.clone());
        levels
    };
    let all = combinations.iter();
    all.flat_map(|levels| loads.iter().map(move |load| with(levels, load)))
        .collect()
}

/// The workload, without keys that say nothing about it.
fn source(
    section: &Section<'_>,
    kinds: &[&'static dyn LoadKind],
) -> Result<Chosen<dyn LoadKind>, Error> {
    let source = selected_table::read(section, kinds)?;
    let mut meaningless = source.kind.meaningless(&source.values).iter();
    match meaningless.find(|key| section.value(key).is_some()) {
        None => Ok(source),
        Some(key) => Err(selected_table::meaningless(section, key, source.kind)),
    }
}

/// The arrivals, at the given rate if other keys than `rate` set one.
fn arrivals(section: &Section<'_>, given: Option<f64>) -> Result<Arrivals, Error> {
    let rate_per_s = section.parsed("rate", RATE, quantity::rate)?;
    let rate_per_s = given.or(rate_per_s);
    let processes = [
        ("poisson", Process::Poisson),
        ("constant", Process::Constant),
    ];
    let process = section.choice("arrivals", &processes)?;
    let think_time = section.parsed(
        "think_time",
        "a duration such as \"10ms\", or \"exponential 10ms\"",
        |text| match text.strip_prefix("exponential ") {
            Some(mean) => quantity::duration(mean).map(ThinkTime::Exponential),
            None => quantity::duration(text).map(ThinkTime::Fixed),
        },
    )?;
    let no_meaning = |key: &'static str, other: &str| {
        let other = other.to_owned();
        Err(section.error_at(key, Problem::NoMeaning { key, other }))
    };
    match (rate_per_s, process, think_time) {
        (Some(_), _, Some(_)) => no_meaning("think_time", "a `rate`"),
        (None, Some(_), _) => no_meaning("arrivals", "a closed loop (no `rate`)"),
        (Some(rate_per_s), process, None) => Ok(Arrivals::Open {
            rate_per_s,
            process: process.unwrap_or(Process::Poisson),
        }),
        (None, None, Some(think_time)) => Ok(Arrivals::Thinking(think_time)),
        (None, None, None) => Ok(Arrivals::Closed),
    }
}
