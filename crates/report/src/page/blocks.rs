//! The compared sides block by block, as points: the evidence of the verdict.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use units::{duration, duration_tick, si, si_tick};
use verdict::{Answer, Execution, Measure, Question, Scale};

use super::figures::scrolling;
use crate::{
    chart::{
        Format,
        frame::{Description, Size},
        marker::sample,
        pair::{PairChart, PairSide},
        scale::Axis,
    },
    grid::{Grid, in_words},
    sentences::nouns::block_nouns,
};

/// Maximum number of comparisons with a chart; further ones are only in the table.
pub(super) const CHARTS_AT_MOST: usize = 16;

/// The values of both sides of one comparison by block.
struct Pairs<'a> {
    answer: &'a Answer,
    blocks: Vec<String>,
    sides: [Vec<Option<f64>>; 2],
}

/// A chart for each comparison; empty without comparisons.
pub(super) fn charts(grid: &Grid, question: &Question) -> Markup {
    let all: Vec<Pairs> = grid
        .answers
        .iter()
        .map(|answer| Pairs::of(grid, question, answer))
        .filter(|pairs| !pairs.blocks.is_empty())
        .collect();
    let baseline = in_words(&question.baseline);
    let more = all.len().saturating_sub(CHARTS_AT_MOST);
    html! {
        @if !all.is_empty() {
            div.charts.small { @for (index, pairs) in all.iter().take(CHARTS_AT_MOST).enumerate() {
                (pairs.figure(question, &baseline, index))
            } }
            p.note {
                @if all.iter().any(|it| it.answer.of_batches) {
                    "Each pair of points is one pair of batches of slices, counted over all sessions. "
                } @else {
                    "Each pair of points is one block in which both combinations ran. Each point is one run, not a mean. "
                }
                @if more > 0 { "The other " (more) " comparisons are in the table below." }
            }
        }
    }
}

/// What is compared: `connections 8: flush 2 against flush 1`.
pub(super) fn title(answer: &Answer, baseline: &str) -> String {
    let compared = in_words(&answer.levels);
    match in_words(&answer.within) {
        place if place.is_empty() => format!("{compared} against {baseline}"),
        place => format!("{place}: {compared} against {baseline}"),
    }
}

impl<'a> Pairs<'a> {
    fn of(grid: &Grid, question: &Question, answer: &'a Answer) -> Self {
        let value = |levels: &[(String, String)]| {
            let is_side = |execution: &&Execution<'_>| {
                let combination = &execution.record.header.combination;
                let mut wanted = levels.iter().chain(&answer.within);
                wanted.all(|(factor, level)| combination.get(factor) == Some(level))
            };
            let complete = grid.executions.iter().filter(|it| it.record.is_complete());
            let side: Vec<_> = complete.filter(is_side).collect();
            let values = Measure::Metric(question.metric).of_all(&side);
            let blocks = side.iter().map(|it| it.record.header.block);
            blocks
                .zip(values.unwrap_or_default())
                .collect::<BTreeMap<u32, f64>>()
        };
        let sides = [value(&question.baseline), value(&answer.levels)];
        let blocks: BTreeSet<u32> = sides.iter().flat_map(BTreeMap::keys).copied().collect();
        Self {
            answer,
            sides: sides.map(|side| {
                blocks
                    .iter()
                    .map(|block| side.get(block).copied())
                    .collect()
            }),
            blocks: blocks.iter().map(u32::to_string).collect(),
        }
    }

    fn figure(&self, question: &Question, baseline: &str, index: usize) -> Markup {
        let metric = Measure::Metric(question.metric);
        let (tick, hint, unit) = formats(metric.scale());
        let values = || self.sides.iter().flatten().flatten().copied();
        let axis = Axis::around(
            values().fold(f64::INFINITY, f64::min),
            values().fold(0.0, f64::max),
            4,
        );
        let compared = in_words(&self.answer.levels);
        let place = in_words(&self.answer.within);
        let title = title(self.answer, baseline);
        let noun = self.noun();
        let said = self.in_words(hint);
        let name = if unit.is_empty() {
            metric.in_words().to_owned()
        } else {
            format!("{}, {unit}", metric.in_words())
        };
        let cut = if axis.low > 0.0 {
            " (axis not from 0)"
        } else {
            ""
        };
        let [a, b] = self.sides.clone();
        let chart = PairChart {
            size: Size::PAIRS,
            description: Description {
                id: &format!("pairs-{index}"),
                title: &format!("{title}, {noun} by {noun}"),
                text: &said.join("; "),
            },
            noun,
            blocks: &self.blocks,
            y_name: &format!("{name}{cut}"),
            y: &axis,
            tick,
            hint,
            sides: [
                PairSide {
                    name: baseline,
                    values: a,
                },
                PairSide {
                    name: &compared,
                    values: b,
                },
            ],
        };
        html! {
            figure {
                figcaption { @if !place.is_empty() { (place) ": " } (self.answer.decision.word()) }
                ul.legend {
                    li { (sample(0)) (baseline) }
                    li { (sample(1)) (compared) }
                }
                (chart.draw())
                details {
                    summary { "Numbers" span.hidden { " of: " (title) } }
                    (scrolling(&title, self.table(baseline, &compared, hint)))
                }
            }
        }
    }

    /// What a block is called.
    fn noun(&self) -> &'static str {
        let [noun, _] = block_nouns(self.answer.of_batches);
        noun
    }

    /// A block in words: `block 1: 12.3k, 12.9k`.
    fn in_words(&self, hint: Format) -> Vec<String> {
        let value = |value: Option<f64>| value.map_or("–".to_owned(), hint);
        let noun = self.noun();
        let blocks = self
            .blocks
            .iter()
            .zip(self.sides[0].iter().zip(&self.sides[1]));
        blocks
            .map(|(block, (a, b))| format!("{noun} {block}: {}, {}", value(*a), value(*b)))
            .collect()
    }

    fn table(&self, baseline: &str, compared: &str, hint: Format) -> Markup {
        let value = |value: Option<f64>| value.map_or("–".to_owned(), hint);
        let blocks = self
            .blocks
            .iter()
            .zip(self.sides[0].iter().zip(&self.sides[1]));
        html! {
            table {
                thead { tr {
                    th scope="col" { (self.noun()) }
                    th scope="col" { (baseline) }
                    th scope="col" { (compared) }
                    th scope="col" { "ratio" }
                } }
                tbody { @for (block, (a, b)) in blocks {
                    tr {
                        th scope="row" { (block) }
                        td { (value(*a)) }
                        td { (value(*b)) }
                        td { @match (a, b) {
                            (Some(a), Some(b)) if *a > 0.0 => (format!("{:.3}", b / a)),
                            _ => "–",
                        } }
                    }
                } }
            }
        }
    }
}

/// The formats of a scale's values: on an axis, alone, and the unit that they do not contain.
fn formats(scale: Scale) -> (Format, Format, &'static str) {
    match scale {
        Scale::PerSecond => (si_tick, si, "operations/s"),
        Scale::Nanoseconds => (duration_tick, duration, ""),
        Scale::Seconds => (|s| duration_tick(s * 1e9), |s| duration(s * 1e9), ""),
        Scale::PerMinute | Scale::PerOperation(_) => (si_tick, si, ""),
    }
}
