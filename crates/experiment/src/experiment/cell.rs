//! One combination of an experiment, read from the tables of its file.

use settings::{Conflict, Vocabulary};

use super::side_by_side;
use crate::{
    error::Error,
    file::{overrides::Overrides, problem::Problem, section::Section, template::Levels},
    plan::{Cell, matrix::Matrix, scale},
    spec::{
        data::DataSpec,
        design::Design,
        each::EachSpec,
        event::EventSpec,
        find,
        load::{self, LoadSpec, ReadLoad},
        load_stages,
        proxy::ProxySpec,
        server::ServerSpec,
    },
};

/// Resolves the tables for one combination, with the values that its levels stand for; `design` is not scaled.
pub(super) fn read(
    top: &Section<'_>,
    (levels, matrix): (Levels, &Matrix),
    overrides: &Overrides,
    design: Design,
    seed: u64,
    vocabulary: &Vocabulary,
) -> Result<Cell, Error> {
    let values = matrix.values(&levels);
    let section = |key, title| {
        top.section(key, title)
            .map(|section| section.with_levels(&values))
    };
    let server_section = section("server", "[server]")?;
    let data_section = section("data", "[data]")?;
    let mut read = load::read_all(top, &values, &vocabulary.loads)?;
    for load in &mut read {
        overrides.time(&mut load.spec)?;
        if let Design::SideBySide(slicing) = design {
            side_by_side::check_load(load, slicing, overrides)?;
        }
    }
    let mut server = match read.iter().find(|it| !it.spec.source.kind.needs_server()) {
        None => ServerSpec::read(&server_section)?,
        Some(without) => {
            refuse_server(top, without.spec.source.name())?;
            ServerSpec::Absent
        }
    };
    let mut data = DataSpec::read(&data_section, &server, seed, &vocabulary.data)?;
    if let (Design::SideBySide(_), Some(data)) = (design, &mut data) {
        side_by_side::restore_once(&server, data);
    }
    for load in &read {
        check_needed_data(&load.section, &server, data.as_ref(), &load.spec)?;
    }
    let sections = top.sections("event", "[[event]]")?.into_iter();
    let sections: Vec<_> = sections.map(|it| it.with_levels(&values)).collect();
    load::check_beside(top, &sections, &levels)?;
    let mut events = match read.as_slice() {
        [ReadLoad { section, spec }] => {
            load_stages::check_beside(section, &sections, &levels)?;
            find::check_beside(section, &sections, &levels)?;
            EventSpec::read_all(&sections, section, spec, &server)?
        }
        _ => Vec::new(),
    };
    let mut loads: Vec<LoadSpec> = read.into_iter().map(|it| it.spec).collect();
    let scale = overrides.scale.unwrap_or(1.0);
    if scale < 1.0 {
        scale::shrink_events(scale, &mut events);
        scale::shrink_options(scale, &mut server)
            .map_err(|problem| server_section.error_at("cnf", problem))?;
        scale::shrink(scale, design, &server, data.as_mut(), &mut loads)
            .map_err(|problem| data_section.error_at("rows", problem))?;
    }
    let each = EachSpec::read(&section("each", "[each]")?, &server, data.as_ref())?;
    let proxy = ProxySpec::read(&section("proxy", "[proxy]")?)?;
    Ok(Cell {
        combination: levels,
        server,
        data,
        loads,
        proxy,
        events,
        change: each.change,
        before: each.before,
        after: each.after,
    })
}

/// A load without a server has nothing that only a server has.
fn refuse_server(top: &Section<'_>, load: &'static str) -> Result<(), Error> {
    match ["server", "data", "each", "event", "proxy"]
        .into_iter()
        .find(|key| top.value(key).is_some())
    {
        None => Ok(()),
        Some(key) => {
            let other = format!("the load `{load}`, which needs no server");
            Err(top.error_at(key, Problem::NoMeaning { key, other }))
        }
    }
}

/// A load that needs its own data must have it, or find it on the server if that is possible.
fn check_needed_data(
    section: &Section<'_>,
    server: &ServerSpec,
    data: Option<&DataSpec>,
    load: &LoadSpec,
) -> Result<(), Error> {
    let (kind, values) = (load.source.kind, &load.source.values);
    let Some(needed) = kind.needed_data(values) else {
        return Ok(());
    };
    let own = data.filter(|data| data.source.name() == kind.name());
    let is_found = || needed.may_be_found && matches!(server, ServerSpec::Given { .. });
    if own.is_none() && !(data.is_none() && is_found()) {
        let problem = Problem::NeedsData {
            missing: needed.missing,
            hint: needed.hint,
        };
        return Err(section.error_at(kind.name(), problem));
    }
    let fault = own.and_then(|data| kind.fault_with_data(values, &data.source.values));
    match fault {
        None => Ok(()),
        Some(Conflict { problem, hint, .. }) => {
            Err(section.error_at(kind.name(), Problem::Conflict { problem, hint }))
        }
    }
}
