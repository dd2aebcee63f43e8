//! Response times: one percentile of all scenarios in one chart, or several percentiles of one scenario.

use maud::{Markup, html};
use units::{duration, duration_tick};

use super::{Charts, FigureOf, Value, chart_line, logarithmic};
use crate::{
    chart::{
        frame::{Description, Size},
        line::{ChartLine, LineChart},
        marker::sample,
        rows::RowChart,
        scale::Axis,
    },
    grid::{
        Facet, Line,
        cell::{Cell, Figure, Percentile},
    },
    page::figures,
};

impl Charts<'_> {
    /// For one percentile a chart per facet with a line per scenario; for several a small chart per scenario.
    pub(super) fn latency(&self, percentiles: &[Percentile]) -> Markup {
        html! {
            section aria-labelledby="latency" {
                h2 id="latency" { "Response time against " (self.x.name) }
                @if let [only] = percentiles {
                    (self.single_percentile(*only))
                } @else {
                    ul.legend { @for (style, percentile) in percentiles.iter().enumerate() {
                        li { (sample(style)) (percentile.name()) }
                    } }
                    @for (index, facet) in self.grid.facets.iter().enumerate() {
                        (self.latency_figure(percentiles, index, facet))
                    }
                    p.note { (self.bars_note()) "The charts of one row share their axis. A percentile with fewer than ten operations \
                        beyond it is not shown." }
                }
            }
        }
    }

    fn single_percentile(&self, percentile: Percentile) -> Markup {
        let value = Value {
            name: percentile.name(),
            id: "latency",
            y_name: &format!("{}, log scale", percentile.name()),
            tick: duration_tick,
            hint: duration,
            words: figures::latency_in_words,
            of: &|cell| cell.percentile_ns(percentile),
            laws: false,
        };
        let all: Vec<Figure> = (self.grid.facets.iter())
            .flat_map(|facet| super::figures(facet, value.of))
            .collect();
        let y = logarithmic(&all);
        html! {
            (self.line_legend())
            div.charts { @for (index, facet) in self.grid.facets.iter().enumerate() {
                (self.line_figure(&value, index, facet, &y))
            } }
            p.note {
                (self.bars_note())
                @if self.grid.facets.len() > 1 { "All charts share one scale." }
            }
        }
    }

    fn latency_figure(&self, percentiles: &[Percentile], index: usize, facet: &Facet) -> Markup {
        let of_facet = |percentile: &Percentile| {
            super::figures(facet, &|cell| cell.percentile_ns(*percentile))
        };
        let y = logarithmic(&percentiles.iter().flat_map(of_facet).collect::<Vec<_>>());
        let title = self.title("Response time", facet, None);
        html! {
            figure.row {
                @if let Some(name) = facet.name() { figcaption { (name) } }
                div.panels { @for (at, line) in facet.lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                    div class=(if self.levels.are_categories() { "panel rows" } else { "panel" }) {
                        @if let Some(heading) = self.line_heading(line) { h3 { (heading) } }
                        (self.latency_chart(&format!("latency-{index}-{at}"), percentiles, facet, line, &y))
                    }
                } }
                details {
                    summary { "Numbers" span.hidden { " of: " (title) } }
                    (figures::scrolling(&title, self.latency_table(percentiles, facet)))
                }
            }
        }
    }

    fn latency_chart(
        &self,
        id: &str,
        percentiles: &[Percentile],
        facet: &Facet,
        line: &Line,
        y: &Axis,
    ) -> Markup {
        let lines: Vec<ChartLine> = percentiles
            .iter()
            .enumerate()
            .map(|(style, percentile)| {
                chart_line(percentile.name().to_owned(), style, line, &|cell| {
                    cell.percentile_ns(*percentile)
                })
            })
            .collect();
        let title = self.title("Response time", facet, Some(line));
        let said: Vec<String> = (self.x.levels.iter().zip(&line.cells))
            .filter_map(|(level, cell)| {
                let cell = cell.as_ref()?;
                let values: Vec<String> = percentiles
                    .iter()
                    .map(|p| format!("{} {}", p.name(), figures::latency(cell, *p)))
                    .collect();
                Some(format!("{level}: {}", values.join(", ")))
            })
            .collect();
        let text = format!("By {}: {}.", self.x.name, said.join("; "));
        if self.levels.are_categories() {
            let names: Vec<&str> = percentiles.iter().map(|it| it.name()).collect();
            let values: Vec<_> = (percentiles.iter())
                .map(|percentile| move |cell: &Cell| cell.percentile_ns(*percentile))
                .collect();
            let values: Vec<FigureOf> = values.iter().map(|value| value as _).collect();
            let chart = RowChart {
                description: Description {
                    id,
                    title: &title,
                    text: &text,
                },
                name: "response time, log scale",
                axis: y,
                tick: duration_tick,
                hint: duration,
                series: &names,
                style: 0,
                rows: self.rows(line, &values),
            };
            return chart.draw();
        }
        let chart = LineChart {
            size: Size::SMALL.with_room_for(&self.levels),
            description: Description {
                id,
                title: &title,
                text: &text,
            },
            x_name: &self.x.name,
            levels: &self.levels,
            y_name: "response time, log scale",
            y,
            tick: duration_tick,
            hint: duration,
            lines,
            labelled: false,
        };
        chart.draw()
    }

    fn latency_table(&self, percentiles: &[Percentile], facet: &Facet) -> Markup {
        html! {
            table {
                thead { tr {
                    (self.place_heads())
                    @for percentile in percentiles { th scope="col" { (percentile.name()) } }
                } }
                tbody { @for (line, x, cell) in facet.cells() {
                    tr {
                        (self.place_cells(facet, line, x))
                        @for percentile in percentiles { td { (figures::latency(cell, *percentile)) } }
                    }
                } }
            }
        }
    }
}
