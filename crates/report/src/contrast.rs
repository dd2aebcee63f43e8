//! Two results compared, as text, as Markdown and as JSON.

mod html;
mod json;
mod side_audits;
mod summary;
mod words;

use audit::SidesAudit;
use comfy_table::{CellAlignment, Table};
use verdict::{Check, Compared, Contrast, SharedCombination};

use crate::{
    terminal::RULED,
    text::{
        markdown::{cell, escaped},
        wrapped::wrapped,
    },
};

pub use html::contrast_as_html;
pub use json::contrast_as_json;
pub use summary::contrast_summary;
pub(crate) use words::{first_cause, first_causes, levels as levels_in_words};

/// Maximum number of differences listed; further ones are counted.
const DIFFERENCES_MAX: usize = 24;
const NOTHING_DIFFERS: &str = "nothing recorded about server, machine, data or method";
const HEADS: [&str; 6] = ["", "A", "B", "change", "95 % interval", "decision"];

/// The measures that are shown in addition to the metric that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasureSelection {
    /// Measures that certainly changed, and those that explain the changes; the others are named.
    Moved,
    /// All that both sides have.
    All,
}

/// A comparison for a terminal of `width` columns, ending with a line feed, with the audit of both sides.
pub fn contrast_as_text(
    contrast: &Contrast,
    checks: &[Check],
    audit: &SidesAudit,
    shown: MeasureSelection,
    width: u16,
) -> String {
    let width = usize::from(width).max(40);
    let wrap = |text: &str| wrapped(text, width);
    let mut parts = vec![format!(
        "A  {}\nB  {}",
        contrast.names[0], contrast.names[1]
    )];
    parts.extend(unlike(contrast).map(|text| wrap(&text)));
    let audited = side_audits::sentences(audit);
    let audited: Vec<String> = audited.iter().map(|text| wrap(text)).collect();
    parts.push(audited.join("\n"));
    let differences = differences(contrast);
    parts.push(if differences.is_empty() {
        format!("What differs: {NOTHING_DIFFERS}.")
    } else {
        format!("What differs:\n  {}", differences.join("\n  "))
    });
    for place in &contrast.places {
        let mut sentences = vec![wrap(&words::headline(contrast, place, audit))];
        let groups = words::groups(contrast, place);
        sentences.extend(groups.iter().map(|groups| wrap(groups)));
        sentences.extend(words::causes(place).iter().map(|cause| wrap(cause)));
        parts.push(sentences.join("\n"));
        let rows = Rows::of(contrast, place, shown);
        if !rows.metrics.is_empty() {
            parts.push(table("", &rows.metrics, place.of_batches));
        }
        if !rows.costs.is_empty() {
            parts.push(table("per operation", &rows.costs, place.of_batches));
        }
        parts.extend(rows.left_out.map(|text| wrap(&text)));
    }
    parts.extend(words::alone(contrast).iter().map(|text| wrap(text)));
    if !checks.is_empty() {
        let checks: Vec<String> = checks
            .iter()
            .map(|check| wrap(&words::check(check)))
            .collect();
        parts.push(checks.join("\n"));
    }
    parts.push(wrap(&words::method(contrast)));
    format!("{}\n", parts.join("\n\n"))
}

/// The same as Markdown, for a comment on a pull request.
pub fn contrast_as_markdown(
    contrast: &Contrast,
    checks: &[Check],
    audit: &SidesAudit,
    shown: MeasureSelection,
) -> String {
    let names = contrast.names.each_ref().map(|name| escaped(name));
    let mut parts = vec![format!("**A**: {}  \n**B**: {}", names[0], names[1])];
    for check in checks {
        parts.push(format!("**{}**", escaped(&words::check(check))));
    }
    parts.extend(unlike(contrast).map(|text| escaped(&text)));
    let audited = side_audits::sentences(audit);
    let audited: Vec<_> = audited.iter().map(|text| escaped(text)).collect();
    parts.push(audited.join("  \n"));
    for place in &contrast.places {
        let headline = words::headline(contrast, place, audit);
        parts.push(format!("### {}", escaped(&headline)));
        let groups = words::groups(contrast, place);
        parts.extend(groups.iter().map(|text| escaped(text)));
        parts.extend(words::causes(place).iter().map(|text| escaped(text)));
        let rows = Rows::of(contrast, place, shown);
        if !rows.metrics.is_empty() {
            parts.push(markdown_table(&rows.metrics, place.of_batches));
        }
        if !rows.costs.is_empty() {
            let costs = markdown_table(&rows.costs, place.of_batches);
            parts.push(format!(
                "<details><summary>cost per operation</summary>\n\n{costs}\n\n</details>"
            ));
        }
        parts.extend(rows.left_out.map(|text| escaped(&text)));
    }
    parts.extend(words::alone(contrast).iter().map(|text| escaped(text)));
    let differences = differences(contrast).into_iter();
    let differences: Vec<_> = differences.map(|line| escaped(&line)).collect();
    if !differences.is_empty() {
        parts.push(format!("What differs:\n\n- {}", differences.join("\n- ")));
    }
    parts.push(escaped(&words::method(contrast)));
    format!("{}\n", parts.join("\n\n"))
}

/// The measures of a combination that are shown.
struct Rows<'c> {
    metrics: Vec<&'c Compared>,
    costs: Vec<&'c Compared>,
    /// A sentence with the measures that are not shown or were not observed.
    left_out: Option<String>,
}

impl<'c> Rows<'c> {
    fn of(contrast: &Contrast, place: &'c SharedCombination, shown: MeasureSelection) -> Self {
        match shown {
            MeasureSelection::All => Self {
                metrics: place.metrics.iter().collect(),
                costs: place.costs.iter().collect(),
                left_out: words::not_observed(place),
            },
            MeasureSelection::Moved => {
                let is_notable = |it: &&Compared| words::is_notable(contrast, place, it);
                let metrics: Vec<_> = place.metrics.iter().filter(is_notable).collect();
                let costs: Vec<_> = place.costs.iter().filter(is_notable).collect();
                let all = place.metrics.iter().chain(&place.costs);
                Self {
                    left_out: words::left_out(all.filter(|it| !is_notable(it))),
                    metrics,
                    costs,
                }
            }
        }
    }
}

/// A sentence that says that the sides did different work.
fn unlike(contrast: &Contrast) -> Option<String> {
    let unlike = &contrast.unlike;
    (!unlike.is_empty()).then(|| format!("The sides did different things: {}.", unlike.join("; ")))
}

/// The differences, one line each.
fn differences(contrast: &Contrast) -> Vec<String> {
    let all = contrast.differences.iter();
    let mut lines: Vec<String> = all
        .take(DIFFERENCES_MAX)
        .map(|it| format!("{} {}: {} → {}", it.of.name(), it.what, it.a, it.b))
        .collect();
    let left_out = contrast.differences.len().saturating_sub(DIFFERENCES_MAX);
    if left_out > 0 {
        lines.push(format!("and {left_out} more, in the JSON output"));
    }
    lines
}

fn table(title: &str, rows: &[&Compared], of_batches: bool) -> String {
    let mut table = Table::new();
    table.load_style(RULED);
    let mut heads = HEADS;
    heads[0] = title;
    table.set_header(heads);
    for row in rows {
        table.add_row(words::row(row, of_batches));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if (1..HEADS.len() - 1).contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn markdown_table(rows: &[&Compared], of_batches: bool) -> String {
    let mut lines = vec![
        format!("| {} |", HEADS.join(" | ")),
        "| --- | ---: | ---: | ---: | ---: | --- |".to_owned(),
    ];
    lines.extend(rows.iter().map(|row| {
        let cells = words::row(row, of_batches).map(|text| cell(&text));
        format!("| {} |", cells.join(" | "))
    }));
    lines.join("\n")
}
