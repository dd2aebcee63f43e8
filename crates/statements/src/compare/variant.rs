//! A variant: what is different on one side of a comparison.

use std::path::{Path, PathBuf};

use server::Settings;
use sqltext::{SqlStatement, statements_of};

use crate::setting::{is_setting, sets_only_the_optimizer};

/// Statements that change a server or its data, by their first word.
const CHANGES: [&str; 13] = [
    "CREATE", "DROP", "ALTER", "RENAME", "TRUNCATE", "ANALYZE", "OPTIMIZE", "INSERT", "REPLACE",
    "UPDATE", "DELETE", "SET", "FLUSH",
];

/// What is different on one side.
#[derive(Debug, Clone, Default)]
pub struct Variant {
    pub name: String,
    /// Its SQL in its order: settings of the session, and what changes the server or its data.
    pub(crate) sql: Vec<SqlStatement>,
    /// Options of the server.
    pub(crate) options: Vec<(String, String)>,
    /// Option file of the server.
    pub(crate) cnf: Option<PathBuf>,
    /// Flavour and version of a server made for it.
    pub(crate) run: Option<String>,
    /// Hints for the optimizer in every statement.
    pub(crate) hints: Vec<String>,
    /// File of other statements for the same results.
    pub(crate) rewrite: Option<PathBuf>,
}

impl Variant {
    /// The statements as they are.
    pub fn baseline() -> Self {
        Self {
            name: "baseline".to_owned(),
            ..Self::default()
        }
    }

    /// A server of a flavour and version, with an option file; its name has both.
    pub fn of_server(run: Option<&str>, cnf: Option<&Path>) -> Self {
        let stem = cnf.and_then(Path::file_stem).map(|it| it.to_string_lossy());
        let parts: Vec<&str> = run.into_iter().chain(stem.as_deref()).collect();
        let plain = |letter: char| if is_of_name(letter) { letter } else { '_' };
        Self {
            name: parts.join("+").chars().map(plain).collect(),
            cnf: cnf.map(Path::to_owned),
            run: run.map(str::to_owned),
            ..Self::default()
        }
    }

    /// Reads `NAME: PART; PART`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form =
            "a variant is NAME: PART; PART, for example 'index: create index i on page (page_len)'";
        let (name, parts) = text.split_once(':').ok_or(form)?;
        let name = name.trim();
        if name.is_empty() || !name.chars().all(is_of_name) {
            return Err(format!("{name:?} is not a name for a variant; {form}"));
        }
        let mut variant = Self {
            name: name.to_owned(),
            ..Self::default()
        };
        let parts = statements_of(name, parts.as_bytes().to_vec());
        let parts = parts.map_err(|error| error.to_string())?;
        if parts.is_empty() {
            return Err(format!("variant {name} changes nothing; {form}"));
        }
        for part in parts {
            variant.add(part)?;
        }
        Ok(variant)
    }

    fn add(&mut self, part: SqlStatement) -> Result<(), String> {
        let text = String::from_utf8_lossy(part.text()).into_owned();
        let argument = || {
            let rest = text.split_once(char::is_whitespace);
            rest.map(|(_, rest)| rest.trim().to_owned())
                .filter(|rest| !rest.is_empty())
        };
        let name = &self.name;
        match part.verb().as_str() {
            "OPTION" => {
                let option = argument()
                    .ok_or("option: its name and value are missing: option NAME=VALUE")?;
                let (option, value) = option.split_once('=').unwrap_or((&option, "1"));
                self.options
                    .push((option.trim().to_owned(), value.trim().to_owned()));
            }
            "HINT" => self
                .hints
                .push(argument().ok_or("hint: the hint is missing: hint NO_INDEX_MERGE(p)")?),
            "REWRITE" if self.rewrite.is_some() => {
                return Err(format!("variant {name} names two files of statements"));
            }
            "REWRITE" => {
                let path = argument().ok_or("rewrite: the file is missing: rewrite FILE")?;
                self.rewrite = Some(PathBuf::from(path));
            }
            verb if is_setting(&part) || CHANGES.contains(&verb) => self.sql.push(part),
            verb => {
                return Err(format!(
                    "variant {name}: {verb} cannot be part of a variant; parts are SQL that changes the session, \
                     the server \
                     or its data, 'option NAME=VALUE', 'hint HINT' and 'rewrite FILE'"
                ));
            }
        }
        Ok(())
    }

    /// Settings of the session, which every session of it needs.
    pub(crate) fn settings(&self) -> impl Iterator<Item = &SqlStatement> {
        self.sql.iter().filter(|it| is_setting(it))
    }

    /// Whether its SQL changes the server or its data.
    pub(crate) fn has_changes(&self) -> bool {
        !self.sql.iter().all(is_setting)
    }

    /// Whether two values have the same order as without it: its SQL makes or drops indexes, or sets something. The type
    /// of a column decides what ORDER BY means: an ENUM is sorted by its list.
    pub(super) fn keeps_order(&self) -> bool {
        const OF_COLUMNS: [&str; 6] = [
            "modify",
            "change",
            "convert",
            "collate",
            "charset",
            "character",
        ];
        let has =
            |part: &SqlStatement, words: &[&str]| words.iter().any(|word| part.has_word(word));
        let is_of_order = |option: &str| option.replace('-', "_") == "max_sort_length";
        let mut options = self.options.iter();
        let keeps = |part: &SqlStatement| match part.verb().as_str() {
            "SET" => !has(
                part,
                &[
                    "names",
                    "max_sort_length",
                    "collation_connection",
                    "charset",
                    "character",
                    "character_set_connection",
                ],
            ),
            "USE" | "ANALYZE" | "OPTIMIZE" | "FLUSH" => true,
            "CREATE" | "DROP" => part.has_word("index"),
            "ALTER" => has(part, &["index", "key"]) && !has(part, &OF_COLUMNS),
            _ => false,
        };
        !options.any(|(option, _)| is_of_order(option)) && self.sql.iter().all(keeps)
    }

    /// Whether it changes only how rows are found: its SQL makes or drops indexes or sets the optimizer, or it has hints.
    pub(super) fn changes_only_access(&self) -> bool {
        // Those that change indexes are what else keeps the order.
        let is_of_access = |part: &SqlStatement| match part.verb().as_str() {
            "SET" | "USE" => sets_only_the_optimizer(part),
            _ => true,
        };
        let is_own = self.rewrite.is_none() && self.cnf.is_none() && self.run.is_none();
        is_own && self.options.is_empty() && self.keeps_order() && self.sql.iter().all(is_of_access)
    }

    /// Whether it needs a server of its own.
    pub(crate) fn changes_server(&self) -> bool {
        self.has_changes() || !self.options.is_empty() || self.cnf.is_some() || self.run.is_some()
    }

    pub(super) fn server_settings(&self) -> Settings {
        Settings {
            cnf: self.cnf.iter().cloned().collect(),
            set: self.options.iter().cloned().collect(),
            ..Settings::default()
        }
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart() {
        let variant = Variant::parse(
            "all: set optimizer_switch='mrr=off;'; create index i on t (a); analyze table t; option tmp_table_size = 64M; \
             hint BKA(t); rewrite other.sql; set global max_heap_table_size = 1",
        );
        let variant = variant.unwrap();
        let verbs: Vec<String> = variant.sql.iter().map(SqlStatement::verb).collect();
        assert_eq!(verbs, ["SET", "CREATE", "ANALYZE", "SET"]);
        assert_eq!(
            (variant.name.as_str(), variant.settings().count()),
            ("all", 1)
        );
        let option = ("tmp_table_size".to_owned(), "64M".to_owned());
        assert_eq!(variant.options, [option]);
        assert_eq!(variant.hints, ["BKA(t)"]);
        assert_eq!(variant.rewrite, Some("other.sql".into()));
        assert!(variant.changes_server());
        let session = Variant::parse("off: set sort_buffer_size = 1").unwrap();
        assert!(!session.changes_server());
    }

    #[test]
    fn a_column_with_another_type_may_have_another_order() {
        for (parts, keeps) in [
            ("create unique index i on t (a); analyze table t", true),
            ("alter table t add key (a), drop index b", true),
            ("set sort_buffer_size = 1", true),
            ("set max_sort_length = 4", false),
            ("set collation_connection = utf8mb4_bin", false),
            ("set character set latin1", false),
            ("option max-sort-length = 4", false),
            ("option sort_buffer_size = 4M", true),
            ("alter table t modify state enum('b', 'a')", false),
            (
                "alter table t add index (a), convert to character set latin1",
                false,
            ),
            ("update t set a = 1", false),
            ("create table u (a int)", false),
        ] {
            let variant = Variant::parse(&format!("v: {parts}")).unwrap();
            assert_eq!(variant.keeps_order(), keeps, "{parts}");
        }
    }

    #[test]
    fn an_index_or_a_switch_of_the_optimizer_changes_only_the_access() {
        for (parts, is_only) in [
            ("create index i on t (a)", true),
            ("set optimizer_switch = 'mrr=off'", true),
            ("SET SESSION OPTIMIZER_SWITCH = 'mrr=off'", true),
            (
                "set optimizer_switch = 'mrr=off', @@optimizer_prune_level := 0",
                true,
            ),
            ("set @optimizer_a = 1", false),
            ("set lc_time_names = 'de_DE'", false),
            ("set global optimizer_switch = 'mrr=off'", true),
            ("set @@global.optimizer_prune_level = 0", true),
            ("set global lc_time_names = 'de_DE'", false),
            (
                "set optimizer_switch = 'mrr=off', lc_time_names = 'de_DE'",
                false,
            ),
            (
                "set @optimizer_ = concat('a', 'b'), optimizer_switch = default",
                false,
            ),
            ("use other", false),
            ("option sort_buffer_size = 4M", false),
            ("alter table t modify a bigint", false),
        ] {
            let variant = Variant::parse(&format!("v: {parts}")).unwrap();
            assert_eq!(variant.changes_only_access(), is_only, "{parts}");
        }
    }

    #[test]
    fn a_variant_is_named_for_its_server() {
        let (run, cnf) = (Some("mysql-8.0.33"), Some(Path::new("a/my new.cnf")));
        let names = [(run, None), (None, cnf), (run, cnf)].map(|(run, cnf)| {
            let variant = Variant::of_server(run, cnf);
            assert!(variant.changes_server());
            variant.name
        });
        assert_eq!(names, ["mysql-8.0.33", "my_new", "mysql-8.0.33+my_new"]);
    }

    #[test]
    fn what_is_no_variant_is_refused_with_the_form() {
        for (text, message) in [
            ("set a = 1", "a variant is NAME: PART"),
            ("a b: set a = 1", "\"a b\" is not a name for a variant"),
            ("a:", "variant a changes nothing"),
            ("a: select 1", "SELECT cannot be part of a variant"),
            ("a: hint", "hint: the hint is missing"),
            ("a: rewrite x; rewrite y", "two files"),
            ("a: set b = 'x", "a quotation is not closed"),
        ] {
            let error = Variant::parse(text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
