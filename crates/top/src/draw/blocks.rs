//! Groups of figures, each with its current value and a sparkline of its past.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    symbols::bar,
    text::{Line, Span},
    widgets::{RenderDirection, Sparkline, SparklineBar, Widget},
};

use crate::{
    palette::Palette,
    timeline::{Moment, Timeline},
};

/// Maximum number of values in a sparkline; no screen has room for more.
const LINE_AT_MOST: usize = 400;
/// Resolution of a sparkline's height; the terminal shows fewer steps.
const STEPS: f64 = 1000.0;
/// Widths of a label and of a value, and the minimum width of a sparkline, columns.
const LABEL: u16 = 17;
const VALUE: u16 = 11;
const LINE_AT_LEAST: u16 = 4;
/// Minimum width for two columns of groups.
const TWO_COLUMNS: u16 = 76;

/// A value of 0 is drawn on the base line; an unknown value is blank.
const BARS: bar::Set = bar::Set {
    empty: bar::ONE_EIGHTH,
    ..bar::NINE_LEVELS
};

/// A figure: its label, its current value and its past values.
pub(crate) struct Figure {
    label: &'static str,
    value: String,
    is_alarming: bool,
    /// Oldest first.
    line: Vec<Option<f64>>,
    /// The value at full height of the sparkline; `None` for its own maximum.
    full: Option<f64>,
    /// It is left out if there is no room for all.
    is_minor: bool,
}

/// How a figure is read from a timeline and formatted.
pub(crate) struct Reading<'a, T> {
    pub(crate) timeline: &'a Timeline<T>,
    pub(crate) at_s: f64,
}

impl<T: Moment> Reading<'_, T> {
    /// A figure of these moments.
    pub(crate) fn figure(
        &self,
        label: &'static str,
        write: impl Fn(Option<f64>) -> String,
        read: impl Fn(&T) -> Option<f64>,
    ) -> Figure {
        let mut line: Vec<Option<f64>> = self
            .timeline
            .until(self.at_s)
            .rev()
            .take(LINE_AT_MOST)
            .map(&read)
            .collect();
        line.reverse();
        Figure {
            label,
            value: write(self.timeline.at(self.at_s).and_then(&read)),
            is_alarming: false,
            line,
            full: None,
            is_minor: false,
        }
    }
}

impl Figure {
    /// The same as a share, with 1 at full height of the sparkline.
    pub(crate) fn of_whole(mut self) -> Self {
        self.full = Some(1.0);
        self
    }

    /// The same, left out if there is no room for all.
    pub(crate) fn minor(mut self) -> Self {
        self.is_minor = true;
        self
    }

    /// The same; alarming from this value on.
    pub(crate) fn alarming_from(mut self, limit: f64) -> Self {
        let now = self.line.last().copied().flatten();
        self.is_alarming = now.is_some_and(|now| now >= limit) && self.value != "-";
        self
    }

    /// True if it was never known.
    fn is_unknown(&self) -> bool {
        self.line.iter().all(Option::is_none)
    }
}

pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) figures: Vec<Figure>,
    /// A note on missing values, with the reason.
    pub(crate) note: Option<String>,
}

impl Group {
    /// Figures under a title; those that were never known are left out.
    pub(crate) fn new(title: impl Into<String>, figures: Vec<Figure>) -> Self {
        let mut figures = figures;
        figures.retain(|figure| !figure.is_unknown());
        Self {
            title: title.into(),
            figures,
            note: None,
        }
    }

    /// The same with a note on missing values.
    pub(crate) fn noting(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }

    fn height(&self) -> u16 {
        1 + self.figures.len() as u16 + u16::from(self.note.is_some())
    }

    fn is_empty(&self) -> bool {
        self.figures.is_empty() && self.note.is_none()
    }

    fn draw(&self, palette: Palette, area: Rect, buffer: &mut Buffer) {
        let mut rows = area.rows();
        if let Some(row) = rows.next() {
            Line::styled(self.title.as_str(), palette.heading()).render(row, buffer);
        }
        for (figure, row) in self.figures.iter().zip(&mut rows) {
            figure.draw(palette, row, buffer);
        }
        if let (Some(note), Some(row)) = (&self.note, rows.next()) {
            Line::styled(format!(" {note}"), palette.aside()).render(row, buffer);
        }
    }
}

impl Figure {
    fn draw(&self, palette: Palette, area: Rect, buffer: &mut Buffer) {
        let [label, value, _, line] = Layout::horizontal([
            Constraint::Length(LABEL),
            Constraint::Length(VALUE),
            Constraint::Length(1),
            Constraint::Min(0),
        ])
        .areas(area);
        Line::raw(format!(" {}", self.label)).render(label, buffer);
        let style = if self.is_alarming {
            palette.alarming()
        } else {
            palette.value()
        };
        let text = Span::styled(self.value.as_str(), style);
        Line::from(text).right_aligned().render(value, buffer);
        if line.width >= LINE_AT_LEAST {
            self.draw_line(palette, line, buffer);
        }
    }

    fn draw_line(&self, palette: Palette, area: Rect, buffer: &mut Buffer) {
        let shown = self.line.len().saturating_sub(usize::from(area.width));
        let shown = &self.line[shown..];
        let largest = shown.iter().flatten().copied().fold(0.0, f64::max);
        let full = self.full.unwrap_or(largest);
        let step = |value: f64| {
            if full > 0.0 {
                ((value / full).clamp(0.0, 1.0) * STEPS) as u64
            } else {
                0
            }
        };
        // The newest value is at the right end.
        let bars = shown
            .iter()
            .rev()
            .map(|value| SparklineBar::from(value.map(step)));
        Sparkline::default()
            .data(bars)
            .max(STEPS as u64)
            .direction(RenderDirection::RightToLeft)
            .bar_set(BARS)
            .absent_value_symbol(" ")
            .style(palette.spark())
            .render(area, buffer);
    }
}

/// Draws groups one below the other, in two columns if there is room; returns the free area below them.
pub(crate) fn draw(groups: Vec<Group>, palette: Palette, area: Rect, buffer: &mut Buffer) -> Rect {
    let columns: Vec<Rect> = if area.width >= TWO_COLUMNS {
        Layout::horizontal([Constraint::Fill(1); 2])
            .spacing(2)
            .split(area)
            .to_vec()
    } else {
        vec![area]
    };
    let mut groups: Vec<Group> = groups.into_iter().filter(|it| !it.is_empty()).collect();
    let mut counts = distributed(&groups, columns.len());
    if tallest(&groups, &counts) > area.height {
        for group in &mut groups {
            group.figures.retain(|figure| !figure.is_minor);
        }
        counts = distributed(&groups, columns.len());
    }
    let mut rest = groups.as_slice();
    for (column, count) in columns.iter().zip(&counts) {
        let (own, others) = rest.split_at(*count);
        rest = others;
        let mut filled = 0;
        for group in own {
            let height = group.height().min(column.height - filled);
            let row = Rect {
                y: column.y + filled,
                height,
                ..*column
            };
            group.draw(palette, row, buffer);
            filled += height;
        }
    }
    let used = tallest(&groups, &counts).min(area.height);
    Rect {
        y: area.y + used,
        height: area.height - used,
        ..area
    }
}

/// The number of groups in each column, in their order, so that the columns are of similar height.
fn distributed(groups: &[Group], columns: usize) -> Vec<usize> {
    let all: u16 = groups.iter().map(Group::height).sum();
    let wanted = all.div_ceil(columns as u16);
    let mut counts = vec![0; columns];
    let (mut column, mut filled) = (0, 0);
    for group in groups {
        // The middle of a group determines its column.
        if column + 1 < columns && filled + group.height() / 2 >= wanted {
            column += 1;
            filled = 0;
        }
        counts[column] += 1;
        filled += group.height();
    }
    counts
}

fn tallest(groups: &[Group], counts: &[usize]) -> u16 {
    let mut rest = groups;
    let heights = counts.iter().map(|count| {
        let (own, others) = rest.split_at(*count);
        rest = others;
        own.iter().map(Group::height).sum()
    });
    heights.max().unwrap_or(0)
}
