//! `[report]`: the charts of the results.

use settings::{Chart, Factor};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
};

const EXAMPLE: &str = "chart = { x = \"connections\", line = \"mix\" }";

/// The measures that the report can draw for every load, followed by those of one load.
const VALUES: &[&str] = &[
    "throughput",
    "cpu",
    "p50",
    "p95",
    "p99",
    "fsyncs",
    "misses",
    "server_cpu",
    "client_cpu",
    "proxy_cpu",
];

/// Reads `[report]`; `None` when it describes no chart.
pub(crate) fn read(
    section: &Section<'_>,
    factors: &[Factor],
    own: &[&'static str],
) -> Result<Option<Chart>, Error> {
    section.allow(&["chart"])?;
    let chart = section.section("chart", "[report] chart")?;
    if !chart.is_there() {
        return Ok(None);
    }
    chart.allow(&["x", "line", "facet", "y"])?;
    let names: Vec<String> = factors.iter().map(|factor| factor.name.clone()).collect();
    let mut free = names.clone();
    let mut take = |key: &'static str, name: &str| {
        if let Some(at) = free.iter().position(|free| free == name) {
            return Ok(free.remove(at));
        }
        let name = name.to_owned();
        let problem = if names.contains(&name) {
            Problem::ChartTwice { name }
        } else {
            let factors = names.clone();
            Problem::UnknownFactor { name, factors }
        };
        Err(chart.error_at(key, problem))
    };
    let x = chart.string("x")?;
    let x = take("x", &chart.required("x", x, EXAMPLE)?.value)?;
    let line = match chart.string("line")? {
        Some(line) => Some(take("line", &line.value)?),
        None => None,
    };
    let facet = chart.list("facet")?.unwrap_or_default();
    let facet = facet
        .iter()
        .map(|facet| take("facet", &facet.value))
        .collect::<Result<_, _>>()?;
    // A factor with one level mixes nothing.
    let mut many = factors.iter().filter(|factor| factor.levels.len() > 1);
    if let Some(factor) = many.find(|factor| free.contains(&factor.name)) {
        let name = factor.name.clone();
        return Err(chart.error(Problem::ChartLeavesOut { name }));
    }
    let y = values(&chart, own)?;
    Ok(Some(Chart { x, line, facet, y }))
}

fn values(chart: &Section<'_>, own: &[&'static str]) -> Result<Vec<String>, Error> {
    let known = [&VALUES[..1], own, &VALUES[1..]].concat();
    let words: Vec<String> = known.iter().map(|word| format!("{word:?}")).collect();
    let mut values: Vec<String> = Vec::new();
    for value in chart.list("y")?.unwrap_or_default() {
        let name = value.parsed(&words.join(", "), |text| {
            known.contains(&text).then(|| text.to_owned())
        })?;
        if values.contains(&name) {
            return Err(value.error(Problem::ChartTwice { name }));
        }
        values.push(name);
    }
    Ok(values)
}
