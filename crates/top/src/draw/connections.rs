//! The connected clients, and the states of their connections.

use std::collections::BTreeMap;

use ratatui::{buffer::Buffer, layout::Rect};
use samples::ClientConnection;

use super::{listing::Listing, scene::Scene};
use crate::{
    figure::{number, percent},
    sorting::Sorting,
};

/// Number of readings over which states are averaged.
const LOOKS: usize = 60;

/// The panel: each connection if the server is observed live, else the states in its readings.
pub(super) fn draw(scene: Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let listing = list(scene).unwrap_or_else(|| states(scene));
    let (palette, scrolled) = (scene.screen.palette, scene.screen.scrolled);
    listing.draw(scrolled, palette, area, buffer);
}

/// The process list; `None` if only the states are known.
fn list(scene: Scene<'_>) -> Option<Listing> {
    let moment = scene.model.server.at(scene.at_s)?;
    let all = &moment.details.as_ref()?.connections;
    let mut shown: Vec<&ClientConnection> = all
        .iter()
        .filter(|it| scene.screen.shows_idle || !it.is_idle())
        .collect();
    let sorting = match scene.screen.sorting {
        Sorting::Time | Sorting::Errors => {
            shown.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
            "time"
        }
        Sorting::Count => {
            shown.sort_by_key(|it| it.id);
            "number"
        }
        Sorting::Mean => {
            shown.sort_by(|a, b| a.user.cmp(&b.user));
            "account"
        }
    };
    let hidden = all.len() - shown.len();
    let rows = shown.into_iter().map(|it| {
        let host = match it.host.rsplit_once(':') {
            // The client's port is not needed.
            Some((host, _)) => host,
            None => &it.host,
        };
        let figures = vec![
            it.id.to_string(),
            number(Some(it.time_s)),
            it.user.clone(),
            it.command.clone(),
            it.state.clone(),
            it.database.clone(),
            host.to_owned(),
        ];
        let statement = if scene.screen.hides_statements {
            verb(&it.statement)
        } else {
            &it.statement
        };
        let statement = statement.split_whitespace().collect::<Vec<_>>();
        (figures, statement.join(" "))
    });
    let rows: Vec<_> = rows.collect();
    let note = match hidden {
        0 => None,
        hidden => Some(format!("idle and not shown: {hidden} (i shows them)")),
    };
    Some(Listing {
        title: format!("Connections ({}), by {sorting}", all.len()),
        columns: vec![
            ("id", 7),
            ("s", 6),
            ("user", 12),
            ("command", 8),
            ("state", 20),
            ("database", 12),
            ("host", 15),
        ],
        words_from: 2,
        text: "statement",
        rows,
        note: note.or_else(|| scene.missing("processlist")),
    })
}

/// The verb of a statement, which holds no data; empty where a comment comes first.
fn verb(statement: &str) -> &str {
    let statement = statement.trim_start();
    let end = statement.find(|character: char| !character.is_ascii_alphabetic());
    &statement[..end.unwrap_or(statement.len())]
}

/// What connections were seen to do: now, and in the mean over the last looks.
pub(super) fn states(scene: Scene<'_>) -> Listing {
    let looks: Vec<_> = scene
        .model
        .server
        .until(scene.at_s)
        .rev()
        .filter(|moment| !moment.processes.is_empty())
        .take(LOOKS)
        .collect();
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (place, look) in looks.iter().enumerate() {
        for (what, count) in &look.processes {
            let (now, sum) = sums.entry(what).or_default();
            *sum += f64::from(*count);
            if place == 0 {
                *now = f64::from(*count);
            }
        }
    }
    let all: f64 = sums
        .iter()
        .filter(|(what, _)| !what.starts_with("Sleep"))
        .map(|(_, (_, sum))| sum)
        .sum();
    let mut states: Vec<_> = sums.into_iter().collect();
    states.sort_by(|(_, (_, a)), (_, (_, b))| b.total_cmp(a));
    let rows = states.into_iter().map(|(what, (now, sum))| {
        let share = (!what.starts_with("Sleep") && all > 0.0).then_some(sum / all);
        let mean = sum / looks.len() as f64;
        let figures = vec![number(Some(now)), number(Some(mean)), percent(share)];
        (figures, what.to_owned())
    });
    let rows: Vec<_> = rows.collect();
    let note = rows.is_empty().then(|| {
        let why = scene.missing("processlist");
        why.unwrap_or_else(|| "none seen".to_owned())
    });
    Listing {
        title: format!("Connection activity, {} polls", looks.len()),
        columns: vec![("now", 6), ("mean", 6), ("busy %", 6)],
        words_from: usize::MAX,
        text: "command: state",
        rows,
        note,
    }
}
