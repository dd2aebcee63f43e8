//! A statement without its LIMIT.
//!
//! A LIMIT leaves open which of several equal rows are in the result: another index or plan may give other ones, and the
//! statement is answered as correctly. All rows without the LIMIT tell whether two answers belong to one result.

use workload::sql_script::SqlStatement;

use super::statement_text::StatementText;

/// A SELECT without the LIMIT at its end.
pub(super) struct Unlimited {
    pub(super) statement: SqlStatement,
    /// The ORDER BY and the LIMIT, as written: two statements with the same ones want the same part of their rows.
    pub(super) part: String,
}

impl Unlimited {
    /// `None` for a statement without a LIMIT of its own, and for a UNION.
    pub(super) fn of(statement: &SqlStatement) -> Option<Self> {
        let text = StatementText::of(statement)?;
        let clauses = text.select()?;
        let depth = text.parts[clauses.select].depth;
        let mut tail = clauses.tail..clauses.end;
        let own = |at: &usize| text.parts[*at].depth == depth;
        let order = tail.clone().filter(own).find(|at| text.is(*at, "order"));
        let limit = tail.clone().filter(own).find(|at| text.is(*at, "limit"))?;
        let behind = ["for", "lock", "into", "procedure"];
        let end = tail
            .find(|at| *at > limit && own(at) && behind.iter().any(|word| text.is(*at, word)))
            .unwrap_or(clauses.end);
        // MariaDB's LIMIT ROWS EXAMINED ends a statement that reads too many rows.
        if (limit..end).any(|at| text.is(at, "rows")) {
            return None;
        }
        let part = text.slice(order.unwrap_or(limit), end).to_owned();
        let without = text.edited(vec![(text.bytes(limit, end - 1), String::new())])?;
        Some(Self {
            statement: statement.reworded(without.as_bytes()),
            part,
        })
    }
}

#[cfg(test)]
mod tests {
    use workload::sql_script::statements_of;

    use super::*;

    #[test]
    fn the_limit_at_the_end_is_left_out() {
        for (text, without) in [
            (
                "select a from t order by b limit 5",
                Some(("select a from t order by b ", "order by b limit 5")),
            ),
            (
                "select a from t limit 5 offset 2 for update",
                Some(("select a from t  for update", "limit 5 offset 2")),
            ),
            (
                "select a from (select a from t limit 3) x order by a limit 1, 2",
                Some((
                    "select a from (select a from t limit 3) x order by a ",
                    "order by a limit 1, 2",
                )),
            ),
            ("select a from (select a from t limit 3) x", None),
            ("select a from t limit rows examined 9", None),
            ("select a from t union select b from u limit 3", None),
            ("delete from t limit 3", None),
        ] {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            let found = Unlimited::of(&statements[0]);
            let found = found.map(|it| (it.statement.text().to_vec(), it.part));
            let without = without.map(|(text, part)| (text.as_bytes().to_vec(), part.to_owned()));
            assert_eq!(found, without, "{text}");
        }
    }
}
