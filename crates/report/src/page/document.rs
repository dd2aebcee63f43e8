//! What all pages have around their content: head, style sheet, and the policy that nothing is fetched.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
/// Nothing may be fetched: even a hostile string that got through could not phone home.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A page that needs no script, as text.
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
            (head(title, style))
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

/// The head of a page; the style of a library goes before our own.
pub(super) fn head(title: &str, library: Option<&str>) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
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

/// The page without control characters: XML, to which charts are cut out, knows none; and nobody is to be deceived.
pub(super) fn as_text(page: Markup) -> String {
    samples::printable_lines(&page.into_string()).into_owned()
}
