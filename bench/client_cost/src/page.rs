//! The results as markdown, and their place between two marks of a page.

use std::fmt::Write;

use anyhow::{Context, Result};

use crate::{
    cell::Answerer,
    contest::Outcome,
    cost::Cost,
    target::Target,
    tool::{Benchmark, Tool},
    verdict::digits,
};

const BEGIN: &str = "<!-- client_cost: begin -->";
const END: &str = "<!-- client_cost: end -->";

/// Rounds below which the whole is said to be a short one.
pub(crate) const ROUNDS_FULL: usize = 10;

/// The table of targets.
pub(crate) fn targets(targets: &[Target]) -> String {
    let mut text = "| target | bound | measured | 95 % interval | rounds | verdict |\n\
                    | --- | --- | ---: | ---: | ---: | --- |\n"
        .to_owned();
    for target in targets {
        let (estimate, interval) = match &target.measured {
            None => ("-".to_owned(), "-".to_owned()),
            Some(found) => (
                digits(found.estimate),
                format!("{} to {}", digits(found.low), digits(found.high)),
            ),
        };
        let stretch = if target.is_stretch { " (stretch)" } else { "" };
        let _ = writeln!(
            text,
            "| {} | {}{stretch} | {estimate} | {interval} | {} | {} |",
            target.what, target.bound, target.rounds, target.verdict
        );
    }
    text
}

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

/// `page` with `results` between the two marks.
pub(crate) fn replaced(page: &str, results: &str) -> Result<String> {
    let (before, rest) = page
        .split_once(BEGIN)
        .with_context(|| format!("no line {BEGIN}"))?;
    let (_, after) = rest
        .split_once(END)
        .with_context(|| format!("no line {END}"))?;
    Ok(format!(
        "{before}{BEGIN}\n{}\n{END}{after}",
        results.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Bound;

    #[test]
    fn results_stand_between_their_marks() {
        let page = format!("# A\n{BEGIN}\nold\n{END}\n# B\n");
        let new = replaced(&page, "new\n\n").unwrap();
        assert_eq!(new, format!("# A\n{BEGIN}\nnew\n{END}\n# B\n"));
        assert_eq!(replaced(&new, "new").unwrap(), new);
        assert!(replaced("# A\n", "new").is_err());
        assert!(replaced(BEGIN, "new").is_err());
    }

    #[test]
    fn a_line_per_target() {
        let memory_mb = [100.0, 102.0, 101.0, 104.0, 103.0, 900.0];
        let astride = Target::of_values("memory, MB".to_owned(), Bound::AtMost(200.0), &memory_mb);
        let void = Target::of_values("nothing".to_owned(), Bound::AtMost(1.0), &[]).stretch();
        let expected = "\
| target | bound | measured | 95 % interval | rounds | verdict |
| --- | --- | ---: | ---: | ---: | --- |
| memory, MB | at most 200 | 102 | 100 to 900 | 6 | undecided |
| nothing | at most 1.00 (stretch) | - | - | 0 | not measured |
";
        assert_eq!(targets(&[astride, void]), expected);
    }
}
