//! The effect of a statement: whether it may be executed again and again.

use workload::sql_script::SqlStatement;

use super::session::{Failure, Session};

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

/// Why a statement that changes data cannot be executed and rolled back; `None` if it can.
///
/// A table whose engine has no transactions keeps what was written. Its name is searched among the words of the
/// statement, so that a name which only looks like it is refused, too.
pub(super) async fn obstacle(
    session: &mut Session,
    statement: &SqlStatement,
) -> Result<Option<String>, Failure> {
    if statement.has_word("outfile") || statement.has_word("dumpfile") {
        return Ok(Some(
            "it writes a file, which no transaction takes back".to_owned(),
        ));
    }
    let sql = "SELECT t.table_schema, t.table_name, t.engine FROM information_schema.tables t \
               JOIN information_schema.engines e ON e.engine = t.engine \
               WHERE e.transactions <> 'YES' AND t.table_schema NOT IN \
               ('mysql', 'sys', 'information_schema', 'performance_schema')";
    let sets = session.rows(sql).await?;
    let text = |value: &Option<Vec<u8>>| {
        String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned()
    };
    for row in sets.iter().flat_map(|set| &set.rows) {
        let [schema, table, engine] = row.as_slice() else {
            continue;
        };
        if statement.has_word(&text(table)) {
            return Ok(Some(format!(
                "table {}.{} has engine {}, which has no transactions",
                text(schema),
                text(table),
                text(engine)
            )));
        }
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
        ] {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            assert_eq!(effect_of(&statements[0]), effect, "{text}");
        }
    }
}
