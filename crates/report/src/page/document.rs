//! The parts of all pages around their content: head, style sheet, and the policy against loading anything.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
/// Nothing may be loaded: even an injected string could not contact another host.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A page without a script, as text.
pub(crate) fn document(kind: &str, title: &str, content: &Markup) -> String {
    document_with_style(kind, title, None, content)
}

/// The same with a style of its own before ours.
pub(crate) fn document_with_style(
    kind: &str,
    title: &str,
    style: Option<&str>,
    content: &Markup,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, style, false))
            body {
                header {
                    p.kicker { (kind) }
                    h1 { (title) }
                }
                main { (content) }
                (footer())
            }
        }
    };
    as_text(page)
}

/// The head of a page; the style of a library goes before our own. The policy of a page that is served comes with it, as a
/// header; without scripts a browser loads such a page again from time to time.
pub(super) fn head(title: &str, library: Option<&str>, is_served: bool) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            @if is_served {
                noscript { meta http-equiv="refresh" content="15"; }
            } @else {
                meta http-equiv="Content-Security-Policy" content=(POLICY);
            }
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            @if let Some(style) = library { style { (PreEscaped(style)) } }
            style { (PreEscaped(STYLE)) }
        }
    }
}

pub(super) fn footer() -> Markup {
    html! { footer { p { "Made by dbdyno " (env!("CARGO_PKG_VERSION")) "." } } }
}

/// The page without control characters: XML, the format of the charts, forbids them; and they could deceive a reader.
pub(super) fn as_text(page: Markup) -> String {
    samples::printable_lines(&page.into_string()).into_owned()
}
