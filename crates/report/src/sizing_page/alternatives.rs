//! The alternatives: what a throughput needs with each measured memory.

use maud::{Markup, html};
use sizing::{
    Limit, Need, Requirement, RequirementRow, need_in_words, not_validated_in_words,
    requirement_sentence, row_memory_in_words,
};
use units::count;

use crate::page::{scrolling, unbroken};

const TITLE: &str = "The alternatives";

pub(super) fn section(requirement: &Requirement) -> Markup {
    let left_out = requirement.left_out.iter().map(row_memory_in_words);
    let left_out: Vec<String> = left_out.collect();
    html! {
        section aria-labelledby="alternatives" {
            h2 id="alternatives" { (TITLE) }
            p { (unbroken(&requirement_sentence(requirement))) }
            @if !requirement.rows.is_empty() {
                (scrolling(TITLE, table(requirement)))
                p.note {
                    "Each row is a machine: a measured buffer pool, and the smallest amounts of everything else that carry the throughput. "
                    "The rows are predicted, and not tested."
                }
            }
            @if !left_out.is_empty() {
                p.note { "Left out, because a smaller buffer pool is as good: " (unbroken(&left_out.join(", "))) "." }
            }
        }
    }
}

fn table(requirement: &Requirement) -> Markup {
    let limits = Limit::ALL.map(Limit::name);
    html! {
        table {
            thead { tr {
                th scope="col" { "memory" }
                @for name in limits { th scope="col" { (name) } }
                th scope="col" { "connections" }
                th scope="col" {}
            } }
            tbody { @for it in &requirement.rows { (row(requirement, it)) } }
        }
    }
}

fn row(requirement: &Requirement, row: &RequirementRow) -> Markup {
    let memory = row.memory.as_ref().map(row_memory_in_words);
    let connections = row.connections.map(|it| count(it.round()));
    html! {
        tr {
            th scope="row" { (unbroken(&memory.unwrap_or_else(|| "as measured".to_owned()))) }
            @for (limit, need) in &row.needs {
                @let words = unbroken(&need_in_words(*limit, need));
                @if is_amount(need) { td { (words) } } @else { td.text { (words) } }
            }
            td { (connections.unwrap_or_default()) }
            td.text { (not_validated_in_words(requirement, row).unwrap_or_default()) }
        }
    }
}

fn is_amount(need: &Need) -> bool {
    matches!(need, Need::Amount { .. } | Need::Nothing)
}
