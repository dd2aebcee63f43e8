//! A statement without its LIMIT.
//!
//! A LIMIT leaves open which of several equal rows are in the result: another index or plan may give other ones, and the
//! statement is answered as correctly. All rows without the LIMIT tell whether two answers belong to one result.

use workload::sql_script::SqlStatement;

use super::statement_text::StatementText;

/// A SELECT without the LIMIT at its end.
pub(super) struct Unlimited {
    pub(super) statement: SqlStatement,
    /// The ORDER BY and the LIMIT, as written, behind the words of the list: two statements with the same ones want the same
    /// part of their rows. A name in the ORDER BY may be one that the list gives.
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
        let list = clauses.select + 1..clauses.from;
        // Neither a hint in a comment nor the order of tables is part of what is selected.
        let is_hint =
            |at: usize| text.parts[at].text.starts_with("/*") || text.is(at, "straight_join");
        let list = list.filter(|at| !is_hint(*at));
        let list: Vec<&str> = list.map(|at| text.parts[at].text).collect();
        let part = format!(
            "{} {}",
            list.join(" "),
            text.slice(order.unwrap_or(limit), end)
        );
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
                Some(("select a from t order by b ", "a order by b limit 5")),
            ),
            (
                "select a from t limit 5 offset 2 for update",
                Some(("select a from t  for update", "a limit 5 offset 2")),
            ),
            (
                "select a from (select a from t limit 3) x order by a limit 1, 2",
                Some((
                    "select a from (select a from t limit 3) x order by a ",
                    "a order by a limit 1, 2",
                )),
            ),
            (
                "select /*+ NO_ICP(t) */ a from t limit 5",
                Some(("select /*+ NO_ICP(t) */ a from t ", "a limit 5")),
            ),
            (
                "select straight_join id as k, total from t order by k limit 5",
                Some((
                    "select straight_join id as k, total from t order by k ",
                    "id as k , total order by k limit 5",
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
