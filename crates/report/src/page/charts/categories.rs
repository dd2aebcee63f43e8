//! The charts of a factor whose levels are not numbers: versions, engines, files.

use maud::{Markup, html};

use super::{Charts, FigureOf, READABLE_SHARE, Value, point, top};
use crate::{
    chart::{
        frame::Description,
        rows::{Row, RowChart},
        scale::Axis,
    },
    grid::{Facet, Line, cell::Figure},
};

/// The axis of a line that the common one would compress.
fn own_axis(line: &Line, value: &Value, y: &Axis) -> Option<Axis> {
    let own: Vec<Figure> = line.cells.iter().flatten().filter_map(value.of).collect();
    let highest = top(&own);
    let is_compressed = y.low == 0.0 && highest < y.high * READABLE_SHARE;
    is_compressed.then(|| Axis::from_zero(highest, 4))
}

impl Charts<'_> {
    /// Whether a line of a facet has an axis of its own beside the facet's.
    pub(super) fn has_own_axes(&self, value: &Value, facet: &Facet, y: &Axis) -> bool {
        let mut lines = facet.lines.iter().filter(|line| !line.is_empty());
        self.levels.are_categories() && lines.any(|line| own_axis(line, value, y).is_some())
    }

    /// A chart of bars for each line of a facet; a line that the others would compress has its own axis.
    pub(super) fn category_figure(
        &self,
        value: &Value,
        index: usize,
        facet: &Facet,
        y: &Axis,
    ) -> Markup {
        let lines = || {
            let lines = facet.lines.iter().enumerate();
            lines.filter(|(_, line)| !line.is_empty())
        };
        let title = self.title(value.name, facet, None);
        let axis = |line: &Line| own_axis(line, value, y).unwrap_or_else(|| y.clone());
        html! {
            figure.row {
                @if let Some(name) = facet.name() { figcaption { (name) } }
                div.panels { @for (style, line) in lines() {
                    div.panel.rows {
                        @if let Some(heading) = self.line_heading(line) { h3 { (heading) } }
                        (RowChart {
                            description: Description {
                                id: &format!("{}-{index}-{style}", value.id),
                                title: &self.title(value.name, facet, Some(line)),
                                text: &self.line_in_words(line, value),
                            },
                            name: value.y_name,
                            axis: &axis(line),
                            tick: value.tick,
                            hint: value.hint,
                            series: &[value.name],
                            style,
                            rows: self.rows(line, &[value.of]),
                        }.draw())
                    }
                } }
                (self.numbers(&title, value, facet))
            }
        }
    }

    /// A row for each level of the factor along x.
    pub(super) fn rows(&self, line: &Line, values: &[FigureOf]) -> Vec<Row<'_>> {
        let levels = self.x.levels.iter().zip(&line.cells);
        let rows = levels.map(|(label, cell)| Row {
            label,
            points: values.iter().map(|value| point(cell, *value)).collect(),
        });
        rows.collect()
    }

    /// A line in words: `mysql-5.7: 12.3k ± 0.4k; mysql-9.7: 11.9k ± 0.2k.`
    fn line_in_words(&self, line: &Line, value: &Value) -> String {
        let levels = self.x.levels.iter().zip(&line.cells);
        let said = levels.filter_map(|(level, cell)| {
            let figure = (value.of)(cell.as_ref()?)?;
            Some(format!("{level}: {}", (value.words)(&figure)))
        });
        format!("{}.", said.collect::<Vec<_>>().join("; "))
    }
}
