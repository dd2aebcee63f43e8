//! Tests of candidates.

mod authors;
mod joins;
mod memory;
mod system_tables;

use plans::column_uses;
use sqltext::statements_of;

use super::*;
use crate::{advise::table_facts::IndexFacts, system_schemas::is_system_schema};

fn candidates(
    tree: &str,
    rewritten: &str,
    types: &[(&str, &str)],
    costs: &[(&str, i64)],
) -> Vec<String> {
    candidates_of("delete from x", tree, rewritten, types, costs)
}

fn candidates_of(
    text: &str,
    tree: &str,
    rewritten: &str,
    types: &[(&str, &str)],
    costs: &[(&str, i64)],
) -> Vec<String> {
    candidates_by(text, tree, rewritten, types, costs, false)
}

fn candidates_by(
    text: &str,
    tree: &str,
    rewritten: &str,
    types: &[(&str, &str)],
    costs: &[(&str, i64)],
    is_ranked: bool,
) -> Vec<String> {
    let plan = Plan::of_tree(tree).unwrap();
    let uses = column_uses(rewritten);
    let facts = TableFacts {
        types: types
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned()))
            .collect(),
        bytes: [("name".to_owned(), 3065)].into(),
        indexes: [
            ("PRIMARY", &["id"][..]),
            ("day", &["day"]),
            ("country", &["country"]),
            // Of an expression.
            ("lower_code", &[""]),
        ]
        .map(|(name, columns)| (name.to_owned(), index(columns)))
        .into(),
        hidden: [(
            "old".to_owned(),
            IndexFacts {
                is_plain: true,
                ..index(&["rare"])
            },
        )]
        .into(),
        is_clustered: true,
        ..TableFacts::default()
    };
    let facts: Vec<TableFacts> = uses
        .iter()
        .map(|table| TableFacts {
            is_view: table.table == "view",
            is_of_server: is_system_schema(&table.schema),
            ..facts.clone()
        })
        .collect();
    let costs: Vec<_> = costs
        .iter()
        .map(|(name, added)| ((*name).to_owned(), *added))
        .collect();
    let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
    let subject = Subject {
        statement: &statements[0],
        number: 1,
        has_hints: false,
        has_order_hints: false,
        has_hash_join: false,
        plan: &plan,
        rewritten: Some(rewritten),
        uses: &uses,
        facts: &facts,
        costs: &costs,
        buffers: Buffers {
            larger_pool_bytes: Some(1 << 30),
            ..Buffers::default()
        },
    };
    let mut found = subject.candidates();
    if is_ranked {
        found.sort_by(|a, b| b.saving.total_cmp(&a.saving));
    }
    let found = found.into_iter().map(|it| it.remedy.words());
    found
        .map(|it| it.trim_start_matches("as ").to_owned())
        .collect()
}

fn index(columns: &[&str]) -> IndexFacts {
    IndexFacts {
        columns: columns.iter().map(|it| (*it).to_owned()).collect(),
        expressions: if columns == [""] {
            vec!["lower(`code`)".to_owned()]
        } else {
            Vec::new()
        },
        ..IndexFacts::default()
    }
}

/// In the order in which they are tried.
fn ranked(text: &str, tree: &str, rewritten: &str, types: &[(&str, &str)]) -> Vec<String> {
    candidates_by(text, tree, rewritten, types, &[], true)
}

const SCAN: &str = "-> Table scan on t  (cost=1 rows=5) (actual time=0..1 rows=5000 loops=1)\n";

#[test]
fn a_hidden_index_is_made_visible_in_place_of_a_new_one() {
    let types = [("rare", "int"), ("c", "int")];
    let text = "select `s`.`t`.`c` AS `c` from `s`.`t` where (`s`.`t`.`rare` = 1)";
    assert_eq!(
        candidates(SCAN, text, &types, &[]),
        [
            "alter table `s`.`t` alter index `old` visible",
            "create index `index_t_rare_c` on `s`.`t` (`rare`, `c`)",
            "analyze table `s`.`t`"
        ]
    );
    let of_or = "select 1 AS `1` from `s`.`t` where ((`s`.`t`.`c` = 1) or (`s`.`t`.`rare` = 2))";
    assert_eq!(
        candidates(SCAN, of_or, &types, &[])[0],
        "create index `index_t_c` on `s`.`t` (`c`); alter table `s`.`t` alter index `old` visible"
    );
}

#[test]
fn a_view_has_neither_indexes_nor_statistics() {
    let types = [("a", "int")];
    let of = |table: &str| {
        let tree = SCAN.replace("on t", &format!("on {table}"));
        let text = format!(
            "select `s`.`{table}`.`a` AS `a` from `s`.`{table}` where (`s`.`{table}`.`a` = 1)"
        );
        candidates(&tree, &text, &types, &[])
    };
    assert_eq!(
        of("t"),
        [
            "create index `index_t_a` on `s`.`t` (`a`)",
            "analyze table `s`.`t`"
        ]
    );
    assert_eq!(of("view"), [""; 0]);
}

#[test]
fn indexes_follow_conditions_and_orders() {
    let types = [
        ("a", "int"),
        ("b", "int"),
        ("c", "int"),
        ("day", "date"),
        ("note", "text"),
    ];
    let of = |condition: &str| {
        let text = format!("select `s`.`t`.`c` AS `c` from `s`.`t` where {condition}");
        candidates(SCAN, &text, &types, &[])
    };
    let found = of("((`s`.`t`.`b` > 5) and (`s`.`t`.`a` = 1))");
    assert_eq!(found[0], "create index `index_t_a_b` on `s`.`t` (`a`, `b`)");
    assert_eq!(
        found[1],
        "create index `index_t_a_b_c` on `s`.`t` (`a`, `b`, `c`)"
    );
    // The estimate is off by a factor of 1000.
    assert_eq!(found[2..], ["analyze table `s`.`t`"]);
    let found = of("((`s`.`t`.`a` > 5) and (`s`.`t`.`b` < 7))");
    assert_eq!(
        found[..2],
        [
            "create index `index_t_a` on `s`.`t` (`a`)",
            "create index `index_t_b` on `s`.`t` (`b`)"
        ]
    );
    let found = of("(`s`.`t`.`day` = '2020-01-01')");
    assert_eq!(
        found[0],
        "create index `index_t_day_c` on `s`.`t` (`day`, `c`)"
    );
    // With another column the key is too long.
    let types = [("a", "int"), ("c", "int"), ("name", "varchar")];
    let text = "select `s`.`t`.`c` AS `c` from `s`.`t` where (`s`.`t`.`name` = 'x')";
    let found = candidates(SCAN, text, &types, &[]);
    assert_eq!(
        found,
        [
            "create index `index_t_name` on `s`.`t` (`name`)",
            "analyze table `s`.`t`"
        ]
    );
    let found = of("(`s`.`t`.`note` = 'x')");
    assert_eq!(found, ["analyze table `s`.`t`"]);
}

#[test]
fn a_table_that_is_changed_gets_no_covering_index() {
    let types = [("a", "int"), ("b", "int")];
    let text = "update `s`.`t` set `s`.`t`.`b` = (`s`.`t`.`b` + 1) where (`s`.`t`.`a` = 5)";
    let found = candidates(SCAN, text, &types, &[]);
    assert_eq!(
        found,
        [
            "create index `index_t_a` on `s`.`t` (`a`)",
            "analyze table `s`.`t`"
        ]
    );
}

#[test]
fn what_the_author_has_to_change_is_said() {
    let types = [("day", "date"), ("code", "varchar"), ("name", "varchar")];
    let text = "select 1 AS `1` from `s`.`t` where (year(`s`.`t`.`day`) = 2020) and (`s`.`t`.`code` = 5) and (`s`.`t`.`name` like '%x')";
    let found = candidates(&SCAN.replace("rows=5000", "rows=6"), text, &types, &[]);
    assert_eq!(
        found,
        [
            "compare day itself with a range of values",
            "compare code with a text in quotation marks, spelled as it is stored",
            "search name from its beginning, or use a full-text index"
        ]
    );
}

#[test]
fn a_condition_on_an_expression_without_an_index_is_named() {
    let types = [("code", "varchar"), ("n", "int")];
    let tree = SCAN.replace("rows=5)", "rows=5000)");
    let of = |condition: &str, tree: &str| {
        let text = format!("select 1 AS `1` from `s`.`t` where {condition}");
        candidates(tree, &text, &types, &[])
    };
    assert_eq!(
        of("(lower(`s`.`t`.`code`) = 'x')", &tree),
        [
            "compare code itself, or compare an indexed generated column that stores the whole expression"
        ]
    );
    assert_eq!(
        of("(json_extract(`s`.`t`.`code`,'$.a') = 5)", &tree),
        ["compare an indexed generated column, not of type JSON, that stores the whole expression"]
    );
    assert_eq!(
        of("((`s`.`t`.`n` + 1) = 5)", &tree),
        ["compare n itself, and do the arithmetic on the value"]
    );
    // Few rows are read in any case.
    let few = tree.replace("rows=5000", "rows=6");
    assert_eq!(of("((`s`.`t`.`n` + 1) = 5)", &few), [""; 0]);
}

#[test]
fn another_text_replaces_what_its_author_would_change() {
    let types = [("day", "date"), ("code", "varchar")];
    let rewritten =
        "select 1 AS `1` from `s`.`t` where (year(`s`.`t`.`day`) = 2020) and (`s`.`t`.`code` = 5)";
    let tree = SCAN.replace("rows=5000", "rows=6");
    let text = "select 1 from t where year(day) = 2020 and code = 5";
    assert_eq!(
        candidates_of(text, &tree, rewritten, &types, &[]),
        [
            "select 1 from t where (day >= '2020-01-01' AND day < '2021-01-01') and code = 5",
            "select 1 from t where year(day) = 2020 and code = '5'",
        ]
    );
}

#[test]
fn alternatives_get_an_index_each_or_a_union() {
    let types = [("a", "int"), ("b", "int"), ("day", "date")];
    let tree = SCAN.replace("rows=5)", "rows=5000)");
    let of = |text: &str, rewritten: &str| candidates_of(text, &tree, rewritten, &types, &[]);
    let found = of(
        "select 1 from t where a = 1 or b = 2",
        "select 1 AS `1` from `s`.`t` where ((`s`.`t`.`a` = 1) or (`s`.`t`.`b` = 2))",
    );
    let two =
        "create index `index_t_a` on `s`.`t` (`a`); create index `index_t_b` on `s`.`t` (`b`)";
    assert_eq!(found, [two]);
    let found = of(
        "select 1 from t where day = '2020-01-01' or day > '2022-01-01'",
        "select 1 AS `1` from `s`.`t` where ((`s`.`t`.`day` = '2020-01-01') or (`s`.`t`.`day` > '2022-01-01'))",
    );
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn an_index_that_innodb_already_has_is_no_candidate() {
    let types = [("id", "int"), ("country", "char"), ("c", "int")];
    let of = |rewritten: &str| {
        candidates(
            &SCAN.replace("rows=5)", "rows=5000)"),
            rewritten,
            &types,
            &[],
        )
    };
    // An index on the country has the primary key behind it, in its order.
    let text = "select `s`.`t`.`id` AS `id` from `s`.`t` where (`s`.`t`.`country` = 'x') order by `s`.`t`.`id`";
    assert!(of(text).is_empty(), "{:?}", of(text));
    // The primary key has every column.
    let text = "select `s`.`t`.`c` AS `c` from `s`.`t` where (`s`.`t`.`id` > 5)";
    assert!(of(text).is_empty(), "{:?}", of(text));
    let text = "select `s`.`t`.`id` AS `id` from `s`.`t` where (`s`.`t`.`c` = 5)";
    assert_eq!(of(text), ["create index `index_t_c` on `s`.`t` (`c`)"]);
    // The whole primary key would have been the access, were it compared before the read.
    let text =
        "select `s`.`t`.`id` AS `id` from `s`.`t` where ((`s`.`t`.`id` = 5) and (`s`.`t`.`c` = 5))";
    assert_eq!(of(text), ["create index `index_t_c` on `s`.`t` (`c`)"]);
    // Nor does the primary key stand inside of an index that has every column.
    let text = "select `s`.`t`.`id` AS `id`,`s`.`t`.`c` AS `c` from `s`.`t` where (`s`.`t`.`country` = 'x')";
    assert_eq!(
        of(text),
        ["create index `index_t_country_c` on `s`.`t` (`country`, `c`)"]
    );
}

#[test]
fn behind_a_list_of_values_an_index_has_no_order() {
    let types = [("kind", "int"), ("at", "datetime")];
    for (condition, expected) in [
        (
            "= 1",
            "create index `index_t_kind_at` on `s`.`t` (`kind`, `at`)",
        ),
        (
            "in (1,2)",
            "create index `index_t_kind` on `s`.`t` (`kind`)",
        ),
        (
            "= 1) or (`s`.`t`.`kind` = 2",
            "create index `index_t_kind` on `s`.`t` (`kind`)",
        ),
    ] {
        let text = format!(
            "select 1 AS `1` from `s`.`t` where (`s`.`t`.`kind` {condition}) order by `s`.`t`.`at` desc limit 9"
        );
        assert_eq!(candidates(SCAN, &text, &types, &[])[0], expected);
    }
}

#[test]
fn a_column_that_must_not_be_null_is_the_last_of_an_index() {
    let types = [("kind", "enum"), ("customer", "int"), ("at", "datetime")];
    for (condition, expected) in [
        (
            "((`s`.`t`.`customer` is not null) and (`s`.`t`.`kind` = 'buy'))",
            "create index `index_t_kind_customer` on `s`.`t` (`kind`, `customer`)",
        ),
        (
            "((`s`.`t`.`customer` is not null) and (`s`.`t`.`kind` = 'buy') and (`s`.`t`.`at` > '2020-01-01'))",
            "create index `index_t_kind_at` on `s`.`t` (`kind`, `at`)",
        ),
    ] {
        let text = format!("select count(0) AS `n` from `s`.`t` where {condition}");
        assert_eq!(candidates(SCAN, &text, &types, &[])[0], expected);
    }
}

#[test]
fn a_rewritten_condition_comes_with_the_index_that_it_needs() {
    let types = [("at", "datetime"), ("code", "varchar"), ("kind", "int")];
    let tree = SCAN.replace("rows=5)", "rows=5000)");
    let of = |text: &str, condition: &str| {
        let rewritten = format!("select 1 AS `1` from `s`.`t` where {condition}");
        candidates_of(text, &tree, &rewritten, &types, &[])
    };
    assert_eq!(
        of(
            "select 1 from t where date(at) = '2020-03-05'",
            "(cast(`s`.`t`.`at` as date) = '2020-03-05')"
        ),
        [
            "create index `index_t_at` on `s`.`t` (`at`); and the statement as select 1 from t where \
             (at >= '2020-03-05' AND at < '2020-03-05' + INTERVAL 1 DAY)"
        ]
    );
    assert_eq!(
        of(
            "select 1 from t where kind = 3 and date(at) = '2020-03-05'",
            "(`s`.`t`.`kind` = 3) and (cast(`s`.`t`.`at` as date) = '2020-03-05')"
        )
        .last()
        .unwrap(),
        "create index `index_t_kind_at` on `s`.`t` (`kind`, `at`); and the statement as select 1 from t where \
         kind = 3 and (at >= '2020-03-05' AND at < '2020-03-05' + INTERVAL 1 DAY)"
    );
    assert_eq!(
        of(
            "select 1 from t where code = 4711",
            "(`s`.`t`.`code` = 4711)"
        ),
        [
            "create index `index_t_code` on `s`.`t` (`code`); and the statement as select 1 from t where code = '4711'"
        ]
    );
}

#[test]
fn fresh_statistics_are_a_candidate_only_where_they_are_wrong() {
    let rewritten = "select 1 AS `1` from `s`.`t` where (`s`.`t`.`note` = 'x')";
    let types = [("note", "text")];
    // The share of the rows that a condition keeps is no statistic.
    let filtered = "-> Filter: (t.note = 'x')  (cost=1 rows=900) (actual time=0..1 rows=2 loops=1)\n    \
                    -> Table scan on t  (cost=1 rows=9000) (actual time=0..1 rows=9000 loops=1)\n";
    assert!(candidates(filtered, rewritten, &types, &[]).is_empty());
    assert_eq!(
        candidates(SCAN, rewritten, &types, &[]),
        ["analyze table `s`.`t`"]
    );
}

#[test]
fn what_saves_most_by_the_plan_is_tried_first() {
    let types = [
        ("a", "int"),
        ("b", "int"),
        ("c", "int"),
        ("k", "int"),
        ("x", "int"),
    ];
    // Most of the time is spent on t, of which the conditions keep a fifth: by an index each costs as much as five
    // that are scanned.
    let tree = |kept: u32| {
        format!(
            "-> Nested loop inner join  (cost=1 rows=1) (actual time=0..100 rows={kept} loops=1)\n    \
             -> Filter: (u.k = 1)  (cost=1 rows=500) (actual time=0..9 rows=1 loops=1)\n        \
             -> Table scan on u  (cost=1 rows=500) (actual time=0..8 rows=500 loops=1)\n    \
             -> Filter: (t.a = 1)  (cost=1 rows=5000) (actual time=0..90 rows={kept} loops=1)\n        \
             -> Table scan on t  (cost=1 rows=5000) (actual time=0..80 rows=5000 loops=1)\n"
        )
    };
    let rewritten = "select `s`.`t`.`c` AS `c` from `s`.`u` join `s`.`t` \
                     where ((`s`.`u`.`k` = 1) and (`s`.`t`.`a` = 1))";
    let first = |kept: u32| {
        let found = ranked("select 1 from u, t where 1", &tree(kept), rewritten, &types);
        found[0].clone()
    };
    assert_eq!(first(5), "create index `index_t_a` on `s`.`t` (`a`)");
    assert_eq!(
        first(1000),
        "create index `index_t_a_c` on `s`.`t` (`a`, `c`)"
    );
}

#[test]
fn an_index_of_a_further_range_is_tried_later() {
    let types = [("a", "int"), ("b", "int"), ("c", "int")];
    let tree = "-> Filter: (t.a > 1)  (cost=1 rows=5000) (actual time=0..90 rows=5 loops=1)\n    \
                -> Table scan on t  (cost=1 rows=5000) (actual time=0..80 rows=5000 loops=1)\n";
    let rewritten =
        "select `s`.`t`.`c` AS `c` from `s`.`t` where ((`s`.`t`.`a` > 1) and (`s`.`t`.`b` > 1))";
    assert_eq!(
        ranked("delete from x", tree, rewritten, &types),
        [
            "create index `index_t_a` on `s`.`t` (`a`)",
            "create index `index_t_a_c_b` on `s`.`t` (`a`, `c`, `b`)",
            "create index `index_t_b` on `s`.`t` (`b`)"
        ]
    );
}
