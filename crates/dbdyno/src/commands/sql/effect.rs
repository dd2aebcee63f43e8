//! The effect of a statement: whether it may be executed again and again.

use workload::sql_script::SqlStatement;

use super::session::{Failure, Session};

/// Schemas of the server whose tables have engines of all kinds.
const SERVER_SCHEMAS: [&str; 3] = ["mysql", "performance_schema", "sys"];

/// What executing a statement would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It reads.
    Reads,
    /// It changes data.
    Changes,
    /// Anything else: definitions, procedures, settings of the server.
    Other,
}

/// The effect of a statement by its words.
pub(super) fn effect_of(statement: &SqlStatement) -> Effect {
    if statement.hidden_part().is_some() {
        return Effect::Other;
    }
    match statement.verb().as_str() {
        // A common table expression may lead to an UPDATE or DELETE.
        "WITH"
            if ["update", "delete", "insert"]
                .iter()
                .any(|word| statement.has_word(word)) =>
        {
            Effect::Changes
        }
        "SELECT" | "WITH" | "TABLE" | "VALUES" => {
            // A file on the server is no part of a transaction.
            let writes_a_file = statement.has_word("outfile") || statement.has_word("dumpfile");
            if writes_a_file {
                Effect::Changes
            } else {
                Effect::Reads
            }
        }
        "INSERT" | "UPDATE" | "DELETE" | "REPLACE" => Effect::Changes,
        _ => Effect::Other,
    }
}

/// The kind of a statement for a message: `SELECT`, or `SELECT with a second statement`.
pub(super) fn kind_of(statement: &SqlStatement) -> String {
    let verb = match statement.verb() {
        verb if verb.is_empty() => "a statement".to_owned(),
        verb => verb,
    };
    match statement.hidden_part() {
        Some(part) => format!("{verb} with {part}"),
        None => verb,
    }
}

/// The schema of the server that a statement names, if it names one.
pub(super) fn server_schema(statement: &SqlStatement) -> Option<&'static str> {
    let mut all = SERVER_SCHEMAS.into_iter();
    all.find(|schema| statement.has_word(schema))
}

/// Why a statement that changes data cannot be executed and rolled back; `None` if it can.
///
/// A table whose engine has no transactions keeps what was written, and a view may lead to one. Their names are searched
/// among the words of the statement, so that a name which only looks like one is refused, too.
pub(super) async fn obstacle(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Option<String>, Failure> {
    if statement.has_word("outfile") || statement.has_word("dumpfile") {
        return Ok(Some(
            "it writes a file, which no transaction takes back".to_owned(),
        ));
    }
    let text = |value: &Option<Vec<u8>>| {
        String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned()
    };
    let sets = session.rows("SELECT DATABASE()").await?;
    let mut values = sets.iter().flat_map(|set| &set.rows).flatten();
    let database = values.next().map(text).unwrap_or_default();
    let mut schemas = SERVER_SCHEMAS.into_iter();
    let current = schemas.find(|schema| database.eq_ignore_ascii_case(schema));
    if let Some(schema) = current.or_else(|| server_schema(statement)) {
        return Ok(Some(format!(
            "not every table of schema {schema} has transactions"
        )));
    }
    let sql = "SELECT t.table_schema, t.table_name, t.engine FROM information_schema.tables t \
               LEFT JOIN information_schema.engines e ON e.engine = t.engine \
               WHERE (t.table_type = 'VIEW' OR e.transactions <> 'YES') AND t.table_schema NOT IN \
               ('mysql', 'sys', 'information_schema', 'performance_schema')";
    let sets = session.rows(sql).await?;
    for row in sets.iter().flat_map(|set| &set.rows) {
        let [schema, table, engine] = row.as_slice() else {
            continue;
        };
        if !statement.has_word(&text(table)) {
            continue;
        }
        let name = format!("{}.{}", text(schema), text(table));
        return Ok(Some(match engine {
            Some(_) => format!(
                "table {name} has engine {}, which has no transactions",
                text(engine)
            ),
            None => format!("{name} is a view, whose tables may have no transactions"),
        }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use workload::sql_script::statements_of;

    use super::*;

    #[test]
    fn effects_are_known_by_words() {
        for (text, effect) in [
            ("select 'update' from t", Effect::Reads),
            ("(select 1) union (select 2)", Effect::Reads),
            ("with x as (select 1) delete from t", Effect::Changes),
            ("select 1 into outfile 'x'", Effect::Changes),
            ("replace into t values (1)", Effect::Changes),
            ("drop table t", Effect::Other),
            ("call p()", Effect::Other),
            ("select 1;", Effect::Reads),
            ("select 1; delete from t", Effect::Other),
            ("select 1 /*!50000 into outfile 'x' */", Effect::Other),
            ("with x as (select 1) /*! delete from t */", Effect::Other),
        ] {
            assert_eq!(effect_of(&statement(text)), effect, "{text}");
        }
    }

    #[test]
    fn a_message_names_the_kind_of_a_statement() {
        for (text, kind) in [
            ("drop table t", "DROP"),
            ("select 1; delete from t", "SELECT with a second statement"),
            (
                "/*! delete from t */",
                "a statement with a comment that the server executes",
            ),
        ] {
            assert_eq!(kind_of(&statement(text)), kind);
        }
    }

    #[test]
    fn schemas_of_the_server_are_known_by_words() {
        for (text, schema) in [
            ("delete from mysql.event", Some("mysql")),
            ("delete from `mysql`.event", Some("mysql")),
            (
                "update performance_schema.setup_consumers set enabled = 'NO'",
                Some("performance_schema"),
            ),
            ("delete from t where a = 'mysql'", None),
        ] {
            assert_eq!(server_schema(&statement(text)), schema, "{text}");
        }
    }

    fn statement(text: &str) -> SqlStatement {
        let script = format!("delimiter //\n{text}//");
        statements_of("x", script.into_bytes()).unwrap().remove(0)
    }
}
