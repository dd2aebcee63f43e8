//! Values by category: one row each, with a bar from zero, or with markers on a logarithmic axis.
//!
//! A line from one server version to another would suggest values between them.

use maud::{Markup, html};

use super::{
    Format,
    frame::{Description, Size, labels_with_room, shortened, svg},
    line::Point,
    marker::{colour_class, marker},
    px,
    scale::Axis,
};

pub(crate) struct RowChart<'a> {
    pub(crate) description: Description<'a>,
    /// The name of the values, with their unit.
    pub(crate) name: &'a str,
    /// The axis from left to right.
    pub(crate) axis: &'a Axis,
    /// Formats the ticks.
    pub(crate) tick: Format,
    /// Formats a value.
    pub(crate) hint: Format,
    /// The names of a row's markers; a row with a bar has one.
    pub(crate) series: &'a [&'a str],
    /// Colour and marker of the first series.
    pub(crate) style: usize,
    pub(crate) rows: Vec<Row<'a>>,
}

/// A row of one category.
pub(crate) struct Row<'a> {
    pub(crate) label: &'a str,
    /// One per series; `None` without a measurement.
    pub(crate) points: Vec<Option<Point>>,
}

const WIDTH: f64 = 380.0;
const ROW: f64 = 28.0;
const BAR: f64 = 15.0;
/// Space above the first row and below the last.
const TOP: f64 = 20.0;
const BOTTOM: f64 = 22.0;
const LABEL_MAX: f64 = 150.0;
/// Space for a value to the right of the plot.
const VALUE: f64 = 52.0;
/// Approximate width of one character of a label.
const CHARACTER: f64 = 7.2;

impl RowChart<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let size = self.size();
        let content = html! {
            (self.axis(size))
            @for (index, row) in self.rows.iter().enumerate() {
                (self.row(size, TOP + (index as f64 + 0.5) * ROW, row))
            }
        };
        svg(size, &self.description, content)
    }

    fn size(&self) -> Size {
        let longest = self.rows.iter().map(|row| row.label.chars().count()).max();
        let label = longest.unwrap_or(0) as f64 * CHARACTER;
        Size {
            width: WIDTH,
            height: TOP + ROW * self.rows.len() as f64 + BOTTOM,
            left: label.min(LABEL_MAX) + 12.0,
            right: if self.has_bars() { VALUE } else { 14.0 },
            top: TOP,
            bottom: BOTTOM,
        }
    }

    /// True if the axis begins at zero: only then has a bar a meaningful length.
    fn has_bars(&self) -> bool {
        self.axis.low == 0.0 && self.series.len() == 1
    }

    /// Vertical grid lines with their labels.
    fn axis(&self, size: Size) -> Markup {
        let (top, base) = (size.y(1.0), size.y(0.0));
        let ticks = &self.axis.ticks;
        let at = |index: usize| size.x(self.axis.share(ticks[index]));
        let labels: Vec<String> = ticks.iter().map(|tick| (self.tick)(*tick)).collect();
        let labels = labels_with_room(&labels, at, 0.0..=size.width);
        html! {
            @for (index, (tick, label)) in ticks.iter().zip(labels).enumerate() {
                @let x = px(at(index));
                line class=(if *tick == self.axis.low { "axis" } else { "grid" }) x1=(x) x2=(x) y1=(px(top)) y2=(px(base)) {}
                @if let Some(label) = label { text.tick x=(x) y=(px(base + 15.0)) text-anchor="middle" { (label) } }
            }
            text.axis-name x="2" y="11" { (self.name) }
        }
    }

    fn row(&self, size: Size, y: f64, row: &Row) -> Markup {
        let characters = (LABEL_MAX / CHARACTER) as usize;
        let places: Vec<f64> = (row.points.iter().flatten())
            .map(|point| size.x(self.axis.share(point.value)))
            .collect();
        let ends = places.first().zip(places.last());
        html! {
            text.tick x=(px(size.left - 6.0)) y=(px(y)) dy="0.32em" text-anchor="end" { (shortened(row.label, characters)) }
            @if row.points.iter().all(Option::is_none) {
                text.tick x=(px(size.left + 6.0)) y=(px(y)) dy="0.32em" { "not measured" }
            }
            @if let (false, Some((first, last))) = (self.has_bars(), ends) {
                line.pair x1=(px(*first)) x2=(px(*last)) y1=(px(y)) y2=(px(y)) {}
            }
            @for (index, point) in row.points.iter().enumerate() { @if let Some(point) = point {
                (self.point(size, y, row, index, point))
            } }
        }
    }

    fn point(&self, size: Size, y: f64, row: &Row, index: usize, point: &Point) -> Markup {
        let style = self.style + index;
        let x = size.x(self.axis.share(point.value));
        html! {
            g class=(colour_class(style)) {
                title { (row.label) ", " (self.series[index]) ": " (point.in_words(self.hint)) }
                @if self.has_bars() {
                    rect.bar x=(px(size.left)) width=(px((x - size.left).max(0.5))) y=(px(y - BAR / 2.0)) height=(px(BAR)) {}
                    text.value x=(px(size.width - 2.0)) y=(px(y)) dy="0.32em" text-anchor="end" { ((self.hint)(point.value)) }
                } @else {
                    (marker(style, x, y))
                }
                @if let Some(interval) = point.interval { path.whisker d=(self.whisker(size, y, interval)) {} }
            }
        }
    }

    /// An interval: a cap at an end inside the axis, an arrow head if it continues beyond it.
    fn whisker(&self, size: Size, y: f64, (low, high): (f64, f64)) -> String {
        let [left, right] = [low, high].map(|bound| size.x(self.axis.share(bound)));
        let end = |x: f64, is_beyond: bool, back: f64| {
            let (above, below) = (px(y - 3.5), px(y + 3.5));
            if is_beyond {
                format!(
                    "M{0} {above}L{1} {2}L{0} {below}",
                    px(x + back),
                    px(x),
                    px(y)
                )
            } else {
                format!("M{} {above}V{below}", px(x))
            }
        };
        let is_below = self.axis.is_below(low);
        let lower = if is_below && self.axis.low == 0.0 {
            String::new()
        } else {
            end(left, is_below, 4.0)
        };
        let upper = end(right, self.axis.is_above(high), -4.0);
        format!("{lower}M{} {}H{}{upper}", px(left), px(y), px(right))
    }
}

#[cfg(test)]
mod tests {
    use units::{duration, duration_tick, si, si_tick};

    use super::*;

    fn point(value: f64, share: f64) -> Option<Point> {
        Some(Point {
            value,
            interval: Some((value * (1.0 - share), value * (1.0 + share))),
        })
    }

    fn chart<'a>(axis: &'a Axis, series: &'a [&'a str], rows: Vec<Row<'a>>) -> RowChart<'a> {
        RowChart {
            description: Description {
                id: "r1",
                title: "Throughput <by> version",
                text: "Two versions & a gap.",
            },
            name: "operations/s",
            axis,
            tick: if series.len() > 1 {
                duration_tick
            } else {
                si_tick
            },
            hint: if series.len() > 1 { duration } else { si },
            series,
            style: 0,
            rows,
        }
    }

    #[test]
    fn a_value_from_zero_is_a_bar_with_its_interval() {
        let axis = Axis::from_zero(12_000.0, 5);
        let row = |label, points| Row { label, points };
        let rows = vec![
            row("mysql-5.6", vec![point(9_000.0, 0.1)]),
            row("mysql-9.7 with a very long name", vec![None]),
            row("mariadb-10.11", vec![point(11_000.0, 2.0)]),
        ];
        let svg = chart(&axis, &["throughput"], rows).draw().into_string();
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }

    #[test]
    fn several_values_on_a_logarithmic_axis_are_markers() {
        let axis = Axis::logarithmic(1e5, 1e8);
        let points = vec![point(2e5, 0.1), point(4e6, 0.3), None];
        let rows = vec![Row {
            label: "on",
            points,
        }];
        let svg = chart(&axis, &["p50", "p95", "p99"], rows).draw();
        let svg = svg.into_string();
        assert!(!svg.contains("class=\"bar\""), "{svg}");
        assert_eq!(svg.matches("class=\"whisker\"").count(), 2);
        assert!(
            svg.contains("on, p95: 4.00 ms (95 % interval 2.80 ms to 5.20 ms)"),
            "{svg}"
        );
    }
}
