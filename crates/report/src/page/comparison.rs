//! The verdict: each comparison in a sentence, and its interval drawn on one scale with the others.

use maud::{Markup, html};
use verdict::{Answer, Question};

use super::{
    blocks,
    figures::{self, unbroken},
    interval::{RatioScale, in_words},
};
use crate::{
    grid::Grid,
    results::Results,
    sentences::{
        answer,
        nouns::{block_nouns, has_batches, nouns},
    },
};

/// Maximum number of sentences below the summary; further comparisons are only in the table.
const SENTENCES_AT_MOST: usize = 6;

/// Each comparison in a sentence, if there are several and not too many.
pub(super) fn sentences(results: &Results, grid: &Grid) -> Markup {
    let sentences = answer::verdict(results, grid);
    html! {
        @if (2..=SENTENCES_AT_MOST).contains(&sentences.len()) {
            ul { @for sentence in &sentences { li { (unbroken(sentence)) } } }
        }
    }
}

/// The intervals of the differences; empty without comparisons.
pub(super) fn section(results: &Results, grid: &Grid) -> Markup {
    let Some(question) = &results.verdict else {
        return html! {};
    };
    let answers = &grid.answers;
    html! {
        @if answers.iter().any(|answer| answer.comparison.is_some()) {
            section aria-labelledby="differences" {
                h2 id="differences" { "Against the baseline" }
                (intervals(question, answers))
            }
        }
    }
}

/// The title of the part with the compared sides block by block.
pub(super) fn blocks_title(grid: &Grid) -> &'static str {
    if has_batches(grid) {
        "Batch by batch"
    } else {
        "Block by block"
    }
}

/// The compared sides block by block; `None` without comparisons.
pub(super) fn blocks(results: &Results, grid: &Grid) -> Option<Markup> {
    let question = results.verdict.as_ref()?;
    let mut answers = grid.answers.iter();
    let [block, _] = block_nouns(has_batches(grid));
    answers.any(|it| it.comparison.is_some()).then(|| {
        html! {
            section aria-labelledby="blocks" {
                h2.hidden id="blocks" { "Against the baseline, " (block) " by " (block) }
                (blocks::charts(grid, question))
            }
        }
    })
}

fn intervals(question: &Question, answers: &[Answer]) -> Markup {
    let ratios = answers.iter().filter_map(|it| Some(it.comparison?.ratio));
    let scale = RatioScale::of(question.min_effect, ratios);
    let several = answers.iter().any(|answer| !answer.within.is_empty());
    let [_, executions] = nouns(answers.iter().any(|answer| answer.of_batches));
    html! {
        (figures::scrolling("Differences from the baseline", html! {
            table {
                caption {
                    "Difference of " (question.metric.in_words()) " from the baseline ("
                    @for (at, (factor, level)) in question.baseline.iter().enumerate() {
                        @if at > 0 { ", " } (factor) " " (level)
                    }
                    "), with its 95 % interval; differences within the band do not matter"
                }
                thead { tr {
                    @if several { th scope="col" { "at" } }
                    th scope="col" { "compared" }
                    th scope="col" { "verdict" }
                    th scope="col" { "change, with interval" }
                    th scope="col" { "interval" }
                    th scope="col" { (executions) }
                } }
                tbody { @for answer in answers {
                    tr {
                        @if several { th scope="row" { (levels(&answer.within)) } }
                        td { (levels(&answer.levels)) }
                        td { (answer.decision.word()) }
                        @match &answer.comparison {
                            Some(comparison) => {
                                td { (in_words(&comparison.ratio)) }
                                td { (scale.drawn(&comparison.ratio)) }
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
