//! What it means for a table or a condition to be on the inner side of a join.

use super::{
    Reading,
    inner_sides::{InnerKind, InnerSide},
    token::is_word,
};

/// How MySQL begins the name that the columns of a subquery have which it materialises: `<subquery2>`.
const OF_SUBQUERY: &str = "<subquery";

impl Reading<'_> {
    /// Whether a table at a place is on the inner side of an outer join or of an anti-join: no plan begins with it.
    pub(super) fn is_never_first(&self, place: usize) -> bool {
        let mut sides = self.inner_sides.iter();
        sides.any(|it| it.kind != InnerKind::Semi && it.places.contains(&place))
    }

    /// Whether `c is null` at a place, with a column of this table, asks for rows without a partner: it stands behind
    /// the outer join of the table, and selects none of its rows.
    pub(super) fn asks_for_no_row(&self, at: usize, table: usize) -> bool {
        let is_inner = |it: &InnerSide| {
            it.kind == InnerKind::Left && it.places.contains(&self.place_of_tables[table])
        };
        let is_within = |it: &InnerSide| it.on.contains(&at) || it.places.contains(&at);
        self.inner_sides.iter().any(is_inner) && !self.inner_sides.iter().any(is_within)
    }

    /// The table of a column of a materialised subquery, such as `` `<subquery2>`.`c` ``, if that has one table.
    pub(super) fn table_of_subquery(&self, at: usize, name: &str) -> Option<usize> {
        if !name.starts_with(OF_SUBQUERY) {
            return None;
        }
        let queries = || {
            let sides = self.inner_sides.iter();
            sides.filter(|it| it.kind != InnerKind::Left)
        };
        let only = || {
            let mut all = queries();
            let first = all.next();
            first.filter(|_| all.next().is_none())
        };
        let side = queries().find(|it| it.on.contains(&at)).or_else(only)?;
        let places = self.place_of_tables.iter().enumerate();
        let mut tables = places.filter(|(_, place)| side.places.contains(*place));
        let (table, _) = tables.next()?;
        tables.next().is_none().then_some(table)
    }

    /// The column whose values an IN looks for among those of the column at a place, if its subquery is materialised:
    /// `c in (<materialize> (select x from ...`.
    pub(super) fn searched_for(&self, at: usize) -> Option<(usize, String)> {
        let before = |distance: usize| self.tokens.get(at.checked_sub(distance)?);
        let is_only = is_word(self.tokens.get(at + 1)) == Some("from");
        let words = [(1, "select"), (4, "materialize"), (7, "in")];
        let mut words = words.iter();
        let is_of_in = words.all(|(distance, word)| is_word(before(*distance)) == Some(*word));
        if !is_only || !is_of_in {
            return None;
        }
        self.column(at.checked_sub(8)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::column_use::{TableUse, column_uses};

    fn uses(text: &str) -> Vec<TableUse> {
        column_uses(&format!("select 1 AS `1` from `s`.`p` {text}"))
    }

    #[test]
    fn a_materialised_subquery_has_a_join_column() {
        for text in [
            // MySQL 8.0.33.
            "anti join (`s`.`line` `l`) on(((`s`.`l`.`qty` = 3) and (`<subquery2>`.`product` = `s`.`p`.`id`))) where true",
            "semi join (`s`.`line` `l`) where ((`<subquery2>`.`product` = `s`.`p`.`id`) and (`s`.`l`.`qty` = 3))",
            // MySQL 5.7.
            "where (not(exists(/* select#2 */ select 1 from `s`.`line` `l` where ((`s`.`l`.`product` = `s`.`p`.`id`) \
             and (`s`.`l`.`qty` = 3)))))",
            // MariaDB 10.11.
            "where !<expr_cache><`s`.`p`.`id`>(<in_optimizer>(`s`.`p`.`id`,`s`.`p`.`id` in ( <materialize> (/* select#2 */ \
             select `s`.`l`.`product` from `s`.`line` `l` where `s`.`l`.`qty` = 3 ), <primary_index_lookup>(`s`.`p`.`id` \
             in <temporary table> on distinct_key where `s`.`p`.`id` = `<subquery2>`.`product`))))",
        ] {
            let uses = uses(text);
            let line = &uses[1];
            assert_eq!(line.joined, ["product"], "{text}");
            let (column, other) = &line.joined_with[0];
            assert_eq!(
                [column, &other.alias, &other.column],
                ["product", "p", "id"],
                "{text}"
            );
            assert_eq!(line.equal, ["qty"], "{text}");
            assert_eq!(line.is_never_first, text.starts_with("anti"), "{text}");
            assert!(uses[0].range.is_empty(), "{text}: {uses:?}");
        }
    }

    #[test]
    fn a_test_for_no_row_selects_no_rows_of_the_inner_table() {
        for text in [
            // MySQL 8.0.33 and 5.7, MariaDB 10.11.
            "left join `s`.`line` `l` on((`s`.`l`.`product` = `s`.`p`.`id`)) where (`s`.`l`.`order` is null)",
            "left join `s`.`line` `l` on((`s`.`l`.`product` = `s`.`p`.`id`)) where isnull(`s`.`l`.`order`)",
            "left join `s`.`line` `l` on(`s`.`l`.`product` = `s`.`p`.`id`) where `s`.`l`.`order` is null",
        ] {
            let line = &uses(text)[1];
            assert!(line.equal.is_empty() && line.is_never_first, "{line:?}");
            assert_eq!(line.joined, ["product"]);
            assert_eq!(line.used, ["product", "order"]);
        }
        let condition = "left join `s`.`line` `l` on(((`s`.`l`.`product` = `s`.`p`.`id`) and (`s`.`l`.`order` is null))) \
                         where (`s`.`p`.`end` is null)";
        let hinted = condition.replace("`line` `l` on", "`line` `l` use index (`x`) on");
        assert_eq!(uses(&hinted)[1].equal, ["order"]);
        let uses = uses(condition);
        assert_eq!(
            (&uses[0].equal[..], &uses[1].equal[..]),
            (&["end".to_owned()][..], &["order".to_owned()][..])
        );
    }
}
