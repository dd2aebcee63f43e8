//! The origin of an experiment's results: its file at that time, and every command that worked on the results.
//!
//! It is stored as `origin.json` in the results directory, for example
//! ```json
//! {"format":1,"experiment":"/home/dba/trial.toml","commands":[{"at":"2026-11-22T06:09:46Z","dbdyno_version":"0.1.0",
//!  "directory":"/home/dba","arguments":["run","trial.toml","--scale","0.05"],"took_s":612.4,"time_is_spent":false}]}
//! ```

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use blame::{Blame, Blamed};
use serde::{Deserialize, Serialize};

pub(crate) const FILE: &str = "origin.json";
const FORMAT: u32 = 1;
/// Replaces a password.
pub const HIDDEN: &str = "…";

/// The origin of an experiment's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    format: u32,
    /// Path of the experiment's file.
    pub experiment: PathBuf,
    /// Commands that worked on the results, in order of time.
    pub commands: Vec<Command>,
}

/// One call of dbdyno.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Start time, UTC, RFC 3339.
    pub at: String,
    pub dbdyno_version: String,
    pub directory: PathBuf,
    /// Arguments, without any password.
    pub arguments: Vec<String>,
    /// Duration of its runs with all preparation, seconds; 0 if it was killed.
    #[serde(default)]
    pub took_s: f64,
    /// True if it ended because its time budget was spent.
    #[serde(default)]
    pub time_is_spent: bool,
}

impl Command {
    fn this_one() -> Self {
        Self {
            at: now(),
            dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            directory: std::env::current_dir().unwrap_or_default(),
            // Results of experiments are written by commands of dbdyno only, and never by a tool of another name.
            arguments: arguments([]),
            took_s: 0.0,
            time_is_spent: false,
        }
    }

    /// The command line as typed.
    pub fn in_words(&self) -> String {
        format!("dbdyno {}", self.arguments.join(" "))
    }
}

impl Origin {
    /// Records that this process works on the results in a directory; creates the origin if it does not exist.
    pub fn note(results_dir: &Path, experiment: &Path) -> Result<(), Blamed> {
        let path = results_dir.join(FILE);
        let mut origin = if path.exists() {
            Self::read(results_dir)?
        } else {
            return Self::first(experiment).write(&path);
        };
        origin.commands.push(Command::this_one());
        origin.write(&path)
    }

    /// The origin of new results of this process.
    pub fn first(experiment: &Path) -> Self {
        Self {
            format: FORMAT,
            experiment: std::path::absolute(experiment).unwrap_or(experiment.to_owned()),
            commands: vec![Command::this_one()],
        }
    }

    /// Records the duration of the last command's runs, and whether the time budget is spent.
    pub fn note_end(results_dir: &Path, took: Duration, time_is_spent: bool) -> Result<(), Blamed> {
        let mut origin = Self::read(results_dir)?;
        if let Some(last) = origin.commands.last_mut() {
            last.took_s = took.as_secs_f64();
            last.time_is_spent = time_is_spent;
        }
        origin.write(&results_dir.join(FILE))
    }

    /// Total duration of all runs so far.
    pub fn took(&self) -> Duration {
        let all_s: f64 = self.commands.iter().map(|command| command.took_s).sum();
        Duration::try_from_secs_f64(all_s).unwrap_or_default()
    }

    /// True if the last command ended because its time budget was spent.
    pub fn time_is_spent(&self) -> bool {
        self.commands
            .last()
            .is_some_and(|command| command.time_is_spent)
    }

    /// The content of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain fields always serialise") + "\n"
    }

    fn write(&self, path: &Path) -> Result<(), Blamed> {
        files::replace(path, self.text().as_bytes()).map_err(Blamed::machine)
    }

    /// The origin of the results in a directory.
    pub fn read(results_dir: &Path) -> Result<Self, Blamed> {
        let path = results_dir.join(FILE);
        let wrong = |why: String| Blamed::new(Blame::Input, format!("{}: {why}", path.display()));
        let text = files::read_regular_text(&path, experiment::TEXT_BYTES_MAX);
        let text = text.map_err(|error| wrong(error.to_string()))?;
        let origin: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match origin.format {
            FORMAT => Ok(origin),
            found => Err(wrong(format!(
                "format {found}; this program reads {FORMAT}"
            ))),
        }
    }

    /// True where the directory has one.
    pub fn is_in(results_dir: &Path) -> bool {
        results_dir.join(FILE).exists()
    }
}

/// The current time, UTC, RFC 3339.
pub(crate) fn now() -> String {
    jiff::Timestamp::try_from(reactor::wall_now())
        .map(|now| now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}

/// Short options without a value.
const SWITCHES: [char; 6] = ['?', 'V', 'a', 's', 'v', 'C'];

/// The arguments of this command, without any password. If it was called by the name of one of these tools, that name is
/// the first one.
pub fn arguments(tools: impl IntoIterator<Item = &'static str>) -> Vec<String> {
    let mut arguments = std::env::args_os();
    let program = arguments.next().unwrap_or_default();
    let program = Path::new(&program).file_name().unwrap_or_default();
    let program = program.to_string_lossy().into_owned();
    let called_by_name = Some(program).filter(|name| tools.into_iter().any(|tool| tool == name));
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    without_passwords(called_by_name.into_iter().chain(arguments))
}

/// Hides the password after `-p`, which short options without a value may precede: `-asphare`.
fn without_short(argument: &str) -> Option<String> {
    let letters = argument.strip_prefix('-')?;
    let at = letters.find(|letter: char| !SWITCHES.contains(&letter))?;
    let password = letters[at..].strip_prefix('p')?;
    let kept = &argument[..argument.len() - password.len()];
    (!password.is_empty()).then(|| format!("{kept}{HIDDEN}"))
}

/// Hides the password after `=`; mysqlslap also accepts abbreviated option names.
fn without_long(argument: &str) -> Option<String> {
    let (name, _) = argument.split_once('=')?;
    let is_short_form = name.len() >= "--pas".len() && "--password1".starts_with(name);
    let is_named = name == "--mysql-password" || is_short_form;
    is_named.then(|| format!("{name}={HIDDEN}"))
}

/// The arguments without passwords, because the results may be shared.
fn without_passwords(arguments: impl Iterator<Item = String>) -> Vec<String> {
    const OPTIONS: [&str; 2] = ["--password", "--mysql-password"];
    const SHORT: &str = "-p";
    let mut kept: Vec<String> = Vec::new();
    for argument in arguments {
        let follows = kept
            .last()
            .is_some_and(|last| OPTIONS.contains(&last.as_str()) || last == SHORT);
        kept.push(
            match without_long(&argument).or_else(|| without_short(&argument)) {
                _ if follows => HIDDEN.to_owned(),
                Some(without) => without,
                None => argument,
            },
        );
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_left_out() {
        let line = "quick --password=hare --password hare -phare -p hare --password-file p --port 1 --mysql-password=hare \
                    --passw=hare --password1=hare -asphare -P1 -a";
        let kept = without_passwords(line.split(' ').map(str::to_owned));
        assert_eq!(
            kept.join(" "),
            "quick --password=… --password … -p… -p … --password-file p --port 1 --mysql-password=… \
             --passw=… --password1=… -asp… -P1 -a"
        );
    }

    #[test]
    fn each_command_is_noted() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!Origin::is_in(directory.path()));
        Origin::note(directory.path(), Path::new("trial.toml")).unwrap();
        Origin::note(directory.path(), Path::new("other.toml")).unwrap();
        let origin = Origin::read(directory.path()).unwrap();
        assert_eq!(origin.commands.len(), 2);
        assert!(!origin.time_is_spent() && origin.took().is_zero());
        Origin::note_end(directory.path(), Duration::from_secs(90), true).unwrap();
        let ended = Origin::read(directory.path()).unwrap();
        assert!(ended.time_is_spent() && ended.took() == Duration::from_secs(90));
        assert!(origin.experiment.is_absolute() && origin.experiment.ends_with("trial.toml"));
        std::fs::write(directory.path().join(FILE), "{\"format\":2}").unwrap();
        assert!(Origin::read(directory.path()).is_err());
    }
}
