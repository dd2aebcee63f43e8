//! Tests of tables of the server itself.

use super::*;

#[test]
fn nothing_is_proposed_for_tables_of_the_server() {
    let costs = [("Sort_merge_passes", 3)];
    let of = |schema: &str| {
        let text = format!(
            "select `{schema}`.`t`.`c` AS `c` from `{schema}`.`t` \
             where ((`{schema}`.`t`.`a` = 1) and (`{schema}`.`t`.`code` = 5))"
        );
        let types = [("a", "int"), ("c", "int"), ("code", "varchar")];
        let own = text.replace('`', "");
        candidates_of(&own, SCAN, &text, &types, &costs)
    };
    assert!(!of("s").is_empty());
    for schema in ["mysql", "sys", "information_schema", "PERFORMANCE_SCHEMA"] {
        assert!(of(schema).is_empty(), "{schema}");
    }
}

#[test]
fn a_table_of_a_user_beside_one_of_the_server_has_its_candidates() {
    let text = "select 1 AS `1` from `sys`.`u` join `s`.`t` \
                where ((`sys`.`u`.`a` = 1) and (`s`.`t`.`a` = 1))";
    let tree = SCAN.to_owned() + &SCAN.replace("on t", "on u");
    let tree = format!(
        "-> Nested loop inner join  (cost=9 rows=9) (actual time=0..9 rows=9 loops=1)\n    {}",
        tree.trim_end().replace('\n', "\n    ")
    );
    let found = candidates(&tree, text, &[("a", "int")], &[]);
    assert_eq!(found[0], "create index `index_t_a` on `s`.`t` (`a`)");
    assert!(found.iter().all(|it| it.contains("`s`.`t`")), "{found:?}");
}
