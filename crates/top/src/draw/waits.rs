//! The waits of the server's threads.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
};
use samples::TotalsRow;

use super::{connections, listing::Listing, scene::Scene};
use crate::{
    figure::{duration, number, percent},
    server::is_of_waits,
    sorting::Sorting,
    timeline::Moment,
};

/// The panel: waits, and the states of connections.
pub(super) fn draw(scene: Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let (waits, states) = (top(scene), connections::states(scene));
    let [upper, lower] = if waits.rows.is_empty() {
        Layout::vertical([Constraint::Length(3), Constraint::Min(0)]).areas(area)
    } else {
        Layout::vertical([Constraint::Fill(1); 2]).areas(area)
    };
    let palette = scene.screen.palette;
    waits.draw(scene.screen.scrolled, palette, upper, buffer);
    states.draw(0, palette, lower, buffer);
}

/// The server's totals by wait: for the interval if it is observed live, for the whole run in a record.
pub(super) fn top(scene: Scene<'_>) -> Listing {
    let moment = scene.model.server.at(scene.at_s);
    let details = moment.and_then(|moment| moment.details.as_ref());
    let of_interval = details.and_then(|details| details.totals.iter().find(|it| is_of_waits(it)));
    let of_run = scene.model.totals.iter().find(|it| is_of_waits(it));
    let sorting = match scene.screen.sorting {
        // Waits do not fail.
        Sorting::Errors => Sorting::Time,
        sorting => sorting,
    };
    let (title, totals, length_s) = match (of_interval, of_run) {
        (Some(totals), _) => ("Waits", totals, moment.map(Moment::length_s)),
        (None, Some(totals)) => ("Waits, whole run", totals, None),
        (None, None) => {
            let why = scene.missing("waits not observed");
            return Listing {
                title: "Waits".to_owned(),
                columns: Vec::new(),
                words_from: usize::MAX,
                text: "",
                rows: Vec::new(),
                note: Some(why.unwrap_or_else(|| "not known at this time".to_owned())),
            };
        }
    };
    let of = |row: &TotalsRow, column: &str| row.counters.get(column).copied().unwrap_or(0.0);
    let mean_s = |row: &TotalsRow| of(row, "time_s") / of(row, "count").max(1.0);
    let rank = |row: &TotalsRow| match sorting {
        Sorting::Count => of(row, "count"),
        Sorting::Mean => mean_s(row),
        Sorting::Time | Sorting::Errors => of(row, "time_s"),
    };
    let mut rows: Vec<&TotalsRow> = totals.rows.iter().collect();
    rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let all_s: f64 = rows.iter().map(|row| of(row, "time_s")).sum();
    let rows = rows.into_iter().map(|row| {
        let count = of(row, "count");
        let figures = vec![
            percent(Some(of(row, "time_s") / all_s.max(f64::MIN_POSITIVE))),
            number(Some(length_s.map_or(count, |length_s| count / length_s))),
            duration(Some(mean_s(row) * 1e9)),
        ];
        let name = row.name.strip_prefix("wait/").unwrap_or(&row.name);
        (figures, name.to_owned())
    });
    let rows: Vec<_> = rows.collect();
    let nothing = rows
        .is_empty()
        .then(|| "none with enabled instruments".to_owned());
    Listing {
        title: format!("{title}, by {}", sorting.name()),
        columns: vec![
            ("time %", 6),
            (if length_s.is_some() { "per s" } else { "count" }, 6),
            ("mean", 8),
        ],
        words_from: usize::MAX,
        text: "event",
        rows,
        note: nothing,
    }
}
