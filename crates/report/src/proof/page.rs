//! The answer as a page: the shortest file, the effect of each line on one scale, its mechanism and its price.

use maud::{Markup, html};
use units::counted;
use verdict::PartStatus;

use super::{Proof, ProofLine, fate_word, purpose_in_words};
use crate::page::{RatioScale, document, scrolling, unbroken};

/// One self-contained HTML page.
pub fn proof_as_html(proof: &Proof) -> String {
    let shortest: Vec<&str> = proof
        .kept()
        .flat_map(|it| &it.lines)
        .map(String::as_str)
        .collect();
    let content = html! {
        dl.facts {
            dt { "File" } dd { (proof.file) }
            dt { "Against" } dd { (proof.base()) }
            dt { "Server" } dd { (proof.version) }
            dt { "Load" } dd { (proof.workload) }
        }
        section aria-labelledby="answer" {
            h2 id="answer" { "The answer" }
            p.lead { (unbroken(&proof.answer())) }
            p { (unbroken(&proof.comparison())) "." }
            p { (proof.durability()) "." }
            @if proof.is_finished {
                h3 { "The shortest file that is not slower" }
                pre { "[mysqld]\n" (shortest.join("\n")) }
            }
        }
        section aria-labelledby="lines" {
            h2 id="lines" { "All tested lines" }
            p { "The effect is " (proof.metric) " with the line, divided by " (proof.metric) " without it. The band is the margin." }
            (table(proof))
        }
        @let with_reasons = reasoned(proof);
        @if !with_reasons.is_empty() {
            section aria-labelledby="why" {
                h2 id="why" { "Causes and costs" }
                @if with_reasons.iter().any(|line| !line.causes.is_empty()) {
                    p { "A is the file without the line, B the file with it." }
                }
                @for line in with_reasons { (reasons(line)) }
            }
        }
        @if !proof.untested.is_empty() {
            section aria-labelledby="untested" {
                h2 id="untested" { "Not tested" }
                ul { @for line in &proof.untested { li { code { (line.line) } ": " (line.why) } } }
            }
        }
        section aria-labelledby="rounds" {
            h2 id="rounds" { "What was measured" }
            ul { @for round in &proof.rounds { li {
                (purpose_in_words(round.purpose)) ": " (counted(round.files, "file")) ", "
                (counted(round.blocks as usize, "block")) ", " (counted(round.runs, "run")) " in " code { (round.results) }
            } } }
        }
        p.note {
            "All files of a round run in the same blocks, in random order. Each comparison is analysed after every block, and all "
            "comparisons of a round together have an error probability of at most 5 %; the intervals are widened for both reasons."
        }
    };
    let title = format!("Which lines of {} are worth keeping?", proof.file);
    document("dbdyno config prove", &title, &content)
}

fn table(proof: &Proof) -> Markup {
    let ratios = proof.lines.iter().filter_map(|line| line.effect);
    let scale = RatioScale::of(proof.margin, ratios);
    let order = [
        PartStatus::Helps,
        PartStatus::Jointly,
        PartStatus::Pinned,
        PartStatus::Harms,
        PartStatus::NoEffect,
        PartStatus::Unresolved,
        PartStatus::Untested,
    ];
    scrolling(
        "Lines",
        html! {
            table {
                caption { "Effect of each line" }
                thead { tr {
                    @for name in ["", "decision", "effect (95 % interval)", "with over without"] { th scope="col" { (name) } }
                } }
                tbody { @for fate in order { @for line in proof.of(fate) { tr {
                    th scope="row" { (line.in_words()) }
                    td { (fate_word(fate)) }
                    td.text { (line.evidence()) }
                    td { @if let Some(effect) = &line.effect { (scale.drawn(effect)) } }
                } } } }
            }
        },
    )
}

/// The lines whose causes or prices are shown: those that are kept, and the harmful ones.
fn reasoned(proof: &Proof) -> Vec<&ProofLine> {
    let shown = proof.kept().chain(proof.of(PartStatus::Harms));
    shown
        .filter(|line| !line.causes.is_empty() || !line.prices.is_empty())
        .collect()
}

fn reasons(line: &ProofLine) -> Markup {
    html! {
        h3 { (line.in_words()) }
        ul {
            @for cause in &line.causes { li { (cause) } }
            @for price in &line.prices { li { "Price: " (price) } }
        }
    }
}
