//! `dbdyno config diff`: two files, versions, servers or run records by their effective values.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, process::ExitCode};

use mycnf::{Difference, Family, OptionFile, Side, Target, Topic, differences, explanation, shown};
use runs::{Blame, Blamed, named_server, read_record, record_files, server_host::variables_of};
use serde_json::json;

use super::subject::{Format, read_file, target, target_of};

/// Differences that are shown without -v; with the answer and the rest they make 12 lines.
const SHOWN_MAX: usize = 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A side is an option file, a version (its defaults), server:NAME (a running private server), or a results directory or run
record. Files are compared by effective value for --for, or for the version of the other side. The differences are grouped
by what they are about, the most important first: durability, SQL and security, replication, transactions, memory, reads
and writes, connections, logs.

Examples:
  dbdyno config diff mysql-5.7 mysql-8.0.33
  dbdyno config diff old.cnf new.cnf --for mariadb-10.11
  dbdyno config diff my.cnf server:demo
  dbdyno config diff results/before-1 results/after-1")]
pub(crate) struct DiffArgs {
    /// First side
    #[arg(value_name = "A")]
    a: String,
    /// Second side
    #[arg(value_name = "B")]
    b: String,
    /// Version for which files are compared
    #[arg(long = "for", value_name = "VERSION", value_parser = target)]
    version: Option<Target>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show every difference, those of options without a text of ours, too
    #[arg(long, short)]
    verbose: bool,
}

/// A side before its values are known.
enum Named {
    File(OptionFile),
    Version(Target),
    Variables(BTreeMap<String, String>),
}

impl Named {
    fn read(text: &str) -> Result<Self, Blamed> {
        if let Some(name) = text.strip_prefix("server:") {
            let variables = variables_of(&named_server::endpoint(name)?)?;
            return Ok(Self::Variables(variables));
        }
        let path = Path::new(text);
        let is_record = path.is_dir()
            || path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        if path.exists() && is_record {
            return record_variables(path).map(Self::Variables);
        }
        if !path.exists()
            && let Ok(target) = Target::parse(text)
        {
            return Ok(Self::Version(target));
        }
        read_file(path).map(Self::File)
    }

    /// The version of a side that has one.
    fn version(&self) -> Option<Target> {
        match self {
            Self::File(_) => None,
            Self::Version(target) => Some(target.clone()),
            Self::Variables(variables) => {
                let text = variables.get("version")?;
                let is_mariadb = text.to_ascii_lowercase().contains("mariadb");
                let target = Target::parse(text).ok()?;
                let family = if is_mariadb {
                    Family::MariaDb
                } else {
                    Family::MySql
                };
                Some(Target::new(family, target.numbers()))
            }
        }
    }

    fn side(&self, version: Option<&Target>) -> Result<Side, Blamed> {
        Ok(match (self, version) {
            (Self::Version(target), _) => Side::of_version(target),
            (Self::Variables(variables), _) => Side::of_variables(variables),
            (Self::File(file), Some(target)) => Side::of_file(file, target),
            (Self::File(file), None) => {
                let found = server::Installation::find(None, None).map_err(|error| {
                    let hint = "name the version with --for: mysql-8.0, mariadb-10.11".to_owned();
                    Blamed::from(error).hint(hint)
                })?;
                Side::of_file(file, &target_of(&found))
            }
        })
    }
}

/// The variables of the first run of a results directory or record.
fn record_variables(path: &Path) -> Result<BTreeMap<String, String>, Blamed> {
    for file in record_files(path)? {
        let record = read_record(&file)?;
        let mut servers = record.servers.into_iter();
        if let Some(server) = servers.find(|server| !server.variables.is_empty()) {
            return Ok(server.variables);
        }
    }
    let message = format!(
        "{}: no run record has the variables of a server",
        path.display()
    );
    Err(Blamed::new(Blame::Input, message))
}

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let (a, b) = (Named::read(&args.a)?, Named::read(&args.b)?);
    let given = args.version.clone();
    let version = given.or_else(|| a.version()).or_else(|| b.version());
    for target in [a.version(), b.version(), args.version.clone()]
        .into_iter()
        .flatten()
    {
        super::subject::note_catalogue(&target);
    }
    let (left, right) = (a.side(version.as_ref())?, b.side(version.as_ref())?);
    let mut all = differences(&left, &right);
    // Beside a running server a file stands for what it sets; its other values are the server's business.
    let is_against_variables = matches!(a, Named::Variables(_)) || matches!(b, Named::Variables(_));
    let set: Vec<&String> = left.set.iter().chain(&right.set).collect();
    let is_file = matches!(a, Named::File(_)) || matches!(b, Named::File(_));
    if is_file && is_against_variables {
        let defaults = version.as_ref().map(Side::of_version).unwrap_or_default();
        all.retain(|one| set.contains(&&one.name) || is_changed(one, &defaults));
    }
    match args.format {
        Format::Text => print!("{}", text(args, &all, (&left, &right))),
        Format::Json => print!("{}", json_text(args, &all)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a variable of a running server was changed since: the version's default is known and is another value.
fn is_changed(one: &Difference, defaults: &Side) -> bool {
    one.a.is_some()
        && one.b.is_some()
        && defaults.values.contains_key(&one.name)
        && explanation(&one.name).is_some()
}

fn text(args: &DiffArgs, all: &[Difference], sides: (&Side, &Side)) -> String {
    let set: Vec<&String> = sides.0.set.iter().chain(&sides.1.set).collect();
    let matters = |one: &&Difference| explanation(&one.name).is_some() || set.contains(&&one.name);
    let important: Vec<&Difference> = all.iter().filter(matters).collect();
    let changed = all
        .iter()
        .filter(|one| one.a.is_some() && one.b.is_some())
        .count();
    let gone = all.iter().filter(|one| one.b.is_none()).count();
    let new = all.iter().filter(|one| one.a.is_none()).count();
    let mut out = format!(
        "{} against {}: {}; {gone} only in the first, {new} only in the second\n",
        args.a,
        args.b,
        units::counted(changed, "different value")
    );
    for (name, side) in [(&args.a, sides.0), (&args.b, sides.1)] {
        if !side.idle.is_empty() {
            writeln!(
                out,
                "{name}: lines that set nothing in this version: {}",
                side.idle.join(", ")
            )
            .expect("writing to a String cannot fail");
        }
    }
    let chosen: Vec<&Difference> = if args.verbose {
        all.iter().collect()
    } else {
        // What both sides have comes first: a name that one side lacks is seen by lint.
        let both = important
            .iter()
            .filter(|one| one.a.is_some() && one.b.is_some());
        both.copied().take(SHOWN_MAX).collect()
    };
    let mut topic: Option<Topic> = None;
    for one in &chosen {
        if args.verbose && topic != Some(one.topic) {
            writeln!(out, "{}:", one.topic.name()).expect("writing to a String cannot fail");
        }
        topic = Some(one.topic);
        let unit = explanation(&one.name).map_or("", |text| text.unit.as_str());
        let value = |value: &Option<String>| {
            value
                .as_ref()
                .map_or("-".to_owned(), |value| shown(value, unit))
        };
        let values =
            flags(one).unwrap_or_else(|| format!("{} -> {}", value(&one.a), value(&one.b)));
        let indent = if args.verbose { "  " } else { "" };
        let group = if args.verbose {
            String::new()
        } else {
            format!(" ({})", one.topic.name())
        };
        writeln!(out, "{indent}{}: {values}{group}", one.name)
            .expect("writing to a String cannot fail");
    }
    if chosen.len() < all.len() {
        let rest = units::counted(all.len() - chosen.len(), "difference");
        writeln!(out, "and {rest} more; -v shows all").expect("writing to a String cannot fail");
    }
    out
}

/// Of two long lists only what differs: `-firstmatch=on, +firstmatch=off`.
fn flags(one: &Difference) -> Option<String> {
    let (a, b) = one.a.as_deref().zip(one.b.as_deref())?;
    let words = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
    let (a, b) = (words(a), words(b));
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let gone = a
        .iter()
        .filter(|word| !b.contains(word))
        .map(|word| format!("-{word}"));
    let new = b
        .iter()
        .filter(|word| !a.contains(word))
        .map(|word| format!("+{word}"));
    Some(gone.chain(new).collect::<Vec<_>>().join(", "))
}

fn json_text(args: &DiffArgs, all: &[Difference]) -> String {
    let all = all
        .iter()
        .map(|one| json!({ "name": one.name, "topic": one.topic.name(), "a": one.a, "b": one.b }));
    let object = json!({ "a": args.a, "b": args.b, "differences": all.collect::<Vec<_>>() });
    format!("{object:#}\n")
}
