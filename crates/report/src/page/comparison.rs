//! The verdict: each comparison in a sentence, and its interval drawn on one scale with the others.

use maud::{Markup, html};
use stats::Interval;
use units::change;
use verdict::{Answer, Question};

use super::{
    blocks,
    figures::{self, unbroken},
};
use crate::{chart::px, grid::Grid, results::Results, sentences::answer};

/// Width and height of one interval's drawing, in the units of its `viewBox`.
const SIZE: (f64, f64) = (320.0, 22.0);
/// The scale always shows at least this change to either side, as a logarithm.
const REACH_AT_LEAST: f64 = 0.02;

/// Sentences that fit below the one that sums them up; more of them are in the table only.
const SENTENCES_AT_MOST: usize = 6;

/// Each comparison in a sentence, where there are several and not too many.
pub(super) fn sentences(results: &Results, grid: &Grid) -> Markup {
    let sentences = answer::verdict(results, grid);
    html! {
        @if (2..=SENTENCES_AT_MOST).contains(&sentences.len()) {
            ul { @for sentence in &sentences { li { (unbroken(sentence)) } } }
        }
    }
}

/// The compared sides block by block, and the intervals of their differences; nothing where nothing was compared.
pub(super) fn section(results: &Results, grid: &Grid) -> Markup {
    let Some(question) = &results.verdict else {
        return html! {};
    };
    let answers = &grid.answers;
    html! {
        @if answers.iter().any(|answer| answer.comparison.is_some()) {
            section aria-labelledby="blocks" {
                h2 id="blocks" { "Against the baseline, block by block" }
                (blocks::charts(grid, question))
                (intervals(question, answers))
            }
        }
    }
}

fn intervals(question: &Question, answers: &[Answer]) -> Markup {
    let reach = reach(question, answers);
    let several = answers.iter().any(|answer| !answer.within.is_empty());
    html! {
        (figures::scrolling("Differences from the baseline", html! {
            table {
                caption {
                    "Difference of " (question.metric.in_words()) " from the baseline ("
                    @for (at, (factor, level)) in question.baseline.iter().enumerate() {
                        @if at > 0 { ", " } (factor) " " (level)
                    }
                    "), with its 95 % interval; the band is what does not matter"
                }
                thead { tr {
                    @if several { th scope="col" { "at" } }
                    th scope="col" { "compared" }
                    th scope="col" { "verdict" }
                    th scope="col" { "change, with interval" }
                    th scope="col" { "interval" }
                    th scope="col" { "executions" }
                } }
                tbody { @for answer in answers {
                    tr {
                        @if several { th scope="row" { (levels(&answer.within)) } }
                        td { (levels(&answer.levels)) }
                        td { (answer.decision.word()) }
                        @match &answer.comparison {
                            Some(comparison) => {
                                td { (in_words(&comparison.ratio)) }
                                td { (drawn(question, answer, reach)) }
                                td { (comparison.executions) }
                            }
                            None => { td { "–" } td { "–" } td { "–" } }
                        }
                    }
                } }
            }
        }))
    }
}

fn levels(levels: &[(String, String)]) -> String {
    crate::grid::in_words(levels)
}

/// Half of the scale, as a logarithm of a ratio: everything fits, and the margin is seen.
fn reach(question: &Question, answers: &[Answer]) -> f64 {
    let ratios = answers.iter().filter_map(|answer| answer.comparison);
    ratios
        .flat_map(|comparison| [comparison.ratio.low, comparison.ratio.high])
        .map(|ratio| ratio.ln().abs())
        // An interval over three noisy executions can be wider than any page.
        .map(|reach| reach.min(4.0))
        .fold(
            REACH_AT_LEAST.max(question.min_effect.ln_1p() * 2.0),
            f64::max,
        )
        * 1.05
}

/// `+15.7 % (+9.1 % to +22.7 %)`.
fn in_words(ratio: &Interval) -> String {
    let [estimate, low, high] = [ratio.estimate, ratio.low, ratio.high].map(change);
    unbroken(&format!("{estimate} ({low} to {high})"))
}

/// The interval as a bar with its estimate as a dot, over the band that does not matter and the line of no difference.
fn drawn(question: &Question, answer: &Answer, reach: f64) -> Markup {
    let Some(comparison) = &answer.comparison else {
        return html! {};
    };
    let (width, height) = SIZE;
    let at = |ratio: f64| width / 2.0 * (1.0 + (ratio.ln() / reach).clamp(-1.0, 1.0));
    let margin = 1.0 + question.min_effect;
    let ratio = comparison.ratio;
    let middle = px(height / 2.0);
    let said = in_words(&ratio);
    html! {
        svg.interval viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(said) {
            rect.interval-margin x=(px(at(1.0 / margin))) y="0"
                width=(px(at(margin) - at(1.0 / margin))) height=(px(height)) {}
            line.axis x1=(px(at(1.0))) x2=(px(at(1.0))) y1="0" y2=(px(height)) {}
            line.interval-bar x1=(px(at(ratio.low))) x2=(px(at(ratio.high))) y1=(middle) y2=(middle) {}
            circle.interval-dot cx=(px(at(ratio.estimate))) cy=(middle) r="4.5" {}
        }
    }
}
