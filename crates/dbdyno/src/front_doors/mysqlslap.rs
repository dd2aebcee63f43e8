//! `mysqlslap` and `mariadb-slap`: their options, their SQL and their report, on dbdyno's engine.

use std::{ffi::OsString, process::ExitCode};

use blame::{Blame, Blamed};
use mycnf::ClientFiles;

mod main_connection;
mod only_print;
mod place;
mod rounds;
mod settings;
mod specs;
mod system;
mod tally;
mod values;

use settings::Settings;
pub(crate) use specs::Dialect;

use crate::{
    connection_options::hidden_argument::hide_argument,
    front_doors::my_getopt::{self, Arguments, Options},
};

/// The options of a dialect, for completions and man pages.
pub(crate) fn definition(dialect: Dialect) -> clap::Command {
    my_getopt::definition(dialect.program(), &specs::of(dialect))
}

/// Runs the program of a dialect with the arguments after its name.
pub(crate) fn run(
    dialect: Dialect,
    args: impl Iterator<Item = OsString>,
) -> anyhow::Result<ExitCode> {
    let words: Vec<String> = args
        .map(|arg| arg.into_string())
        .collect::<Result<_, _>>()
        .map_err(|arg| {
            let message = format!("{}: {arg:?} is not valid UTF-8", dialect.program());
            Blamed::new(Blame::Input, message)
        })?;
    let dialect = dialect_of(&words, dialect)?;
    let specs = specs::of(dialect);
    let options = Options {
        specs: &specs,
        program: dialect.program(),
    };
    let typed = options.parse(&words)?;
    hide_passwords(&typed)?;
    if typed.is_on("help") {
        print_help(&options, dialect);
        return Ok(ExitCode::SUCCESS);
    }
    if typed.is_on("version") {
        // The originals' line, with the name of the actual program.
        println!(
            "{}  Ver {} for {} on {} (dbdyno)",
            dialect.program(),
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        );
        return Ok(ExitCode::SUCCESS);
    }
    let mut all = from_files(&options, dialect, &typed)?;
    if typed.is_on("print-defaults") {
        print_defaults(dialect, &all.0, &words);
        return Ok(ExitCode::SUCCESS);
    }
    all.1.add(typed.clone());
    let all = all.1;
    let settings = Settings::new(&options, dialect.program(), dialect, &all)?;
    for warning in &settings.warnings {
        eprintln!("warning: {}: {warning}", dialect.program());
    }
    if all.is_on("only-print") {
        only_print::print(&settings)?;
        return Ok(ExitCode::SUCCESS);
    }
    if settings.queries.is_empty() {
        let message = "the clients have nothing to run: neither --query nor --auto-generate-sql";
        return Err(options.error(message).into());
    }
    if settings.verbose >= 2 && settings.is_made_up() {
        println!("Building Create Statements for Auto\nBuilding Query Statements for Auto");
    }
    let endpoint = place::endpoint(&options, dialect, &typed, &all)?;
    rounds::run(&settings, endpoint)
}

/// The requested dialect.
fn dialect_of(words: &[String], by_name: Dialect) -> Result<Dialect, Blamed> {
    let mut dialect = by_name;
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--dialect") {
            Some("") => words.next().map(String::as_str),
            Some(value) => value.strip_prefix('='),
            None => continue,
        };
        dialect = match value {
            Some("mysql") => Dialect::MySql,
            Some("mariadb") => Dialect::MariaDb,
            _ => {
                let message = format!("{}: --dialect must be mysql or mariadb", by_name.program());
                return Err(Blamed::new(Blame::Input, message));
            }
        };
    }
    Ok(dialect)
}

fn hide_passwords(typed: &Arguments) -> anyhow::Result<()> {
    for name in ["password", "password1"] {
        if let Some(password) = typed.text(name) {
            hide_argument(password)?;
        }
    }
    Ok(())
}

/// The arguments from the option files, and their values.
fn from_files(
    options: &Options<'_>,
    dialect: Dialect,
    typed: &Arguments,
) -> Result<(Vec<String>, Arguments), Blamed> {
    let path = |name| typed.text(name).map(Into::into);
    let files = ClientFiles {
        no_defaults: typed.is_on("no-defaults"),
        defaults_file: path("defaults-file"),
        defaults_extra_file: path("defaults-extra-file"),
        home: std::env::var_os("HOME").map(Into::into),
    };
    let mut groups: Vec<String> = dialect
        .groups()
        .iter()
        .map(|&group| group.to_owned())
        .collect();
    if let Some(suffix) = typed.text("defaults-group-suffix") {
        let with_suffix: Vec<String> = groups
            .iter()
            .map(|group| format!("{group}{suffix}"))
            .collect();
        groups.extend(with_suffix);
    }
    let (found, ignored) = files.options(&groups).map_err(|error| {
        let hint = error.hint();
        Blamed::new(Blame::Input, error).hint(hint)
    })?;
    for path in &ignored {
        eprintln!(
            "warning: {}: ignored, because it is world-writable",
            path.display()
        );
    }
    let mut words = Vec::new();
    let mut all = Arguments::default();
    for entry in found.entries() {
        let mut word = format!("--{}", entry.name.as_written());
        if let Some(value) = &entry.value {
            word.push('=');
            word.push_str(value);
        }
        let origin = entry.origin.to_string();
        // Errors name the line of the file instead of the program.
        let of_entry = Options {
            specs: options.specs,
            program: &origin,
        };
        match of_entry.parse(std::slice::from_ref(&word)) {
            Ok(arguments) => all.add(arguments),
            Err(Blamed { message, .. }) => {
                // The clients' common groups contain options of other programs.
                if !entry.group.starts_with("client") {
                    return Err(Blamed::new(Blame::Input, message));
                }
                all.warnings.push(format!("{message}, ignored"));
            }
        }
        words.push(word);
    }
    Ok((words, all))
}

/// Prints the combined options of option files and command line; passwords are not shown.
fn print_defaults(dialect: Dialect, from_files: &[String], typed: &[String]) {
    println!(
        "{} would have been started with the following arguments:",
        dialect.program()
    );
    let typed = typed.iter().filter(|word| *word != "--print-defaults");
    for word in from_files.iter().chain(typed) {
        match word.split_once('=') {
            Some((name, _)) if name.starts_with("--password") => print!("{name}=***** "),
            None if word.starts_with("-p") => print!("-p***** "),
            _ => print!("{word} "),
        }
    }
    println!();
}

fn print_help(options: &Options<'_>, dialect: Dialect) {
    let program = dialect.program();
    println!(
        "Run statements from many clients at the same time; options and report are those of {program}.\n\n\
         Usage: {program} [OPTIONS]\n"
    );
    for spec in options.specs.iter().filter(|spec| spec.refused.is_none()) {
        print!("{}", specs::help(spec));
    }
    println!("\nOptions of {program} that are refused because dbdyno does not support them:");
    for spec in options.specs {
        if let Some(why) = spec.refused {
            println!("  --{}: {why}", spec.name);
        }
    }
    let groups: Vec<String> = dialect
        .groups()
        .iter()
        .map(|it| format!("[{it}]"))
        .collect();
    let (last, others) = groups.split_last().expect("there is a group");
    println!(
        "\nOption files are read as {program} reads them: the groups {} and {last}. Numbers may end in k, M or G \
         (powers of 1024).\n\
         docs/mysqlslap.md lists the differences from the original.",
        others.join(", ")
    );
}
