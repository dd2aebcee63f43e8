//! The loads of a run: `[load]`, or several `[[load]]` tables, which begin and end together.

use std::collections::BTreeSet;

use samples::LOAD;
use settings::{Chosen, Factor, LoadKind};

use crate::{
    error::Error,
    file::{
        problem::Problem,
        section::Section,
        template::{self, Levels},
    },
    spec::{load::LoadSpec, shared_times::SharedTimes},
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

const NAME: &str =
    "a name of letters, digits, `_` and `-` that begins with a letter, at most 40 characters";
const NAME_EXAMPLE: &str = "name = \"batch\"";

/// A load with its table, for errors.
pub(crate) struct ReadLoad<'a> {
    pub(crate) section: Section<'a>,
    pub(crate) spec: LoadSpec,
}

/// Reads the loads for one combination; of several, those without connections are included.
pub(crate) fn read<'a>(
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
        let name = section.parsed("name", NAME, |text| {
            let is_name = template::is_factor_name(text) && text.len() <= NAME_CHARS_MAX;
            is_name.then(|| text.to_owned())
        })?;
        let name = section.required("name", name, NAME_EXAMPLE)?;
        if !names.insert(name.clone()) {
            let problem = format!("two [[load]] tables have the name {name:?}");
            let hint = "records and reports distinguish the loads of a run by their names";
            return Err(section.error_at("name", Problem::Conflict { problem, hint }));
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

fn refuse_stages(section: &Section<'_>) -> Result<(), Error> {
    let hint = "only a single [load] can have it";
    for (key, why) in [
        ("stages", "each load of a run has one level"),
        ("precision", "the loads of a run end together"),
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
