//! Two sides of a comparison, block by block: each pair of executions joined by a line.

use maud::{Markup, html};

use super::{
    Format,
    frame::{Description, Size, level_axis, svg, y_axis},
    marker::{colour_class, marker},
    px,
    scale::{Axis, Levels},
};

/// A chart of two sides.
pub(crate) struct PairChart<'a> {
    pub(crate) size: Size,
    pub(crate) description: Description<'a>,
    /// What a block is called.
    pub(crate) noun: &'static str,
    /// Numbers of the blocks.
    pub(crate) blocks: &'a [String],
    pub(crate) y_name: &'a str,
    pub(crate) y: &'a Axis,
    /// Formats the ticks of the y axis.
    pub(crate) tick: Format,
    /// Formats the value of a point.
    pub(crate) hint: Format,
    /// The baseline and the side that is compared with it.
    pub(crate) sides: [PairSide<'a>; 2],
}

pub(crate) struct PairSide<'a> {
    pub(crate) name: &'a str,
    /// One per block; `None` without a complete run.
    pub(crate) values: Vec<Option<f64>>,
}

/// Distance between the two points of a block.
const APART: f64 = 7.0;

impl PairChart<'_> {
    pub(crate) fn draw(&self) -> Markup {
        let levels = Levels::equally_spaced(self.blocks);
        let slot = 1.0 / self.blocks.len().max(1) as f64;
        let at = |index: usize| self.size.x((index as f64 + 0.5) * slot);
        let content = html! {
            (y_axis(self.size, self.y, self.y_name, self.tick))
            (level_axis(self.size, &levels, at, self.noun))
            @for index in 0..self.blocks.len() { (self.block(index, at(index))) }
        };
        svg(self.size, &self.description, content)
    }

    fn block(&self, index: usize, middle: f64) -> Markup {
        let apart = APART.min((self.size.width - self.size.left) / self.blocks.len() as f64 / 3.0);
        let at = |side: usize| match side {
            0 => middle - apart,
            _ => middle + apart,
        };
        let y = |value: f64| self.size.y(self.y.share(value));
        let [a, b] = [0, 1].map(|side| self.sides[side].values[index]);
        html! {
            @if let (Some(a), Some(b)) = (a, b) {
                line.pair x1=(px(at(0))) y1=(px(y(a))) x2=(px(at(1))) y2=(px(y(b))) {}
            }
            @for (side, value) in [a, b].into_iter().enumerate() { @if let Some(value) = value {
                g class=(colour_class(side)) {
                    title { (self.noun) " " (self.blocks[index]) ", " (self.sides[side].name) ": " ((self.hint)(value)) }
                    (marker(side, at(side), y(value)))
                }
            } }
        }
    }
}
