//! The interval of a ratio, drawn on a scale that it may share with others.

use maud::{Markup, html};
use stats::Interval;
use units::changes;

use super::figures::unbroken;
use crate::chart::px;

/// Width and height of one interval's drawing, in the units of its `viewBox`.
const SIZE: (f64, f64) = (320.0, 22.0);
/// Minimum change on either side of the scale, as a logarithm.
const REACH_AT_LEAST: f64 = 0.02;
/// Maximum change: an interval over three noisy executions can be wider than any page.
const REACH_AT_MOST: f64 = 4.0;

/// A scale of ratios around 1.
pub(crate) struct RatioScale {
    /// The smallest difference that matters, as a share.
    margin: f64,
    /// Half of the scale, as the logarithm of a ratio.
    reach: f64,
}

impl RatioScale {
    /// A scale that contains all of these ratios and shows the margin.
    pub(crate) fn of(margin: f64, ratios: impl Iterator<Item = Interval>) -> Self {
        let reaches = ratios
            .flat_map(|ratio| [ratio.low, ratio.high])
            .map(|ratio| ratio.ln().abs().min(REACH_AT_MOST));
        let least = REACH_AT_LEAST.max(margin.ln_1p() * 2.0);
        Self {
            margin,
            reach: reaches.fold(least, f64::max) * 1.05,
        }
    }

    /// The interval as a bar with its estimate as a dot, over the band of the margin and the line of no difference.
    pub(crate) fn drawn(&self, ratio: &Interval) -> Markup {
        let (width, height) = SIZE;
        let at = |ratio: f64| width / 2.0 * (1.0 + (ratio.ln() / self.reach).clamp(-1.0, 1.0));
        let margin = 1.0 + self.margin;
        let middle = px(height / 2.0);
        html! {
            svg.interval viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(in_words(ratio)) {
                rect.interval-margin x=(px(at(1.0 / margin))) y="0"
                    width=(px(at(margin) - at(1.0 / margin))) height=(px(height)) {}
                line.axis x1=(px(at(1.0))) x2=(px(at(1.0))) y1="0" y2=(px(height)) {}
                line.interval-bar x1=(px(at(ratio.low))) x2=(px(at(ratio.high))) y1=(middle) y2=(middle) {}
                circle.interval-dot cx=(px(at(ratio.estimate))) cy=(middle) r="4.5" {}
            }
        }
    }
}

/// The change in words: `+15.7 % (+9.1 % to +22.7 %)`.
pub(crate) fn in_words(ratio: &Interval) -> String {
    let [estimate, low, high] = changes([ratio.estimate, ratio.low, ratio.high]);
    unbroken(&format!("{estimate} ({low} to {high})"))
}
