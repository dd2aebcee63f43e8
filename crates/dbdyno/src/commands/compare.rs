//! `dbdyno compare`: any two results side by side, with their costs and the causes of differences.

mod load_options;
mod sides;

use std::process::ExitCode;

use audit::SidesAudit;
use blame::{Blame, Blamed};
use clap::ValueEnum;
use report::MeasureSelection;
use results::audit_of_comparison;
use sides::RecordedSide;
use verdict::{Check, Contrast, Levels, Measure, Outcome, Tolerance, ToleranceError};

use crate::commands::run::terminal_width;

/// Default of the smallest difference that matters, as a share.
const MARGIN: f64 = 0.02;
/// A margin above which nearly everything is equivalent.
const MARGIN_MAX_PERCENT: f64 = 100.0;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each side (A or B) is one of the following, or several of them separated by commas:
  DIR                    all complete runs of a results directory
  DIR:FACTOR=LEVEL       the runs of one level; separate several levels with colons (DIR:fs=xfs:connections=8)
  FILE.jsonl             one run record

Every combination of levels (values of the factors) that occurs on both sides is compared. If both sides come from one
results directory, runs of the same block (one run of every combination) are compared in pairs.

If the sides did different work (operations, mix, rows, connections, rate, options of the load), dbdyno refuses to
compare them (exit code 2), unless this difference is the factor being compared. If operations failed on one side
(audit rule W10), or if the client of one side was at its limit (H12), dbdyno compares nothing and ends with exit code
5. --anyway compares the sides all the same.

If the whole confidence interval of the change is beyond a --fail-if limit, the limit is broken (exit code 1). If the
whole interval is within the limit, the limit is met. In all other cases, the limit is undecided (exit
code 5), and more runs can decide it. docs/compare.md lists all measures.

Examples:
  dbdyno compare results/flush-log-1:flush_log=1 results/flush-log-1:flush_log=2
  dbdyno compare results/before-1 results/after-1 --fail-if 'throughput -3%' --fail-if 'p99 +5%'
  dbdyno compare a1.jsonl,a2.jsonl,a3.jsonl b1.jsonl,b2.jsonl,b3.jsonl --format markdown")]
pub(crate) struct CompareArgs {
    /// Baseline results (see below for how to name them)
    #[arg(value_name = "A")]
    a: String,
    /// Results to compare with A
    #[arg(value_name = "B")]
    b: String,
    /// Smallest difference that matters, in percent; sides are equivalent if the whole confidence interval of the
    /// difference is within it [default: the min_effect of the experiment if both sides come from one experiment,
    /// otherwise 2]
    #[arg(long = "min-effect", alias = "margin", value_name = "PERCENT", value_parser = margin)]
    margin: Option<f64>,
    /// Exit with code 1 if a measure of B is worse than that of A by more than this limit, for example 'p99 +5%'; may
    /// be repeated
    #[arg(long, value_name = "LIMIT", value_parser = tolerance)]
    fail_if: Vec<Tolerance>,
    /// After the answer, also print tables of everything that changed
    #[arg(short, long)]
    verbose: bool,
    /// After the answer, also print tables of all metrics and costs
    #[arg(long)]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Compare the sides even if they did different work, if operations failed, or if the client limited the throughput
    #[arg(long)]
    anyway: bool,
}

/// Output format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for a terminal
    Text,
    /// One JSON object
    Json,
    /// Markdown for a comment on a pull request
    Markdown,
    /// HTML page for a browser, in one file
    Html,
}

/// Terms of a comparison.
pub(crate) struct ComparisonOptions<'a> {
    /// The smallest difference that matters, as a share; `None` for that of the experiment of both sides.
    pub(crate) margin: Option<f64>,
    /// Limits for how much worse B may be.
    pub(crate) tolerances: &'a [Tolerance],
    /// Output format.
    pub(crate) format: Format,
    /// The tables to show; `None` for the answer alone. The JSON contains all tables.
    pub(crate) shown: Option<MeasureSelection>,
    /// Compare even if the sides did different things or failed.
    pub(crate) anyway: bool,
}

pub(crate) fn run(args: CompareArgs) -> anyhow::Result<ExitCode> {
    let terms = ComparisonOptions {
        margin: args.margin.map(|percent| percent / 100.0),
        tolerances: &args.fail_if,
        format: args.format,
        shown: match (args.all, args.verbose) {
            (true, _) => Some(MeasureSelection::All),
            (false, true) => Some(MeasureSelection::Moved),
            (false, false) => None,
        },
        anyway: args.anyway,
    };
    print_comparison(&args.a, &args.b, &terms)
}

/// Compares two sides named on the command line, and prints the answer.
pub(crate) fn print_comparison(
    a: &str,
    b: &str,
    terms: &ComparisonOptions<'_>,
) -> anyhow::Result<ExitCode> {
    let [a, b] = RecordedSide::read_both(a, b)?;
    let question = a.question_of_both(&b);
    let asked_margin = question.map(|it| it.min_effect);
    let margin = terms.margin.or(asked_margin).unwrap_or(MARGIN);
    // A different margin is a different question.
    let same = question.filter(|it| it.min_effect == margin);
    let executions = same.and_then(|_| a.executions_of_both(&b));
    let terms_of_contrast = verdict::ComparisonParameters {
        margin,
        primary: question.map(|it| it.metric),
        asked: same.zip(executions.as_deref()),
    };
    let mut contrast = verdict::contrast(&a.side(), &b.side(), &terms_of_contrast);
    let mut other_options = a.other_options(&b);
    other_options.retain(|it| !contrast.unlike.contains(it));
    contrast.unlike.extend(other_options);
    if contrast.places.is_empty() {
        return Err(nothing_in_common(&contrast).into());
    }
    let is_asked = a.names_the_factors_of(&b);
    if !contrast.unlike.is_empty() && !is_asked && !terms.anyway {
        let unlike = contrast.unlike.join("; ");
        let message = format!("the sides did different work: {unlike}");
        let hint =
            "use --anyway to compare them nevertheless, or DIR:FACTOR=LEVEL to select a part of the results".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    let audit = audit_of_comparison([a.audited(), b.audited()]);
    if !terms.anyway {
        refuse(&audit)?;
    }
    let checks = verdict::checks(&contrast, terms.tolerances);
    let unmeasured = terms
        .tolerances
        .iter()
        .find(|tolerance| !checks.iter().any(|check| check.tolerance == **tolerance));
    if let Some(tolerance) = unmeasured {
        let message = format!(
            "{} was not measured on both sides",
            tolerance.measure.name()
        );
        return Err(Blamed::new(Blame::Input, message).into());
    }
    let width = terminal_width();
    let text = match (terms.format, terms.shown) {
        (Format::Text, None) => report::contrast_summary(&contrast, &checks, &audit, width),
        (Format::Text, Some(shown)) => {
            report::contrast_as_text(&contrast, &checks, &audit, shown, width)
        }
        (Format::Json, _) => report::contrast_as_json(&contrast, &checks, &audit),
        (Format::Markdown, shown) => {
            let shown = shown.unwrap_or(MeasureSelection::Moved);
            report::contrast_as_markdown(&contrast, &checks, &audit, shown)
        }
        (Format::Html, shown) => {
            let shown = shown.unwrap_or(MeasureSelection::Moved);
            report::contrast_as_html(&contrast, &checks, &audit, shown)
        }
    };
    print!("{text}");
    judge(&checks)
}

/// An error if the figures of a side are those of failures, or of a client at its limit.
fn refuse(audit: &SidesAudit) -> Result<(), Blamed> {
    let refusals = audit.refusals();
    if refusals.is_empty() {
        return Ok(());
    }
    let why: Vec<String> = refusals
        .iter()
        .map(|it| format!("{}: {} ({})", it.of(), it.finding.evidence, it.rule.id))
        .collect();
    let message = format!(
        "these figures cannot decide the comparison: {}",
        why.join("; ")
    );
    let hint = "dbdyno audit shows more about each side; use --anyway to compare them nevertheless"
        .to_owned();
    Err(Blamed::new(Blame::Undecided, message).hint(hint))
}

/// The exit code according to the checks.
fn judge(checks: &[Check]) -> anyhow::Result<ExitCode> {
    let of = |outcome: Outcome| {
        let checks = checks.iter().filter(|check| check.outcome == outcome);
        let names = checks.map(|check| check.tolerance.measure.name());
        let names: std::collections::BTreeSet<&str> = names.collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    match (of(Outcome::Broken), of(Outcome::Undecided)) {
        (broken, _) if !broken.is_empty() => {
            let message = format!("B is worse than allowed: {broken}");
            Err(Blamed::new(Blame::Answer, message).into())
        }
        (_, undecided) if !undecided.is_empty() => {
            let message =
                format!("these runs cannot decide whether B is worse than allowed: {undecided}");
            let hint = "more runs on each side, or a wider limit, can decide it".to_owned();
            Err(Blamed::new(Blame::Undecided, message).hint(hint).into())
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn nothing_in_common(contrast: &Contrast) -> Blamed {
    let told = |side: &[Levels]| {
        let combinations: Vec<String> = side
            .iter()
            .take(4)
            .map(|levels| {
                let levels: Vec<_> = levels
                    .iter()
                    .map(|(factor, level)| format!("{factor}={level}"))
                    .collect();
                format!("{{{}}}", levels.join(" "))
            })
            .collect();
        match side.len() {
            0 => "nothing".to_owned(),
            1..=4 => combinations.join(", "),
            more => format!("{} and {} more", combinations.join(", "), more - 4),
        }
    };
    let message = format!(
        "the sides have no combination in common: A has {}, B has {}",
        told(&contrast.alone[0]),
        told(&contrast.alone[1])
    );
    let hint =
        "DIR:FACTOR=LEVEL selects a level on each side; the two need not be the same".to_owned();
    Blamed::new(Blame::Input, message).hint(hint)
}

fn margin(text: &str) -> Result<f64, String> {
    let percent: f64 = text
        .trim_end_matches('%')
        .trim()
        .parse()
        .map_err(|_| "a number of per cent, such as 2 or 0.5".to_owned())?;
    if percent > 0.0 && percent < MARGIN_MAX_PERCENT {
        Ok(percent)
    } else {
        Err("above 0 and below 100".to_owned())
    }
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    Tolerance::parse(text).map_err(|error| match &error {
        ToleranceError::Form { .. } => {
            format!("{error}; for example 'p99 +5%' or 'throughput -3%'")
        }
        ToleranceError::Measure { .. } => {
            let names: Vec<&str> = Measure::all().map(Measure::name).collect();
            format!("{error}; available: {}", names.join(", "))
        }
        ToleranceError::Better { .. } => error.to_string(),
    })
}
