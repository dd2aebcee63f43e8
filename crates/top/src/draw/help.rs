//! The help: the keys, and the values that are not observed.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::Line,
    widgets::{Block, Clear, Paragraph, Widget, Wrap},
};

use crate::{input::Screen, playback::Source};

/// Width and height of the text, columns and rows.
const WIDTH: u16 = 68;

pub(super) fn draw(screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let lines: Vec<Line<'_>> = text(screen.playback.source())
        .into_iter()
        .map(Line::raw)
        .collect();
    let width = WIDTH.min(area.width);
    let height = (lines.len() as u16 + 2).min(area.height);
    let area = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    Clear.render(area, buffer);
    let block = Block::bordered()
        .title(" Keys ")
        .title_style(screen.palette.heading());
    Paragraph::new(lines)
        .wrap(Wrap { trim: false })
        .block(block)
        .render(area, buffer);
}

fn text(source: Source) -> Vec<&'static str> {
    let mut lines = vec![
        "q, Ctrl-C       end",
        "p, space        pause; again: continue",
        "1 to 6, Tab     panel: overview, statements, waits, connections,",
        "                InnoDB, machine",
    ];
    lines.extend(match source {
        Source::Live => [
            "+ / -           poll less often / more often",
            "left, right     one second back or forward; PgUp, PgDn: ten",
            "Home, End       oldest data that is kept; back to now",
        ],
        Source::Following => [
            "left, right     one second back or forward; PgUp, PgDn: ten",
            "Home            beginning of the run",
            "End             back to now",
        ],
        Source::Replay => [
            "+ / -           faster / slower",
            "left, right     one second back or forward; PgUp, PgDn: ten",
            "Home, End       beginning and end of the run",
        ],
    });
    lines.extend([
        "s               sort lists by time, count, mean, errors",
        "i               show idle connections, or hide them",
        "up, down        scroll a list",
        "h, ?            this help; any key closes it",
        "",
        "Lines show the past; the newest is at the right. Shares (%) fill",
        "the height at 100 %, all others at their own largest value.",
        "- marks values that the server or the machine does not report.",
    ]);
    lines
}
