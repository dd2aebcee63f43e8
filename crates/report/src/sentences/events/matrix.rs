//! The cost of an event in each combination as rows and columns of text, for a terminal and for Markdown.

use samples::printable_within;
use settings::Factor;
use units::moment;

use super::{
    overview::EventOverview,
    summary::{EventSummary, Place},
};
use crate::grid::{Grid, USUAL_X, level_number};

/// Longest head of a row or column, characters.
const HEAD_CHARS_MAX: usize = 40;

/// The combinations of one facet: a row for each line, a column for each x.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventMatrix {
    /// The event.
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    /// Each with its head and its cells, `–` where a combination has no event.
    pub(crate) rows: Vec<(String, Vec<String>)>,
}

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wording {
    /// `12.0k lost, took 3.3 s, back after 9.4 s`.
    Full,
    /// `12.0k lost, took 3.3 s`, with `not back` where it was not in a run.
    Long,
    /// `12.0k lost, 3.3 s`.
    Short,
    /// `12.0k lost`.
    Shortest,
}

impl EventMatrix {
    /// The costs of an event in a facet, given by its index.
    pub(crate) fn of(
        event: &EventOverview,
        grid: &Grid<'_>,
        facet: usize,
        wording: Wording,
    ) -> Self {
        let levels = |factor: &Option<Factor>| factor.as_ref().map_or(1, |it| it.levels.len());
        let cell = |line: usize, x: usize| {
            let summary = event.at(Place { facet, line, x });
            summary.map_or("–".to_owned(), |it| wording.of(it))
        };
        let has_line = |line: &usize| !grid.facets[facet].lines[*line].is_empty();
        let columns = 0..levels(&grid.x);
        let rows = (0..levels(&grid.line)).filter(has_line).map(|line| {
            let cells = columns.clone().map(|x| cell(line, x));
            (head(grid.line.as_ref(), line), cells.collect())
        });
        Self {
            title: event.title.clone(),
            rows: rows.collect(),
            columns: columns.map(|x| head(grid.x.as_ref(), x)).collect(),
        }
    }

    /// The same with a row for each x.
    pub(crate) fn transposed(&self) -> Self {
        let row = |(at, head): (usize, &String)| {
            let cells = self.rows.iter().map(|(_, cells)| cells[at].clone());
            (head.clone(), cells.collect())
        };
        Self {
            title: self.title.clone(),
            columns: self.rows.iter().map(|(head, _)| head.clone()).collect(),
            rows: self.columns.iter().enumerate().map(row).collect(),
        }
    }
}

impl Wording {
    fn of(self, summary: &EventSummary) -> String {
        if summary.always_failed() {
            return "failed".to_owned();
        }
        let Some(lost) = summary.lost_in_short() else {
            return "not known".to_owned();
        };
        let lost = if summary.has_lost() {
            format!("{lost} lost")
        } else {
            "none lost".to_owned()
        };
        let took = summary.took_s.map(|it| moment(it.mean));
        let took = match self {
            Self::Full | Self::Long => took.map(|took| format!("took {took}")),
            Self::Short => took,
            Self::Shortest => None,
        };
        let back = match self {
            Self::Full => summary.recovery_in_clause(),
            Self::Long => summary.is_late().then(|| "not back".to_owned()),
            Self::Short | Self::Shortest => None,
        };
        let failed = match summary.failures.len() {
            0 => None,
            failed => Some(format!("{failed} failed")),
        };
        let parts = [Some(lost), took, back, failed].into_iter();
        parts.flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A level by itself where it is a name, else with its factor: `mysql-5.6`, `8 connections`, `rows 2`.
fn head(factor: Option<&Factor>, at: usize) -> String {
    let Some(factor) = factor else {
        return String::new();
    };
    let (name, level) = (factor.name.as_str(), factor.levels[at].as_str());
    let head = match (level_number(level), USUAL_X.contains(&name)) {
        (Some(_), true) => format!("{level} {name}"),
        (Some(_), false) => format!("{name} {level}"),
        (None, _) => level.to_owned(),
    };
    printable_within(&head, HEAD_CHARS_MAX).into_owned()
}
