//! The overview, and all of InnoDB.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
};

use super::{blocks, connections, figures, scene::Scene, statements, waits};

/// Minimum height of a list below the figures, rows.
const LIST_AT_LEAST: u16 = 4;
/// Minimum width for lists side by side.
const SIDE_BY_SIDE: u16 = 110;

/// The main figures, and the top of each list as far as there is room.
pub(super) fn draw(scene: Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let groups = vec![
        figures::throughput(scene),
        figures::response_times(scene),
        figures::server(scene),
        figures::innodb(scene),
        figures::cpu(scene),
        figures::disk(scene),
    ];
    let left = blocks::draw(groups, scene.screen.palette, area, buffer);
    if left.height < LIST_AT_LEAST {
        return;
    }
    let palette = scene.screen.palette;
    let statements = statements::top(scene);
    if left.width < SIDE_BY_SIDE {
        return statements.draw(0, palette, left, buffer);
    }
    let [first, second] = Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)])
        .spacing(2)
        .areas(left);
    statements.draw(0, palette, first, buffer);
    let [upper, lower] = if second.height >= 2 * LIST_AT_LEAST {
        Layout::vertical([Constraint::Fill(1); 2]).areas(second)
    } else {
        [second, Rect::default()]
    };
    waits::top(scene).draw(0, palette, upper, buffer);
    connections::states(scene).draw(0, palette, lower, buffer);
}

pub(super) fn draw_innodb(scene: Scene<'_>, area: Rect, buffer: &mut Buffer) {
    blocks::draw(
        figures::innodb_groups(scene),
        scene.screen.palette,
        area,
        buffer,
    );
}
