//! All results as Markdown, for a comment on a pull request or a wiki page.

use audit::{Audit, Level};

use crate::{
    expectations,
    findings::counts,
    grid::{Facet, Grid, in_words, scaling},
    results::Results,
    sentences::{
        answer, ceiling, clauses, disturbances,
        events::{
            self,
            answer::EventAnswer,
            matrix::{EventMatrix, Wording},
            overview::{EventOverview, overviews},
        },
        limit::PeakLimit,
        max_rates, proxy, set_limit, stage_rates, steadiness,
    },
    terminal::{Column, detailed_columns, key_columns},
    text::markdown::{cell, escaped},
};

/// Maximum number of combinations with open tables: with more the tables are folded, so that the answer stays visible.
const UNFOLDED_MAX: usize = 24;
/// Maximum number of lines of a list that is not folded.
const UNFOLDED_LINES_MAX: usize = 6;

/// The results as Markdown (GitHub's flavour), ending with a line feed.
pub fn markdown(results: &Results) -> String {
    let grid = Grid::of(results);
    let mut parts = vec![format!("## {}", escaped(title(results)))];
    let named = clauses::lines(results, &grid);
    parts.extend((!named.is_empty()).then(|| {
        let lines = named.iter().map(|line| escaped(line));
        format!("- {}", lines.collect::<Vec<_>>().join("\n- "))
    }));
    parts.extend(list("highest rates", &max_rates::sentences(results)));
    let planned = overviews(results, &grid);
    parts.extend(events_in_short(results, &grid, &planned));
    let verdict = answer::verdict_in_short(results, &grid);
    parts.extend(verdict.map(|it| format!("**{}**", escaped(&it))));
    parts.extend(comparisons(results, &grid));
    let expected = expectations::of_grid(results, &grid);
    let expected: Vec<String> = expected.iter().map(|it| it.in_words()).collect();
    parts.extend(list("expectations", &expected));
    parts.extend(list("all events", &events::sentences(&planned)));
    parts.extend(list("all stages", &stage_rates::sentences(&grid)));
    // The throughput of a search is the highest rate that was tried.
    let sentences = grid.facets.iter().filter(|_| results.searches.is_empty());
    let sentences: Vec<String> = sentences
        .map(|facet| escaped(&answer::sentence(&grid, facet)))
        .collect();
    parts.push(match sentences.len() {
        0 | 1 => sentences.concat(),
        _ => format!("- {}", sentences.join("\n- ")),
    });
    let laws = (grid.facets.iter()).filter_map(|facet| scaling::sentence(&grid, facet));
    let unfolded = grid.combinations() <= UNFOLDED_MAX;
    parts.extend(laws.filter(|_| unfolded).map(|law| escaped(&law)));
    parts.extend(
        [
            PeakLimit::of(results, &grid).map(|limit| limit.in_words()),
            ceiling::warning(results),
            answer::other_work(&grid),
        ]
        .into_iter()
        .flatten()
        .chain(set_limit::sentences(results))
        .chain(proxy::sentences(results))
        .chain(steadiness::sentences(results))
        .chain(disturbances::sentences(results))
        .map(|sentence| escaped(&sentence)),
    );
    parts.extend(results.audit.as_ref().map(audit_list));
    let tables = grid.facets.iter().map(|facet| table(&grid, facet));
    let tables = tables.collect::<Vec<_>>().join("\n\n");
    parts.push(if unfolded {
        tables
    } else {
        folded("all combinations", &tables)
    });
    parts.push(closing(results, &grid));
    parts.retain(|part| !part.is_empty());
    format!("{}\n", parts.join("\n\n"))
}

/// A sentence for each comparison, if there are several.
fn comparisons(results: &Results, grid: &Grid) -> Option<String> {
    let sentences = answer::verdict(results, grid);
    (sentences.len() > 1)
        .then(|| list("all comparisons", &sentences))
        .flatten()
}

/// The answer where events are the question: a sentence for each, and its costs as a table.
fn events_in_short(results: &Results, grid: &Grid, planned: &[EventOverview]) -> Option<String> {
    let answer = EventAnswer::of(results, planned).filter(|_| grid.combinations() > 1)?;
    let leads = answer.leads().into_iter().zip(answer.events);
    let parts = leads.flat_map(|(lead, event)| {
        let tables = grid.facets.iter().enumerate().map(move |(at, facet)| {
            let matrix = EventMatrix::of(event, grid, at, Wording::Full);
            let name = facet.name().map(|name| format!("{}\n\n", escaped(&name)));
            format!("{}{}", name.unwrap_or_default(), event_table(&matrix))
        });
        std::iter::once(format!("**{}**", escaped(&lead))).chain(tables)
    });
    Some(parts.collect::<Vec<_>>().join("\n\n"))
}

fn event_table(matrix: &EventMatrix) -> String {
    let row = |head: &str, cells: &[String]| {
        let cells = cells.iter().map(|it| cell(it));
        let cells: Vec<String> = std::iter::once(cell(head)).chain(cells).collect();
        format!("| {} |", cells.join(" | "))
    };
    let rule = format!("| --- |{}", " --- |".repeat(matrix.columns.len()));
    let rows = matrix.rows.iter().map(|(head, cells)| row(head, cells));
    let lines = [row(&matrix.title, &matrix.columns), rule].into_iter();
    lines.chain(rows).collect::<Vec<_>>().join("\n")
}

/// Sentences as a list, folded if it is long; `None` without any.
fn list(title: &str, sentences: &[String]) -> Option<String> {
    let lines: Vec<String> = sentences.iter().map(|it| escaped(it)).collect();
    let list = format!("- {}", lines.join("\n- "));
    match sentences.len() {
        0 => None,
        1..=UNFOLDED_LINES_MAX => Some(list),
        _ => Some(folded(title, &list)),
    }
}

/// A section that is folded by default.
fn folded(title: &str, content: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{content}\n\n</details>")
}

fn title(results: &Results) -> &str {
    match results.question.trim() {
        "" => &results.name,
        question => question,
    }
}

/// The assessment, and a line for each finding that is worse than a note.
fn audit_list(audit: &Audit) -> String {
    let mut lines = vec![format!(
        "**Audit: {}** ({})",
        audit.assessment.in_words(),
        counts(audit)
    )];
    for judgement in audit.by_level() {
        let found = judgement.outcome.as_ref().ok();
        if let Some(finding) = found.filter(|finding| finding.level > Level::Note) {
            let line = format!(
                "- {} {}: {}",
                finding.level.name(),
                judgement.rule.id,
                finding.evidence
            );
            lines.push(escaped(&line));
        }
    }
    // A list begins after an empty line.
    let head = lines.remove(0);
    if lines.is_empty() {
        head
    } else {
        format!("{head}\n\n{}", lines.join("\n"))
    }
}

fn table(grid: &Grid, facet: &Facet) -> String {
    let keys = key_columns(grid, facet);
    let columns: Vec<Column> = keys
        .into_iter()
        .chain(detailed_columns(facet).into_iter().flatten())
        .collect();
    let keys = usize::from(grid.line.is_some()) + usize::from(grid.x.is_some());
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let heads = columns.iter().map(|column| cell(&column.head));
    let rules = (0..columns.len()).map(|at| if at < keys { "---" } else { "---:" }.to_owned());
    let mut lines = vec![row(heads.collect()), row(rules.collect())];
    let rows = columns.first().map_or(0, |column| column.cells.len());
    for at in 0..rows {
        lines.push(row(columns
            .iter()
            .map(|column| cell(&column.cells[at]))
            .collect()));
    }
    let name = facet.name().map(|name| format!("{}\n\n", escaped(&name)));
    format!("{}{}", name.unwrap_or_default(), lines.join("\n"))
}

fn closing(results: &Results, grid: &Grid) -> String {
    let mut sentences = vec![answer::coverage(results)];
    if !grid.constants.is_empty() {
        sentences.push(format!(
            "All runs: {}.",
            escaped(&in_words(&grid.constants))
        ));
    }
    if grid.combinations() > 0 {
        sentences.push(answer::method(grid));
    }
    let versions = results.runs.iter().filter_map(|run| run.servers.first());
    let mut versions: Vec<&str> = versions.map(|server| server.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    if !versions.is_empty() {
        sentences.push(format!("Server: {}.", escaped(&versions.join(", "))));
    }
    format!(
        "{} Generated by dbdyno {}.",
        sentences.join(" "),
        env!("CARGO_PKG_VERSION")
    )
}
