//! The tables as the article prints them.

use crate::known_table::KnownTable;

/// When the keys beside the primary ones are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyTime {
    /// With the tables, so that each row is put into each of them.
    Before,
    /// When all rows are there.
    After,
}

/// One of the two tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct WikiTable {
    pub(super) name: &'static str,
    columns: &'static [(&'static str, &'static str)],
    primary_key: &'static str,
    /// The other keys.
    keys: &'static [&'static str],
    /// How many of the last of them are made after the rows in any case: with one of `page` its keys are as large as the article's.
    late_keys: usize,
    /// What stands behind the columns.
    options: &'static str,
}

pub(super) const PAGE: WikiTable = WikiTable {
    name: "page",
    columns: &[
        ("page_id", "int(10) unsigned NOT NULL AUTO_INCREMENT"),
        ("page_namespace", "int(11) NOT NULL"),
        (
            "page_title",
            "varchar(255) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL",
        ),
        ("page_restrictions", "tinyblob NOT NULL"),
        ("page_counter", "bigint(20) unsigned NOT NULL DEFAULT '0'"),
        (
            "page_is_redirect",
            "tinyint(3) unsigned NOT NULL DEFAULT '0'",
        ),
        ("page_is_new", "tinyint(3) unsigned NOT NULL DEFAULT '0'"),
        ("page_random", "double unsigned NOT NULL"),
        ("page_touched", BINARY_TIME),
        ("page_latest", "int(10) unsigned NOT NULL"),
        ("page_len", "int(10) unsigned NOT NULL"),
    ],
    primary_key: "page_id",
    keys: &[
        "UNIQUE KEY `name_title` (`page_namespace`,`page_title`)",
        "KEY `page_random` (`page_random`)",
        "KEY `page_len` (`page_len`)",
        "KEY `page_redirect_namespace_len` (`page_is_redirect`,`page_namespace`,`page_len`)",
    ],
    late_keys: 1,
    options: "",
};

pub(super) const REVISION: WikiTable = WikiTable {
    name: "revision",
    columns: &[
        ("rev_id", "int(10) unsigned NOT NULL AUTO_INCREMENT"),
        ("rev_page", "int(10) unsigned NOT NULL"),
        ("rev_text_id", "int(10) unsigned NOT NULL"),
        ("rev_comment", "tinyblob NOT NULL"),
        ("rev_user", "int(10) unsigned NOT NULL DEFAULT '0'"),
        (
            "rev_user_text",
            "varchar(255) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL DEFAULT ''",
        ),
        ("rev_timestamp", BINARY_TIME),
        ("rev_minor_edit", "tinyint(3) unsigned NOT NULL DEFAULT '0'"),
        ("rev_deleted", "tinyint(3) unsigned NOT NULL DEFAULT '0'"),
        ("rev_len", "int(10) unsigned DEFAULT NULL"),
        ("rev_parent_id", "int(10) unsigned DEFAULT NULL"),
        ("rev_sha1", "varbinary(32) NOT NULL DEFAULT ''"),
    ],
    primary_key: "rev_id",
    keys: &[
        "UNIQUE KEY `rev_page_id` (`rev_page`,`rev_id`)",
        "KEY `rev_timestamp` (`rev_timestamp`)",
        "KEY `page_timestamp` (`rev_page`,`rev_timestamp`)",
        "KEY `user_timestamp` (`rev_user`,`rev_timestamp`)",
        "KEY `usertext_timestamp` (`rev_user_text`,`rev_timestamp`)",
        "KEY `page_user_timestamp` (`rev_page`,`rev_user`,`rev_timestamp`)",
    ],
    late_keys: 0,
    options: " MAX_ROWS=10000000 AVG_ROW_LENGTH=1024",
};

const BINARY_TIME: &str = r"binary(14) NOT NULL DEFAULT '\0\0\0\0\0\0\0\0\0\0\0\0\0\0'";

impl WikiTable {
    /// The columns of a row, with commas between them.
    pub(super) fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// `CREATE TABLE`, with the keys that are there before the rows.
    pub(super) fn create(&self, keys: KeyTime) -> String {
        let columns = self.columns.iter();
        let mut parts: Vec<String> = columns
            .map(|(name, kind)| format!("`{name}` {kind}"))
            .collect();
        parts.push(format!("PRIMARY KEY (`{}`)", self.primary_key));
        let (early, _) = self.keys(keys);
        parts.extend(early.iter().map(|key| (*key).to_owned()));
        format!(
            "CREATE TABLE `{}` (\n  {}\n) ENGINE=InnoDB DEFAULT CHARSET=utf8{}",
            self.name,
            parts.join(",\n  "),
            self.options
        )
    }

    /// The statement that makes the keys that are made after the rows.
    pub(super) fn finish(&self, keys: KeyTime) -> Option<String> {
        let (_, late) = self.keys(keys);
        let added: Vec<_> = late.iter().map(|key| format!("ADD {key}")).collect();
        (!added.is_empty()).then(|| format!("ALTER TABLE `{}` {}", self.name, added.join(", ")))
    }

    /// The keys before the rows and those after them.
    fn keys(&self, keys: KeyTime) -> (&'static [&'static str], &'static [&'static str]) {
        match keys {
            KeyTime::Before => self.keys.split_at(self.keys.len() - self.late_keys),
            KeyTime::After => (&[], self.keys),
        }
    }
}

/// The tables as they can be found in a database.
pub fn known_tables() -> Vec<KnownTable> {
    let known =
        |table: WikiTable| KnownTable::new(table.name, table.columns.iter().map(|(name, _)| *name));
    [PAGE, REVISION].into_iter().map(known).collect()
}
