//! What varies in a comparison: an option's values, versions, option files, SQL, or the server.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use runs::named_server;

use crate::commands::{log_switches::variable_name, option_value::is_same_value};

/// Characters of a statement in a level's name.
const LABEL_CHARS: usize = 40;

/// A factor with its levels; the first is the baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Factor {
    /// The option of the command line, for errors: `--set sync_binlog`.
    pub(super) option: String,
    pub(super) kind: Kind,
    pub(super) levels: Vec<Level>,
}

/// What a factor changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// The server's option of this name.
    Setting(String),
    Version,
    OptionFile,
    Sql,
    /// Servers that are there, which are neither restarted nor changed.
    Server,
}

/// A level: its name, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) label: String,
    pub(super) value: String,
}

impl Factor {
    fn new(option: String, kind: Kind, levels: Vec<String>) -> Self {
        let levels = levels.into_iter().map(|value| Level {
            label: match value.as_str() {
                // In a sentence, a level without a name would be a gap.
                "" => "(empty)".to_owned(),
                named => named.to_owned(),
            },
            value,
        });
        Self {
            option,
            kind,
            levels: levels.collect(),
        }
    }

    /// The statements, each a level besides that of none; `None` if there are none.
    pub(super) fn of_sql(statements: &[String]) -> Option<Self> {
        let without = Level {
            label: "without".to_owned(),
            // A statement that does nothing.
            value: "DO 0".to_owned(),
        };
        let label = |sql: &String| match statements {
            [_] => "with".to_owned(),
            _ => {
                let words: Vec<&str> = sql.split_whitespace().collect();
                words.join(" ").chars().take(LABEL_CHARS).collect()
            }
        };
        let with = statements.iter().map(|sql| Level {
            label: label(sql),
            value: sql.clone(),
        });
        (!statements.is_empty()).then(|| Self {
            option: "--sql".to_owned(),
            kind: Kind::Sql,
            levels: std::iter::once(without).chain(with).collect(),
        })
    }

    pub(super) fn varies(&self) -> bool {
        self.levels.len() > 1
    }

    /// The factor's name in the experiment.
    pub(super) fn name(&self) -> String {
        match &self.kind {
            // A factor's name has no dot.
            Kind::Setting(name) => name.replace('.', "_"),
            Kind::Version => "version".to_owned(),
            Kind::OptionFile => "cnf".to_owned(),
            Kind::Sql => "sql".to_owned(),
            Kind::Server => "server".to_owned(),
        }
    }

    /// The option with two levels.
    pub(super) fn example(&self) -> String {
        let first = self.levels.first().map_or("", |level| &level.label);
        match &self.kind {
            Kind::Setting(name) => format!("--set {name}={first},OTHER"),
            Kind::Version => "--run mysql-8.0.33,mariadb-10.11".to_owned(),
            Kind::OptionFile => "--cnf a.cnf,b.cnf".to_owned(),
            Kind::Sql => "--sql 'CREATE INDEX ...'".to_owned(),
            Kind::Server => format!("{} {first},OTHER", self.option),
        }
    }

    /// An error for a level that is named twice, or for two values that mean the same.
    pub(super) fn check(&self) -> Result<(), Blamed> {
        for (at, level) in self.levels.iter().enumerate() {
            let mut others = self.levels[..at].iter();
            let Some(other) = others.find(|it| self.is_same(it, level)) else {
                continue;
            };
            let message = if other.label == level.label {
                format!("{} has the level {:?} twice", self.option, level.label)
            } else {
                format!(
                    "{} has the same value twice: {:?} and {:?}",
                    self.option, other.label, level.label
                )
            };
            return Err(Blamed::new(Blame::Input, message));
        }
        Ok(())
    }

    /// Whether both levels are the same: by their names, and of an option by their values.
    fn is_same(&self, one: &Level, other: &Level) -> bool {
        match &self.kind {
            Kind::Setting(name) => is_same_value(name, &one.value, &other.value),
            _ => one.label == other.label,
        }
    }

    /// Whether both change the same thing; an option can be written with dashes and with underscores.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        let is_same_option = match (&self.kind, &other.kind) {
            (Kind::Setting(one), Kind::Setting(other)) => {
                variable_name(one) == variable_name(other)
            }
            _ => false,
        };
        is_same_option || self.name() == other.name()
    }
}

/// How many combinations the levels of these factors have.
pub(super) fn combinations<'f>(factors: impl Iterator<Item = &'f Factor>) -> u64 {
    factors.map(|it| it.levels.len().max(1) as u64).product()
}

/// Parses `sync_binlog=0,1`.
pub(super) fn setting(text: &str) -> Result<Factor, String> {
    let (name, values) = text.split_once('=').unwrap_or((text, ""));
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.'));
    if !is_name || !text.contains('=') {
        return Err("an option and its values, such as sync_binlog=0,1".to_owned());
    }
    let kind = Kind::Setting(name.to_owned());
    Ok(Factor::new(format!("--set {name}"), kind, levels(values)?))
}

/// Parses `mysql-8.0.33,mariadb-10.11`.
pub(super) fn versions(text: &str) -> Result<Factor, String> {
    let levels = named_levels(text, "versions such as mysql-8.0.33,mariadb-10.11")?;
    Ok(Factor::new("--run".to_owned(), Kind::Version, levels))
}

/// Parses `one,two`, names of private servers; the levels stand for their addresses.
pub(super) fn named_servers(text: &str) -> Result<Factor, String> {
    let levels = named_levels(text, "names of servers such as one,two")?;
    let mut factor = Factor::new("--server".to_owned(), Kind::Server, levels);
    for level in &mut factor.levels {
        let endpoint = named_server::endpoint(&level.label).map_err(|error| error.message)?;
        level.value = endpoint.address.to_string();
    }
    Ok(factor)
}

/// Parses `db1,db2:3307,/run/mysqld/mysqld.sock`.
pub(super) fn hosts(text: &str) -> Result<Factor, String> {
    let levels = named_levels(text, "hosts such as db1,db2:3307")?;
    Ok(Factor::new("--host".to_owned(), Kind::Server, levels))
}

/// Parses `a.cnf,b.cnf`; the levels stand for whole paths.
pub(super) fn option_files(text: &str) -> Result<Factor, String> {
    let mut factor = Factor::new("--cnf".to_owned(), Kind::OptionFile, levels(text)?);
    for level in &mut factor.levels {
        if level.value.is_empty() {
            return Err("option files such as a.cnf,b.cnf".to_owned());
        }
        level.value = whole_path(Path::new(&level.label))?;
        check_file(Path::new(&level.label))?;
    }
    Ok(factor)
}

/// Parses the path of a file that is there, as an experiment file in any directory names it.
pub(super) fn file(text: &str) -> Result<String, String> {
    check_file(Path::new(text))?;
    whole_path(Path::new(text))
}

/// An error for a file that cannot be read.
pub(super) fn check_file(path: &Path) -> Result<(), String> {
    let opened = files::open_regular(path);
    opened
        .map(drop)
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// The path as an experiment file in any directory names it.
pub(super) fn whole_path(path: &Path) -> Result<String, String> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let whole: PathBuf = std::path::absolute(path).map_err(|error| named(&error))?;
    match whole.into_os_string().into_string() {
        Ok(whole) => Ok(whole),
        Err(_) => Err(named(
            &"its name is not UTF-8, so an experiment file cannot contain it",
        )),
    }
}

/// The values between commas; one in double quotes may have commas itself.
fn levels(text: &str) -> Result<Vec<String>, String> {
    let mut levels = vec![String::new()];
    let mut is_quoted = false;
    for character in text.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => levels.push(String::new()),
            _ => levels.last_mut().expect("there is one").push(character),
        }
    }
    if is_quoted {
        return Err("a double quote is not closed".to_owned());
    }
    Ok(levels)
}

/// Levels of which each has a name; the error says what they are.
fn named_levels(text: &str, such_as: &str) -> Result<Vec<String>, String> {
    let levels = levels(text)?;
    if levels.iter().any(String::is_empty) {
        return Err(such_as.to_owned());
    }
    Ok(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_by_name_needs_a_name() {
        type Parse = fn(&str) -> Result<Factor, String>;
        for (parse, such_as) in [
            (versions as Parse, "versions such"),
            (hosts as Parse, "hosts such"),
            (named_servers as Parse, "names of servers such"),
        ] {
            let error = parse("one,").unwrap_err();
            assert!(error.starts_with(such_as), "{error}");
        }
    }

    #[test]
    fn one_value_in_two_forms_is_an_error() {
        let message = |text: &str| {
            let checked = setting(text).unwrap().check();
            checked.err().map(|error| error.message)
        };
        for (text, expected) in [
            (
                "a=64M,67108864",
                "--set a has the same value twice: \"64M\" and \"67108864\"",
            ),
            (
                "a=1,2,01",
                "--set a has the same value twice: \"1\" and \"01\"",
            ),
            (
                "a=ON,1",
                "--set a has the same value twice: \"ON\" and \"1\"",
            ),
            (
                "innodb-flush-method=O_DIRECT,o_direct",
                "--set innodb-flush-method has the same value twice: \"O_DIRECT\" and \"o_direct\"",
            ),
            ("a=1,1", "--set a has the level \"1\" twice"),
        ] {
            assert_eq!(message(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "a=64M,64K",
            "a=0,1",
            "a=ON,OFF",
            "a=,0",
            "tmpdir=/tmp/a,/tmp/A",
        ] {
            assert_eq!(message(text), None, "{text}");
        }
    }

    #[test]
    fn an_option_has_dashes_or_underscores() {
        let is_of_same = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| setting(text).unwrap());
            one.is_of_same(&other)
        };
        assert!(is_of_same("sync-binlog=0,1", "sync_binlog=2,3"));
        assert!(!is_of_same("sync_binlog=0,1", "log_bin=b"));
    }

    #[test]
    fn values_stand_between_commas() {
        let values = |text: &str| {
            let levels = setting(text)?.levels.into_iter();
            Ok::<_, String>(levels.map(|level| level.value).collect::<Vec<_>>())
        };
        for (text, expected) in [
            ("sync_binlog=0,1", &["0", "1"][..]),
            (
                "sql_mode=,\"ANSI,ONLY_FULL_GROUP_BY\"",
                &["", "ANSI,ONLY_FULL_GROUP_BY"],
            ),
            ("init_connect=SET @a=1", &["SET @a=1"]),
        ] {
            assert_eq!(values(text).unwrap(), expected, "{text}");
        }
        for text in ["sync_binlog", "=1", "1a=2", "a=\"1"] {
            assert!(values(text).is_err(), "{text}");
        }
        let levels = setting("sql_mode=\"\",ANSI").unwrap().levels;
        let labels: Vec<&str> = levels.iter().map(|level| level.label.as_str()).collect();
        assert_eq!(labels, ["(empty)", "ANSI"]);
    }
}
