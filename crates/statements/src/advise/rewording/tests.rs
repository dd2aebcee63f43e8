//! Tests of other texts.

use sqltext::{SqlStatement, statements_of};

use super::*;

fn statement(text: &str) -> SqlStatement {
    let mut all = statements_of("x", text.as_bytes().to_vec()).unwrap();
    all.remove(0)
}

/// What a rewrite makes of a text.
fn of(rewrite: impl Fn(&StatementText<'_>) -> Option<String>, text: &str) -> Option<String> {
    rewrite(&StatementText::of(&statement(text)).unwrap())
}

fn facts() -> TableFacts {
    let kinds = [("d", "datetime"), ("c", "varchar"), ("n", "int")];
    TableFacts {
        types: kinds
            .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
            .into(),
        ..TableFacts::default()
    }
}

/// The column of a name in table `t`, which no other table has.
fn column(column: &str) -> TableColumn<'_> {
    TableColumn {
        table: "t",
        column,
        is_shared: false,
    }
}

#[test]
fn numbers_are_quoted_where_they_are_compared_for_equality() {
    let quoted = |text| of(|text| with_quoted_numbers(text, &column("c")), text);
    for (text, expected) in [
        (
            "select a from t where t.`C` = 5 and n = 5",
            Some("select a from t where t.`C` = '5' and n = 5"),
        ),
        (
            "delete from t where c in (1, 22)",
            Some("delete from t where c in ('1', '22')"),
        ),
        (
            "select 1 from t where 7 = t.c",
            Some("select 1 from t where '7' = t.c"),
        ),
        ("select 1 from t where c = 5 + 1", None),
        ("select 1 from t where c = 5.5", None),
        ("select 1 from t where c > 5 or c in (1, n)", None),
        ("select 1 from t where c.d = 5", None),
        ("select 1 from t, u where u.c = 5 and @c = 5", None),
    ] {
        assert_eq!(quoted(text).as_deref(), expected, "{text}");
    }
    let shared = TableColumn {
        is_shared: true,
        ..column("c")
    };
    let quoted = of(
        |text| with_quoted_numbers(text, &shared),
        "select 1 from t join u on t.c = 5 where exists (select 1 from v where c = 5)",
    );
    let expected = "select 1 from t join u on t.c = '5' where exists (select 1 from v where c = 5)";
    assert_eq!(quoted.as_deref(), Some(expected));
}

#[test]
fn an_equality_with_a_part_of_a_column_becomes_a_range() {
    let range = |name: &str, text| {
        of(
            |text| with_range_for_function(text, &column(name), &facts()),
            text,
        )
    };
    for (name, text, expected) in [
        (
            "d",
            "select a from t where Year(t.d) = 2020 and n = 1",
            Some("select a from t where (t.d >= '2020-01-01' AND t.d < '2021-01-01') and n = 1"),
        ),
        (
            "d",
            "select a from t where date(d) = '2020-02-29'",
            Some("select a from t where (d >= '2020-02-29' AND d < '2020-02-29' + INTERVAL 1 DAY)"),
        ),
        (
            "c",
            "select a from t where left(c, 2) = 'xy'",
            Some("select a from t where c LIKE 'xy%'"),
        ),
        ("c", "select a from t where left(c, 3) = 'xy'", None),
        ("c", "select a from t where left(c, 2) = 'x%'", None),
        ("d", "select a from t where date(d) = 'soon'", None),
        ("d", "select a from t where year(d) = 2020 + 1", None),
        ("d", "select a from t where year(d) > 2020", None),
        ("n", "select a from t where year(n) = 2020", None),
        (
            "d",
            "select a from t where n between 1 and 2 and not year(d) = 2020 && n = 1",
            Some(
                "select a from t where n between 1 and 2 and not (d >= '2020-01-01' AND d < '2021-01-01') && n = 1",
            ),
        ),
        // A part of a larger expression.
        ("d", "select a from t where 1 + year(d) = 2020", None),
        ("d", "select a from t where 5 = year(d) = 2020", None),
        ("d", "select a from t where year(d) = 2020 div 2", None),
        (
            "d",
            "select a from t where n between 1 and year(d) = 2020",
            None,
        ),
        (
            "c",
            "select a from t where left(c, 2) = 'xy' collate utf8mb4_bin",
            None,
        ),
        // Another table's column, and a day that has no next one.
        ("d", "select a from t, u where year(u.d) = 2020", None),
        ("d", "select a from t where date(d) = '0000-00-00'", None),
        ("d", "select a from t where date(d) = '9999-12-31'", None),
        // Equal to 'x', which no pattern 'x %' finds; and a name in the mode ANSI_QUOTES.
        ("c", "select a from t where left(c, 2) = 'x '", None),
        ("c", "select a from t where left(c, 2) = \"xy\"", None),
    ] {
        assert_eq!(range(name, text).as_deref(), expected, "{text}");
    }
}

#[test]
fn a_union_has_each_row_of_an_or_once() {
    let union = |text| of(with_union_for_or, text);
    for (text, expected) in [
        (
            "select a from t where x = 1 or y = 2",
            Some(
                "SELECT a from t WHERE (x = 1) UNION ALL SELECT a from t WHERE ((y = 2) AND ((x = 1)) IS NOT TRUE)",
            ),
        ),
        (
            "select count(*) n from t where k = 1 and (x = 1 or y in (2, 3))",
            Some(
                "SELECT count(*) n FROM (SELECT 1 from t WHERE k = 1 and (x = 1) UNION ALL \
                 SELECT 1 from t WHERE k = 1 and ((y in (2, 3)) AND ((x = 1)) IS NOT TRUE)) AS dbdyno_union",
            ),
        ),
        ("select sum(a) from t where x = 1 or y = 2", None),
        ("select a from t where x = 1 or y = 2 limit 5", None),
        ("select distinct a from t where x = 1 or y = 2", None),
        ("select a from t where x = 1 or y = 2 and z = 3", None),
        ("select a from t where not (x = 1 or y = 2)", None),
        ("select a from t where x = 1", None),
        ("delete from t where x = 1 or y = 2", None),
        (
            "select a from t where k between 1 and 5 and (x = 1 or t.order = 2)",
            Some(
                "SELECT a from t WHERE k between 1 and 5 and (x = 1) UNION ALL \
                 SELECT a from t WHERE k between 1 and 5 and ((t.order = 2) AND ((x = 1)) IS NOT TRUE)",
            ),
        ),
        // An OR around the OR, and operands of something else.
        (
            "select a from t where k = 1 || z = 3 and (x = 1 or y = 2)",
            None,
        ),
        ("select a from t where x = 1 or y = 2 || z = 3", None),
        (
            "select a from t where k between 1 and (x = 1 or y = 2)",
            None,
        ),
        (
            "select a from t where k = 1 and (x = 1 or y = 2) is null",
            None,
        ),
        ("select var_pop(a) from t where x = 1 or y = 2", None),
        ("select @n := @n + 1 from t where x = 1 or y = 2", None),
        ("select sql_no_cache a from t where x = 1 or y = 2", None),
    ] {
        assert_eq!(union(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn what_is_forced_is_left_out_and_named() {
    let of = |text: &str, has_hints| {
        without_hints(&StatementText::of(&statement(text)).unwrap(), has_hints)
    };
    let without = |text: &str| of(text, true);
    for (text, expected, forced) in [
        (
            "select straight_join a from t join u",
            "select  a from t join u",
            "straight_join",
        ),
        (
            "select a from t straight_join u on t.x = u.x",
            "select a from t JOIN u on t.x = u.x",
            "straight_join",
        ),
        (
            "select a from t force index for order by (i, j) where b = 1",
            "select a from t  where b = 1",
            "force index for order by (i, j)",
        ),
        ("select /*+ BNL(t) */ a", "select  a", "/*+ BNL(t) */"),
        (
            "select sql_no_cache straight_join a from t join u",
            "select sql_no_cache  a from t join u",
            "straight_join",
        ),
    ] {
        let expected = Some((expected.to_owned(), vec![forced.to_owned()]));
        assert_eq!(without(text), expected);
    }
    assert_eq!(without("select a from t use_t where b = 1"), None);
    // A limit of the time is no part of a plan, and to a server without hints they are comments.
    assert_eq!(
        without("select /*+ MAX_EXECUTION_TIME(1000) */ a from t"),
        None
    );
    assert_eq!(of("select /*+ BNL(t) */ a from t", false), None);
}

#[test]
fn a_subquery_of_in_becomes_a_derived_table() {
    let join = |text| of(|text| with_join_for_in(text, |_| true), text);
    for (text, expected) in [
        (
            "select a from t where b = 1 and t.c in (select d from u where e = 2) order by a",
            Some(
                "select a from t , (SELECT DISTINCT d AS dbdyno_key from u where e = 2) AS dbdyno_in \
                 where b = 1 and dbdyno_in.dbdyno_key = t.c order by a",
            ),
        ),
        ("select a from t where c not in (select d from u)", None),
        (
            "select a from t where b = 1 or c in (select d from u)",
            None,
        ),
        ("select * from t where c in (select d from u)", None),
        ("select a from t where c in (select d from u limit 1)", None),
        (
            "select a from t where c in (select d from u union select 1)",
            None,
        ),
        ("select a from t where c in (1, 2)", None),
        (
            "select t.*, a from t where t.limit = 5 and c in (select distinct u.d from u)",
            Some(
                "select t.*, a from t , (SELECT DISTINCT u.d AS dbdyno_key from u) AS dbdyno_in \
                 where t.limit = 5 and dbdyno_in.dbdyno_key = c",
            ),
        ),
        (
            "select distinct * from t where c in (select d from u)",
            None,
        ),
        ("select a from t where c in (select d + 1 from u)", None),
        ("select a from t where c in (select d from u) is null", None),
        (
            "select a from t where b between 1 and c in (select d from u)",
            None,
        ),
        (
            "select a from t where c in (select d from u) || a = 1",
            None,
        ),
        (
            "select a from t where c in (select d from u fetch first 1 rows only)",
            None,
        ),
    ] {
        assert_eq!(join(text).as_deref(), expected, "{text}");
    }
    // Text that is equal to a number has many forms, each a row of the derived table.
    let text = "select a from t where t.c in (select d from u)";
    let seen = std::cell::RefCell::new(Vec::new());
    let of_other_kind = of(
        |text| {
            with_join_for_in(text, |names| {
                let names = names.map(|name| text.column_and_table(name));
                *seen.borrow_mut() = names
                    .map(|(column, table)| format!("{table:?} {column:?}"))
                    .to_vec();
                false
            })
        },
        text,
    );
    assert_eq!(of_other_kind, None);
    assert_eq!(
        *seen.borrow(),
        ["Some(\"t\") Some(\"c\")", "None Some(\"d\")"]
    );
}

#[test]
fn a_derived_table_with_all_columns_is_its_table() {
    let merged = |text| of(|text| with_merged_derived(text, |_| true), text);
    for (text, expected) in [
        (
            "select a from (select * from s.t where b = 1 or c = 2) as x where d = 3 or e = 4 limit 5",
            Some("select a from s.t as x where (b = 1 or c = 2) AND ( d = 3 or e = 4) limit 5"),
        ),
        (
            "select count(*) from (select * from t) x join u on x.a = u.a",
            Some("select count(*) from t x join u on x.a = u.a"),
        ),
        (
            "select count(*) from (select * from t where b = 1) x",
            Some("select count(*) from t x WHERE (b = 1)"),
        ),
        ("select a from (select * from t limit 5) x", None),
        ("select a from (select * from t y) x", None),
        (
            "select a from u left join (select * from t where b = 1) x on u.a = x.a",
            None,
        ),
        // Its names would mean another table's columns, or none.
        (
            "select a from (select * from t where t.b = 1) x join t on t.a = x.a",
            None,
        ),
        (
            "select a from (select a from (select * from t where b = 1.5) y limit 5) x",
            None,
        ),
        (
            "select a from (select * from t where b = 1.5) x",
            Some("select a from t x WHERE (b = 1.5)"),
        ),
    ] {
        assert_eq!(merged(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn what_the_server_rewrites_itself_is_no_reason() {
    let kinds = |text: &str, rewritten: &str| {
        let signs = RewriteEvidence {
            rewritten: Some(rewritten),
            has_hints: true,
            is_dependent: true,
            is_materialised: true,
        };
        let statement = statement(text);
        let found = of_plan(&StatementText::of(&statement).unwrap(), signs, |_| true);
        found.into_iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    let text =
        "select (select count(*) from i where i.o = o.id) n from o where c in (select id from u)";
    let joined = "select (/* select#2 */ select count(0) from `s`.`i` where (`s`.`i`.`o` = `s`.`o`.`id`)) AS `n` \
                  from `s`.`u` join `s`.`o` where (`s`.`o`.`c` = `s`.`u`.`id`)";
    assert!(kinds(text, joined).is_empty());
    let checked = "select 1 AS `n` from `s`.`o` where <in_optimizer>(`s`.`o`.`c`,<exists>(/* select#3 */ select 1 \
                   from `s`.`u` where (<cache>(`s`.`o`.`c`) = `s`.`u`.`id`)))";
    assert_eq!(kinds(text, checked), [RewordingKind::Join]);
    let text = "select x.a from (select * from t where b = 1) x join (select a from u group by a) y on x.a = y.a";
    let merged = "select `s`.`t`.`a` AS `a` from `s`.`t` join (/* select#3 */ select `s`.`u`.`a` AS `a` \
                  from `s`.`u` group by `s`.`u`.`a`) `y` where ((`s`.`t`.`b` = 1) and (`y`.`a` = `s`.`t`.`a`))";
    assert!(kinds(text, merged).is_empty());
    let kept =
        "select `x`.`a` AS `a` from (/* select#2 */ select `s`.`t`.`a` AS `a` from `s`.`t`) `x`";
    assert_eq!(kinds(text, kept), [RewordingKind::Merged]);
}

#[test]
fn a_join_of_two_tables_begins_with_the_wanted_one() {
    for (text, expected) in [
        (
            "select x.a from t x join s.u as y on x.a = y.a where y.b = 1",
            Some("select x.a from s.u as y STRAIGHT_JOIN t x on x.a = y.a where y.b = 1"),
        ),
        // The text has the order already, which the server did not follow.
        (
            "select x.a from s.u as y join t x on x.a = y.a where y.b = 1",
            Some("select x.a from s.u as y STRAIGHT_JOIN t x on x.a = y.a where y.b = 1"),
        ),
        (
            "select t.a from t, y where t.a = y.a",
            Some("select t.a from y STRAIGHT_JOIN t where t.a = y.a"),
        ),
        ("select * from t, y where t.a = y.a", None),
        (
            "select * from y, t where t.a = y.a",
            Some("select * from y STRAIGHT_JOIN t where t.a = y.a"),
        ),
        (
            "select sql_no_cache t.a, 2 * t.b from t, y where t.a = y.a",
            Some("select sql_no_cache t.a, 2 * t.b from y STRAIGHT_JOIN t where t.a = y.a"),
        ),
        ("select sql_no_cache * from t, y where t.a = y.a", None),
        ("select t.a from t left join y on t.a = y.a", None),
        ("select t.a from t, y, v where t.a = y.a", None),
        ("select t.a from t join y using (a)", None),
        ("select t.a from t join u on t.a = u.a", None),
        ("select t.a from t where t.a = 1", None),
    ] {
        let joined = of(|text| with_table_first(text, "y"), text);
        assert_eq!(joined.as_deref(), expected, "{text}");
    }
}

#[test]
fn the_tables_of_a_statement_are_those_of_its_own_from() {
    for (text, expected) in [
        ("select a from t x join s.Y on x.a = Y.a", [true, false]),
        (
            "select a from t left join y on t.a = y.a where left(b, 1) = 'x'",
            [true, true],
        ),
        (
            "select a from t where left(b, 1) = 'x' and c in (select c from y)",
            [false, false],
        ),
        ("delete from y", [false, false]),
    ] {
        let statement = statement(text);
        let text = StatementText::of(&statement).unwrap();
        let found = [has_table(&text, "y"), has_outer_join(&text)];
        assert_eq!(found, expected);
    }
}
