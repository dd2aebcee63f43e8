//! The parts of all charts around their data: size, title for screen readers, grid lines, axes.

use std::ops::RangeInclusive;

use maud::{Markup, html};

use super::{
    Format, px,
    scale::{Axis, Levels},
};

/// The outer size of a chart and the margins that its axes take, in the units of its `viewBox`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Size {
    /// A single chart with room for labels at the ends of its lines.
    pub(crate) const LARGE: Self = Self {
        width: 480.0,
        height: 290.0,
        left: 48.0,
        right: 70.0,
        top: 24.0,
        bottom: 40.0,
    };
    /// One of several charts side by side.
    pub(crate) const SMALL: Self = Self {
        width: 240.0,
        height: 194.0,
        left: 50.0,
        right: 8.0,
        top: 24.0,
        bottom: 36.0,
    };
    /// A comparison block by block, one of several side by side.
    pub(crate) const PAIRS: Self = Self {
        width: 320.0,
        height: 190.0,
        ..Self::SMALL
    };
    /// A wide and low chart for a time series.
    pub(crate) const WIDE: Self = Self {
        width: 720.0,
        height: 170.0,
        left: 48.0,
        right: 10.0,
        top: 22.0,
        bottom: 36.0,
    };
    /// The same with room for changes on its y axis, `+12.5 %`.
    pub(crate) const SESSIONS: Self = Self {
        left: 58.0,
        ..Self::WIDE
    };

    /// The same size, reduced in height by the room for the labels of these levels if they are slanted.
    pub(crate) fn with_room_for(self, levels: &Levels) -> Self {
        if !are_slanted(self, levels) {
            return self;
        }
        let longest = levels
            .labels
            .iter()
            .map(|label| label.chars().count())
            .max();
        let characters = longest.unwrap_or(0).min(slanted_characters(self));
        let taken = characters as f64 * CHARACTER * SLANT_DEGREES.to_radians().sin();
        Self {
            height: self.height + taken,
            bottom: self.bottom + taken,
            ..self
        }
    }

    pub(crate) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.width - self.left - self.right)
    }

    pub(crate) fn y(&self, share: f64) -> f64 {
        self.height - self.bottom - share * (self.height - self.top - self.bottom)
    }
}

/// The text of a chart for a screen reader.
pub(crate) struct Description<'a> {
    /// Unique on the page.
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) text: &'a str,
}

/// An SVG element with `content`, labelled by its title and description.
pub(crate) fn svg(size: Size, description: &Description, content: Markup) -> Markup {
    let id = description.id;
    let view_box = format!("0 0 {} {}", size.width, size.height);
    html! {
        svg.chart viewBox=(view_box) role="img" aria-labelledby={ (id) "-t " (id) "-d" }
            style={ "max-width:" (size.width * 1.25) "px" } {
            title id={ (id) "-t" } { (description.title) }
            desc id={ (id) "-d" } { (description.text) }
            (content)
        }
    }
}

/// Horizontal grid lines with their labels, and the name of the axis above them.
pub(crate) fn y_axis(size: Size, axis: &Axis, name: &str, format: Format) -> Markup {
    let base = px(size.y(0.0));
    html! {
        @if axis.ticks.first() != Some(&axis.low) {
            line.axis x1=(px(size.left)) x2=(px(size.width - size.right)) y1=(base) y2=(base) {}
        }
        @for tick in &axis.ticks {
            @let y = px(size.y(axis.share(*tick)));
            line class=(if *tick == axis.low { "axis" } else { "grid" })
                x1=(px(size.left)) x2=(px(size.width - size.right)) y1=(y) y2=(y) {}
            text.tick x=(px(size.left - 6.0)) y=(y) dy="0.32em" text-anchor="end" { (format(*tick)) }
        }
        text.axis-name x="2" y="11" { (name) }
    }
}

/// A tick and a label for each level, and the name of the axis below them.
pub(crate) fn level_axis(
    size: Size,
    levels: &Levels,
    at: impl Fn(usize) -> f64,
    name: &str,
) -> Markup {
    let base = size.y(0.0);
    let slanted = are_slanted(size, levels);
    let shown = if slanted {
        slanted_labels(size, levels, &at)
    } else {
        labels_with_room(&levels.labels, &at, ANYWHERE)
    };
    html! {
        @for (index, label) in shown.iter().enumerate() {
            @let x = px(at(index));
            line.axis x1=(x) x2=(x) y1=(px(base)) y2=(px(base + 4.0)) {}
            @if let Some(label) = label {
                @if slanted {
                    @let y = px(base + 12.0);
                    text.tick x=(x) y=(y) text-anchor="end" transform={ "rotate(-" (SLANT_DEGREES) " " (x) " " (y) ")" } {
                        (label)
                    }
                } @else {
                    text.tick x=(x) y=(px(base + 16.0)) text-anchor="middle" { (label) }
                }
            }
        }
        text.axis-name x=(px(size.x(0.5))) y=(px(size.height - 5.0)) text-anchor="middle" { (name) }
    }
}

/// Approximate width of one character of a tick label.
const CHARACTER: f64 = 6.4;

/// Approximate height of a tick label.
const LINE: f64 = 12.0;

/// Labels below the levels may extend beyond their chart at its ends.
const ANYWHERE: RangeInclusive<f64> = f64::NEG_INFINITY..=f64::INFINITY;

/// The angle of labels that do not fit side by side.
const SLANT_DEGREES: f64 = 55.0;

/// Whether a label does not fit into its room: cut off, `mysql-5.6` and `mysql-5.7` would look the same.
fn are_slanted(size: Size, levels: &Levels) -> bool {
    let count = levels.labels.len().max(1);
    let room = (size.width - size.left - size.right) / count as f64;
    let characters = ((room / CHARACTER) as usize).max(4);
    let mut lengths = levels.labels.iter().map(|label| label.chars().count());
    lengths.any(|length| length > characters)
}

/// Maximum length of a slanted label: the first one must not leave the chart on the left.
fn slanted_characters(size: Size) -> usize {
    (size.left / (CHARACTER * SLANT_DEGREES.to_radians().cos())) as usize
}

/// Slanted labels; `None` for one that would overlap its neighbour on the left.
fn slanted_labels(size: Size, levels: &Levels, at: &impl Fn(usize) -> f64) -> Vec<Option<String>> {
    let characters = slanted_characters(size);
    let mut free_from = f64::NEG_INFINITY;
    let mut shown = Vec::new();
    for (index, label) in levels.labels.iter().enumerate() {
        let fits = at(index) >= free_from;
        if fits {
            free_from = at(index) + LINE;
        }
        shown.push(fits.then(|| shortened(label, characters)));
    }
    shown
}

/// The labels; `None` for one that would overlap its neighbour on the left, or leave `within`.
pub(crate) fn labels_with_room(
    labels: &[String],
    at: impl Fn(usize) -> f64,
    within: RangeInclusive<f64>,
) -> Vec<Option<String>> {
    let mut free_from = *within.start();
    let mut shown = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        let half = label.chars().count() as f64 * CHARACTER / 2.0;
        let fits = at(index) - half >= free_from && at(index) + half <= *within.end();
        if fits {
            free_from = at(index) + half + 3.0;
        }
        shown.push(fits.then(|| label.clone()));
    }
    shown
}

/// At most `characters` of a text; a cut is marked by `…`.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_are_slanted_and_stay_apart() {
        let labels = ["mysql-5.6", "mysql-5.7", "mariadb-10.11"].map(str::to_owned);
        let levels = Levels::of(&labels);
        let at = |index: usize| Size::SMALL.x(levels.at[index]);
        let whole = labels.clone().map(Some);
        assert_eq!(slanted_labels(Size::SMALL, &levels, &at), whole);
        let size = Size::SMALL.with_room_for(&levels);
        assert!(size.height > Size::SMALL.height + 60.0);
        assert_eq!(
            size.y(0.0),
            Size::SMALL.y(0.0),
            "the data stays where it is"
        );
        assert_eq!(
            slanted_labels(size, &levels, &|_| 50.0),
            [whole[0].clone(), None, None]
        );
        let short = Levels::of(&["1", "64"].map(str::to_owned));
        assert_eq!(Size::SMALL.with_room_for(&short).height, Size::SMALL.height);
    }

    #[test]
    fn labels_that_would_overlap_are_left_out() {
        let labels = ["1", "60", "64"].map(str::to_owned);
        let levels = Levels::of(&labels);
        let at = |index: usize| Size::LARGE.x(levels.at[index]);
        assert!(!are_slanted(Size::LARGE, &levels));
        let shown = labels_with_room(&levels.labels, at, ANYWHERE);
        assert_eq!(shown, [Some("1".into()), Some("60".into()), None]);
        assert_eq!(shortened("my-full.cnf", 20), "my-full.cnf");
        assert_eq!(shortened("my-kazeburo.cnf", 8), "my-kaze…");
    }
}
