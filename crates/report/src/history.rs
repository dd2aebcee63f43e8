//! Results over time, as text: the list of all, and the series of one experiment.

use comfy_table::{ContentArrangement, Table};
use units::counted;
use verdict::{Headline, Levels, Measure, Scale, Series};

use crate::{
    contrast::levels_in_words,
    sentences::nouns::run_nouns,
    terminal::{RULED, in_cell},
    text::{facts::cut_to_width, wrapped::wrapped},
};

/// Maximum width of a question in the list, columns.
const QUESTION_MAX: usize = 48;

/// The results of one past experiment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastResult {
    /// Start of the first run, or of the results if they cannot be read; UTC, RFC 3339.
    pub at: String,
    /// Name of the experiment or front door.
    pub name: String,
    /// The question; empty if there is none.
    pub question: String,
    /// The first digits of the experiment's hash; empty for a front door such as `sysbench`.
    pub key: String,
    /// Versions of the servers, without repeats.
    pub server: String,
    /// Factors with two levels or more.
    pub varies: Vec<String>,
    /// The grade of its audit; `None` if there is none.
    pub grade: Option<char>,
    pub headline: Option<Headline>,
    /// The answer of each search for the highest rate, which is shown instead of the headline figure; empty for results
    /// without a search.
    pub search_answers: Vec<String>,
    /// The reason why nothing can be shown.
    pub missing: Option<String>,
    /// Its directory.
    pub path: String,
}

/// All results as a table, ending with a line feed; the numbers of `skipped` older ones and of those that are `gone`
/// are reported.
pub fn history_as_text(results: &[PastResult], skipped: usize, gone: usize, width: u16) -> String {
    let gone = (gone > 0).then(|| {
        let verb = if gone == 1 { "is" } else { "are" };
        let gone = counted(gone, "result");
        let text = format!("{gone} {verb} gone; --forget removes missing results from the list");
        wrapped(&text, width.into())
    });
    if results.is_empty() {
        let none = "no results yet: `dbdyno quick` produces the first ones".to_owned();
        return [none]
            .into_iter()
            .chain(gone)
            .collect::<Vec<_>>()
            .join("\n\n")
            + "\n";
    }
    let mut parts = vec![list(results, width)];
    if skipped > 0 {
        let older = format!(
            "{} not shown; --last shows more",
            counted(skipped, "older result")
        );
        parts.push(wrapped(&older, width.into()));
    }
    parts.extend(gone);
    format!("{}\n", parts.join("\n\n"))
}

/// The columns of the list, and the order in which they are left out if the terminal is too narrow; the others stay.
const COLUMNS: [&str; 9] = [
    "begun",
    "experiment",
    "key",
    "varies",
    "server",
    "result",
    "grade",
    "question",
    "where",
];
const LEFT_OUT: [&str; 4] = ["question", "key", "varies", "server"];

/// The list with as many columns as fit; if the minimum does not fit, their cells have several lines.
fn list(results: &[PastResult], width: u16) -> String {
    let with = |left_out: &[&str]| {
        let shown: Vec<bool> = COLUMNS.map(|name| !left_out.contains(&name)).to_vec();
        let kept = |cells: Vec<String>| {
            let cells = cells.into_iter().zip(&shown);
            cells
                .filter(|(_, shown)| **shown)
                .map(|(cell, _)| cell)
                .collect::<Vec<_>>()
        };
        let heads = kept(COLUMNS.map(str::to_owned).to_vec());
        let mut table = ruled(&heads.iter().map(String::as_str).collect::<Vec<_>>());
        for past in results {
            table.add_row(kept(row(past)));
        }
        table
    };
    let fits = |text: &String| {
        text.lines()
            .all(|line| line.chars().count() <= width.into())
    };
    let fitting = (0..=LEFT_OUT.len()).map(|count| drawn(&with(&LEFT_OUT[..count])));
    fitting.into_iter().find(fits).unwrap_or_else(|| {
        let mut table = with(&LEFT_OUT);
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
        drawn(&table)
    })
}

fn row(past: &PastResult) -> Vec<String> {
    let answers = past.search_answers.iter().map(|it| in_cell(it));
    let result = match (&past.missing, &past.headline) {
        (Some(why), _) => in_cell(why),
        // One line for each combination: the rates of different limits have no order.
        (None, Some(_)) if !past.search_answers.is_empty() => {
            answers.collect::<Vec<_>>().join("\n")
        }
        (None, Some(headline)) => in_cell(&in_words(headline)),
        (None, None) => "nothing complete".to_owned(),
    };
    vec![
        in_cell(&past.at),
        in_cell(&past.name),
        in_cell(&past.key),
        in_cell(&past.varies.join(", ")),
        in_cell(&past.server),
        result,
        past.grade.map_or_else(|| "–".to_owned(), String::from),
        in_cell(&cut_to_width(&past.question, QUESTION_MAX)),
        samples::printable(&past.path).into_owned(),
    ]
}

/// The figure of a series.
#[derive(Debug, Clone, Copy)]
pub struct SeriesFigure<'a> {
    /// Its name in the heading: `throughput`, or `highest rate with p99 < 20 ms`.
    pub words: &'a str,
    /// The head of its column.
    pub column: &'a str,
    pub scale: Scale,
}

impl SeriesFigure<'static> {
    /// The mean of a measure.
    pub fn of(measure: Measure) -> Self {
        Self {
            words: measure.in_words(),
            column: "mean",
            scale: measure.scale(),
        }
    }
}

/// One figure of the combinations of one experiment, or of those that vary one factor, over time, ending with a line feed;
/// `of` is what was asked for.
pub fn series_as_text(
    of: &str,
    results: &[PastResult],
    all: &[Series],
    figure: SeriesFigure<'_>,
    width: u16,
) -> String {
    let names: std::collections::BTreeSet<&str> =
        results.iter().map(|past| past.name.as_str()).collect();
    // The factor of several experiments, else the name of the one that was asked for by its key.
    let name = match names.first() {
        Some(only) if names.len() == 1 => only,
        _ => of,
    };
    let keys: std::collections::BTreeSet<&str> =
        results.iter().map(|past| past.key.as_str()).collect();
    let mut heading = format!(
        "{name}: {} over {}",
        figure.words,
        counted(results.len(), "result")
    );
    if keys.len() > 1 {
        heading.push_str(&format!(
            ", of {} experiments: their text, options or files differ",
            keys.len()
        ));
    }
    let mut parts = vec![wrapped(&heading, width.into())];
    for series in all {
        if !series.at.is_empty() {
            parts.push(levels_in_words(&series.at));
        }
        let mut table = ruled(&[
            "begun",
            "server",
            figure.column,
            "95 % interval",
            "runs",
            "",
            "where",
        ]);
        for (index, point) in series.points.iter().enumerate() {
            let past = &results[point.result];
            let interval = point.bounds.map(|it| between(it, figure.scale));
            let changed = series.changes.iter().find(|change| change.at == index);
            let changed = changed.map(|change| {
                format!(
                    "◀ {} → {} ({})",
                    figure.scale.in_words(change.before),
                    figure.scale.in_words(change.after),
                    units::change(change.ratio())
                )
            });
            table.add_row([
                past.at.clone(),
                point.servers.join(", "),
                figure.scale.in_words(point.mean),
                interval.unwrap_or_else(|| "–".to_owned()),
                if point.is_of_batches {
                    counted(point.executions, "batch")
                } else {
                    point.executions.to_string()
                },
                changed.unwrap_or_default(),
                past.path.clone(),
            ]);
        }
        parts.push(drawn(&table));
        parts.push(wrapped(&conclusion(series), width.into()));
    }
    format!("{}\n", parts.join("\n\n"))
}

fn conclusion(series: &Series) -> String {
    const RESULTS_AT_LEAST: usize = 6;
    match (series.points.len(), series.changes.len()) {
        (few, _) if few < RESULTS_AT_LEAST => {
            format!(
                "{}: a change of level needs {RESULTS_AT_LEAST} to be detected.",
                counted(few, "result")
            )
        }
        (_, 0) => "The level did not change.".to_owned(),
        (_, changes) => format!(
            "The level changed {}: ◀ marks the first result of the new level.",
            match changes {
                1 => "once".to_owned(),
                more => format!("{more} times"),
            }
        ),
    }
}

/// A range: `11.9k/s to 12.7k/s`.
fn between((low, high): (f64, f64), scale: Scale) -> String {
    format!("{} to {}", scale.in_words(low), scale.in_words(high))
}

/// The headline figure in words: `throughput 12.3k/s (5 runs, 11.9k/s to 12.7k/s, connections 8)`.
fn in_words(headline: &Headline) -> String {
    let scale = headline.measure.scale();
    let bounds = headline.bounds;
    let interval = bounds.map(|it| format!(", {}", between(it, scale)));
    let at = |levels: &Levels| match levels.len() {
        0 => String::new(),
        // The options of a front door are not levels for comparisons.
        1..=4 => format!(", {}", levels_in_words(levels)),
        _ => String::new(),
    };
    format!(
        "{} {} ({}{}{})",
        headline.measure.in_words(),
        scale.in_words(headline.mean),
        counted(headline.executions, run_nouns(headline.is_of_batches)[0]),
        interval.unwrap_or_default(),
        at(&headline.at)
    )
}

fn ruled(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(RULED);
    table.set_header(heads);
    table
}

fn drawn(table: &Table) -> String {
    let mut table = table.clone();
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
