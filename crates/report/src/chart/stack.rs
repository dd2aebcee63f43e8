//! A chart of stacked bars, one per level, from 0 to 100 %.

use maud::{Markup, html};
use units::{percent, percent_number};

use super::{
    frame::{Description, Size, level_axis, svg, y_axis},
    px,
    scale::{Axis, Levels},
};

pub(crate) struct StackChart<'a> {
    pub(crate) size: Size,
    pub(crate) description: Description<'a>,
    pub(crate) x_name: &'a str,
    pub(crate) levels: &'a Levels,
    /// Bars by level, each with its parts from the bottom up; `None` if not observed.
    pub(crate) bars: Vec<Option<Vec<Segment>>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub(crate) name: &'static str,
    /// CSS class that fills it.
    pub(crate) class: &'static str,
    /// Share of the whole bar, 0 to 1.
    pub(crate) share: f64,
}

impl StackChart<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let axis = Axis::from_zero(1.0, 4);
        // The bars are at equal distances: on a log2 axis with irregular numbers they would overlap.
        let slot = 1.0 / self.levels.labels.len().max(1) as f64;
        let at = |index: usize| self.size.x((index as f64 + 0.5) * slot);
        let width = (slot * (self.size.width - self.size.left - self.size.right) * 0.78).min(48.0);
        let content = html! {
            (y_axis(self.size, &axis, "CPU %", percent_number))
            @for (index, bar) in self.bars.iter().enumerate() {
                @if let Some(parts) = bar { (self.bar(parts, index, at(index), width)) }
            }
            (level_axis(self.size, self.levels, at, self.x_name))
        };
        svg(self.size, &self.description, content)
    }

    fn bar(&self, parts: &[Segment], index: usize, middle: f64, width: f64) -> Markup {
        let mut below = 0.0;
        let stacked: Vec<(&Segment, f64, f64)> = parts
            .iter()
            .map(|part| {
                let from = below;
                below += part.share;
                (
                    part,
                    self.size.y(below.min(1.0)),
                    self.size.y(from.min(1.0)),
                )
            })
            .collect();
        let hints: Vec<String> = parts
            .iter()
            .map(|part| format!("{} {}", part.name, percent(part.share)))
            .collect();
        let hint = format!(
            "{} {}: {}",
            self.x_name,
            self.levels.labels[index],
            hints.join(", ")
        );
        html! {
            g {
                title { (hint) }
                @for (part, top, bottom) in stacked {
                    @if bottom - top > 0.05 {
                        rect class=(part.class) x=(px(middle - width / 2.0)) width=(px(width)) y=(px(top))
                            height=(px(bottom - top)) {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_on_each_other() {
        let labels = ["1", "3"].map(str::to_owned);
        let part = |name, class, share| Segment { name, class, share };
        let chart = StackChart {
            size: Size::SMALL,
            description: Description {
                id: "c1",
                title: "CPU",
                text: "Two bars, one not observed.",
            },
            x_name: "connections",
            levels: &Levels::of(&labels),
            bars: vec![
                Some(vec![
                    part("server", "cpu-server", 0.5),
                    part("client", "cpu-client", 0.25),
                ]),
                None,
            ],
        };
        let svg = chart.draw().into_string();
        // The plot is 134 units high and ends at 158: the server takes 67 of them, the client 33.5 above it.
        assert!(
            svg.contains(r#"class="cpu-server" x="71.5" width="48" y="91" height="67""#),
            "{svg}"
        );
        assert!(
            svg.contains(r#"class="cpu-client" x="71.5" width="48" y="57.5" height="33.5""#),
            "{svg}"
        );
        assert!(
            svg.contains("connections 1: server 50 %, client 25 %"),
            "{svg}"
        );
    }
}
