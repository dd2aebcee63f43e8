//! Shell completion of values: servers, versions, results, rules and factors, read at each Tab.
//!
//! The script that `dbdyno completions` prints calls dbdyno with [`VARIABLE`] set to the shell's name and the words of
//! the command line after `--`.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::Path,
    process::ExitCode,
};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use clap::{Arg, Command};
use clap_complete::{
    engine::{
        ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
    },
    env::Shells,
};
use experiment::{Experiment, Overrides};
use runs::named_server;

use crate::output::write_out;

/// Environment variable with the name of the calling shell.
const VARIABLE: &str = "DBDYNO_COMPLETE";
/// Default directory of results, unless `--results` names another.
const RESULTS: &str = "results";

/// The script by which a shell requests completions.
pub(crate) fn script(shell: &str) -> anyhow::Result<Vec<u8>> {
    let shells = Shells::builtins();
    let completer = shells.completer(shell).ok_or_else(|| unknown(shell))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "dbdyno", "dbdyno", "dbdyno", &mut script)?;
    Ok(script)
}

/// Prints the completions at the cursor for the calling shell; `None` if no shell requests them.
pub(crate) fn answer(tree: impl FnOnce() -> Command) -> Option<anyhow::Result<ExitCode>> {
    let shell = std::env::var_os(VARIABLE).filter(|it| !it.is_empty())?;
    Some(answered(&shell, tree()))
}

fn answered(shell: &OsStr, tree: Command) -> anyhow::Result<ExitCode> {
    let shell = shell.to_string_lossy();
    let shells = Shells::builtins();
    let completer = shells.completer(&shell).ok_or_else(|| unknown(&shell))?;
    let mut tree = with_values(tree, "");
    tree.build();
    let here = std::env::current_dir().ok();
    let mut offered = Vec::new();
    completer.write_complete(&mut tree, words().collect(), here.as_deref(), &mut offered)?;
    write_out(&offered)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(shell: &str) -> Blamed {
    Blamed::new(Blame::Input, format!("{VARIABLE}: unknown shell `{shell}`"))
}

/// The words of the command line so far.
fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1)
}

/// The command line with completions for its values; `parent` is the command that `command` belongs to.
fn with_values(command: Command, parent: &str) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match Values::of(parent, &name, &arg) {
        Some(values) => values.offered_for(arg),
        None => arg,
    });
    command.mut_subcommands(|sub| with_values(sub, &name))
}

/// A kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Named servers.
    Servers,
    /// Installed versions.
    Installed,
    /// Versions that are installed or can be installed.
    Versions,
    /// Results directories and run records.
    Results,
    /// Rules of the audit.
    Rules,
    /// Factors with their levels, of the experiment on the command line.
    Levels,
}

impl Values {
    /// The kind of an argument's values; `None` if dbdyno has no names for it.
    fn of(parent: &str, command: &str, arg: &Arg) -> Option<Self> {
        let is_value = |name: &str| {
            arg.get_value_names()
                .is_some_and(|it| it.iter().any(|it| it == name))
        };
        let found = match (parent, command, arg.get_id().as_str()) {
            ("server", "install", "name") => Self::Versions,
            ("server", "uninstall", "name") => Self::Installed,
            ("server", "create" | "check", "name") => return None,
            ("server", _, "name") => Self::Servers,
            (_, _, "server") if is_value("NAME") => Self::Servers,
            ("server", _, "run") => Self::Versions,
            ("dbdyno", "audit", "rule" | "explain") => Self::Rules,
            ("dbdyno", "compare", "a" | "b") => Self::Results,
            ("dbdyno", "run", "only") => Self::Levels,
            _ if is_value("DIR|RECORD") => Self::Results,
            _ => return None,
        };
        Some(found)
    }

    fn offered_for(self, arg: Arg) -> Arg {
        match self {
            // Paths below them and anywhere else.
            Self::Results => arg.add(ArgValueCompleter::new(|typed: &OsStr| {
                let typed_text = typed.to_string_lossy();
                let mut found = results();
                found.retain(|it| it.starts_with(&*typed_text));
                let paths = PathCompleter::any().complete(typed);
                candidates(found)
                    .into_iter()
                    .chain(paths)
                    .collect::<Vec<_>>()
            })),
            known => arg.add(ArgValueCandidates::new(move || candidates(known.names()))),
        }
    }

    /// Their names; empty on errors, because a shell shows no message.
    fn names(self) -> Vec<String> {
        match self {
            Self::Servers => servers(),
            Self::Installed => installed(),
            Self::Versions => {
                let recipes = server::RECIPES.iter().map(|it| it.name.to_owned());
                let mut names: Vec<String> = installed().into_iter().chain(recipes).collect();
                names.sort();
                names.dedup();
                names
            }
            Self::Results => results(),
            Self::Rules => audit::RULES.iter().map(|rule| rule.id.to_owned()).collect(),
            Self::Levels => words()
                .find_map(|word| levels(Path::new(&word)))
                .unwrap_or_default(),
        }
    }
}

fn candidates(names: Vec<String>) -> Vec<CompletionCandidate> {
    names.into_iter().map(CompletionCandidate::new).collect()
}

fn servers() -> Vec<String> {
    let listed = named_server::root()
        .ok()
        .and_then(|root| server::list(&root).ok());
    let listed = listed.into_iter().flatten();
    let names = listed.filter_map(|it| Some(it.path.file_name()?.to_str()?.to_owned()));
    names.collect()
}

fn installed() -> Vec<String> {
    let installed = server::installs_root().and_then(|root| server::installed(&root).ok());
    installed.into_iter().flatten().map(|it| it.name).collect()
}

/// Results such as `results/quick-1` below the working directory.
fn results() -> Vec<String> {
    let entries = fs::read_dir(RESULTS).into_iter().flatten().flatten();
    let directories = entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = directories.filter_map(|it| it.file_name().into_string().ok());
    let mut names: Vec<String> = names.map(|name| format!("{RESULTS}/{name}")).collect();
    names.sort();
    names
}

/// Factor levels of an experiment file, such as `mix=1:0`; `None` for any other file.
fn levels(file: &Path) -> Option<Vec<String>> {
    let text = files::read_regular_text(file, experiment::TEXT_BYTES_MAX).ok()?;
    let experiment = Experiment::parse(file, &text, &Overrides::default(), &VOCABULARY).ok()?;
    let levels = experiment.factors().iter().flat_map(|factor| {
        let levels = factor.levels.iter();
        levels.map(|level| format!("{}={level}", factor.name))
    });
    Some(levels.collect())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::{command_tree::command_tree, commands::Cli};

    #[test]
    fn each_kind_of_value_is_wanted_somewhere() {
        fn wanted(command: &Command, parent: &str, found: &mut Vec<Values>) {
            let values = command
                .get_arguments()
                .filter_map(|arg| Values::of(parent, command.get_name(), arg));
            found.extend(values);
            for sub in command.get_subcommands() {
                wanted(sub, command.get_name(), found);
            }
        }
        let mut found = Vec::new();
        wanted(&command_tree(Cli::command()), "", &mut found);
        use Values::{Installed, Levels, Results, Rules, Servers, Versions};
        for kind in [Servers, Installed, Versions, Results, Rules, Levels] {
            assert!(found.contains(&kind), "{kind:?}");
        }
    }
}
