//! The requested and the achieved rate of each stage of a load.

use maud::{Markup, html};
use units::{moment, percent, si};

use super::figures::scrolling;
use crate::{
    grid::Grid,
    sentences::{answer::throughput_in_words, stage_rates},
};

/// A table of the stages that have a rate; nothing without any.
pub(super) fn section(grid: &Grid<'_>) -> Markup {
    let stages = stage_rates::summaries(grid);
    let has_combinations = stages.iter().any(|it| !it.combination.is_empty());
    html! {
        @if !stages.is_empty() {
            section aria-labelledby="stage-rates" {
                h2 id="stage-rates" { "Achieved and requested rate of each stage" }
                (scrolling("Rates of the stages", html! {
                    table {
                        caption { "Rates of the stages" }
                        thead { tr {
                            @if has_combinations { th scope="col" { "combination" } }
                            @for name in ["stage", "length", "requested/s", "achieved/s", "share", "late", "runs"] {
                                th scope="col" { (name) }
                            }
                        } }
                        tbody { @for it in &stages { tr {
                            @if has_combinations { th scope="row" { (it.combination) } }
                            th scope="row" { (it.stage.number) " (" (it.stage.in_words()) ")" }
                            td { (moment(it.stage.length_s)) }
                            td { (si(it.asked_per_s)) }
                            td { (throughput_in_words(&it.achieved)) }
                            td { (it.share_in_words()) }
                            td { (percent(it.late)) }
                            td.text { (it.runs) @if let Some(missed) = it.missed_in_words() { " (" (missed) ")" } }
                        } } }
                    }
                }))
                p.note {
                    "Requested: the mean over the stage, even for a ramp. Achieved: successful operations that were completed in the stage. Late: operations that began more than 1 ms after their due time, or never."
                }
            }
        }
    }
}
