//! Tests of candidates.

use plans::column_uses;
use workload::sql_script::statements_of;

use super::*;

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
    let plan = Plan::of_tree(tree).unwrap();
    let uses = column_uses(rewritten);
    let facts = TableFacts {
        types: types
            .iter()
            .map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned()))
            .collect(),
        bytes: [("name".to_owned(), 3065)].into(),
        indexes: [("day".to_owned(), vec!["day".to_owned()])].into(),
        ..TableFacts::default()
    };
    let costs: Vec<_> = costs
        .iter()
        .map(|(name, added)| ((*name).to_owned(), *added))
        .collect();
    let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
    let subject = Subject {
        statement: &statements[0],
        number: 1,
        has_order_hints: false,
        plan: &plan,
        uses: &uses,
        facts: &vec![facts; uses.len()],
        costs: &costs,
        larger_pool_bytes: Some(1 << 30),
    };
    let found = subject.candidates().into_iter().map(|it| match it.remedy {
        Remedy::Variant { parts, .. } => parts,
        Remedy::Statement { text, .. } => text,
        Remedy::Author(what) => what,
    });
    found.collect()
}

const SCAN: &str = "-> Table scan on t  (cost=1 rows=5) (actual time=0..1 rows=5000 loops=1)\n";

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
        "create index `covering_t_a_b_c` on `s`.`t` (`a`, `b`, `c`)"
    );
    // The estimate is off by a factor of 1000.
    assert_eq!(found[2..], ["analyze table `s`.`t`"]);
    let found = of("(`s`.`t`.`day` = '2020-01-01')");
    assert_eq!(
        found[0],
        "create index `covering_t_day_c` on `s`.`t` (`day`, `c`)"
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
fn what_the_author_has_to_change_is_said() {
    let types = [("day", "date"), ("code", "varchar"), ("name", "varchar")];
    let text = "select 1 AS `1` from `s`.`t` where (year(`s`.`t`.`day`) = 2020) and (`s`.`t`.`code` = 5) and (`s`.`t`.`name` like '%x')";
    let found = candidates(&SCAN.replace("rows=5000", "rows=6"), text, &types, &[]);
    assert_eq!(
        found,
        [
            "compare day itself, by a range of its values",
            "compare code with a text: put the number in quotation marks",
            "search name from its beginning, or by a full-text index"
        ]
    );
}

#[test]
fn memory_is_a_candidate_where_it_overflows() {
    let text = "select 1 AS `1` from `s`.`t`";
    let tree = SCAN.replace("rows=5000", "rows=6");
    let costs = [
        ("Sort_merge_passes", 3),
        ("Innodb_buffer_pool_read_requests", 1000),
        ("Innodb_buffer_pool_reads", 900),
    ];
    assert_eq!(
        candidates(&tree, text, &[], &costs),
        [
            "set sort_buffer_size = 33554432",
            "option innodb_buffer_pool_size = 1073741824"
        ]
    );
    assert!(candidates(&tree, text, &[], &[]).is_empty());
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
