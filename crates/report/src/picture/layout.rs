//! The layout of a picture: title, legend, charts in rows, notes.

use maud::{Markup, PreEscaped, html};

use super::{
    section::{Entry, Group, Section},
    style,
};
use crate::chart::px;

/// Space around everything, SVG units.
const MARGIN: f64 = 24.0;
/// Space between two charts.
const GAP: f64 = 24.0;
/// Maximum width of charts side by side.
const WIDTH_MAX: f64 = 1040.0;
/// Minimum width of a picture, so that its title has room.
const WIDTH_MIN: f64 = 640.0;
/// Maximum enlargement of charts if there is room.
const LARGER: f64 = 1.25;
/// Approximate width of a character as a share of the font size; bold ones are wider.
const CHARACTER: f64 = 0.56;
const BOLD: f64 = 0.63;

struct PositionedChart<'a> {
    svg: &'a str,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// A line of text with its position.
struct Line {
    x: f64,
    y: f64,
    class: &'static str,
    text: String,
}

/// The parts that are positioned so far.
struct Canvas<'a> {
    width: f64,
    y: f64,
    lines: Vec<Line>,
    charts: Vec<PositionedChart<'a>>,
    marks: Vec<PositionedChart<'a>>,
}

/// The picture of a section as one SVG.
pub(super) fn picture(section: &Section, title: &str, foot: &str, hatches: &str) -> String {
    let rows = rows(section);
    let inside = WIDTH_MIN - 2.0 * MARGIN;
    let widest = |scale: f64| {
        let widths = rows.iter().map(|row| row_width(row, scale));
        widths.fold(1.0, f64::max)
    };
    let scale = (inside / widest(1.0)).clamp(1.0, LARGER);
    let width = widest(scale).max(inside) + 2.0 * MARGIN;
    let mut sheet = Canvas {
        width,
        y: MARGIN,
        lines: Vec::new(),
        charts: Vec::new(),
        marks: Vec::new(),
    };
    sheet.text("title", 18.0, BOLD, title);
    sheet.text("heading", 14.0, CHARACTER, &section.title);
    sheet.y += 6.0;
    sheet.legend(&section.legend);
    for row in &rows {
        sheet.row(row, scale);
    }
    for note in &section.notes {
        sheet.text("note", 11.0, CHARACTER, note);
    }
    sheet.text("note", 11.0, CHARACTER, foot);
    sheet.drawn(section, title, hatches)
}

/// A caption, and charts side by side.
struct Row<'a> {
    caption: Option<&'a str>,
    /// Headings and charts.
    panels: Vec<(Option<&'a str>, &'a str)>,
}

/// The rows of a section; charts with a caption of their own are side by side.
fn rows(section: &Section) -> Vec<Row<'_>> {
    let alone = |group: &Group| group.panels.len() == 1;
    if section.groups.iter().all(alone) {
        let panels = section.groups.iter().map(|group| {
            let panel = &group.panels[0];
            let heading = panel.heading.as_deref().or(group.caption.as_deref());
            (heading, panel.svg.as_str())
        });
        return vec![Row {
            caption: None,
            panels: panels.collect(),
        }];
    }
    let rows = section.groups.iter().map(|group| Row {
        caption: group.caption.as_deref(),
        panels: (group.panels.iter())
            .map(|panel| (panel.heading.as_deref(), panel.svg.as_str()))
            .collect(),
    });
    rows.collect()
}

/// Width and height of a chart, from its `viewBox`.
fn size(svg: &str) -> (f64, f64) {
    let numbers = svg.split_once("viewBox=\"").and_then(|(_, rest)| {
        let (numbers, _) = rest.split_once('"')?;
        let mut numbers = numbers.split(' ').skip(2).map(str::parse::<f64>);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    numbers.unwrap_or((0.0, 0.0))
}

/// Number of charts of a row that fit side by side.
fn columns(row: &Row<'_>, scale: f64) -> usize {
    let widest = row.panels.iter().map(|(_, svg)| size(svg).0 * scale);
    let widest = widest.fold(1.0, f64::max);
    let fitting = ((WIDTH_MAX + GAP) / (widest + GAP)) as usize;
    fitting.clamp(1, row.panels.len().max(1))
}

fn row_width(row: &Row<'_>, scale: f64) -> f64 {
    let columns = columns(row, scale);
    let widths = row.panels.chunks(columns).map(|panels| {
        let widths = panels.iter().map(|(_, svg)| size(svg).0 * scale);
        widths.sum::<f64>() + GAP * (panels.len() - 1) as f64
    });
    widths.fold(0.0, f64::max)
}

impl<'a> Canvas<'a> {
    /// Positions a text on as many lines as it needs.
    fn text(&mut self, class: &'static str, size: f64, character: f64, text: &str) {
        let room = self.width - 2.0 * MARGIN;
        let characters = (room / (size * character)) as usize;
        for line in crate::text::wrapped::wrapped(text, characters).lines() {
            self.y += size * 1.4;
            self.lines.push(Line {
                x: MARGIN,
                y: self.y - size * 0.35,
                class,
                text: line.to_owned(),
            });
        }
    }

    fn legend(&mut self, entries: &'a [Entry]) {
        const SIZE: f64 = 12.0;
        let mut x = MARGIN;
        for entry in entries {
            let mark = entry.mark.as_deref().map(|mark| (mark, size(mark)));
            let mark_width = mark.map_or(0.0, |(_, (width, _))| width + 6.0);
            let width = mark_width + entry.text.chars().count() as f64 * SIZE * CHARACTER;
            if x > MARGIN && x + width > self.width - MARGIN {
                x = MARGIN;
                self.y += 20.0;
            }
            if let Some((svg, (width, height))) = mark {
                self.marks.push(PositionedChart {
                    svg,
                    x,
                    y: self.y + 10.0 - height / 2.0,
                    width,
                    height,
                });
            }
            self.lines.push(Line {
                x: x + mark_width,
                y: self.y + 14.0,
                class: if mark.is_some() { "entry" } else { "note" },
                text: entry.text.clone(),
            });
            x += width + 20.0;
        }
        if !entries.is_empty() {
            self.y += 28.0;
        }
    }

    fn row(&mut self, row: &Row<'a>, scale: f64) {
        if let Some(caption) = row.caption {
            self.text("caption", 13.0, BOLD, caption);
            self.y += 4.0;
        }
        for panels in row.panels.chunks(columns(row, scale)) {
            let has_headings = panels.iter().any(|(heading, _)| heading.is_some());
            let top = self.y + if has_headings { 20.0 } else { 0.0 };
            let mut x = MARGIN;
            let mut bottom = top;
            for (heading, svg) in panels {
                let (width, height) = size(svg);
                let (width, height) = (width * scale, height * scale);
                if let Some(heading) = heading {
                    let characters = (width / (12.0 * BOLD)) as usize;
                    self.lines.push(Line {
                        x,
                        y: top - 6.0,
                        class: "panel-heading",
                        text: crate::chart::frame::shortened(heading, characters),
                    });
                }
                self.charts.push(PositionedChart {
                    svg,
                    x,
                    y: top,
                    width,
                    height,
                });
                x += width + GAP;
                bottom = f64::max(bottom, top + height);
            }
            self.y = bottom + 16.0;
        }
    }

    fn drawn(&self, section: &Section, title: &str, hatches: &str) -> String {
        let (width, height) = (px(self.width), px(self.y + MARGIN));
        let fonts = format!("{}, Verdana, sans-serif", style::FONT);
        let ground = style::colour("--bg");
        let markup = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
                viewBox={ "0 0 " (width) " " (height) } font-family=(fonts) font-size="12" role="img" {
                title { (section.title) ": " (title) }
                style { (PreEscaped(self.rules())) }
                defs { (PreEscaped(hatches)) }
                rect width=(width) height=(height) fill=(ground) {}
                @for line in &self.lines { text class=(line.class) x=(px(line.x)) y=(px(line.y)) { (line.text) } }
                @for placed in self.marks.iter().chain(&self.charts) { (inner(placed)) }
            }
        };
        format!("{}\n", markup.into_string())
    }

    fn rules(&self) -> String {
        let (strong, muted) = (style::colour("--fg"), style::colour("--muted"));
        format!(
            "{}.chart{{font-size:12px}}\
             .title{{font-size:18px;font-weight:bold;fill:{strong}}}\
             .heading{{font-size:14px;fill:{strong}}}\
             .caption{{font-size:13px;font-weight:bold;fill:{strong}}}\
             .panel-heading{{font-size:12px;font-weight:bold;fill:{strong}}}\
             .entry{{font-size:12px;fill:{strong}}}\
             .note{{font-size:11px;fill:{muted}}}",
            style::rules()
        )
    }
}

/// A chart or a mark inside the picture: its own tag, with its position instead of its style.
fn inner(placed: &PositionedChart<'_>) -> Markup {
    let Some((tag, content)) = placed.svg.split_once('>') else {
        return html! {};
    };
    let attributes = tag.trim_start_matches("<svg");
    let kept: String = ["class", "viewBox", "role", "aria-labelledby", "aria-hidden"]
        .iter()
        .filter_map(|name| {
            let from = attributes.find(&format!(" {name}=\""))?;
            let value = &attributes[from + name.len() + 3..];
            let (value, _) = value.split_once('"')?;
            Some(format!(" {name}=\"{value}\""))
        })
        .collect();
    let place = format!(
        " x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
        px(placed.x),
        px(placed.y),
        px(placed.width),
        px(placed.height)
    );
    PreEscaped(format!("<svg{place}{kept}>{content}"))
}
