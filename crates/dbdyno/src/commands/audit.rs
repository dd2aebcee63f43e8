//! `dbdyno audit`: checks a result against the rules of a sound benchmark.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use audit::{Audit, Level};
use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use report::AuditFilter;
use results::{
    audit_of_path, audit_of_sides, read_record, record_files,
    storage_results::{self, AuditedStorage},
};
use samples::Record;

use crate::commands::run::terminal_width;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The rules read only the records. docs/audit-rules.md lists the rules and explains the grade. If the records lack data
that a rule needs, the rule is listed as \"not evaluated\", which does not count as a pass.

If a finding has the --fail-if level or a worse one, the exit code is 1; otherwise it is 0.

Examples:
  dbdyno audit results/quickstart-1
  dbdyno audit results/oltp-read_write-1/record.jsonl --level warn
  dbdyno audit results/storage-suite-1
  dbdyno audit results/before-1 results/after-1 --factor innodb_io_capacity
  dbdyno audit results/quickstart-1 --format html > audit.html
  dbdyno audit --explain C01")]
pub(crate) struct AuditArgs {
    /// Results directory, run record or storage record to audit; two directories or run records are audited as a
    /// comparison
    #[arg(value_name = "DIR|RECORD", num_args = 1..=2, required_unless_present = "explain")]
    results: Vec<PathBuf>,
    /// With two results: server variable or other property that is meant to differ between them; may be repeated
    /// [default: none; one setting may differ]
    #[arg(long, value_name = "NAME")]
    factor: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show only the result of this rule
    #[arg(long, value_name = "ID", value_parser = rule_id)]
    rule: Option<String>,
    /// Show only findings with this level or a worse one: invalid, fail, warn, note or pass [default: all findings]
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<Level>,
    /// Exit with code 1 if a finding has this level or a worse one
    #[arg(long, value_name = "LEVEL", value_parser = level, default_value = "fail")]
    fail_if: Level,
    /// Explain this rule and exit
    #[arg(long, value_name = "ID", value_parser = rule_id, conflicts_with_all = ["results", "rule", "level"])]
    explain: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// One JSON object
    Json,
    /// HTML page for a browser, in one file
    Html,
}

pub(crate) fn run(args: AuditArgs) -> anyhow::Result<ExitCode> {
    if let Some(id) = &args.explain {
        let text = report::rule_explained(id, terminal_width());
        print!("{}", text.expect("its name was looked up"));
        return Ok(ExitCode::SUCCESS);
    }
    if args.results.len() == 1 && !args.factor.is_empty() {
        let message =
            "--factor names an intended difference between two sides, but there is only one side";
        return Err(Blamed::new(Blame::Input, message).into());
    }
    let audit = match args.results.as_slice() {
        [one] => audit_of_one(one)?,
        sides => {
            let mut records = BTreeMap::new();
            for side in sides {
                if storage_results::record_file(side).is_some() {
                    let message = format!(
                        "{}: storage measurements are audited one by one",
                        side.display()
                    );
                    let hint = "name one of them".to_owned();
                    return Err(Blamed::new(Blame::Input, message).hint(hint).into());
                }
                if records.insert(name(side), read(side)?).is_some() {
                    let message = format!("both sides are {}", side.display());
                    return Err(Blamed::new(Blame::Input, message).into());
                }
            }
            audit_of_sides(&records, &args.factor)
        }
    };
    let names: Vec<_> = args.results.iter().map(|path| name(path)).collect();
    let names = names.join(" and ");
    let shown = AuditFilter {
        level: args.level,
        rule: args.rule,
    };
    match args.format {
        Format::Text => print!(
            "{}",
            report::audit_text(&names, &audit, &shown, terminal_width())
        ),
        Format::Json => print!("{}", report::audit_json(&names, &audit, &shown)),
        Format::Html => print!("{}", report::audit_html(&names, &audit, &shown)),
    }
    Ok(match audit.worst() {
        Some(worst) if worst >= args.fail_if && worst > Level::Pass => {
            ExitCode::from(Blame::Answer as u8)
        }
        _ => ExitCode::SUCCESS,
    })
}

fn audit_of_one(path: &Path) -> anyhow::Result<Audit> {
    match storage_results::record_file(path) {
        Some(file) => Ok(AuditedStorage::of(&storage_results::read(&file)?).audit),
        None => Ok(audit_of_path(path, &read(path)?, &VOCABULARY)?),
    }
}

/// The records of a directory, or the one of a file.
fn read(path: &Path) -> Result<Vec<Record>, Blamed> {
    let files = record_files(path)?;
    let records = files.iter().map(|file| {
        let record = read_record(file)?;
        if record.torn {
            eprintln!(
                "warning: {}: the last line is incomplete and is ignored",
                file.display()
            );
        }
        Ok(record)
    });
    records.collect()
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn level(text: &str) -> Result<Level, String> {
    let names: Vec<_> = Level::ALL.iter().map(|level| level.name()).collect();
    Level::named(text).ok_or_else(|| format!("one of {}", names.join(", ")))
}

fn rule_id(text: &str) -> Result<String, String> {
    let rule = audit::rule(text).map(|rule| rule.id.to_owned());
    rule.ok_or_else(|| "there is no such rule; docs/audit-rules.md lists all rules".to_owned())
}
