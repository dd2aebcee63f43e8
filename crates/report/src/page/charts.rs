//! The charts that show the conclusions, each with its numbers as a table.

mod categories;
mod cpu;
mod latency;
mod laws;

use maud::{Markup, html};
use settings::Factor;

use units::{si, si_tick};
use verdict::{Cost, Metric, Unit};

use super::figures;
use crate::{
    chart::{
        Format,
        frame::{Description, Size},
        line::{ChartLine, LineChart, Point},
        marker::sample,
        scale::{Axis, Levels},
    },
    grid::{
        Facet, Grid, Line, Measure,
        cell::{Cell, Figure},
        scaling::Scaling,
    },
    sentences::{answer::throughput_in_words, nouns},
};

/// Minimum share of a common axis that a chart must fill; otherwise it has its own axis.
const READABLE_SHARE: f64 = 0.25;
/// An interval of two runs can be many times the mean. One that ends beyond this multiple of the highest mean (or below
/// this fraction of the lowest, on a logarithmic axis) must not compress the lines: it ends in an arrow head.
const INTERVAL_LIMIT: f64 = 3.0;
/// Maximum number of charts of a measure with the next measure beside it; with more it is below.
const FACETS_BESIDE: usize = 2;
/// Room for the arrow head on the axis beyond the mean, as a factor.
const ARROW_ROOM: f64 = 1.25;

/// The charts of a grid that has a factor along x.
pub(super) struct Charts<'a> {
    grid: &'a Grid<'a>,
    /// The metric that the author compares by.
    asked: Option<Metric>,
    x: &'a Factor,
    levels: Levels,
    /// The scaling models by facet and line; `None` if there is none.
    laws: Vec<Vec<Option<Scaling>>>,
    /// Whether a chart above has explained the bars: once on a page is enough.
    is_explained: std::cell::Cell<bool>,
}

type FigureOf<'a> = &'a dyn Fn(&Cell) -> Option<Figure>;

/// A value of a combination for a chart.
struct Value<'a> {
    /// The name at the start of a sentence: `Throughput`.
    name: &'a str,
    /// The name in identifiers: `throughput`.
    id: &'a str,
    y_name: &'a str,
    tick: Format,
    hint: Format,
    /// The value in words, with its margin.
    words: fn(&Figure) -> String,
    of: FigureOf<'a>,
    /// Whether the scaling models describe it.
    laws: bool,
}

impl<'a> Charts<'a> {
    /// The charts of a grid; `None` for an experiment without a factor along x.
    pub(super) fn of(grid: &'a Grid<'a>, asked: Option<Metric>) -> Option<Self> {
        let x = grid.x.as_ref()?;
        let law = |line| Scaling::of(grid, line);
        let laws = grid.facets.iter();
        Some(Self {
            grid,
            asked,
            x,
            levels: Levels::of(&x.levels),
            laws: laws
                .map(|facet| facet.lines.iter().map(law).collect())
                .collect(),
            is_explained: std::cell::Cell::new(false),
        })
    }

    /// The charts with the answer: the measure of the question, and latency or throughput beside it.
    pub(super) fn answer(&self) -> Markup {
        let class = if self.grid.facets.len() <= FACETS_BESIDE {
            "beside"
        } else {
            "below"
        };
        html! {
            div class=(class) { @for measure in self.leading().into_iter().flatten() { (self.section(measure)) } }
        }
    }

    /// The CPU chart, unless it is the answer already.
    pub(super) fn processors(&self) -> Markup {
        let cpu = self.others().find(|measure| **measure == Measure::Cpu);
        cpu.map_or(html! {}, |measure| self.section(measure))
    }

    /// All other measures to draw.
    pub(super) fn rest(&self) -> Markup {
        let rest = self.others().filter(|measure| **measure != Measure::Cpu);
        html! { @for measure in rest { (self.section(measure)) } }
    }

    /// The measure of the question, or else a rate; and the other one of rate and latency.
    fn leading(&self) -> [Option<&Measure>; 2] {
        let measures = &self.grid.measures;
        let rate = |measure: &&Measure| matches!(measure, Measure::Throughput | Measure::NewOrders);
        let latency = |measure: &&Measure| matches!(measure, Measure::Latency(_));
        let (rate, latency) = (measures.iter().find(rate), measures.iter().find(latency));
        let asked = self
            .asked
            .and_then(|metric| measures.iter().find(|it| it.shows(metric)));
        let first = asked.or(rate).or(measures.first());
        let second = [rate, latency]
            .into_iter()
            .flatten()
            .find(|it| Some(*it) != first);
        [first, second]
    }

    fn others(&self) -> impl Iterator<Item = &Measure> {
        let leading = self.leading();
        let measures = self.grid.measures.iter();
        measures.filter(move |measure| !leading.contains(&Some(*measure)))
    }

    fn section(&self, measure: &Measure) -> Markup {
        match measure {
            Measure::Throughput => self.throughput(),
            Measure::NewOrders => self.new_orders(),
            Measure::Cpu => self.cpu(),
            Measure::Cost(cost) => self.cost(*cost),
            Measure::Latency(percentiles) => self.latency(percentiles),
        }
    }

    fn throughput(&self) -> Markup {
        let value = Value {
            name: "Throughput",
            id: "throughput",
            y_name: "operations/s",
            tick: si_tick,
            hint: si,
            words: throughput_in_words,
            of: &|cell| cell.throughput,
            laws: true,
        };
        self.values(&value)
    }

    fn new_orders(&self) -> Markup {
        let value = Value {
            name: "New-Orders per minute",
            id: "new-orders",
            y_name: "New-Orders/min",
            tick: si_tick,
            hint: si,
            words: throughput_in_words,
            of: &|cell| cell.new_orders_per_min,
            laws: false,
        };
        self.values(&value)
    }

    fn cost(&self, cost: Cost) -> Markup {
        let unit = match cost.unit() {
            Unit::Count => "per operation".to_owned(),
            unit => format!("{} per operation", unit.name()),
        };
        let words = cost.in_words();
        // `fsyncs of InnoDB` is the start of a sentence.
        let mut name: String = words[..1].to_uppercase();
        name.push_str(&words[1..]);
        self.values(&Value {
            name: &name,
            id: cost.name(),
            y_name: &unit,
            tick: si_tick,
            hint: si,
            words: throughput_in_words,
            of: &|cell| cell.cost(cost),
            laws: false,
        })
    }

    /// The section of a value, on axes from zero.
    fn values(&self, value: &Value) -> Markup {
        let (axes, note) = self.axes(value);
        html! {
            section aria-labelledby=(value.id) {
                h2 id=(value.id) { (value.name) " against " (self.x.name) }
                (self.line_legend())
                div.charts { @for (index, facet) in self.grid.facets.iter().enumerate() {
                    (self.line_figure(value, index, facet, &axes[index]))
                } }
                p.note {
                    (self.bars_note()) (note)
                }
                @if value.laws { (self.laws_in_words()) }
            }
        }
    }

    fn bars_note(&self) -> String {
        let has_bars = self.grid.has_intervals();
        if has_bars && !self.is_explained.replace(true) {
            let [_, nouns] = nouns::nouns(nouns::has_batches(self.grid));
            format!(
                "Thin bars: 95 % interval of the mean over {nouns}; arrow head: the bar continues beyond the chart. "
            )
        } else {
            String::new()
        }
    }

    fn line_legend(&self) -> Markup {
        html! {
            @if let Some(factor) = self.grid.line.as_ref().filter(|_| !self.levels.are_categories()) {
                ul.legend aria-label=(factor.name) {
                    li.legend-name { (factor.name) }
                    @for (style, level) in factor.levels.iter().enumerate() { li { (sample(style)) (level) } }
                }
            }
        }
    }

    /// The y axis from zero of each facet, and a note on them.
    fn axes(&self, value: &Value) -> (Vec<Axis>, &'static str) {
        let tops: Vec<f64> = self
            .grid
            .facets
            .iter()
            .enumerate()
            .map(|(index, facet)| {
                let measured = top(&figures(facet, value.of));
                measured.max(self.top_of_laws(value, index, measured))
            })
            .collect();
        let highest = tops.iter().copied().fold(0.0, f64::max);
        let shared = tops.iter().all(|top| *top >= highest * READABLE_SHARE);
        let axes = tops
            .iter()
            .map(|top| Axis::from_zero(if shared { highest } else { *top }, 5));
        let axes: Vec<Axis> = axes.collect();
        let mut facets = self.grid.facets.iter().zip(&axes);
        let note = if !shared {
            "Each chart has its own scale."
        } else if facets.any(|(facet, axis)| self.has_own_axes(value, facet, axis)) {
            "Charts whose bars would be too short to read have their own scale; all other charts share one scale."
        } else if tops.len() > 1 {
            "All charts share one scale."
        } else {
            ""
        };
        (axes, note)
    }

    fn line_figure(&self, value: &Value, index: usize, facet: &Facet, y: &Axis) -> Markup {
        if self.levels.are_categories() {
            return self.category_figure(value, index, facet, y);
        }
        let lines: Vec<ChartLine> = facet
            .lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.is_empty())
            .map(|(style, line)| ChartLine {
                course: self.course(value, index, style),
                ..chart_line(line_name(line), style, line, value.of)
            })
            .collect();
        let title = self.title(value.name, facet, None);
        let text = self.peaks_in_words(facet, value);
        let chart = LineChart {
            size: Size::LARGE.with_room_for(&self.levels),
            description: Description {
                id: &format!("{}-{index}", value.id),
                title: &title,
                text: &text,
            },
            x_name: &self.x.name,
            levels: &self.levels,
            y_name: value.y_name,
            y,
            tick: value.tick,
            hint: value.hint,
            lines,
            labelled: self.grid.line.is_some(),
        };
        html! {
            figure {
                @if let Some(name) = facet.name() { figcaption { (name) } }
                (chart.draw())
                (self.numbers(&title, value, facet))
            }
        }
    }

    /// Rows along x, a column per line.
    fn numbers(&self, title: &str, value: &Value, facet: &Facet) -> Markup {
        let lines: Vec<&Line> = facet.lines.iter().filter(|line| !line.is_empty()).collect();
        html! {
            details {
                summary { "Numbers" span.hidden { " of: " (title) } }
                (figures::scrolling(title, html! {
                    table {
                        thead { tr {
                            th scope="col" { (self.x.name) }
                            @for line in &lines { th scope="col" { (line_name(line)) } }
                        } }
                        tbody { @for (at, level) in self.x.levels.iter().enumerate() {
                            tr {
                                th scope="row" { (level) }
                                @for line in &lines {
                                    td { @match &line.cells[at] { Some(cell) => (cell_words(cell, value)), None => "–" } }
                                }
                            }
                        } }
                    }
                }))
            }
        }
    }

    fn place_heads(&self) -> Markup {
        html! {
            @if let Some(factor) = &self.grid.line { th scope="col" { (factor.name) } }
            th scope="col" { (self.x.name) }
        }
    }

    fn place_cells(&self, facet: &Facet, line: usize, x: usize) -> Markup {
        html! {
            @if self.grid.line.is_some() { th scope="row" { (line_name(&facet.lines[line])) } }
            th scope="row" { (self.x.levels[x]) }
        }
    }

    /// A title: `Throughput against connections, rows 1x, mix 1:0`.
    fn title(&self, name: &str, facet: &Facet, line: Option<&Line>) -> String {
        let parts = [
            Some(format!("{name} against {}", self.x.name)),
            facet.name(),
            line.and_then(|line| self.line_heading(line)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn line_heading(&self, line: &Line) -> Option<String> {
        let factor = self.grid.line.as_ref()?;
        Some(format!("{} {}", factor.name, line.level.as_ref()?))
    }

    /// The peaks in words for a screen reader: `1:0: highest 12.3k ± 0.4k at 16 connections; ...`.
    fn peaks_in_words(&self, facet: &Facet, value: &Value) -> String {
        let said = facet.lines.iter().filter_map(|line| {
            let values = line
                .cells
                .iter()
                .enumerate()
                .filter_map(|(x, cell)| Some((x, (value.of)(cell.as_ref()?)?)));
            let (x, figure) = values.max_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
            let name = line
                .level
                .as_ref()
                .map_or(String::new(), |level| format!("{level}: "));
            let words = (value.words)(&figure);
            Some(format!(
                "{name}highest {words} at {} {}",
                self.x.name, self.x.levels[x]
            ))
        });
        format!("{}.", said.collect::<Vec<_>>().join("; "))
    }
}

fn line_name(line: &Line) -> String {
    line.level.clone().unwrap_or_else(|| "all runs".to_owned())
}

/// The point of a combination; `None` if it has not run or has no such figure.
fn point(cell: &Option<Cell>, value: FigureOf) -> Option<Point> {
    let figure = value(cell.as_ref()?)?;
    Some(Point {
        value: figure.mean,
        interval: figure.interval,
    })
}

fn chart_line(label: String, style: usize, line: &Line, value: FigureOf) -> ChartLine {
    ChartLine {
        label,
        style,
        points: line.cells.iter().map(|cell| point(cell, value)).collect(),
        course: None,
    }
}

fn cell_words(cell: &Cell, value: &Value) -> String {
    let words = (value.of)(cell)
        .as_ref()
        .map_or("–".to_owned(), value.words);
    match (cell.complete, cell.incomplete) {
        (_, 0) => words,
        _ => format!("{words} ({})", cell.runs_in_words()),
    }
}

fn figures(facet: &Facet, value: FigureOf) -> Vec<Figure> {
    facet
        .cells()
        .filter_map(|(_, _, cell)| value(cell))
        .collect()
}

/// The highest value that an axis must contain.
fn top(figures: &[Figure]) -> f64 {
    let mean = figures.iter().map(|figure| figure.mean).fold(0.0, f64::max);
    let ends = figures.iter().filter_map(|figure| Some(figure.interval?.1));
    let held = ends.map(|end| {
        if end <= mean * INTERVAL_LIMIT {
            end
        } else {
            mean * ARROW_ROOM
        }
    });
    held.fold(mean, f64::max)
}

/// The lowest value that a logarithmic axis must contain; infinite without any above zero.
fn bottom(figures: &[Figure]) -> f64 {
    let means = figures.iter().map(|figure| figure.mean);
    let mean = means
        .filter(|mean| *mean > 0.0)
        .fold(f64::INFINITY, f64::min);
    let ends = figures.iter().filter_map(|figure| Some(figure.interval?.0));
    let held = ends.map(|end| {
        if end >= mean / INTERVAL_LIMIT {
            end
        } else {
            mean / ARROW_ROOM
        }
    });
    held.fold(mean, f64::min)
}

/// A logarithmic axis that contains `figures`, which may differ by orders of magnitude.
fn logarithmic(figures: &[Figure]) -> Axis {
    match (bottom(figures), top(figures)) {
        (low, high) if low.is_finite() => Axis::logarithmic(low, high),
        _ => Axis::logarithmic(1.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_intervals_but_not_one_of_many_times_the_means() {
        let figure = |mean, low, high| Figure {
            mean,
            interval: Some((low, high)),
            is_thin: false,
        };
        let single = Figure {
            mean: 40.0,
            interval: None,
            is_thin: false,
        };
        let cases: [(&[Figure], f64, f64); 5] = [
            (&[single], 40.0, 40.0),
            // 55.1 ± 72.4: the bar ends at 127.5, and it starts below zero.
            (&[figure(55.1, -17.3, 127.5), single], 32.0, 127.5),
            (&[figure(50.0, 45.0, 55.0), single], 40.0, 55.0),
            (&[figure(50.0, -200.0, 300.0), single], 32.0, 62.5),
            (
                &[figure(50.0, 20.0, 80.0), figure(60.0, 30.0, 90.0)],
                20.0,
                90.0,
            ),
        ];
        for (figures, low, high) in cases {
            assert_eq!((bottom(figures), top(figures)), (low, high), "{figures:?}");
        }
        assert_eq!(top(&[]), 0.0);
        assert!(logarithmic(&[]).high > 0.0);
    }
}
