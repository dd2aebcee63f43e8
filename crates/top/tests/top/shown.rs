//! Models of real records, and the screen as text, for the tests.

use std::{path::PathBuf, time::Duration};

use ratatui::{buffer::Buffer, layout::Rect};
use samples::RecordTail;
use top::{Key, Model, Palette, Playback, Screen, Source, draw};

/// A real record from the fixtures of the audit's tests.
pub(crate) fn record(name: &str) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../audit/fixtures")
        .join(name);
    let mut model = Model::of_record(format!("results/{name}"));
    let mut tail = RecordTail::open(&path).expect("the rules of the audit read it, too");
    loop {
        let lines = tail.lines().expect("it is whole");
        if lines.is_empty() {
            return model;
        }
        lines.into_iter().for_each(|line| model.take(line));
    }
}

/// A screen without colours.
pub(crate) fn screen(source: Source) -> Screen {
    let every = Duration::from_secs(1);
    Screen::new(Playback::new(source, 1.0), Palette::plain(), every)
}

/// The screen after these keys, with this number of columns and rows.
pub(crate) fn after(
    screen: &mut Screen,
    keys: &[Key],
    model: &Model,
    (width, height): (u16, u16),
) -> String {
    for key in keys {
        screen.press(*key, model);
    }
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    draw(screen, model, area, &mut buffer);
    text(&buffer)
}

/// The characters of a buffer, without the blanks at the ends of lines.
fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width);
    let lines = rows.map(|row| {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}
