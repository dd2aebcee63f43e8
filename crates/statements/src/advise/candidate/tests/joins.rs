//! Tests of the indexes for the tables of a join.

use super::*;

#[test]
fn a_table_of_a_join_can_be_the_first_or_a_later_one() {
    let types = [("a", "int"), ("b", "int")];
    let text = "select 1 AS `1` from `s`.`u` join `s`.`t` where `s`.`t`.`a` = `s`.`u`.`x` and `s`.`t`.`b` < 5";
    let of = |loops: u32| {
        candidates(
            &SCAN.replace("loops=1", &format!("loops={loops}")),
            text,
            &types,
            &[],
        )
    };
    let (inner, first) = (
        "create index `index_t_a_b` on `s`.`t` (`a`, `b`)",
        "create index `index_t_b` on `s`.`t` (`b`)",
    );
    assert_eq!(of(1)[..2], [first, inner]);
    assert_eq!(of(9)[..2], [inner, first]);
    let by_key = SCAN.replace(
        "Table scan on t",
        "Single-row index lookup on t using PRIMARY (a=u.x)",
    );
    assert_eq!(candidates(&by_key, text, &types, &[])[0], first);
}

#[test]
fn a_range_of_the_first_table_needs_no_join_column_before_it() {
    let types = [("id", "int"), ("order_id", "int"), ("total", "decimal")];
    let tree = "-> Nested loop inner join  (cost=9 rows=9)\n    \
                -> Filter: (o.total > 999.9)  (cost=9 rows=9)\n        \
                -> Table scan on o  (cost=9 rows=9000)\n    \
                -> Index lookup on i using PRIMARY (order_id=o.id)  (cost=9 rows=2)\n";
    let from = "from `s`.`item` `i` join `s`.`orders` `o` \
                where ((`s`.`i`.`order_id` = `s`.`o`.`id`) and (`s`.`o`.`total` > 999.9))";
    let of_range = "create index `index_orders_total` on `s`.`orders` (`total`)";
    for verb in ["select `s`.`i`.`pos` AS `pos`", "delete `s`.`item`"] {
        let text = format!("{verb} {from}");
        assert_eq!(candidates(tree, &text, &types, &[]), [of_range], "{verb}");
        // Without an index of the other table, the order of the tables is open: the key finds one row for each of its rows,
        // and needs no range behind it.
        let hash_join = "Inner hash join (i.order_id = o.id)";
        let buffered = tree.replace("Nested loop inner join", hash_join);
        let found = candidates(&buffered, &text, &types, &[]);
        assert_eq!(found, [of_range], "{verb}");
        // A join column that is no key does.
        let by_other = text.replace("`s`.`o`.`id`", "`s`.`o`.`order_id`");
        let of_join =
            "create index `index_orders_order_id_total` on `s`.`orders` (`order_id`, `total`)";
        let found = candidates(&buffered, &by_other, &types, &[]);
        assert_eq!(found[..2], [of_range, of_join], "{verb}");
        // A condition on the other table can make that the first one.
        let restricted = by_other.replace("999.9))", "999.9) and (`s`.`i`.`pos` = 7))");
        let found = candidates(tree, &restricted, &types, &[]);
        assert_eq!(found[..2], [of_range, of_join], "{verb}");
    }
}

#[test]
fn a_column_that_joins_an_earlier_table_needs_an_index_though_the_key_joins_a_later_one() {
    let tree = "-> Nested loop inner join  (cost=9 rows=9)\n    \
                -> Inner hash join (o.order_id = u.id)  (cost=9 rows=9)\n        \
                -> Table scan on o  (cost=9 rows=9000)\n        \
                -> Hash\n            \
                -> Table scan on u  (cost=9 rows=9)\n    \
                -> Index lookup on i using PRIMARY (order_id=o.id)  (cost=9 rows=2)\n";
    let text = "select 1 AS `1` from `s`.`u` join `s`.`orders` `o` join `s`.`item` `i` \
                where ((`s`.`i`.`order_id` = `s`.`o`.`id`) and (`s`.`o`.`order_id` = `s`.`u`.`id`))";
    let types = [("id", "int"), ("order_id", "int")];
    let found = candidates(tree, text, &types, &[]);
    let of_join = "create index `index_orders_order_id` on `s`.`orders` (`order_id`)";
    assert!(found.contains(&of_join.to_owned()), "{found:?}");
}

#[test]
fn a_later_table_that_drops_most_rows_can_be_the_first() {
    let tree = "-> Nested loop inner join  (cost=1 rows=1) (actual time=0..9 rows=2 loops=1)\n\
                \x20   -> Table scan on o  (cost=1 rows=9000) (actual time=0..5 rows=9000 loops=1)\n\
                \x20   -> Filter: (c.k = 1)  (cost=1 rows=1) (actual time=0..1 rows=0.0002 loops=9000)\n\
                \x20       -> Single-row index lookup on c using PRIMARY (id=o.c)  (cost=1 rows=1) (actual time=0..1 rows=1 loops=9000)\n";
    let rewritten = "select 1 AS `1` from `s`.`o` join `s`.`c` where ((`s`.`c`.`id` = `s`.`o`.`c`) and (`s`.`c`.`k` = 1))";
    let text = "select 1 from o join c on c.id = o.c where c.k = 1";
    let found = candidates_of(text, tree, rewritten, &[], &[]);
    let exchanged = "select 1 from c STRAIGHT_JOIN o on c.id = o.c where c.k = 1";
    assert!(found.contains(&exchanged.to_owned()), "{found:?}");
    let forced = "select straight_join 1 from o join c on c.id = o.c where c.k = 1";
    let found = candidates_of(forced, tree, rewritten, &[], &[]);
    assert_eq!(found, [forced.replacen("straight_join", "", 1)]);
}

#[test]
fn an_anti_join_needs_an_index_with_its_join_column() {
    let types = [("id", "int"), ("pos", "int"), ("a", "int"), ("b", "int")];
    let from = "select count(0) AS `n` from `s`.`p`";
    for (text, expected) in [
        (
            "anti join (`s`.`t`) on((`<subquery2>`.`a` = `s`.`p`.`id`)) where true",
            "create index `index_t_a` on `s`.`t` (`a`)",
        ),
        (
            "anti join (`s`.`t`) on(((`s`.`t`.`b` = 3) and (`<subquery2>`.`a` = `s`.`p`.`id`))) where true",
            "create index `index_t_b_a` on `s`.`t` (`b`, `a`)",
        ),
        (
            "left join `s`.`t` on(`s`.`t`.`a` = `s`.`p`.`id`) where `s`.`t`.`b` is null",
            "create index `index_t_a` on `s`.`t` (`a`)",
        ),
        (
            "where !<in_optimizer>(`s`.`p`.`id`,`s`.`p`.`id` in ( <materialize> (select `s`.`t`.`a` from `s`.`t` where 1 ), \
             <primary_index_lookup>(`s`.`p`.`id` in <temporary table> on distinct_key)))",
            "create index `index_t_a` on `s`.`t` (`a`)",
        ),
    ] {
        let found = candidates(SCAN, &format!("{from} {text}"), &types, &[]);
        assert_eq!(found[0], expected, "{found:?}");
        let own = "create index `index_t_b` on `s`.`t` (`b`)".to_owned();
        assert!(!found.contains(&own), "{found:?}");
    }
}

/// A join of 80,000 orders, each with its customer by the primary key, of whom a country keeps 1 in 86.
fn join_by_key(share: &str) -> String {
    format!(
        "-> Nested loop inner join  (cost=1 rows=1) (actual time=0..170 rows=930 loops=1)\n    \
         -> Table scan on o  (cost=1 rows=80000) (actual time=0..20 rows=80000 loops=1)\n    \
         -> Filter: (c.country = 'NO')  (cost=1 rows=1) (actual time=0..0.00185 rows={share} loops=80000)\n        \
         -> Single-row index lookup on c using PRIMARY (id=o.customer_id)  (cost=1 rows=1) (actual time=0..0.0018 rows=1 loops=80000)\n"
    )
}

#[test]
fn a_table_that_a_key_finds_gets_no_index_unless_the_join_can_begin_with_it() {
    let types = [
        ("id", "int"),
        ("customer_id", "int"),
        ("total", "decimal"),
        ("country", "char"),
        ("title", "varchar"),
    ];
    let rewritten = "select `s`.`c`.`title` AS `title`,sum(`s`.`o`.`total`) AS `n` \
                     from `s`.`customer` `c` join `s`.`orders` `o` \
                     where ((`s`.`o`.`customer_id` = `s`.`c`.`id`) and (`s`.`c`.`country` = 'NO')) \
                     group by `s`.`c`.`id`,`s`.`c`.`title`";
    let text = "select c.title, sum(o.total) n from customer c join orders o on o.customer_id = c.id \
                where c.country = 'NO' group by c.id, c.title";
    // Shares of the time: 20 of 170 ms for o, and 0.00185 ms * 80,000 = 148 ms for c. The index of o saves both: its rows
    // are read for customers of the country only.
    assert_eq!(
        ranked(text, &join_by_key("0.0116"), rewritten, &types),
        [
            "create index `index_orders_customer_id_total` on `s`.`orders` (`customer_id`, `total`)",
            "create index `index_orders_customer_id` on `s`.`orders` (`customer_id`)",
        ]
    );
    let of_customer = "create index `index_customer_country_id_title` on `s`.`customer` (`country`, `id`, `title`)";
    let straight = text.replace("customer c join", "customer c STRAIGHT_JOIN");
    // 8 of 80,000 rows: the orders are read once, and compared with 8 customers at most.
    let found = ranked(text, &join_by_key("0.0001"), rewritten, &types);
    // An index finds the orders of a customer.
    let indexed = |text: &str| text.replace("customer_id", "country");
    let with_index = ranked(
        &indexed(text),
        &indexed(&join_by_key("0.0116")),
        &indexed(rewritten),
        &types,
    );
    for (found, straight) in [(found, straight.clone()), (with_index, indexed(&straight))] {
        assert!(found.contains(&of_customer.to_owned()), "{found:?}");
        assert!(found.contains(&straight), "{found:?}");
    }
}
