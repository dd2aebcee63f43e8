//! A list: figures in columns, and a text in the remaining width.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Rect},
    text::{Line, Text},
    widgets::{Cell, Row, Table, Widget},
};

use crate::palette::Palette;

/// Minimum useful width of the text: columns are left out for it.
const TEXT_AT_LEAST: u16 = 24;

/// A list of rows.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    pub(crate) title: String,
    /// Columns of figures with their width, the most important first: the last ones are left out if there is no room.
    pub(crate) columns: Vec<(&'static str, u16)>,
    /// Index of the first column with words instead of numbers: the beginning of its text is kept, not the end.
    pub(crate) words_from: usize,
    /// The heading of the text column.
    pub(crate) text: &'static str,
    /// Figures and text of each row.
    pub(crate) rows: Vec<(Vec<String>, String)>,
    /// A note on missing values with the reason, or on rows that the list does not contain.
    pub(crate) note: Option<String>,
}

impl Listing {
    /// Draws the rows that fit, from the row `scrolled` on.
    pub(crate) fn draw(&self, scrolled: usize, palette: Palette, area: Rect, buffer: &mut Buffer) {
        let mut rows = area.rows();
        let Some(title) = rows.next() else {
            return;
        };
        Line::styled(self.title.as_str(), palette.heading()).render(title, buffer);
        let mut area = Rect {
            y: area.y + 1,
            height: area.height - 1,
            ..area
        };
        if let Some(note) = &self.note
            && area.height > 0
        {
            Line::styled(format!(" {note}"), palette.aside()).render(area, buffer);
            area.y += 1;
            area.height -= 1;
        }
        if !self.rows.is_empty() {
            self.draw_rows(scrolled, palette, area, buffer);
        }
    }

    fn draw_rows(&self, scrolled: usize, palette: Palette, area: Rect, buffer: &mut Buffer) {
        let shown = self.shown_columns(area.width);
        // The last row stays visible.
        let scrolled = scrolled.min(self.rows.len().saturating_sub(1));
        let cell = |(place, text): (usize, &str)| {
            let text = Text::from(text.to_owned());
            Cell::from(if place < self.words_from {
                text.right_aligned()
            } else {
                text
            })
        };
        let rows = self.rows.iter().skip(scrolled).map(|(figures, text)| {
            let figures = figures.iter().take(shown).map(String::as_str);
            let figures = figures.enumerate().map(cell);
            Row::new(figures.chain([Cell::from(text.as_str())]))
        });
        let columns = self.columns.iter().take(shown);
        let header = columns.clone().map(|(name, _)| *name).enumerate().map(cell);
        let header = Row::new(header.chain([Cell::from(self.text)])).style(palette.aside());
        let widths = columns.map(|(_, width)| Constraint::Length(*width));
        let widths = widths.chain([Constraint::Min(0)]);
        let table = Table::new(rows.take(usize::from(area.height)), widths)
            .header(header)
            .column_spacing(1);
        Widget::render(table, area, buffer);
    }

    /// Number of columns of figures that leave room for the text.
    fn shown_columns(&self, width: u16) -> usize {
        let mut left = width.saturating_sub(TEXT_AT_LEAST);
        let fitting = self.columns.iter().take_while(|(_, width)| {
            let fits = left > *width;
            left = left.saturating_sub(width + 1);
            fits
        });
        fitting.count().max(1)
    }
}
