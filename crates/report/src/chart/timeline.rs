//! A rate over time as static SVG, for a page without a chart library.

use maud::{Markup, html};
use units::si_tick;

use super::{
    frame::{Description, Size, svg, y_axis},
    px,
    scale::Axis,
};

pub(crate) struct Timeline<'a> {
    pub(crate) description: Description<'a>,
    /// Start of each interval (seconds) and its value.
    pub(crate) points: &'a [(f64, f64)],
    /// Start of the measurement, seconds; the time before it is shaded.
    pub(crate) measured_from_s: f64,
    /// As `operations/s`.
    pub(crate) y_name: &'a str,
    /// A moment, seconds, with what happened there.
    pub(crate) mark: Option<(f64, String)>,
}

impl Timeline<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let size = Size::WIDE;
        let max = self
            .points
            .iter()
            .map(|(_, value)| *value)
            .fold(0.0, f64::max);
        let y = Axis::from_zero(max, 3);
        let end_s = self.points.last().map_or(1.0, |(t_s, _)| t_s.max(1.0));
        let time = Axis::from_zero(end_s, 8);
        let x = |t_s: f64| size.x((t_s / end_s).clamp(0.0, 1.0));
        let path: Vec<String> = self
            .points
            .iter()
            .map(|(t_s, value)| format!("{} {}", px(x(*t_s)), px(size.y(y.share(*value)))))
            .collect();
        let content = html! {
            @if self.measured_from_s > 0.0 {
                rect.warm-up x=(px(x(0.0))) width=(px(x(self.measured_from_s) - x(0.0))) y=(px(size.top))
                    height=(px(size.y(0.0) - size.top)) { title { "warm-up, excluded" } }
            }
            (y_axis(size, &y, self.y_name, si_tick))
            @for tick in time.ticks.iter().filter(|tick| **tick <= end_s) {
                text.tick x=(px(x(*tick))) y=(px(size.y(0.0) + 16.0)) text-anchor="middle" { (si_tick(*tick)) }
            }
            text.axis-name x=(px(size.x(0.5))) y=(px(size.height - 5.0)) text-anchor="middle" { "seconds" }
            g.s0 { path.stroke d={ "M" (path.join("L")) } {} }
            @if let Some((at_s, words)) = &self.mark {
                g.s1 {
                    title { (words) }
                    path.stroke d={ "M" (px(x(*at_s))) " " (px(size.top)) "V" (px(size.y(0.0))) } stroke-dasharray="4 3" {}
                }
            }
        };
        svg(size, &self.description, content)
    }
}
