//! What a page has besides while its experiment runs and a browser is served it.

use maud::{Markup, html};
use samples::complete_runs;

use super::scripts::{SCRIPT, UPLOT};
use crate::results::Results;

const LIVE: &str = include_str!("live.js");

/// Where the page gets its scripts: none stands in the page itself, so that its policy allows none there.
const PATHS: [&str; 3] = ["/uplot.js", "/series.js", "/live.js"];

/// The script at a path of the server; `None` where there is none.
pub fn served_script(path: &str) -> Option<String> {
    let [uplot, series, live] = PATHS;
    match path {
        _ if path == uplot => UPLOT.map(|it| it.licensed()),
        _ if path == series => UPLOT.map(|_| SCRIPT.to_owned()),
        _ if path == live => Some(LIVE.to_owned()),
        _ => None,
    }
}

/// The scripts that there are, in their order.
pub(super) fn scripts() -> Markup {
    let there = PATHS.iter().filter(|path| served_script(path).is_some());
    html! { @for path in there { script src=(path) {} } }
}

/// What happens now, and how much of the plan the rest of the page is about.
pub(super) fn section(results: &Results, version: &str) -> Markup {
    let complete = complete_runs(&results.runs);
    let planned = results.planned_runs;
    html! {
        section.live aria-labelledby="live" data-version=(version) {
            h2 id="live" { "Now" }
            p role="status" {
                "This experiment is running. The page below covers the "
                (complete) " of " (planned) " runs that are complete."
            }
            iframe src="/now" title="The run that is in progress" {}
        }
    }
}
