//! The figures of cells and tools as markdown.

use std::fmt::Write;

use crate::{
    cell::Answerer,
    contest::Outcome,
    cost::Cost,
    tool::{Benchmark, Tool},
    verdict::digits,
};

/// Rounds below which the whole is said to be a short one.
pub(crate) const ROUNDS_FULL: usize = 10;

/// A figure of every cell and tool of a server, the median over the rounds.
pub(crate) fn figures(
    outcomes: &[Outcome],
    answerer: Answerer,
    benchmark: Benchmark,
    figure: fn(&Cost) -> f64,
) -> String {
    let shown: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| {
            outcome.entry.cell.answerer == answerer && outcome.entry.benchmark == benchmark
        })
        .collect();
    let tools: Vec<Tool> = Tool::ALL
        .into_iter()
        .filter(|tool| {
            shown
                .iter()
                .any(|outcome| outcome.entry.tools.contains(tool))
        })
        .collect();
    let mut text = "| cell |".to_owned();
    for tool in &tools {
        let _ = write!(text, " {} |", tool.name());
    }
    text.push_str(" rounds |\n| --- |");
    text.push_str(&" ---: |".repeat(tools.len() + 1));
    text.push('\n');
    for outcome in shown {
        let _ = write!(text, "| {} |", outcome.entry.cell);
        for tool in &tools {
            let value = outcome.median(*tool, figure).map(digits);
            let _ = write!(text, " {} |", value.unwrap_or_else(|| "-".to_owned()));
        }
        let _ = writeln!(text, " {} |", outcome.entry.rounds);
    }
    text
}

/// The tools that failed, with what they said.
pub(crate) fn failures(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        for (tool, error) in &outcome.failures {
            let first = error.lines().next().unwrap_or_default();
            let _ = writeln!(text, "- {}, {}: {first}", outcome.entry.cell, tool.name());
        }
    }
    text
}
