//! What the author expects of the figures: held, broken, or not certain.

use units::{duration_with_interval, si_with_interval};
use verdict::{Metric, Outcome};

use crate::{
    grid::{Facet, Grid, cell::Figure, whole_place},
    results::{Expectation, Results},
    sentences::doubt::{appended, reason},
};

/// An expectation checked against one combination.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedExpectation {
    /// What was expected: `p99 < 5ms`.
    pub expected: String,
    /// The combination in words; empty where there is one.
    pub place: String,
    /// The figure with its interval; `None` if it was not measured.
    pub measured: Option<String>,
    /// Why the figure decides nothing although it is within the bound: `operations failed (W10)`.
    pub doubt: Option<String>,
    /// Whether it is so; undecided where nothing was measured, and where a figure within the bound is doubtful.
    pub outcome: Outcome,
}

impl CheckedExpectation {
    /// `p99 < 5ms at 32 connections: broken, 7.21 ms (6.90 ms to 7.53 ms)`;
    /// `p99 < 5ms: undecided, 4.2 ms, but operations failed (W10)`
    pub fn in_words(&self) -> String {
        let at = match self.place.as_str() {
            "" => String::new(),
            place => format!(" at {place}"),
        };
        let measured = self.measured.as_deref().unwrap_or("not measured");
        format!(
            "{}{at}: {}, {measured}{}",
            self.expected,
            self.outcome.word(),
            appended(self.doubt.as_deref())
        )
    }
}

/// Every expectation for every combination, those that are broken first; empty where the author expects nothing.
pub fn checked_expectations(results: &Results) -> Vec<CheckedExpectation> {
    of_grid(results, &Grid::of(results))
}

pub(crate) fn of_grid(results: &Results, grid: &Grid<'_>) -> Vec<CheckedExpectation> {
    let mut all = Vec::new();
    for expectation in &results.expectations {
        for facet in &grid.facets {
            all.extend(of_facet(expectation, grid, facet));
        }
    }
    all.sort_by_key(|it| match it.outcome {
        Outcome::Broken => 0,
        Outcome::Undecided => 1,
        Outcome::Held => 2,
    });
    all
}

fn of_facet(expectation: &Expectation, grid: &Grid<'_>, facet: &Facet) -> Vec<CheckedExpectation> {
    let checked = facet.cells().map(|(line, x, cell)| {
        let runs = cell.runs.iter().copied();
        let complete = runs.filter(|&run| grid.executions[run].record.is_complete());
        let complete: Vec<usize> = complete.collect();
        let runs = complete.iter().map(|&run| grid.executions[run].figures());
        let runs: Vec<_> = runs.collect();
        let values = expectation.metric.of_all(&runs);
        let figure = values.as_deref().and_then(Figure::of);
        let by_figure = figure.map_or(Outcome::Undecided, |it| outcome(expectation, &it));
        // Failures only make a figure look better.
        let is_held = by_figure == Outcome::Held;
        let mut held = complete.iter().filter(|_| is_held);
        let unfit = held.find_map(|&run| grid.unfit(run));
        CheckedExpectation {
            expected: expectation.in_words(),
            place: whole_place(grid.place(facet, line, x), facet.name()),
            measured: figure.map(|it| figure_in_words(expectation.metric, &it)),
            outcome: match unfit {
                Some(_) => Outcome::Undecided,
                None => by_figure,
            },
            doubt: unfit.map(reason),
        }
    });
    checked.collect()
}

/// Held or broken where the whole interval is; of one execution the value alone decides.
fn outcome(expectation: &Expectation, figure: &Figure) -> Outcome {
    let (low, high) = figure.interval.unwrap_or((figure.mean, figure.mean));
    let limit = expectation.limit;
    let (is_held, is_broken) = if expectation.is_below {
        (high < limit, low >= limit)
    } else {
        (low > limit, high <= limit)
    };
    match (is_held, is_broken) {
        (true, _) => Outcome::Held,
        (_, true) => Outcome::Broken,
        _ => Outcome::Undecided,
    }
}

fn figure_in_words(metric: Metric, figure: &Figure) -> String {
    let (mean, interval) = (figure.mean, figure.interval);
    match metric {
        Metric::Throughput | Metric::NewOrders => match interval {
            Some(bounds) => si_with_interval(mean, bounds),
            None => units::si(mean),
        },
        Metric::P50 | Metric::P95 | Metric::P99 => of_time(mean, interval),
        Metric::Elapsed => of_time(
            mean * 1e9,
            interval.map(|(low, high)| (low * 1e9, high * 1e9)),
        ),
    }
}

fn of_time(mean_ns: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        Some(bounds) => duration_with_interval(mean_ns, bounds),
        None => units::duration(mean_ns),
    }
}

/// All of them in a line: what is broken first, then what is not certain, then the number of those that hold; `None` where
/// nothing is expected.
pub(crate) fn in_short(checked: &[CheckedExpectation]) -> Option<String> {
    let held = checked
        .iter()
        .filter(|it| it.outcome == Outcome::Held)
        .count();
    let others = checked.iter().filter(|it| it.outcome != Outcome::Held);
    let mut told: Vec<String> = others.map(CheckedExpectation::in_words).collect();
    match (checked, held) {
        ([], _) => return None,
        ([only], 1) => told.push(only.in_words()),
        (_, 0) => {}
        (_, held) if held == checked.len() => told.push(format!("all {held} held")),
        (_, held) => told.push(format!("{held} held")),
    }
    Some(told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_decides() {
        let expectation = |is_below| Expectation {
            metric: Metric::P99,
            is_below,
            limit: 5e6,
            written: "5ms".to_owned(),
        };
        let figure = |low: f64, high: f64| Figure {
            mean: (low * high).sqrt(),
            interval: Some((low, high)),
            is_thin: false,
        };
        for (low, high, below, above) in [
            (3e6, 4e6, Outcome::Held, Outcome::Broken),
            (4e6, 6e6, Outcome::Undecided, Outcome::Undecided),
            (6e6, 7e6, Outcome::Broken, Outcome::Held),
        ] {
            assert_eq!(outcome(&expectation(true), &figure(low, high)), below);
            assert_eq!(outcome(&expectation(false), &figure(low, high)), above);
        }
        let single = Figure {
            interval: None,
            ..figure(4e6, 4e6)
        };
        assert_eq!(outcome(&expectation(true), &single), Outcome::Held);
    }

    #[test]
    fn a_bound_is_not_held_by_failures() {
        let checked = CheckedExpectation {
            expected: "p99 < 5ms".to_owned(),
            place: String::new(),
            measured: Some("4.20 ms".to_owned()),
            doubt: Some("operations failed (W10)".to_owned()),
            outcome: Outcome::Undecided,
        };
        let words = "p99 < 5ms: undecided, 4.20 ms, but operations failed (W10)";
        assert_eq!(checked.in_words(), words);
    }
}
