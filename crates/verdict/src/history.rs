//! Results over time: the headline figure of each, and the changes of level in a series.

use std::collections::BTreeMap;

use samples::{Record, RunParts};
use stats::{ChangePoint, Threshold, change_points, execution_mean};

use crate::{
    decision::CONFIDENCE,
    max_rate::MaxRate,
    measure::Measure,
    metric::Metric,
    side::{Execution, Levels},
};

/// The headline figure of results: the mean of the best combination over its executions, which are batches of slices for
/// runs side by side; with stages, of the best one.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    pub measure: Measure,
    /// Mean of the executions, see [`stats::execution_mean`].
    pub mean: f64,
    /// Bounds of its 95 % interval, corrected for the choice of the best among all; `None` with one execution.
    pub bounds: Option<(f64, f64)>,
    pub executions: usize,
    /// Whether the executions are batches of slices.
    pub is_of_batches: bool,
    /// The combination.
    pub at: Levels,
}

/// One measure of one combination over time, or the answers of its searches.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The combination.
    pub at: Levels,
    /// The results with this combination, the oldest first.
    pub points: Vec<Point>,
    /// The changes of level.
    pub changes: Vec<ChangePoint>,
}

/// One result of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Index of the result among those given.
    pub result: usize,
    /// Mean of its executions in the measure's unit, or the rate of its search.
    pub mean: f64,
    /// Bounds of its 95 % interval; `None` with one execution, and for a rate that was measured itself.
    pub bounds: Option<(f64, f64)>,
    pub executions: usize,
    /// Whether the executions are batches of slices.
    pub is_of_batches: bool,
    /// Versions of their servers, without repeats.
    pub servers: Vec<String>,
}

/// The headline figure of the records of one experiment; `None` if no run is complete or nothing was measured.
pub fn headline(records: &[Record]) -> Option<Headline> {
    let parts = RunParts::of(records);
    let combinations = by_combination(parts.compared(records));
    Metric::HEADLINE.into_iter().find_map(|metric| {
        let measure = Measure::Metric(metric);
        let values = values_of(&combinations, measure);
        let means = values.into_iter().filter_map(|(at, values)| {
            let found = execution_mean(&values, CONFIDENCE)?;
            Some(Headline {
                measure,
                mean: found.mean,
                bounds: found.bounds,
                executions: values.len(),
                is_of_batches: !parts.batches.is_empty(),
                at,
            })
        });
        means.reduce(|best, other| {
            let is_better = (other.mean > best.mean) == measure.more_is_better();
            if is_better && other.mean != best.mean {
                other
            } else {
                best
            }
        })
    })
}

/// A measure of every combination over time, with stages of each of them; the results are given the oldest first.
/// Combinations are in the order of their levels.
pub fn series<'r>(
    results: impl IntoIterator<Item = &'r [Record]>,
    measure: Measure,
) -> Vec<Series> {
    let mut by_levels: BTreeMap<Levels, Vec<Point>> = BTreeMap::new();
    for (result, records) in results.into_iter().enumerate() {
        let parts = RunParts::of(records);
        let compared = parts.compared(records);
        let combinations = by_combination(compared);
        for (at, values) in values_of(&combinations, measure) {
            let of_point = compared.iter().filter(|it| it.header.combination == at);
            let servers = server_versions(of_point);
            let Some(found) = execution_mean(&values, CONFIDENCE) else {
                continue;
            };
            by_levels.entry(at).or_default().push(Point {
                result,
                mean: found.mean,
                bounds: found.bounds,
                executions: values.len(),
                is_of_batches: !parts.batches.is_empty(),
                servers,
            });
        }
    }
    with_changes(by_levels)
}

/// The answers of the searches of every combination over time; the results are given the oldest first, each with its
/// answers. A search that found no rate has no point.
pub fn rate_series<'r>(
    results: impl IntoIterator<Item = (&'r [Record], Vec<MaxRate>)>,
) -> Vec<Series> {
    let mut by_levels: BTreeMap<Levels, Vec<Point>> = BTreeMap::new();
    for (result, (records, answers)) in results.into_iter().enumerate() {
        for answer in answers {
            let Some((mean, bounds)) = answer.rate() else {
                continue;
            };
            let question = answer.question;
            let point = Point {
                result,
                mean,
                bounds,
                executions: answer.runs,
                is_of_batches: false,
                servers: server_versions(records.iter().filter(|it| question.has(it))),
            };
            by_levels
                .entry(question.combination)
                .or_default()
                .push(point);
        }
    }
    with_changes(by_levels)
}

/// The series of these points.
fn with_changes(by_levels: BTreeMap<Levels, Vec<Point>>) -> Vec<Series> {
    let all = by_levels.into_iter().map(|(at, points)| {
        let means: Vec<f64> = points.iter().map(|point| point.mean).collect();
        Series {
            at,
            points,
            changes: change_points(&means, Threshold::USUAL),
        }
    });
    all.collect()
}

/// The version of the server of each run, without repeats, in the order of the runs.
pub fn server_versions<'r>(runs: impl IntoIterator<Item = &'r Record>) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for server in runs.into_iter().filter_map(|run| run.servers.first()) {
        if !versions.contains(&server.version) {
            versions.push(server.version.clone());
        }
    }
    versions
}

/// The complete executions by combination.
fn by_combination(records: &[Record]) -> BTreeMap<&Levels, Vec<Execution<'_>>> {
    let mut by_levels: BTreeMap<&Levels, Vec<Execution<'_>>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.is_complete()) {
        let executions = by_levels.entry(&record.header.combination).or_default();
        executions.push(Execution::of(record, 0));
    }
    by_levels
}

/// The values of a measure by combination, for the executions that have it.
fn values_of(
    combinations: &BTreeMap<&Levels, Vec<Execution<'_>>>,
    measure: Measure,
) -> Vec<(Levels, Vec<f64>)> {
    let all = combinations.iter().filter_map(|(at, executions)| {
        let executions: Vec<_> = executions.iter().collect();
        Some(((*at).clone(), measure.of_all(&executions)?))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use stats::{Interval, RateAnswer};

    use super::*;
    use crate::testing::{RecordBuilder, rate_question, record};

    fn result(per_s: &[u64], connections: &'static str) -> Vec<Record> {
        let made = per_s.iter().map(|per_s| {
            record(&RecordBuilder {
                per_s: *per_s,
                levels: vec![("connections", connections)],
                ..RecordBuilder::default()
            })
        });
        made.collect()
    }

    #[test]
    fn the_best_combination_stands_for_the_results() {
        let mut records = result(&[100, 110], "2");
        records.extend(result(&[200, 220], "8"));
        let found = headline(&records).unwrap();
        assert!((found.mean - (200.0 * 220.0_f64).sqrt()).abs() < 1e-9);
        assert_eq!(found.executions, 2);
        assert_eq!(found.at["connections"], "8");
        assert!(found.bounds.is_some());
        records.iter_mut().for_each(|record| record.end = None);
        assert_eq!(headline(&records), None);
    }

    #[test]
    fn a_point_has_the_servers_of_its_own_combination() {
        let mut records = result(&[100, 110], "2");
        records.extend(result(&[200, 220], "8"));
        for (record, version) in records
            .iter_mut()
            .zip(["9.7.0", "9.7.0", "10.11.19", "11.8.3"])
        {
            record.servers[0].version = version.to_owned();
        }
        let found = series([records.as_slice()], Measure::Metric(Metric::Throughput));
        let servers = found.iter().map(|it| it.points[0].servers.join(", "));
        assert_eq!(servers.collect::<Vec<_>>(), ["9.7.0", "10.11.19, 11.8.3"]);
    }

    #[test]
    fn the_answers_of_searches_are_a_series() {
        let question = rate_question("connections", "2");
        let answer = |answer| MaxRate {
            question: question.clone(),
            answer,
            runs: 12,
            limited_by: None,
        };
        let kept = RateAnswer::KeptUpTo {
            rate_per_s: 200.0,
            is_client_limit: false,
        };
        let found = RateAnswer::Found(Interval {
            estimate: 150.0,
            low: 140.0,
            high: 160.0,
        });
        let runs = [
            result(&[100, 110], "2"),
            result(&[1], "2"),
            result(&[1], "2"),
        ];
        let answers = [Some(kept), None, Some(found)].map(|it| vec![answer(it)]);
        let series = rate_series(runs.iter().map(Vec::as_slice).zip(answers));
        assert_eq!(series.len(), 1);
        assert_eq!(series[0].at, question.combination);
        let points = series[0].points.iter();
        let points: Vec<_> = points.map(|it| (it.result, it.mean, it.bounds)).collect();
        assert_eq!(points, [(0, 200.0, None), (2, 150.0, Some((140.0, 160.0)))]);
        assert_eq!(series[0].points[0].servers.len(), 1);
    }

    #[test]
    fn a_series_changes_where_its_level_does() {
        let levels = [100, 101, 99, 100, 102, 100, 80, 81, 79, 80, 80, 81];
        let mut results: Vec<Vec<Record>> =
            levels.iter().map(|level| result(&[*level], "2")).collect();
        results.push(result(&[500], "8"));
        let results = results.iter().map(Vec::as_slice);
        let found = series(results, Measure::Metric(Metric::Throughput));
        assert_eq!(found.len(), 2);
        let changes: Vec<usize> = found[0].changes.iter().map(|change| change.at).collect();
        assert_eq!(changes, [6]);
        assert_eq!((found[1].points.len(), found[1].points[0].result), (1, 12));
    }
}
