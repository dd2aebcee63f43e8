//! The number of runs per combination: fixed, or until the verdict is decided.

use std::time::Duration;

use settings::quantity;

use crate::{
    error::Error,
    file::{overrides::Overrides, problem::Problem, section::Section},
    plan::levels::RUNS_AT_MOST,
    spec::design::Design,
};

/// The value of `repeats` if the results decide.
const UNTIL_DECIDED: &str = "until decided";

/// Minimum number of executions per side for a decision.
const BLOCKS_AT_LEAST: u32 = 3;

/// A session has more than one comparison of each side: it may decide alone.
const SESSIONS_AT_LEAST: u32 = 1;

/// The number of runs per combination; side by side, the number of sessions, in each of which a combination has one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// A fixed number.
    Times(u32),
    /// Block by block, until every comparison of the verdict is decided or the budget is used up.
    UntilDecided {
        /// The budget: maximum number of blocks, each with one run of every combination.
        at_most: u32,
        /// The time budget: no block starts that would not end within it.
        time: Option<Duration>,
    },
}

impl Repeats {
    /// Maximum number of executions of a combination until decided, runs or batches of slices: the decision rule for each
    /// of them is computed beforehand.
    pub const UNTIL_DECIDED_AT_MOST: u32 = 1000;

    /// Maximum number of blocks of the plan.
    pub fn blocks(self) -> u32 {
        match self {
            Self::Times(blocks)
            | Self::UntilDecided {
                at_most: blocks, ..
            } => blocks,
        }
    }

    /// Fewest blocks without which nothing is decided.
    pub fn blocks_at_least(design: Design) -> u32 {
        match design {
            Design::Classical => BLOCKS_AT_LEAST,
            Design::SideBySide(_) => SESSIONS_AT_LEAST,
        }
    }

    /// The time budget, if there is one.
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Times(_) => None,
            Self::UntilDecided { time, .. } => time,
        }
    }

    /// Maximum number of executions of a combination, runs or batches of slices.
    pub(crate) fn executions_at_most(self) -> u32 {
        match self {
            Self::Times(_) => RUNS_AT_MOST,
            Self::UntilDecided { .. } => Self::UNTIL_DECIDED_AT_MOST,
        }
    }

    /// Reads `repeats`, `at_most` and `time_at_most`; `--repeats` has precedence.
    pub(crate) fn read(
        top: &Section<'_>,
        overrides: &Overrides,
        design: Design,
    ) -> Result<Self, Error> {
        let text = top.string("repeats").ok().flatten();
        let until_decided = text.is_some_and(|text| text.value == UNTIL_DECIDED);
        let at_least = Self::blocks_at_least(design);
        let most = Self::UNTIL_DECIDED_AT_MOST;
        let expected = format!("a count from {at_least} to {most}");
        let at_most = top.parsed("at_most", &expected, |text| {
            let count = text.parse().ok();
            count.filter(|count| (at_least..=most).contains(count))
        })?;
        let expected = "a duration such as \"2h\"";
        let time = top.parsed("time_at_most", expected, quantity::duration)?;
        if until_decided {
            let at_most = top.required("at_most", at_most, "at_most = 20")?;
            return Ok(match overrides.repeats {
                Some(times) => Self::Times(times),
                None => Self::UntilDecided {
                    at_most,
                    time: overrides.time_at_most.or(time),
                },
            });
        }
        for (key, is_there) in [
            ("at_most", at_most.is_some()),
            ("time_at_most", time.is_some()),
        ] {
            if is_there {
                return Err(top.error_at(key, Problem::BudgetWithoutDecision { key }));
            }
        }
        let expected = "a count from 1 to 100000 or \"until decided\"";
        let repeats = top.parsed("repeats", expected, |text| {
            let count = text.parse().ok();
            count.filter(|count| (1..=RUNS_AT_MOST).contains(count))
        })?;
        Ok(Self::Times(overrides.repeats.or(repeats).unwrap_or(1)))
    }

    /// An error if nothing can be decided: the file has neither a verdict nor a search.
    pub(crate) fn check(self, top: &Section<'_>, decides: bool) -> Result<(), Error> {
        match self {
            Self::UntilDecided { .. } if !decides => {
                Err(top.error_at("repeats", Problem::NothingToDecide))
            }
            _ => Ok(()),
        }
    }
}
