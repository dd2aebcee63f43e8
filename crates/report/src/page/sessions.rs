//! The batches of runs side by side over the time of their sessions: the difference of each pair, and the throughput of both
//! sides.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use samples::Record;
use units::{change, counted, moment, si, si_tick};
use verdict::{Answer, Execution, Measure, Question};

use super::{
    blocks::{CHARTS_AT_MOST, title},
    figures::scrolling,
    interval::in_words as ratio_in_words,
};
use crate::{
    chart::{
        frame::Description,
        marker::sample,
        scale::Axis,
        sessions::{SessionAxis, SessionChart, SessionPoint, SessionSeries},
    },
    grid::{Grid, in_words},
    results::Results,
};

/// Change on either side of no difference that the axis has at least, as a share.
const REACH_AT_LEAST: f64 = 0.01;
/// Styles of the two sides, as in the charts block by block, and of their difference.
const BASELINE: usize = 0;
const COMPARED: usize = 1;
const DIFFERENCE: usize = 2;

/// Number of a session, and of a batch in it.
type Place = (u32, u32);

/// One batch of a side.
#[derive(Debug, Clone, Copy)]
struct Batch {
    /// The middle of its time, seconds since the start of the session.
    middle_s: f64,
    /// The metric of the question.
    value: f64,
    throughput_per_s: Option<f64>,
}

/// The batches of one comparison, the baseline's first.
struct SessionBatches<'a> {
    answer: &'a Answer,
    sides: [BTreeMap<Place, Batch>; 2],
}

/// The charts of each comparison; empty without pairs of batches.
pub(super) fn section(results: &Results, grid: &Grid) -> Markup {
    let Some(question) = &results.verdict else {
        return html! {};
    };
    let answers = grid.answers.iter().filter(|answer| answer.of_batches);
    let all: Vec<SessionBatches> = answers
        .map(|answer| SessionBatches::of(results, grid, question, answer))
        .filter(|it| !it.differences().is_empty())
        .collect();
    if all.is_empty() {
        return html! {};
    }
    let batches = grid.executions.iter().enumerate();
    let times = batches.filter_map(|(at, execution)| {
        let (begin_s, end_s) = time_of_batch(execution.record)?;
        Some((session_of(results, at), begin_s, end_s))
    });
    let time = SessionAxis::of(times);
    let baseline = in_words(&question.baseline);
    let more = all.len().saturating_sub(CHARTS_AT_MOST);
    html! {
        section aria-labelledby="over-time" {
            h2 id="over-time" { "Against the baseline over time" }
            div.charts { @for (index, batches) in all.iter().take(CHARTS_AT_MOST).enumerate() {
                (batches.figure(question, &baseline, &time, index))
            } }
            p.note {
                "Upper chart: the change of each pair of batches from the baseline; the dashed line is their mean, the band its \
                interval as in the verdict. Lower chart: the throughput of each batch of both sides. What the machine does to \
                both sides moves both lines below, and leaves the pairs above where they are. Warm-ups are not shown. "
                @if more > 0 { "The other " (more) " comparisons have no charts." }
            }
        }
    }
}

/// Begin and end of a batch, seconds since the start of its session; `None` for what is no batch.
fn time_of_batch(record: &Record) -> Option<(f64, f64)> {
    record.batch.and_then(|_| record.measured_window_s())
}

/// The session of an execution: the block of its run.
fn session_of(results: &Results, execution: usize) -> u32 {
    results.runs[results.run_of(execution)].header.block
}

impl<'a> SessionBatches<'a> {
    fn of(results: &Results, grid: &Grid, question: &Question, answer: &'a Answer) -> Self {
        let side = |levels: &[(String, String)]| {
            let is_side = |execution: &Execution<'_>| {
                let combination = &execution.record.header.combination;
                let mut wanted = levels.iter().chain(&answer.within);
                wanted.all(|(factor, level)| combination.get(factor) == Some(level))
            };
            let complete = grid.executions.iter().enumerate();
            let complete = complete.filter(|(_, it)| it.record.is_complete() && is_side(it));
            let (indices, executions): (Vec<usize>, Vec<&Execution<'_>>) = complete.unzip();
            let values = Measure::Metric(question.metric).of_all(&executions);
            let values = values.unwrap_or_default();
            let batches = indices.iter().zip(executions).zip(values);
            let placed = batches.filter_map(|((at, execution), value)| {
                let record = execution.record;
                let (begin_s, end_s) = time_of_batch(record)?;
                let batch = Batch {
                    middle_s: (begin_s + end_s) / 2.0,
                    value,
                    throughput_per_s: execution.figures().throughput_per_s,
                };
                Some(((session_of(results, *at), record.batch?), batch))
            });
            placed.collect::<BTreeMap<Place, Batch>>()
        };
        Self {
            answer,
            sides: [side(&question.baseline), side(&answer.levels)],
        }
    }

    /// The ratio of each pair to the baseline.
    fn differences(&self) -> Vec<SessionPoint> {
        let [baseline, compared] = &self.sides;
        let pairs = baseline.iter().filter_map(|(place, a)| {
            let b = compared.get(place)?;
            let ratio = b.value / a.value;
            let point = point(*place, (a.middle_s + b.middle_s) / 2.0, ratio);
            (ratio.is_finite() && ratio > 0.0).then_some(point)
        });
        pairs.collect()
    }

    /// The throughput of each batch of a side.
    fn throughputs(&self, side: usize) -> Vec<SessionPoint> {
        let batches = self.sides[side].iter();
        let measured = batches.filter_map(|(place, batch)| {
            Some(point(*place, batch.middle_s, batch.throughput_per_s?))
        });
        measured.collect()
    }

    fn figure(
        &self,
        question: &Question,
        baseline: &str,
        time: &SessionAxis,
        index: usize,
    ) -> Markup {
        let compared = in_words(&self.answer.levels);
        let title = title(self.answer, baseline);
        html! {
            figure {
                figcaption { (title) ": " (self.answer.decision.word()) }
                ul.legend {
                    li { (sample(DIFFERENCE)) "change of a pair" }
                    li { (sample(BASELINE)) (baseline) }
                    li { (sample(COMPARED)) (compared) }
                }
                (self.difference_chart(question, &title, time, index))
                (self.throughput_chart([baseline, &compared], &title, time, index))
                details {
                    summary { "Numbers" span.hidden { " of: " (title) ", over time" } }
                    (scrolling(&title, self.table(question, [baseline, &compared])))
                }
            }
        }
    }

    fn difference_chart(
        &self,
        question: &Question,
        title: &str,
        time: &SessionAxis,
        index: usize,
    ) -> Markup {
        let points = self.differences();
        let (low, high) = ends(&points);
        let axis = Axis::around(
            low.min(1.0 - REACH_AT_LEAST),
            high.max(1.0 + REACH_AT_LEAST),
            4,
        );
        let mean = self.answer.comparison.map(|it| it.ratio);
        // An interval of two pairs may have no end.
        let mean = mean.filter(|it| !it.low.is_nan() && !it.high.is_nan());
        let said = mean.map_or_else(String::new, |mean| {
            format!(", mean {}", ratio_in_words(&mean))
        });
        let text = format!(
            "{}{said}; lowest {}, highest {}.",
            counted(points.len(), "pair"),
            change(low),
            change(high)
        );
        let metric = question.metric.in_words();
        let chart = SessionChart {
            description: Description {
                id: &format!("over-time-{index}-change"),
                title: &format!("{title}, change of {metric} over time"),
                text: &text,
            },
            x: time,
            y_name: &format!("change of {metric}"),
            y: &axis,
            tick: change,
            hint: change,
            level: Some(1.0),
            series: vec![SessionSeries {
                name: "change",
                style: DIFFERENCE,
                points,
                mean,
            }],
        };
        chart.draw()
    }

    fn throughput_chart(
        &self,
        names: [&str; 2],
        title: &str,
        time: &SessionAxis,
        index: usize,
    ) -> Markup {
        let styles = [BASELINE, COMPARED];
        let series = [0, 1].map(|side| SessionSeries {
            name: names[side],
            style: styles[side],
            points: self.throughputs(side),
            mean: None,
        });
        let said = series.iter().filter(|it| !it.points.is_empty()).map(|it| {
            let (low, high) = ends(&it.points);
            format!("{}: {} to {}", it.name, si(low), si(high))
        });
        let said: Vec<String> = said.collect();
        let all: Vec<SessionPoint> = series.iter().flat_map(|it| it.points.clone()).collect();
        let (low, high) = ends(&all);
        let axis = Axis::around(low, high, 3);
        let cut = if axis.low > 0.0 {
            " (axis not from 0)"
        } else {
            ""
        };
        let chart = SessionChart {
            description: Description {
                id: &format!("over-time-{index}-throughput"),
                title: &format!("{title}, throughput of each batch over time"),
                text: &format!("Operations per second. {}.", said.join("; ")),
            },
            x: time,
            y_name: &format!("operations/s{cut}"),
            y: &axis,
            tick: si_tick,
            hint: si,
            level: None,
            series: series.into(),
        };
        chart.draw()
    }

    fn table(&self, question: &Question, names: [&str; 2]) -> Markup {
        let differences = self.differences();
        let places: BTreeSet<Place> = self
            .sides
            .iter()
            .flat_map(BTreeMap::keys)
            .copied()
            .collect();
        let per_s = |side: usize, place: &Place| {
            let batch = self.sides[side].get(place);
            let per_s = batch.and_then(|batch| batch.throughput_per_s);
            per_s.map_or("–".to_owned(), si)
        };
        html! {
            table {
                thead { tr {
                    th scope="col" { "session" }
                    th scope="col" { "batch" }
                    th scope="col" { "time" }
                    @for name in names { th scope="col" { (name) ", operations/s" } }
                    th scope="col" { "change of " (question.metric.in_words()) }
                } }
                tbody { @for place in &places {
                    @let pair = differences.iter().find(|it| (it.session, it.batch) == *place);
                    tr {
                        th scope="row" { (place.0) }
                        td { (place.1) }
                        td { @match pair { Some(pair) => (moment(pair.t_s)), None => "–" } }
                        @for side in [0, 1] { td { (per_s(side, place)) } }
                        td { @match pair { Some(pair) => (change(pair.value)), None => "–" } }
                    }
                } }
            }
        }
    }
}

fn point((session, batch): Place, t_s: f64, value: f64) -> SessionPoint {
    SessionPoint {
        session,
        batch,
        t_s,
        value,
    }
}

/// The lowest and the highest value.
fn ends(points: &[SessionPoint]) -> (f64, f64) {
    let values = || points.iter().map(|it| it.value);
    (
        values().fold(f64::INFINITY, f64::min),
        values().fold(0.0, f64::max),
    )
}
