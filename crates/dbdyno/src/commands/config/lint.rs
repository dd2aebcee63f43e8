//! `dbdyno config lint`: the review of option files for a version.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use mycnf::{Advice, Edit, Level, Lint, Rewrite, rewritten_text, rules};
use runs::{Blame, Blamed};
use units::counted;

use super::lint_formats;
use super::review::{Review, review};
use super::subject::{
    MachineArgs, VersionArgs, difference, note_catalogue, read_bytes, read_files, write_new,
};

/// Findings that fit below the answer without -v.
const SHOWN_MAX: usize = 9;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file is read as the server reads it: includes, the groups of its version, the last of several lines. Where the version
is installed on this machine, its own validator judges, too. Levels: refused (the server does not start, or passes
over the line), risk (data, commits or access can be lost), warning, note. docs/config.md has all rules.

Exit code 1 when a finding reaches --fail-if; 0 otherwise.

Examples:
  dbdyno config lint /etc/my.cnf --for mysql-8.0.33 --memory 32G --file-system xfs
  dbdyno config lint my.cnf --for mariadb-10.11 --fix fixed.cnf
  dbdyno config lint my.cnf --for mysql-8.0 --format github --fail-if warning")]
pub(crate) struct LintArgs {
    /// Option file; of several, a later one takes precedence
    #[arg(value_name = "FILE", required_unless_present = "rules")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    version: VersionArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Option file that the server reads after the others
    #[arg(long, value_name = "FILE")]
    defaults_extra_file: Option<PathBuf>,
    /// Judge by the catalogues alone, also where the version is installed
    #[arg(long)]
    no_validator: bool,
    /// Write the file with the safe rewrites to this new file, and show the difference
    #[arg(long, value_name = "NEW")]
    fix: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show only findings of this level or worse: refused, risk, warning or note
    #[arg(long, value_name = "LEVEL", value_parser = level, default_value = "note")]
    level: Level,
    /// Exit with code 1 if a finding has this level or worse
    #[arg(long, value_name = "LEVEL", value_parser = level, default_value = "refused")]
    fail_if: Level,
    /// Show every finding with its reason and source
    #[arg(long, short)]
    verbose: bool,
    /// List the rules and exit
    #[arg(long)]
    rules: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For a terminal
    Text,
    /// One object
    Json,
    /// SARIF 2.1.0, for tools that show findings beside the code
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

pub(crate) fn run(args: LintArgs) -> anyhow::Result<ExitCode> {
    if args.rules {
        print!("{}", rule_list());
        return Ok(ExitCode::SUCCESS);
    }
    let mut files = args.files.clone();
    files.extend(args.defaults_extra_file.clone());
    let file = read_files(&files)?;
    let (target, installation) = args.version.resolve()?;
    note_catalogue(&target);
    let machine = args.machine.machine(args.version.is_here(), &file);
    let installation = installation.filter(|_| !args.no_validator);
    let mut review = review(files, &file, target, &machine, installation.as_ref())?;
    let worst = review.lint.worst();
    // The rewrites are those of all findings, shown or not.
    let fixed = match &args.fix {
        Some(new) => Some(fix(&review, new)?),
        None => None,
    };
    if let (Some(new), true) = (&args.fix, args.format != Format::Text) {
        eprintln!("note: wrote {}", new.display());
    }
    review
        .lint
        .advice
        .retain(|advice| advice.remark.level >= args.level);
    match args.format {
        Format::Text => {
            print!("{}", text(&review, args.verbose));
            if let Some(fixed) = &fixed {
                print!("{fixed}");
            }
        }
        Format::Json => print!("{}", lint_formats::json(&review)),
        Format::Sarif => print!("{}", lint_formats::sarif(&review)),
        Format::Github => print!("{}", lint_formats::github(&review)),
    }
    Ok(if worst.is_some_and(|worst| worst >= args.fail_if) {
        ExitCode::from(Blame::Answer as u8)
    } else {
        ExitCode::SUCCESS
    })
}

/// The answer, and the findings below it.
fn text(review: &Review, verbose: bool) -> String {
    let lint = &review.lint;
    let mut text = format!("{}\n{}\n", answer(review), durability(lint));
    let shown = if verbose { usize::MAX } else { SHOWN_MAX };
    for advice in lint.advice.iter().take(shown) {
        text.push_str(&finding(advice, verbose));
    }
    if verbose && !lint.needs_restart.is_empty() {
        writeln!(
            text,
            "set only at start, so that a change needs a restart: {}",
            lint.needs_restart.join(", ")
        )
        .expect("writing to a String cannot fail");
    }
    let rest = lint.advice.len().saturating_sub(shown);
    if rest > 0 {
        writeln!(
            text,
            "and {} more; -v shows all, with reason and source",
            counted(rest, "finding")
        )
        .expect("writing to a String cannot fail");
    }
    text
}

/// `my.cnf for mysql-8.0.33: does not start: 3 refused, 2 risks, 1 warning, 4 notes in 40 options`
fn answer(review: &Review) -> String {
    let files: Vec<String> = review
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let lint = &review.lint;
    let refused = lint.count(Level::Refused);
    let verdict = if refused > 0 {
        "does not start as it is"
    } else if review.is_validated {
        "starts, by the version's own validator and the catalogues"
    } else {
        "starts, by the catalogues"
    };
    format!(
        "{} for {}: {verdict}: {refused} refused, {}, {}, {} in {}",
        files.join(" + "),
        review.target,
        counted(lint.count(Level::Risk), "risk"),
        counted(lint.count(Level::Warning), "warning"),
        counted(lint.count(Level::Note), "note"),
        counted(lint.options, "option"),
    )
}

/// `durability D2: a power cut takes the last second of commits (innodb_flush_log_at_trx_commit)`
fn durability(lint: &Lint) -> String {
    let class = lint.durability.class;
    let causes: Vec<&str> = lint
        .durability
        .lacks
        .iter()
        .map(|lack| lack.option)
        .collect();
    let causes = if causes.is_empty() {
        String::new()
    } else {
        format!(" ({})", causes.join(", "))
    };
    format!("durability {}: {}{causes}", class.name(), class.in_words())
}

/// One finding; with `verbose` its reason and source below.
fn finding(advice: &Advice, verbose: bool) -> String {
    let remark = &advice.remark;
    let place = remark
        .at
        .as_ref()
        .map(|at| format!("{at}: "))
        .unwrap_or_default();
    let fix = remark
        .fix
        .as_ref()
        .map(|fix| format!("; {fix}"))
        .unwrap_or_default();
    let mut text = format!(
        "{:<8} {place}{}: {}{fix}\n",
        remark.level.name(),
        remark.option,
        remark.what
    );
    if verbose {
        let rule = advice.rule;
        writeln!(
            text,
            "         {}: {} Source: {}",
            rule.id, rule.reason, rule.source
        )
        .expect("writing to a String cannot fail");
    }
    text
}

/// Writes the file with the safe rewrites; returns what changed.
fn fix(review: &Review, new: &Path) -> Result<String, Blamed> {
    let [old] = review.files.as_slice() else {
        let message = "--fix writes one file, and there are several";
        return Err(Blamed::new(Blame::Input, message).hint("fix them one by one".to_owned()));
    };
    let (edits, elsewhere) = edits(&review.lint, old);
    let bytes = read_bytes(old)?;
    let fixed = rewritten_text(&bytes, &edits);
    write_new(new, &fixed)?;
    let mut text = format!(
        "wrote {} with {}\n",
        new.display(),
        counted(edits.len(), "rewrite")
    );
    if elsewhere > 0 {
        let of = counted(elsewhere, "rewrite");
        writeln!(
            text,
            "{of} in included files: run this command on those files"
        )
        .expect("writing to a String cannot fail");
    }
    text.push_str(&difference(old, &bytes, new, &fixed));
    Ok(text)
}

/// The safe rewrites of one file, one for each line, and the number of those in other files.
fn edits(lint: &Lint, path: &Path) -> (Vec<Edit>, usize) {
    let mut edits: Vec<(u32, Edit)> = Vec::new();
    let mut elsewhere = 0;
    // The worst finding of a line comes first, and decides.
    for advice in &lint.advice {
        let remark = &advice.remark;
        let Some((at, rewrite)) = remark.at.as_ref().zip(remark.rewrite.as_ref()) else {
            continue;
        };
        let Some(line) = at.number() else { continue };
        if at.path() != path {
            elsewhere += 1;
        } else if edits.iter().all(|(other, _)| *other != line) {
            let edit = Edit::Line {
                line,
                rewrite: rewrite.clone(),
                reason: match rewrite {
                    Rewrite::Replace(_) => format!("was {}", remark.option),
                    Rewrite::Remove => remark.what.clone(),
                },
            };
            edits.push((line, edit));
        }
    }
    (edits.into_iter().map(|(_, edit)| edit).collect(), elsewhere)
}

fn rule_list() -> String {
    let mut text = String::new();
    for rule in rules().chain([&mycnf::VALIDATOR, &mycnf::IGNORED_FILE]) {
        writeln!(
            text,
            "{}: {}. {} Source: {}",
            rule.id, rule.title, rule.reason, rule.source
        )
        .expect("writing to a String cannot fail");
    }
    text
}

fn level(text: &str) -> Result<Level, String> {
    let names: Vec<_> = Level::ALL.iter().map(|level| level.name()).collect();
    Level::named(text).ok_or_else(|| format!("one of {}", names.join(", ")))
}
