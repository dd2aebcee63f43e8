//! `stages` of `[load]`: levels of connections and of the rate, one after the other.

use std::time::Duration;

use settings::{Chosen, INTERVAL_AT_LEAST, Level, LoadKind, PlannedStage, WarmUp, quantity};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section, template::Levels},
    spec::{
        load_quantity::{CONNECTIONS, DURATION, RATE, connections},
        selected_table,
    },
};

/// The key of `[load]`, and the name of the factor that its stages are in reports.
const STAGES: &str = "stages";
const FACTOR: &str = "stage";

const KEYS: &[&str] = &["connections", "rate", "for"];
/// Maximum number of stages of a run.
const STAGES_MAX: usize = 100;

const EXAMPLE: &str =
    "for example: stages = [{ connections = 8, for = \"1m\" }, { connections = 64, for = \"1m\" }]";
const FOR_EXAMPLE: &str = "for = \"1m\"";
const CONNECTIONS_EXAMPLE: &str = "connections = 8, or \"8..64\" for a ramp";
const RATE_EXAMPLE: &str = "rate = 500, or \"100..2000\" for a ramp";

/// A stage as the file has it.
struct StageSpec<'a> {
    section: Section<'a>,
    connections: Option<Level<u32>>,
    rate_per_s: Option<Level<f64>>,
    length: Duration,
}

/// Reads `stages` for one combination; none where the key is absent.
pub(crate) fn read(
    section: &Section<'_>,
    source: &Chosen<dyn LoadKind>,
) -> Result<Vec<PlannedStage>, Error> {
    let Some(value) = section.value(STAGES) else {
        return Ok(Vec::new());
    };
    refuse_others(section, source)?;
    let expected = "stages such as [{ connections = 8, for = \"1m\" }]";
    let wrong = || section.wrong_type(STAGES, value, expected);
    let items = value.get_ref().as_array().ok_or_else(wrong)?;
    if items.is_empty() {
        let problem = "`stages` is an empty list".to_owned();
        let hint = EXAMPLE;
        return Err(section.error_at(STAGES, Problem::Conflict { problem, hint }));
    }
    let mut written = Vec::new();
    for (item, number) in items.iter().zip(1..) {
        let title = format!("stage {number} of [load]");
        let stage = section.nested(item, title).ok_or_else(wrong)?;
        if number > STAGES_MAX {
            let problem = format!("a run has at most {STAGES_MAX} stages");
            let hint = "a ramp has many levels in one stage: connections = \"8..64\"";
            return Err(stage.error(Problem::Conflict { problem, hint }));
        }
        written.push(StageSpec::read(stage, source)?);
    }
    check_length(section, &written)?;
    let counts = of_all(
        section,
        &written,
        "connections",
        CONNECTIONS_EXAMPLE,
        |it| it.connections,
    )?;
    let counts = match counts {
        Some(counts) => counts,
        None => {
            let all = section.parsed("connections", CONNECTIONS, connections)?;
            let all = section.required("connections", all, "connections = 16")?;
            vec![Level::constant(all); written.len()]
        }
    };
    let rates = of_all(section, &written, "rate", RATE_EXAMPLE, |it| it.rate_per_s)?;
    let rate = section.parsed("rate", RATE, quantity::rate)?;
    let stages = written.iter().zip(counts).enumerate();
    let stages = stages.map(|(at, (written, connections))| PlannedStage {
        connections,
        rate_per_s: match &rates {
            Some(rates) => Some(rates[at]),
            None => rate.map(Level::constant),
        },
        length: written.length,
    });
    Ok(stages.collect())
}

/// The warm-up before stages: a fixed time, for the load of the first one. A warm-up until steady could end at any time,
/// and begin anew in the middle of the stages.
pub(crate) fn warm_up(section: &Section<'_>) -> Result<WarmUp, Error> {
    let hint = "for example: warmup = \"10s\", which runs the load of the first stage";
    let is_auto = |text: &str| Some(text == "auto");
    if section.parsed("warmup", DURATION, is_auto)? == Some(true) {
        let problem = "`warmup` is \"auto\", and stages begin after a fixed time".to_owned();
        return Err(section.error_at("warmup", Problem::Conflict { problem, hint }));
    }
    let fixed = section.parsed("warmup", DURATION, quantity::pause)?;
    let fixed = section.required("warmup", fixed, "warmup = \"10s\"")?;
    Ok(WarmUp::fixed(fixed))
}

/// Refuses what a run with stages cannot have: events, whose cost is that of one level, and a factor with the name of
/// the stages.
pub(crate) fn check_beside(
    section: &Section<'_>,
    events: &[Section<'_>],
    levels: &Levels,
) -> Result<(), Error> {
    if section.value(STAGES).is_none() {
        return Ok(());
    }
    if let Some(event) = events.first() {
        let (key, other) = ("event", "`stages` of [load]".to_owned());
        return Err(event.error(Problem::NoMeaning { key, other }));
    }
    if levels.contains_key(FACTOR) {
        let problem =
            "there is a factor `stage`, but reports use this name for the stages of a run"
                .to_owned();
        let hint = "rename the factor";
        return Err(section.error_at(STAGES, Problem::Conflict { problem, hint }));
    }
    Ok(())
}

fn refuse_others(section: &Section<'_>, source: &Chosen<dyn LoadKind>) -> Result<(), Error> {
    let other = if source.kind.ends_by_itself(&source.values) {
        Some("a load that ends by itself".to_owned())
    } else if source.kind.has_set_times() {
        Some(format!("the load `{}`, which has one level", source.name()))
    } else {
        None
    };
    if let Some(other) = other {
        let key = STAGES;
        return Err(section.error_at(STAGES, Problem::NoMeaning { key, other }));
    }
    let replaced = ["duration", "precision", "warmup_at_most"];
    match replaced
        .into_iter()
        .find(|key| section.value(key).is_some())
    {
        None => Ok(()),
        Some(key) => {
            let other = "`stages`, whose lengths make the measurement".to_owned();
            Err(section.error_at(key, Problem::NoMeaning { key, other }))
        }
    }
}

impl<'a> StageSpec<'a> {
    fn read(section: Section<'a>, source: &Chosen<dyn LoadKind>) -> Result<Self, Error> {
        section.allow(KEYS)?;
        let mut meaningless = source.kind.meaningless(&source.values).iter();
        let is_there = |key: &&&str| KEYS.contains(key) && section.value(key).is_some();
        if let Some(key) = meaningless.find(is_there) {
            return Err(selected_table::meaningless(&section, key, source.kind));
        }
        let length = section.parsed("for", DURATION, quantity::duration)?;
        let length = section.required("for", length, FOR_EXAMPLE)?;
        if length < INTERVAL_AT_LEAST {
            let problem = format!(
                "this stage lasts {length:?}, less than an interval of the record ({INTERVAL_AT_LEAST:?})"
            );
            let hint = "a stage of 12 s or more has the 12 one-second intervals that are needed to recognise a \
                 steady load";
            return Err(section.error_at("for", Problem::Conflict { problem, hint }));
        }
        let count = "a count from 1 to 100000, or a ramp such as \"8..64\"";
        let rate =
            "operations per second, above 0 and at most 1000000, or a ramp such as \"100..2000\"";
        let read = Self {
            connections: section.parsed("connections", count, |text| {
                quantity::level(text, connections)
            })?,
            rate_per_s: section
                .parsed("rate", rate, |text| quantity::level(text, quantity::rate))?,
            length,
            section,
        };
        if read.connections.is_none() && read.rate_per_s.is_none() {
            let problem = "this stage has neither `connections` nor `rate`".to_owned();
            let hint = EXAMPLE;
            return Err(read.section.error(Problem::Conflict { problem, hint }));
        }
        Ok(read)
    }
}

fn check_length(section: &Section<'_>, stages: &[StageSpec<'_>]) -> Result<(), Error> {
    let all: Duration = stages.iter().map(|stage| stage.length).sum();
    if all <= quantity::DURATION_AT_MOST {
        return Ok(());
    }
    let problem = format!(
        "the stages last {all:?} together; a measurement lasts {}",
        quantity::DURATION_LIMIT
    );
    let hint = "shorten the stages, or split them into several experiments";
    Err(section.error_at(STAGES, Problem::Conflict { problem, hint }))
}

/// The values of a key that all stages have; `None` if it is not a key of the stages. A key is one of all stages, or of
/// `[load]`.
fn of_all<T: Copy>(
    section: &Section<'_>,
    stages: &[StageSpec<'_>],
    key: &'static str,
    example: &'static str,
    of: impl Fn(&StageSpec<'_>) -> Option<T>,
) -> Result<Option<Vec<T>>, Error> {
    if stages.iter().all(|stage| of(stage).is_none()) {
        return Ok(None);
    }
    if section.value(key).is_some() {
        let other = "stages that set it".to_owned();
        return Err(section.error_at(key, Problem::NoMeaning { key, other }));
    }
    let values = stages.iter();
    let values = values.map(|stage| stage.section.required(key, of(stage), example));
    values.collect::<Result<_, _>>().map(Some)
}
