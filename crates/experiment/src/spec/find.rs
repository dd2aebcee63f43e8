//! `find` of `[load]`: the highest rate that keeps a limit on a response time is searched for.

use std::time::Duration;

use samples::RATE;
use settings::{Chosen, LoadKind, quantity};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section, template::Levels},
    spec::{load_quantity, selected_table},
};

/// The key of `[load]`.
pub(crate) const KEY: &str = "find";
const TITLE: &str = "[load] find";

/// The percentiles that can be limited: key, name and quantile.
const PERCENTILES: [(&str, &str, f64); 4] = [
    ("p50", "p50", 0.5),
    ("p95", "p95", 0.95),
    ("p99", "p99", 0.99),
    ("p999", "p99.9", 0.999),
];
const KEYS: &[&str] = &["p50", "p95", "p99", "p999", "from", "to", "precision"];

const LIMIT: &str = "a duration such as \"20ms\"";
const EXAMPLE: &str = "for example: find = { p99 = \"20ms\" }";

/// Half the width of the interval of the rate, as a share of it, unless the file says.
const PRECISION: f64 = 0.05;

/// The limit on a response time for which the highest rate is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct FindSpec {
    /// The name of the limited percentile: `p99`.
    pub percentile: &'static str,
    /// The same as a share: 0.99.
    pub quantile: f64,
    /// The response time that the percentile has to stay below.
    pub limit: Duration,
    /// The rate of the first run, and the highest one that is tried, operations per second; `None` if the file does not
    /// say.
    pub from_per_s: Option<f64>,
    pub to_per_s: Option<f64>,
    /// Half the width of the interval at which the search ends, as a share of the rate.
    pub precision: f64,
}

impl FindSpec {
    /// Reads `find` for one combination; `None` where the key is absent.
    pub(crate) fn read(
        section: &Section<'_>,
        source: &Chosen<dyn LoadKind>,
    ) -> Result<Option<Self>, Error> {
        if section.value(KEY).is_none() {
            return Ok(None);
        }
        refuse_others(section, source)?;
        let find = section.section(KEY, TITLE)?;
        find.allow(KEYS)?;
        let mut limits = Vec::new();
        for percentile in PERCENTILES {
            let limit = find.parsed(percentile.0, LIMIT, quantity::duration)?;
            limits.extend(limit.map(|limit| (percentile, limit)));
        }
        let ((_, percentile, quantile), limit) = match limits.as_slice() {
            [only] => *only,
            [] => {
                let problem = "`find` has no limit on a percentile".to_owned();
                let hint = EXAMPLE;
                return Err(find.error(Problem::Conflict { problem, hint }));
            }
            [((one, ..), _), ((other, ..), _), ..] => {
                let problem = format!("`find` limits both `{one}` and `{other}`");
                let hint = "a search has one limit; write another experiment for the other one";
                return Err(find.error_at(other, Problem::Conflict { problem, hint }));
            }
        };
        let from_per_s = find.parsed("from", load_quantity::RATE, quantity::rate)?;
        let to_per_s = find.parsed("to", load_quantity::RATE, quantity::rate)?;
        if let (Some(from), Some(to)) = (from_per_s, to_per_s)
            && from > to
        {
            let problem = format!("`find` begins at {from}/s, above its highest rate of {to}/s");
            let hint = "`from` is the rate of the first run, and no run has a rate above `to`";
            return Err(find.error_at("from", Problem::Conflict { problem, hint }));
        }
        let precision = find.parsed(
            "precision",
            "a share such as \"5 %\", above 0 and below 100 %",
            quantity::percent,
        )?;
        Ok(Some(Self {
            percentile,
            quantile,
            limit,
            from_per_s,
            to_per_s,
            precision: precision.unwrap_or(PRECISION),
        }))
    }

    /// The rate of a run in the plan, operations per second: that of the first run, or any. The search replaces it.
    pub(crate) fn planned_per_s(&self) -> f64 {
        self.from_per_s.unwrap_or(1.0)
    }

    /// The limit in words: `p99 < 20 ms`.
    pub fn in_words(&self) -> String {
        let limit = units::duration_tick(self.limit.as_nanos() as f64);
        format!("{} < {limit}", self.percentile)
    }
}

/// Refuses what a load cannot have beside a search, and loads that have no rate.
fn refuse_others(section: &Section<'_>, source: &Chosen<dyn LoadKind>) -> Result<(), Error> {
    let (kind, values) = (source.kind, &source.values);
    if kind.meaningless(values).contains(&"rate") {
        return Err(selected_table::meaningless(section, KEY, kind));
    }
    let other = if kind.ends_by_itself(values) {
        Some("a load that ends by itself".to_owned())
    } else if kind.has_set_times() {
        Some(format!("the load `{}`, which has no rate", source.name()))
    } else {
        None
    };
    if let Some(other) = other {
        return Err(section.error_at(KEY, Problem::NoMeaning { key: KEY, other }));
    }
    let others = ["rate", "stages", "think_time", "precision"];
    match others.into_iter().find(|key| section.value(key).is_some()) {
        None => Ok(()),
        Some(key) => {
            let other = "`find`, which gives each run a rate of its own".to_owned();
            Err(section.error_at(key, Problem::NoMeaning { key, other }))
        }
    }
}

/// Refuses what a run of a search cannot have: events, whose cost is that of one rate, and a factor with the name of the
/// rates.
pub(crate) fn check_beside(
    section: &Section<'_>,
    events: &[Section<'_>],
    levels: &Levels,
) -> Result<(), Error> {
    if section.value(KEY).is_none() {
        return Ok(());
    }
    if let Some(event) = events.first() {
        let (key, other) = ("event", "`find` of [load]".to_owned());
        return Err(event.error(Problem::NoMeaning { key, other }));
    }
    if levels.contains_key(RATE) {
        let problem =
            "there is a factor `rate`, but reports use this name for the rates of a search"
                .to_owned();
        let hint = "rename the factor";
        return Err(section.error_at(KEY, Problem::Conflict { problem, hint }));
    }
    Ok(())
}
