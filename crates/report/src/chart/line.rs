//! A line chart over the levels of a factor, with error bars if there are repeats.

use maud::{Markup, html};
use stats::Interval;

use super::{
    Format,
    frame::{Description, Size, level_axis, shortened, svg, y_axis},
    marker::{colour_class, dash, marker},
    px,
    scale::{Axis, Levels},
};

pub(crate) struct LineChart<'a> {
    pub(crate) size: Size,
    pub(crate) description: Description<'a>,
    pub(crate) x_name: &'a str,
    pub(crate) levels: &'a Levels,
    pub(crate) y_name: &'a str,
    pub(crate) y: &'a Axis,
    /// Formats the ticks of the y axis.
    pub(crate) tick: Format,
    /// Formats the value of a point.
    pub(crate) hint: Format,
    pub(crate) lines: Vec<ChartLine>,
    /// Whether the lines are named at their ends; needs the room of [`Size::LARGE`].
    pub(crate) labelled: bool,
}

pub(crate) struct ChartLine {
    pub(crate) label: String,
    /// Selects colour, marker and dash, the same in all charts of a page.
    pub(crate) style: usize,
    /// One per level; `None` is a gap.
    pub(crate) points: Vec<Option<Point>>,
    /// A curve fitted to the points, drawn instead of a line from point to point.
    pub(crate) course: Option<FittedCurve>,
}

/// A fitted curve with its interval as a band.
#[derive(Debug, Clone)]
pub(crate) struct FittedCurve {
    /// The points of the curve from left to right.
    pub(crate) places: Vec<CurvePoint>,
    /// The range of its peak as shares of the x axis, with a text; `None` if it is not known.
    pub(crate) peak: Option<(f64, f64, String)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct CurvePoint {
    /// Share of the x axis.
    pub(crate) x: f64,
    pub(crate) interval: Interval,
}

/// One measured point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

impl Point {
    /// The point in words: `12.3k (95 % interval 11.9k to 12.8k)`.
    pub(crate) fn in_words(&self, format: Format) -> String {
        let value = format(self.value);
        match self.interval {
            Some((low, high)) => {
                format!(
                    "{value} (95 % interval {} to {})",
                    format(low),
                    format(high)
                )
            }
            None => value,
        }
    }
}

const LABEL_HEIGHT: f64 = 14.0;

impl LineChart<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let at = |index: usize| self.size.x(self.levels.at[index]);
        let content = html! {
            (y_axis(self.size, self.y, self.y_name, self.tick))
            (level_axis(self.size, self.levels, at, self.x_name))
            // Bands first, so that no band covers a line.
            @for line in &self.lines { @if let Some(course) = &line.course { (self.band(line, course)) } }
            @for line in &self.lines { (self.line(line)) }
            @if self.labelled { (self.labels()) }
        };
        svg(self.size, &self.description, content)
    }

    fn place(&self, index: usize, value: f64) -> (f64, f64) {
        let x = self.size.x(self.levels.at[index]);
        (x, self.size.y(self.y.share(value)))
    }

    fn line(&self, line: &ChartLine) -> Markup {
        let dash = Some(dash(line.style)).filter(|dash| !dash.is_empty());
        let path = match &line.course {
            Some(course) => {
                self.through(course.places.iter().map(|it| (it.x, it.interval.estimate)))
            }
            None => self.path(line),
        };
        html! {
            g class=(colour_class(line.style)) {
                path.stroke d=(path) stroke-dasharray=[dash] {}
                @for (index, point) in line.points.iter().enumerate() {
                    @if let Some(point) = point { (self.point(line, index, point)) }
                }
            }
        }
    }

    /// The band of a fitted curve, and the part of the axis below its peak.
    fn band(&self, line: &ChartLine, course: &FittedCurve) -> Markup {
        let there = course.places.iter().map(|it| (it.x, it.interval.high));
        let back = course.places.iter().rev();
        let back = back.map(|it| (it.x, it.interval.low));
        let path = format!("{}Z", self.through(there.chain(back)));
        html! {
            g class=(colour_class(line.style)) {
                path.band d=(path) {}
                @if let Some((from, to, words)) = &course.peak {
                    @let base = self.size.y(0.0);
                    @let (from, to) = (self.size.x(*from), self.size.x(*to));
                    g {
                        title { (words) }
                        rect.peak-band x=(px(from - 1.0)) width=(px(to - from + 2.0)) y=(px(base - 5.0)) height="5" {}
                    }
                }
            }
        }
    }

    fn through(&self, places: impl Iterator<Item = (f64, f64)>) -> String {
        let places = places.map(|(x, value)| {
            let (x, y) = (self.size.x(x), self.size.y(self.y.share(value)));
            format!("{} {}", px(x), px(y))
        });
        format!("M{}", places.collect::<Vec<_>>().join("L"))
    }

    /// The path through the points, broken at gaps.
    fn path(&self, line: &ChartLine) -> String {
        let mut path = String::new();
        let mut pen_down = false;
        for (index, point) in line.points.iter().enumerate() {
            let Some(point) = point else {
                pen_down = false;
                continue;
            };
            let (x, y) = self.place(index, point.value);
            path.push_str(&format!(
                "{}{} {}",
                if pen_down { "L" } else { "M" },
                px(x),
                px(y)
            ));
            pen_down = true;
        }
        path
    }

    fn point(&self, line: &ChartLine, index: usize, point: &Point) -> Markup {
        let (x, y) = self.place(index, point.value);
        let bar = point.interval.map(|interval| self.bar(index, interval));
        let hint = format!(
            "{} {}, {}: {}",
            self.x_name,
            self.levels.labels[index],
            line.label,
            point.in_words(self.hint),
        );
        html! {
            g {
                title { (hint) }
                @if let Some(bar) = bar { path.error-bar d=(bar) {} }
                (marker(line.style, x, y))
            }
        }
    }

    /// An error bar: a cap at an end inside the axis, an arrow head if it continues beyond the axis, and neither at
    /// zero, because there is nothing below zero.
    fn bar(&self, index: usize, (low, high): (f64, f64)) -> String {
        let (x, bottom) = self.place(index, low);
        let (_, top) = self.place(index, high);
        let cap = |y: f64| format!("M{} {}H{}", px(x - 3.0), px(y), px(x + 3.0));
        let head = |y: f64, dy: f64| {
            let (left, right, back) = (px(x - 3.5), px(x + 3.5), px(y + dy));
            format!("M{left} {back}L{} {}L{right} {back}", px(x), px(y))
        };
        let lower_end = match self.y.is_below(low) {
            false => cap(bottom),
            true if self.y.low > 0.0 => head(bottom, -5.0),
            true => String::new(),
        };
        let upper_end = if !self.y.is_above(high) {
            cap(top)
        } else {
            head(top, 5.0)
        };
        format!(
            "{lower_end}M{} {}V{}{upper_end}",
            px(x),
            px(bottom),
            px(top)
        )
    }

    /// The names of the lines beside their last points, moved apart if they would overlap.
    fn labels(&self) -> Markup {
        let mut ends: Vec<(&ChartLine, f64, f64)> = self
            .lines
            .iter()
            .filter_map(|line| {
                let (index, point) = line
                    .points
                    .iter()
                    .enumerate()
                    .rev()
                    .find_map(|(i, p)| Some((i, p.as_ref()?)))?;
                let (x, y) = self.place(index, point.value);
                Some((line, x, y))
            })
            .collect();
        ends.sort_by(|a, b| a.2.total_cmp(&b.2));
        let heights: Vec<f64> = ends.iter().map(|end| end.2).collect();
        let heights = moved_apart(&heights, LABEL_HEIGHT, self.size.top, self.size.y(0.0));
        let characters = ((self.size.right - 12.0) / 6.6) as usize;
        html! {
            @for ((line, _, _), y) in ends.iter().zip(heights) {
                text class={ "line-label " (colour_class(line.style)) } x=(px(self.size.width - self.size.right + 10.0))
                    y=(px(y)) dy="0.32em" { (shortened(&line.label, characters)) }
            }
        }
    }
}

/// Ascending positions, moved as little as needed to be `gap` apart between `top` and `bottom`.
fn moved_apart(heights: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut moved = heights.to_vec();
    let mut free_from = top;
    for height in &mut moved {
        *height = height.max(free_from);
        free_from = *height + gap;
    }
    // A label moved up from the bottom moves the others up again.
    let mut free_to = bottom;
    for height in moved.iter_mut().rev() {
        *height = height.min(free_to);
        free_to = *height - gap;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{si, si_tick};

    #[test]
    fn labels_are_moved_apart_within_the_chart() {
        let cases: [(&[f64], &[f64]); 3] = [
            (&[20.0, 60.0], &[20.0, 60.0]),
            (&[20.0, 21.0, 22.0], &[20.0, 30.0, 40.0]),
            (&[98.0, 99.0], &[90.0, 100.0]),
        ];
        for (heights, moved) in cases {
            assert_eq!(moved_apart(heights, 10.0, 0.0, 100.0), moved);
        }
    }

    fn chart<'a>(levels: &'a Levels, y: &'a Axis, lines: Vec<ChartLine>) -> LineChart<'a> {
        LineChart {
            size: Size::LARGE,
            description: Description {
                id: "c1",
                title: "Throughput <by> clients",
                text: "Two lines & a gap.",
            },
            x_name: "connections",
            levels,
            y_name: "operations/s",
            y,
            tick: si_tick,
            hint: si,
            lines,
            labelled: true,
        }
    }

    #[test]
    fn only_an_end_that_is_reached_has_a_cap() {
        let levels = Levels::of(&["1".to_owned()]);
        let (zero, log) = (Axis::from_zero(100.0, 4), Axis::logarithmic(1.0, 100.0));
        // The plot is 226 units high and ends at 250; its middle is at 229.
        let cases = [
            (
                &zero,
                (25.0, 75.0),
                "M226 193.5H232M229 193.5V80.5M226 80.5H232",
            ),
            (&zero, (0.0, 100.0), "M226 250H232M229 250V24M226 24H232"),
            (&zero, (-20.0, 75.0), "M229 250V80.5M226 80.5H232"),
            (
                &zero,
                (25.0, 110.0),
                "M226 193.5H232M229 193.5V24M225.5 29L229 24L232.5 29",
            ),
            (&log, (10.0, 100.0), "M226 137H232M229 137V24M226 24H232"),
            (
                &log,
                (-20.0, 10.0),
                "M225.5 245L229 250L232.5 245M229 250V137M226 137H232",
            ),
        ];
        for (axis, interval, path) in cases {
            assert_eq!(
                chart(&levels, axis, Vec::new()).bar(0, interval),
                path,
                "{interval:?}"
            );
        }
    }

    #[test]
    fn a_gap_breaks_the_line() {
        let labels = ["1", "2", "4", "8"].map(str::to_owned);
        let point = |value: f64| {
            Some(Point {
                value,
                interval: Some((value * 0.9, value * 1.1)),
            })
        };
        let (levels, y) = (Levels::of(&labels), Axis::from_zero(2_000.0, 4));
        let chart = chart(
            &levels,
            &y,
            vec![
                ChartLine {
                    label: "1:0".into(),
                    style: 0,
                    points: vec![point(500.0), point(900.0), point(1_500.0), point(1_800.0)],
                    course: None,
                },
                ChartLine {
                    label: "0:1".into(),
                    style: 1,
                    points: vec![point(300.0), None, point(800.0), point(900.0)],
                    course: None,
                },
            ],
        );
        let svg = chart.draw().into_string();
        insta::assert_snapshot!(svg.replace("><", ">\n<"));
    }
}
