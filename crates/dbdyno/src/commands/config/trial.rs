//! The start of a version with a file that a command of `dbdyno config` has written.

use mycnf::{OptionFile, Target};
use server::{Installation, Trial, try_start};
use units::counted;

/// Whether the version starts with a file on this machine.
#[derive(Debug)]
pub(super) enum Start {
    /// It does, each instance where the file has several.
    Started(Vec<Trial>),
    /// It does not: the server's words, with the instance where the file has several.
    Died(String),
    /// It was not tried: the reason.
    NotTried(String),
}

impl Start {
    /// The reason where the version is not installed.
    pub(super) fn of_missing(target: &Target) -> Self {
        Self::NotTried(format!("{target} is not installed"))
    }

    /// Starts the version with the file, on a data directory of its own.
    pub(super) fn of(installation: &Installation, file: &OptionFile) -> Self {
        let mut trials = Vec::new();
        for server in file.per_server() {
            match try_start(installation, &server.file) {
                Err(error) => return Self::NotTried(error.to_string()),
                Ok(trial) => {
                    if let Some(why) = &trial.failure {
                        let instance = server.instance.map(|group| format!("[{group}]: "));
                        return Self::Died(format!("{}{why}", instance.unwrap_or_default()));
                    }
                    trials.push(trial);
                }
            }
        }
        Self::Started(trials)
    }

    /// Whether the version died with the file.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self, Self::Died(_))
    }

    /// In words: `started here`, `does not start here: ...`, `not tried by starting a server: mysql-8.4 is not installed`. What a trial
    /// does not have is named.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Died(why) => format!("does not start here: {why}"),
            Self::NotTried(why) => format!("not tried by starting a server: {why}"),
            Self::Started(trials) => {
                let mut without: Vec<&str> = Vec::new();
                let names = trials.iter().flat_map(|trial| &trial.left_out);
                for name in names {
                    if !without.contains(&name.as_str()) {
                        without.push(name);
                    }
                }
                let is_smaller = trials.iter().any(|trial| !trial.reduced.is_empty());
                let mut words = "started here".to_owned();
                if is_smaller {
                    words.push_str(", with less memory and disk");
                }
                match without.as_slice() {
                    [] => {}
                    names if names.len() <= SHOWN_MAX => {
                        words.push_str(&format!(", without {}", names.join(", ")));
                    }
                    names => {
                        let lines = counted(names.len(), "option");
                        words.push_str(&format!(", without {lines} that this machine cannot have"));
                    }
                }
                words
            }
        }
    }
}

/// Names of options that fit into the sentence.
const SHOWN_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(left_out: &[&str], reduced: &[&str]) -> Trial {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Trial {
            failure: None,
            left_out: owned(left_out),
            reduced: owned(reduced),
        }
    }

    #[test]
    fn a_start_says_what_it_was_without() {
        for (start, words) in [
            (Start::Started(vec![trial(&[], &[])]), "started here"),
            (
                Start::Started(vec![
                    trial(&["wsrep_on"], &["innodb_buffer_pool_size"]),
                    trial(&["wsrep_on"], &[]),
                ]),
                "started here, with less memory and disk, without wsrep_on",
            ),
            (
                Start::Started(vec![trial(&["a", "b", "c", "d", "e"], &[])]),
                "started here, without 5 options that this machine cannot have",
            ),
            (
                Start::Died("no such plugin".to_owned()),
                "does not start here: no such plugin",
            ),
            (
                Start::of_missing(&Target::parse("mysql-8.4").unwrap()),
                "not tried by starting a server: mysql-8.4 is not installed",
            ),
        ] {
            assert_eq!(start.in_words(), words);
        }
    }
}
