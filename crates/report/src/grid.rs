//! The runs arranged for the charts: facets, lines, and levels along x.

pub(crate) mod cell;
mod clauses;
pub(crate) mod percentiles;
mod run_doubts;
pub(crate) mod scaling;

use std::collections::{BTreeMap, BTreeSet};

use samples::{Host, LOAD, Record};
use settings::{Chart, Factor};
use verdict::{Cost, Execution, Metric, Question};

use crate::{
    grid::{
        cell::{Cell, Percentile, work_of},
        run_doubts::RunDoubts,
    },
    results::Results,
};

/// Usual names of the factor along x, best first.
pub(crate) const USUAL_X: [&str; 3] = ["connections", "clients", "threads"];

/// All runs, arranged for the charts.
pub(crate) struct Grid<'r> {
    /// Factor along x; `None` when no factor has two levels.
    pub(crate) x: Option<Factor>,
    /// Factor whose levels are the lines.
    pub(crate) line: Option<Factor>,
    /// Factors with only one level, which all runs share.
    pub(crate) constants: Vec<(String, String)>,
    /// The facets, each with one chart.
    pub(crate) facets: Vec<Facet>,
    /// The measures to draw, in this order.
    pub(crate) measures: Vec<Measure>,
    /// Each run or stage with its figures, in the order of [`Results::compared`].
    pub(crate) executions: Vec<Execution<'r>>,
    /// What speaks against the figures of each of them.
    doubts: Vec<RunDoubts>,
    /// What is compared with the baseline; `None` without a question.
    question: Option<&'r Question>,
    /// The comparisons with the baseline; empty without a question.
    pub(crate) answers: Vec<verdict::Answer>,
    /// The comparisons of each clause; none of one that compares nothing.
    pub(crate) clauses: Vec<Vec<verdict::Answer>>,
    /// What to say where a combination has no CPU figures.
    pub(crate) cpu_missing: &'static str,
    /// True if the author compares combinations that do different work: then their throughputs may be ranked.
    compares_work: bool,
}

/// A measure that a chart shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Measure {
    Throughput,
    NewOrders,
    Cpu,
    Cost(Cost),
    /// Response times: the percentiles that share one chart.
    Latency(Vec<Percentile>),
}

impl Measure {
    pub(crate) fn shows(&self, metric: Metric) -> bool {
        match self {
            Self::Throughput => metric == Metric::Throughput,
            Self::NewOrders => metric == Metric::NewOrders,
            Self::Latency(percentiles) => percentiles.iter().any(|it| it.metric() == metric),
            Self::Cpu | Self::Cost(_) => false,
        }
    }
}

/// The part of the grid in one chart.
pub(crate) struct Facet {
    /// Factor and level; empty when the grid has only one facet.
    pub(crate) levels: Vec<(String, String)>,
    /// One per level of the line factor, in their order; one when there is no line factor.
    pub(crate) lines: Vec<Line>,
}

/// The combinations of one facet that differ only in x.
pub(crate) struct Line {
    /// Level of the line factor.
    pub(crate) level: Option<String>,
    /// One per level of x; `None` if the plan does not contain the combination or none has run.
    pub(crate) cells: Vec<Option<Cell>>,
}

impl Facet {
    /// The name, `rows 1x, query_cache 64M`; `None` when the grid has only one facet.
    pub(crate) fn name(&self) -> Option<String> {
        (!self.levels.is_empty()).then(|| in_words(&self.levels))
    }

    /// All combinations with the index of their line and their x.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        self.lines.iter().enumerate().flat_map(|(line, cells)| {
            let cells = cells.cells.iter().enumerate();
            cells.filter_map(move |(x, cell)| cell.as_ref().map(|cell| (line, x, cell)))
        })
    }
}

impl Line {
    /// True when no run has this level in this facet.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.iter().all(Option::is_none)
    }
}

impl<'r> Grid<'r> {
    /// Arranges the runs according to `results.chart`, or by the shape of the factors.
    /// False where all loads use a disk and no server.
    pub(crate) fn uses_servers(&self) -> bool {
        !(self.executions.iter()).all(|it| it.record.disk_load.is_some())
    }

    pub(crate) fn of(results: &'r Results) -> Self {
        let executions = results.compared().iter().map(|it| Execution::of(it, 1));
        let executions: Vec<Execution<'_>> = executions.collect();
        let answers = match &results.verdict {
            Some(question) => verdict::answers(question, &executions),
            None => Vec::new(),
        };
        let clauses = clauses::comparisons(results, &executions, &answers);
        let factors = complete_factors(results);
        let (varied, constant): (Vec<_>, Vec<_>) = factors
            .into_iter()
            .partition(|factor| factor.levels.len() > 1);
        let mut rest = varied;
        // Loads are not compared with each other: unless told, each has charts of its own.
        let loads = match &results.chart {
            None if results.has_several_loads() => take(&mut rest, LOAD),
            _ => None,
        };
        let x = take_x(&mut rest, results);
        let line = take_line(&mut rest, results.chart.as_ref());
        rest.splice(..0, loads);
        // Factors that the author did not name also make facets, so that no chart mixes combinations.
        let facets = facets_of(
            &executions,
            x.as_ref(),
            line.as_ref(),
            &in_order(rest, results.chart.as_ref()),
        );
        let compares_work = compares_work(results, &executions);
        let constants = constant.into_iter().filter_map(|factor| {
            let level = factor.levels.into_iter().next()?;
            Some((factor.name, level))
        });
        Self {
            x,
            line,
            constants: constants.collect(),
            facets,
            measures: measures(results.chart.as_ref()),
            doubts: executions.iter().map(|_| RunDoubts::default()).collect(),
            executions,
            question: results.verdict.as_ref(),
            answers,
            clauses,
            cpu_missing: cpu_missing(results),
            compares_work,
        }
    }

    /// The rule by which the figures of an execution are not the server's; `None` where they are.
    pub(crate) fn unfit(&self, execution: usize) -> Option<&'static audit::Rule> {
        self.doubts[execution].unfit(self.executions[execution].record)
    }

    /// The rule by which other programs used the machine of an execution; `None` where they did not.
    pub(crate) fn shared_machine(&self, execution: usize) -> Option<&'static audit::Rule> {
        self.doubts[execution].shared_machine(self.executions[execution].record)
    }

    /// The work whose throughputs are ranked together with this one's, by the names of its operations.
    pub(crate) fn work<'g>(&self, cell: &'g Cell) -> Option<&'g BTreeSet<String>> {
        (!self.compares_work).then_some(&cell.work)
    }

    /// Whether the comparison of throughputs with the baseline has decided between two combinations. It pairs the runs of a
    /// block, so that it can tell apart what two intervals that overlap cannot.
    pub(crate) fn is_decided_between(&self, one: &Cell, other: &Cell) -> bool {
        let Some(question) = self.question.filter(|it| it.metric == Metric::Throughput) else {
            return false;
        };
        let mut decided = self.answers.iter().filter(|it| it.decision.is_different());
        decided.any(|answer| {
            let is_at = |cell: &Cell, levels: &[(String, String)]| {
                let mut all = answer.within.iter().chain(levels);
                let run = cell.runs.first().map(|run| self.executions[*run].record);
                run.is_some_and(|record| {
                    let own = &record.header.combination;
                    all.all(|(name, level)| own.get(name) == Some(level))
                })
            };
            let are = |compared: &Cell, baseline: &Cell| {
                is_at(compared, &answer.levels) && is_at(baseline, &question.baseline)
            };
            are(one, other) || are(other, one)
        })
    }

    /// Number of combinations that have run.
    pub(crate) fn combinations(&self) -> usize {
        self.facets.iter().map(|facet| facet.cells().count()).sum()
    }

    /// True when at least one combination has an interval.
    pub(crate) fn has_intervals(&self) -> bool {
        let mut cells = self.facets.iter().flat_map(Facet::cells);
        cells.any(|(_, _, cell)| {
            cell.throughput
                .is_some_and(|figure| figure.interval.is_some())
        })
    }

    /// True when the factor along x is a number of clients.
    pub(crate) fn x_counts_clients(&self) -> bool {
        let x = self.x.as_ref();
        x.is_some_and(|factor| USUAL_X.contains(&factor.name.as_str()))
    }

    /// A level along x, in words: `16 connections`, `pool 48M`; `None` without a factor along x.
    pub(crate) fn place_on_x(&self, x: usize) -> Option<String> {
        let factor = self.x.as_ref()?;
        let (name, level) = (factor.name.as_str(), factor.levels[x].as_str());
        Some(match (self.x_counts_clients(), level) {
            (true, "1") => format!("1 {}", name.trim_end_matches('s')),
            (true, _) => format!("{level} {name}"),
            (false, _) => format!("{name} {level}"),
        })
    }

    /// A combination in a facet, in words: `16 connections, mix 1:0`; empty when there is only one.
    pub(crate) fn place(&self, facet: &Facet, line: usize, x: usize) -> String {
        let x = self.place_on_x(x);
        let line = self.line.as_ref().and_then(|factor| {
            let level = facet.lines[line].level.as_ref()?;
            Some(format!("{} {level}", factor.name))
        });
        [x, line]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Both parts of a combination's place that are there: `16 connections, mix 1:0, rows 0.5x`.
pub(crate) fn whole_place(within: String, facet: Option<String>) -> String {
    let parts = [Some(within).filter(|it| !it.is_empty()), facet];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The levels in words: `rows 1x, query_cache 64M`.
pub(crate) fn in_words(levels: &[(String, String)]) -> String {
    let words: Vec<String> = levels
        .iter()
        .map(|(factor, level)| format!("{factor} {level}"))
        .collect();
    words.join(", ")
}

/// The number in a level: `16`, `0.5x`, `64M`; `None` for a name.
pub(crate) fn level_number(level: &str) -> Option<f64> {
    let level = level.trim().trim_end_matches('x');
    let (digits, factor) = match level.char_indices().next_back()? {
        (at, 'k' | 'K') => (&level[..at], 1024.0),
        (at, 'M') => (&level[..at], 1048576.0),
        (at, 'G') => (&level[..at], 1073741824.0),
        _ => (level, 1.0),
    };
    let number: f64 = digits.trim().parse().ok()?;
    number.is_finite().then_some(number * factor)
}

/// The factors, with levels that occur only in the records (of a scaled experiment) added to the author's.
pub(crate) fn complete_factors(results: &Results) -> Vec<Factor> {
    let mut factors = results.all_factors();
    for factor in &mut factors {
        for record in results.compared() {
            let level = level_of(record, &factor.name);
            if !factor.levels.iter().any(|known| known == level) {
                factor.levels.push(level.to_owned());
            }
        }
        // A level without runs would be an empty line.
        let ran = |level: &String| {
            let mut compared = results.compared().iter();
            compared.any(|record| level_of(record, &factor.name) == level)
        };
        if !results.runs.is_empty() {
            factor.levels.retain(ran);
        }
    }
    factors
}

fn level_of<'a>(record: &'a Record, factor: &str) -> &'a str {
    record
        .header
        .combination
        .get(factor)
        .map_or("", String::as_str)
}

fn take(factors: &mut Vec<Factor>, name: &str) -> Option<Factor> {
    let at = factors.iter().position(|factor| factor.name == name)?;
    Some(factors.remove(at))
}

/// Takes the factor along x, with its levels in ascending order if they are numbers; unless told, the stages if there are
/// any.
fn take_x(factors: &mut Vec<Factor>, results: &Results) -> Option<Factor> {
    let numeric = |factor: &Factor| factor.levels.iter().all(|l| level_number(l).is_some());
    let own = results.own_x();
    let mut x = match &results.chart {
        Some(chart) => take(factors, &chart.x),
        None => (own.iter().chain(&USUAL_X))
            .find_map(|name| take(factors, name))
            .or_else(|| {
                let name = factors.iter().find(|f| numeric(f)).or(factors.first());
                let name = name.map(|factor| factor.name.clone())?;
                take(factors, &name)
            }),
    }?;
    if numeric(&x) {
        let key = |level: &String| level_number(level).unwrap_or(0.0);
        x.levels.sort_by(|a, b| key(a).total_cmp(&key(b)));
    }
    Some(x)
}

fn take_line(factors: &mut Vec<Factor>, chart: Option<&Chart>) -> Option<Factor> {
    match chart {
        Some(chart) => take(factors, chart.line.as_ref()?),
        None => (!factors.is_empty()).then(|| factors.remove(0)),
    }
}

/// The facet factors: those that the author named first, in the author's order.
fn in_order(mut factors: Vec<Factor>, chart: Option<&Chart>) -> Vec<Factor> {
    let named = chart.map_or(&[] as &[String], |chart| &chart.facet);
    factors.sort_by_key(|factor| {
        let at = named.iter().position(|name| *name == factor.name);
        at.unwrap_or(named.len())
    });
    factors
}

fn facets_of(
    executions: &[Execution<'_>],
    x: Option<&Factor>,
    line: Option<&Factor>,
    facet: &[Factor],
) -> Vec<Facet> {
    let index = |factor: &Factor, record: &Record| {
        let level = level_of(record, &factor.name);
        let at = factor.levels.iter().position(|known| known == level);
        at.unwrap_or(0)
    };
    type Runs<'a> = Vec<(usize, &'a Execution<'a>)>;
    let mut by_place: BTreeMap<Vec<usize>, BTreeMap<(usize, usize), Runs>> = BTreeMap::new();
    for (at, execution) in executions.iter().enumerate() {
        let record = execution.record;
        let key = facet.iter().map(|factor| index(factor, record)).collect();
        let at_line = line.map_or(0, |factor| index(factor, record));
        let at_x = x.map_or(0, |factor| index(factor, record));
        let runs = by_place.entry(key).or_default();
        runs.entry((at_line, at_x))
            .or_default()
            .push((at, execution));
    }
    let lines = line.map_or(1, |factor| factor.levels.len());
    let xs = x.map_or(1, |factor| factor.levels.len());
    let facets = by_place.into_iter().map(|(key, runs)| Facet {
        levels: facet
            .iter()
            .zip(key)
            .map(|(factor, level)| (factor.name.clone(), factor.levels[level].clone()))
            .collect(),
        lines: (0..lines)
            .map(|at_line| Line {
                level: line.map(|factor| factor.levels[at_line].clone()),
                cells: (0..xs)
                    .map(|at_x| runs.get(&(at_line, at_x)).map(|runs| Cell::of(runs)))
                    .collect(),
            })
            .collect(),
    });
    facets.collect()
}

/// Whether a comparison that the author asks for is of combinations that do different work.
fn compares_work(results: &Results, executions: &[Execution<'_>]) -> bool {
    let of_clauses = results.clauses.iter().filter_map(|it| it.compared.as_ref());
    let mut questions = results.verdict.iter().chain(of_clauses);
    questions.any(|question| {
        let mut works: BTreeMap<Vec<(&String, &String)>, BTreeSet<BTreeSet<String>>> =
            BTreeMap::new();
        for execution in executions.iter().filter(|it| it.record.is_complete()) {
            let levels = execution.record.header.combination.iter();
            let asked = |factor: &String| question.baseline.iter().any(|(name, _)| name == factor);
            let shared = levels.filter(|(factor, _)| !asked(factor)).collect();
            works.entry(shared).or_default().insert(work_of(execution));
        }
        works.values().any(|works| works.len() > 1)
    })
}

/// Distinguishes a server's machine that was not observed from one whose figures are missing.
fn cpu_missing(results: &Results) -> &'static str {
    let mut machines = results.runs.iter().flat_map(|record| &record.machines);
    if machines.any(|machine| machine.host != Host::Client) {
        "CPU not observed"
    } else {
        "server host not observed"
    }
}

/// The author's measures; percentiles share one chart, at the position of the first of them.
fn measures(chart: Option<&Chart>) -> Vec<Measure> {
    let named: Vec<&str> = match chart {
        Some(chart) if !chart.y.is_empty() => chart.y.iter().map(String::as_str).collect(),
        _ => vec!["throughput", "cpu", "p50", "p95", "p99"],
    };
    let percentiles: Vec<Percentile> = Percentile::ALL
        .into_iter()
        .filter(|percentile| named.contains(&percentile.name()))
        .collect();
    let mut measures = Vec::new();
    for name in named {
        let measure = match name {
            "throughput" => Measure::Throughput,
            "new_orders_per_min" => Measure::NewOrders,
            "cpu" => Measure::Cpu,
            _ if percentiles.iter().any(|p| p.name() == name) => {
                Measure::Latency(percentiles.clone())
            }
            _ => match Cost::all().find(|cost| cost.name() == name) {
                Some(cost) => Measure::Cost(cost),
                None => continue,
            },
        };
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    measures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbers_where_they_can_be() {
        let cases = [
            ("16", Some(16.0)),
            ("0.5x", Some(0.5)),
            ("64M", Some(67_108_864.0)),
            ("0", Some(0.0)),
            ("xfs", None),
            ("1:0", None),
            ("", None),
            ("M", None),
            ("inf", None),
        ];
        for (level, number) in cases {
            assert_eq!(level_number(level), number, "{level:?}");
        }
    }

    #[test]
    fn percentiles_share_one_chart_and_the_order_is_the_authors() {
        let chart = |y: &[&str]| Chart {
            x: "connections".into(),
            line: None,
            facet: Vec::new(),
            y: y.iter().map(|name| (*name).to_owned()).collect(),
        };
        let all = Measure::Latency(Percentile::ALL.to_vec());
        let by_default = vec![Measure::Throughput, Measure::Cpu, all];
        assert_eq!(measures(None), by_default);
        assert_eq!(measures(Some(&chart(&[]))), by_default);
        let costs = measures(Some(&chart(&["misses", "unheard_of", "fsyncs"])));
        assert_eq!(
            costs,
            [Measure::Cost(Cost::Misses), Measure::Cost(Cost::Fsyncs)]
        );
        let two = Measure::Latency(vec![Percentile::P50, Percentile::P99]);
        let own = measures(Some(&chart(&["p99", "throughput", "p50"])));
        assert_eq!(own, vec![two, Measure::Throughput]);
    }
}
