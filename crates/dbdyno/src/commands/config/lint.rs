//! `dbdyno config lint`: the review of option files for a version, or of a running server.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use blame::{Blame, Blamed};
use mycnf::{Basis, Edit, Level, Lint, Rewrite, Target, named_time_zone, rewritten_text, rules};
use runs::knows_time_zone;
use units::counted;

use super::review::Review;
use super::running::{self, Running};
use super::subject::{
    MachineArgs, VersionArgs, difference, note_catalogue, read_bytes, read_files, target, write_new,
};
use super::{lint_formats, lint_text};
use crate::connection_options::{ConnectionOptions, observe_options::ObserveOptions};

/// Time that counters count before they are judged: an hour, as in a day's quiet and busy minutes.
const COUNTERS_AFTER: &str = "1h";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file is read as the server would read it: with the files that it includes, and with the option groups for the
server's version. If an option is set several times, the last line applies. If the version is installed on this machine,
the server's own validator also checks the file.

Each finding has a level. docs/config.md lists all rules.
  refused   the server does not start, or ignores the line
  risk      data, commits or access can be lost
  warning   the line probably does not do what was intended
  note      the line has no effect, or has a side effect that is easily forgotten

Without FILE, dbdyno reviews the running server that --host, --socket, --port or --server names: its variables, its
counters since its start, and its machine. The machine is observed through --observe, or directly if the server runs on
this machine. The server is not changed. Each piece of advice is marked with its basis: `rule` means that it follows
from documented behaviour, and `counter` means that it is inferred from the counters. Only `dbdyno config prove`
measures an effect.

If you give both FILE and connection options, the file is checked for the version and the machine of that server.

If a finding has the --fail-if level or a worse one, the exit code is 1; otherwise it is 0.

Examples:
  dbdyno config lint /etc/my.cnf --for mysql-8.0.33 --memory 32G --file-system xfs
  dbdyno config lint my.cnf --for mariadb-10.11 --fix fixed.cnf
  dbdyno config lint my.cnf --for mysql-8.0 --format github --fail-if warning
  dbdyno config lint --host db1 --user dba --observe ssh://db1")]
pub(crate) struct LintArgs {
    /// Option file to check; if there are several, a later file overrides an earlier one. Without a file, the running
    /// server is reviewed (see below)
    #[arg(value_name = "FILE", required_unless_present_any = ["rules", "host", "port", "socket", "server",
        "defaults_file"])]
    files: Vec<PathBuf>,
    /// Server version that the file is for, such as mysql-8.0.33 or mariadb-10.11. A name without a number, such as
    /// mariadb, means the installed version [default: the version of the server that the connection options name; if
    /// they name none, the version of the server found on this machine]
    #[arg(long = "for", value_name = "VERSION", value_parser = target,
        conflicts_with_all = ["server", "host", "port", "socket", "defaults_file"])]
    version: Option<Target>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Judge a running server by its counters only if it has been running for at least this time
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = COUNTERS_AFTER)]
    counters_after: Duration,
    /// Check the file only against dbdyno's option catalogues; do not run the server's own validator, even if this
    /// server version is installed on this machine
    #[arg(long)]
    no_validator: bool,
    /// Write a copy of the file with all safe fixes to this new file, and show the differences
    #[arg(long, value_name = "FILE")]
    fix: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show only findings with this level or a worse one: refused, risk, warning or note
    #[arg(long, value_name = "LEVEL", value_parser = level, default_value = "note")]
    level: Level,
    /// Exit with code 1 if a finding has this level or a worse one
    #[arg(long, value_name = "LEVEL", value_parser = level, default_value = "refused")]
    fail_if: Level,
    /// Show every finding with its reason and source
    #[arg(long, short)]
    verbose: bool,
    /// List the rules and exit
    #[arg(long)]
    rules: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[command(flatten)]
    observe: ObserveOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0 for tools that show findings beside the code
    Sarif,
    /// Annotations for a GitHub workflow
    Github,
}

pub(crate) fn run(args: LintArgs) -> anyhow::Result<ExitCode> {
    if args.rules {
        print!("{}", rule_list());
        return Ok(ExitCode::SUCCESS);
    }
    let mut review = if args.files.is_empty() {
        review_of_server(&args)?
    } else {
        review_of_files(&args)?
    };
    if matches!(args.format, Format::Sarif | Format::Github) {
        // The others have it in the answer.
        note_catalogue(&review.target);
    }
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
            print!("{}", lint_text::text(&review, args.verbose));
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

/// The review of the files, for a version or for a server.
fn review_of_files(args: &LintArgs) -> Result<Review, Blamed> {
    let mut files = args.files.clone();
    files.extend(args.connection.defaults_extra_file.clone());
    let file = read_files(&files)?;
    if args.is_for_existing_server() {
        let running = read_server(args)?;
        let machine = args.machine.instead_of(running.machine);
        let mut review = Review::of_files(files, &file, running.target, &machine, None)?;
        if let Some(zone) = named_time_zone(&file, &review.target) {
            let is_known = knows_time_zone(&args.connection.endpoint()?, &zone)?;
            review.lint.settle_named_time_zone(is_known);
        }
        return Ok(review);
    }
    if args.observe.observe()?.is_some() {
        let message = "--observe is for a running server, but none is named";
        return Err(Blamed::new(Blame::Input, message).hint("name it with --host".to_owned()));
    }
    let version = VersionArgs::of(args.version.clone(), args.connection.server.clone());
    let (target, installation) = version.resolve()?;
    let machine = args.machine.machine(version.is_here(), &file);
    let installation = installation.filter(|_| !args.no_validator);
    let mut review = Review::of_files(files, &file, target, &machine, installation.as_ref())?;
    // A private server that does not run cannot be asked.
    if let Some(zone) = named_time_zone(&file, &review.target)
        && args.connection.server.is_some()
        && let Ok(endpoint) = args.connection.endpoint()
        && let Ok(is_known) = knows_time_zone(&endpoint, &zone)
    {
        review.lint.settle_named_time_zone(is_known);
    }
    Ok(review)
}

/// The review of a running server.
fn review_of_server(args: &LintArgs) -> Result<Review, Blamed> {
    let only_files = [
        ("--fix", args.fix.is_some()),
        ("--no-validator", args.no_validator),
        ("--for", args.version.is_some()),
    ];
    if let Some((option, _)) = only_files.into_iter().find(|(_, is_given)| *is_given) {
        let message = format!("{option} is for option files, but none is named");
        return Err(Blamed::new(Blame::Input, message)
            .hint("a running server is judged by its own version and variables".to_owned()));
    }
    let mut running = read_server(args)?;
    running.machine = args.machine.instead_of(running.machine);
    Ok(Review::of_running(running, args.counters_after))
}

fn read_server(args: &LintArgs) -> Result<Running, Blamed> {
    let endpoint = args.connection.endpoint()?;
    let name = match &args.connection.server {
        Some(name) => format!("server {name}"),
        None => endpoint.address.to_string(),
    };
    running::read(name, &endpoint, &args.observe, args.machine.is_here())
}

impl LintArgs {
    /// Whether the connection options name a server that dbdyno did not make.
    fn is_for_existing_server(&self) -> bool {
        let connection = &self.connection;
        connection.host.is_some()
            || connection.port.is_some()
            || connection.socket.is_some()
            || connection.defaults_file.is_some()
    }
}

/// Writes the file with the safe rewrites; returns what changed.
fn fix(review: &Review, new: &Path) -> Result<String, Blamed> {
    let [old] = review.files.as_slice() else {
        let message = "--fix writes one file, but several are named";
        return Err(
            Blamed::new(Blame::Input, message).hint("run the command for each file".to_owned())
        );
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
    let of_files = [
        &mycnf::VALIDATOR,
        &mycnf::IGNORED_FILE,
        &mycnf::UNREAD_LINE,
        &mycnf::SHARED_BY_INSTANCES,
    ];
    let of_files = of_files.map(|rule| (rule, Basis::Rule));
    for (rule, basis) in rules().chain(of_files) {
        writeln!(
            text,
            "{} ({}): {}. {} Source: {}",
            rule.id,
            basis.name(),
            rule.title,
            rule.reason,
            rule.source
        )
        .expect("writing to a String cannot fail");
    }
    text
}

fn level(text: &str) -> Result<Level, String> {
    let names: Vec<_> = Level::ALL.iter().map(|level| level.name()).collect();
    Level::named(text).ok_or_else(|| format!("one of {}", names.join(", ")))
}
