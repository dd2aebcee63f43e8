//! The statements that use most of the time: as measured by the client, and as counted by the server.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
};
use samples::{ServerTotals, TotalsRow};

use super::{listing::Listing, scene::Scene};
use crate::{
    figure::{duration, number, percent},
    load::Kind,
    server::is_of_statements,
    sorting::Sorting,
    timeline::Moment,
};

/// The panel: every available list.
pub(super) fn draw(scene: Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let lists = lists(scene);
    let shares = lists.iter().map(|list| {
        let rows = list.rows.len() as u16;
        // A list requests its size, and the longest one is shortened.
        Constraint::Max(rows.saturating_add(4))
    });
    let areas = Layout::vertical(shares).split(area);
    for (list, area) in lists.iter().zip(areas.iter()) {
        let scrolled = scene.screen.scrolled;
        list.draw(scrolled, scene.screen.palette, *area, buffer);
    }
}

/// The most informative list, for the overview.
pub(super) fn top(scene: Scene<'_>) -> Listing {
    let first = lists(scene).into_iter().next();
    first.unwrap_or_else(|| digests(scene))
}

fn lists(scene: Scene<'_>) -> Vec<Listing> {
    let mut lists = Vec::new();
    if let Some(load) = scene.model.load.at(scene.at_s) {
        lists.push(kinds("Operations of the load", &load.operations, scene));
        if !load.statements.is_empty() {
            lists.push(kinds("Statements of the load", &load.statements, scene));
        }
    }
    let has_load = !lists.is_empty();
    let digests = digests(scene);
    // The load's own figures of its statements are better; the server's are shown if there are any.
    if !has_load || !digests.rows.is_empty() {
        lists.push(digests);
    }
    lists
}

fn kinds(title: &str, kinds: &[Kind], scene: Scene<'_>) -> Listing {
    let sorting = scene.screen.sorting;
    let mut kinds: Vec<&Kind> = kinds.iter().collect();
    let rank = |kind: &Kind| match sorting {
        Sorting::Time => kind.share,
        Sorting::Count => kind.per_s,
        Sorting::Mean => kind.times.mean_ns.unwrap_or(0.0),
        Sorting::Errors => kind.errors_per_s,
    };
    kinds.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let rows = kinds.into_iter().map(|kind| {
        let times = kind.times;
        let figures = vec![
            percent(Some(kind.share)),
            number(Some(kind.per_s)),
            duration(times.mean_ns),
            duration(times.p95_ns),
            duration(times.p99_ns),
            duration(times.max_ns),
            number(Some(kind.errors_per_s)),
        ];
        (figures, kind.name.clone())
    });
    Listing {
        title: format!("{title}, by {}", sorting.name()),
        columns: vec![
            ("time %", 6),
            ("per s", 6),
            ("mean", 8),
            ("95 %", 8),
            ("99 %", 8),
            ("longest", 8),
            ("errors/s", 8),
        ],
        words_from: usize::MAX,
        text: "name",
        rows: rows.collect(),
        note: None,
    }
}

/// The server's totals by digest: for the interval if it is observed live, for the whole run in a record.
fn digests(scene: Scene<'_>) -> Listing {
    let moment = scene.model.server.at(scene.at_s);
    let details = moment.and_then(|moment| moment.details.as_ref());
    let of_interval =
        details.and_then(|details| details.totals.iter().find(|it| is_of_statements(it)));
    let of_run = scene.model.totals.iter().find(|it| is_of_statements(it));
    let length_s = moment.map_or(1.0, Moment::length_s);
    match (of_interval, of_run) {
        (Some(totals), _) => listing("Statements in the server", totals, Some(length_s), scene),
        (None, Some(totals)) => listing("Statements in the server, whole run", totals, None, scene),
        (None, None) => Listing {
            title: "Statements in the server".to_owned(),
            columns: Vec::new(),
            words_from: usize::MAX,
            text: "",
            rows: Vec::new(),
            note: Some(
                scene
                    .missing("statement digests")
                    .unwrap_or_else(|| "not known at this time".to_owned()),
            ),
        },
    }
}

fn listing(title: &str, totals: &ServerTotals, length_s: Option<f64>, scene: Scene<'_>) -> Listing {
    let sorting = scene.screen.sorting;
    let of = |row: &TotalsRow, column: &str| row.counters.get(column).copied().unwrap_or(0.0);
    let mean_s = |row: &TotalsRow| of(row, "time_s") / of(row, "count").max(1.0);
    let rank = |row: &TotalsRow| match sorting {
        Sorting::Time => of(row, "time_s"),
        Sorting::Count => of(row, "count"),
        Sorting::Mean => mean_s(row),
        Sorting::Errors => of(row, "errors"),
    };
    let mut rows: Vec<&TotalsRow> = totals.rows.iter().collect();
    rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    let all_s: f64 = rows.iter().map(|row| of(row, "time_s")).sum();
    let rows = rows.into_iter().map(|row| {
        let count = of(row, "count");
        let per_one = |column| number(Some(of(row, column) / count.max(1.0)));
        let figures = vec![
            percent(Some(of(row, "time_s") / all_s.max(f64::MIN_POSITIVE))),
            number(Some(length_s.map_or(count, |length_s| count / length_s))),
            duration(Some(mean_s(row) * 1e9)),
            per_one("rows_examined"),
            per_one("rows_sent"),
            number(Some(of(row, "errors"))),
            number(Some(of(row, "no_index_used"))),
            number(Some(of(row, "tmp_disk_tables"))),
        ];
        (figures, row.name.clone())
    });
    let left_out = match totals.left_out {
        0 => None,
        count => Some(format!("the {count} cheapest are left out")),
    };
    Listing {
        title: format!("{title}, by {}", sorting.name()),
        columns: vec![
            ("time %", 6),
            (if length_s.is_some() { "per s" } else { "count" }, 6),
            ("mean", 8),
            ("examined", 8),
            ("sent", 6),
            ("errors", 6),
            ("no index", 8),
            ("tmp disk", 8),
        ],
        words_from: usize::MAX,
        text: "statement",
        rows: rows.collect(),
        note: left_out,
    }
}
