//! `dbdyno config migrate`: a file rewritten for another version or family.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use mycnf::{
    Migration, Move, OptionFile, Rewrite, Target, explanation, migrate, rewritten_text, shown,
    shown_line,
};
use server::{Installation, validated};
use units::counted;

use super::diff::changed_words;
use super::subject::{catalogue_line, difference, read_bytes, read_file, target, write_new};
use super::trial::Start;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Renamed options get their new names and units. Options that do not exist in the new version become comments that state
the reason. If a default that affects query results or durability has changed, the new file sets the old value.
Everything else is kept, including comments. If the new version is installed, the new file is tested before it is
written. The version's own validator checks the file, and a test server is started with it in a separate data directory.

Without --output, dbdyno shows the differences and writes no file.

If the new version refuses the new file or does not start with it, the exit code is 1; otherwise it is 0.

Example: dbdyno config migrate my.cnf --from mysql-5.6 --to mysql-8.0.33 --output my8.cnf")]
pub(crate) struct MigrateArgs {
    /// Option file to migrate
    file: PathBuf,
    /// Server version that the file was written for
    #[arg(long, value_name = "VERSION", value_parser = target)]
    from: Target,
    /// Server version to migrate the file to
    #[arg(long, value_name = "VERSION", value_parser = target)]
    to: Target,
    /// New file to write [default: none; dbdyno only shows the differences]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Check the new file only against dbdyno's option catalogues; do not start the new version's server to test the
    /// file
    #[arg(long)]
    no_validator: bool,
    /// Show all changes with their reasons, and all defaults that change
    #[arg(long, short)]
    verbose: bool,
}

/// How a finding of the validator begins if the line cannot be judged on this machine.
const NOT_JUDGED: &str = "not judged: ";
/// Changes and defaults that are shown without -v.
const SHOWN_MAX: usize = 8;

pub(crate) fn run(args: &MigrateArgs) -> anyhow::Result<ExitCode> {
    refuse_a_pipe(&args.file)?;
    let old = read_bytes(&args.file)?;
    let file = read_file(&args.file)?;
    let installation = Installation::find(Some(&args.to.to_string()), None).ok();
    let installation = installation.filter(|_| !args.no_validator);
    let taken = match &installation {
        Some(installation) => {
            let validated = validated(installation, &file).map_err(Blamed::from)?;
            validated.taken()
        }
        None => Vec::new(),
    };
    let migration = migrate(&file, &args.file, &old, &args.from, &args.to, &taken);
    let new = rewritten_text(&old, &migration.edits);
    let Tried {
        refusals,
        unjudged,
        start,
    } = match &installation {
        Some(installation) => tried(installation, &new)?,
        None if args.no_validator => Tried::not(Start::NotTried("--no-validator".to_owned())),
        None => Tried::not(Start::of_missing(&args.to)),
    };
    let checked = match (installation.is_some(), refusals.len(), unjudged) {
        (false, ..) => "checked only against the catalogues".to_owned(),
        (true, 0, 0) => "accepted by that server's validator".to_owned(),
        (true, 0, _) => format!(
            "accepted by that server's validator, except {} that it cannot judge here",
            counted(unjudged, "line")
        ),
        (true, ..) => "refused by that server's validator".to_owned(),
    };
    let checked = format!("{checked}; {}", start.in_words());
    print!("{}", summary(args, &migration, &checked));
    for refusal in &refusals {
        println!("refused  {refusal}");
    }
    match &args.output {
        Some(path) => {
            write_new(path, &new)?;
            println!("wrote {}", path.display());
        }
        None => print!("{}", difference(&args.file, &old, &args.file, &new)),
    }
    Ok(if refusals.is_empty() && !start.has_failed() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Blame::Answer as u8)
    })
}

/// The file is read twice, as text and as options: nothing is left of a pipe for the second time, and a file without
/// options would seem to need no change.
fn refuse_a_pipe(path: &Path) -> Result<(), Blamed> {
    // Any other problem of the file is found when it is read.
    let is_read_once = path
        .metadata()
        .is_ok_and(|it| !it.is_file() && !it.is_dir());
    if !is_read_once {
        return Ok(());
    }
    let message = format!("{} is a pipe or a device, and no file", path.display());
    let hint = "write the options to a file first, and name that file";
    Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
}

/// What an installed server of the new version says of the result.
struct Tried {
    /// The lines that its validator refuses.
    refusals: Vec<String>,
    /// The number of lines that its validator cannot judge on this machine, such as those of a plugin without its
    /// library.
    unjudged: usize,
    start: Start,
}

impl Tried {
    /// Without a validator.
    fn not(start: Start) -> Self {
        Self {
            refusals: Vec::new(),
            unjudged: 0,
            start,
        }
    }
}

/// What the new version's own validator refuses in the result, and whether it starts with it.
fn tried(installation: &Installation, text: &[u8]) -> Result<Tried, Blamed> {
    let scratch = files::Scratch::make("dbdyno-migrate-");
    let scratch = scratch.map_err(|error| Blamed::new(Blame::Machine, error))?;
    let path = scratch.path().join("my.cnf");
    write_new(&path, text)?;
    // What is not on this machine was noted when the file itself was read.
    let file = OptionFile::read_for_elsewhere(&path)?;
    let findings = validated(installation, &file)?.findings;
    let unjudged = findings
        .iter()
        .filter(|finding| finding.what.starts_with(NOT_JUDGED))
        .count();
    let refusals = findings.into_iter().filter(mycnf::Finding::is_refusal);
    let refusals = refusals.map(|finding| {
        let line = finding.at.number().unwrap_or(0);
        format!(
            "line {line} of the new file: {}: {}",
            finding.option, finding.what
        )
    });
    let refusals: Vec<String> = refusals.collect();
    let start = if refusals.is_empty() {
        Start::of(installation, &file)
    } else {
        Start::NotTried("its validator refuses the file".to_owned())
    };
    Ok(Tried {
        refusals,
        unjudged,
        start,
    })
}

fn summary(args: &MigrateArgs, migration: &Migration, checked: &str) -> String {
    let count = |is: fn(&Move) -> bool| migration.moves.iter().filter(|one| is(one)).count();
    let mut out = format!(
        "{} from {} to {}: {} rewritten, {} left out, {} pinned, {} to decide; {checked}\n",
        args.file.display(),
        args.from,
        args.to,
        count(|one| matches!(one, Move::Rewritten { .. })),
        count(|one| matches!(one, Move::Dropped { .. })),
        count(|one| matches!(one, Move::Pinned { .. })),
        count(|one| matches!(one, Move::Open { .. })),
    );
    out.push_str(&catalogue_line(&args.from));
    if args.to != args.from {
        out.push_str(&catalogue_line(&args.to));
    }
    let shown_max = if args.verbose { usize::MAX } else { SHOWN_MAX };
    // What is to decide comes first, so that no number of other changes hides it.
    let mut moves: Vec<&Move> = migration.moves.iter().collect();
    moves.sort_by_key(|one| !matches!(one, Move::Open { .. }));
    for one in moves.into_iter().take(shown_max) {
        line(&mut out, &move_text(one));
    }
    let rest = migration.moves.len().saturating_sub(shown_max);
    if rest > 0 {
        line(
            &mut out,
            &format!("and {} more; -v shows all", counted(rest, "change")),
        );
    }
    let defaults = &migration.changed_defaults;
    if !defaults.is_empty() {
        let values = defaults.iter().map(|(name, old, new)| {
            let unit = explanation(name).map_or("", |text| text.unit.as_str());
            match changed_words(old, new) {
                Some(words) => format!("{name} ({words})"),
                None => format!("{name} {} -> {}", shown(old, unit), shown(new, unit)),
            }
        });
        let shown_max = if args.verbose { usize::MAX } else { 4 };
        let shown: Vec<String> = values.take(shown_max).collect();
        let rest = defaults.len().saturating_sub(shown.len());
        let rest = if rest > 0 {
            format!(" and {rest} more (-v)")
        } else {
            String::new()
        };
        line(
            &mut out,
            &format!("other defaults that change: {}{rest}", shown.join(", ")),
        );
    }
    for note in &migration.notes {
        line(&mut out, &format!("note: {note}"));
    }
    out
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a String cannot fail");
}

fn move_text(one: &Move) -> String {
    match one {
        Move::Rewritten { at, was, now } => {
            let now = Rewrite::in_one_line(now);
            format!("{at}: {was} becomes {}", shown_line(&now))
        }
        Move::Dropped { at, was, why } => format!("{at}: {was} is left out: {why}"),
        Move::Pinned { line, why } => format!("added: {} ({why})", shown_line(line)),
        Move::Open { at, option, what } => {
            let at = at.as_ref().map(|at| format!("{at}: ")).unwrap_or_default();
            format!("to decide: {at}{option}: {what}")
        }
    }
}
