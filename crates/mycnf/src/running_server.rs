//! A running server as plain values: its variables and its counters.

use std::collections::BTreeMap;

use crate::assignment::is_same_setting;
use crate::catalogue::{Kind, Product};
use crate::counters::Counters;
use crate::file::OptionFile;
use crate::name::OptionName;
use crate::target::Target;

/// What a running server says of itself; whoever calls the rules reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningServer {
    /// The result of SHOW GLOBAL VARIABLES.
    pub variables: BTreeMap<String, String>,
    /// Its counters; `None` if they could not be read.
    pub counters: Option<Counters>,
}

/// Variables without a common default that rules judge as if they were set.
const JUDGED_WITHOUT_DEFAULT: [&str; 3] = ["bind_address", "secure_file_priv", "tmpdir"];

impl RunningServer {
    /// The version and make of server in its variables; `None` if it names none that is understood.
    pub fn target(&self) -> Option<Target> {
        target_of_variables(&self.variables)
    }

    /// The variables that differ from the version's defaults, as the lines of a file. A variable that is no option, or
    /// whose default depends on the machine, is no line: it may never have been set.
    pub(crate) fn changed(&self, target: &Target) -> OptionFile {
        let catalogue = target.catalogue();
        let mut file = OptionFile::default();
        for (name, value) in &self.variables {
            let option = catalogue.find(&OptionName::new(name));
            let is_option = option.is_some_and(|option| {
                option.name == name && !matches!(option.kind, Kind::VariableOnly | Kind::NoEffect)
            });
            let is_changed = match catalogue.default_value(name) {
                Some(default) => !is_same_setting(name, default, value),
                None => JUDGED_WITHOUT_DEFAULT.contains(&name.as_str()),
            };
            if is_option && is_changed {
                // A value that no file can hold, such as one with a line feed, is judged as a variable only.
                let _ = file.push("mysqld", name, Some(value.clone()));
            }
        }
        file
    }
}

/// The version and make of server that variables name; `None` if they name none that is understood.
pub fn target_of_variables(variables: &BTreeMap<String, String>) -> Option<Target> {
    let text = variables.get("version")?;
    let comment = variables.get("version_comment");
    let names = |word: &str| {
        let mut texts = [Some(text), comment].into_iter().flatten();
        texts.any(|text| text.to_ascii_lowercase().contains(word))
    };
    let target = Target::parse(text).ok()?;
    let product = if names("mariadb") {
        Product::MariaDb
    } else if names("percona") {
        Product::Percona
    } else {
        Product::MySql
    };
    Some(Target::new(product, target.numbers()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_names_its_maker_in_its_comment() {
        for (version, comment, target) in [
            (
                "8.0.36-28",
                "Percona Server (GPL), Release 28",
                Some("percona-8.0.36"),
            ),
            (
                "8.0.33",
                "MySQL Community Server - GPL",
                Some("mysql-8.0.33"),
            ),
            (
                "10.11.19-MariaDB-0+deb12u1",
                "Debian 12",
                Some("mariadb-10.11.19"),
            ),
            ("11.4.5", "MariaDB Server", Some("mariadb-11.4.5")),
            ("none", "", None),
        ] {
            let variables = [("version", version), ("version_comment", comment)];
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let found = target_of_variables(&variables.into());
            let found = found.map(|found| found.to_string());
            assert_eq!(found.as_deref(), target, "{version} {comment}");
        }
    }
}
