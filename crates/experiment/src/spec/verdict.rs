//! `[verdict]`: the comparison, and the smallest difference that matters.

use settings::{Factor, quantity};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section, source::Source},
    plan::matrix,
};

pub(crate) const EXAMPLE: &str = "baseline = { query_cache = \"64M\" }";

/// What can be compared of every load; those of one load stand behind the first.
pub(crate) const METRICS: [&str; 5] = ["throughput", "p50", "p95", "p99", ELAPSED];
/// The time that a load takes which ends by itself.
pub(crate) const ELAPSED: &str = "elapsed";

/// The smallest difference that matters, unless the file says.
pub const MIN_EFFECT: f64 = 0.02;

/// The comparison, and the smallest difference that matters.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictSpec {
    /// `throughput`, `new_orders_per_min`, `p50`, `p95`, `p99` or `elapsed`.
    pub metric: String,
    /// Factors and their baseline levels; at least one.
    pub baseline: Vec<(String, String)>,
    /// The smallest difference that matters, as a share: 0.02 is 2 %.
    pub min_effect: f64,
    /// The database's share of the time that a user of the application waits; `None` if it is not set.
    pub database_share: Option<f64>,
    /// True if an experiment that runs until decided leaves out combinations whose comparisons are decided.
    pub leave_decided: bool,
}

impl VerdictSpec {
    /// Reads `[verdict]`; `None` when there is none.
    pub(crate) fn read(
        source: Source<'_>,
        section: &Section<'_>,
        factors: &[Factor],
        own: &[&'static str],
    ) -> Result<Option<Self>, Error> {
        if !section.is_there() {
            return Ok(None);
        }
        section.allow(&[
            "metric",
            "baseline",
            "min_effect",
            "database_share",
            "leave_decided",
        ])?;
        let leave_decided = section.choice("leave_decided", &[("off", false), ("on", true)])?;
        let metric = metric(section, own)?.unwrap_or(METRICS[0]);
        let min_effect =
            section.parsed("min_effect", "a share such as \"2 %\"", quantity::percent)?;
        let database_share = section.parsed(
            "database_share",
            "a share such as \"20 %\"",
            quantity::share,
        )?;
        let table = section.section("baseline", "[verdict] baseline")?;
        let is_there = table.is_there().then_some(());
        section.required("baseline", is_there, EXAMPLE)?;
        Ok(Some(Self {
            metric: metric.to_owned(),
            baseline: baseline(source, &table, factors)?,
            min_effect: min_effect.unwrap_or(MIN_EFFECT),
            database_share,
            leave_decided: leave_decided.unwrap_or(false),
        }))
    }
}

/// The metric that a table names, of those that every load has and those of one load.
pub(crate) fn metric(
    section: &Section<'_>,
    own: &[&'static str],
) -> Result<Option<&'static str>, Error> {
    let metrics = [&METRICS[..1], own, &METRICS[1..]].concat();
    let metrics: Vec<_> = metrics.into_iter().map(|metric| (metric, metric)).collect();
    section.choice("metric", &metrics)
}

/// A baseline: factors, each with one level, of which at least one has others beside it.
pub(crate) fn baseline(
    source: Source<'_>,
    table: &Section<'_>,
    factors: &[Factor],
) -> Result<Vec<(String, String)>, Error> {
    let baseline = matrix::conditions(source, table, factors)?
        .into_iter()
        .map(|(factor, levels)| (factors[factor].name.clone(), levels))
        .map(|(factor, levels)| match <[String; 1]>::try_from(levels) {
            Ok([level]) => Ok((factor, level)),
            Err(_) => Err(table.error_at(
                &factor,
                Problem::SeveralBaselines {
                    factor: factor.clone(),
                },
            )),
        })
        .collect::<Result<Vec<_>, Error>>()?;
    if baseline.is_empty() {
        return Err(table.error(Problem::EmptyBaseline));
    }
    let named = |factor: &&Factor| baseline.iter().any(|(name, _)| *name == factor.name);
    let mut named = factors.iter().filter(named);
    if !named.any(|factor| factor.levels.len() > 1) {
        return Err(table.error(Problem::NothingBesideBaseline));
    }
    Ok(baseline)
}
