//! Settings of which a server's check of options had nothing to say, kept so that they are checked once: the check starts
//! the binary, which takes as long as half a start of the server (MySQL 8: several times as long).
//!
//! Only settings without files, directories and plugins are kept, because those may be there today and not tomorrow.

use std::path::Path;

use mycnf::{OptionName, loads_plugins};
use rustix::process::{Resource, getrlimit};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::configuration::Settings;
use crate::installation::Installation;
use crate::installation::answer_file::AnswerFile;
use crate::installation::build::Build;
use crate::process::launch::Launch;
use crate::snapshot::digest::hexadecimal;

/// Number of settings that are kept for a binary, the latest ones.
const KEPT_MAX: usize = 256;

/// Settings for a server build, whether they are known to be accepted or not.
pub(crate) struct AcceptedSettings {
    file: AnswerFile,
    /// A digest of the settings and of all that the answer depends on.
    key: String,
}

/// What the answer depends on beside the settings.
#[derive(Serialize)]
struct Checker<'a> {
    server: Build,
    launch: &'a Launch,
    /// This program, whose rules are part of the check.
    program: Build,
    /// The server lowers options that the limit of open files does not allow.
    open_files: Option<u64>,
}

impl AcceptedSettings {
    /// `None` where the settings have to be checked each time.
    pub(crate) fn of(
        root: &Path,
        installation: &Installation,
        settings: &Settings,
    ) -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let checker = Checker {
            server: Build::of(&installation.mysqld)?,
            launch: installation.launch(),
            program: Build::of(&program)?,
            open_files: getrlimit(Resource::Nofile).current,
        };
        Some(Self {
            file: AnswerFile::of(root, &installation.mysqld)?,
            key: key(&checker, settings)?,
        })
    }

    /// Whether the check had nothing to say of them.
    pub(crate) fn is_known(&self) -> bool {
        self.kept().contains(&self.key)
    }

    /// Remembers that the check had nothing to say.
    pub(crate) fn keep(self) {
        let mut keys = self.kept();
        let oldest = (keys.len() + 1).saturating_sub(KEPT_MAX);
        keys.drain(..oldest);
        keys.push(self.key);
        self.file.write(&keys);
    }

    /// The latest at the end.
    fn kept(&self) -> Vec<String> {
        self.file.read().unwrap_or_default()
    }
}

/// `None` for settings that name files or directories, or load plugins: their libraries may be packages of their own.
fn key(checker: &Checker, settings: &Settings) -> Option<String> {
    let names_file = |(option, value): (&String, &String)| {
        value.contains('/') || loads_plugins(&OptionName::new(option))
    };
    if !settings.cnf.is_empty() || settings.set.iter().any(names_file) {
        return None;
    }
    let asked = serde_json::to_vec(&(checker, settings.defaults, &settings.set));
    let asked = asked.expect("texts and numbers are JSON");
    Some(hexadecimal(&Sha256::digest(asked)[..16]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::version::Flavour;

    fn settings(set: &[(&str, &str)]) -> Settings {
        let set = set.iter();
        Settings {
            set: set
                .map(|(option, value)| ((*option).to_owned(), (*value).to_owned()))
                .collect(),
            ..Settings::default()
        }
    }

    #[test]
    fn settings_are_known_to_the_build_that_accepted_them() {
        let dir = tempfile::tempdir().unwrap();
        let mysqld = dir.path().join("mysqld");
        let known = |settings: &Settings| {
            let installation = Installation::remembered(
                &mysqld,
                dir.path(),
                Flavour::MariaDb,
                "10.11.19-MariaDB",
                &Launch::default(),
            );
            AcceptedSettings::of(
                &dir.path().join("options"),
                &installation.unwrap(),
                settings,
            )
        };
        let one = settings(&[("max_connections", "10")]);
        let other = settings(&[("max_connections", "20")]);
        fs::write(&mysqld, b"#!/bin/sh\n").unwrap();
        assert!(known(&one).is_none(), "a script is asked each time");
        fs::write(&mysqld, b"\x7fELF").unwrap();
        assert!(!known(&one).unwrap().is_known());
        known(&one).unwrap().keep();
        assert!(known(&one).unwrap().is_known());
        assert!(!known(&other).unwrap().is_known());
        known(&other).unwrap().keep();
        assert!(known(&one).unwrap().is_known() && known(&other).unwrap().is_known());
        for number in 0..KEPT_MAX {
            let many = settings(&[("max_connections", &format!("9{number}"))]);
            known(&many).unwrap().keep();
        }
        assert!(!known(&one).unwrap().is_known(), "only so many are kept");
        fs::write(&mysqld, b"\x7fELF of another length").unwrap();
        assert!(
            !known(&settings(&[("max_connections", "9255")]))
                .unwrap()
                .is_known()
        );
    }

    #[test]
    fn settings_with_files_are_checked_each_time() {
        let checker = Checker {
            server: Build::of(Path::new("/")).unwrap(),
            launch: &Launch::default(),
            program: Build::of(Path::new("/")).unwrap(),
            open_files: None,
        };
        let max_connections = settings(&[("max_connections", "10")]);
        assert!(key(&checker, &max_connections).is_some());
        for (option, value) in [
            ("tmpdir", "/var/tmp"),
            ("plugin-load-add", "ha_rocksdb"),
            ("loose_plugin_load", "auth_socket.so"),
        ] {
            assert_eq!(key(&checker, &settings(&[(option, value)])), None);
        }
        let with_file = Settings {
            cnf: vec![PathBuf::from("my.cnf")],
            ..Settings::default()
        };
        assert_eq!(key(&checker, &with_file), None);
    }
}
