//! Static SVG charts: drawn in Rust, coloured by the page's style sheet, readable without a script.
//!
//! Each chart is `role="img"` with a title and a description, takes every colour from CSS classes (so that it follows
//! light, dark and print), and distinguishes lines by marker and dash as well as by colour.

pub(crate) mod curve;
pub(crate) mod frame;
pub(crate) mod line;
pub(crate) mod marker;
pub(crate) mod pair;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod sessions;
pub(crate) mod stack;
pub(crate) mod timeline;

/// Formats a value for an axis or a tooltip.
pub(crate) type Format = fn(f64) -> String;

/// A coordinate with one decimal: a tenth of a pixel is finer than any screen, and keeps the page small.
pub(crate) fn px(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Avoids "-0".
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}
