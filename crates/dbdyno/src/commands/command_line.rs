//! A command to repeat, with some of its options set: a seed, its output files, longer runs.

use std::{
    borrow::Cow,
    io::{self, IsTerminal, stdin},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::Duration,
};

use blame::{Blame, Blamed};
use reactor::{Interrupt, wait_for_child};
use report::shell_word;
use results::HIDDEN;
use runs::signals;
use rustix::process::{Pid, Signal, kill_process};

/// A command to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Working directory.
    directory: PathBuf,
    /// Arguments after the program's name.
    arguments: Vec<Argument>,
}

/// An argument as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Argument {
    Given(String),
    /// A password that was not stored, with the text before it: `--password=`, `-p`, or none.
    Hidden(String),
}

impl Argument {
    fn of(stored: &str) -> Self {
        match stored.strip_suffix(HIDDEN) {
            Some(before) => Self::Hidden(before.to_owned()),
            None => Self::Given(stored.to_owned()),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Given(text) => text.into(),
            Self::Hidden(before) => format!("{before}{HIDDEN}").into(),
        }
    }
}

impl CommandLine {
    /// The same command in its directory.
    pub(crate) fn of(directory: &Path, arguments: &[String]) -> Self {
        Self {
            directory: directory.to_owned(),
            arguments: arguments.iter().map(|it| Argument::of(it)).collect(),
        }
    }

    /// Sets an option to another value, under the first of its names.
    pub(crate) fn set(&mut self, names: &[&str], value: &str) {
        self.unset(names);
        let named = names.first().map(|name| format!("{name}={value}"));
        self.add(named);
    }

    /// Adds an option without a value.
    pub(crate) fn set_flag(&mut self, name: &str) {
        self.add(Some(name.to_owned()));
    }

    /// Removes an option without a value.
    pub(crate) fn unset_flag(&mut self, name: &str) {
        self.arguments.retain(|argument| argument.text() != name);
    }

    /// Adds an option, if there is one: there are none after `--`.
    fn add(&mut self, option: Option<String>) {
        let end = self.arguments.iter().position(|it| it.text() == "--");
        let at = end.unwrap_or(self.arguments.len());
        self.arguments.splice(at..at, option.map(Argument::Given));
    }

    /// Removes an option with its value.
    pub(crate) fn unset(&mut self, names: &[&str]) {
        let mut kept = Vec::new();
        let mut is_value = false;
        for argument in self.arguments.drain(..) {
            if std::mem::take(&mut is_value) {
                continue;
            }
            let text = argument.text();
            let name = text.split_once('=').map_or(&*text, |(name, _)| name);
            // `-c32` is one word with its value.
            let is_short = |it: &&str| it.len() == 2 && text.starts_with(*it);
            if names.contains(&name) {
                is_value = !text.contains('=')
            } else if !names.iter().any(is_short) {
                kept.push(argument)
            }
        }
        self.arguments = kept;
    }

    /// Replaces a password that was not stored by a file; an error if there is one and no file.
    pub(crate) fn provide_password(&mut self, file: Option<&Path>) -> Result<(), Blamed> {
        let is_hidden = |argument: &Argument| matches!(argument, Argument::Hidden(_));
        if !self.arguments.iter().any(is_hidden) {
            return match file {
                None => Ok(()),
                Some(_) => Err(Blamed::new(
                    Blame::Input,
                    "--password-file: the original command had no password on its command line",
                )),
            };
        }
        let Some(file) = file else {
            let message = format!("{}: its password was not kept", self.in_words());
            let hint = "name a file that contains it with --password-file".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        };
        let file = absolute(file);
        for name in ["--password", "--mysql-password", "-p"] {
            self.drop_option(name);
        }
        let file = format!("--password-file={file}");
        self.arguments.push(Argument::Given(file));
        Ok(())
    }

    /// Removes an option with its hidden value.
    fn drop_option(&mut self, name: &str) {
        let mut kept: Vec<Argument> = Vec::new();
        for argument in self.arguments.drain(..) {
            match &argument {
                Argument::Hidden(before) if before.starts_with(name) => {}
                Argument::Hidden(before)
                    if before.is_empty() && kept.last().is_some_and(|last| last.text() == name) =>
                {
                    kept.pop();
                }
                Argument::Given(_) | Argument::Hidden(_) => kept.push(argument),
            }
        }
        self.arguments = kept;
    }

    /// The command line as a user would type it.
    pub(crate) fn in_words(&self) -> String {
        let words = self.arguments.iter().map(Argument::text);
        let words = words.map(|it| shell_word(&it).into_owned());
        let words: Vec<String> = words.collect();
        format!("dbdyno {}", words.join(" "))
    }

    /// Calls the command; returns its exit code.
    pub(crate) fn call(&self) -> Result<u8, Blamed> {
        let failed =
            |why: String| Blamed::new(Blame::Machine, format!("{}: {why}", self.in_words()));
        if !self.directory.is_dir() {
            let message = format!(
                "{}: the directory in which it was run no longer exists: {}",
                self.in_words(),
                self.directory.display()
            );
            let hint = "the command's relative paths refer to it: create it again, or run the command manually";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(program);
        command
            .args(self.arguments.iter().map(|it| it.text().into_owned()))
            .current_dir(&self.directory);
        // The called command reports the interruption.
        signals::silent_interrupt()?;
        let status = ended(command).map_err(|error| failed(error.to_string()))?;
        match status.code() {
            Some(code) => Ok(code as u8),
            None => Err(failed(status.to_string())),
        }
    }
}

/// Runs a command to its end; a signal received only by this process is forwarded, and the command ends on its own.
fn ended(mut command: Command) -> io::Result<ExitStatus> {
    // A command that prompts for a password must stay in the terminal's group, which receives the terminal's signals.
    let leads_group = !stdin().is_terminal();
    if leads_group {
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let interrupt = Interrupt::of_user();
    if let Some(status) = wait_for_child(&mut child, Some(interrupt), Duration::MAX)? {
        return Ok(status);
    }
    let first = signals::first().and_then(Signal::from_named_raw);
    // A terminal sends no SIGTERM.
    if let Some(signal) = first
        && (leads_group || signal == Signal::TERM)
    {
        kill_process(Pid::from_child(&child), signal)?;
    }
    child.wait()
}

/// The absolute path of a file, for a command that is called in another directory.
pub(crate) fn absolute(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_line(line: &str) -> CommandLine {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        CommandLine::of(Path::new("/home/dba"), &arguments)
    }

    #[test]
    fn an_option_gets_another_value() {
        for (line, expected) in [
            ("oltp read_only run", "oltp read_only run --seed=7"),
            (
                "oltp --seed 3 run --tables=2",
                "oltp run --tables=2 --seed=7",
            ),
            ("oltp --rand-seed=3 run", "oltp run --seed=7"),
            (
                "oltp run --server one --seed=3 --server=two",
                "oltp run --server one --server=two --seed=7",
            ),
            ("quick -s3 -u a", "quick -u a --seed=7"),
            (
                "super-smack a.smack -- -1",
                "super-smack a.smack --seed=7 -- -1",
            ),
        ] {
            let mut command_line = command_line(line);
            command_line.set(&["--seed", "--rand-seed", "-s"], "7");
            assert_eq!(command_line.in_words(), format!("dbdyno {expected}"));
        }
    }

    #[test]
    fn a_password_comes_from_a_file() {
        for line in [
            "quick --password=… --port 1",
            "quick --password … --port 1",
            "quick -p… --port 1",
        ] {
            let mut with_file = command_line(line);
            with_file
                .provide_password(Some(Path::new("/secret")))
                .unwrap();
            assert_eq!(
                with_file.in_words(),
                "dbdyno quick --port 1 --password-file=/secret"
            );
            let refused = command_line(line).provide_password(None).unwrap_err();
            assert!(refused.message.contains("its password was not kept"));
        }
        let mut without = command_line("quick --port 1");
        assert!(without.provide_password(None).is_ok());
        assert!(
            without
                .provide_password(Some(Path::new("/secret")))
                .is_err()
        );
    }
}
