//! The screen as a page for a browser: the same cells that a terminal gets, and links in place of keys.

use std::{fmt::Write, time::Duration};

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::{Color, Modifier},
    text::Span,
};

use crate::{
    draw::draw,
    input::{Panel, Screen},
    model::Model,
    palette::Palette,
    playback::Playback,
};

/// Size of the screen that is drawn, in characters.
const SIZE: Rect = Rect::new(0, 0, 120, 46);
/// The rows of the tabs and of the keys, which a browser has links for.
const ROW_OF_TABS: u16 = 1;
const ROW_OF_KEYS: u16 = SIZE.height - 1;
/// Where the panels are found; the overview is this address itself.
const PLACE: &str = "/now";

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1f24;--ground:#fff;--aside:#59636e;--accent:#8a5a00;--heading:#0b6b78;\
--alarm:#c0242c;--spark:#1a7f37}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--ground:#14171a;--aside:#98a1ab;--accent:#e3b341;\
--heading:#56c7d6;--alarm:#ff7b72;--spark:#4cc26a}}\
body{margin:0;padding:.75rem;background:var(--ground);color:var(--ink);font:14px/1.4 system-ui,sans-serif}\
p{margin:0 0 .5rem}nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:0 0 .5rem}\
a{color:inherit}a[aria-current]{font-weight:700;text-decoration:none}\
pre{margin:0;overflow-x:auto;font:12px/1.3 ui-monospace,\"DejaVu Sans Mono\",monospace}\
.b{font-weight:700}.y{color:var(--accent)}.c{color:var(--heading)}.r{color:var(--alarm)}.g{color:var(--spark)}\
.d{color:var(--aside)}.v{background:var(--ink);color:var(--ground)}.v.y{background:var(--accent)}";

/// What a browser is shown of a [`Model`].
#[derive(Debug, Clone)]
pub struct BrowserView<'a> {
    /// Where in time.
    pub playback: &'a Playback,
    /// The polling interval.
    pub every: Duration,
    /// How long nothing has come, where it should have.
    pub silence: Option<Duration>,
    /// Lines above the screen.
    pub status: &'a [String],
}

/// The name of the panel at a path such as `/now/waits`; `None` where there is none.
pub fn panel_at(path: &str) -> Option<&'static str> {
    let name = path.strip_prefix(PLACE)?;
    let name = match name.strip_prefix('/') {
        None | Some("") if name.len() < 2 => return Some(Panel::default().name()),
        Some(name) => name,
        None => return None,
    };
    let mut names = Panel::ALL.iter().map(|panel| panel.name());
    names.find(|known| known.to_lowercase() == name)
}

/// A page with one panel, whose name comes from [`panel_at`]. Of the statements that connections run, only the verb is
/// shown: their text may hold passwords and the data of other users.
pub fn html(model: &Model, panel: &str, view: &BrowserView<'_>) -> String {
    let mut screen = Screen::new(view.playback.clone(), Palette::coloured(), view.every);
    screen.set_silence(view.silence);
    screen.hides_statements = true;
    let chosen = Panel::ALL.iter().find(|known| known.name() == panel);
    screen.panel = chosen.copied().unwrap_or_default();
    let mut buffer = Buffer::empty(SIZE);
    draw(&screen, model, SIZE, &mut buffer);
    let rows = (0..SIZE.height).filter(|row| ![ROW_OF_TABS, ROW_OF_KEYS].contains(row));
    let rows: Vec<String> = rows.map(|row| row_of(&buffer, row)).collect();
    page(
        &model.subject.name,
        view.status,
        Some(screen.panel),
        rows.join("\n").trim_end(),
    )
}

/// A page for the time before there is anything to draw.
pub fn html_before(title: &str, status: &[String]) -> String {
    page(title, status, None, "")
}

fn page(title: &str, status: &[String], panel: Option<Panel>, screen: &str) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{}</title><style>{STYLE}</style></head><body>",
        escaped(title)
    );
    for line in status {
        page.push_str(&format!("<p>{}</p>", escaped(line)));
    }
    if let Some(chosen) = panel {
        page.push_str("<nav aria-label=\"Panels\">");
        for panel in Panel::ALL {
            page.push_str(&link(panel, panel == chosen));
        }
        page.push_str("</nav>");
        page.push_str(&format!("<pre>{screen}</pre>"));
    }
    page.push_str("</body></html>\n");
    page
}

fn link(panel: Panel, is_chosen: bool) -> String {
    let address = if panel == Panel::default() {
        PLACE.to_owned()
    } else {
        format!("{PLACE}/{}", panel.name().to_lowercase())
    };
    let current = if is_chosen {
        " aria-current=\"page\""
    } else {
        ""
    };
    format!("<a href=\"{address}\"{current}>{}</a>", panel.name())
}

/// One row: a span for each run of cells that look the same.
fn row_of(buffer: &Buffer, row: u16) -> String {
    let mut html = String::new();
    let mut open = String::new();
    let mut column = 0;
    while column < SIZE.width {
        let cell = &buffer[(column, row)];
        let class = class_of(cell);
        if class != open {
            if !open.is_empty() {
                html.push_str("</span>");
            }
            if !class.is_empty() {
                write!(html, "<span class=\"{class}\">")
                    .expect("writing to a string does not fail");
            }
            open = class;
        }
        html.push_str(&escaped(cell.symbol()));
        // A wide character covers the cell behind it.
        column += (Span::raw(cell.symbol()).width() as u16).max(1);
    }
    if open.is_empty() {
        return html.trim_end().to_owned();
    }
    html + "</span>"
}

fn class_of(cell: &Cell) -> String {
    let colour = match cell.fg {
        Color::Yellow => Some("y"),
        Color::Cyan => Some("c"),
        Color::Red => Some("r"),
        Color::Green => Some("g"),
        Color::DarkGray => Some("d"),
        _ => None,
    };
    let bold = cell.modifier.contains(Modifier::BOLD).then_some("b");
    let reversed = cell.modifier.contains(Modifier::REVERSED).then_some("v");
    let classes: Vec<&str> = [colour, bold, reversed].into_iter().flatten().collect();
    classes.join(" ")
}

/// Text as HTML shows it; what a browser would not show is written as JSON writes it.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in samples::printable(text).chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            character => html.push(character),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use samples::{ClientConnection, ServerMoment, ServerStatus};

    use super::*;
    use crate::{model::Subject, playback::Source};

    fn model(name: &str, statement: &str) -> Model {
        let mut model = Model::new(Subject {
            name: name.to_owned(),
            ..Subject::default()
        });
        model.look(ServerMoment {
            status: ServerStatus {
                t_s: 0.0,
                length_s: 1.0,
                ..ServerStatus::default()
            },
            connections: vec![ClientConnection {
                id: 7,
                user: "app".to_owned(),
                command: "Query".to_owned(),
                statement: statement.to_owned(),
                ..ClientConnection::default()
            }],
            ..ServerMoment::default()
        });
        model
    }

    fn shown(model: &Model, panel: &str) -> String {
        let playback = Playback::new(Source::Live, 1.0);
        let view = BrowserView {
            playback: &playback,
            every: Duration::from_secs(1),
            silence: None,
            status: &["run 1 of 2 <b>".to_owned()],
        };
        html(model, panel, &view)
    }

    #[test]
    fn addresses_name_panels() {
        for (path, panel) in [
            ("/now", Some("Overview")),
            ("/now/", Some("Overview")),
            ("/now/waits", Some("Waits")),
            ("/now/innodb", Some("InnoDB")),
            ("/now/nothing", None),
            ("/nowhere", None),
            ("/", None),
        ] {
            assert_eq!(panel_at(path), panel, "{path}");
        }
    }

    #[test]
    fn nothing_of_a_server_becomes_markup() {
        let page = shown(&model("<script>alert(1)</script>", "SELECT 1"), "Overview");
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
        assert!(page.contains("run 1 of 2 &lt;b&gt;"), "{page}");
        assert!(!page.contains("q quit"), "{page}");
    }

    #[test]
    fn of_a_statement_only_its_verb_is_shown() {
        for statement in [
            "CREATE USER u IDENTIFIED BY 'secret'",
            "CREATE/**/USER/**/u/**/IDENTIFIED/**/BY/**/'secret'",
        ] {
            let page = shown(&model("s", statement), "Connections");
            assert!(page.contains("app") && page.contains("CREATE"), "{page}");
            assert!(!page.contains("secret"), "{page}");
        }
    }
}
