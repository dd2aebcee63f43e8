//! Tests of how a statement uses columns.

use proptest::prelude::*;

use super::*;

fn names(columns: &[String]) -> Vec<&str> {
    columns.iter().map(String::as_str).collect()
}

#[test]
fn conditions_joins_and_orders_are_told_apart() {
    let text = "/* select#1 */ select `shop`.`i`.`kind` AS `kind`,sum(`shop`.`s`.`qty`) AS `sum(s.qty)` from `shop`.`item` `i` \
                join `shop`.`sale` `s` where ((`shop`.`s`.`item` = `shop`.`i`.`id`) and (`shop`.`i`.`price` between 5 and 9) and \
                (`shop`.`s`.`shop` = 'x')) group by `shop`.`i`.`kind` order by `sum(s.qty)` desc";
    let uses = column_uses(text);
    let [item, sale] = uses.as_slice() else {
        panic!("{uses:?}")
    };
    assert_eq!((item.table.as_str(), item.alias.as_str()), ("item", "i"));
    assert_eq!(
        (names(&item.joined), names(&item.range)),
        (vec!["id"], vec!["price"])
    );
    assert_eq!(
        (names(&item.order), names(&item.used)),
        (vec!["kind"], vec!["kind", "id", "price"])
    );
    assert_eq!(
        (names(&sale.equal), names(&sale.joined)),
        (vec!["shop"], vec!["item"])
    );
    assert_eq!(names(&sale.used), ["qty", "item", "shop"]);
}

#[test]
fn what_no_index_serves_is_found() {
    let text = "select `w`.`p`.`a` AS `a` from `w`.`p` where year(`w`.`p`.`d`) = 2020 and `w`.`p`.`name` like '%x' and \
                `w`.`p`.`code` = 5 and `w`.`p`.`kind` in (1,2) order by `w`.`p`.`a` limit 3";
    let uses = column_uses(text);
    let page = &uses[0];
    assert_eq!(page.wrapped, [("year".to_owned(), "d".to_owned())]);
    assert_eq!(
        (names(&page.wildcard), names(&page.with_number)),
        (vec!["name"], vec!["code", "kind"])
    );
    assert_eq!(
        (names(&page.equal), names(&page.order)),
        (vec!["code", "kind"], vec!["a"])
    );
    assert_eq!(names(&page.listed), ["kind"]);
}

#[test]
fn conditions_on_an_expression_of_a_column_are_found() {
    // As MySQL and MariaDB write them.
    for (condition, expected) in [
        ("(lower(`s`.`t`.`c`) = 'x')", Computation::Other),
        (
            "lcase(`s`.`t`.`c`) = 'x' and `s`.`t`.`d` = 3",
            Computation::Other,
        ),
        (
            "(json_unquote(json_extract(`s`.`t`.`c`,'$.a')) = '5')",
            Computation::Json,
        ),
        ("((`s`.`t`.`c` + 1) = 5)", Computation::Shift),
        // No generated column stores what depends on the time.
        (
            "((to_days(<cache>(now())) - to_days(`s`.`t`.`c`)) > 30)",
            Computation::Shift,
        ),
        (
            "timestampdiff(DAY,`s`.`t`.`c`,<cache>(now())) > 30",
            Computation::Shift,
        ),
        (
            "(month(`s`.`t`.`c`) = month(<cache>(curdate())))",
            Computation::Other,
        ),
        // There is no arithmetic to do on the value.
        (
            "(coalesce(`s`.`t`.`c`,<cache>(now())) > '2020-01-01')",
            Computation::Clock,
        ),
        (
            "(abs((to_days(<cache>(now())) - to_days(`s`.`t`.`c`))) > 30)",
            Computation::Clock,
        ),
        ("`s`.`t`.`c` MOD 7 = 3", Computation::Other),
        ("((`s`.`t`.`c` % 7) = 3)", Computation::Other),
        ("(7 < (3 * `s`.`t`.`c`))", Computation::Other),
    ] {
        let uses = column_uses(&format!("select 1 AS `1` from `s`.`t` where {condition}"));
        let expected = [(expected, "c".to_owned())];
        assert_eq!(uses[0].computed, expected, "{condition}");
    }
    for condition in [
        "(`s`.`t`.`c` = (5 + 1))",
        "(`s`.`t`.`c` = lower('X'))",
        "(`s`.`t`.`c` > -(1))",
        "(match `s`.`t`.`c` against ('x'))",
        "isnull(`s`.`t`.`c`)",
        "json'5' member of (json_extract(`s`.`t`.`c`,'$.tags'))",
        "st_contains(`s`.`t`.`c`,point(1,2))",
        "trigcond(((<cache>(3) = `s`.`t`.`c`) or (`s`.`t`.`c` is null)))",
        "multiple equal(1, `s`.`t`.`c`)",
        // Served by an index of the other column.
        "(`s`.`t`.`c` = (`s`.`t`.`d` + 1))",
        "(`s`.`t`.`c` = lower(`s`.`t`.`d`))",
    ] {
        let uses = column_uses(&format!("select 1 AS `1` from `s`.`t` where {condition}"));
        assert_eq!(uses[0].computed, [], "{condition}");
    }
}

#[test]
fn a_column_that_must_not_be_null_is_no_equality() {
    for condition in [
        "((`s`.`e`.`kind` = 'buy') and (`s`.`e`.`customer` is not null))",
        "((`s`.`e`.`customer` is not null) and (`s`.`e`.`kind` = 'buy'))",
    ] {
        let uses = column_uses(&format!("select 1 AS `1` from `s`.`e` where {condition}"));
        let event = &uses[0];
        assert_eq!(
            (names(&event.equal), names(&event.not_null)),
            (vec!["kind"], vec!["customer"]),
            "{condition}"
        );
    }
    let uses = column_uses("select 1 AS `1` from `s`.`e` where (`s`.`e`.`customer` is null)");
    assert_eq!(names(&uses[0].equal), ["customer"]);
}

#[test]
fn an_order_is_one_of_an_index_or_none() {
    for (order, expected) in [
        (
            "order by `s`.`t`.`a` desc,`s`.`t`.`b` desc limit 5",
            &["a", "b"][..],
        ),
        // An index of both has one order of the two, and `c` has one value.
        ("order by `s`.`t`.`a` desc,`s`.`t`.`b` limit 5", &[]),
        (
            "where (`s`.`t`.`c` = 1) order by `s`.`t`.`c`,`s`.`t`.`a` desc,`s`.`t`.`b` desc",
            &["c", "a", "b"],
        ),
        ("group by `s`.`t`.`a`,`s`.`t`.`b` with rollup", &["a", "b"]),
        ("order by `s`.`t`.`a` for update", &["a"]),
        (
            "group by `s`.`t`.`a` having (`s`.`t`.`c` > 1) order by `s`.`t`.`b`",
            &["a"],
        ),
        ("order by `s`.`t`.`a`,(`s`.`t`.`b` + 1),`s`.`t`.`c`", &[]),
        ("order by `s`.`t`.`a`,rand()", &[]),
        // As MySQL and MariaDB write it.
        ("order by ((`s`.`t`.`a` * 7) % 9),`s`.`t`.`b`", &[]),
        ("order by `s`.`t`.`a` * 7 MOD 9,`s`.`t`.`b`", &[]),
        // A name of the list, which can be any expression.
        ("order by `total` desc,`s`.`t`.`b`", &[]),
        ("order by lower(`s`.`t`.`a`)", &[]),
        (
            "window `w` AS (PARTITION BY `s`.`t`.`a` ORDER BY `s`.`t`.`b` )",
            &[],
        ),
    ] {
        let uses = column_uses(&format!("select 1 AS `1` from `s`.`t` {order}"));
        assert_eq!(names(&uses[0].order), expected, "{order}");
    }
    // Neither a window nor an aggregate function reads an index in its order.
    for (list, expected) in [
        (
            "row_number() OVER (PARTITION BY `s`.`t`.`a` ORDER BY `s`.`t`.`b` desc ) ",
            &[][..],
        ),
        (
            "group_concat(`s`.`t`.`a` order by `s`.`t`.`b` ASC separator ',')",
            &[],
        ),
        (
            "ifnull((select `s`.`t`.`a` from `s`.`t` order by `s`.`t`.`b` limit 1),0)",
            &["b"],
        ),
    ] {
        let uses = column_uses(&format!("select {list} AS `1` from `s`.`t`"));
        assert_eq!(names(&uses[0].order), expected, "{list}");
    }
}

#[test]
fn a_query_in_a_function_has_conditions_of_its_own() {
    let query =
        "ifnull((select sum(`s`.`i`.`total`) from `s`.`i` where (`s`.`i`.`o` = `s`.`o`.`id`)),0)";
    for text in [
        format!("select {query} AS `n` from `s`.`o`"),
        format!("select 1 AS `1` from `s`.`o` where (`s`.`o`.`total` > {query})"),
        // MariaDB names the columns for whose values it keeps the result.
        format!("select 1 AS `1` from `s`.`o` where <expr_cache><`s`.`o`.`id`>({query}) > 5"),
    ] {
        let uses = column_uses(&text);
        let item = uses.iter().find(|it| it.alias == "i").unwrap();
        let joined = JoinedColumn {
            alias: "o".to_owned(),
            column: "id".to_owned(),
        };
        assert_eq!(
            (names(&item.joined), item.wrapped.len()),
            (vec!["o"], 0),
            "{text}"
        );
        assert_eq!(item.joined_with, [("o".to_owned(), joined)], "{text}");
        let order = uses.iter().find(|it| it.alias == "o").unwrap();
        assert!(!order.range.contains(&"id".to_owned()), "{order:?}");
    }
}

#[test]
fn two_queries_may_have_one_name_of_a_table() {
    let text = "select `s`.`o`.`id` AS `id` from `s`.`o` where ((`s`.`o`.`kind` = 1) and (`s`.`o`.`total` > \
                (/* select#2 */ select avg(`s`.`o`.`total`) from `s`.`o` where (`s`.`o`.`state` = 3)))) \
                union all select `s`.`o`.`id` AS `id` from `s`.`o` where (`s`.`o`.`day` = 7)";
    let uses = column_uses(text);
    let equal: Vec<_> = uses.iter().map(|it| names(&it.equal)).collect();
    assert_eq!(equal, [["kind"], ["state"], ["day"]]);
    let text = "select `s`.`o`.`id` AS `id` from `s`.`o` where `s`.`o`.`id` in (select max(`s`.`o`.`id`) \
                from `s`.`o` group by `s`.`o`.`c`) order by `s`.`o`.`day` limit 5";
    let uses = column_uses(text);
    let orders: Vec<_> = uses.iter().map(|it| names(&it.order)).collect();
    assert_eq!(orders, [["day"], ["c"]]);
    // The inner query has no such table.
    let text = "select 1 AS `1` from `s`.`o` where exists(/* select#2 */ select 1 from `s`.`i` \
                where ((`s`.`i`.`o` = `s`.`o`.`id`) and (`s`.`o`.`kind` = 1)))";
    assert_eq!(names(&column_uses(text)[0].equal), ["kind"]);
}

#[test]
fn what_no_index_finds_is_no_equality() {
    for condition in [
        "(`s`.`t`.`c` = `s`.`t`.`d`)",
        "(`s`.`t`.`c` = (`s`.`t`.`d` + 1))",
        "`s`.`t`.`c` = `s`.`t`.`d` + 1",
        "5 - `s`.`t`.`c` = 3",
        "(`s`.`t`.`c` is true)",
        "(`s`.`t`.`c` is not true)",
        "((`s`.`t`.`c` = 1) or exists(/* select#2 */ select 1 from `s`.`u` where (`s`.`u`.`x` = 3)))",
        "(not(<in_optimizer>(`s`.`t`.`c`,`s`.`t`.`c` in ( <materialize> (/* select#2 */ select `s`.`u`.`x` \
         from `s`.`u` where 1 ), <primary_index_lookup>(`s`.`t`.`c` in <temporary table> on <auto_distinct_key> \
         where ((`s`.`t`.`c` = `<materialized_subquery>`.`x`)))))))",
    ] {
        let uses = column_uses(&format!("select 1 AS `1` from `s`.`t` where {condition}"));
        let table = &uses[0];
        let found = [&table.equal, &table.joined, &table.range, &table.not_null];
        assert!(
            found.iter().all(|it| it.is_empty()),
            "{condition}: {table:?}"
        );
    }
    // A pattern is a range of a text, but not of a date.
    let uses = column_uses("select 1 AS `1` from `s`.`t` where (`s`.`t`.`c` like '2020-05%')");
    assert_eq!(
        (names(&uses[0].range), names(&uses[0].pattern)),
        (vec!["c"], vec!["c"])
    );
    // As MySQL 5.6 to 8.0.12 write `c is null`.
    let uses = column_uses("select 1 AS `1` from `s`.`t` where isnull(`s`.`t`.`c`)");
    assert_eq!(
        (names(&uses[0].equal), uses[0].wrapped.len()),
        (vec!["c"], 0)
    );
}

#[test]
fn the_subquery_of_an_in_has_an_equality() {
    // As MySQL writes NOT IN where both columns may be NULL.
    let text = "select 1 AS `1` from `s`.`t` where (not(<in_optimizer>(`s`.`t`.`c`,<exists>(/* select#2 */ select 1 \
                from `s`.`u` where <if>(outer_field_is_not_null, ((<cache>(`s`.`t`.`c`) = `s`.`u`.`x`) or \
                (`s`.`u`.`x` is null)), true)))))";
    let uses = column_uses(text);
    assert_eq!(names(&uses[1].equal), ["x"]);
    assert!(uses[0].equal.is_empty(), "{uses:?}");
    assert_eq!(names(&uses[0].used), ["c"]);
}

#[test]
fn numbers_and_wildcards_are_found_within_marks() {
    for (condition, with_number, wildcard) in [
        ("(`s`.`t`.`c` in (5,6))", true, false),
        ("(`s`.`t`.`c` = -(5))", true, false),
        ("(`s`.`t`.`c` = <cache>((5 + 1)))", true, false),
        ("(5 = `s`.`t`.`c`)", true, false),
        ("(`s`.`t`.`c` in ('5','6'))", false, false),
        (
            "(`s`.`t`.`c` like <cache>(concat('%','x','%')))",
            false,
            true,
        ),
        ("`s`.`t`.`c` like concat('x','%')", false, false),
        ("(`s`.`t`.`c` like _utf8mb4'%x')", false, true),
    ] {
        let uses = column_uses(&format!("select 1 AS `1` from `s`.`t` where {condition}"));
        assert_eq!(uses[0].with_number.len() == 1, with_number, "{condition}");
        assert_eq!(uses[0].wildcard.len() == 1, wildcard, "{condition}");
    }
}

#[test]
fn outer_joins_and_statements_that_change_data_are_read() {
    let text = "select 1 AS `1` from `a`.`t` left join `a`.`u` on((`a`.`u`.`x` = `a`.`t`.`y`)) where (`a`.`t`.`z` > 1)";
    let uses = column_uses(text);
    assert_eq!(
        (names(&uses[0].joined), names(&uses[0].range)),
        (vec!["y"], vec!["z"])
    );
    assert_eq!(names(&uses[1].joined), ["x"]);
    let uses = column_uses("update `a`.`t` set `a`.`t`.`x` = 3 where (`a`.`t`.`y` = 1)");
    assert_eq!(
        (names(&uses[0].equal), names(&uses[0].used)),
        (vec!["y"], vec!["x", "y"])
    );
}

#[test]
fn tables_that_are_changed_are_known() {
    // As MySQL 8.0 and MariaDB 11.8 rewrite them.
    for (text, changed) in [
        (
            "update `w`.`page` set `w`.`page`.`len` = (`w`.`page`.`len` + 1) where (`w`.`page`.`len` between 20 and 25)",
            &["page"][..],
        ),
        (
            "update `w`.`author` `a` join `w`.`revision` `r` set `w`.`a`.`edits` = `w`.`a`.`edits` + 1 where `w`.`r`.`len` = 7",
            &["a"],
        ),
        (
            "update `w`.`author` `a` join `w`.`revision` `r` set `w`.`a`.`x` = 1, `w`.`r`.`y` = `w`.`a`.`z` where `w`.`r`.`len` = 7",
            &["a", "r"],
        ),
        ("delete from `w`.`r` where (`w`.`r`.`u` = 9)", &["r"]),
        (
            "delete  from `w`.`r` using dual where `w`.`r`.`u` = 9",
            &["r"],
        ),
        (
            "delete `w`.`a` from `w`.`author` `a` join `w`.`r` where `w`.`a`.`id` = `w`.`r`.`u`",
            &["a"],
        ),
        (
            "select `w`.`r`.`u` AS `u` from `w`.`r` where `w`.`r`.`u` = 9",
            &[],
        ),
    ] {
        let uses = column_uses(text).into_iter();
        let found: Vec<String> = uses.filter(|it| it.is_changed).map(|it| it.alias).collect();
        assert_eq!(found, changed, "{text}");
    }
}

#[test]
fn alternatives_are_no_condition_of_one_index() {
    let of = |condition: &str| {
        let text = format!(
            "select 1 AS `1` from `a`.`t` join `a`.`u` where {condition} order by `a`.`t`.`z`"
        );
        let mut uses = column_uses(&text);
        (uses.remove(0), uses.remove(0))
    };
    for condition in [
        "((`a`.`t`.`k` = 1) and ((`a`.`t`.`x` = 3) or (`a`.`t`.`y` > 4)))",
        "`a`.`t`.`k` = 1 and (`a`.`t`.`x` = 3 or `a`.`t`.`y` > 4)",
    ] {
        let (table, _) = of(condition);
        assert_eq!(names(&table.either), ["x", "y"], "{condition}");
        assert_eq!(
            (names(&table.equal), names(&table.order)),
            (vec!["k"], vec!["z"])
        );
        assert!(table.range.is_empty());
    }
    // A part that no index serves needs all rows, and so does the whole OR.
    for condition in [
        "`a`.`t`.`x` = 3 or `a`.`t`.`y` = 4 or lower(`a`.`t`.`v`) = 'b'",
        "`a`.`t`.`x` = 3 or `a`.`t`.`y` <> 4",
        "`a`.`t`.`x` = 3 or `a`.`t`.`y` like '%b'",
    ] {
        let (table, _) = of(condition);
        assert!(table.either.is_empty(), "{condition}: {table:?}");
    }
    let listed = "select (`a`.`t`.`x` = 3 or `a`.`t`.`y` = 4) AS `z` from `a`.`t`";
    assert!(column_uses(listed)[0].either.is_empty());
    // One column is one index, two tables are none, and a subquery has conditions of its own.
    let (table, _) = of("`a`.`t`.`x` = 3 or `a`.`t`.`x` = 5");
    assert_eq!(
        (names(&table.equal), names(&table.listed)),
        (vec!["x"], vec!["x"])
    );
    let (table, other) = of("`a`.`t`.`x` = 3 or `a`.`u`.`y` = 5");
    assert!(table.either.is_empty() && other.either.is_empty() && other.equal.is_empty());
    let (table, other) = of(
        "(`a`.`t`.`x` = 3 or `a`.`t`.`y` = 2) and exists(select 1 from `a`.`w` where `a`.`w`.`v` = 1 or 0)",
    );
    assert_eq!(names(&table.either), ["x", "y"]);
    assert!(other.equal.is_empty());
    let inner = column_uses(
        "select 1 from `a`.`t` where exists(select 1 from `a`.`w` where `a`.`w`.`v` = 1 or 0)",
    );
    assert_eq!(names(&inner[1].equal), ["v"]);
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "(`[a-c]`\\.?|select|from|where|group by|or|[()'\"`=<> ,é1\\\\]|/\\*|\\*/|year){0,40}") {
        for table in column_uses(&text) {
            prop_assert!(table.equal.iter().all(|column| table.used.contains(column)));
        }
    }
}
