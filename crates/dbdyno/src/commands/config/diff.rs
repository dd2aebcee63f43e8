//! `dbdyno config diff`: two files, versions, servers or run records by their effective values.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, process::ExitCode};

use blame::{Blame, Blamed};
use mycnf::{
    Difference, OptionFile, Side, Target, Topic, differences, explanation, shown,
    target_of_variables,
};
use results::{read_record, record_files};
use runs::{named_server, server_host::variables_of};
use serde_json::json;

use super::subject::{Format, read_file, target};
use crate::connection_options::{ConnectionOptions, given_address::split_address};

/// Differences that are shown without -v; with the answer and the rest they make 12 lines.
const SHOWN_MAX: usize = 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A side is one of the following:
  FILE                      the settings in an option file
  VERSION                   the defaults of this server version
  server:NAME               a running private server
  host:ADDRESS[:PORT]       a running server; the connection options give the account
  host:/SOCKET              a running server that is reached through a unix socket
  DIR, RECORD               the settings in a results directory or run record

If --host, --socket, --port or --server names a running server, B may be omitted. A file's effective values are computed
for the version given with --for. Without --for, the version of the other side is used. If both sides are files,
the version of the server found on this machine is used.

The differences are grouped by topic, and the most important topic comes first: durability, SQL and security,
replication, transactions, memory, reads and writes, connections, logs.

Examples:
  dbdyno config diff mysql-5.7 mysql-8.0.33
  dbdyno config diff old.cnf new.cnf --for mariadb-10.11
  dbdyno config diff my.cnf server:demo
  dbdyno config diff /etc/my.cnf --host db1 --user dba
  dbdyno config diff host:db1 host:db2:3307 --user dba --password-file secret
  dbdyno config diff results/before-1 results/after-1")]
pub(crate) struct DiffArgs {
    /// First side of the comparison: a file, a version, a server or results (see below)
    #[arg(value_name = "A")]
    a: String,
    /// Second side of the comparison, in the same form as A [default: the server that the connection options name]
    #[arg(value_name = "B")]
    b: Option<String>,
    /// Server version for which a file's values are computed [default: the version of the other side]
    #[arg(long = "for", value_name = "VERSION", value_parser = target)]
    version: Option<Target>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show every difference, including those of options that dbdyno cannot explain
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
}

impl DiffArgs {
    /// The second side, by name and values.
    fn second(&self) -> Result<(String, Named), Blamed> {
        let connection = &self.connection;
        let names_one =
            connection.host.is_some() || connection.socket.is_some() || connection.server.is_some();
        match &self.b {
            Some(b) if names_one => {
                let message = format!(
                    "too many sides: {} and {b}, and the connection options name a server",
                    self.a
                );
                let hint = "leave one side out, or write it as host:ADDRESS or server:NAME";
                Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
            }
            Some(b) => Ok((b.clone(), Named::read(b, connection)?)),
            None if names_one
                || connection.port.is_some()
                || connection.defaults_file.is_some() =>
            {
                let endpoint = connection.endpoint()?;
                let name = match &connection.server {
                    Some(name) => format!("server:{name}"),
                    None => format!("host:{}", endpoint.address),
                };
                Ok((name, Named::Variables(variables_of(&endpoint)?)))
            }
            None => {
                let message = "the second side is missing";
                let hint = "name a file, a version, server:NAME, host:ADDRESS or results, or a server with --host";
                Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()))
            }
        }
    }
}

/// A side before its values are known.
enum Named {
    File(OptionFile),
    Version(Target),
    Variables(BTreeMap<String, String>),
}

impl Named {
    fn read(text: &str, connection: &ConnectionOptions) -> Result<Self, Blamed> {
        if let Some(address) = text.strip_prefix("host:") {
            let (socket, host, port) = split_address(address);
            let connection = ConnectionOptions {
                socket,
                host,
                port: port.or(connection.port),
                server: None,
                ..connection.clone()
            };
            return Ok(Self::Variables(variables_of(&connection.endpoint()?)?));
        }
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
            Self::Variables(variables) => target_of_variables(variables),
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
                Side::of_file(file, &found.target())
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
        "{}: no run record contains server variables",
        path.display()
    );
    Err(Blamed::new(Blame::Input, message))
}

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let a = Named::read(&args.a, &args.connection)?;
    let (b_name, b) = args.second()?;
    let names = (args.a.as_str(), b_name.as_str());
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
        Format::Text => print!(
            "{}",
            text(
                args.verbose,
                names,
                &all,
                (&left, &right),
                version.is_none()
            )
        ),
        Format::Json => print!("{}", json_text(names, &all)),
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

fn text(
    verbose: bool,
    names: (&str, &str),
    all: &[Difference],
    sides: (&Side, &Side),
    is_guessed: bool,
) -> String {
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
        names.0,
        names.1,
        units::counted(changed, "different value")
    );
    if is_guessed
        && let Some(target) = sides
            .0
            .computed_for
            .as_ref()
            .or(sides.1.computed_for.as_ref())
    {
        writeln!(
            out,
            "values of the files for {target}, which was found here; --for names another version"
        )
        .expect("writing to a String cannot fail");
    }
    for (name, side) in [(names.0, sides.0), (names.1, sides.1)] {
        if let Some(target) = &side.computed_for
            && !side.idle.is_empty()
        {
            writeln!(
                out,
                "{name}: lines that {target} refuses or ignores: {}",
                side.idle.join(", ")
            )
            .expect("writing to a String cannot fail");
        }
    }
    let chosen: Vec<&Difference> = if verbose {
        all.iter().collect()
    } else {
        // What both sides have comes first: a name that one side lacks is seen by lint.
        let both = important
            .iter()
            .filter(|one| one.a.is_some() && one.b.is_some());
        both.copied()
            .take(SHOWN_MAX - usize::from(is_guessed))
            .collect()
    };
    let mut topic: Option<Topic> = None;
    for one in &chosen {
        if verbose && topic != Some(one.topic) {
            writeln!(out, "{}:", one.topic.name()).expect("writing to a String cannot fail");
        }
        topic = Some(one.topic);
        let unit = explanation(&one.name).map_or("", |text| text.unit.as_str());
        let value = |value: &Option<String>| {
            value
                .as_ref()
                .map_or("-".to_owned(), |value| shown(value, unit))
        };
        let both = one.a.as_deref().zip(one.b.as_deref());
        let values = both
            .and_then(|(a, b)| changed_words(a, b))
            .unwrap_or_else(|| format!("{} -> {}", value(&one.a), value(&one.b)));
        let indent = if verbose { "  " } else { "" };
        let group = if verbose {
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
pub(super) fn changed_words(a: &str, b: &str) -> Option<String> {
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

fn json_text(names: (&str, &str), all: &[Difference]) -> String {
    let all = all
        .iter()
        .map(|one| json!({ "name": one.name, "topic": one.topic.name(), "a": one.a, "b": one.b }));
    let object = json!({ "a": names.0, "b": names.1, "differences": all.collect::<Vec<_>>() });
    format!("{object:#}\n")
}
