//! What proxies between clients and servers changed, and what they cost.

use maud::{Markup, html};
use units::{counted, duration};

use super::scrolling;
use crate::{
    results::Results,
    sentences::proxy::{self, ProxyRuns},
};

/// The changes by statement, the hooks and rules of each proxy; nothing where no run had one.
pub(super) fn section(results: &Results) -> Markup {
    let proxies = ProxyRuns::all(results);
    html! {
        @if !proxies.is_empty() {
            section aria-labelledby="proxies" {
                h2 id="proxies" { "Proxy: changes and cost" }
                @for sentence in proxy::sentences(results) { p { (sentence) } }
                (changes(&proxies))
                (hooks(&proxies))
                (rules(&proxies))
                p.note { "Counts cover whole runs, from the proxy's start before the load to the end of the load, including logins and the warm-up. The chart and the costs per operation cover the measurement. A proxy also adds a second hop to every command: compare with runs whose clients connect directly (" code { "direct" } ")." }
            }
        }
    }
}

fn changes(proxies: &[ProxyRuns<'_>]) -> Markup {
    html! {
        @if proxies.iter().any(|it| !it.changes.is_empty()) {
            (scrolling("Changed statements", html! {
                table {
                    caption { "Changed statements" }
                    thead { tr { @for name in ["proxy", "statement", "change", "count"] { th scope="col" { (name) } } } }
                    tbody { @for proxy in proxies { @for ((digest, change), count) in &proxy.changes {
                        tr {
                            td { (proxy.name) }
                            td.text { code { (digest) } }
                            td { (change) }
                            td { (count) }
                        }
                    } } }
                }
            }))
        }
    }
}

fn hooks(proxies: &[ProxyRuns<'_>]) -> Markup {
    html! {
        @if proxies.iter().any(|it| !it.hooks.is_empty()) {
            (scrolling("Calls of scripts", html! {
                table {
                    caption { "Calls of scripts" }
                    thead { tr { @for name in ["proxy", "hook", "calls", "errors", "time of a call"] { th scope="col" { (name) } } } }
                    tbody { @for proxy in proxies { @for (hook, (calls, errors, seconds)) in &proxy.hooks {
                        tr {
                            td { (proxy.name) }
                            td { (hook) }
                            td { (calls) }
                            td { (errors) }
                            td { (duration(seconds / (*calls).max(1) as f64 * 1e9)) }
                        }
                    } } }
                }
            }))
        }
    }
}

fn rules(proxies: &[ProxyRuns<'_>]) -> Markup {
    html! {
        @if proxies.iter().any(|it| !it.rules.is_empty()) {
            (scrolling("Rules", html! {
                table {
                    caption { "Rules" }
                    thead { tr { @for name in ["proxy", "rule", "statements"] { th scope="col" { (name) } } } }
                    tbody { @for proxy in proxies { @for (rule, (matches, dropped)) in &proxy.rules {
                        tr {
                            td { (proxy.name) }
                            td { (rule) }
                            td {
                                (matches)
                                @if *dropped > 0 { ", " (counted(*dropped as usize, "copy")) " not sent" }
                            }
                        }
                    } } }
                }
            }))
        }
    }
}
