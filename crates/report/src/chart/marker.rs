//! The distinction of a chart's lines: colour class, marker and dash.

use maud::{Markup, html};

use super::px;

/// Number of colours in the style sheet; lines beyond it repeat colours with another marker.
const COLOURS: usize = 8;
const DASHES: [&str; 4] = ["", "7 3", "2 3", "8 3 2 3"];

/// CSS class for the colour of line `index`.
pub(crate) fn colour_class(index: usize) -> String {
    format!("s{}", index % COLOURS)
}

/// `stroke-dasharray` of line `index`; empty for a solid line.
pub(crate) fn dash(index: usize) -> &'static str {
    DASHES[index % DASHES.len()]
}

/// The marker of line `index` around a point: circle, square, triangle, diamond, cross, plus, ring and so on.
pub(crate) fn marker(index: usize, x: f64, y: f64) -> Markup {
    let polygon = |corners: &[(f64, f64)]| {
        let points: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{},{}", px(x + dx), px(y + dy)))
            .collect();
        html! { polygon class="mark" points=(points.join(" ")) {} }
    };
    let strokes = |path: String| html! { path class="mark-stroke" d=(path) {} };
    match index % 7 {
        0 => html! { circle class="mark" cx=(px(x)) cy=(px(y)) r="3.6" {} },
        1 => polygon(&[(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)]),
        2 => polygon(&[(0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)]),
        3 => polygon(&[(0.0, -4.8), (4.8, 0.0), (0.0, 4.8), (-4.8, 0.0)]),
        4 => strokes(format!("M{} {}l7 7m0 -7l-7 7", px(x - 3.5), px(y - 3.5))),
        5 => strokes(format!("M{} {}v8.4m-4.2 -4.2h8.4", px(x), px(y - 4.2))),
        _ => html! { circle class="mark-stroke" cx=(px(x)) cy=(px(y)) r="3.4" {} },
    }
}

/// A line of a legend or a direct label: the stroke with its marker, 28 × 12.
pub(crate) fn sample(index: usize) -> Markup {
    html! {
        svg class={ "swatch " (colour_class(index)) } viewBox="0 0 28 12" width="28" height="12" aria-hidden="true" {
            path.stroke d="M1 6H27" stroke-dasharray=[Some(dash(index)).filter(|dash| !dash.is_empty())] {}
            (marker(index, 14.0, 6.0))
        }
    }
}
