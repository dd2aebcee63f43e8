//! `[load]`, or one of several `[[load]]` tables: the workload, its number of clients, and its duration.

use std::time::Duration;

use settings::{
    Arrivals, Chosen, LoadKind, OnError, PlannedStage, Process, ThinkTime, WarmUp, mean_rate,
    quantity,
};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    keys,
    spec::{
        chosen,
        load_quantity::{
            CONNECTIONS, CONNECTIONS_OR_NONE, DURATION, RATE, connections, connections_or_none,
        },
        load_stages,
        shared_times::SharedTimes,
    },
};

/// The key of one of several loads.
const NAME: &str = "name";

const CONNECTIONS_EXAMPLE: &str = "connections = 16";

/// Default time limit of a warm-up until steady.
pub(crate) const WARMUP_AT_MOST: Duration = Duration::from_secs(60);

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
        section.allow(&[chosen::keys(kinds), keys::LOAD.to_vec()].concat())?;
        let source = source(section, kinds)?;
        let ends_by_itself = source.kind.ends_by_itself(&source.values);
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
            warmup(section, source.kind.has_set_times())?
        };
        let pause = section.parsed("pause", DURATION, quantity::duration)?;
        Ok(Self {
            pause: pause.unwrap_or_default(),
            precision: section.parsed(
                "precision",
                "a share such as \"5 %\", above 0 and at most 100 %",
                quantity::share,
            )?,
            ..Self::timed(section, source, connections, (warmup, duration), stages)?
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
        section.allow(&[chosen::keys(kinds), keys::LOAD.to_vec(), vec![NAME]].concat())?;
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
            ..Self::timed(section, source, connections, (warmup, duration), Vec::new())?
        })
    }

    /// A load with these times, and what every load has.
    fn timed(
        section: &Section<'_>,
        source: Chosen<dyn LoadKind>,
        connections: u32,
        (warmup, duration): (WarmUp, Duration),
        stages: Vec<PlannedStage>,
    ) -> Result<Self, Error> {
        let on_error = section.choice(
            "on_error",
            &[
                ("stop", OnError::Stop),
                ("count", OnError::Count),
                ("retry", OnError::RETRY),
            ],
        )?;
        Ok(Self {
            arrivals: arrivals(section, mean_rate(&stages))?,
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

/// The workload, without keys that say nothing about it.
fn source(
    section: &Section<'_>,
    kinds: &[&'static dyn LoadKind],
) -> Result<Chosen<dyn LoadKind>, Error> {
    let source = chosen::read(section, kinds)?;
    let mut meaningless = source.kind.meaningless(&source.values).iter();
    match meaningless.find(|key| section.value(key).is_some()) {
        None => Ok(source),
        Some(key) => Err(chosen::meaningless(section, key, source.kind)),
    }
}

/// The arrivals, at the mean rate of the stages if they have one.
fn arrivals(section: &Section<'_>, of_stages: Option<f64>) -> Result<Arrivals, Error> {
    let rate_per_s = section.parsed("rate", RATE, quantity::rate)?;
    let rate_per_s = of_stages.or(rate_per_s);
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

fn warmup(section: &Section<'_>, is_set: bool) -> Result<WarmUp, Error> {
    if is_set {
        let set = section.parsed("warmup", DURATION, quantity::pause)?;
        return section
            .required("warmup", set, "warmup = \"5s\"")
            .map(WarmUp::fixed);
    }
    let at_most = section.parsed("warmup_at_most", DURATION, quantity::duration)?;
    let fixed =
        section.parsed(
            "warmup",
            "\"auto\" or a duration such as \"10s\"",
            |text| match text {
                "auto" => Some(None),
                text => quantity::pause(text).map(Some),
            },
        )?;
    match (fixed.flatten(), at_most) {
        (None, at_most) => Ok(WarmUp::UntilSteady {
            at_most: at_most.unwrap_or(WARMUP_AT_MOST),
        }),
        (Some(fixed), None) => Ok(WarmUp::fixed(fixed)),
        (Some(_), Some(_)) => Err(section.error_at(
            "warmup_at_most",
            Problem::NoMeaning {
                key: "warmup_at_most",
                other: "a fixed `warmup`".to_owned(),
            },
        )),
    }
}
