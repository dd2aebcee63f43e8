//! The effect of a statement: whether it may be executed again and again.

use blame::{Blame, Blamed};
use experiment::nearest;
use sqltext::SqlStatement;

use super::setting::more_than_a_setting;

/// What executing a statement would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
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
    let part = statement.hidden_part().map(str::to_owned);
    let part = part.or_else(|| more_than_a_setting(statement).filter(|_| verb == "SET"));
    match part {
        Some(part) => format!("{verb} with {part}"),
        None => verb,
    }
}

/// The verbs that these commands take.
const TAKEN: [&str; 8] = [
    "DELETE", "INSERT", "REPLACE", "SELECT", "TABLE", "UPDATE", "VALUES", "WITH",
];

/// The error for a statement that a command does not take: what it cannot, and what helps. A verb that is none may be a slip.
pub(super) fn not_taken(statement: &SqlStatement, cannot: &str, hint: &str) -> Blamed {
    let place = statement.place();
    let verb = statement.verb();
    let (message, hint) = match nearest(&verb, &TAKEN).filter(|meant| *meant != verb) {
        Some(meant) => (
            format!("{place}: no statement begins with {verb}"),
            format!("is {meant} meant?"),
        ),
        None => (
            format!("{place}: {} {cannot}", kind_of(statement)),
            hint.to_owned(),
        ),
    };
    Blamed::new(Blame::Input, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use sqltext::statements_of;

    use super::*;

    #[test]
    fn a_slip_of_the_verb_is_no_definition() {
        let error = |text: &str| {
            let statement = statements_of("-e", text.as_bytes().to_vec())
                .unwrap()
                .remove(0);
            not_taken(&statement, "cannot be rolled back", "--commit executes it").to_string()
        };
        assert_eq!(error("selct 1"), "-e:1:1: no statement begins with SELCT");
        for verb in [
            "CREATE", "CALL", "SET", "ALTER", "LOAD", "DROP", "ANALYZE", "RENAME", "DO",
        ] {
            assert_eq!(error(verb), format!("-e:1:1: {verb} cannot be rolled back"));
        }
    }

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
            ("set @a = f()", "SET with a call of f"),
            ("select 1; delete from t", "SELECT with a second statement"),
            (
                "/*! delete from t */",
                "a statement with a comment that the server executes",
            ),
        ] {
            assert_eq!(kind_of(&statement(text)), kind);
        }
    }

    fn statement(text: &str) -> SqlStatement {
        let script = format!("delimiter //\n{text}//");
        statements_of("x", script.into_bytes()).unwrap().remove(0)
    }
}
