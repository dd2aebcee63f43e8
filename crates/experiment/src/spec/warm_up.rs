//! `warmup`, `warmup_at_most` and `state`: how long a load runs before it is measured, and in which state its server then
//! is.

use std::time::Duration;

use samples::ServerState;
use settings::{WarmUp, quantity};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    spec::load_quantity::DURATION,
};

/// Default time limit of a warm-up until steady.
pub(crate) const WARMUP_AT_MOST: Duration = Duration::from_secs(60);

/// The state in which the servers of a session are measured.
pub(crate) const STATE: &str = "state";

/// Reads the warm-up of a load; `is_set` for one whose times are set.
pub(crate) fn read(section: &Section<'_>, is_set: bool) -> Result<WarmUp, Error> {
    if is_set {
        let set = section.parsed("warmup", DURATION, quantity::pause)?;
        return section
            .required("warmup", set, "warmup = \"5s\"")
            .map(WarmUp::fixed);
    }
    let at_most = section.parsed("warmup_at_most", DURATION, quantity::duration)?;
    let written =
        section.parsed(
            "warmup",
            "\"auto\" or a duration such as \"10s\"",
            |text| match text {
                "auto" => Some(None),
                text => quantity::pause(text).map(Some),
            },
        )?;
    let states = [
        ("steady", ServerState::Steady),
        ("fresh", ServerState::Fresh),
    ];
    let state = section.choice(STATE, &states)?;
    let fixed = match (state, written) {
        (Some(ServerState::Steady), Some(Some(_))) => {
            let problem = "the warm-up of state = \"steady\" ends when the server is steady, and `warmup` is fixed";
            return Err(conflict(
                section,
                problem,
                "remove `warmup`, or write state = \"fresh\"",
            ));
        }
        (Some(ServerState::Fresh), Some(None)) => {
            let problem = "with state = \"fresh\", the server is not warmed up until it is steady";
            let hint = "write a fixed `warmup` or none, or state = \"steady\"";
            return Err(conflict(section, problem, hint));
        }
        (Some(ServerState::Fresh), None) => Some(Duration::ZERO),
        (_, written) => written.flatten(),
    };
    match (fixed, at_most) {
        (None, at_most) => Ok(WarmUp::UntilSteady {
            at_most: at_most.unwrap_or(WARMUP_AT_MOST),
        }),
        (Some(fixed), None) => Ok(WarmUp::fixed(fixed)),
        (Some(_), Some(_)) => {
            let other = match written {
                Some(_) => "a fixed `warmup`",
                None => "state = \"fresh\"",
            };
            let other = other.to_owned();
            let key = "warmup_at_most";
            Err(section.error_at(key, Problem::NoMeaning { key, other }))
        }
    }
}

fn conflict(section: &Section<'_>, problem: &str, hint: &'static str) -> Error {
    let problem = problem.to_owned();
    section.error_at(STATE, Problem::Conflict { problem, hint })
}
