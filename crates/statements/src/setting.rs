//! Statements that only change the session, for those that follow them.

use sqltext::{SqlStatement, Token, TokenKind};

/// Functions of the server that neither read nor change anything but the session. Called without a blank before the
/// bracket, they are the server's own, whatever functions the schema has.
const PURE: [&str; 58] = [
    "abs",
    "adddate",
    "cast",
    "ceil",
    "ceiling",
    "char_length",
    "coalesce",
    "concat",
    "concat_ws",
    "connection_id",
    "convert",
    "curdate",
    "current_date",
    "current_timestamp",
    "database",
    "date",
    "date_add",
    "date_format",
    "date_sub",
    "datediff",
    "find_in_set",
    "floor",
    "format",
    "from_unixtime",
    "greatest",
    "hex",
    "if",
    "ifnull",
    "instr",
    "last_insert_id",
    "least",
    "left",
    "length",
    "locate",
    "lower",
    "lpad",
    "md5",
    "mod",
    "now",
    "nullif",
    "pow",
    "rand",
    "repeat",
    "replace",
    "right",
    "round",
    "rpad",
    "schema",
    "sha1",
    "sha2",
    "sqrt",
    "str_to_date",
    "substring",
    "substring_index",
    "trim",
    "unhex",
    "unix_timestamp",
    "upper",
];

/// Words after which a bracket only groups.
const BEFORE_A_GROUP: [&str; 11] = [
    "and", "between", "div", "in", "like", "mod", "not", "or", "regexp", "then", "xor",
];

/// Words that only stand in a value which is read from tables, or from a sequence.
const OF_TABLES: [&str; 7] = [
    "select", "table", "values", "value", "with", "nextval", "setval",
];

/// Whether a statement only changes the session, for those that follow it.
pub(super) fn is_setting(statement: &SqlStatement) -> bool {
    match statement.verb().as_str() {
        "USE" | "SET" if statement.hidden_part().is_some() => false,
        "USE" => true,
        "SET" => !reaches_beyond_the_session(statement) && more_than_a_setting(statement).is_none(),
        _ => false,
    }
}

/// Whether a statement other than a SET gives values to user variables, which those that follow it may read:
/// `SELECT .. INTO @a`, or `@a := ..`.
pub(super) fn sets_variables(statement: &SqlStatement) -> bool {
    let tokens: Vec<Token<'_>> = statement.tokens().collect();
    tokens.windows(2).any(|pair| {
        pair[0].is_word("into") && pair[1].is_sign(b'@')
            || pair[0].is_sign(b':') && pair[1].is_sign(b'=')
    })
}

/// Whether a statement sets nothing but variables of the optimizer, for the session or for those that begin later:
/// `SET GLOBAL optimizer_switch = 'mrr=off'`.
pub(super) fn sets_only_the_optimizer(statement: &SqlStatement) -> bool {
    const PREFIX: &[u8] = b"optimizer_";
    let tokens: Vec<Token<'_>> = statement.tokens().collect();
    let Some(set) = tokens.iter().position(|token| token.is_word("set")) else {
        return false;
    };
    let mut depth = 0_usize;
    let mut assignments = tokens[set + 1..].split(|token| {
        if token.is_sign(b'(') {
            depth += 1;
        } else if token.is_sign(b')') {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.is_sign(b',')
    });
    let is_of_optimizer = |assignment: &[Token<'_>]| {
        let end = assignment.iter().position(|token| token.is_sign(b'='));
        let target = &assignment[..end.unwrap_or(0)];
        let target = match target {
            [before @ .., colon] if colon.is_sign(b':') => before,
            _ => target,
        };
        let is_user_variable = target.len() == 2 && target[0].is_sign(b'@');
        let name = target.last().map(Token::unquoted).unwrap_or_default();
        let prefix = name.get(..PREFIX.len()).unwrap_or_default();
        !is_user_variable && prefix.eq_ignore_ascii_case(PREFIX)
    };
    let is_plain = statement.verb() == "SET"
        && statement.hidden_part().is_none()
        && !statement.has_word("statement")
        && more_than_a_setting(statement).is_none();
    is_plain && assignments.all(is_of_optimizer)
}

/// Whether a SET changes accounts, variables of the server or, as MariaDB's `SET STATEMENT ... FOR`, anything.
fn reaches_beyond_the_session(statement: &SqlStatement) -> bool {
    let words = [
        "global",
        "persist",
        "persist_only",
        "statement",
        "password",
        "resource",
    ];
    let is_default_role = || statement.has_word("default") && statement.has_word("role");
    words.iter().any(|word| statement.has_word(word)) || is_default_role()
}

/// The part of a SET by which it does more than to change the session: a call, or a value from tables.
pub(super) fn more_than_a_setting(statement: &SqlStatement) -> Option<String> {
    let is_one_of = |token: &Token<'_>, words: &[&str]| words.iter().any(|it| token.is_word(it));
    let tokens: Vec<Token<'_>> = statement.tokens().collect();
    for (at, token) in tokens.iter().enumerate() {
        if is_one_of(token, &OF_TABLES) {
            return Some("a value from tables".to_owned());
        }
        if !token.is_sign(b'(') || at == 0 {
            continue;
        }
        let called = &tokens[at - 1];
        let is_qualified = at >= 2 && tokens[at - 2].is_sign(b'.');
        let is_harmless = match called.kind {
            TokenKind::Sign | TokenKind::ServerComment => true,
            _ => {
                !is_qualified
                    && (is_one_of(called, &BEFORE_A_GROUP)
                        || called.end() == token.start && is_one_of(called, &PURE))
            }
        };
        if !is_harmless {
            let called = String::from_utf8_lossy(called.text);
            return Some(format!("a call of {called}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use sqltext::statements_of;

    use super::*;

    #[test]
    fn a_setting_only_changes_the_session() {
        for (text, expected) in [
            ("set @limit = 50", true),
            ("set session sql_mode = default", true),
            ("set role reader", true),
            ("set names utf8mb4", true),
            ("use wiki", true),
            ("set global max_connections = 5", false),
            ("set @@`global`.max_connections = 5", false),
            ("set persist_only max_connections = 5", false),
            ("SET @@persist_only.max_connections = 5", false),
            (
                "set statement max_statement_time = 5 for delete from t",
                false,
            ),
            ("set password for u = 'p'", false),
            ("set default role r to u", false),
            ("set resource group r for 7", false),
            ("set @a = 1; drop table t", false),
            ("set @a = 1 /*! , global max_connections = 5 */", false),
            ("select 1", false),
            ("set @a = 1, @b = (1 + 2) * 3", true),
            ("set sql_mode = concat(@@sql_mode, ',ANSI')", true),
            ("set @a = if(@b in (1, 2), 3, 4)", true),
            ("set @a = f()", false),
            ("set @a = `concat`(1)", false),
            ("set @a = shop.concat(1)", false),
            ("set @a = concat (1)", false),
            ("set @a = (select max(id) from t)", false),
            ("set @a = next value for s", false),
            ("set @a = nextval(s)", false),
        ] {
            let script = format!("delimiter //\n{text}//");
            let statements = statements_of("x", script.into_bytes()).unwrap();
            assert_eq!(is_setting(&statements[0]), expected, "{text}");
        }
    }

    #[test]
    fn a_select_can_set_variables() {
        for (text, expected) in [
            ("select max(id) - 1000 into @m from t", true),
            ("select a, b from t limit 1 INTO @a, @b", true),
            ("select @n := @n + 1, a from t", true),
            ("select a from t where id > @m", false),
            ("select 'into @m', ':=' from t", false),
        ] {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            assert_eq!(sets_variables(&statements[0]), expected, "{text}");
        }
    }
}
