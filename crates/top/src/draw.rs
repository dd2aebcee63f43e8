//! The screen: a title, the selected panel, and a line with the keys.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    text::{Line, Span},
    widgets::{Clear, Widget},
};

use crate::{
    input::{Panel, Screen},
    model::Model,
    playback::Source,
};

mod blocks;
mod connections;
mod figures;
mod help;
mod listing;
mod machine;
mod overview;
mod scene;
mod statements;
mod title;
mod waits;

use scene::Scene;

/// Minimum size that is drawn, columns and rows: less could not be read.
const SMALLEST: (u16, u16) = (40, 10);

/// Draws the user's selection into an area of a terminal, whatever its size.
pub fn draw(screen: &Screen, model: &Model, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    let (width, height) = SMALLEST;
    if area.width < width || area.height < height {
        return too_small(area, buffer);
    }
    let scene = Scene {
        model,
        screen,
        at_s: screen.playback.at_s(model),
    };
    let [title, tabs, body, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    title::draw(scene, title, buffer);
    draw_tabs(screen, tabs, buffer);
    match screen.panel {
        Panel::Overview => overview::draw(scene, body, buffer),
        Panel::Statements => statements::draw(scene, body, buffer),
        Panel::Waits => waits::draw(scene, body, buffer),
        Panel::Connections => connections::draw(scene, body, buffer),
        Panel::Innodb => overview::draw_innodb(scene, body, buffer),
        Panel::Machine => machine::draw(scene, body, buffer),
    }
    draw_keys(screen, keys, buffer);
    if screen.shows_help {
        help::draw(screen, body, buffer);
    }
    disarm(area, buffer);
}

/// Removes characters that change the direction of writing or are invisible from every cell; control characters are
/// removed before.
fn disarm(area: Rect, buffer: &mut Buffer) {
    for position in area.positions() {
        let cell = &mut buffer[position];
        if cell.symbol().contains(samples::is_unprintable) {
            cell.set_symbol("?");
        }
    }
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let (width, height) = SMALLEST;
    let lines = [
        format!("{} x {} is too small:", area.width, area.height),
        format!("{width} x {height} at least"),
        "q ends".to_owned(),
    ];
    for (line, row) in lines.iter().zip(area.rows()) {
        Line::raw(line.as_str()).render(row, buffer);
    }
}

fn draw_tabs(screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let palette = screen.palette;
    // Names only if there is room: the digits are more important.
    let all: usize = Panel::ALL.iter().map(|it| it.name().len() + 4).sum();
    let is_narrow = all > usize::from(area.width);
    let tabs = Panel::ALL.iter().enumerate().flat_map(|(place, panel)| {
        let number = place + 1;
        let is_chosen = *panel == screen.panel;
        let text = if is_narrow && !is_chosen {
            format!(" {number} ")
        } else {
            format!(" {number} {} ", panel.name())
        };
        let style = if is_chosen {
            palette.chosen()
        } else {
            palette.aside()
        };
        [Span::styled(text, style), Span::raw(" ")]
    });
    Line::from_iter(tabs).render(area, buffer);
}

fn draw_keys(screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let pace = match screen.playback.source() {
        Source::Replay => "+/- speed  ←/→ seek",
        Source::Following => "←/→ look back",
        Source::Live => "+/- interval  ←/→ look back",
    };
    let of_panel = match screen.panel {
        Panel::Statements | Panel::Waits => "  s sort  ↑/↓ scroll",
        Panel::Connections => "  s sort  i idle  ↑/↓ scroll",
        Panel::Overview | Panel::Innodb | Panel::Machine => "",
    };
    let keys = format!("q quit  h help  p pause  {pace}{of_panel}  1-6 panels");
    Line::styled(keys, screen.palette.aside()).render(area, buffer);
}
