//! A curve over a continuous x axis: its interval as a band, measured points, and marked places.

use maud::{Markup, html};
use stats::Interval;

use super::{
    Format,
    frame::{Description, Size, svg, y_axis},
    marker::{colour_class, marker},
    px,
    scale::Axis,
};

/// Colours of the curve and of its marked places.
const CURVE: usize = 0;
const PLACE: usize = 1;
const POINT: usize = 3;
/// Distance of a label from its line.
const GAP: f64 = 5.0;

pub(crate) struct CurveChart<'a> {
    pub(crate) size: Size,
    pub(crate) description: Description<'a>,
    pub(crate) x_name: &'a str,
    pub(crate) x: &'a Axis,
    pub(crate) y_name: &'a str,
    pub(crate) y: &'a Axis,
    /// Formats the ticks of both axes.
    pub(crate) tick: Format,
    /// Rising in x.
    pub(crate) places: Vec<CurvePlace>,
    /// A place on the x axis, with its name.
    pub(crate) line: Option<(f64, &'a str)>,
    /// A point of the curve with the interval of its x.
    pub(crate) point: Option<MarkedPoint>,
}

/// A place of the curve.
pub(crate) struct CurvePlace {
    pub(crate) x: f64,
    pub(crate) interval: Interval,
    /// The place in words, if it was measured.
    pub(crate) measured: Option<String>,
}

/// A point of the curve that the reader looks for.
pub(crate) struct MarkedPoint {
    pub(crate) at: (f64, f64),
    /// The interval of its x.
    pub(crate) between: (f64, f64),
    pub(crate) name: String,
    pub(crate) words: String,
}

impl CurveChart<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let content = html! {
            (y_axis(self.size, self.y, self.y_name, self.tick))
            (self.x_axis())
            g class=(colour_class(CURVE)) {
                path.band d=(self.band()) {}
                path.stroke d=(self.path(self.places.iter().map(|it| (it.x, it.interval.estimate)))) {}
                @for place in &self.places { @if let Some(words) = &place.measured {
                    @let (x, y) = self.at(place.x, place.interval.estimate);
                    g { title { (words) } (marker(CURVE, x, y)) }
                } }
            }
            @if let Some((x, name)) = self.line { (self.vertical(x, name)) }
            @if let Some(point) = &self.point { (self.marked(point)) }
        };
        svg(self.size, &self.description, content)
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.size.x(self.x.share(x)), self.size.y(self.y.share(y)))
    }

    fn x_axis(&self) -> Markup {
        let base = self.size.y(0.0);
        html! {
            @for tick in &self.x.ticks {
                @let x = px(self.size.x(self.x.share(*tick)));
                line.axis x1=(x) x2=(x) y1=(px(base)) y2=(px(base + 4.0)) {}
                text.tick x=(x) y=(px(base + 16.0)) text-anchor="middle" { ((self.tick)(*tick)) }
            }
            text.axis-name x=(px(self.size.x(0.5))) y=(px(self.size.height - 5.0)) text-anchor="middle" { (self.x_name) }
        }
    }

    fn band(&self) -> String {
        let there = self.places.iter().map(|it| (it.x, it.interval.high));
        let back = self.places.iter().rev();
        let back = back.map(|it| (it.x, it.interval.low));
        format!("{}Z", self.path(there.chain(back)))
    }

    fn path(&self, places: impl Iterator<Item = (f64, f64)>) -> String {
        let places = places.map(|(x, y)| {
            let (x, y) = self.at(x, y);
            format!("{} {}", px(x), px(y))
        });
        format!("M{}", places.collect::<Vec<_>>().join("L"))
    }

    /// A dashed line from the top to the x axis, with its name on the side that has more room.
    fn vertical(&self, x: f64, name: &str) -> Markup {
        let share = self.x.share(x);
        let at = self.size.x(share);
        let (anchor, label) = if share < 0.5 {
            ("start", at + GAP)
        } else {
            ("end", at - GAP)
        };
        let (top, base) = (self.size.top, self.size.y(0.0));
        html! {
            g class=(colour_class(PLACE)) {
                path.stroke d={ "M" (px(at)) " " (px(top)) "V" (px(base)) } stroke-dasharray="4 3" {}
                text.line-label x=(px(label)) y=(px(top + 10.0)) text-anchor=(anchor) { (name) }
            }
        }
    }

    /// A marker with its name, and its interval as a bar at the x axis.
    fn marked(&self, point: &MarkedPoint) -> Markup {
        let (x, y) = self.at(point.at.0, point.at.1);
        let end = |x: f64| self.size.x(self.x.share(x));
        let (from, to) = (end(point.between.0), end(point.between.1));
        let base = self.size.y(0.0);
        // The curve falls: there is room above and to the right of a point, and below and to the left.
        let (anchor, right, down) = if self.x.share(point.at.0) < 0.5 {
            ("start", 2.0 * GAP, -GAP)
        } else {
            ("end", -2.0 * GAP, 3.0 * GAP)
        };
        html! {
            g class=(colour_class(POINT)) {
                title { (point.words) }
                rect.peak-band x=(px(from - 1.0)) width=(px(to - from + 2.0)) y=(px(base - 5.0)) height="5" {}
                (marker(POINT, x, y))
                text.line-label x=(px(x + right)) y=(px(y + down)) text-anchor=(anchor) { (point.name) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use units::si_tick;

    use super::*;

    /// 100 at 1 and 25 at 4, on axes to 4 and to 100.
    fn drawn(line: f64, point: (f64, f64)) -> String {
        let place = |x: f64, estimate: f64, measured: Option<&str>| CurvePlace {
            x,
            interval: Interval {
                estimate,
                low: estimate / 2.0,
                high: 200.0,
            },
            measured: measured.map(str::to_owned),
        };
        let chart = CurveChart {
            size: Size::LARGE,
            description: Description {
                id: "c",
                title: "Throughput <over> data/memory",
                text: "It falls.",
            },
            x_name: "data/memory",
            x: &Axis::from_zero(4.0, 4),
            y_name: "operations/s",
            y: &Axis::from_zero(100.0, 4),
            tick: si_tick,
            places: vec![
                place(1.0, 100.0, Some("first")),
                place(2.0, 50.0, None),
                place(4.0, 25.0, Some("last")),
            ],
            line: Some((line, "today")),
            point: Some(MarkedPoint {
                at: point,
                between: (point.0 - 0.5, point.0 + 0.5),
                name: "cliff".to_owned(),
                words: "half".to_owned(),
            }),
        };
        chart.draw().into_string()
    }

    #[test]
    fn the_curve_its_band_and_its_places_are_drawn() {
        // The plot is 362 units wide from 48, and 226 high from 24 to 250.
        let svg = drawn(1.0, (2.0, 50.0));
        for part in [
            "Throughput &lt;over&gt; data/memory",
            // 48 + 362 / 4, 48 + 362 / 2, 48 + 362; the band is cut off at the top of the axis.
            r#"class="stroke" d="M138.5 24L229 137L410 193.5""#,
            r#"class="band" d="M138.5 24L229 24L410 24L410 221.8L229 193.5L138.5 137Z""#,
            "<title>first</title>",
            "<title>last</title>",
            // Today at 1, with its name to the right.
            r#"d="M138.5 24V250""#,
            r#"x="143.5" y="34" text-anchor="start">today"#,
            // The interval from 1.5 to 2.5: 183.8 to 274.3.
            r#"x="182.8" width="92.5""#,
            r#"x="219" y="152" text-anchor="end">cliff"#,
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
        assert_eq!(svg.matches("<title>").count(), 3, "{svg}");
    }

    #[test]
    fn names_are_on_the_side_with_more_room() {
        let svg = drawn(3.0, (1.0, 100.0));
        for part in [
            r#"x="314.5" y="34" text-anchor="end">today"#,
            r#"x="148.5" y="19" text-anchor="start">cliff"#,
        ] {
            assert!(svg.contains(part), "{part}\n{svg}");
        }
    }
}
