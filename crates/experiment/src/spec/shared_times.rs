//! The times of several `[[load]]` tables, which begin and end together.

use std::time::Duration;

use settings::{WarmUp, quantity};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    spec::load_quantity::DURATION,
};

/// Times that the loads of a run have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedTimes {
    pub(crate) pause: Duration,
    pub(crate) warmup: Duration,
    pub(crate) duration: Duration,
}

impl SharedTimes {
    /// Reads the times of several loads: each is in at least one table, and the same in all that have it.
    pub(crate) fn read(sections: &[Section<'_>]) -> Result<Self, Error> {
        for section in sections {
            refuse_automatic_warm_up(section)?;
        }
        let first = &sections[0];
        let warmup = shared(sections, "warmup")?;
        let duration = shared(sections, "duration")?;
        Ok(Self {
            pause: shared(sections, "pause")?.unwrap_or_default(),
            warmup: first.required("warmup", warmup, "warmup = \"10s\"")?,
            duration: first.required("duration", duration, "duration = \"30s\"")?,
        })
    }

    pub(crate) fn warm_up(self) -> WarmUp {
        WarmUp::For(self.warmup)
    }
}

/// A time of the tables that have it; an error if they differ.
fn shared(sections: &[Section<'_>], key: &'static str) -> Result<Option<Duration>, Error> {
    let mut known = None;
    for section in sections {
        let Some(time) = section.parsed(key, DURATION, quantity::duration)? else {
            continue;
        };
        if *known.get_or_insert(time) != time {
            let problem = format!("the [[load]] tables have different values of `{key}`");
            let hint = "the loads of a run begin and end together: write it in one of the tables";
            return Err(section.error_at(key, Problem::Conflict { problem, hint }));
        }
    }
    Ok(known)
}

/// All loads begin their measurement at one moment, which is known before.
fn refuse_automatic_warm_up(section: &Section<'_>) -> Result<(), Error> {
    let hint = "for example: warmup = \"10s\"";
    let is_auto = |text: &str| Some(text == "auto");
    if section.parsed("warmup", DURATION, is_auto)? == Some(true) {
        let problem =
            "`warmup` is \"auto\", and the loads of [[load]] are measured after a fixed time";
        let problem = problem.to_owned();
        return Err(section.error_at("warmup", Problem::Conflict { problem, hint }));
    }
    if section.value("warmup_at_most").is_some() {
        let (key, other) = ("warmup_at_most", "a fixed `warmup`".to_owned());
        return Err(section.error_at(key, Problem::NoMeaning { key, other }));
    }
    Ok(())
}
