//! A benchmark's table: its name, and the columns that distinguish it from an unrelated table of the same name.

use sqltext::{ExecutedTokens, Quoting, TokenKind};

/// Column that MySQL adds to a table without a primary key where `sql_generate_invisible_primary_key` is on.
const GENERATED_KEY: &str = "my_row_id";

/// A table of a benchmark, as found in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTable {
    pub name: String,
    /// The column lists that it can have, such as `id, k, c, pad`: one for each variant of the table.
    pub layouts: Vec<String>,
}

impl KnownTable {
    /// A table that is always created with the same columns.
    pub fn new(name: &str, columns: impl IntoIterator<Item = &'static str>) -> Self {
        let columns: Vec<_> = columns.into_iter().collect();
        Self {
            name: name.to_owned(),
            layouts: vec![columns.join(", ")],
        }
    }

    /// The table that this CREATE TABLE creates. If the statement lists no columns, no table is recognised as this one.
    pub fn created_by(name: &str, statement: &[u8]) -> Self {
        let columns = columns_of(statement);
        Self {
            name: name.to_owned(),
            layouts: columns
                .map(|columns| columns.join(", "))
                .into_iter()
                .collect(),
        }
    }

    /// True where a table of this name with these columns is the benchmark's. Their order is ignored: other programs
    /// for the same benchmark use a different one.
    pub fn has_layout(&self, columns: &[String]) -> bool {
        let columns = columns.iter().map(|column| column.to_lowercase());
        let mut columns: Vec<_> = columns.filter(|name| name != GENERATED_KEY).collect();
        columns.sort_unstable();
        self.layouts.iter().any(|layout| {
            let layout = layout.to_lowercase();
            let mut layout: Vec<_> = layout.split(", ").collect();
            layout.sort_unstable();
            layout == columns
        })
    }
}

/// First words of the items of a CREATE TABLE that are not columns.
const NO_COLUMNS: [&str; 10] = [
    "primary",
    "key",
    "index",
    "unique",
    "constraint",
    "fulltext",
    "spatial",
    "foreign",
    "check",
    "like",
];

/// The columns listed by a CREATE TABLE: `id, pass` of `create table t (id int, pass char(10), key (id))`.
fn columns_of(statement: &[u8]) -> Option<Vec<String>> {
    let mut tokens = ExecutedTokens::of(statement, Quoting::default());
    tokens.find(|token| token.is_sign(b'('))?;
    let mut columns = Vec::new();
    let (mut depth, mut begins_item) = (0_u32, true);
    for token in tokens {
        let is_name = match token.kind {
            TokenKind::Name => true,
            TokenKind::Word => !NO_COLUMNS.iter().any(|word| token.is_word(word)),
            _ => false,
        };
        if begins_item && is_name {
            columns.push(String::from_utf8_lossy(&token.unquoted()).into_owned());
        }
        if token.is_sign(b'(') {
            depth += 1;
        } else if token.is_sign(b')') {
            if depth == 0 {
                return (!columns.is_empty()).then_some(columns);
            }
            depth -= 1;
        }
        begins_item = depth == 0 && token.is_sign(b',');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::KnownTable;

    fn columns(list: &str) -> Vec<String> {
        list.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn a_table_of_somebody_else_has_other_columns() {
        let sbtest = KnownTable {
            name: "sbtest2".to_owned(),
            layouts: vec!["id, k, c, pad".to_owned(), "id, k".to_owned()],
        };
        for (list, is_it) in [
            ("id, k, c, pad", true),
            ("ID, K, C, PAD", true),
            // Its other layout.
            ("id, k", true),
            // Created without a primary key, where the server adds one.
            ("my_row_id, id, k, c, pad", true),
            ("id, k, c", false),
            ("id, k, c, pad, mine", false),
            ("id", false),
            ("", false),
        ] {
            assert_eq!(sbtest.has_layout(&columns(list)), is_it, "{list}");
        }
        assert!(!sbtest.has_layout(&[]));
    }

    #[test]
    fn a_create_table_says_its_columns() {
        for (statement, expected) in [
            ("create table t (id int, pass char(10))", &["id, pass"][..]),
            (
                "CREATE TABLE `t` (id serial,intcol1 INT(32), INDEX(intcol1) ,charcol1 VARCHAR(128))",
                &["id, intcol1, charcol1"],
            ),
            (
                "create table if not exists t(\n `the key` decimal(10, 2) default '(,' not null,\n\
                 b enum('x', 'y)'), primary key (`the key`), unique b (b)\n) engine = innodb",
                &["the key, b"],
            ),
            (
                r"create table t (a char default '\'), b int', /* c, */ d int)",
                &["a, d"],
            ),
            ("create table t like other", &[]),
            ("create table t (like other)", &[]),
            ("create table t (id int", &[]),
            ("", &[]),
        ] {
            let table = KnownTable::created_by("t", statement.as_bytes());
            assert_eq!(table.layouts, expected, "{statement}");
        }
        let table = KnownTable::created_by("t", b"create table t (Id int, PASS int)");
        assert!(table.has_layout(&columns("id, pass")));
    }
}
