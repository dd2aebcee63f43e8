//! The style sheet of a picture: the page's rules for charts, in light mode, with literal colours.
//!
//! Programs that show or convert SVG support no custom properties, no media queries and no cascade through `--c`.

use std::collections::BTreeMap;

/// The font of a picture; a browser without it uses one of the machine's.
pub(super) const FONT: &str = "DejaVu Sans";

const SHEET: &str = include_str!("../page/style.css");
/// The properties that determine the look of a chart; layout is not needed in a picture.
const PROPERTIES: [&str; 13] = [
    "fill",
    "fill-opacity",
    "font-size",
    "font-style",
    "font-weight",
    "opacity",
    "paint-order",
    "stroke",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
];
/// The property by which classes select the colour of a line, `--c`.
const LINE: &str = "--c";

pub(super) fn rules() -> String {
    sheet(SHEET)
}

/// A colour of the page in light mode, for example `--fg`.
pub(super) fn colour(name: &str) -> String {
    let colours = colours(&parsed(SHEET));
    colours
        .get(name)
        .cloned()
        .unwrap_or_else(|| "#000".to_owned())
}

/// Selectors and declarations.
struct Rule {
    selectors: Vec<String>,
    declarations: Vec<(String, String)>,
}

fn sheet(css: &str) -> String {
    let rules = parsed(css);
    let colours = colours(&rules);
    // `.s0 { --c: var(--s0) }`
    let lines: Vec<(String, String)> = rules
        .iter()
        .filter_map(|rule| {
            let (_, value) = rule.declarations.iter().find(|(name, _)| name == LINE)?;
            Some((rule.selectors.first()?.clone(), resolved(value, &colours)))
        })
        .collect();
    let mut out = String::new();
    for rule in rules.iter().filter(|rule| is_of_charts(rule)) {
        let kept: Vec<&(String, String)> = (rule.declarations.iter())
            .filter(|(name, _)| PROPERTIES.contains(&name.as_str()))
            .collect();
        if kept.is_empty() {
            continue;
        }
        let body = |line: Option<&str>| {
            let declarations = kept.iter().map(|(name, value)| {
                let value = match line {
                    Some(colour) => value.replace("var(--c)", colour),
                    None => value.clone(),
                };
                format!("{name}:{}", resolved(&value, &colours))
            });
            declarations.collect::<Vec<_>>().join(";")
        };
        if !kept.iter().any(|(_, value)| value.contains("var(--c)")) {
            out.push_str(&format!("{}{{{}}}", rule.selectors.join(","), body(None)));
            continue;
        }
        for (class, colour) in &lines {
            let selectors = rule.selectors.iter().flat_map(|it| below(it, class));
            let selectors = selectors.collect::<Vec<_>>().join(",");
            out.push_str(&format!("{selectors}{{{}}}", body(Some(colour))));
        }
    }
    out
}

/// The selectors for elements inside a class, and for elements of the class.
fn below(selector: &str, class: &str) -> [String; 2] {
    match selector.rsplit_once(' ') {
        Some((before, last)) => [
            format!("{before} {class} {last}"),
            format!("{before} {last}{class}"),
        ],
        None => [format!("{class} {selector}"), format!("{selector}{class}")],
    }
}

/// False for rules of states and of other parts of the page.
fn is_of_charts(rule: &Rule) -> bool {
    rule.selectors.iter().all(|selector| {
        let of_elements = [
            "*", "body", "button", "caption", "code", "dd", "dl", "dt", "pre",
        ];
        !selector.contains(':')
            && !selector.contains('>')
            && !of_elements.contains(&selector.as_str())
    })
}

/// The colours in the first rule of the root: those of light mode.
fn colours(rules: &[Rule]) -> BTreeMap<String, String> {
    let root = rules
        .iter()
        .find(|rule| rule.selectors.iter().any(|selector| selector == ":root"));
    let declarations = root.into_iter().flat_map(|rule| &rule.declarations);
    declarations.cloned().collect()
}

/// A value with its `var(--name)` replaced.
fn resolved(value: &str, colours: &BTreeMap<String, String>) -> String {
    let mut value = value.to_owned();
    for (name, colour) in colours {
        value = value.replace(&format!("var({name})"), colour);
    }
    value
}

/// The rules of a style sheet that always apply: those under `@media` and `@page` are left out.
fn parsed(css: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    let text = without_comments(css);
    let mut rest = text.as_str();
    while let Some(open) = rest.find('{') {
        let head = rest[..open].trim();
        let length = block_length(&rest[open..]);
        let body = &rest[open + 1..open + length - 1];
        rest = &rest[open + length..];
        if head.starts_with('@') {
            continue;
        }
        let selectors = head.split(',').map(|selector| {
            let words = selector.split_whitespace();
            words.collect::<Vec<_>>().join(" ")
        });
        let declarations = body.split(';').filter_map(|declaration| {
            let (name, value) = declaration.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        });
        rules.push(Rule {
            selectors: selectors.collect(),
            declarations: declarations.collect(),
        });
    }
    rules
}

fn without_comments(css: &str) -> String {
    let mut parts = css.split("/*");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once("*/").map_or("", |(_, after)| after));
    }
    out
}

/// Length of a block with its braces, bytes.
fn block_length(text: &str) -> usize {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_written_in_and_those_of_the_dark_left_out() {
        let css = "/* x */ :root, .paper { --fg: #111; --s0: #0072b2; }\n\
            @media (dark) { :root { --fg: #eee; } }\n\
            .chart .axis { stroke: var(--fg); margin: 0 }\n\
            .s0 { --c: var(--s0); }\n\
            .stroke { stroke: var(--c); stroke-width: 2 }\n\
            .chart .label { fill: var(--c) }\n a:hover { fill: red }";
        assert_eq!(
            sheet(css),
            ".chart .axis{stroke:#111}\
             .s0 .stroke,.stroke.s0{stroke:#0072b2;stroke-width:2}\
             .chart .s0 .label,.chart .label.s0{fill:#0072b2}"
        );
    }

    #[test]
    fn nothing_is_left_unresolved() {
        let rules = rules();
        assert!(!rules.contains("var("), "{rules}");
        assert!(rules.contains(".stroke") && colour("--bg").starts_with('#'));
    }
}
