//! The parts of a section of the page that has charts, cut out of the page's HTML.
//!
//! The page is our own (`page.rs`), so this reads only the output of that file: no attribute contains a `>`.

/// A section of the page that has charts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The identifier of its heading, for example `throughput`.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) legend: Vec<Entry>,
    pub(super) groups: Vec<Group>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The SVG of the mark; `None` for the legend's name.
    pub(super) mark: Option<String>,
    pub(super) text: String,
}

/// Charts under one caption.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) caption: Option<String>,
    pub(super) panels: Vec<Panel>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Panel {
    pub(super) heading: Option<String>,
    /// The whole element.
    pub(super) svg: String,
}

const CHART: &str = "<svg class=\"chart\"";
/// Sections with charts of single runs: too many for pictures.
const OF_RUNS: [&str; 2] = ["runs", "course"];

/// The sections of a page that have charts.
pub(super) fn sections(page: &str) -> Vec<Section> {
    let begun = page.split("<section aria-labelledby=\"").skip(1);
    let sections = begun.filter_map(|rest| {
        let (name, rest) = rest.split_once('"')?;
        let (_, rest) = rest.split_once('>')?;
        let (content, _) = rest.split_once("</section>")?;
        let is_shown = content.contains(CHART) && !OF_RUNS.contains(&name);
        is_shown.then(|| section(name, content))
    });
    sections.collect()
}

/// The patterns used by the style sheet.
pub(super) fn hatches(page: &str) -> String {
    let inner = page
        .split_once("<svg class=\"hatches\"")
        .and_then(|(_, rest)| {
            let (_, rest) = rest.split_once('>')?;
            rest.split_once("</svg>")
        });
    inner.map_or_else(String::new, |(patterns, _)| patterns.to_owned())
}

/// The beginning and the end of each element that is read.
const ELEMENTS: [(&str, &str); 8] = [
    ("<h2", "</h2>"),
    ("<h3", "</h3>"),
    ("<figcaption", "</figcaption>"),
    ("<ul class=\"legend\"", "</ul>"),
    (CHART, "</svg>"),
    ("<p class=\"note\"", "</p>"),
    ("<details", "</details>"),
    ("<table", "</table>"),
];

fn section(name: &str, content: &str) -> Section {
    let mut section = Section {
        name: name.to_owned(),
        title: String::new(),
        legend: Vec::new(),
        groups: Vec::new(),
        notes: Vec::new(),
    };
    let mut heading = None;
    let mut rest = content;
    while let Some((at, begin, end)) = next_element(rest) {
        let from = &rest[at..];
        let length = from.find(end).map_or(from.len(), |at| at + end.len());
        let element = &from[..length];
        rest = &from[length..];
        match begin {
            "<h2" => section.title = text(element),
            "<h3" => heading = Some(text(element)),
            "<figcaption" => section.groups.push(Group {
                caption: Some(text(element)),
                panels: Vec::new(),
            }),
            "<ul class=\"legend\"" => add_legend(&mut section.legend, element),
            CHART => {
                if section.groups.is_empty() {
                    section.groups.push(Group::default());
                }
                let last = section.groups.len() - 1;
                section.groups[last].panels.push(Panel {
                    heading: heading.take(),
                    svg: element.to_owned(),
                });
            }
            "<p class=\"note\"" => section.notes.push(text(element)),
            _ => {}
        }
    }
    section.groups.retain(|group| !group.panels.is_empty());
    section.notes.retain(|note| !note.is_empty());
    section
}

/// The first such element: its position, its beginning and its end.
fn next_element(text: &str) -> Option<(usize, &'static str, &'static str)> {
    let found = ELEMENTS
        .iter()
        .filter_map(|(begin, end)| Some((text.find(begin)?, *begin, *end)));
    found.min_by_key(|(at, _, _)| *at)
}

/// Adds the entries of a list that the legend does not have yet.
fn add_legend(legend: &mut Vec<Entry>, list: &str) {
    for item in list.split("<li").skip(1) {
        let item = item.split_once("</li>").map_or(item, |(item, _)| item);
        let mark = item.find("<svg").and_then(|from| {
            let to = item.find("</svg>")? + "</svg>".len();
            Some(item[from..to].to_owned())
        });
        let label = item.split_once("</svg>").map_or(item, |(_, label)| label);
        let label = match mark {
            Some(_) => text(label),
            None => text(&format!("<li{label}")),
        };
        let entry = Entry { mark, text: label };
        if !legend.contains(&entry) {
            legend.push(entry);
        }
    }
}

/// The text of an element, without its tags.
fn text(element: &str) -> String {
    let mut out = String::new();
    let mut is_tag = false;
    for character in element.chars() {
        match character {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            other if !is_tag => out.push(other),
            _ => {}
        }
    }
    let plain = out
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_section_are_found_in_their_order() {
        let page = "<section aria-labelledby=\"list\"><table></table></section>\
            <section aria-labelledby=\"cpu\"><h2 id=\"cpu\">CPU &lt;by&gt; size</h2>\
            <ul class=\"legend\"><li class=\"legend-name\">mix</li><li><svg class=\"swatch s0\"><path></path></svg>1:0</li></ul>\
            <figure><figcaption>rows 1x</figcaption><div><h3>mix 1:0</h3><svg class=\"chart\" viewBox=\"0 0 4 2\">a</svg></div>\
            <details>hidden<svg class=\"chart\">no</svg></details></figure>\
            <p class=\"note\">A <b>note</b>.</p></section>";
        let found = sections(page);
        assert_eq!(found.len(), 1);
        let section = &found[0];
        assert_eq!(
            (section.name.as_str(), section.title.as_str()),
            ("cpu", "CPU <by> size")
        );
        assert_eq!(section.legend[0].text, "mix");
        assert_eq!(section.legend[1].text, "1:0");
        assert!(
            section.legend[1]
                .mark
                .as_ref()
                .unwrap()
                .starts_with("<svg class=\"swatch s0\"")
        );
        assert_eq!(section.groups.len(), 1);
        assert_eq!(section.groups[0].caption.as_deref(), Some("rows 1x"));
        assert_eq!(
            section.groups[0].panels[0].heading.as_deref(),
            Some("mix 1:0")
        );
        assert_eq!(section.notes, ["A note."]);
    }
}
