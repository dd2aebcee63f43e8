//! Where a statement has a LIMIT: at its outermost query block, or within.

use plans::Limits;
use sqltext::{SqlStatement, TokenKind};

/// The words between two brackets so far.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    has_rows: bool,
    /// Several queries: a LIMIT behind them is that of all together.
    is_union: bool,
}

pub(super) fn limits_of(statement: &SqlStatement) -> Limits {
    let text = statement.text();
    let (mut limits, mut levels) = (Limits::default(), vec![Level::default()]);
    for token in statement.tokens() {
        let word = String::from_utf8_lossy(token.text).to_ascii_lowercase();
        let is_outermost = levels.len() == 1;
        match (token.kind, word.as_str()) {
            (TokenKind::Sign, "(") => levels.push(Level::default()),
            (TokenKind::Sign, ")") if !is_outermost => drop(levels.pop()),
            (TokenKind::Word, _) if text[..token.start].ends_with(b".") => {}
            (TokenKind::Word, word) => {
                let Some(level) = levels.last_mut() else {
                    continue;
                };
                match word {
                    "select" | "table" | "update" | "delete" => level.has_rows = true,
                    "union" | "except" | "intersect" => level.is_union = true,
                    "limit" | "fetch" if level.has_rows && !level.is_union => {
                        limits.outermost |= is_outermost;
                        limits.inner |= !is_outermost;
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    // A SELECT in brackets is the statement.
    let outermost = levels.first().copied().unwrap_or_default();
    limits.outermost |= limits.inner && !outermost.has_rows && !outermost.is_union;
    limits
}

#[cfg(test)]
mod tests {
    use sqltext::statements_of;

    use super::*;

    #[test]
    fn a_limit_is_that_of_its_query_block() {
        for (text, outermost, inner) in [
            ("select a from t", false, false),
            ("select a from t limit 3", true, false),
            ("SELECT a FROM t ORDER BY a LIMIT 2, 3", true, false),
            ("delete from t order by a limit 3", true, false),
            ("insert into u select a from t limit 3", true, false),
            ("select a from t fetch first 3 rows only", true, false),
            ("(select a from t limit 3)", true, true),
            ("select 'limit 3', `limit`, t.limit from t", false, false),
            ("select a from t -- limit 3", false, false),
            ("select a from (select a from t limit 3) d", false, true),
            (
                "select (select a from t limit 1) from u limit 5",
                true,
                true,
            ),
            (
                "with d as (select a from t limit 3) select * from d",
                false,
                true,
            ),
            (
                "select group_concat(a order by a limit 3) from t",
                false,
                false,
            ),
            (
                "select a from t union all select a from u limit 3",
                false,
                false,
            ),
            ("(select a from t limit 3) union select 1", false, true),
        ] {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            let expected = Limits { outermost, inner };
            assert_eq!(limits_of(&statements[0]), expected, "{text}");
        }
    }
}
