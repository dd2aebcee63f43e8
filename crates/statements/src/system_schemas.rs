//! The schemas of the server itself, whose tables are not for a user to change.

use sqltext::SqlStatement;

use super::statement_text::StatementText;

const SYSTEM_SCHEMAS: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// Words behind which a table is named.
const BEFORE_TABLE: [&str; 3] = ["from", "join", "straight_join"];

/// Words at which a list of tables ends.
const BEHIND_TABLES: [&str; 8] = [
    "where", "group", "having", "order", "limit", "window", "union", "select",
];

pub(super) fn is_system_schema(schema: &str) -> bool {
    let mut schemas = SYSTEM_SCHEMAS.iter();
    schemas.any(|it| it.eq_ignore_ascii_case(schema))
}

/// Whether a statement that reads uses only tables of these schemas; `database` is that of its session. A table that is
/// not certainly one of them, such as a common table expression, counts as one of the user.
pub(super) fn uses_only_system_schemas(statement: &SqlStatement, database: Option<&str>) -> bool {
    let Some(text) = StatementText::of(statement) else {
        return false;
    };
    let schemas = schemas_of_tables(&text, database);
    !schemas.is_empty()
        && schemas
            .into_iter()
            .all(|it| it.is_some_and(is_system_schema))
}

/// The schema of each table that a statement names; `None` of one that is not known.
fn schemas_of_tables<'a>(
    text: &StatementText<'a>,
    database: Option<&'a str>,
) -> Vec<Option<&'a str>> {
    let mut schemas = Vec::new();
    // Depths of the lists of tables around a token.
    let mut lists: Vec<usize> = Vec::new();
    let mut is_before_table = false;
    for (at, part) in text.parts.iter().enumerate() {
        lists.retain(|depth| *depth <= part.depth);
        if is_before_table {
            is_before_table = false;
            if part.is_sign("(") {
                // A join in brackets, unless a query follows.
                lists.push(part.depth + 1);
                is_before_table = true;
                continue;
            }
            let mut queries = ["select", "with", "values", "table"].iter();
            let is_query = queries.any(|word| part.is(word));
            if !is_query && !part.is("dual") {
                let is_qualified = text.is_sign(at + 1, ".");
                schemas.push(if is_qualified { part.name() } else { database });
                continue;
            }
        }
        let is_in_list = lists.last() == Some(&part.depth);
        if BEFORE_TABLE.iter().any(|word| part.is(word)) {
            if !is_in_list {
                lists.push(part.depth);
            }
            is_before_table = true;
        } else if is_in_list && BEHIND_TABLES.iter().any(|word| part.is(word)) {
            lists.pop();
        } else if is_in_list && part.is_sign(",") {
            is_before_table = true;
        }
    }
    schemas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_about_the_server_if_all_its_tables_are_of_the_server() {
        for (text, database, expected) in [
            ("select * from performance_schema.threads", None, true),
            (
                "select c.a, c.b from INFORMATION_SCHEMA.COLUMNS c join `mysql`.`user` u on u.a = c.a, sys.version v \
                 where c.a in (select x, y from mysql.db) order by 1, 2",
                Some("shop"),
                true,
            ),
            ("select * from (mysql.user, mysql.db)", Some("shop"), true),
            (
                "select * from (select a, b from mysql.user) u",
                Some("shop"),
                true,
            ),
            ("select * from host_summary", Some("sys"), true),
            ("select * from item", Some("shop"), false),
            ("select * from item", None, false),
            ("select * from mysql.user, item", Some("shop"), false),
            ("select * from (mysql.user, item)", Some("shop"), false),
            ("select * from mysql.user join item", Some("shop"), false),
            (
                "select * from mysql.user where user in (select name from item)",
                Some("shop"),
                false,
            ),
            (
                "with c as (select 1 from mysql.user) select * from c",
                None,
                false,
            ),
            ("select 'from mysql.user'", Some("shop"), false),
        ] {
            let statement = SqlStatement::of_line("x", 1, text.as_bytes().to_vec());
            let found = uses_only_system_schemas(&statement, database);
            assert_eq!(found, expected, "{text}");
        }
    }
}
